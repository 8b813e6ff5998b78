import SensorFusion

// Motion that is not walking: handled at random, swung, or moved to and fro by hand. All of it runs on a time of its
// own that stands still in pauses, so that a pause is a pause of everything.

/// Bursts of motion with rests between them: maps time to the time that has been spent moving.
struct MotionSchedule: Sendable {
  private struct Burst {
    var start: Double
    var length: Double
  }

  /// Start and length of each burst, s.
  private let bursts: [Burst]
  /// Seconds to get going and to come to rest.
  private let rise = 0.7
  let duration: Double

  /// Reads `length`, `hold` and `pauses`; the random numbers place the pauses.
  init(_ settings: inout SimulationSettings, random: inout SimulationRandom) throws(MotionKitError) {
    let length = try settings.number("length", "seconds until the scene ends; 0 goes on", default: 0, in: 0...1e6)
    let hold = try settings.number("hold", "seconds of rest before the motion", default: 4, in: 0...1e6)
    let pauses = try settings.integer(
      "pauses", "pauses of 2 to 4 s (only with a length)", default: 0, in: 0...50)
    guard length > 0 else {
      bursts = [Burst(start: hold, length: .infinity)]
      duration = .infinity
      return
    }
    duration = length
    // One pause in each of equal parts, so that none is empty.
    let part = max(0, length - hold) / Double(pauses + 1)
    var bursts: [Burst] = []
    var start = hold
    for index in 0..<pauses {
      let end = hold + part * (Double(index) + random.uniform(0.7, 1.2))
      bursts.append(Burst(start: start, length: max(0, end - start)))
      start = max(start, end) + rise + random.uniform(2, 4)
    }
    bursts.append(Burst(start: start, length: .infinity))
    self.bursts = bursts
  }

  /// Seconds spent moving.
  func moved(at time: Jet) -> Jet {
    var sum = Jet(0)
    for index in bursts.indices where time.value > bursts[index].start {
      let burst = bursts[index]
      let since = time - burst.start
      sum += since.ramp(over: rise)
      if since.value > burst.length { sum = sum - (since - burst.length).ramp(over: rise) }
    }
    return sum
  }
}

/// A sum of sines with random frequencies and phases: band-limited motion with exact derivatives.
struct BandLimited: Sendable {
  private struct Term {
    var amplitude: Double
    var frequency: Double
    var phase: Double
  }

  private var terms: [Term] = []

  // `band`: lowest and highest frequency, Hz; the power is even over the logarithm of the frequency. `order`: which
  // derivative has the standard deviation `sigma` (0, 1 or 2).
  init(
    band: ClosedRange<Double>, order: Int, sigma: Double, count: Int = 12, random: inout SimulationRandom
  ) {
    let span = Elementary.log(band.upperBound / band.lowerBound)
    let share = sigma * (2 / Double(count)).squareRoot()
    for index in 0..<count {
      // One in each of equal parts of the band.
      let place = (Double(index) + random.uniform()) / Double(count)
      let omega = 2 * Double.pi * band.lowerBound * Elementary.exp(place * span)
      let amplitude = order == 0 ? share : order == 1 ? share / omega : share / (omega * omega)
      terms.append(Term(amplitude: amplitude, frequency: omega, phase: random.uniform(0, 2 * .pi)))
    }
  }

  /// More than the sum can ever be.
  var bound: Double { terms.reduce(0) { $0 + $1.amplitude } }

  /// The sum at a time.
  func callAsFunction(_ time: Jet) -> Jet {
    var sum = Jet(0)
    for index in terms.indices {
      sum += (time * terms[index].frequency + terms[index].phase).sine * terms[index].amplitude
    }
    return sum
  }
}

/// Random handling of a given strength: turned about all axes and moved to and fro, at the end of a lever if wanted.
struct HandlingTrajectory: SimulatedTrajectory {
  private let schedule: MotionSchedule
  private let start: JetQuaternion
  private let angles: [BandLimited]
  private let moves: [BandLimited]
  private let lever: Vector3
  var duration: Double { schedule.duration }

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    let variant = try settings.integer("variant", "which of many random motions", default: 1, in: 0...Int.max)
    var random = SimulationRandom(seed: UInt64(variant), stream: 1000)
    schedule = try MotionSchedule(&settings, random: &random)
    start = JetQuaternion(try readAttitude(&settings))
    let rate =
      try settings.number("rate", "rotation rate, degrees per second rms", default: 60, in: 0...3000) * radiansPerDegree
    let force = try settings.number("force", "acceleration of the hand, m/s² rms", default: 2, in: 0...200)
    let band = try settings.number("band", "highest frequency of the motion, Hz", default: 2, in: 0.2...20)
    let reach = try settings.number("lever", "distance of the device from what turns, m", default: 0.1, in: 0...10)
    lever = random.direction() * reach
    let third = 1 / 3.0.squareRoot()
    angles = (0..<3).map { _ in
      BandLimited(band: min(0.05, band / 4)...band, order: 1, sigma: rate * third, random: &random)
    }
    moves = (0..<3).map { _ in
      BandLimited(band: min(0.5, band / 2)...band, order: 2, sigma: force * third, random: &random)
    }
  }

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    let t = schedule.moved(at: time)
    let q = start * .aboutZ(angles[0](t)) * .aboutY(angles[1](t)) * .aboutX(angles[2](t))
    return (q, JetVector(moves[0](t), moves[1](t), moves[2](t)) + q.rotate(lever))
  }
}

/// Swung to and fro on a stretched arm or a stick, or whirled around: centripetal acceleration that lasts.
struct SwingTrajectory: SimulatedTrajectory {
  private let schedule: MotionSchedule
  private let plane: [BandLimited]
  private let unevenness: BandLimited
  private let tilt: JetQuaternion
  private let grip: JetQuaternion
  private let radius: Double
  /// Rotation rate when whirling, or the largest when swinging, rad/s.
  private let rate: Double
  /// Largest angle when swinging, radians; 0 when whirling.
  private let amplitude: Double
  var duration: Double { schedule.duration }

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    let variant = try settings.integer("variant", "which of many random motions", default: 1, in: 0...Int.max)
    var random = SimulationRandom(seed: UInt64(variant), stream: 1001)
    schedule = try MotionSchedule(&settings, random: &random)
    let force = try settings.number("force", "mean centripetal acceleration, m/s²", default: 30, in: 0...1000)
    radius = try settings.number("radius", "distance of the device from the centre, m", default: 0.8, in: 0.05...20)
    amplitude =
      try settings.number("angle", "largest angle of the swing, degrees; 0 whirls around", default: 70, in: 0...360)
      * radiansPerDegree
    let tilted = try settings.number(
      "tilt", "angle of the axis of rotation from the vertical, degrees", default: 60, in: -180...180)
    // Mean square rate of a sine is half its largest.
    rate = (force / radius * (amplitude > 0 ? 2 : 1)).squareRoot()
    tilt = JetQuaternion.aboutX(Jet(tilted * radiansPerDegree))
    grip = JetQuaternion(try readAttitude(&settings))
    // The plane wanders by some degrees in seconds, as an arm's does; the swing's strength by a tenth.
    plane = (0..<2).map { _ in BandLimited(band: 0.03...0.3, order: 0, sigma: 0.15, count: 6, random: &random) }
    unevenness = BandLimited(band: 0.03...0.2, order: 0, sigma: 0.1, count: 4, random: &random)
  }

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    let t = schedule.moved(at: time)
    let angle: Jet
    if amplitude > 0 {
      angle = (t * (rate / amplitude) + unevenness(t)).sine * amplitude
    } else {
      angle = t * rate + unevenness(t)
    }
    let arm = JetQuaternion.aboutZ(plane[0](t) * 2) * .aboutY(plane[1](t)) * tilt * .aboutZ(angle)
    return (arm * grip, arm.rotate(Vector3(0, radius, 0)))
  }
}

/// Something that hands do over and over, without walking: known not to be steps.
struct GestureTrajectory: SimulatedTrajectory {
  /// What the hand does.
  enum Kind: String, CaseIterable {
    case wave, stir, tap, drum, lift, twist, brush, swing
  }

  private let kind: Kind
  private let schedule: MotionSchedule
  private let frequency: Double
  private let amplitude: Double
  private let turn: Double
  private let unevenness: BandLimited
  private let strength: BandLimited
  private let grip: JetQuaternion
  private let facing: JetQuaternion
  var duration: Double { schedule.duration }

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    let words = Kind.allCases.map(\.rawValue)
    let word = try settings.choice(
      "kind", "what the hand does: " + words.joined(separator: ", "), default: "wave", of: words)
    kind = Kind(rawValue: word) ?? .wave
    let variant = try settings.integer("variant", "which of many random motions", default: 1, in: 0...Int.max)
    var random = SimulationRandom(seed: UInt64(variant), stream: 1002)
    schedule = try MotionSchedule(&settings, random: &random)
    // Usual frequency (Hz), way (m) and angle (degrees) of each.
    let usual: (frequency: Double, amplitude: Double, turn: Double) =
      switch kind {
      case .wave: (1.5, 0.35, 30)
      case .stir: (1.2, 0.08, 5)
      case .tap: (2, 0.0005, 0.2)
      case .drum: (2, 0.01, 3)
      case .lift: (0.5, 0.2, 10)
      case .twist: (1, 0.02, 50)
      case .brush: (4, 0.025, 6)
      case .swing: (0.9, 0.62, 25)
      }
    frequency = try settings.number("frequency", "times a second", default: usual.frequency, in: 0.05...20)
    amplitude = try settings.number(
      "amplitude", "way to either side (wave and swing: length of the arm that turns), m", default: usual.amplitude,
      in: 0...3)
    turn =
      try settings.number("turn", "turn to either side, degrees", default: usual.turn, in: 0...180) * radiansPerDegree
    let uneven = try settings.number(
      "variability", "unevenness of the rhythm and the strength, as a part of them", default: 0.05, in: 0...0.5)
    facing = JetQuaternion.aboutZ(
      Jet(
        try settings.number("heading", "where the person looks, degrees counter-clockwise from north", default: 0)
          * radiansPerDegree))
    grip = JetQuaternion(try readAttitude(&settings))
    // A wandering rhythm: its rate changes by `uneven` of the frequency, from one time to the next and over seconds.
    unevenness = BandLimited(
      band: 0.05...max(0.1, frequency / 2), order: 1, sigma: uneven * 2 * .pi * frequency, count: 6, random: &random)
    strength = BandLimited(
      band: 0.05...max(0.1, frequency / 2), order: 0, sigma: min(0.3, 2 * uneven), count: 6, random: &random)
  }

  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector) {
    let t = schedule.moved(at: time)
    let (sine, cosine) = (t * (2 * .pi * frequency) + unevenness(t)).sineAndCosine
    // How far into the motion: nothing before it begins.
    let size = (strength(t) + 1) * t.step(over: 1.5)
    let angle = sine * size * turn
    let attitude: JetQuaternion
    var place = JetVector.zero
    switch kind {
    case .wave:
      // The forearm, upright, turns at the elbow.
      attitude = .aboutX(angle)
      place = attitude.rotate(Vector3(0, 0, amplitude))
    case .swing:
      attitude = .aboutY(angle)
      place = attitude.rotate(Vector3(0, 0, -amplitude))
    case .stir:
      attitude = .aboutX(angle)
      place = JetVector(sine * size * amplitude, cosine * size * amplitude, Jet(0))
    case .tap:
      // A finger knocks on the device: 12 ms, whatever the rhythm.
      let sigma = 2 * Double.pi * frequency * 0.012
      let knock = ((cosine - 1) * (1 / (sigma * sigma))).exponential * size
      attitude = .aboutY(knock * turn)
      place.z = knock * -amplitude
    case .drum:
      // The hand beats time with the device: down quickly, up slowly.
      let beat = ((cosine - 1) * 2).exponential * size
      attitude = .aboutY(beat * turn)
      place.z = beat * -amplitude
    case .lift:
      attitude = .aboutY(angle)
      place.z = sine * size * amplitude
    case .twist:
      attitude = .aboutX(angle)
      place.y = cosine * size * amplitude
    case .brush:
      attitude = .aboutZ(angle)
      place.y = sine * size * amplitude
    }
    return (facing * attitude * grip, facing.rotate(place))
  }
}
