import SensorFusion
import Testing

@testable import MotionKitLinux

/// The machine sleeps while a recording runs: CLOCK_BOOTTIME, which the samples keep, goes on; CLOCK_MONOTONIC stands.
@Suite struct SuspendTests {
  private static let hour: Int64 = 3_600_000_000_000

  /// Half a minute of a simulated walk, with the second half an hour later.
  private func walk() throws -> (samples: [SensorSample], sleepsAt: Timestamp) {
    let source = try openSource("sim:walk?seed=3", pacing: .unpaced)
    _ = try source.start(SensorRequest(rates: [.accelerometer: 100, .gyroscope: 100]))
    defer { source.stop() }
    var samples: [SensorSample] = []
    var batch = SampleBatch()
    while samples.count < 6000 {
      let status = try source.read(into: &batch, timeout: 1)
      samples += batch.samples
      if status == .end { break }
    }
    let middle = samples[3000].time
    return (
      samples.prefix(6000).map { sample in
        var moved = sample
        if sample.time >= middle { moved.time.nanoseconds += Self.hour }
        return moved
      }, middle
    )
  }

  @Test func aSleepGivesAnAnchorAndNoJumpOfTheWallClock() throws {
    let directory = TemporaryDirectory()
    let clock = TestClock()
    let writer = try SessionWriter.manual(directory.file("s"), clock: clock)
    clock.advance(seconds: 2)
    writer.drain()
    clock.sleep(seconds: 3600)
    clock.advance(seconds: 2)
    writer.drain()
    clock.advance(seconds: 2)
    writer.drain()
    let summary = try writer.finish()
    // The wall clock went on with the samples' clock: nothing to tell of it.
    #expect(summary.events.isEmpty)
    let anchors = try SessionReader(directory: directory.file("s")).info.anchors
    // At the start, after the sleep, at the end.
    #expect(anchors.map(\.time.nanoseconds) == [1, 3605, 3607].map { $0 * 1_000_000_000 })
    #expect(Set(anchors.map { $0.utcNanoseconds - $0.time.nanoseconds }).count == 1)
  }

  @Test func aWallClockThatComesBackWrongIsTold() throws {
    let directory = TemporaryDirectory()
    let clock = TestClock()
    let writer = try SessionWriter.manual(directory.file("s"), clock: clock)
    clock.advance(seconds: 2)
    writer.drain()
    clock.sleep(seconds: 3600)
    clock.stepWallClock(seconds: 0.5)
    clock.advance(seconds: 2)
    writer.drain()
    #expect(try writer.finish().events == ["clock_step": 1])
  }

  @Test func whatASleepCutsBeginsAnewBehindIt() throws {
    let directory = TemporaryDirectory()
    let (samples, sleepsAt) = try walk()
    let writer = try SessionWriter.manual(directory.file("s"))
    var pipeline = MotionPipeline()
    var processed = batch(
      samples, events: [SourceEvent(time: samples[3000].time, name: "suspend", detail: "the machine slept")])
    processed.process(with: &pipeline)
    try writer.consume(processed)
    try writer.finish(counters: pipeline.counters)
    #expect(try replay(directory.file("s")).events.map(\.name) == ["suspend"])
    #expect(try checkSession(directory.file("s")).isSound)

    // Nothing is integrated over the hour, and nobody walked in it.
    let behind = processed.motions.filter { $0.time > sleepsAt }
    let before = try #require(processed.motions.last { $0.time <= sleepsAt })
    let first = try #require(behind.first)
    #expect(first.flags.contains(.afterGap))
    #expect(processed.motions.count { $0.flags.contains(.afterGap) } == 1)
    let turn = abs(Attitude(quaternion: first.attitude).yaw - Attitude(quaternion: before.attitude).yaw)
    #expect(min(turn, 2 * .pi - turn) < 0.2)
    for motion in behind { #expect(motion.userAcceleration.norm < 40 && motion.attitude.isFinite) }
    let steps = processed.steps
    let (early, late) = (steps.filter { $0.time <= sleepsAt }, steps.filter { $0.time > sleepsAt })
    #expect(early.count > 15 && late.count > 15)
    // No step in the hour; behind it the walk is found again.
    let woke = sleepsAt.advanced(bySeconds: 3600)
    #expect(late.allSatisfy { $0.time >= woke })
    #expect(late.allSatisfy { $0.cadence > 1 && $0.cadence < 3 })

    let summary = try SessionSummary(directory: directory.file("s"))
    #expect(summary.sensors[0].timing.gapCount == 1)
    // Of the hour nobody knows what was done.
    #expect(summary.activities.values.reduce(0, +) < 31)
  }
}
