import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite struct SessionRoundTripTests {
  @Test func everyFileOfTheSensorsIsThereFromTheStart() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"), info: testInfo([.accelerometer, .barometer]))
    let names = try SystemFileLayer().list(directory.file("s"))
    for file in [SessionFile.accelerometer, .barometer, .events] + SessionFile.derived {
      #expect(names.contains(file.fileName))
      #expect(readText(directory.file("s/" + file.fileName)) == file.columns.joined(separator: ",") + "\n")
    }
    #expect(!names.contains("gyroscope.csv"))
    try writer.finish()
    #expect(try checkSession(directory.file("s")).isSound)
  }

  @Test(arguments: 1...8) func whatIsReplayedIsExactlyWhatWasRecorded(seed: UInt64) throws {
    let directory = TemporaryDirectory()
    let samples = randomSamples(3000, kinds: SensorKind.allCases, seed: seed)
    let events = [
      SourceEvent(time: samples[10].time, name: "gap", detail: "gyroscope, 0.5 s; \"x\"\nsecond line"),
      SourceEvent(time: samples[2000].time, name: "mark", detail: ""),
    ]
    let writer = try SessionWriter.manual(directory.file("s"), info: testInfo(SensorKind.allCases))
    var generator = SeededGenerator(seed)
    var rest = samples[...]
    var isFirst = true
    while !rest.isEmpty {
      let part = rest.prefix(Int.random(in: 1...700, using: &generator))
      rest = rest.dropFirst(part.count)
      try writer.consume(batch(Array(part), events: isFirst ? events : []))
      isFirst = false
      if Bool.random(using: &generator) { writer.drain() }
    }
    let summary = try writer.finish()
    let result = try replay(directory.file("s"))
    #expect(sameBits(result.samples, samples))
    #expect(result.events == events)
    #expect(summary.lost.isEmpty)
    for kind in SensorKind.allCases {
      #expect(summary.rows[SessionFile(kind)] == Int64(samples.count { $0.kind == kind }))
    }
    #expect(summary.timeSpan == samples[0].time...samples[samples.count - 1].time)
  }

  @Test func valuesThatAreNotFiniteSurvive() throws {
    let directory = TemporaryDirectory()
    let samples = [
      sample(1, .accelerometer, .nan, 1, 2), sample(2, .accelerometer, .infinity, -.infinity, -0.0),
      sample(2, .accelerometer, 1, 2, 3), sample(2, .gyroscope, 0, 0, 0),
    ]
    let writer = try SessionWriter.manual(directory.file("s"))
    try writer.consume(batch(samples))
    try writer.finish()
    let read = try replay(directory.file("s")).samples
    #expect(read.count == 4)
    #expect(read[0].x.isNaN && read[0].y == 1)
    #expect(read[1].x == .infinity && read[1].y == -.infinity && read[1].z.sign == .minus)
    #expect(Array(read[2...]) == Array(samples[2...]))
  }

  @Test func filesAreAsDocumented() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(
      directory.file("s"), info: testInfo([.accelerometer, .gyroscope, .magnetometer, .barometer]))
    try writer.consume(
      batch([
        sample(1_000_000_000, .accelerometer, 0.1, -0.25, 9.80665), sample(1_000_000_000, .gyroscope, 1, 2, 3),
        SensorSample(time: Timestamp(nanoseconds: 1_500_000_000), pressureKilopascals: 101.325),
      ]))
    try writer.finish()
    func text(_ file: SessionFile) -> String { readText(directory.file("s/" + file.fileName)) }
    #expect(text(.accelerometer) == "timestamp_s,x_m_s2,y_m_s2,z_m_s2\n1.000000000,0.1,-0.25,9.80665\n")
    #expect(text(.gyroscope) == "timestamp_s,x_rad_s,y_rad_s,z_rad_s\n1.000000000,1,2,3\n")
    #expect(text(.magnetometer) == "timestamp_s,x_uT,y_uT,z_uT\n")
    #expect(text(.barometer) == "timestamp_s,pressure_kPa,temperature_C\n1.500000000,101.325,\n")
    #expect(text(.events) == "timestamp_s,event,detail\n")
  }

  @Test func lateSamplesAreEventsNotRows() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"))
    try writer.consume(
      batch([
        sample(10, .accelerometer, 1), sample(20, .gyroscope, 2), sample(15, .accelerometer, 3),
        sample(20, .accelerometer, 4), sample(20, .gyroscope, 5), sample(30, .accelerometer, 6),
      ]))
    let summary = try writer.finish()
    let result = try replay(directory.file("s"))
    #expect(result.samples.map(\.x) == [1, 2, 5, 6])
    #expect(result.events.map(\.name) == ["late", "late", "tolerated"])
    #expect(result.events[0].detail.contains("accelerometer") && result.events[0].detail.contains("3.0"))
    #expect(summary.lateSamples == 2 && summary.lost.isEmpty && summary.events["late"] == 2)
  }

  @Test func aDirectoryThatIsNotEmptyIsRefused() throws {
    let directory = TemporaryDirectory()
    writeFile(directory.file("something"), "x")
    #expect {
      _ = try SessionWriter(directory: directory.path, info: testInfo())
    } throws: { error in
      guard case .fileSystem(let path, EEXIST, let hint) = error as? MotionKitError else { return false }
      return path == directory.path && hint.contains("not empty")
    }
    #expect(readText(directory.file("something")) == "x")
    // An empty one is taken; one without a parent is an error that says so.
    mkdir(directory.file("empty"), 0o755)
    try SessionWriter(directory: directory.file("empty"), info: testInfo()).finish()
    #expect(throws: MotionKitError.self) {
      _ = try SessionWriter(directory: directory.file("no/such/parent"), info: testInfo())
    }
  }

  @Test func theWritingThreadDeliversEverything() throws {
    let directory = TemporaryDirectory()
    let samples = randomSamples(50_000, kinds: [.accelerometer, .gyroscope], seed: 9)
    var options = SessionWriter.Options()
    options.whenFull = .wait
    options.bufferLimit = 1 << 16
    let writer = try SessionWriter(directory: directory.file("s"), info: testInfo(), options: options)
    for start in stride(from: 0, to: samples.count, by: 100) {
      try writer.consume(batch(Array(samples[start..<min(start + 100, samples.count)])))
    }
    writer.mark("the door")
    let summary = try writer.finish()
    #expect(summary.lost.isEmpty)
    let result = try replay(directory.file("s"))
    #expect(sameBits(result.samples, samples))
    #expect(result.events == [SourceEvent(time: samples[samples.count - 1].time, name: "mark", detail: "the door")])
  }

  @Test func derivedRowsReadBackExactly() throws {
    let directory = TemporaryDirectory()
    var generator = SeededGenerator(5)
    func value() -> Double { Double.random(in: -3...3, using: &generator) }
    func vector() -> Vector3 { Vector3(value(), value(), value()) }
    var all = ProcessedBatch()
    for index in 0..<200 {
      var motion = MotionState(time: Timestamp(nanoseconds: Int64(index) * 5_000_000))
      motion.attitude = Quaternion(w: value(), x: value(), y: value(), z: value()).normalized
      motion.gravity = motion.attitude.inverseRotate(Vector3(0, 0, standardGravity))
      motion.userAcceleration = vector()
      motion.rotationRate = vector()
      all.motions.append(motion)
    }
    all.steps = [Step(time: Timestamp(nanoseconds: 7), number: 1, cadence: 1.9, isInterpolated: true)]
    var altitude = AltitudeState(time: Timestamp(nanoseconds: 8), pressure: 101.3)
    altitude.relativeAltitude = 1.0 / 3
    altitude.isDiscontinuity = true
    all.altitudes = [altitude]
    all.activities = [ActivityState(time: Timestamp(nanoseconds: 9), activity: .walking, confidence: .high)]
    var info = testInfo()
    info.pipeline.filter.referenceFrame = .magneticNorth
    let writer = try SessionWriter.manual(directory.file("s"), info: info)
    try writer.consume(all)
    try writer.finish()

    let lines = readText(directory.file("s/device_motion.csv")).split(separator: "\n")
    #expect(lines[0] == SessionFile.deviceMotion.header)
    #expect(lines.count == 201)
    for (line, state) in zip(lines.dropFirst(), all.motions) {
      let cells = line.split(separator: ",", omittingEmptySubsequences: false)
      #expect(cells.count == SessionFile.deviceMotion.columns.count)
      func cell(_ name: String) -> Double? {
        SessionFile.deviceMotion.columns.firstIndex(of: name).flatMap { Double(cells[$0]) }
      }
      let motion = DeviceMotion(state, frame: .magneticNorth)
      #expect(cell("quaternion_w") == motion.attitude.quaternion.w)
      #expect(cell("pitch_rad") == motion.attitude.pitch)
      #expect(cell("gravity_z_g") == motion.gravity.z)
      #expect(cell("user_acceleration_x_g") == motion.userAcceleration.x)
      #expect(cell("heading_rad") == motion.heading * (.pi / 180))
      #expect(cell("flags") == 0)
    }
    #expect(
      readText(directory.file("s/steps.csv")) == "timestamp_s,step,cadence_hz,interpolated\n0.000000007,1,1.9,1\n")
    #expect(readText(directory.file("s/altitude.csv")).hasSuffix("\n0.000000008,0.3333333333333333,0,101.3,0,0,0,1\n"))
    #expect(readText(directory.file("s/activity.csv")).hasSuffix("\n0.000000009,walking,high\n"))
  }

  /// Cells that stay the same are not worked out again: a row is what it is alone, whatever stood before it.
  @Test func aRowDoesNotDependOnTheOneBefore() {
    var state = MotionState(time: Timestamp(nanoseconds: 0))
    var states = [state]
    let values = [0, -0.0, 0.1, -0.1, 1e-9, 123456.789, .nan, -.infinity]
    var generator = SeededGenerator(9)
    func value() -> Double { values[Int.random(in: 0..<values.count, using: &generator)] }
    for index in 1..<2000 {
      state.time.nanoseconds += 1
      // One of what is kept changes, or nothing.
      switch index % 9 {
      case 0: state.magneticField.x = value()
      case 1: state.magneticField.y = value()
      case 2: state.magneticField.z = value()
      case 3: state.tiltSigma = value()
      case 4: state.gyroscopeBias.x = value()
      case 5: state.gyroscopeBias.y = value()
      case 6: state.gyroscopeBias.z = value()
      case 7: state.biasSigma = value()
      default: break
      }
      states.append(state)
    }
    let together = RowBuffer()
    for (index, state) in states.enumerated() {
      if index % 7 == 0 { together.removeAll() }
      let begin = together.count
      together.append(row: state, frame: .arbitrary)
      let alone = RowBuffer()
      alone.append(row: state, frame: .arbitrary)
      #expect(together.bytes.dropFirst(begin).elementsEqual(alone.bytes), "\(index)")
    }
  }

  @Test func headingIsBlankWithoutANorth() throws {
    let row = RowBuffer()
    row.append(row: MotionState(time: Timestamp(nanoseconds: 0)), frame: .arbitrary)
    let cells = CSVText.cells(String(decoding: row.bytes.dropLast(), as: UTF8.self))
    #expect(cells[SessionFile.deviceMotion.columns.firstIndex(of: "heading_rad") ?? 0] == "")
    #expect(cells.count == SessionFile.deviceMotion.columns.count)
  }
}
