import SensorFusion

/// A person on foot, on the level or on stairs, with the device somewhere on the body.
///
/// The body is a sum of smooth periodic motions of the step phase (one a step) and the stride phase (one for two
/// steps), in proportions that gait studies give:
/// - the pelvis rises and falls once a step, lowest as the heel strikes, and sways to the side once a stride, the more
///   the slower the walk (Orendurff et al., J. Rehabil. Res. Dev. 41(6), 2004);
/// - it is fastest where it is lowest, as an inverted pendulum (Cavagna, Thys and Zamboni, J. Physiol. 262, 1976), and
///   turns by a few degrees about its three axes (Inman, Ralston and Todd, "Human Walking", 1981);
/// - on stairs each step lifts or lowers it with a start and an end (Riener, Rabuffetti and Frigo, Gait & Posture 15,
///   2002; Stacoff et al., Gait & Posture 21(1), 2005);
/// - a runner bounces as a mass on a spring, lowest in the middle of the stance (Blickhan, J. Biomech. 22, 1989);
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
  private let timing: Double
  /// Seconds of phase gained or lost; its rate is the relative change of the cadence.
  private let wander: BandLimited
  /// Relative change of the steps' strength.
  private let unevenness: BandLimited
  private let armLength: Double
  private let armLean: Double
  private let armLag: Double
  private let elbowBend: Double
  private let swing: Double
  private let thighSwing: Double
  private let grip: Quaternion
  private let climb: Climb?
  private let runs: Bool
  /// Amplitude of the pelvis's rise and fall, m.
  private let bounce: Double
  /// Amplitude of its sway to the sides, m.
  private let sway: Double
  /// The same three times a stride.
  private let waver: Double
  /// Amplitude by which it runs ahead and falls back, m.
  private let surge: Double
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
      // The body does not glide: it is lifted fastest a quarter of a step after the heel's strike and hardly at the strike;
      // on the way down it drops on to the next stair and is caught. 0.167 m a stair, 0.4 and 0.8 of the speed going up and
      // down with each step: 1.1 and 2.1 m/s² at 1.6 steps a second, with the rest of the walk peaks of the force of 1.2
      // and 1.4 body weights.
      let share = inFloor.step(over: 1) - (inFloor - Double(stepsPerFloor)).step(over: 1)
      let angle = (phase - (isUp ? 0 : 0.15)) * (2 * .pi)
      let ripple = (angle.cosine - 1) * share * ((isUp ? 0.4 : 0.8) / (2 * .pi))
      let climbed = (flight * (1 / Double(stepsPerFloor)) + floor) * floorHeight
      let beat = ripple * (floorHeight / Double(stepsPerFloor))
      return (isUp ? climbed : -climbed) + beat
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
    if climb == nil {
      runs =
        try settings.choice("gait", "walk or run", default: "walk", of: ["walk", "run"]) == "run"
    } else {
      runs = false
    }
    let usualCadence = runs ? 2.7 : usualCadence
    let usualLength = runs ? 1.0 : usualLength
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
    timing = try settings.number(
      "timing", "how far one leg's steps come late, as a part of a step", default: 0.01, in: 0...0.3)
    let variability = try settings.number(
      "variability", "change of the cadence from stride to stride, rms, as a part of it", default: 0.02, in: 0...0.2)
    let variant = try settings.integer("variant", "which of many random rhythms", default: 1, in: 0...Int.max)
    var random = SimulationRandom(seed: UInt64(variant), stream: 1003)
    wander = BandLimited(
      band: 0.04...cadence / 2, order: 1, sigma: variability, count: 6, random: &random)
    unevenness = BandLimited(
      band: 0.04...cadence / 2, order: 0, sigma: min(0.2, 2 * variability), count: 6, random: &random)
    armLength = try settings.number("arm", "length from shoulder to hand, m", default: 0.62, in: 0.2...1.2)
    // Arms swing with the legs: 18 degrees with steps of 0.7 m.
    let usualSwing = runs ? 25 : climb != nil ? 12 : 18 * min(1.3, max(0.3, stepLength / 0.7))
    swing =
      try settings.number("swing", "amplitude of the arm's swing, degrees", default: usualSwing, in: 0...90)
      * radiansPerDegree
    armLean =
      try settings.number("lean", "how far forward the arm hangs, degrees", default: 10, in: -45...90)
      * radiansPerDegree
    armLag =
      try settings.number("lag", "how late the arm's swing is, degrees of the stride", default: 30, in: -180...180)
      * radiansPerDegree
    elbowBend =
      try settings.number("elbow", "how far the elbow is bent, degrees", default: runs ? 80 : 20, in: 0...120)
      * radiansPerDegree
    // So do thighs; on stairs they lift the leg, however short the stair is.
    let usualThigh = runs ? 28 : climb != nil ? 15 : 15 * min(1.3, max(0.3, stepLength / 0.7))
    thighSwing =
      try settings.number("thigh", "amplitude of the thigh's swing, degrees", default: usualThigh, in: 0...60)
      * radiansPerDegree
    grip = try readAttitude(&settings)
    let omega = 2 * Double.pi * cadence
    if runs {
      // A half sine of force over 0.7 of each step and nothing in the air: its first harmonic is 12 m/s². Brake and push
      // along the way are 0.3 of the weight, the change of sides half of that (Cavanagh and Lafortune, J. Biomech. 13,
      // 1980).
      bounce = 12 / (omega * omega) * strength
      surge = 3 / (omega * omega) * strength
      sway = 1.5 / (omega * omega / 4)
    } else {
      // Orendurff: 2.74 and 4.83 cm up and down, 6.99 and 3.85 cm to the sides at 0.7 and 1.6 m/s, where steps are 0.51
      // and 0.78 m long at 1.36 and 2.06 a second (step length over cadence hardly depends on the speed: 0.38 m s). To the
      // sides that is the same acceleration, 0.64 and 0.80 m/s²: the weight on one foot or the other.
      // On stairs the body bounces as in a slow walk, however short the stairs.
      let change = (min(0.9, max(climb == nil ? 0.2 : 0.514, stepLength)) - 0.514) / (0.778 - 0.514)
      bounce = 0.5 * (0.0274 + 0.0209 * change) * strength
      sway = 0.72 * strength / (omega * omega / 4)
      // What it loses in height it gains in speed: v dv = r g dh, two thirds of it (r) at usual speeds.
      surge = 0.65 * standardGravity * bounce / (max(0.3, stepLength) * cadence * omega)
    }
    // To the sides the body moves in odd harmonics of the stride (Menz, Lord and Fitzpatrick, Gait & Posture 18(1), 2003):
    // here the third, a fifth of the vertical acceleration.
    waver = 0.2 * bounce / 2.25
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
    return (steady + wander(t) * envelope(at: time)) * cadence
  }

  /// The phase with one leg's steps late: what the body and the feet follow.
  private func gaitPhase(_ phase: Jet) -> Jet { phase + (phase * .pi).sine * (timing / 2) }

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
    // The phase grows steadily but for the start, the wander and the timing.
    let middle = lead + rise / 2 + wanted / cadence
    let margin = rise + wander.bound + timing / cadence
    var low = middle - margin
    var high = middle + margin
    // 60 halvings bring seconds below the spacing of doubles.
    for _ in 0..<60 {
      let half = 0.5 * (low + high)
      if gaitPhase(phase(at: Jet(half))).value < wanted { low = half } else { high = half }
    }
    return 0.5 * (low + high)
  }

  // MARK: Body

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    let phase = phase(at: time)
    let gait = Gait(
      phase: gaitPhase(phase), envelope: envelope(at: time), evenness: unevenness(time) + 1, asymmetry: asymmetry,
      cadence: cadence)
    let path = path(along: phase * stepLength)
    let facing = JetQuaternion.aboutZ(path.heading)
    let pelvis = pelvis(gait)
    let (attitude, position) = carried(gait, trunk: pelvis.attitude)
    var origin = path.position + facing.rotate(pelvis.position + position)
    if let climb { origin.z = origin.z + climb.height(at: phase) }
    return (facing * attitude * JetQuaternion(grip), origin)
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

  /// Sines and cosines of the step and stride phases, and pulses.
  private struct Gait {
    let envelope: Jet
    /// Sine and cosine of the step phase, of its double, and of the stride phase.
    let step: (sine: Jet, cosine: Jet)
    let double: (sine: Jet, cosine: Jet)
    let stride: (sine: Jet, cosine: Jet)
    /// Cosine of three times the stride phase.
    let triple: Jet
    /// Stronger and weaker steps in turn, and from one to the next, with the envelope.
    let weight: Jet
    /// 1 just as a heel strikes, near 0 otherwise.
    let strike: Jet
    /// 1 as the right leg swings forward, near 0 otherwise.
    let lift: Jet

    init(phase: Jet, envelope: Jet, evenness: Jet, asymmetry: Double, cadence: Double) {
      self.envelope = envelope
      let angle = phase * (2 * .pi)
      step = angle.sineAndCosine
      double = (angle * 2).sineAndCosine
      stride = (angle * 0.5).sineAndCosine
      triple = (angle * 1.5).cosine
      // At strikes (phase n + 1/2) the stride's sine is +1 and -1 in turn.
      weight = (stride.sine * asymmetry + 1) * evenness * envelope
      strike = Self.pulse(cosine: -step.cosine, width: 0.02, frequency: cadence)
      // A quarter of a stride before its own heel strikes (where the sine is 1).
      lift = Self.pulse(cosine: stride.cosine, width: 0.06, frequency: cadence / 2)
    }

    /// A von Mises pulse where the cosine of a phase is 1, of a width (1 sigma) in seconds.
    private static func pulse(cosine: Jet, width: Double, frequency: Double) -> Jet {
      let sigma = 2 * Double.pi * frequency * width
      return ((cosine - 1) * (1 / (sigma * sigma))).exponential
    }
  }

  /// The pelvis in the frame that walks along: x forward, y left, z up; standing still it is at the origin.
  private func pelvis(_ gait: Gait) -> (attitude: JetQuaternion, position: JetVector) {
    // How much of the rise and fall reaches the device: knees, spine and arms take some of it.
    let passed =
      switch placement {
      case .lumbar, .pocket: 1.0
      case .hand: 0.85
      case .held: 0.7
      case .ear: 0.65
      }
    let shake = gait.weight * (strength * passed)
    let forward = gait.step.sine * gait.envelope * -surge + gait.strike * shake * 0.0006
    let left = gait.stride.cosine * gait.envelope * sway + gait.triple * gait.envelope * waver
    // Standing, the body is as high as in the middle of a stance (cosine 1).
    let up: Jet
    if runs {
      // The middle of the stance is a third of a step after the landing (phase 1/2): phase 0.84.
      let (sine, cosine) = (gait.step.sine, gait.step.cosine)
      let depth = cosine * Elementary.cos(2 * .pi * 0.34) - sine * Elementary.sin(2 * .pi * 0.34)
      up = (depth - 1) * gait.weight * (bounce * passed) - gait.strike * shake * 0.002
    } else {
      // The second harmonic of 1.5 mm and the dip of 1.4 mm give 0.6 and 3.5 m/s² at 1.6 steps a second.
      up =
        (gait.step.cosine - 1) * gait.weight * (bounce * passed) + (gait.double.cosine - 1) * shake * 0.0015
        - gait.strike * shake * 0.0014
    }
    // The right side comes forward with the right heel (stride sine 1) and sinks as the left leg takes the weight, an eighth
    // of a stride before the body is over it (cosine 1): Perry and Burnfield, "Gait Analysis", 2nd ed. 2010.
    let turn = gait.stride.sine * gait.envelope * (5 * radiansPerDegree)
    let list = (gait.stride.cosine - gait.stride.sine) * gait.envelope * (Self.half * 3 * radiansPerDegree)
    let tilt = gait.step.cosine * gait.envelope * (1.5 * radiansPerDegree)
    return (.aboutZ(turn) * .aboutY(tilt) * .aboutX(list), JetVector(forward, left, up))
  }

  /// The device from the pelvis's centre, in the frame that walks along.
  private func carried(_ gait: Gait, trunk: JetQuaternion) -> (attitude: JetQuaternion, position: JetVector) {
    switch placement {
    case .held:
      // Before the chest, face up, top edge away and 35 degrees up; the arms keep the trunk's turning away from it.
      let nod = gait.step.sine * gait.envelope * (1.2 * radiansPerDegree)
      let rock = gait.stride.cosine * gait.envelope * (1.5 * radiansPerDegree)
      let q = JetQuaternion.aboutZ(Jet(-.pi / 2)) * .aboutX(nod + 35 * radiansPerDegree) * .aboutY(rock)
      return (q, JetVector(Jet(0.35), Jet(-0.05), Jet(0.3)))
    case .hand:
      let (attitude, position) = arm(gait)
      return (trunk * attitude, trunk.rotate(position))
    case .ear:
      // Upright at the right ear, the face to the head; the head is kept upright.
      let nod = gait.step.sine * gait.envelope * (1.2 * radiansPerDegree)
      let rock = gait.stride.sine * gait.envelope * (2.5 * radiansPerDegree)
      let turn = gait.stride.sine * gait.envelope * (-3 * radiansPerDegree)
      let q = JetQuaternion.aboutZ(turn) * .aboutY(nod) * .aboutX(rock) * Self.mount(0, 0, Self.half, Self.half)
      return (q, JetVector(Jet(0.02), Jet(-0.1), Jet(0.62)))
    case .pocket:
      let (attitude, position) = thigh(gait)
      return (trunk * attitude, trunk.rotate(position))
    case .lumbar:
      // At the small of the back, top edge up, the face to the back.
      return (trunk * Self.mount(0.5, 0.5, -0.5, -0.5), trunk.rotate(Vector3(-0.12, 0, 0.05)))
    }
  }

  /// The right hand in the trunk's frame: upper arm and forearm swing at the stride, the elbow bends more when the arm
  /// is in front. The device lies along the hand, top edge forward, the face to the body.
  private func arm(_ gait: Gait) -> (attitude: JetQuaternion, position: JetVector) {
    // The right arm is in front as the left heel strikes (stride sine -1), or somewhat later. A turn about -y lifts it.
    // The arms follow the legs: their swing builds up later (the square of the envelope).
    let wave =
      (gait.stride.cosine * Elementary.sin(armLag) - gait.stride.sine * Elementary.cos(armLag))
      * (gait.envelope * gait.envelope)
    let upper = (wave * swing + armLean) * -1
    let elbow = (wave * (0.35 * swing) + elbowBend) * -1
    let twist = wave * (6 * radiansPerDegree)
    let shoulder = JetVector(Jet(0), Jet(-0.18), Jet(0.45))
    let upperArm = JetQuaternion.aboutY(upper)
    let foreArm = upperArm * .aboutY(elbow)
    let hand = foreArm * .aboutZ(twist)
    let position =
      shoulder + upperArm.rotate(Vector3(0, 0, -0.48 * armLength)) + foreArm.rotate(Vector3(0, 0, -0.52 * armLength))
    return (hand * Self.mount(0.5, -0.5, -0.5, -0.5), position)
  }

  /// The right front pocket in the trunk's frame: upside down, the face forward, on the thigh.
  private func thigh(_ gait: Gait) -> (attitude: JetQuaternion, position: JetVector) {
    // The thigh is in front after the leg has swung, as its heel strikes (stride sine 1). A turn about -y lifts it.
    let flexion =
      (gait.stride.sine * thighSwing + gait.step.sine * (0.25 * thighSwing)) * gait.envelope
    let leg = JetQuaternion.aboutY(flexion * -1 - 3 * radiansPerDegree)
    let slide = gait.step.sine * gait.envelope * (2 * radiansPerDegree)
    var position = JetVector(Jet(0), Jet(-0.1), Jet(-0.05)) + leg.rotate(Vector3(0.08, -0.02, -0.18))
    // The swinging leg lifts the cloth and the device with it; its own heel strikes harder than the other.
    position.z =
      position.z + gait.lift * gait.envelope * (0.012 * strength * thighSwing / (15 * radiansPerDegree))
      - gait.strike * (gait.stride.sine + 1) * gait.envelope * (0.0012 * strength)
    return (leg * .aboutX(slide) * Self.mount(0.5, -0.5, 0.5, -0.5), position)
  }

  private static let half = 0.5.squareRoot()

  private static func mount(_ w: Double, _ x: Double, _ y: Double, _ z: Double) -> JetQuaternion {
    JetQuaternion(Quaternion(w: w, x: x, y: y, z: z))
  }
}
