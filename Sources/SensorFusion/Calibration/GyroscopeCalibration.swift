/// The mean rate of a gyroscope at rest: one point of its bias over temperature.
public struct GyroscopeRest: Hashable, Sendable {
  /// rad/s, device axes.
  public var bias: Vector3
  /// °C; NaN where not measured.
  public var temperature: Double
  /// How long was measured, s.
  public var duration: Double
  /// 1-sigma of single samples, rad/s, the largest axis.
  public var noise: Double

  /// A point from its parts.
  public init(bias: Vector3, temperature: Double, duration: Double, noise: Double) {
    self.bias = bias
    self.temperature = temperature
    self.duration = duration
    self.noise = noise
  }

  /// Largest 1-sigma of a gyroscope that lies still, rad/s.
  static let largestNoise = 1 * Double.pi / 180
  /// Largest difference between the means of the measurement's two halves, rad/s: more is slow turning.
  static let largestDrift = 0.2 * Double.pi / 180

  /// The mean of rates (rad/s) over `duration` seconds. Throws `CalibrationFailure`, `.moved` if the device did.
  public init(rates: [Vector3], duration: Double, temperature: Double = .nan) throws(CalibrationFailure) {
    guard rates.count >= 50 else { throw .tooFew(have: rates.count, need: 50) }
    func mean(_ values: ArraySlice<Vector3>) -> Vector3 {
      values.reduce(Vector3.zero, +) * (1 / Double(values.count))
    }
    let bias = mean(rates[...])
    let half = rates.count / 2
    let drift = mean(rates[half...]) - mean(rates[..<half])
    var variance = Vector3.zero
    for rate in rates {
      let d = rate - bias
      variance += Vector3(d.x * d.x, d.y * d.y, d.z * d.z)
    }
    let noise = (max(variance.x, variance.y, variance.z) / Double(rates.count)).squareRoot()
    guard noise < Self.largestNoise, max(abs(drift.x), abs(drift.y), abs(drift.z)) < Self.largestDrift else {
      throw .moved
    }
    self.init(bias: bias, temperature: temperature, duration: duration, noise: noise)
  }
}

/// How a gyroscope's bias changes with its temperature.
public struct GyroscopeTemperature: Hashable, Sendable {
  /// rad/s/°C, device axes.
  public var slope: Vector3
  /// The temperature at which the calibration's offset holds, °C.
  public var reference: Double
  /// The temperatures at which it was measured, °C. Beyond them the bias is that of the nearest.
  public var range: ClosedRange<Double>

  /// A dependence from its parts.
  public init(slope: Vector3, reference: Double, range: ClosedRange<Double>) {
    self.slope = slope
    self.reference = reference
    self.range = range
  }

  /// Rests that tell a slope, at least: two always lie on a line.
  public static let leastCount = 3
  /// Least spread of their temperatures, °C.
  public static let leastSpread = 5.0
  /// The scatter about the line, as a share of that about one constant bias, that a slope may leave at most.
  static let largestScatter = 0.5
  /// Rests nearer in temperature than this are of one temperature, and the newer one counts, °C; and rests that are kept.
  static let sameTemperature = 1.0
  static let capacity = 32

  /// The slope by least squares, for the newest rest, which is the last: a bias wanders over weeks, its slope hardly does.
  /// Nil where the rests tell none: too few, too near in temperature, or biases that do not follow it.
  public init?(_ rests: [GyroscopeRest]) {
    let known = rests.filter { $0.temperature.isFinite && $0.bias.isFinite }
    guard let newest = known.last, known.count >= Self.leastCount,
      let least = known.map(\.temperature).min(), let largest = known.map(\.temperature).max(),
      largest - least >= Self.leastSpread
    else { return nil }
    let share = 1 / Double(known.count)
    let temperature = known.reduce(0) { $0 + $1.temperature * share }
    let bias = known.reduce(Vector3.zero) { $0 + $1.bias * share }
    var square = 0.0
    var product = Vector3.zero
    for rest in known {
      let d = rest.temperature - temperature
      square += d * d
      product += (rest.bias - bias) * d
    }
    let slope = product * (1 / square)
    var (constant, line) = (0.0, 0.0)
    for rest in known {
      constant += (rest.bias - bias).squaredNorm
      line += (rest.bias - bias - slope * (rest.temperature - temperature)).squaredNorm
    }
    guard line <= Self.largestScatter * Self.largestScatter * constant else { return nil }
    self.init(slope: slope, reference: newest.temperature, range: least...largest)
  }

  /// What the bias has changed by since the calibration's offset was measured, rad/s; nothing for NaN.
  public func change(at temperature: Double) -> Vector3 {
    guard temperature.isFinite else { return .zero }
    return slope * (min(range.upperBound, max(range.lowerBound, temperature)) - reference)
  }

  /// The rests with a newer one: one a degree, so that a cupboard's temperature does not outweigh all others.
  public static func adding(_ rest: GyroscopeRest, to rests: [GyroscopeRest]) -> [GyroscopeRest] {
    guard rest.temperature.isFinite else { return rests }
    let kept = rests.filter { abs($0.temperature - rest.temperature) >= sameTemperature }
    return kept.suffix(capacity - 1) + [rest]
  }
}
