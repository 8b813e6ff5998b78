import SensorFusion
import Testing

@testable import MotionKitLinux

/// A session of ten samples 0.1 s apart, with an event at the fifth.
private func session() throws -> (directory: TemporaryDirectory, samples: [SensorSample]) {
  let directory = TemporaryDirectory()
  let samples = (0..<10).map { sample(5_000_000_000 + Int64($0) * 100_000_000, .accelerometer, Float($0), 0, 9.8) }
  let writer = try SessionWriter.manual(directory.file("s"), info: testInfo([.accelerometer]))
  try writer.consume(batch(samples, events: [SourceEvent(time: samples[5].time, name: "mark", detail: "five")]))
  try writer.finish()
  return (directory, samples)
}

private func source(
  _ directory: TemporaryDirectory, _ pacing: Pacing = .unpaced, clock: TestClock = TestClock(),
  _ change: (inout ReplayRange) -> Void = { _ in }
) throws -> RecordingSource {
  var range = ReplayRange()
  change(&range)
  let source = try RecordingSource(directory: directory.file("s"), pacing: pacing, range: range, clock: clock)
  _ = try source.start(SensorRequest(rates: [:]))
  return source
}

@Suite struct ReplayTests {
  @Test func aRangeHoldsTheSamplesFromAndToItsEnds() throws {
    let (directory, samples) = try session()
    let source = try source(directory) {
      $0.from = 0.25
      $0.to = 0.6
    }
    var batch = SampleBatch()
    #expect(try source.read(into: &batch, timeout: 0) == .data)
    #expect(batch.samples == Array(samples[3...6]))
    #expect(batch.events.map(\.detail) == ["five"])
    #expect(try source.read(into: &batch, timeout: 0) == .end)
  }

  @Test(arguments: [Pacing.unpaced, .speed(2)]) func aLoopGoesOnInTime(pacing: Pacing) throws {
    let (directory, samples) = try session()
    let clock = TestClock()
    let begin = clock.nanoseconds
    let source = try source(directory, pacing, clock: clock) { $0.loops = true }
    var batch = SampleBatch()
    var seen: [SensorSample] = []
    while seen.count < 30 {
      #expect(try source.read(into: &batch, timeout: 10) == .data)
      seen += batch.samples
    }
    #expect(seen.prefix(30).map(\.x) == (0..<30).map { Float($0 % 10) })
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $1.time.nanoseconds - $0.time.nanoseconds == 100_000_000 })
    if pacing == .speed(2) { #expect(clock.nanoseconds - begin == 29 * 50_000_000) }
    #expect(samples[0].time == seen[0].time)
    source.stop()
    #expect(try source.read(into: &batch, timeout: 0) == .end)
  }

  @Test func aPauseShiftsTheRestOfTheReplay() throws {
    let (directory, _) = try session()
    let clock = TestClock()
    let begin = clock.nanoseconds
    let source = try source(directory, .speed(1), clock: clock)
    var batch = SampleBatch()
    for _ in 0..<5 { #expect(try source.read(into: &batch, timeout: 1) == .data) }
    #expect(clock.nanoseconds - begin == 400_000_000)
    source.pause()
    #expect(try source.read(into: &batch, timeout: 1) == .timeout)
    #expect(try source.read(into: &batch, timeout: 1) == .timeout)
    #expect(batch.samples.isEmpty)
    source.resume()
    #expect(try source.read(into: &batch, timeout: 1) == .data)
    #expect(batch.samples.map(\.x) == [5])
    #expect(clock.nanoseconds - begin == 2_500_000_000)
  }

  @Test func onlyWhatIsAskedForIsReplayed() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"))
    try writer.consume(batch([sample(1, .accelerometer, 1), sample(1, .gyroscope, 2), sample(2, .accelerometer, 3)]))
    try writer.finish()
    let source = try RecordingSource(directory: directory.file("s"), pacing: .unpaced)
    let started = try source.start(SensorRequest(rates: [.gyroscope: 100]))
    #expect(started.sensors.map(\.kind) == [.gyroscope] && started.sensors[0].capture == "replayed")
    var batch = SampleBatch()
    #expect(try source.read(into: &batch, timeout: 0) == .data)
    #expect(batch.samples.map(\.x) == [2])
    #expect(throws: MotionKitError.self) {
      try source.start(SensorRequest(rates: [.barometer: 1], required: [.barometer]))
    }
    #expect(throws: MotionKitError.self) {
      try RecordingSource(directory: directory.file("s"), pacing: .speed(0))
    }
  }

  /// Kinds of one instant that come out of order: the live pipeline and the replay still agree.
  @Test func theOrderWithinAnInstantIsTheSameLiveAndReplayed() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"))
    var pipeline = MotionPipeline()
    var processed = ProcessedBatch()
    for index in 0..<300 {
      let time = Int64(index) * 10_000_000
      let pair = [sample(time, .accelerometer, 0.1, 0, 9.8), sample(time, .gyroscope, 0.01, 0, 0.2)]
      processed.input.samples += index % 7 == 3 ? pair.reversed() : pair
    }
    processed.process(with: &pipeline)
    try writer.consume(processed)
    let summary = try writer.finish(counters: pipeline.counters)
    #expect(summary.lateSamples == 43 && pipeline.counters.late == 43)
    let verification = try verifySession(directory.file("s"))
    #expect(verification.isIdentical && (verification.rows[.deviceMotion] ?? 0) > 100)
  }
}

@Suite struct ExportTests {
  private func table(_ directory: String, _ change: (inout ExportOptions) -> Void) throws -> [[String]] {
    var options = ExportOptions()
    change(&options)
    var bytes: [UInt8] = []
    let count = try exportSession(directory, options: options) { bytes += $0 }
    let rows = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { CSVText.cells(String($0)) }
    #expect(Int64(rows.count) == count + 1)
    return rows
  }

  @Test(arguments: [
    (ExportOptions.Method.hold, ["0", "0", "1", "1", "2"]), (.nearest, ["0", "0", "1", "1", "2"]),
    (.linear, ["0", "0.5", "1", "1.5", "2"]),
  ])
  func rowsLieOnTheGridBetweenSamples(method: ExportOptions.Method, expected: [String]) throws {
    let (directory, _) = try session()
    let rows = try table(directory.file("s")) {
      $0.rate = 20
      $0.method = method
    }
    #expect(rows[0].prefix(2) == ["time_s", "accelerometer_x_m_s2"])
    #expect(rows.count == 20)
    #expect(rows[1...5].map { $0[0] } == ["0.000000000", "0.050000000", "0.100000000", "0.150000000", "0.200000000"])
    #expect(rows[1...5].map { $0[1] } == expected)
  }

  @Test func rawValuesKeepTheirShortestDigits() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"), info: testInfo([.accelerometer]))
    try writer.consume(batch((0..<3).map { sample(Int64($0) * 10_000_000, .accelerometer, 0.1, -9.80665, 0.3) }))
    try writer.finish()
    var text: [UInt8] = []
    try exportSession(directory.file("s")) { text += $0 }
    let rows = String(decoding: text, as: UTF8.self).split(separator: "\n")
    #expect(rows.count == 4)
    #expect(rows[1].hasPrefix("0.000000000,0.1,-9.80665,0.3"))
    // Between equal samples, too.
    #expect(rows[2].contains(",0.1,-9.80665,0.3"))
  }

  @Test func gapsStayBlank() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"), info: testInfo([.accelerometer]))
    let times: [Int64] = [0, 100, 200, 300, 800, 900, 1000]
    try writer.consume(batch(times.map { sample($0 * 1_000_000, .accelerometer, 1, 2, 3) }))
    try writer.finish()
    let rows = try table(directory.file("s")) { $0.rate = 10 }
    #expect(rows.dropFirst().map { $0[1] } == ["1", "1", "1", "1", "", "", "", "", "1", "1", "1"])
  }

  @Test func attitudesTurnTheShortWay() {
    func about(_ angle: Double) -> Quaternion {
      Quaternion(w: Elementary.cos(angle / 2), x: 0, y: 0, z: Elementary.sin(angle / 2))
    }
    let a = about(3)
    let b = about(-3)
    let middle = slerp(a, b, 0.5)
    #expect(abs(abs(Attitude(quaternion: middle).yaw) - .pi) < 1e-12)
    for share in [0, 0.25, 0.5, 1] {
      let q = slerp(about(0.2), about(1.0), share)
      #expect(abs(Attitude(quaternion: q).yaw - (0.2 + 0.8 * share)) < 1e-12)
    }
    #expect(
      (slerp(a, Quaternion(w: -a.w, x: -a.x, y: -a.y, z: -a.z), 0.3).inverseRotate(Vector3(1, 0, 0))
        - a.inverseRotate(Vector3(1, 0, 0))).norm < 1e-12)
  }

  @Test func linesOfJSONHoldTheSameNumbers() throws {
    let (directory, _) = try session()
    var options = ExportOptions()
    options.rate = 10
    options.format = .json
    var bytes: [UInt8] = []
    try exportSession(directory.file("s"), options: options) { bytes += $0 }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 10)
    for (index, line) in lines.enumerated() {
      let json = try Array(line.utf8).withTypedUnsafeBytes { (b) throws(MotionKitError) in
        try JSONValue(parsing: b, path: "line")
      }
      #expect(json["accelerometer_x_m_s2"]?.double == Double(index))
    }
  }
}
