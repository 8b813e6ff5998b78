import SensorFusion
import Testing

@testable import MotionKitLinux

/// The directory of the test inputs beside this target.
private let cases: String = {
  var parts = #filePath.split(separator: "/")
  parts.removeLast(3)
  return "/" + parts.joined(separator: "/") + "/Cases/"
}()

/// An imported log, kept until the test ends.
private final class Imported {
  let directory = TemporaryDirectory()
  let report: ImportReport
  var path: String { directory.file("s") }

  init(_ name: String, _ change: (inout ImportOptions) -> Void = { _ in }) throws {
    var options = ImportOptions()
    change(&options)
    report = try importLog([cases + name], to: directory.file("s"), options: options)
  }

  func samples(_ kind: SensorKind? = nil) throws -> [SensorSample] {
    try replay(path).samples.filter { kind == nil || $0.kind == kind }
  }
}

/// The angle about z, rad, by the rule that a sample's rate holds since the sample before.
private func turn(_ samples: [SensorSample]) -> Double {
  zip(samples, samples.dropFirst()).reduce(0) { $0 + Double($1.1.z) * $1.1.time.seconds(since: $1.0.time) }
}

private func fault(_ body: () throws -> Void) -> (line: Int, reason: String)? {
  do {
    try body()
    return nil
  } catch MotionKitError.invalidFile(_, let line, _, let reason) {
    return (line, reason)
  } catch { return (-1, "\(error)") }
}

private func readTable(_ name: String, _ options: ImportOptions = ImportOptions()) throws -> ImportTable {
  try #require(try ImportTable(path: cases + name, fileName: "input.csv", options: options, metadata: .init()))
}

/// The public problem reports about files, time stamps and formats; each folder's expected.txt says what is asked.
@Suite struct CaseTests {
  @Test func case01BurstsWithOneTimeStampAreSpread() throws {
    let log = try Imported("01-burst-duplicate-timestamps/input.csv")
    let gyroscope = try log.samples(.gyroscope)
    #expect(gyroscope.count == 32)
    let angle = turn(gyroscope)
    #expect(angle > 0.14 && angle < 0.16)
    #expect(log.report.sensor(.gyroscope)?.duplicates == 24)
    #expect(log.report.warnings.contains { $0.contains("24 rows have the time of the row before") })
    #expect(zip(gyroscope, gyroscope.dropFirst()).allSatisfy { $1.time.seconds(since: $0.time) == 0.01 })
  }

  @Test func case02AJumpBackIsClosedAndReplaysAtOnce() throws {
    let log = try Imported("02-backwards-jump-767s/input.csv")
    let jumps = log.report.discontinuities
    #expect(jumps.map(\.line) == [10, 16])
    #expect(abs((jumps.first?.step ?? 0) + 767.637) < 1e-3 && abs((jumps.last?.step ?? 0) - 767.657) < 1e-3)
    let clock = TestClock()
    let begin = clock.nanoseconds
    let samples = try replay(log.path, pacing: .speed(1), clock: clock).samples
    #expect(samples.count == 40)
    #expect(clock.nanoseconds - begin < 1_000_000_000)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time <= $1.time })
  }

  @Test(arguments: [("forward", "+14400.0"), ("backward", "-1.0")])
  func case04TheWallClockIsOnlyALabel(file: String, step: String) throws {
    let log = try Imported("04-clock-step-during-recording/\(file).csv")
    let timing = try #require(log.report.sensor(.accelerometer)?.timing)
    #expect(abs(timing.duration - 0.58) < 1e-9 && abs(timing.rate - 50) < 1e-6 && timing.gapCount == 0)
    let steps = try replay(log.path).events.filter { $0.name == "clock_step" }
    #expect(steps.count == 1 && steps[0].detail.contains(step + " s"))
  }

  @Test func case06TimesWithoutResolutionAreRefused() throws {
    let found = try #require(fault { _ = try Imported("06-scientific-notation-time/input.csv") })
    #expect(found.line == 2)
    #expect(found.reason.contains("'time'") && found.reason.contains("1.73234e+09") && found.reason.contains("--rate"))
    // What is written is never rounded.
    let row = RowBuffer()
    row.append(nanoseconds: 1_732_340_000_123_456_789)
    #expect(String(decoding: row.bytes, as: UTF8.self) == "1732340000.123456789")
  }

  @Test func case07NanosecondsStayWhole() throws {
    let log = try Imported("07-ns-epoch-through-double/input.csv")
    let times = try log.samples().map(\.time.nanoseconds)
    #expect(zip(times, times.dropFirst()).map { $1 - $0 } == [100, 100, 100])
    let original = readText(cases + "07-ns-epoch-through-double/input.csv").split(separator: "\n").dropFirst()
    #expect(times.map { "\($0)" } == original.map { String($0.prefix { $0 != "," }) })
  }

  @Test func case10TheRateComesFromTheWholeSpan() throws {
    let log = try Imported("10-rate-from-rounded-ms/input.csv") { $0.accelerationUnit = "g" }
    let timing = try #require(log.report.sensor(.accelerometer)?.timing)
    #expect(abs(timing.rate - 80) < 0.1 && timing.gapCount == 0 && timing.duplicates == 0)
    #expect(timing.jitter > 0.0001 && timing.jitter < 0.001)
  }

  @Test func case11TheTimesWinOverTheRateGiven() throws {
    let file = "11-declared-52-real-83/input.csv"
    let degrees = 180 / Double.pi
    let plain = try Imported(file)
    let plainTurn = turn(try plain.samples(.gyroscope))
    #expect(abs(plainTurn * degrees - 63.7) < 0.5)
    #expect(!plain.report.warnings.contains { $0.contains("Hz") })
    let declared = try Imported(file) { $0.rate = 52 }
    let declaredTurn = turn(try declared.samples(.gyroscope))
    #expect(abs(declaredTurn * degrees - 63.7) < 0.5)
    #expect(declared.report.warnings.contains { $0.contains("83.3 Hz") && $0.contains("52.0 Hz") })
    let assumed = try Imported(file) {
      $0.rate = 52
      $0.ratesReplaceTimes = true
    }
    let assumedTurn = turn(try assumed.samples(.gyroscope))
    #expect(abs(assumedTurn * degrees - 59 / 52 * 90) < 0.5)
  }

  @Test func case13HolesAreCountedAndTimeIsTrue() throws {
    let log = try Imported("13-card-write-stalls/input.csv")
    let timing = try #require(log.report.sensor(.gyroscope)?.timing)
    #expect(timing.gapCount == 2 && abs(timing.longestGap - 0.21) < 1e-9 && abs(timing.gapDuration - 0.42) < 1e-9)
    let angle = turn(try log.samples(.gyroscope))
    #expect(abs(angle / (0.3 * timing.duration) - 1) < 0.01)
    let summary = try SessionSummary(directory: log.path)
    #expect(summary.sensors[0].timing.gapCount == 2)
  }

  @Test func case14ABatchEndsAtItsInterrupt() throws {
    let log = try Imported("14-fifo-batch-stamped-at-irq/input.csv")
    let times = try log.samples().map(\.time.nanoseconds)
    #expect(times.count == 40)
    #expect(times[0] == 1_000_010_000_000 && times[9] == 1_000_100_000_000)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 10_000_000 })
  }

  @Test(arguments: [1.0, 10.0]) func case15EveryRowIsScheduledByItsOwnTime(speed: Double) throws {
    let log = try Imported("15-first-interval-short/input.csv") {
      $0.accelerationUnit = "m/s^2"
      $0.missingAxesAreZero = true
    }
    let clock = TestClock()
    let begin = clock.nanoseconds
    let paced = try replay(log.path, pacing: .speed(speed), clock: clock)
    let wall = Double(clock.nanoseconds - begin) / 1e9
    #expect(abs(wall - 2.004 / speed) < 1e-6)
    let unpaced = try replay(log.path).samples
    #expect(sameBits(paced.samples, unpaced))
  }

  @Test func case17ElapsedTimeCountsFromTheFirstSample() throws {
    // The recording starts at 1 s of the device's clock; the sample lies 1150 µs behind.
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"))
    let samples = [
      sample(1_000_000_000, .accelerometer, 1), sample(1_001_150_000, .accelerometer, 2),
      sample(1_002_000_000, .accelerometer, 3),
    ]
    try writer.consume(batch(samples))
    try writer.finish()
    let reader = try SessionReader(directory: directory.file("s"))
    try reader.seek(toElapsed: 0.00115)
    let found = try #require(try reader.next())
    #expect(found == samples[1])
    #expect(found.time.seconds(since: samples[0].time) == 0.00115)
  }

  @Test func case18DecimalCommasBetweenCommasAreRefused() throws {
    let found = try #require(fault { _ = try Imported("18-decimal-comma-same-separator/input.csv") })
    #expect(found.line == 2)
    #expect(found.reason.contains("4") && found.reason.contains("8") && found.reason.contains("decimal comma"))
  }

  @Test func case20AByteOrderMarkIsSkipped() throws {
    let table = try readTable("20-utf8-bom/input.csv")
    #expect(table.columns.first?.name == "t_ns")
    #expect(table.times == [0, 10_000_000])
    #expect(table.report.count(.byteOrderMark) == 1)
  }

  @Test func case21CarriageReturnsAreNoPartOfValues() throws {
    let log = try Imported("21-crlf/input.csv")
    let z = try log.samples().map(\.z)
    #expect(z == [9.81, 9.81])
  }

  @Test func case23ShortRowsAreNotPadded() throws {
    let found = try #require(fault { _ = try Imported("23-time-only-rows/input.csv") })
    #expect(found.line == 2)
    #expect(found.reason.contains("expected 4 fields, found 1"))
  }

  @Test func case25CommasInNotesDoNotShiftColumns() throws {
    let log = try Imported("25-comma-inside-note/input.csv") { $0.missingAxesAreZero = true }
    #expect(try log.samples().count == 2)
    let wrong = log.report.readReport.entries.filter { $0.finding == .wrongWidth }
    #expect(wrong.map(\.firstLine) == [3] && wrong.map(\.count) == [1])
    #expect(log.report.events.map(\.detail) == ["start", "turned left, then up"])
    // And back: what is written reads the same.
    #expect(try replay(log.path).events.map(\.detail) == ["start", "turned left, then up"])
  }

  @Test(arguments: ["xio", "ximu3", "sensorlogger", "phyphox-like"])
  func case27HeadersTellNamesAndUnits(file: String) throws {
    let log = try Imported("27-header-variants/\(file).csv")
    let samples = try log.samples(.accelerometer)
    #expect(samples.count == 2)
    for sample in samples {
      #expect(abs(sample.x) < 0.02 && abs(sample.y) < 0.02 && abs(sample.z - 9.81) < 0.02)
    }
    #expect(samples[1].time.nanoseconds - samples[0].time.nanoseconds == 10_000_000)
  }

  @Test func case27WithoutAUnitTheImportAsks() throws {
    let found = try #require(fault { _ = try Imported("27-header-variants/bare.csv") })
    #expect(found.reason.contains("--accel-unit") && found.reason.contains("looks like g"))
    let told = try Imported("27-header-variants/bare.csv") { $0.accelerationUnit = "g" }
    #expect(try told.samples().allSatisfy { abs($0.z - 9.81) < 0.02 })
  }

  @Test func case27CoreMotionSignsComeFromHeaderOrOption() throws {
    let header = try Imported("27-header-variants/sensorlog-ios.csv")
    #expect(try header.samples(.accelerometer).allSatisfy { abs($0.z - 9.81) < 0.02 })
    #expect(header.report.warnings.contains { $0.contains("Core Motion") })
    // The same values under a header that does not tell the signs: a warning, no guess.
    let directory = TemporaryDirectory()
    let text = "time_s,acc_x (g),acc_y (g),acc_z (g)\n0.00,0,0,-1\n0.01,0,0,-1\n"
    writeFile(directory.file("plain.csv"), text)
    let plain = try importLog([directory.file("plain.csv")], to: directory.file("a"))
    #expect(plain.warnings.contains { $0.contains("points down") && $0.contains("core-motion") })
    var options = ImportOptions()
    options.accelerationSign = .coreMotion
    try importLog([directory.file("plain.csv")], to: directory.file("b"), options: options)
    #expect(try replay(directory.file("a")).samples.allSatisfy { $0.z < -9.8 })
    #expect(try replay(directory.file("b")).samples.allSatisfy { $0.z > 9.8 })
  }

  @Test func case28RawCountsAreAskedForAndSlowLogsHaveNoSteps() throws {
    let found = try #require(fault { _ = try Imported("28-raw-counts-no-unit-1hz/input.csv") })
    #expect(found.reason.contains("raw counts") && found.reason.contains("scale"))
    #expect(found.reason.contains("1.0 Hz is too slow") && found.reason.contains("steps are not available"))
  }

  @Test(arguments: ["input", "input-parses"]) func case30ATornLastLineIsNoSample(file: String) throws {
    let log = try Imported("30-truncated-last-line/\(file).csv")
    #expect(try log.samples().count == 5)
    #expect(log.report.readReport.notes.contains { $0.contains("last line incomplete") })
  }

  @Test func case34BlanksAndNaNNeverReachTheFilter() throws {
    let log = try Imported("34-nan-and-blank-cells/input.csv")
    let accelerometer = try #require(log.report.sensor(.accelerometer))
    let gyroscope = try #require(log.report.sensor(.gyroscope))
    #expect(accelerometer.nonFinite == 1 && accelerometer.blank == 1)
    #expect(gyroscope.nonFinite == 1 && gyroscope.blank == 0)
    let samples = try log.samples()
    let allFinite = samples.allSatisfy { $0.isFinite }
    #expect(allFinite)
    // The row with a blank acceleration still has its rate of rotation.
    let count = { (kind: SensorKind) in samples.count { $0.kind == kind } }
    #expect(count(.gyroscope) == count(.accelerometer) + 1)
    var pipeline = MotionPipeline()
    for sample in samples where pipeline.process(sample).contains(.motion) {
      let attitude = Attitude(quaternion: pipeline.motion.attitude)
      #expect(pipeline.motion.attitude.isFinite)
      #expect(abs(attitude.pitch) < 0.002 && abs(attitude.roll) < 0.002)
    }
  }
}
