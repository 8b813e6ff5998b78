import SensorFusion

// The simple motions. Angles in settings are degrees, since people type them.

/// An attitude from Core Motion's angles, as in `yaw=90&pitch=30`: q = qz(yaw) qx(pitch) qy(roll).
func readAttitude(_ settings: inout SimulationSettings) throws(MotionKitError) -> Quaternion {
  let yaw = try settings.number("yaw", "the device's turn about the vertical, degrees, counter-clockwise", default: 0)
  let pitch = try settings.number("pitch", "how far its top edge is up, degrees", default: 0)
  let roll = try settings.number("roll", "how far its right edge is down, degrees", default: 0)
  let q =
    JetQuaternion.aboutZ(Jet(yaw * radiansPerDegree)) * .aboutX(Jet(pitch * radiansPerDegree))
    * .aboutY(Jet(roll * radiansPerDegree))
  return q.value
}

/// The device does not move.
struct StillTrajectory: SimulatedTrajectory {
  private let attitude: JetQuaternion
  let duration = Double.infinity

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    attitude = JetQuaternion(try readAttitude(&settings))
  }

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) { (attitude, .zero) }
}

/// Steady turning about one axis, or about three at once.
struct RotateTrajectory: SimulatedTrajectory {
  private let start: JetQuaternion
  /// The rates about the device's z, then y, then x axis, rad/s.
  private let rates: Vector3
  /// Where the sensors are on the turning body, m, device axes.
  private let lever: Vector3
  private let hold: Double
  /// Seconds to reach the full rate.
  private let spinUp = 0.5
  let duration = Double.infinity

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    start = JetQuaternion(try readAttitude(&settings))
    let axis = try settings.choice(
      "axis", "x, y or z of the device, or all to tumble", default: "z", of: ["x", "y", "z", "all"])
    let rate = try settings.vector(
      "rate", "degrees per second; x,y,z for a rate about each axis", default: Vector3(45, 45, 45), in: -20_000...20_000
    )
    let unit =
      switch axis {
      case "x": Vector3(1, 0, 0)
      case "y": Vector3(0, 1, 0)
      case "z": Vector3(0, 0, 1)
      // Ratios that do not repeat soon, so that the tumble visits every attitude.
      default: Vector3(1, 0.618, 0.382)
      }
    // Three numbers speak for themselves.
    let isPerAxis = !(rate.x == rate.y && rate.y == rate.z)
    rates =
      (isPerAxis ? rate : Vector3(unit.x * rate.x, unit.y * rate.y, unit.z * rate.z)) * radiansPerDegree
    hold = try settings.number("hold", "seconds of rest before the turn", default: 2, in: 0...1e6)
    lever = try settings.vector(
      "lever", "place of the sensors on the turning body, m, x,y,z", default: .zero, in: -100...100)
  }

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    let turned = (time - hold).ramp(over: spinUp)
    let q =
      start * .aboutZ(turned * rates.z) * .aboutY(turned * rates.y) * .aboutX(turned * rates.x)
    return (q, q.rotate(lever))
  }
}

/// A ride in a lift, the device lying on its floor.
struct ElevatorTrajectory: SimulatedTrajectory {
  private let attitude: JetQuaternion
  private let height: Double
  private let wait: Double
  /// Seconds from the start of the ride until the speed begins to fall.
  private let travel: Double
  /// Seconds to reach the full speed.
  private let rise: Double
  private let pulse: Double
  let duration: Double

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    attitude = JetQuaternion(try readAttitude(&settings))
    height = try settings.number("height", "how far up, m; negative goes down", default: 3, in: -1000...1000)
    let speed = try settings.number("speed", "full speed, m/s", default: 1, in: 0.05...20)
    let acceleration = try settings.number("acceleration", "largest acceleration, m/s²", default: 0.9, in: 0.05...10)
    wait = try settings.number("wait", "seconds of rest before and after the ride", default: 5, in: 0...1e6)
    pulse = try settings.number(
      "door", "pressure pulse when a door opens or closes, kPa (0.02 is usual)", default: 0, in: -1...1)
    // `step` is steepest in its middle, 15/8 of its mean.
    rise = 1.875 * speed / acceleration
    travel = abs(height) / speed
    duration = wait + travel + rise + wait
  }

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    guard travel > 0 else { return (attitude, .zero) }
    let ride = time - wait
    let way = (ride.ramp(over: rise) - (ride - travel).ramp(over: rise)) * (1 / travel)
    return (attitude, JetVector(Jet(0), Jet(0), way * height))
  }

  func pressurePulse(at seconds: Double) -> Double {
    guard pulse != 0 else { return 0 }
    // A second before the ride and a second after it.
    return pulse * (Self.bump(seconds - wait + 1) - Self.bump(seconds - wait - travel - rise - 1))
  }

  /// 1 at 0, smooth, 0.4 s wide: what a door does to the air in a shaft.
  private static func bump(_ seconds: Double) -> Double {
    let width = 0.4
    guard abs(seconds) < width else { return 0 }
    return 0.5 + 0.5 * Elementary.cos(.pi * seconds / width)
  }
}

/// A car on a figure of eight: turns both ways, stops and starts, road vibration.
struct DriveTrajectory: SimulatedTrajectory {
  private let mount: JetQuaternion
  private let roughness: Double
  private let bounce: BandLimited
  private let hop: BandLimited
  private let pitch: BandLimited
  private let roll: BandLimited
  /// Half the length of the figure of eight, m.
  private let extent: Double
  /// Path angle driven between two stops, radians.
  private let perLeg: Double
  private let legSeconds: Double
  private let stopSeconds = 8.0
  /// Seconds to reach the full speed.
  private let rise = 8.0
  let duration = Double.infinity

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    mount = JetQuaternion(try readAttitude(&settings))
    let speed =
      try settings.number("speed", "mean speed between stops, km/h", default: 36, in: 1...200) / 3.6
    roughness = try settings.number("roughness", "strength of the road's vibration, 1 is usual", default: 1, in: 0...10)
    extent = try settings.number("size", "half the length of the figure of eight, m", default: 100, in: 10...10_000)
    let variant = try settings.integer("variant", "which of many roads", default: 1, in: 0...Int.max)
    var random = SimulationRandom(seed: UInt64(variant), stream: 1004)
    // Accelerations of a bus on a good road: a body that resonates at 1 to 1.6 Hz, wheels at 8 to 13 Hz.
    bounce = BandLimited(band: 1...1.6, order: 2, sigma: 0.25, count: 8, random: &random)
    hop = BandLimited(band: 8...13, order: 2, sigma: 0.35, count: 8, random: &random)
    pitch = BandLimited(band: 0.5...2, order: 0, sigma: 0.003, count: 6, random: &random)
    roll = BandLimited(band: 0.5...2, order: 0, sigma: 0.004, count: 6, random: &random)
    let leg = try settings.number("leg", "seconds of driving between two stops", default: 45, in: 10...1e6)
    legSeconds = leg + rise
    // The mean of |dp/du| of the curve below is 0.9704 `extent` (by quadrature).
    perLeg = speed / (0.9704 * extent) * leg
  }

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    let cycle = legSeconds + stopSeconds
    let count = max(0, (time.value / cycle).rounded(.down))
    let local = time - (count * cycle + stopSeconds)
    let pulled = local.ramp(over: rise) - (local - (legSeconds - rise)).ramp(over: rise)
    let speed = local.step(over: rise) - (local - (legSeconds - rise)).step(over: rise)
    let u = pulled * (perLeg / (legSeconds - rise)) + count * perLeg
    let (sinU, cosU) = u.sineAndCosine
    let (sin2U, cos2U) = (u * 2).sineAndCosine
    let heading = Jet.angle(y: cos2U, x: cosU)
    let vibration = vibration(at: time, strength: (speed * 0.9 + 0.1) * roughness)
    let q =
      JetQuaternion.aboutZ(heading) * .aboutY(vibration.pitch) * .aboutX(vibration.roll) * mount
    return (q, JetVector(sinU * extent, sin2U * (extent / 2), vibration.height))
  }

  /// Body bounce around 1.3 Hz, wheel hop and road vibration around 10 Hz, in proportion to the speed; a tenth of it when
  /// the engine idles.
  private func vibration(at time: Jet, strength: Jet) -> (height: Jet, pitch: Jet, roll: Jet) {
    let height = (bounce(time) + hop(time)) * strength
    return (height, pitch(time) * strength, roll(time) * strength)
  }
}

/// Bursts of shaking along the device's x axis, as one shakes a phone to undo.
struct ShakeTrajectory: SimulatedTrajectory {
  private let attitude: JetQuaternion
  private let frequency: Double
  private let amplitude: Double
  private let burst: Double
  private let pause: Double
  let duration = Double.infinity

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    attitude = JetQuaternion(try readAttitude(&settings))
    frequency = try settings.number("frequency", "shakes to and fro per second", default: 4.5, in: 0.1...30)
    amplitude = try settings.number("amplitude", "peak acceleration, m/s²", default: 18, in: 0...500)
    burst = try settings.number("burst", "seconds of shaking", default: 2, in: 0.5...1e6)
    pause = try settings.number("pause", "seconds of rest before each burst", default: 4, in: 0...1e6)
  }

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    let cycle = burst + pause
    let local = time - ((time.value / cycle).rounded(.down) * cycle + pause)
    let rise = 0.25
    let strength = local.step(over: rise) * (Jet(1) - (local - (burst - rise)).step(over: rise))
    let omega = 2 * Double.pi * frequency
    let swing = (time * omega).sine * strength
    // The wrist turns with the shake by up to 0.3 rad at the default frequency.
    let q = attitude * .aboutZ(swing * (0.3 * 4.5 / max(4.5, frequency)))
    return (q, attitude.rotate(JetVector(swing * (amplitude / (omega * omega)), Jet(0), Jet(0))))
  }
}
