/// Smooths the height that a barometer gives.
///
/// At rest and on level ground: the median of 1.4 s, which a door's pulse of pressure does not pass, then a
/// low-pass of seconds. Once the height moves faster than air pressure does by itself: a short median and a quick
/// low-pass with a velocity, so that a climb is followed half a second behind. The weight between the two is a smooth
/// function of the speed, so nothing switches. A noisy barometer gets longer times by itself.
struct HeightFilter: Sendable {
  /// The smoothed height, m.
  private(set) var level = 0.0
  /// Vertical speed, m/s: calm at rest, quick while the height moves.
  private(set) var speed = 0.0
  /// Vertical speed, m/s: calm always, for telling climbs from the weather.
  private(set) var climbSpeed = 0.0

  /// Medians: time span, s, and the least number of samples, for slow barometers.
  private var long = TimedMedian(span: 1.4, least: 5)
  private var short = TimedMedian(span: 0.4, least: 4)
  /// Time constants of the level at rest and in motion, s: the least, for a quiet barometer.
  private static let restTime = 2.5
  private static let restTimeLongest = 6.0
  private static let motionTime = 0.3
  /// Noise aimed at at rest, m: a noisier barometer is averaged longer, up to the longest time.
  private static let restNoise = 0.3
  /// In motion the best time constant grows with the fourth root of the noise density (a Kalman filter of position
  /// and velocity has 1/omega = (R/q)^(1/4)); this is q^(-1/4) for people and elevators, in s^(3/4) m^(-1/2).
  private static let motionScale = 2.0
  /// The velocity that goes with the quick low-pass settles this much slower than it.
  private static let velocityTime = 1.5
  /// Time constants of the speed that decides between rest and motion, and of the calm speed, s.
  private static let quickTime = 2.0
  private static let quickScale = 1.5
  private static let calmTime = 2.5
  /// The speed at which motion weighs half, m/s: above what weather, doors and walking about give (0.1), below a
  /// climber's (0.25 and more); and in units of the speed's own noise.
  private static let motionSpeed = 0.25
  private static let motionSpeedSigmas = 2.0
  /// How far the short median may be ahead of the long one: seconds of the climb, metres, and deviations of a median.
  private static let medianLag = 0.65
  private static let stillAhead = 0.05
  private static let aheadSigmas = 3.0
  /// Time over which the noise is learnt, s.
  private static let noiseTime = 10.0
  /// The longest time between two samples that the filter believes, s.
  private static let longestStep = 2.0

  /// Standard deviation of a sample, m, the mean time between samples, s, and the samples it was learnt from.
  private var sigma = 0.0
  private var interval = 0.0
  private var samples = 0
  /// Samples since the start or the last restart.
  private var fresh = 0
  private var lastTime = Timestamp(nanoseconds: 0)
  private var lastHeight = 0.0
  /// Velocity of the quick low-pass, m/s.
  private var velocity = 0.0
  /// The lagging heights behind the two speeds, m.
  private var quickLag = 0.0
  private var calmLag = 0.0

  /// Forgets the level, but not how noisy the sensor is.
  mutating func restart() {
    fresh = 0
    long.removeAll()
    short.removeAll()
  }

  /// Takes the height of one sample, m.
  mutating func update(time: Timestamp, height: Double) {
    let rest = long.add(time: time, value: height)
    let moved = short.add(time: time, value: height)
    fresh += 1
    let dt = min(Self.longestStep, time.seconds(since: lastTime))
    lastTime = time
    defer { lastHeight = height }
    if fresh > 1 { learn(difference: abs(height - lastHeight), dt) }
    guard fresh > 3 else {
      level = rest
      velocity = 0
      quickLag = rest
      calmLag = rest
      speed = 0
      climbSpeed = 0
      return
    }

    let density = sigma * sigma * interval
    let restTime = min(
      Self.restTimeLongest, max(Self.restTime, density / (2 * Self.restNoise * Self.restNoise)))
    let motionTime = max(Self.motionTime, Self.motionScale * density.squareRoot().squareRoot())

    // How sure is it that the height moves?
    let quickTime = max(Self.quickTime, Self.quickScale * motionTime)
    quickLag += gain(dt, quickTime) * (rest - quickLag)
    // The median of n samples has about the deviation of the mean of n / 1.6.
    let medianSigma = sigma / max(1, Double(long.count) / 1.6).squareRoot()
    let half = max(Self.motionSpeed, Self.motionSpeedSigmas * medianSigma / quickTime)
    let ratio = (rest - quickLag) / (quickTime * half)
    let power = ratio * ratio * ratio * ratio * ratio * ratio
    let motion = power / (1 + power)

    // A single pole at rest, a critically damped pair with velocity in motion.
    let time = 1 / ((1 - motion) / restTime + motion / motionTime)
    let single = max(gain(dt, time), (1 - motion) / Double(fresh))
    let keep = 1 - gain(dt, Self.velocityTime * time)
    level += motion * velocity * dt
    // The short median may be ahead of the long one by what was climbed between their middles, and by noise. More is a
    // door that was opened or shut during the ride.
    let ahead = Self.medianLag * abs(velocity) + Self.stillAhead + Self.aheadSigmas * medianSigma
    let error = rest + motion * max(-ahead, min(ahead, moved - rest)) - level
    level += (single + motion * (1 - keep * keep - single)) * error
    velocity += (1 - keep) * (1 - keep) / dt * error
    velocity *= 1 - (1 - motion) * gain(dt, time)

    calmLag += gain(dt, Self.calmTime) * (rest - calmLag)
    climbSpeed = (rest - calmLag) / Self.calmTime
    speed = climbSpeed + motion * (velocity - climbSpeed)
  }

  /// Learns the noise from the difference between two samples in a row; outliers count only a little.
  private mutating func learn(difference: Double, _ dt: Double) {
    samples += 1
    let share = max(1 / Double(samples), gain(dt, Self.noiseTime))
    interval += share * (dt - interval)
    // E|a - b| = 2 sigma / sqrt(pi)
    sigma += share * (min(0.886 * difference, 5 * sigma + 0.3) - sigma)
  }

  private func gain(_ dt: Double, _ time: Double) -> Double { 1 - Elementary.exp(-dt / time) }
}

/// The median of the newest values over a time span, at least of the last three.
struct TimedMedian: Sendable {
  private static let capacity = 128
  private let span: Int64
  private let least: Int
  private var values = [Double](repeating: 0, count: capacity)
  private var times = [Int64](repeating: 0, count: capacity)
  private var sorted = [Double](repeating: 0, count: capacity)
  private var first = 0
  private(set) var count = 0

  init(span: Double, least: Int) {
    self.span = Int64(span * 1e9)
    self.least = least
  }

  mutating func removeAll() {
    first = 0
    count = 0
  }

  /// Adds a value and returns the median.
  mutating func add(time: Timestamp, value: Double) -> Double {
    let now = time.nanoseconds
    while count == Self.capacity
      || count >= least && now.subtractingReportingOverflow(times[first]).partialValue >= span
    {
      remove(values[first])
      first = (first + 1) % Self.capacity
    }
    let slot = (first + count) % Self.capacity
    values[slot] = value
    times[slot] = now
    var i = count
    while i > 0, sorted[i - 1] > value {
      sorted[i] = sorted[i - 1]
      i -= 1
    }
    sorted[i] = value
    count += 1
    return count % 2 == 1 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2])
  }

  private mutating func remove(_ value: Double) {
    var i = 0
    while i < count - 1, sorted[i] != value { i += 1 }
    while i < count - 1 {
      sorted[i] = sorted[i + 1]
      i += 1
    }
    count -= 1
  }
}
