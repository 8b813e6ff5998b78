import Foundation
import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// Batches of three sensors at 1 kHz with an output of the filter for each gyroscope sample, 10 ms each.
private func kilohertz(seconds: Double) -> [ProcessedBatch] {
  (0..<Int(seconds * 100)).map { index in
    var batch = ProcessedBatch()
    for step in 0..<10 {
      let time = Int64(index * 10 + step) * 1_000_000
      for kind in [SensorKind.accelerometer, .gyroscope, .magnetometer] {
        batch.input.samples.append(sample(time, kind, 0.25, -1, 9.80665))
      }
      batch.motions.append(MotionState(time: Timestamp(nanoseconds: time)))
    }
    return batch
  }
}

private let threeSensors = testInfo([.accelerometer, .gyroscope, .magnetometer])

private func isFileSystem(_ error: any Error, _ code: Int32, _ text: String) -> Bool {
  guard case .fileSystem(_, code, _) = error as? MotionKitError else { return false }
  return "\(error)".contains(text)
}

@Suite struct SurvivalTests {
  /// Case 32: the card fills up.
  @Test(arguments: [1, 2, 3, 4, 5]) func aFullDiskKeepsWholeRowsAndSaysSo(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    let layer = FaultyFileLayer()
    let writer = try SessionWriter.manual("/s", info: threeSensors, layer: layer)
    layer.state.withLock {
      $0.space = Int.random(in: 10_000...30_000, using: &generator)
      $0.largestWrite = 1000
    }
    var produced: Int64 = 0
    var failure: (any Error)?
    for batch in kilohertz(seconds: 5) {
      do {
        try writer.consume(batch)
        produced += 10
        writer.drain()
      } catch {
        failure = error
        produced += 10
        break
      }
    }
    #expect(isFileSystem(try #require(failure), ENOSPC, "No space left"))
    #expect(throws: MotionKitError.self) { try writer.finish() }
    // No half-written new session.json stays behind.
    #expect(layer.state.withLock { $0.files.keys.filter { $0.hasSuffix(".new") } } == [])
    let directory = TemporaryDirectory()
    layer.materialize(in: directory.file("s"))
    for kind in [SensorKind.accelerometer, .gyroscope, .magnetometer] {
      let text = layer.bytes(SessionFile(kind).fileName)
      #expect(text.last == 0x0A)
      let replayed = try replay(directory.file("s")).samples.filter { $0.kind == kind }
      #expect(Int64(replayed.count) == layer.rows(SessionFile(kind)) && !replayed.isEmpty)
      #expect(writer.progress.rows[SessionFile(kind)] == layer.rows(SessionFile(kind)))
    }
  }

  @Test(arguments: [EIO, EFBIG]) func aFailingFileStopsTheRecordingAndKeepsTheOthers(code: Int32) throws {
    let layer = FaultyFileLayer()
    let writer = try SessionWriter.manual("/s", info: threeSensors, layer: layer)
    layer.state.withLock { $0.failing = ("gyroscope.csv", code, 5000) }
    var failure: (any Error)?
    var produced: Int64 = 0
    for batch in kilohertz(seconds: 2) {
      produced += 10
      do { try writer.consume(batch) } catch {
        failure = error
        break
      }
      writer.drain()
    }
    #expect(isFileSystem(try #require(failure), code, "gyroscope.csv"))
    #expect(throws: MotionKitError.self) { try writer.finish() }
    let directory = TemporaryDirectory()
    layer.materialize(in: directory.file("s"))
    // The closing summary could be written: it tells how it ended, and what is missing.
    let reader = try SessionReader(directory: directory.file("s"))
    let closing = try #require(reader.info.closing)
    #expect(closing.ended.contains("gyroscope.csv"))
    for file in [SessionFile.accelerometer, .gyroscope, .magnetometer] {
      #expect(closing.rows[file] == layer.rows(file))
      #expect((closing.rows[file] ?? 0) + (closing.lost[file] ?? 0) == produced)
    }
    #expect(layer.rows(.accelerometer) > layer.rows(.gyroscope))
  }

  @Test func aDirectoryThatVanishesStopsTheRecording() throws {
    let directory = TemporaryDirectory()
    let clock = TestClock()
    let writer = try SessionWriter.manual(directory.file("s"), clock: clock)
    try writer.consume(batch([sample(1, .accelerometer, 1)]))
    writer.drain()
    TemporaryDirectory.remove(directory.file("s"))
    try writer.consume(batch([sample(2, .accelerometer, 1)]))
    clock.advance(seconds: 2)
    writer.drain()
    #expect { try writer.consume(batch([sample(3, .accelerometer, 1)])) } throws: { isFileSystem($0, ENOENT, "gone") }
    #expect(throws: MotionKitError.self) { try writer.finish() }
  }

  @Test func aStallOfFiveSecondsLosesNothing() throws {
    let layer = FaultyFileLayer()
    let writer = try SessionWriter(
      directory: "/s", info: threeSensors, options: .init(), layer: layer, clock: TestClock(), hasThread: true)
    layer.stall()
    for batch in kilohertz(seconds: 5) { try writer.consume(batch) }
    #expect(writer.progress.lostSamples == 0)
    layer.goOn()
    let summary = try writer.finish()
    #expect(summary.lost.isEmpty && summary.events.isEmpty)
    for file in [SessionFile.accelerometer, .gyroscope, .magnetometer, .deviceMotion] {
      #expect(layer.rows(file) == 5000 && summary.rows[file] == 5000)
    }
  }

  @Test func whatIsBeingWrittenCountsAgainstTheLimit() throws {
    let layer = FaultyFileLayer()
    var options = SessionWriter.Options()
    options.bufferLimit = 1 << 20
    let writer = try SessionWriter(
      directory: "/s", info: threeSensors, options: options, layer: layer, clock: TestClock(), hasThread: false)
    let batches = kilohertz(seconds: 10)
    var taken = 0
    while writer.progress.lostSamples == 0 {
      try writer.consume(batches[taken])
      taken += 1
    }
    // All that is held goes to a disk that does not answer: there is no room before it does.
    layer.stall()
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      writer.drain()
      done.signal()
    }
    layer.waitForWriter()
    let lost = writer.progress.lostSamples
    try writer.consume(batches[taken])
    #expect(writer.progress.lostSamples == lost + Int64(batches[taken].input.samples.count))
    #expect(writer.progress.waitingBytes <= options.bufferLimit)
    layer.goOn()
    done.wait()
    try writer.consume(batches[taken + 1])
    let summary = try writer.finish()
    #expect(summary.rows[.accelerometer] == Int64(taken) * 10)
    #expect(summary.lost[.accelerometer] == 20)
  }

  @Test func whatALongStallLosesIsCountedExactly() throws {
    let layer = FaultyFileLayer()
    let options = SessionWriter.Options()
    let writer = try SessionWriter(
      directory: "/s", info: threeSensors, options: options, layer: layer, clock: TestClock(), hasThread: true)
    let batches = kilohertz(seconds: 61)
    layer.stall()
    for batch in batches.dropLast(100) {
      try writer.consume(batch)
      #expect(writer.progress.waitingBytes <= options.bufferLimit)
    }
    #expect(writer.progress.lostSamples > 0)
    layer.goOn()
    // The disk is back: what comes now is recorded.
    while writer.progress.waitingBytes >= options.bufferLimit / 2 {
      layer.state.wait(seconds: 0.001, until: { _ in false }, then: { _ in })
    }
    for batch in batches.suffix(100) { try writer.consume(batch) }
    let summary = try writer.finish()
    for file in [SessionFile.accelerometer, .gyroscope, .magnetometer, .deviceMotion] {
      #expect(layer.rows(file) == summary.rows[file])
      #expect((summary.rows[file] ?? 0) + (summary.lost[file] ?? 0) == 61_000)
      #expect((summary.lost[file] ?? 0) > 0)
    }
    #expect(summary.events["overflow"] == 1 && summary.events["overflow_end"] == 1)
    let lost = [SessionFile.accelerometer, .gyroscope, .magnetometer].reduce(0) { $0 + (summary.lost[$1] ?? 0) }
    let directory = TemporaryDirectory()
    layer.materialize(in: directory.file("s"))
    let events = try replay(directory.file("s")).events.filter { $0.name == "overflow_end" }
    #expect(events.first?.detail.hasPrefix("\(lost) samples") == true)
  }

  @Test(arguments: 1...20) func afterALossOfPowerEverythingSyncedIsThere(seed: UInt64) throws {
    var generator = SeededGenerator(seed)
    let layer = FaultyFileLayer()
    let clock = TestClock()
    let writer = try SessionWriter.manual("/s", info: threeSensors, layer: layer, clock: clock)
    var synced = 0
    for (index, batch) in kilohertz(seconds: 3).enumerated() {
      try writer.consume(batch)
      clock.advance(seconds: 0.01)
      guard Bool.random(using: &generator) else { continue }
      let before = layer.state.withLock { $0.syncs }
      writer.drain()
      if layer.state.withLock({ $0.syncs }) > before { synced = (index + 1) * 10 }
    }
    let directory = TemporaryDirectory()
    layer.materialize(in: directory.file("s"), afterPowerLoss: &generator)
    let samples = try replay(directory.file("s")).samples
    #expect(synced > 1000)
    for kind in [SensorKind.accelerometer, .gyroscope, .magnetometer] {
      let found = samples.filter { $0.kind == kind }
      // Rows in order, each as it was written; a damaged stretch may be missing behind the last sync only.
      #expect(found.count >= synced)
      for (index, sample) in found.prefix(synced).enumerated() {
        #expect(sample.time.nanoseconds == Int64(index) * 1_000_000 && sample.z == 9.80665 && sample.x == 0.25)
      }
      #expect(found.allSatisfy { $0.z == 9.80665 && $0.x == 0.25 && $0.time.nanoseconds % 1_000_000 == 0 })
    }
    #expect(try SessionReader(directory: directory.file("s")).info.closing == nil)
  }

  @Test func aRecordingCutAtAnyByteOfItsTailOpensAndLosesNoWholeRow() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"), info: testInfo([.accelerometer]))
    try writer.consume(batch(randomSamples(120, kinds: [.accelerometer], seed: 3)))
    writer.drain()
    let path = directory.file("s/accelerometer.csv")
    let bytes = readFile(path)
    #expect(bytes.count > 4096)
    for length in stride(from: bytes.count, through: bytes.count - 4096, by: -1) {
      truncate(path, length)
      let whole = bytes[..<length].count { $0 == 0x0A } - 1
      let reader = try SessionReader(directory: directory.file("s"))
      var rows = 0
      while try reader.next() != nil { rows += 1 }
      #expect(rows == max(whole, 0))
      #expect(reader.report.count(.tornLastLine) == (bytes[length - 1] == 0x0A ? 0 : 1))
    }
  }

  @Test func dataAreSyncedOnceInTheInterval() throws {
    let layer = FaultyFileLayer()
    let clock = TestClock()
    let writer = try SessionWriter.manual("/s", info: testInfo([.accelerometer]), layer: layer, clock: clock)
    func syncs() -> Int { layer.state.withLock { $0.syncs } }
    let begin = syncs()
    for index in 0..<100 {
      try writer.consume(batch([sample(Int64(index), .accelerometer, 1)]))
      clock.advance(seconds: 0.1)
      writer.drain()
    }
    #expect(syncs() - begin == 10)
    // What has come since the last one, and then nothing new: nothing to sync.
    for _ in 0..<3 {
      clock.advance(seconds: 5)
      writer.drain()
    }
    #expect(syncs() - begin == 11)
  }

  @Test func aFailedSyncIsAnError() throws {
    let layer = FaultyFileLayer()
    let clock = TestClock()
    let writer = try SessionWriter.manual("/s", info: testInfo([.accelerometer]), layer: layer, clock: clock)
    try writer.consume(batch([sample(1, .accelerometer, 1)]))
    layer.state.withLock { $0.syncFault = EIO }
    clock.advance(seconds: 2)
    writer.drain()
    #expect { try writer.consume(batch([])) } throws: { isFileSystem($0, EIO, "accelerometer.csv") }
  }

  @Test func theRecordingStopsBeforeTheDiskIsFull() throws {
    let layer = FaultyFileLayer()
    let clock = TestClock()
    var options = SessionWriter.Options()
    options.minimumFreeBytes = 1_000_000
    let writer = try SessionWriter.manual(
      "/s", info: testInfo([.accelerometer]), options: options, layer: layer, clock: clock)
    layer.state.withLock { $0.free = 1_000_150 }
    try writer.consume(batch([sample(1, .accelerometer, 1)]))
    writer.drain()
    // No room for two rows more.
    try writer.consume(batch([sample(2, .accelerometer, 1), sample(3, .accelerometer, 1)]))
    writer.drain()
    func isTold(_ error: any Error) -> Bool { isFileSystem(error, ENOSPC, "1000150 bytes are free") }
    #expect { try writer.consume(batch([])) } throws: { isTold($0) }
    #expect(layer.rows(.accelerometer) == 1)
  }

  @Test func aDiskThatOthersFillIsNoticedWithoutRows() throws {
    let layer = FaultyFileLayer()
    let clock = TestClock()
    var options = SessionWriter.Options()
    options.minimumFreeBytes = 1_000_000
    let writer = try SessionWriter.manual(
      "/s", info: testInfo([.accelerometer]), options: options, layer: layer, clock: clock)
    layer.state.withLock { $0.free = 999_999 }
    clock.advance(seconds: 2)
    writer.drain()
    #expect { try writer.consume(batch([])) } throws: { isFileSystem($0, ENOSPC, "999999 bytes are free") }
  }

  @Test(arguments: [14_400.0, -1.0, 0.06]) func stepsOfTheWallClockAreEventsAndAnchors(step: Double) throws {
    let directory = TemporaryDirectory()
    let clock = TestClock()
    let writer = try SessionWriter.manual(directory.file("s"), clock: clock)
    clock.advance(seconds: 2)
    writer.drain()
    clock.stepWallClock(seconds: step)
    clock.advance(seconds: 2)
    writer.drain()
    clock.stepWallClock(seconds: 0.01)
    clock.advance(seconds: 2)
    writer.drain()
    let summary = try writer.finish()
    #expect(summary.events == ["clock_step": 1])
    let events = try replay(directory.file("s")).events
    #expect(events.count == 1 && events[0].detail.contains(step > 0 ? "+\(step) s" : "\(step) s"))
    // At the start, at the step, at the end.
    #expect(try SessionReader(directory: directory.file("s")).info.anchors.count == 3)
  }

  @Test func aDamagedSessionIsCheckedAndRepairedIntoACopy() throws {
    let directory = TemporaryDirectory()
    let samples = randomSamples(2000, kinds: [.accelerometer, .gyroscope], seed: 4)
    let writer = try SessionWriter.manual(directory.file("s"))
    var pipeline = MotionPipeline()
    var processed = batch(samples, events: [SourceEvent(time: samples[5].time, name: "mark", detail: "a, b")])
    processed.process(with: &pipeline)
    try writer.consume(processed)
    try writer.finish()
    #expect(try checkSession(directory.file("s")).problems == [])

    var bytes = readFile(directory.file("s/accelerometer.csv"))
    let lines = bytes.split(separator: 0x0A)
    let bad = lines[0].count + lines[1].count + 2
    bytes[bad] = UInt8(ascii: "x")
    bytes.removeLast(3)
    writeFile(directory.file("s/accelerometer.csv"), bytes)
    let check = try checkSession(directory.file("s"))
    #expect(!check.isSound)
    #expect(check.report.count(.badRow) == 1 && check.report.count(.tornLastLine) == 1)
    #expect(check.report.count(.fewerRows) == 1)

    try repairSession(directory.file("s"), to: directory.file("copy"))
    #expect(readFile(directory.file("s/accelerometer.csv")) == bytes)
    let copy = try checkSession(directory.file("copy"))
    #expect(copy.problems == [])
    #expect(copy.rows[.accelerometer] == (check.rows[.accelerometer] ?? 0))
    #expect(copy.rows[.gyroscope] == Int64(samples.count { $0.kind == .gyroscope }))
    let events = try replay(directory.file("copy")).events
    #expect(events.count { $0.name == "repaired" } == 3 && events.contains { $0.detail == "a, b" })
  }

  @Test(arguments: ["far ahead", "not finite", "twice"]) func aCleanCopyLosesTheBadRowAloneAndIsSound(
    fault: String
  ) throws {
    let directory = TemporaryDirectory()
    let samples = still(seconds: 4)
    let writer = try SessionWriter.manual(directory.file("s"))
    var pipeline = MotionPipeline()
    var processed = batch(samples)
    processed.process(with: &pipeline)
    try writer.consume(processed)
    try writer.finish()
    var lines = readText(directory.file("s/gyroscope.csv")).split(separator: "\n").map(String.init)
    var cells = lines[50].split(separator: ",").map(String.init)
    switch fault {
    case "far ahead": cells[0] = "99999.000000000"
    case "not finite": cells[2] = "nan"
    default: lines.insert(lines[50], at: 50)
    }
    if fault != "twice" { lines[50] = cells.joined(separator: ",") }
    writeFile(directory.file("s/gyroscope.csv"), lines.joined(separator: "\n") + "\n")
    #expect(try !checkSession(directory.file("s")).isSound)
    try repairSession(directory.file("s"), to: directory.file("copy"))
    let copy = try checkSession(directory.file("copy"))
    #expect(copy.problems == [] && copy.isSound)
    let all = Int64(samples.count { $0.kind == .gyroscope })
    #expect(copy.rows[.gyroscope] == (fault == "twice" ? all : all - 1))
    #expect(copy.rows[.accelerometer] == Int64(samples.count { $0.kind == .accelerometer }))
  }

  /// RFC 4180: a cell in quotes says the same.
  @Test func aSessionInQuotesIsSound() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"))
    var pipeline = MotionPipeline()
    var processed = batch(
      still(seconds: 2), events: [SourceEvent(time: Timestamp(nanoseconds: 5), name: "mark", detail: "x")])
    processed.process(with: &pipeline)
    try writer.consume(processed)
    try writer.finish()
    for file in SessionFile.allCases {
      let path = directory.file("s/" + file.fileName)
      let lines = readText(path).split(separator: "\n").map { line in
        line.split(separator: ",", omittingEmptySubsequences: false).map { "\"\($0)\"" }.joined(separator: ",") + "\n"
      }
      if !lines.isEmpty { writeFile(path, lines.joined()) }
    }
    let check = try checkSession(directory.file("s"))
    #expect(check.problems == [] && check.isSound)
    #expect((check.verification?.rows[.deviceMotion] ?? 0) > 150)
  }

  @Test func aSensorWhoseFileIsGoneIsMissedInTheCopyToo() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"), info: testInfo([.accelerometer, .gyroscope]))
    try writer.consume(batch(still(seconds: 1)))
    try writer.finish()
    TemporaryDirectory.remove(directory.file("s/gyroscope.csv"))
    try repairSession(directory.file("s"), to: directory.file("copy"))
    let copy = try checkSession(directory.file("copy"))
    #expect(!copy.isSound && copy.report.count(.missingFile) == 1)
    let names = try SystemFileLayer().list(directory.file("copy"))
    #expect(names.contains("session.json") && !names.contains("gyroscope.csv"))
  }

  @Test func verificationFindsASingleChangedDigit() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"))
    var pipeline = MotionPipeline()
    var processed = batch(still(seconds: 3))
    processed.process(with: &pipeline)
    #expect(!processed.motions.isEmpty)
    try writer.consume(processed)
    try writer.finish()
    let verification = try verifySession(directory.file("s"))
    #expect(verification.isIdentical && verification.rows[.deviceMotion] == Int64(processed.motions.count))

    let path = directory.file("s/device_motion.csv")
    var lines = readText(path).split(separator: "\n").map(String.init)
    var cells = lines[100].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let column = try #require(SessionFile.deviceMotion.columns.firstIndex(of: "gravity_z_g"))
    cells[column] += "1"
    lines[100] = cells.joined(separator: ",")
    writeFile(path, lines.joined(separator: "\n") + "\n")
    let difference = try #require(try verifySession(directory.file("s")).difference)
    #expect(difference.line == 101 && difference.column == "gravity_z_g" && difference.recorded == cells[column])
    #expect(difference.recomputed + "1" == difference.recorded)
  }

  /// A session that ends without a word at any instant is compared as far as it goes.
  @Test func aCutSessionVerifiesAsFarAsItGoes() throws {
    let directory = TemporaryDirectory()
    let writer = try SessionWriter.manual(directory.file("s"))
    var pipeline = MotionPipeline()
    let all = still(seconds: 4)
    for start in stride(from: 0, to: all.count, by: 50) {
      var processed = batch(Array(all[start..<min(start + 50, all.count)]))
      processed.process(with: &pipeline)
      try writer.consume(processed)
      writer.drain()
    }
    for (file, cut) in [("device_motion.csv", 1000), ("gyroscope.csv", 777), ("accelerometer.csv", 1234)] {
      let path = directory.file("s/" + file)
      truncate(path, readFile(path).count - cut)
      let verification = try verifySession(directory.file("s"))
      #expect(verification.isIdentical && (verification.rows[.deviceMotion] ?? 0) > 100)
    }
  }

  /// A device that lies still with a little noise.
  private func still(seconds: Int) -> [SensorSample] {
    var generator = SeededGenerator(8)
    func noise() -> Float { Float.random(in: -0.02...0.02, using: &generator) }
    return (0..<(seconds * 100)).flatMap { index in
      let time = Int64(index) * 10_000_000
      return [
        sample(time, .accelerometer, noise(), noise(), 9.80665 + noise()),
        sample(time, .gyroscope, noise(), noise(), noise()),
      ]
    }
  }
}
