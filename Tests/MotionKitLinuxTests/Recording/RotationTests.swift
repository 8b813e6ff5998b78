import SensorFusion
import Testing

@testable import MotionKitLinux

/// Recordings in parts.
@Suite struct RotationTests {
  /// Twelve seconds of three sensors at 50 Hz, through the pipeline, in parts.
  private static func record(
    _ rotation: SessionWriter.Rotation?, _ directory: String, batchSize: Int = 48
  ) throws -> (samples: [SensorSample], summary: ClosingSummary) {
    var options = SessionWriter.Options()
    options.rotation = rotation
    let info = testInfo([.accelerometer, .gyroscope, .barometer])
    let writer = try SessionWriter.manual(directory, info: info, options: options)
    var generator = SeededGenerator(7)
    var samples: [SensorSample] = []
    for index in 0..<600 {
      let time = 5_000_000_000 + Int64(index) * 20_000_000
      func noise() -> Float { Float.random(in: -1...1, using: &generator) }
      samples.append(sample(time, .accelerometer, noise(), noise(), 9.8 + noise()))
      samples.append(sample(time, .gyroscope, noise(), noise(), noise()))
      if index % 4 == 0 {
        samples.append(
          SensorSample(
            time: Timestamp(nanoseconds: time), pressureKilopascals: 101 + noise() / 100, temperatureCelsius: .nan))
      }
    }
    var pipeline = MotionPipeline(configuration: info.pipeline)
    var rest = samples[...]
    while !rest.isEmpty {
      var batch = ProcessedBatch()
      batch.input.samples = Array(rest.prefix(batchSize))
      rest = rest.dropFirst(batchSize)
      if let first = batch.input.samples.first {
        batch.input.events.append(SourceEvent(time: first.time, name: "mark", detail: "at \(first.time.seconds), say"))
      }
      batch.process(with: &pipeline)
      try writer.consume(batch)
      writer.drain()
    }
    return (samples, try writer.finish(counters: pipeline.counters))
  }

  /// The samples and the files of a recording in five parts of equal length, made once for the tests of its parts.
  private static let five = Result { () throws -> (samples: [SensorSample], files: [String: [UInt8]]) in
    let directory = TemporaryDirectory()
    let samples = try record(.seconds(2.5), directory.file("r")).samples
    var files: [String: [UInt8]] = [:]
    for part in try SystemFileLayer().list(directory.file("r")) {
      for name in try SystemFileLayer().list(directory.file("r/" + part)) {
        files[part + "/" + name] = readFile(directory.file("r/" + part + "/" + name))
      }
    }
    return (samples, files)
  }

  /// A copy of it; returns its samples.
  private func copyFive(to directory: String) throws -> [SensorSample] {
    let (samples, files) = try Self.five.get()
    try SystemFileLayer().createDirectory(directory)
    for part in Set(files.keys.map { $0.prefix { $0 != "/" } }) {
      try SystemFileLayer().createDirectory(directory + "/" + part)
    }
    for (name, bytes) in files { writeFile(directory + "/" + name, bytes) }
    return samples
  }

  private func parts(_ directory: String) throws -> [String] {
    try SystemFileLayer().list(directory).map { directory + "/" + $0 }
  }

  @Test(arguments: [SessionWriter.Rotation.seconds(2.5), .bytes(100_000), .bytes(15_000)], [48, 1500])
  func thePartsReplayAsOne(rotation: SessionWriter.Rotation, batchSize: Int) throws {
    let directory = TemporaryDirectory()
    let (samples, summary) = try Self.record(rotation, directory.file("r"), batchSize: batchSize)
    let (_, plain) = try Self.record(nil, directory.file("plain"), batchSize: batchSize)
    let parts = try parts(directory.file("r"))
    #expect(parts.count >= 3 || batchSize == 1500)
    let whole = try replay(directory.file("r"))
    #expect(sameBits(whole.samples, samples))
    let plainEvents = try replay(directory.file("plain")).events
    #expect(whole.events == plainEvents)
    // The same text, cut into pieces.
    for file in SessionFile.allCases {
      let text = parts.map { readText($0 + "/" + file.fileName).split(separator: "\n").dropFirst() }.joined()
      let expected = readText(directory.file("plain/" + file.fileName)).split(separator: "\n").dropFirst()
      #expect(Array(text) == Array(expected), "\(file)")
    }
    #expect(summary == plain)
    let check = try checkSession(directory.file("r"))
    #expect(check.isSound, "\(check.problems)")
    #expect(check.info.closing?.rows == plain.rows && check.info.part == nil)
    #expect(check.verification?.rows[.deviceMotion] == plain.rows[.deviceMotion])
  }

  @Test func partsOfEqualLengthHoldWhatBelongsToThem() throws {
    let directory = TemporaryDirectory()
    _ = try copyFive(to: directory.file("r"))
    let parts = try parts(directory.file("r"))
    #expect(parts.map { $0.split(separator: "/").last } == (1...5).map { "part-000\($0)" })
    for (index, part) in parts.enumerated() {
      // Each is a session of its own.
      let reader = try SessionReader(directory: part)
      #expect(reader.info.part == Int64(index + 1))
      #expect(reader.info.closing?.ended == (index < 4 ? "continued in part-000\(index + 2)" : "finished"))
      let samples = try replay(part).samples
      let first = try #require(samples.first?.time), last = try #require(samples.last?.time)
      #expect(first.seconds == 5 + Double(index) * 2.5)
      #expect(last.seconds(since: first) < 2.5)
      #expect(reader.info.closing?.timeSpan == first...last)
      let problems = try checkSession(part).problems
      // What a part holds besides its samples was computed from the parts before as well; that is all there is to say.
      #expect(problems.isEmpty, "\(problems)")
    }
  }

  @Test func aCutOrLostPartLeavesTheOthersReadable() throws {
    let directory = TemporaryDirectory()
    let samples = try copyFive(to: directory.file("r"))
    let path = directory.file("r/part-0002/accelerometer.csv")
    let whole = readFile(path)
    writeFile(path, Array(whole.dropLast(7)))
    let cut = try replay(directory.file("r"))
    // The torn row is gone, and no row of the next part with it.
    #expect(cut.samples.count == samples.count - 1)
    let report = try checkSession(directory.file("r")).report
    #expect(report.entries.contains { $0.file == "part-0002/accelerometer.csv" && $0.finding == .damagedLine })
    // A bad cell is found where it stands.
    let third = directory.file("r/part-0003/accelerometer.csv")
    var bad = readText(third).split(separator: "\n").map(String.init)
    bad[10] = "7.7,1,x,3"
    writeFile(third, bad.joined(separator: "\n") + "\n")
    var message = ""
    do { _ = try replay(directory.file("r")) } catch { message = "\(error)" }
    #expect(message.contains("part-0003/accelerometer.csv:11:"))
    // A part that is gone.
    TemporaryDirectory.remove(directory.file("r/part-0003"))
    #expect(try replay(directory.file("r")).samples.count > samples.count / 2)
  }

  @Test(arguments: 1...5) func aPartThatIsGoneIsNamed(number: Int) throws {
    let directory = TemporaryDirectory()
    _ = try copyFive(to: directory.file("r"))
    TemporaryDirectory.remove(directory.file("r/part-000\(number)"))
    let check = try checkSession(directory.file("r"))
    #expect(check.report.entries.filter { $0.finding == .missingPart }.map { $0.file } == ["part-000\(number)"])
    #expect(!check.isSound && check.problems.contains { $0.hasPrefix("part-000\(number) is missing") })
  }

  @Test func aLossIsToldAtTheEnd() throws {
    let directory = TemporaryDirectory()
    var options = SessionWriter.Options()
    options.rotation = .seconds(1)
    options.bufferLimit = 4000
    let writer = try SessionWriter.manual(directory.file("r"), info: testInfo([.accelerometer]), options: options)
    for start in 0..<40 {
      let times = (start * 10)..<(start * 10 + 10)
      try writer.consume(batch(times.map { sample(Int64($0) * 10_000_000, .accelerometer, 1, 2, 3) }))
      if start < 20 { writer.drain() }
    }
    let summary = try writer.finish()
    let written = summary.rows[.accelerometer] ?? 0
    #expect(written + (summary.lost[.accelerometer] ?? 0) == 400)
    #expect(written >= 200 && written < 400)
    #expect(Int64(try replay(directory.file("r")).samples.count) == written)
  }
}
