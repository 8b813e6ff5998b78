import SensorFusion
import Testing

@Test func lateRepeatedAndNonFiniteSamplesAreCountedAndChangeNothing() {
  var pipeline = MotionPipeline()
  func sample(_ t: Int64, _ x: Float = 0) -> SensorSample {
    SensorSample(time: Timestamp(nanoseconds: t), kind: .accelerometer, x: x, y: 0, z: 9.8)
  }
  _ = pipeline.process(sample(10))
  _ = pipeline.process(sample(10))
  _ = pipeline.process(sample(5))
  _ = pipeline.process(sample(20, .nan))
  #expect(pipeline.counters.duplicate == 1)
  #expect(pipeline.counters.late == 1)
  #expect(pipeline.counters.nonFinite == 1)
}

/// Two minutes of ordinary handling: held, turned about, shown around, laid down.
private func handling(_ t: Double) -> Quaternion {
  let turn = Quaternion(yaw: 0.6 * t + Elementary.sin(0.31 * t))
  let tilt = Vector3(1.1 * Elementary.sin(0.23 * t), 1.3 * Elementary.sin(0.37 * t), 0)
  return (turn * Quaternion(rotationVector: tilt)).normalized
}

/// Two minutes of use: read in the hand while walking about, held upright and across for half a minute each, put into
/// a pocket and taken out again.
private func use(_ t: Double) -> Quaternion {
  /// From 0 to 1 within two seconds.
  func change(at begin: Double) -> Double { 0.5 - 0.5 * Elementary.cos(.pi * min(1, max(0, (t - begin) / 2))) }
  let yaw = 0.25 * t + 0.8 * Elementary.sin(0.2 * t)
  let pitch = 0.5 + 0.3 * Elementary.sin(0.5 * t) + 0.8 * (change(at: 20) - change(at: 50))
  let roll = 0.2 * Elementary.sin(0.9 * t) + 1.4 * (change(at: 55) - change(at: 85))
  let pocket = 2.2 * (change(at: 90) - change(at: 110))
  return
    (Quaternion(yaw: yaw) * Quaternion(rotationVector: Vector3(pitch + pocket, 0, 0))
    * Quaternion(rotationVector: Vector3(0, roll, 0))).normalized
}

@Test(arguments: [Vector3(30, -20, 18), Vector3(-8, 35, -25)], [handling, use])
private func anUncalibratedMagnetometerIsLearntWithoutAJump(
  hardIron: Vector3, handling: @Sendable (Double) -> Quaternion
) throws {
  var configuration = MotionPipeline.Configuration()
  configuration.filter.referenceFrame = .magneticNorth
  configuration.filter.magnetometerDelay = 0
  configuration.calibratesMagnetometer = true
  var pipeline = MotionPipeline(configuration: configuration)
  var noise = Noise(seed: 31)
  let field = Vector3(20, 0, -45)
  var before: (estimate: Quaternion, truth: Quaternion)?
  var largestStep = 0.0
  var squares = 0.0
  let dt = 0.01
  for step in 1...15_000 {
    let t = dt * Double(step)
    let truth = handling(t)
    let turn = handling(t - dt).conjugate * truth
    let rate = Vector3(turn.x, turn.y, turn.z) * (2 / dt * (turn.w < 0 ? -1 : 1))
    let readings: [(SensorKind, Vector3)] = [
      (.accelerometer, truth.inverseRotate(Vector3(0, 0, standardGravity)) + noise.vector(0.05)),
      (.gyroscope, rate + noise.vector(0.002)),
      (.magnetometer, truth.inverseRotate(field) + hardIron + noise.vector(0.4)),
    ]
    for (kind, v) in readings {
      _ = pipeline.process(
        SensorSample(time: Timestamp(seconds: t), kind: kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
    }
    let estimate = pipeline.motion.attitude
    if let before, t > 2 {
      // What the output turned by, beyond what the device did.
      let extra = (estimate * truth.conjugate) * (before.estimate * before.truth.conjugate).conjugate
      largestStep = max(largestStep, abs(wrapped(extra.yaw)))
    }
    before = (estimate, truth)
    let error = wrapped((estimate * truth.conjugate).yaw)
    if t > 120 { squares += error * error }
  }
  #expect((squares / 3000).squareRoot() < 3 * degree)
  let learnt = try #require(pipeline.learntHardIron)
  #expect((learnt.offset - hardIron).norm < 3)
  #expect(learnt.qualityPercent > 50)
  #expect(try #require(learnt.age) < 60)
  // It turns back over seconds: at no sample by more than an eye takes for motion.
  #expect(largestStep < 0.6 * degree)
}
