import CAllocationCounter
import SensorFusion
import Testing

@Suite struct StepCounterTests {
  @Test(arguments: [25.0, 50, 100, 200, 400, 1000])
  func theRateDoesNotMatter(rate: Double) {
    var walker = SyntheticWalker()
    walker.rate = rate
    #expect(abs(walker.count().count - walker.steps) <= 1)
  }

  @Test(arguments: [1.2, 1.5, 1.8, 2.1, 2.4, 2.8])
  func everyCadenceIsCounted(cadence: Double) {
    var walker = SyntheticWalker()
    walker.cadence = cadence
    walker.bounce = cadence < 1.5 ? 0.03 : 0.02
    #expect(abs(walker.count().count - walker.steps) <= 1)
  }

  @Test func jitterDroppedSamplesAndHolesDoNotMatter() {
    let walker = SyntheticWalker()
    var random = TestRandom(seed: 3)
    let jittered = walker.regularTimes.map { $0 + 0.004 * random.normal() }.sorted()
    #expect(abs(walker.count(times: jittered).count - walker.steps) <= 1)
    let dropped = walker.regularTimes.filter { _ in random.next() > 0.3 }
    #expect(abs(walker.count(times: dropped).count - walker.steps) <= 1)
    let holes = walker.regularTimes.filter { $0.truncatingRemainder(dividingBy: 5) > 0.2 }
    #expect(abs(walker.count(times: holes).count - walker.steps) <= 2)
  }

  @Test func noiseClippingQuantisingAndTurningTheAxesDoNotMatter() {
    let walker = SyntheticWalker()
    var random = TestRandom(seed: 5)
    let noisy = walker.count { $1 + Vector3(0.3 * random.normal(), 0.3 * random.normal(), 0.3 * random.normal()) }
    #expect(abs(noisy.count - walker.steps) <= 1)
    func limited(_ x: Double) -> Double { min(19.6, max(-19.6, x)) }
    let clipped = walker.count { Vector3(limited($1.x), limited($1.y), limited($1.z)) }
    #expect(abs(clipped.count - walker.steps) <= 1)
    let coarse = walker.count {
      Vector3(($1.x / 0.15).rounded() * 0.15, ($1.y / 0.15).rounded() * 0.15, ($1.z / 0.15).rounded() * 0.15)
    }
    #expect(abs(coarse.count - walker.steps) <= 1)
    let turn = Quaternion(w: 0.3, x: -0.5, y: 0.7, z: 0.2).normalized
    #expect(walker.count { turn.rotate($1) }.count == walker.count().count)
  }

  @Test func stepsComeInOrderAndAreNeverTakenBack() {
    let found = SyntheticWalker().count()
    #expect(found.map(\.number) == Array(1...Int64(found.count)))
    for (a, b) in zip(found, found.dropFirst()) { #expect(a.time < b.time) }
    for step in found.dropFirst(8) { #expect(abs(step.cadence - 1.8) < 0.1) }
  }

  @Test func aHoleInTheStreamBridgesNothingAndKeepsTheTotal() {
    let walker = SyntheticWalker()
    // Ten seconds are missing in the middle of the walk, 18 steps.
    let times = walker.regularTimes.filter { $0 < 14 || $0 > 24 }
    let found = walker.count(times: times)
    #expect(found.allSatisfy { $0.time.seconds < 114.1 || $0.time.seconds > 123.9 })
    #expect(found.count > 34 && found.count <= 43)
  }

  @Test func timeThatGoesBackwardsStartsAnew() {
    let walker = SyntheticWalker()
    var counter = StepCounter()
    for t in walker.regularTimes {
      _ = counter.update(time: Timestamp(seconds: 1000 + t), specificForce: walker.force(at: t), motion: nil)
    }
    let first = counter.count
    for t in walker.regularTimes {
      _ = counter.update(time: Timestamp(seconds: 10 + t), specificForce: walker.force(at: t), motion: nil)
    }
    #expect(counter.count >= first)
    for time in [Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max), Timestamp(nanoseconds: 0)] {
      _ = counter.update(time: time, specificForce: Vector3(0, 0, 9.8), motion: nil)
    }
  }

  @Test func aWalkerPausesAndGoesOn() {
    let walker = SyntheticWalker()
    var counter = StepCounter()
    var events: [PedometerEvent] = []
    for t in walker.regularTimes {
      _ = counter.update(time: Timestamp(seconds: t), specificForce: walker.force(at: t), motion: nil)
      events.append(contentsOf: counter.newEvents)
    }
    #expect(events.map(\.kind) == [.resume, .pause])
    #expect(events.first.map { abs($0.time.seconds - 4) < 1.2 } == true)
    #expect(events.last.map { abs($0.time.seconds - (walker.duration - 4)) < 1.2 } == true)
    #expect(counter.gait.isPaused)
  }

  @Test("strict counts a plain walk as the default does, and not one whose every second step is much the stronger")
  func strict() {
    var configuration = StepCounter.Configuration()
    configuration.isStrict = true
    // The bounce of the walker is 2.6 m/s²; this is added along gravity at half its frequency.
    for (stride, isCounted) in [(0.0, true), (1.95, false)] {
      let walker = SyntheticWalker(sway: 0.04)
      func change(_ t: Double, _ force: Vector3) -> Vector3 {
        let phase = (t - walker.stillBefore) * walker.cadence
        guard phase > 0, phase < Double(walker.steps) else { return force }
        let ramp = min(1, phase, Double(walker.steps) - phase)
        return force + Vector3(0, 0, stride * ramp * Elementary.cos(.pi * phase))
      }
      var counter = StepCounter(configuration: configuration)
      for t in walker.regularTimes {
        let force = change(t, walker.force(at: t))
        _ = counter.update(time: Timestamp(seconds: 100 + t), specificForce: force, motion: nil)
      }
      #expect(abs(walker.count(change: change).count - 60) <= 2)
      #expect(isCounted ? abs(counter.count - 60) <= 2 : counter.count == 0)
    }
  }

  @Test func distanceNeedsAHeightOrACalibrationWalk() throws {
    let walker = SyntheticWalker()
    #expect(StepCounter().distance == nil)
    var configuration = StepCounter.Configuration()
    configuration.height = 1.75
    var counter = StepCounter(configuration: configuration)
    for t in walker.regularTimes {
      _ = counter.update(time: Timestamp(seconds: t), specificForce: walker.force(at: t), motion: nil)
    }
    let distance = try #require(counter.distance)
    #expect(abs(distance / Double(counter.count) - 0.30 * 1.75 * 1.8.squareRoot()) < 0.02)
  }

  @Test func theSameSamplesGiveTheSameBitsAndAFullStreamTakesNoMemory() {
    let walker = SyntheticWalker()
    #expect(walker.count() == walker.count())
    var counter = StepCounter()
    var allocations = 0
    // Twice: the runtime makes its type descriptions at first use, and only then.
    for t in walker.regularTimes + walker.regularTimes.map({ $0 + walker.duration }) {
      if t < walker.duration { allocations = 0 }
      let force = walker.force(at: t < walker.duration ? t : t - walker.duration)
      let time = Timestamp(seconds: t)
      let before = allocation_count()
      _ = counter.update(time: time, specificForce: force, motion: nil)
      allocations += allocation_count() - before
    }
    #expect(counter.count > 100)
    if allocation_count() >= 0 { #expect(allocations == 0) }
  }

  /// A device at the end of an arm of 0.6 m that swings by 25 degrees at 0.85 Hz, from a shoulder that bounces by so many
  /// metres with every step: what it feels and what the attitude filter knows at t seconds.
  private func swungPhone(at t: Double, bounce: Double) -> (force: Vector3, motion: MotionState) {
    let (lever, angle, frequency) = (0.6, 25 * Double.pi / 180, 0.85)
    let omega = 2 * Double.pi * frequency
    let phi = angle * Elementary.sin(omega * t)
    let rate = angle * omega * Elementary.cos(omega * t)
    let turn = -angle * omega * omega * Elementary.sin(omega * t)
    // Along the arm (device z up), and forward (device x).
    let (sine, cosine) = (Elementary.sin(phi), Elementary.cos(phi))
    let forward = lever * (turn * cosine - rate * rate * sine)
    let shoulder = -bounce * 4 * omega * omega * Elementary.cos(2 * omega * t)
    let up = lever * (turn * sine + rate * rate * cosine) + shoulder + 9.80665
    var motion = MotionState(time: Timestamp(seconds: t))
    // The device pitches with the arm: forward swing turns its z axis forward to up.
    motion.attitude = Quaternion(w: Elementary.cos(phi / 2), x: 0, y: -Elementary.sin(phi / 2), z: 0)
    motion.rotationRate = Vector3(0, -rate, 0)
    motion.tiltSigma = 0.01
    return (motion.attitude.inverseRotate(Vector3(forward, 0, up)), motion)
  }

  @Test(
    "An arm that swings counts if its shoulder bounces with every step, and not if it rests", arguments: [0.012, 0])
  func aSwungPhone(bounce: Double) {
    var counter = StepCounter()
    for i in 0..<3000 {
      let t = Double(i) / 100
      let (force, motion) = swungPhone(at: t, bounce: bounce)
      _ = counter.update(time: Timestamp(seconds: t), specificForce: force, motion: motion)
    }
    // 30 s at 1.7 steps/s, less what is not released at the end.
    #expect(abs(Double(counter.count) - (bounce > 0 ? 51 : 0)) <= (bounce > 0 ? 3 : 0))
  }

  @Test func aStreamWithAGyroscopeTakesNoMemoryEither() {
    var counter = StepCounter()
    var allocations = 0
    // The first 30 s are the runtime's, which makes its type descriptions at first use.
    for i in 0..<6000 {
      if i == 3000 { allocations = 0 }
      let t = Double(i) / 100
      let (force, motion) = swungPhone(at: t, bounce: 0.012)
      let before = allocation_count()
      _ = counter.update(time: Timestamp(seconds: t), specificForce: force, motion: motion)
      allocations += allocation_count() - before
    }
    #expect(counter.count > 90)
    if allocation_count() >= 0 { #expect(allocations == 0) }
  }
}

@Suite struct ActivityTests {
  /// Runs a pipeline without gyroscope; returns the activities and the shakes.
  private func run(_ times: [Double], _ force: (Double) -> Vector3) -> (activities: [ActivityState], shakes: Int) {
    var configuration = MotionPipeline.Configuration()
    configuration.filter.hasGyroscope = false
    var pipeline = MotionPipeline(configuration: configuration)
    var activities: [ActivityState] = []
    var shakes = 0
    for t in times {
      let f = force(t)
      let sample = SensorSample(
        time: Timestamp(seconds: t), kind: .accelerometer, x: Float(f.x), y: Float(f.y), z: Float(f.z))
      let outputs = pipeline.process(sample)
      if outputs.contains(.activity) { activities.append(pipeline.activity) }
      if outputs.contains(.shake) { shakes += 1 }
    }
    return (activities, shakes)
  }

  @Test func aWalkIsStationaryWalkingStationary() {
    var walker = SyntheticWalker()
    walker.stillAfter = 8
    let (activities, shakes) = run(walker.regularTimes, walker.force)
    var kinds: [Activity] = []
    for state in activities where kinds.last != state.activity { kinds.append(state.activity) }
    // Between the first step and its confirmation the motion is not known yet.
    #expect(kinds.filter { $0 != .unknown } == [.stationary, .walking, .stationary])
    // Walking began with its first step, not with its confirmation.
    let walking = activities.first { $0.activity == .walking }
    #expect(walking.map { abs($0.time.seconds - 4) < 1.2 } == true)
    #expect(shakes == 0)
  }

  @Test func aRunIsRunningAndNoShake() {
    var walker = SyntheticWalker()
    walker.cadence = 2.7
    walker.bounce = 0.035
    walker.steps = 80
    let (activities, shakes) = run(walker.regularTimes, walker.force)
    #expect(activities.contains { $0.activity == .running })
    #expect(shakes == 0)
  }

  @Test func aShakeIsAShakeAndABumpIsNone() {
    let times = (0..<1000).map { Double($0) / 100 }
    let shaken = run(times) { t in
      let swing = t > 4 && t < 5.2 ? 25 * Elementary.sin(2 * .pi * 4 * t) : 0
      return Vector3(swing, 0, 9.8)
    }
    #expect(shaken.shakes == 1)
    let bumped = run(times) { t in Vector3(t > 4 && t < 4.05 ? 60 : 0, 0, 9.8) }
    #expect(bumped.shakes == 0)
  }
}
