import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// Three seconds at 100 Hz of a device that is carried: what every log of these tests holds.
private struct Row: Sendable {
  var time: Double
  var force: Vector3
  var rate: Vector3
  var field: Vector3
  /// hPa.
  var pressure: Double
  /// The time as it really was.
  var mark: Double

  static let all: [Row] = (0..<300).map { index in
    let t = Double(index) / 100
    return Row(
      time: t, force: Vector3(0.25 * Double(index % 3), -0.5, 9.75), rate: Vector3(0.1, -0.25 * Double(index % 2), 0.5),
      field: Vector3(20, -5, -40), pressure: 1013.25, mark: t)
  }
}

private func text(_ value: Double) -> String { "\((value * 1e6).rounded() / 1e6)" }
private func cells(_ values: [Double]) -> [String] { values.map(text) }
private func axes(_ v: Vector3, _ factor: Double = 1) -> [Double] { [v.x * factor, v.y * factor, v.z * factor] }
private func padded(_ number: Int, _ width: Int) -> String {
  let text = "\(number)"
  return String(repeating: "0", count: max(0, width - text.count)) + text
}

/// `11:59:58.250` for 0.25 s; past noon it goes on as a clock of twelve hours and one of 24 do.
private func clock(_ time: Double, point: String = ".") -> String {
  let milliseconds = Int((time * 1000).rounded()) + 43_198_000
  let seconds = milliseconds / 1000
  let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }
  return parts.joined(separator: ":") + point + padded(milliseconds % 1000, 3)
}

/// The time of day of a row, with the half of the day.
private func halfDay(_ row: Row, _ before: String, _ after: String) -> String {
  clock(row.time) + (row.time < 2 ? before : after)
}

private func table(
  _ header: [String], separator: String = ",", end: String = "\n", rows: [Row] = Row.all, _ row: (Row) -> [String]
) -> String {
  ([header] + rows.map(row)).map { $0.joined(separator: separator) + end }.joined()
}

private let degrees = 180 / Double.pi
private let plainHeader = ["timestamp_s", "acc_x (m/s2)", "acc_y (m/s2)", "acc_z (m/s2)"]
private func plainRow(_ row: Row) -> [String] { cells([row.time] + axes(row.force)) }
private func inG(_ row: Row, _ time: String) -> [String] { [time] + cells(axes(row.force, 1 / standardGravity)) }
private let gHeader = ["Timestamp", "acc_x [g]", "acc_y [g]", "acc_z [g]"]

/// A log as a program or a person writes it, and what is in it.
private struct Style: CustomTestStringConvertible, Sendable {
  var testDescription: String
  var sensors: [SensorKind] = [.accelerometer]
  var bytes: [UInt8]

  init(_ name: String, _ sensors: [SensorKind], _ text: String) {
    (testDescription, self.sensors, bytes) = (name, sensors, Array(text.utf8))
  }

  init(_ name: String, _ text: String) { self.init(name, bytes: Array(text.utf8)) }

  init(_ name: String, bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
}

private let all: [SensorKind] = [.accelerometer, .gyroscope, .magnetometer, .barometer]

private func utf16(_ text: String, isBig: Bool, mark: Bool) -> [UInt8] {
  ((mark ? [0xFEFF] : []) + Array(text.utf16)).flatMap { unit -> [UInt8] in
    let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
    return isBig ? [high, low] : [low, high]
  }
}

private func names(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

/// The cells of a row in units of these sizes; 0 for what the log does not have.
private func scaled(
  _ row: Row, time: Double, force: Double = 0, rate: Double = 0, field: Double = 0, pressure: Double = 0
) -> [String] {
  var numbers: [Double] = [row.time * time]
  if force > 0 { numbers += axes(row.force, force) }
  if rate > 0 { numbers += axes(row.rate, rate) }
  if field > 0 { numbers += axes(row.field, field) }
  if pressure > 0 { numbers.append(row.pressure * pressure) }
  return cells(numbers)
}

private func epoch(_ row: Row) -> String {
  "\(1_700_000_000_000_000_000 + Int((row.time * 100).rounded()) * 10_000_000)"
}
private let perG = 1 / standardGravity

/// Rows of cells without a header.
private func lines(separator: String = ",", end: String = "\n", _ row: (Row) -> [String]) -> String {
  Row.all.map { row($0).joined(separator: separator) + end }.joined()
}

private let shimmer: String = {
  let columns = names("Timestamp_Unix,Accel_LN_X,Accel_LN_Y,Accel_LN_Z,Gyro_X,Gyro_Y,Gyro_Z")
  var text = "sep=\t\n"
  for column in columns { text += "Shimmer_AD66_" + column + "_CAL\t" }
  text += "\nms\tm/(s^2)\tm/(s^2)\tm/(s^2)\tdeg/s\tdeg/s\tdeg/s\t\n"
  text += lines(separator: "\t", end: "\t\n") { row in
    let time = 1_700_000_000_000 + Int((row.time * 1000).rounded())
    return ["\(time)"] + scaled(row, time: 1, force: 1, rate: degrees).dropFirst()
  }
  return text
}()

private let unitStyles: [Style] = {
  var styles: [Style] = []
  styles.append(
    Style(
      "units as suffixes: mg, dps, gauss, mmhg", all,
      table(
        names(
          "t_ms,acc_x_mg,acc_y_mg,acc_z_mg,gyro_x_dps,gyro_y_dps,gyro_z_dps,mag_x_gauss,mag_y_gauss,mag_z_gauss,pressure_mmhg"
        )
      ) { scaled($0, time: 1000, force: 1000 * perG, rate: degrees, field: 0.01, pressure: 1 / 1.333_223_874) }))
  styles.append(
    Style(
      "units as suffixes: ms2, rads, ut, hpa", all,
      table(
        names(
          "time_s,accel_x_ms2,accel_y_ms2,accel_z_ms2,gyro_x_rads,gyro_y_rads,gyro_z_rads,mag_x_ut,mag_y_ut,mag_z_ut,p_hpa"
        )
      ) { scaled($0, time: 1, force: 1, rate: 1, field: 1, pressure: 1) }))
  styles.append(
    Style(
      "units as suffixes: mps2, degps, nT, inHg", all,
      table(names("time_us,ax_mps2,ay_mps2,az_mps2,gx_degps,gy_degps,gz_degps,mx_nT,my_nT,mz_nT,p_inHg")) {
        scaled($0, time: 1e6, force: 1, rate: degrees, field: 1000, pressure: 1 / 33.863_886_4)
      }))
  styles.append(
    Style(
      "units spelled out", [.accelerometer],
      table(
        names("millis") + names("X,Y,Z").map { "acceleration\($0)_meters_per_second_squared" }
      ) { ["\(Int(($0.time * 1000).rounded()))"] + cells(axes($0.force)) }))
  styles.append(
    Style(
      "units in a second row", [.accelerometer, .gyroscope],
      "time,acc_x,acc_y,acc_z,gyr_x,gyr_y,gyr_z\ns,g,g,g,deg/s,deg/s,deg/s\n"
        + lines { scaled($0, time: 1, force: perG, rate: degrees) }))
  styles.append(Style("Shimmer: tabs at the line's end, a row of units, sep=", [.accelerometer, .gyroscope], shimmer))
  return styles
}()

private func quoted(_ cells: [String]) -> [String] { cells.map { "\"" + $0 + "\"" } }
private func commas(_ cells: [String]) -> [String] { cells.map { $0.replacing(".", with: ",") } }

private let textStyles: [Style] = {
  var styles: [Style] = []
  styles.append(Style("tabs", table(plainHeader, separator: "\t", plainRow)))
  styles.append(Style("lines that end with CR alone", table(plainHeader, end: "\r", plainRow)))
  styles.append(
    Style("UTF-16 with a mark, little end first", bytes: utf16(table(plainHeader, plainRow), isBig: false, mark: true)))
  styles.append(
    Style(
      "UTF-16 with a mark, big end first",
      bytes: utf16(table(plainHeader, end: "\r\n", plainRow), isBig: true, mark: true)))
  styles.append(Style("UTF-16 without a mark", bytes: utf16(table(plainHeader, plainRow), isBig: false, mark: false)))
  styles.append(Style("every cell in quotes", table(quoted(plainHeader)) { quoted(plainRow($0)) }))
  styles.append(
    Style(
      "points between thousands, decimal commas", [.accelerometer, .barometer],
      table(names("Time [s],Acc X [m/s²],Acc Y [m/s²],Acc Z [m/s²],Pressure [hPa]"), separator: ";") { row in
        commas(plainRow(row)) + ["1.013,25"]
      }))
  styles.append(
    Style(
      "comments before the header",
      "# created 2026-11-30, by logger 1.2\n# device: X, rate: 100 Hz, range: 4 g\n# place, walker, shoes, and, more\n"
        + table(plainHeader, plainRow)))
  styles.append(
    Style(
      "a header that is a comment", "% by a logger\n// Start Time: Unknown\n# " + table(plainHeader, plainRow)))
  styles.append(
    Style(
      "comments among the rows",
      table(plainHeader, rows: Array(Row.all[..<100]), plainRow) + "# stop, turned left\n"
        + Row.all[100...].map { plainRow($0).joined(separator: ",") + "\n" }.joined()))
  styles.append(Style("a separator at the end of the rows", table(plainHeader) { plainRow($0) + [""] }))
  styles.append(Style("a separator at the end of the header", table(plainHeader + [""], plainRow)))
  styles.append(
    Style(
      "labels that repeat",
      table(names("timestamp_s,label,acc_x (m/s2),acc_y (m/s2),acc_z (m/s2),label")) { row in
        let numbers = plainRow(row)
        return [numbers[0], "walk"] + numbers.dropFirst() + ["walk"]
      }))
  styles.append(
    Style(
      "nanoseconds since 1970", table(["time"] + plainHeader.dropFirst()) { [epoch($0)] + plainRow($0).dropFirst() }))
  styles.append(Style("ISO 8601 with a zone", table(gHeader) { inG($0, "2026-11-30T" + clock($0.time) + "+01:00") }))
  styles.append(
    Style(
      "AM and PM, month first",
      table(gHeader) { inG($0, "11/05/2026 " + halfDay($0, " AM", " PM")) }))
  styles.append(
    Style(
      "AM and PM of a time of day", table(gHeader) { inG($0, halfDay($0, " am", " pm")) }))
  styles.append(
    Style(
      "day first, with points",
      table(gHeader, separator: ";") { row in
        ["30.11.2026 " + clock(row.time, point: ",")] + commas(Array(inG(row, "").dropFirst()))
      }))
  styles.append(Style("MATLAB's dates", table(gHeader) { inG($0, "30-Nov-2026 " + clock($0.time)) }))
  styles.append(Style("day first, with slashes", table(gHeader) { inG($0, "30/11/2026 " + clock($0.time)) }))
  return styles
}()

private let programStyles: [Style] = {
  var styles: [Style] = []
  styles.append(
    Style(
      "Physics Toolbox, gyroscope", [.gyroscope],
      table(names("time,wx,wy,wz")) { scaled($0, time: 1, rate: 1) }))
  styles.append(
    Style(
      "ROS", [.accelerometer, .gyroscope],
      table(
        names("%time,field.header.seq,field.header.stamp,field.orientation.x")
          + names("x,y,z").map { "field.angular_velocity.\($0)" }
          + names("x,y,z").map { "field.linear_acceleration.\($0)" }
      ) { row in
        let values: [String] = cells(axes(row.rate)) + cells(axes(row.force))
        return [epoch(row), "1", epoch(row), "0"] + values
      }))
  styles.append(
    Style(
      "WitMotion", [.accelerometer, .gyroscope],
      "StartTime: 2026-11-30 11:59:58.000\n"
        + table(names("Chip Time,ax(g),ay(g),az(g),wx(deg/s),wy(deg/s),wz(deg/s),AngleX(deg),T(°)"), separator: "\t") {
          row in
          let angles: [String] = cells(axes(row.rate, degrees)) + ["1.5", "25.1"]
          return inG(row, "2026-11-30 " + clock(row.time)) + angles
        }))
  return styles
}()

@Suite struct ImportStylesTests {
  @Test(arguments: unitStyles + textStyles + programStyles)
  fileprivate func valuesAndTimesAreThoseOfTheLog(style: Style) throws {
    let directory = TemporaryDirectory()
    writeFile(directory.file("log.csv"), style.bytes)
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    #expect(report.sensors.map(\.kind) == style.sensors)
    #expect(report.discontinuities.isEmpty)
    let samples = try replay(directory.file("s")).samples
    for kind in style.sensors {
      let own = samples.filter { $0.kind == kind }
      try #require(own.count == 300, "\(kind)")
      for (sample, row) in zip(own, Row.all) {
        #expect(abs(sample.time.seconds(since: own[0].time) - row.time) < 1e-6)
        switch kind {
        case .accelerometer: #expect((sample.vector - row.force).norm < 1e-4)
        case .gyroscope: #expect((sample.vector - row.rate).norm < 1e-5)
        case .magnetometer: #expect((sample.vector - row.field).norm < 1e-3)
        default: #expect(abs(Double(sample.x) - row.pressure / 10) < 1e-4)
        }
      }
    }
    #expect(try verifySession(directory.file("s")).isIdentical)
  }

  /// What stands after the mark of a comment among the rows is a note at that time.
  @Test func remarksAmongTheRowsAreEvents() throws {
    let directory = TemporaryDirectory()
    let style = try #require(textStyles.first { $0.testDescription == "comments among the rows" })
    writeFile(directory.file("log.csv"), style.bytes)
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    #expect(report.events.map(\.detail) == ["stop, turned left"])
    #expect(report.events.first?.time == Timestamp(seconds: 1))
  }

  // MARK: Order

  private func imported(_ rows: [Row]) throws -> (report: ImportReport, z: [Float], times: [Double]) {
    let directory = TemporaryDirectory()
    let text = table(plainHeader, rows: rows) { cells([$0.time, $0.force.x, $0.force.y, 9 + $0.mark]) }
    writeFile(directory.file("log.csv"), text)
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    let samples = try replay(directory.file("s")).samples
    return (report, samples.map(\.z), samples.map(\.time.seconds))
  }

  /// Each row goes with its own time, and one line says what was done.
  private func expectInOrder(_ rows: [Row], _ words: String) throws {
    let (report, z, times) = try imported(rows)
    #expect(report.warnings.filter { $0.contains(words) }.count == 1, "\(report.warnings)")
    #expect(report.discontinuities.isEmpty)
    try #require(times.count == 300)
    for (index, time) in times.enumerated() {
      #expect(abs(time - Double(index) / 100) < 1e-9 && abs(Double(z[index]) - 9 - time) < 1e-5)
    }
    #expect(abs((report.sensors.first?.timing.rate ?? 0) - 100) < 0.1)
  }

  @Test func aLogInReverseIsTurnedRound() throws {
    try expectInOrder(Row.all.reversed(), "in reverse order")
  }

  @Test func aShuffledLogIsSorted() throws {
    var generator = SeededGenerator(5)
    try expectInOrder(Row.all.shuffled(using: &generator), "of 300 rows stood behind later ones")
  }

  @Test(arguments: [2, 40]) func rowsThatCameLateAreSorted(distance: Int) throws {
    var rows = Row.all
    for index in stride(from: 10, to: 290, by: distance) { rows.swapAt(index, index + 1) }
    try expectInOrder(rows, "by up to 0.01 s: sorted")
  }

  @Test func timesThatAreNoTimesAreRefused() throws {
    var generator = SeededGenerator(6)
    let rows = Row.all.map { row in
      var moved = row
      moved.time = Double.random(in: 0...1e8, using: &generator)
      return moved
    }
    #expect { _ = try imported(rows) } throws: { error in
      guard case .invalidFile(let path, let line, 1, let reason) = error as? MotionKitError else { return false }
      return path.hasSuffix("log.csv") && line > 2 && reason.contains("'timestamp_s' is no time")
        && reason.contains("--assume-rate")
    }
  }

  /// A clock that was set back is no disorder: what is behind it stays behind it.
  @Test(arguments: [0.05, 0.5, 100]) func aClockThatWasSetBackIsClosed(step: Double) throws {
    let rows = Row.all.map { row in
      var moved = row
      if row.time >= 1.5 { moved.time -= step }
      return moved
    }
    let (report, _, times) = try imported(rows)
    #expect(report.discontinuities.count == 1 && report.warnings.allSatisfy { !$0.contains("sorted") })
    for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 100) < 1e-9) }
  }

  @Test func aTimeFarAheadIsLeftOutAndNamed() throws {
    var rows = Row.all
    rows[100].time = 5e8
    let (report, _, times) = try imported(rows)
    #expect(times.count == 299 && times.last == 2.99)
    #expect(report.readReport.entries.map(\.finding) == [.ahead] && report.readReport.entries.first?.firstLine == 102)
  }

  @Test(arguments: ["1e18", "99999999999999999999"]) func aTimeThatCannotBeIsNamed(cell: String) throws {
    let directory = TemporaryDirectory()
    let whole = table(plainHeader) { [cell] + plainRow($0).dropFirst() }
    let one = table(plainHeader) { [$0.time == 1 ? cell : text($0.time)] + plainRow($0).dropFirst() }
    writeFile(directory.file("whole.csv"), whole)
    writeFile(directory.file("one.csv"), one)
    #expect { try importLog([directory.file("whole.csv")], to: directory.file("a")) } throws: { error in
      guard case .invalidFile(_, 2, 1, let reason) = error as? MotionKitError else { return false }
      return reason.contains(cell) && reason.contains("more than 292 years") && reason.contains("--time-unit")
    }
    let report = try importLog([directory.file("one.csv")], to: directory.file("b"))
    #expect(report.sensors.first?.timing.count == 299)
    #expect(report.readReport.notes.contains { $0.contains("line 102") && $0.contains(cell) })
  }

  // MARK: What a log cannot tell

  @Test(arguments: [0.5, 2, 9]) func aSlowLogHasNeitherAttitudeNorSteps(rate: Double) throws {
    let directory = TemporaryDirectory()
    let rows = Row.all.map { row in
      var slow = row
      slow.time *= 100 / rate
      return slow
    }
    writeFile(directory.file("log.csv"), table(plainHeader, rows: rows, plainRow))
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    #expect(report.warnings.contains { $0.contains("too slow to count steps") && $0.contains("nor are attitude") })
    try expectNoMotion(directory.file("s"), hasSteps: false)
  }

  @Test func anAccelerationWithoutGravityHasNoAttitude() throws {
    let directory = TemporaryDirectory()
    let header = ["Time (s)"] + ["x", "y", "z"].map { "Linear Acceleration \($0) (m/s^2)" }
    let text = table(header) { cells([$0.time, $0.force.x, $0.force.y, $0.force.z - standardGravity]) }
    writeFile(directory.file("log.csv"), text)
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    #expect(report.warnings.contains { $0.contains("without gravity") && $0.contains("left out") })
    try expectNoMotion(directory.file("s"), hasSteps: true)
  }

  /// Neither in the session nor in what is computed from it later.
  private func expectNoMotion(_ session: String, hasSteps: Bool) throws {
    let directory = TemporaryDirectory()
    #expect(access(session + "/device_motion.csv", F_OK) != 0)
    #expect((access(session + "/steps.csv", F_OK) == 0) == hasSteps)
    let summary = try SessionSummary(directory: session)
    #expect(summary.motionCount == 0 && summary.info.pipeline.withheld.contains(.motion))
    #expect(summary.info.pipeline.withheld.contains(.steps) == !hasSteps)
    #expect(try checkSession(session).problems.isEmpty)
    var table: [UInt8] = []
    try exportSession(session) { table += $0 }
    #expect(!String(decoding: table.prefix(500), as: UTF8.self).contains("quaternion"))
    try repairSession(session, to: directory.file("copy"))
    #expect(access(directory.file("copy/device_motion.csv"), F_OK) != 0)
  }

  // MARK: Files

  private func fault(_ path: String, _ directory: TemporaryDirectory) -> String {
    do {
      try importLog([path], to: directory.file("out"))
      return ""
    } catch { return "\(error)" }
  }

  @Test(arguments: [-1000, 176_450_000_000]) func aClockThatWasSetIsClosed(centiseconds: Int) throws {
    let directory = TemporaryDirectory()
    var rows = Row.all
    for index in 100..<300 { rows[index].time += Double(centiseconds) / 100 }
    writeFile(directory.file("log.csv"), table(plainHeader, rows: rows, plainRow))
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    #expect(report.discontinuities.map(\.line) == [102])
    let times = try replay(directory.file("s")).samples.map(\.time)
    #expect(times.count == 300)
    for (a, b) in zip(times, times.dropFirst()) { #expect(abs(b.seconds(since: a) - 0.01) < 1e-6) }
  }

  @Test func aPauseOfDaysStays() throws {
    let directory = TemporaryDirectory()
    var rows = Row.all
    for index in 100..<300 { rows[index].time += 5 * 86_400 }
    writeFile(directory.file("log.csv"), table(plainHeader, rows: rows, plainRow))
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    #expect(report.discontinuities.isEmpty)
    var text: [UInt8] = []
    // Five days at 100 rows a second would be 43 million rows, all blank.
    let count = try exportSession(directory.file("s")) { text += $0 }
    #expect((295...310).contains(count))
    let last = String(decoding: text, as: UTF8.self).split(separator: "\n").last
    #expect(last?.hasPrefix("432002.99") == true)
  }

  @Test func filesWithDifferentBeginningsAreNotMixed() {
    let directory = TemporaryDirectory()
    mkdir(directory.file("logs"), 0o755)
    writeFile(directory.file("logs/acc.csv"), table(plainHeader, plainRow))
    let header = ["timestamp_s", "gyro_x (rad/s)", "gyro_y (rad/s)", "gyro_z (rad/s)"]
    writeFile(
      directory.file("logs/gyro.csv"),
      table(header) { cells([$0.time + 1_764_500_000] + axes($0.rate)) })
    #expect(fault(directory.file("logs"), directory).contains("different beginnings"))
  }

  @Test(arguments: [
    ("temperature_C", "20"), ("temperature_f", "68"), ("temp (°F)", "68"), ("temp_k", "293.15"), ("temperature", "20"),
  ])
  func temperaturesHaveUnits(name: String, value: String) throws {
    let directory = TemporaryDirectory()
    let log = table(["timestamp_s", "pressure_hpa", name]) { cells([$0.time]) + ["1013.25", value] }
    writeFile(directory.file("log.csv"), log)
    try importLog([directory.file("log.csv")], to: directory.file("s"))
    let samples = try replay(directory.file("s")).samples
    #expect(samples.count == 300 && samples.allSatisfy { abs($0.y - 20) < 1e-3 })
  }

  @Test func timesThatNoUnitFitsAreExplained() {
    let directory = TemporaryDirectory()
    let header = ["time", "acc_x (m/s2)", "acc_y (m/s2)", "acc_z (m/s2)"]
    // Days, as spreadsheets count them.
    writeFile(
      directory.file("log.csv"), table(header) { ["\(46_000 + $0.time / 86_400)"] + cells(axes($0.force)) })
    let words = fault(directory.file("log.csv"), directory)
    #expect(words.contains("none from seconds to nanoseconds fits") && words.contains("--assume-rate"), "\(words)")
  }

  @Test(arguments: [",", "."]) func phyphoxStartsAreReadWithEitherPoint(point: String) throws {
    let directory = TemporaryDirectory()
    mkdir(directory.file("logs"), 0o755)
    mkdir(directory.file("logs/meta"), 0o755)
    let header = ["Time (s)", "Acceleration x (m/s^2)", "Acceleration y (m/s^2)", "Acceleration z (m/s^2)"]
    writeFile(
      directory.file("logs/Accelerometer.csv"),
      table(quoted(header), separator: ";") { plainRow($0).map { $0.replacing(".", with: point) } })
    let start = "1764500000.25".replacing(".", with: point)
    writeFile(
      directory.file("logs/meta/time.csv"),
      "\"event\";\"experiment time\";\"system time\";\"system time text\"\n"
        + "\"START\";0\(point)0E0;\(start);\"2025-11-30 11:53:20.250 UTC\"\n")
    try importLog([directory.file("logs")], to: directory.file("s"))
    let info = try SessionReader(directory: directory.file("s")).info
    #expect(info.anchors.map { ($0.utcNanoseconds + 500) / 1000 } == [1_764_500_000_250_000])
  }

  @Test func whatIsNoLogIsSaidWhy() {
    let directory = TemporaryDirectory()
    writeFile(directory.file("header.csv"), plainHeader.joined(separator: ",") + "\n")
    writeFile(directory.file("empty.csv"), "")
    writeFile(directory.file("bare.csv"), table(["0", "1", "2", "3"], plainRow))
    #expect(fault(directory.file("header.csv"), directory).contains("it has a header and no rows"))
    #expect(fault(directory.file("empty.csv"), directory).contains("no rows of cells"))
    #expect(fault(directory.file("bare.csv"), directory).contains("--columns time=1,accel.x=2"))
  }

  @Test func columnsThatAreNotUnderstoodAreNamed() throws {
    let directory = TemporaryDirectory()
    let header = plainHeader + names("gyro_x_foo,gyro_y_foo,gyro_z_foo,gyro_bias_x,gravity,temperature_x")
    let text = table(header) { plainRow($0) + cells(axes($0.rate)) + ["0", "1", "2"] }
    writeFile(directory.file("log.csv"), text)
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    let told = report.warnings.filter { $0.contains("not understood") }
    #expect(told.count == 1)
    #expect(told.first?.contains("columns gyro_x_foo, gyro_y_foo, gyro_z_foo are not") == true, "\(told)")
    #expect(told.first?.contains("--columns gyro.x=gyro_x_foo") == true)
  }

  @Test func columnsWithoutNamesAreNamedByTheirNumbers() throws {
    let directory = TemporaryDirectory()
    writeFile(directory.file("bare.csv"), Row.all.map { plainRow($0).joined(separator: ",") + "\n" }.joined())
    var options = ImportOptions()
    options.columns = ["time": "1", "accel.x": "2", "accel.y": "3", "accel.z": "4"]
    options.accelerationUnit = "m/s^2"
    let report = try importLog([directory.file("bare.csv")], to: directory.file("s"), options: options)
    #expect(report.sensors.first?.timing.count == 300)
  }

  @Test func aRecordingOfThisProgramIsToldAsOne() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("own"))
    try writer.consume(batch([sample(1, .accelerometer, 1)]))
    try writer.finish()
    let words = fault(directory.file("own"), directory)
    #expect(words.contains("is a recording of this program already") && words.contains("export"))
  }

  @Test func foldersInAFolderAreRead() throws {
    let directory = TemporaryDirectory()
    for (name, header, row) in [
      ("acc", plainHeader, plainRow),
      (
        "gyro", ["timestamp_s", "gyro_x (rad/s)", "gyro_y (rad/s)", "gyro_z (rad/s)"],
        { cells([$0.time] + axes($0.rate)) }
      ),
    ] as [(String, [String], (Row) -> [String])] {
      mkdir(directory.file("logs"), 0o755)
      mkdir(directory.file("logs/" + name), 0o755)
      writeFile(directory.file("logs/\(name)/\(name).csv"), table(header, row))
    }
    let report = try importLog([directory.file("logs")], to: directory.file("s"))
    #expect(report.sensors.map(\.kind) == [.accelerometer, .gyroscope])
  }
}
