import Foundation
import SensorFusion
import Testing

@testable import MotionKitLinux

private let second: Int64 = 1_000_000_000
private let day: Int64 = 1_774_742_400 * second

/// Clocks that a test moves by hand.
private final class HandClock: SessionClock {
  struct Readings {
    var boot: Int64 = 0
    var offset = day
  }
  let readings = Locked(Readings())
  func monotonic() -> Int64 { readings.withLock { $0.boot } }
  func slept() -> Int64 { 0 }
  func anchor() -> ClockAnchor {
    readings.withLock { ClockAnchor(time: Timestamp(nanoseconds: $0.boot), utcNanoseconds: $0.boot + $0.offset) }
  }
}

/// A batch at a time of the samples' clock with this many steps just before it.
private func batch(at seconds: Double, steps: Int) -> ProcessedBatch {
  var batch = ProcessedBatch()
  batch.input.samples = [SensorSample(time: Timestamp(seconds: seconds), kind: .accelerometer, x: 0, y: 0, z: 9.8)]
  batch.steps = (0..<steps).map {
    Step(
      time: Timestamp(seconds: seconds - 0.5 * Double(steps - $0)), number: Int64($0 + 1), cadence: 2,
      isInterpolated: false)
  }
  return batch
}

private func temporary<R>(_ body: (StepHistory) throws -> R) throws -> R {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("recorder-\(UUID().uuidString).sqlite").path
  defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
  return try body(StepHistory(path: path, keepingDays: .infinity))
}

private func count(_ history: StepHistory, from start: Int64, to end: Int64) throws -> Int {
  try history.pedometerTotals(from: day + start * second, to: day + end * second).numberOfSteps
}

@Suite struct StepHistoryRecorderTests {
  @Test func everythingThatWasGivenIsWrittenAtTheEnd() throws {
    try temporary { (history: StepHistory) throws in
      let source = SourceDescription(
        uri: "sim:walk", sensors: [], isLive: true,
        anchors: [ClockAnchor(time: Timestamp(seconds: 100), utcNanoseconds: day)])
      let recorder = StepHistoryRecorder(history: history, source: source)
      for i in 1...50 { recorder.consume(batch(at: 100 + 0.3 * Double(i), steps: 1)) }
      recorder.finish()
      #expect(recorder.error == nil)
      let all = try count(history, from: -1, to: 20)
      #expect(all == 50)
    }
  }

  @Test func aRecordingIsWrittenByItsOwnClocks() throws {
    try temporary { (history: StepHistory) throws in
      // The wall clock was set by an hour at 50 s.
      let source = SourceDescription(
        uri: "file:walk", sensors: [], isLive: false,
        anchors: [
          ClockAnchor(time: Timestamp(seconds: 0), utcNanoseconds: day),
          ClockAnchor(time: Timestamp(seconds: 50), utcNanoseconds: day + 3650 * second),
        ])
      let recorder = StepHistoryRecorder(history: history, source: source)
      for i in 1...99 { recorder.consume(batch(at: Double(i), steps: 1)) }
      recorder.finish()
      let before = try count(history, from: 0, to: 100)
      #expect(before == 49)
      let after = try count(history, from: 3600, to: 3800)
      #expect(after == 50)
    }
  }

  @Test func aWallClockThatIsSetMovesOnlyWhatComesAfter() throws {
    try temporary { (history: StepHistory) throws in
      let clock = HandClock()
      let source = SourceDescription(uri: "local:", sensors: [], isLive: true)
      let recorder = StepHistoryRecorder(source: source, clock: clock) { history }
      for i in 1...100 {
        clock.readings.withLock {
          $0.boot = Int64(i) * second
          if i == 50 { $0.offset += 3600 * second }
        }
        recorder.consume(batch(at: Double(i), steps: 1))
        recorder.waitUntilWritten()
      }
      recorder.finish()
      let before = try count(history, from: 0, to: 200)
      #expect(before == 50)
      let after = try count(history, from: 3600, to: 3800)
      #expect(after == 50)
    }
  }

  @Test func aFailureIsOverWhenWhatItLeftOutIsWritten() throws {
    try temporary { (history: StepHistory) throws in
      let source = SourceDescription(uri: "sim:walk", sensors: [], isLive: true)
      let recorder = StepHistoryRecorder(history: history, source: source)
      recorder.consume(batch(at: 1, steps: 1))
      recorder.waitUntilWritten()
      try history.database.withLock { try $0.execute("ALTER TABLE steps RENAME TO gone") }
      recorder.consume(batch(at: 2, steps: 1))
      recorder.waitUntilWritten()
      #expect(recorder.error != nil)
      try history.database.withLock { try $0.execute("ALTER TABLE gone RENAME TO steps") }
      recorder.consume(batch(at: 3, steps: 1))
      recorder.finish()
      #expect(recorder.error == nil)
      let all = try history.pedometerTotals(from: .min, to: .max).numberOfSteps
      #expect(all == 3)
    }
  }

  @Test func aHistoryThatCannotBeOpenedIsAnErrorAndNothingElse() {
    let source = SourceDescription(uri: "local:", sensors: [], isLive: true)
    let recorder = StepHistoryRecorder(source: source) { () throws(MotionKitError) in
      throw .notPermitted(what: "/history", hint: "")
    }
    recorder.consume(batch(at: 1, steps: 1))
    recorder.finish()
    #expect(recorder.error != nil)
  }
}
