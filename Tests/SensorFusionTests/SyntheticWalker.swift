import SensorFusion

/// A walker with a phone in the hand before the body, simple and exact: bounce, sway at the stride, and still time
/// before and after.
struct SyntheticWalker {
  var cadence = 1.8
  var steps = 60
  var bounce = 0.02
  var sway = 0.02
  var stillBefore = 4.0
  var stillAfter = 4.0
  /// Sampling times, s, from a rate; jittered and with holes where a test wants them.
  var rate = 100.0

  var duration: Double { stillBefore + Double(steps) / cadence + stillAfter }

  /// The specific force at time t, m/s²; device flat and face up.
  func force(at t: Double) -> Vector3 {
    let phase = (t - stillBefore) * cadence
    guard phase > 0, phase < Double(steps) else { return Vector3(0, 0, 9.80665) }
    let omega = 2 * Double.pi * cadence
    let ramp = min(1, phase, Double(steps) - phase)
    let up = bounce * omega * omega * Elementary.cos(2 * .pi * phase)
    let across = sway * (omega / 2) * (omega / 2) * Elementary.sin(.pi * phase)
    return Vector3(ramp * across, ramp * 0.4 * up, 9.80665 + ramp * up)
  }

  /// The counted steps of samples at `times`, each force changed by `change`.
  func count(times: [Double]? = nil, change: (Double, Vector3) -> Vector3 = { $1 }) -> [Step] {
    var counter = StepCounter()
    var found: [Step] = []
    for t in times ?? regularTimes {
      if counter.update(time: Timestamp(seconds: 100 + t), specificForce: change(t, force(at: t)), motion: nil) {
        found.append(contentsOf: counter.newSteps)
      }
    }
    return found
  }

  var regularTimes: [Double] { (0..<Int(duration * rate)).map { Double($0) / rate } }
}

/// A small deterministic random sequence for tests.
struct TestRandom {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }
  /// Uniform in 0..<1.
  mutating func next() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let mixed: UInt64 = (state ^ (state >> 33)) >> 11
    let scale: Double = 0x1p-53
    return Double(mixed) * scale
  }
  /// Roughly normal, variance 1.
  mutating func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + next() } }
}
