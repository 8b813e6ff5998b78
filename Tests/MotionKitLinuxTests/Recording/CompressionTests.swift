import SensorFusion
import Testing

@testable import MotionKitLinux

/// Recordings packed with zstd.
@Suite struct CompressionTests {
  private func record(
    _ directory: String, compresses: Bool = true, rotation: SessionWriter.Rotation? = nil,
    layer: any FileLayer = SystemFileLayer(), finishes: Bool = true
  ) throws -> [SensorSample] {
    var options = SessionWriter.Options()
    options.compresses = compresses
    options.rotation = rotation
    let clock = TestClock()
    let info = testInfo([.accelerometer, .gyroscope, .barometer])
    let writer = try SessionWriter.manual(directory, info: info, options: options, layer: layer, clock: clock)
    let samples = randomSamples(3000, kinds: [.accelerometer, .gyroscope, .barometer], seed: 3)
    var pipeline = MotionPipeline(configuration: info.pipeline)
    for start in stride(from: 0, to: samples.count, by: 100) {
      var batch = batch(Array(samples[start..<start + 100]))
      batch.input.events = [SourceEvent(time: samples[start].time, name: "mark", detail: "a, b\nc")]
      batch.process(with: &pipeline)
      try writer.consume(batch)
      writer.drain()
      clock.advance(seconds: 0.4)
    }
    if finishes { try writer.finish(counters: pipeline.counters) }
    return samples
  }

  @Test(arguments: [nil, SessionWriter.Rotation.seconds(4)])
  func aCompressedSessionIsReadAsAnyOther(rotation: SessionWriter.Rotation?) throws {
    let directory = TemporaryDirectory()
    let samples = try record(directory.file("s"), rotation: rotation)
    _ = try record(directory.file("plain"), compresses: false)
    let packed = try replay(directory.file("s"))
    #expect(sameBits(packed.samples, samples))
    let plainEvents = try replay(directory.file("plain")).events
    #expect(packed.events == plainEvents)
    let check = try checkSession(directory.file("s"))
    #expect(check.isSound, "\(check.problems)")
    #expect((check.verification?.rows[.deviceMotion] ?? 0) > 500)
    let first = rotation == nil ? "s" : "s/part-0001"
    #expect(readFile(directory.file(first + "/gyroscope.csv.zst")).starts(with: [0x28, 0xB5, 0x2F, 0xFD]))
    #expect(readFile(directory.file(first + "/gyroscope.csv")).isEmpty)
  }

  @Test func whatWasSyncedSurvivesACrash() throws {
    let layer = FaultyFileLayer()
    let samples = try record("/s", layer: layer, finishes: false)
    let directory = TemporaryDirectory()
    layer.materialize(in: directory.file("s"))
    // A second holds 250 samples: all but the last interval is there.
    let read = try replay(directory.file("s")).samples
    #expect(read.count >= samples.count - 400)
    for kind in [SensorKind.accelerometer, .gyroscope, .barometer] {
      let (whole, part) = (samples.filter { $0.kind == kind }, read.filter { $0.kind == kind })
      #expect(sameBits(Array(whole.prefix(part.count)), part))
    }
  }

  @Test func aFileCutAnywhereGivesItsWholeRows() throws {
    let directory = TemporaryDirectory()
    let samples = try record(directory.file("s")).filter { $0.kind == .accelerometer }
    let path = directory.file("s/accelerometer.csv.zst")
    let whole = readFile(path)
    var counts: [Int] = []
    for cut in stride(from: whole.count, through: 0, by: -331) {
      writeFile(path, Array(whole[..<cut]))
      let read = try replay(directory.file("s")).samples.filter { $0.kind == .accelerometer }
      #expect(sameBits(Array(samples.prefix(read.count)), read))
      counts.append(read.count)
    }
    #expect(counts.first == samples.count && counts == counts.sorted(by: >))
    #expect(Set(counts).count > 10)
  }

  @Test func damageIsFoundAndTold() throws {
    let directory = TemporaryDirectory()
    _ = try record(directory.file("s"))
    let path = directory.file("s/accelerometer.csv.zst")
    var bytes = readFile(path)
    for index in (bytes.count / 2)..<(bytes.count / 2 + 64) { bytes[index] = 0 }
    writeFile(path, bytes)
    let check = try checkSession(directory.file("s"))
    #expect(!check.isSound)
    #expect(check.report.count(.damagedData) == 1)
    #expect((check.rows[.accelerometer] ?? 0) > 0)
  }

  /// What comes out of a damaged frame before its checksum is met may read well and be wrong.
  @Test func rowsOfAFrameWhoseChecksumFailsAreNamedAsDoubtful() throws {
    let directory = TemporaryDirectory()
    let packer = try #require(ZstdPacker())
    let packed = RowBuffer()
    let texts = [0..<100, 100..<150].map { rows in
      (rows.lowerBound == 0 ? "timestamp_s,x_m_s2,y_m_s2,z_m_s2\n" : "")
        + rows.map { "\($0).000000000,1,2,\($0)\n" }.joined()
    }
    for text in texts { Array(text.utf8).withUnsafeBytes { packer.pack($0, into: packed, isLast: true) } }
    var bytes = Array(packed.bytes)
    // The last frame's checksum.
    bytes[bytes.count - 1] ^= 1
    writeFile(directory.file("accelerometer.csv.zst"), bytes)
    let check = try checkSession(directory.path)
    let entry = try #require(check.report.entries.first { $0.finding == .damagedData })
    #expect(entry.file == "accelerometer.csv.zst" && entry.detail == "rows from line 102 on may be wrong")
  }

  @Test func aFullDiskKeepsWholePieces() throws {
    let layer = FaultyFileLayer()
    layer.state.withLock {
      // With what is kept for session.json.
      $0.space = 95_000
      $0.largestWrite = 700
    }
    #expect(throws: MotionKitError.self) { try record("/s", layer: layer) }
    let directory = TemporaryDirectory()
    layer.materialize(in: directory.file("s"))
    let report = try SessionSummary(directory: directory.file("s"))
    #expect(report.fault == nil && report.report.count(.damagedData) == 0)
    #expect(report.sensors.allSatisfy { $0.timing.count > 0 })
  }
}
