import SensorFusion

/// A person on foot, on the level or on stairs, with the device somewhere on the body.
///
/// The body is a sum of smooth periodic motions of the step phase (one a step) and the stride phase (one for two
/// steps), in proportions that gait studies give:
/// - the pelvis rises and falls once a step, by the inverted pendulum: step length = 1.25 * 2 sqrt(2 l h - h²) for a leg
///   l and a rise h (Zijlstra and Hof, Gait & Posture 18(2), 2003), lowest just after the heel strikes;
/// - it sways to the side once a stride and speeds up and slows down once a step (Inman, Ralston and Todd, "Human
///   Walking", 1981), and turns by a few degrees about its three axes;
/// - the heel strike is a short dip of the path, whose second derivative is the sharp upward pulse that a sensor sees;
/// - the arm is a double pendulum driven at the stride (Collins, Adamczyk and Kuo, Proc. R. Soc. B 276, 2009);
/// - the thigh swings about the hip at the stride, with the second harmonic of the knee's flexion.
struct WalkTrajectory: SimulatedTrajectory {
  /// Where the device is carried.
  enum Placement: String, CaseIterable {
    case held, hand, ear, pocket, lumbar
  }

  private let placement: Placement
  private let cadence: Double
  private let steps: Int
  private let lead: Double
  /// Step phase is gained over this time after the start and lost over as long before the end, s.
  private let rise = 0.8
  private let stepLength: Double
  private let radius: Double
  private let heading: Double
  private let strength: Double
  private let asymmetry: Double
  private let variability: Double
  private let armLength: Double
  private let swing: Double
  private let thighSwing: Double
  private let grip: Quaternion
  private let climb: Climb?
  /// Amplitude of the pelvis's rise and fall, m.
  private let bounce: Double
  let duration: Double

  /// A staircase: the height gained as a function of the step phase.
  private struct Climb {
    var floors: Int
    var floorHeight: Double
    var isUp: Bool
    let stepsPerFloor = 18
    let landingSteps = 4
    var totalSteps: Int { landingSteps + floors * (stepsPerFloor + landingSteps) }

    func height(at phase: Jet) -> Jet {
      let period = Double(stepsPerFloor + landingSteps)
      let local = phase - Double(landingSteps)
      let floor = min(max(0, (local.value / period).rounded(.down)), Double(floors - 1))
      let inFloor = local - floor * period
      // A stair's rise takes one step to set in, so it ends one step after the flight's last half step.
      let flight = inFloor.ramp(over: 1) - (inFloor - Double(stepsPerFloor)).ramp(over: 1)
      let up = (flight * (1 / Double(stepsPerFloor)) + floor) * floorHeight
      return isUp ? up : -up
    }
  }

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    try self.init(&settings, climb: nil, cadence: 1.8, stepLength: 0.7, radius: 15)
  }

  init(stairs settings: inout SimulationSettings) throws(MotionKitError) {
    let floors = try settings.integer("floors", "how many floors; negative goes down", default: 2, in: -200...200)
    guard floors != 0 else { throw settings.invalid("floors", "0", "a whole number other than 0") }
    let height = try settings.number("floor_height", "height of a floor, m", default: 3, in: 2...6)
    try self.init(
      &settings, climb: Climb(floors: abs(floors), floorHeight: height, isUp: floors > 0), cadence: 1.6,
      stepLength: 0.3, radius: 2.5)
  }

  private init(
    _ settings: inout SimulationSettings, climb: Climb?, cadence usualCadence: Double, stepLength usualLength: Double,
    radius usualRadius: Double
  ) throws(MotionKitError) {
    self.climb = climb
    let words = Placement.allCases.map(\.rawValue)
    let word = try settings.choice(
      "placement", "where the device is: " + words.joined(separator: ", "), default: "held", of: words)
    placement = Placement(rawValue: word) ?? .held
    cadence = try settings.number("cadence", "steps per second", default: usualCadence, in: 0.3...4)
    if let climb {
      steps = climb.totalSteps
    } else {
      steps = try settings.integer(
        "steps", "how many steps, then 3 s of standing and the end; 0 walks on", default: 0, in: 0...10_000_000)
    }
    lead = try settings.number("hold", "seconds of standing before the first step", default: 3, in: 0...1e6)
    stepLength = try settings.number("step_length", "length of a step, m", default: usualLength, in: 0.05...2)
    radius = try settings.number(
      "radius", "radius of the circle that is walked, m; 0 is straight on", default: usualRadius, in: 0...1e6)
    heading =
      try settings.number("heading", "where the walk begins to go, degrees counter-clockwise from north", default: 0)
      * radiansPerDegree
    strength = try settings.number("strength", "how hard the steps are, 1 is usual", default: 1, in: 0...5)
    asymmetry = try settings.number(
      "asymmetry", "how much stronger one leg's steps are, 0 to 1", default: 0.05, in: 0...1)
    variability = try settings.number(
      "variability", "slow change of the cadence, as a part of it", default: 0.02, in: 0...0.2)
    armLength = try settings.number("arm", "length from shoulder to hand, m", default: 0.62, in: 0.2...1.2)
    swing =
      try settings.number("swing", "amplitude of the arm's swing, degrees", default: 18, in: 0...90) * radiansPerDegree
    thighSwing =
      try settings.number("thigh", "amplitude of the thigh's swing, degrees", default: 20, in: 0...60)
      * radiansPerDegree
    grip = try readAttitude(&settings)
    // h from Zijlstra and Hof's formula for a leg of 0.9 m: with u = step / 2.5, h = l - sqrt(l² - u²).
    let leg = 0.9
    let u = min(0.8 * leg, stepLength / 2.5)
    bounce = (leg - (leg * leg - u * u).squareRoot()) / 2 * strength
    // Each of the two rises of the phase costs half its length.
    duration = steps == 0 ? .infinity : lead + Double(steps) / cadence + rise + 3
  }

  // MARK: Phase

  /// Step phase, 0 at the start and `steps` at the end; the n-th heel strikes when it is n - 1/2.
  private func phase(at time: Jet) -> Jet {
    let t = time - lead
    let steady: Jet
    if steps == 0 {
      steady = t.ramp(over: rise)
    } else {
      steady = t.ramp(over: rise) - (t - Double(steps) / cadence).ramp(over: rise)
    }
    // Two slow waves whose largest rates together are `variability` of the cadence.
    let slow = 2 * Double.pi * 0.11
    let slower = 2 * Double.pi * 0.043
    let wave = (t * slow).sine * (0.5 / slow) + (t * slower).sine * (0.5 / slower)
    return (steady + wave * envelope(at: time) * variability) * cadence
  }

  /// How much of the walking motion there is: 0 when standing, 1 when walking.
  private func envelope(at time: Jet) -> Jet {
    let t = time - lead
    let onset = t.step(over: rise)
    if steps == 0 { return onset }
    return onset * (Jet(1) - (t - Double(steps) / cadence).step(over: rise))
  }

  func stepTime(_ index: Int) -> Double? {
    guard steps == 0 || index < steps else { return nil }
    let wanted = Double(index) + 0.5
    // The phase grows steadily, and the slow waves move it by less than 4 s times the variability.
    let middle = lead + rise / 2 + wanted / cadence
    let margin = rise + 4 * variability
    var low = middle - margin
    var high = middle + margin
    // 60 halvings bring 2 s below the spacing of doubles.
    for _ in 0..<60 {
      let half = 0.5 * (low + high)
      if phase(at: Jet(half)).value < wanted { low = half } else { high = half }
    }
    return 0.5 * (low + high)
  }

  // MARK: Body

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    let phase = phase(at: time)
    let gait = Gait(phase: phase, envelope: envelope(at: time), asymmetry: asymmetry)
    let path = path(along: phase * stepLength)
    let facing = JetQuaternion.aboutZ(path.heading)
    let pelvis = pelvis(gait)
    var origin = path.position + facing.rotate(pelvis.position)
    if let climb { origin.z = origin.z + climb.height(at: phase) }
    let trunk = facing * pelvis.attitude
    let (attitude, position) = carried(gait)
    return (trunk * attitude * JetQuaternion(grip), origin + trunk.rotate(position))
  }

  /// A straight line or a circle to the left, from the origin.
  private func path(along way: Jet) -> (heading: Jet, position: JetVector) {
    let startSine = Elementary.sin(heading)
    let startCosine = Elementary.cos(heading)
    guard radius > 0 else { return (Jet(heading), JetVector(way * startCosine, way * startSine, Jet(0))) }
    let now = way * (1 / radius) + heading
    let (s, c) = now.sineAndCosine
    return (now, JetVector((s - startSine) * radius, -(c - startCosine) * radius, Jet(0)))
  }

  /// Sines and cosines of the step and stride phases, each with the envelope.
  private struct Gait {
    let envelope: Jet
    /// Sine and cosine of the step phase, of its double, and of the stride phase.
    let step: (sine: Jet, cosine: Jet)
    let double: (sine: Jet, cosine: Jet)
    let stride: (sine: Jet, cosine: Jet)
    /// Stronger and weaker steps in turn.
    let weight: Jet
    /// 1 just as a heel strikes, near 0 otherwise.
    let strike: Jet

    init(phase: Jet, envelope: Jet, asymmetry: Double) {
      self.envelope = envelope
      let angle = phase * (2 * .pi)
      step = angle.sineAndCosine
      double = (angle * 2).sineAndCosine
      stride = (angle * 0.5).sineAndCosine
      // At strikes (phase n + 1/2) the stride's sine is +1 and -1 in turn.
      weight = (stride.sine * asymmetry + 1) * envelope
      // A von Mises pulse; at 1.8 steps a second its half width is 30 ms.
      let concentration = 9.0
      strike = ((step.cosine + 1) * -concentration).exponential
    }
  }

  /// The pelvis in the frame that walks along: x forward, y left, z up; standing still it is at the origin.
  private func pelvis(_ gait: Gait) -> (attitude: JetQuaternion, position: JetVector) {
    let shake = gait.weight * strength
    let forward = gait.step.sine * gait.envelope * (0.010 * strength) + gait.strike * shake * 0.0006
    let left = gait.stride.cosine * gait.envelope * 0.02
    let up =
      gait.step.cosine * gait.weight * bounce + gait.double.cosine * shake * 0.0012 - gait.strike * shake * 0.0014
    let turn = gait.stride.cosine * gait.envelope * (5 * radiansPerDegree)
    let list = gait.stride.sine * gait.envelope * (3 * radiansPerDegree)
    let tilt = gait.step.cosine * gait.envelope * (1.5 * radiansPerDegree)
    return (.aboutZ(turn) * .aboutY(tilt) * .aboutX(list), JetVector(forward, left, up))
  }

  /// The device in the pelvis's frame.
  private func carried(_ gait: Gait) -> (attitude: JetQuaternion, position: JetVector) {
    switch placement {
    case .held:
      // Before the chest, face up, top edge away and 35 degrees up; the hands float a little.
      let nod = gait.step.sine * gait.envelope * (1.2 * radiansPerDegree)
      let rock = gait.stride.cosine * gait.envelope * (1.5 * radiansPerDegree)
      let q = JetQuaternion.aboutZ(Jet(-.pi / 2)) * .aboutX(nod + 35 * radiansPerDegree) * .aboutY(rock)
      return (q, JetVector(Jet(0.35), Jet(-0.05), Jet(0.3)))
    case .hand:
      return arm(gait)
    case .ear:
      // Upright at the right ear, the face to the head.
      let nod = gait.step.sine * gait.envelope * (2 * radiansPerDegree)
      let rock = gait.stride.sine * gait.envelope * (2 * radiansPerDegree)
      let q = JetQuaternion.aboutY(nod) * .aboutX(rock) * Self.mount(0, 0, Self.half, Self.half)
      return (q, JetVector(Jet(0.02), Jet(-0.1), Jet(0.62)))
    case .pocket:
      return thigh(gait)
    case .lumbar:
      // At the small of the back, top edge up, the face to the back.
      return (Self.mount(0.5, 0.5, -0.5, -0.5), JetVector(Jet(-0.12), Jet(0), Jet(0.05)))
    }
  }

  /// The right hand: upper arm and forearm swing at the stride, the elbow bends more when the arm is in front. The
  /// device lies along the hand, top edge forward, the face to the body.
  private func arm(_ gait: Gait) -> (attitude: JetQuaternion, position: JetVector) {
    // The right arm is in front when the left leg is: opposite to the pelvis's turn. Turning about -y lifts it forward.
    let wave = gait.stride.cosine * gait.envelope
    let upper = wave * -swing + 2 * radiansPerDegree
    let elbow = (wave + 1) * (-0.35 * swing) - 10 * radiansPerDegree
    let twist = wave * (6 * radiansPerDegree)
    let shoulder = JetVector(Jet(0), Jet(-0.18), Jet(0.45))
    let upperArm = JetQuaternion.aboutY(upper)
    let foreArm = upperArm * .aboutY(elbow)
    let hand = foreArm * .aboutZ(twist)
    let position =
      shoulder + upperArm.rotate(Vector3(0, 0, -0.48 * armLength)) + foreArm.rotate(Vector3(0, 0, -0.52 * armLength))
    return (hand * Self.mount(0.5, -0.5, -0.5, -0.5), position)
  }

  /// The right front pocket: upside down, the face forward, on the thigh.
  private func thigh(_ gait: Gait) -> (attitude: JetQuaternion, position: JetVector) {
    let flexion =
      (gait.stride.cosine * thighSwing + gait.step.sine * (0.2 * thighSwing)) * gait.envelope
    // A positive turn about y takes the knee back.
    let leg = JetQuaternion.aboutY(flexion - 3 * radiansPerDegree)
    let slide = gait.step.sine * gait.envelope * (2 * radiansPerDegree)
    let position = JetVector(Jet(0), Jet(-0.1), Jet(-0.05)) + leg.rotate(Vector3(0.08, -0.02, -0.18))
    return (leg * .aboutX(slide) * Self.mount(0.5, -0.5, 0.5, -0.5), position)
  }

  private static let half = 0.5.squareRoot()

  private static func mount(_ w: Double, _ x: Double, _ y: Double, _ z: Double) -> JetQuaternion {
    JetQuaternion(Quaternion(w: w, x: x, y: y, z: z))
  }
}
