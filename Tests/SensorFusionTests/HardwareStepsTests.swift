import Testing

@testable import SensorFusion

/// Feeds readings of a chip's counter, `(seconds, steps since its reset)`, and returns every step.
private func count(
  _ readings: [(Double, Double)], _ configuration: StepCounter.Configuration = .init()
) -> (steps: [Step], events: [PedometerEvent], counter: HardwareSteps) {
  var counter = HardwareSteps(configuration: configuration)
  var steps: [Step] = []
  var events: [PedometerEvent] = []
  for (seconds, value) in readings {
    let hasSteps = counter.update(time: Timestamp(seconds: seconds), reading: value)
    #expect(hasSteps == !counter.newSteps.isEmpty)
    steps += counter.newSteps
    events += counter.newEvents
  }
  return (steps, events, counter)
}

@Suite struct HardwareStepsTests {
  @Test func stepsCountFromTheFirstReading() {
    // The chip has counted since the machine was started.
    let (steps, _, counter) = count([(10, 8000), (11, 8000), (12, 8002), (13, 8004)])
    #expect(counter.count == 4)
    #expect(steps.map(\.number) == [1, 2, 3, 4])
    #expect(steps.map(\.time.seconds) == [11.45, 12, 12.5, 13])
    #expect(steps.allSatisfy { $0.isInterpolated })
  }

  @Test func aCounterThatWasResetHasCountedFromZero() {
    let (_, _, counter) = count([(0, 500), (1, 502), (2, 1), (3, 3)])
    #expect(counter.count == 5)
    #expect(counter.resets == 1)
  }

  @Test func aLateLumpIsLaidOutBackFromItsReading() {
    // Ten steps that the chip held back until it was sure.
    let (steps, events, _) = count([(0, 0), (5, 0), (10, 10), (11, 12), (12, 12), (13, 12), (14, 12), (15, 12)])
    #expect(steps.count == 12)
    #expect(abs(steps[0].time.seconds - (10 - 9 * 0.55)) < 1e-6)
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.time < $1.time })
    #expect(events.map(\.kind) == [.resume, .pause])
    #expect(events.map(\.time) == [steps[0].time, steps[11].time])
  }

  @Test func aLumpNeverReachesBehindTheLastStep() {
    let (steps, _, counter) = count([(0, 0), (2, 4), (4, 20), (4.5, 22)])
    #expect(counter.count == 22)
    #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.time < $1.time })
    #expect(steps[4].time.seconds > 2)
    #expect(steps.allSatisfy { $0.cadence > 0 && $0.cadence <= 5 })
  }

  @Test func aJumpThatNobodyCanHaveWalkedCountsNothing() {
    let (_, _, counter) = count([(0, 10), (1, 60_000), (2, 60_002), (3, -1), (4, .nan), (5, 60_004.5), (6, 60_004)])
    #expect(counter.count == 4)
    #expect(counter.implausible == 4)
  }

  @Test func aNightOfSleepIsNoJump() {
    // The board slept for an hour in a pocket; the chip did not.
    let (_, _, counter) = count([(0, 0), (3600, 5000)])
    #expect(counter.count == 5000)
  }

  @Test func distanceNeedsAHeight() {
    var configuration = StepCounter.Configuration()
    #expect(count([(0, 0), (10, 20)], configuration).counter.distance == nil)
    configuration.height = 1.8
    let metres = count([(0, 0), (10, 20)], configuration).counter.distance ?? 0
    #expect((13...16).contains(metres))
  }
}

@Suite struct HardwareStepsInThePipelineTests {
  private func reading(_ seconds: Double, _ steps: Float) -> SensorSample {
    SensorSample(time: Timestamp(seconds: seconds), kind: .stepCounter, x: steps, y: 0, z: 0)
  }

  @Test func theChipIsIgnoredUnlessAskedFor() {
    var pipeline = MotionPipeline()
    for i in 0..<10 {
      let outputs = pipeline.process(reading(Double(i), Float(2 * i)))
      #expect(outputs.isEmpty)
    }
    #expect(pipeline.stepCount == 0)
  }

  @Test func askedForItAloneCounts() {
    var configuration = MotionPipeline.Configuration()
    configuration.stepCounter.usesHardware = true
    var pipeline = MotionPipeline(configuration: configuration)
    var steps: [Step] = []
    // A shaken accelerometer beside a chip that sees two steps a second for 10 s, then none.
    for i in 0..<3000 {
      let t = Double(i) * 0.01
      let bounce = 3 * Elementary.sin(2 * .pi * 2 * t)
      let sample = SensorSample(
        time: Timestamp(seconds: t), kind: .accelerometer, x: Float(bounce / 2), y: 0, z: Float(9.8 + bounce))
      let outputs = pipeline.process(sample)
      #expect(!outputs.contains(.steps) && !outputs.contains(.pedometerEvents))
      guard i % 100 == 0 else { continue }
      if pipeline.process(reading(t, Float(min(20, 2 * i / 100)))).contains(.steps) { steps += pipeline.newSteps }
    }
    #expect(steps.count == 20)
    #expect(pipeline.stepCount == 20)
  }
}
