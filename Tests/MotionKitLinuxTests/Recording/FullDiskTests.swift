import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// A second of two sensors at 100 Hz through a pipeline, in batches of ten instants.
private func batches(seconds: Int, _ pipeline: inout MotionPipeline) -> [ProcessedBatch] {
  var generator = SeededGenerator(11)
  func noise() -> Float { Float.random(in: -1...1, using: &generator) }
  return (0..<seconds * 10).map { index in
    var batch = ProcessedBatch()
    for step in 0..<10 {
      let time = Int64(index * 10 + step) * 10_000_000
      batch.input.samples.append(sample(time, .accelerometer, noise(), noise(), 9.8 + noise()))
      batch.input.samples.append(sample(time, .gyroscope, noise(), noise(), noise()))
    }
    batch.process(with: &pipeline)
    return batch
  }
}

private func isFull(_ error: any Error) -> Bool {
  if case .fileSystem(_, ENOSPC, _) = error as? MotionKitError { true } else { false }
}

/// What happens when the disk is full: the recording is closed in order, in every form that it can have.
@Suite struct FullDiskTests {
  struct Form: CustomTestStringConvertible, Sendable {
    var isCompressed: Bool
    var rotation: SessionWriter.Rotation?
    var testDescription: String { "\(isCompressed ? "compressed" : "plain"), \(rotation.map { "\($0)" } ?? "whole")" }
  }

  static let forms: [Form] = [false, true].flatMap { isCompressed in
    [nil, .bytes(60_000), .seconds(3)].map { Form(isCompressed: isCompressed, rotation: $0) }
  }

  @Test(arguments: forms, [150_000, 222_000]) func theRecordingIsClosed(form: Form, space: Int) throws {
    let layer = FaultyFileLayer()
    layer.state.withLock {
      $0.space = space
      $0.largestWrite = 1000
    }
    let clock = TestClock()
    var options = SessionWriter.Options()
    options.compresses = form.isCompressed
    options.rotation = form.rotation
    let info = testInfo([.accelerometer, .gyroscope])
    let writer = try SessionWriter.manual("/s", info: info, options: options, layer: layer, clock: clock)
    var pipeline = MotionPipeline(configuration: info.pipeline)
    var failure: (any Error)?
    for batch in batches(seconds: 30, &pipeline) where failure == nil {
      do {
        try writer.consume(batch)
        clock.advance(seconds: 0.1)
        writer.drain()
      } catch { failure = error }
    }
    let stopped = try #require(failure)
    #expect(isFull(stopped))
    #expect { try writer.finish() } throws: { isFull($0) }
    #expect(layer.state.withLock { $0.reserved.isEmpty })

    let directory = TemporaryDirectory()
    layer.materialize("/s", in: directory.file("s"))
    let check = try checkSession(directory.file("s"))
    #expect(check.isSound, "\(check.problems)")
    #expect(check.info.closing?.ended.hasPrefix("stopped: ") == true)
    // The progress tells what is there, over all parts.
    let rows = check.rows[.accelerometer] ?? 0
    #expect(rows > 100)
    #expect(writer.progress.rows[.accelerometer] == rows)
  }

  /// A part whose successor has no room is the last one, and says so.
  @Test func thereIsNoPartThatHoldsNothing() throws {
    let layer = FaultyFileLayer()
    layer.state.withLock { $0.space = 200_000 }
    var options = SessionWriter.Options()
    options.rotation = .seconds(1)
    let writer = try SessionWriter.manual("/s", info: testInfo([.accelerometer]), options: options, layer: layer)
    func take(_ second: Int64) throws {
      try writer.consume(batch((0..<100).map { sample((second * 100 + $0) * 10_000_000, .accelerometer, 1, 2, 3) }))
      writer.drain()
    }
    try take(0)
    // Too little for another session.json with what is kept for its end.
    layer.state.withLock { $0.space = 40_000 }
    #expect(throws: MotionKitError.self) {
      try take(1)
      try take(2)
    }
    #expect(throws: MotionKitError.self) { try writer.finish() }
    #expect(layer.state.withLock { $0.files.keys.filter { $0.contains("part-0002") } } == [])
    let directory = TemporaryDirectory()
    layer.materialize("/s", in: directory.file("s"))
    let check = try checkSession(directory.file("s"))
    #expect(check.info.closing?.ended.hasPrefix("stopped: /s/part-0002") == true)
    #expect(check.report.count(.missingPart) == 0)
  }

  @Test func aRecordingThatCannotBeginLeavesNothing() throws {
    let layer = FaultyFileLayer()
    layer.state.withLock { $0.space = 50_000 }
    #expect { try SessionWriter.manual("/s", layer: layer) } throws: { isFull($0) }
    #expect(layer.state.withLock { $0.files.isEmpty && $0.space == 50_000 })
  }

  /// However fast rows come and whatever the sync interval is, the minimum stays free.
  @Test(arguments: [false, true]) func theMinimumStaysFree(isCompressed: Bool) throws {
    let layer = FaultyFileLayer()
    layer.state.withLock {
      $0.space = 2_000_000
      $0.freeIsSpace = true
    }
    var options = SessionWriter.Options()
    options.minimumFreeBytes = 1_000_000
    options.compresses = isCompressed
    options.bufferLimit = 1 << 30
    let info = testInfo([.accelerometer, .gyroscope])
    // The clock stands: a sync is never due.
    let writer = try SessionWriter.manual("/s", info: info, options: options, layer: layer)
    var pipeline = MotionPipeline(configuration: info.pipeline)
    // One drain with far more than there is room for.
    for batch in batches(seconds: 100, &pipeline) { try writer.consume(batch) }
    writer.drain()
    #expect { try writer.consume(ProcessedBatch()) } throws: { "\($0)".contains("the minimum is 1000000") }
    #expect(throws: MotionKitError.self) { try writer.finish() }
    let free = layer.state.withLock { $0.space ?? 0 }
    #expect(free >= 1_000_000)
    // And it is used up to there, compressed or not.
    #expect(free < 1_700_000)
    #expect((writer.progress.rows[.accelerometer] ?? 0) > 500)
  }

  /// With the rows in the buffer being packed late, no derived row may be on the disk without its samples.
  @Test func packedDerivedRowsNeverLeadTheirSamples() throws {
    let layer = FaultyFileLayer()
    var options = SessionWriter.Options()
    options.compresses = true
    let info = testInfo([.accelerometer, .gyroscope])
    let writer = try SessionWriter.manual("/s", info: info, options: options, layer: layer)
    var pipeline = MotionPipeline(configuration: info.pipeline)
    for batch in batches(seconds: 30, &pipeline) {
      try writer.consume(batch)
      writer.drain()
    }
    // The power goes: what the kernel has is all there is.
    let directory = TemporaryDirectory()
    layer.materialize("/s", in: directory.file("s"))
    let reader = try LineReader(path: directory.file("s/device_motion.csv.zst"))
    var motions = -1
    while try reader.next() != nil { motions += 1 }
    #expect(motions > 500)
    #expect(try replay(directory.file("s")).samples.count { $0.kind == .gyroscope } >= motions)
    #expect(try verifySession(directory.file("s")).isIdentical)
    _ = try? writer.finish()
  }

  @Test(arguments: [EROFS, EIO]) func aDiskThatGoesReadOnlyStopsTheRecording(code: Int32) throws {
    for atSync in [false, true] {
      let layer = FaultyFileLayer()
      let clock = TestClock()
      let writer = try SessionWriter.manual("/s", info: testInfo([.accelerometer]), layer: layer, clock: clock)
      try writer.consume(batch((0..<100).map { sample($0, .accelerometer, 1) }))
      writer.drain()
      layer.state.withLock { state in
        if atSync { state.syncFault = code } else { state.failing = ("", code, 0) }
      }
      try writer.consume(batch((100..<200).map { sample($0, .accelerometer, 1) }))
      clock.advance(seconds: 2)
      writer.drain()
      #expect { try writer.consume(batch([])) } throws: { error in
        guard case .fileSystem(let path, code, let hint) = error as? MotionKitError else { return false }
        return path.contains("accelerometer.csv") && hint.contains(code == EROFS ? "read-only" : "card failed")
      }
      #expect(throws: MotionKitError.self) { try writer.finish() }
      let directory = TemporaryDirectory()
      layer.materialize("/s", in: directory.file("s"))
      #expect(try replay(directory.file("s")).samples.count == (atSync ? 200 : 100))
    }
  }
}
