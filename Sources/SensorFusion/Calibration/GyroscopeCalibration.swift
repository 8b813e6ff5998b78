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

/// The bias of a gyroscope as a function of its temperature, from measurements at rest.
public struct GyroscopeBiasModel: Hashable, Sendable {
  /// The bias at `referenceTemperature`, rad/s, device axes.
  public var bias: Vector3
  /// Change of the bias with temperature, rad/s/°C; zero where the temperatures seen do not tell.
  public var slope: Vector3
  /// Mean temperature of the measurements, °C; NaN where none was measured.
  public var referenceTemperature: Double
  /// The temperatures seen, °C. Beyond them the bias is that of the nearest.
  public var temperatureRange: ClosedRange<Double>?

  /// Least spread of temperatures that gives a slope, °C.
  static let leastSpread = 5.0

  /// A line through the measurements by least squares, weighted by duration; nil for none.
  public init?(_ points: [GyroscopeRest]) {
    let known = points.filter { $0.temperature.isFinite && $0.duration > 0 }
    let used = known.isEmpty ? points.filter { $0.duration > 0 } : known
    let weight = used.reduce(0) { $0 + $1.duration }
    guard weight > 0 else { return nil }
    bias = used.reduce(Vector3.zero) { $0 + $1.bias * ($1.duration / weight) }
    slope = .zero
    referenceTemperature = .nan
    guard let least = known.map(\.temperature).min(), let largest = known.map(\.temperature).max() else { return }
    let mean = known.reduce(0) { $0 + $1.temperature * ($1.duration / weight) }
    referenceTemperature = mean
    temperatureRange = least...largest
    guard largest - least >= Self.leastSpread else { return }
    var square = 0.0
    var product = Vector3.zero
    for point in known {
      let d = point.temperature - mean
      square += point.duration * d * d
      product += (point.bias - bias) * (point.duration * d)
    }
    if square > 0 { slope = product * (1 / square) }
  }

  /// The bias at a temperature in °C, rad/s; that of `referenceTemperature` for NaN.
  public func bias(at temperature: Double) -> Vector3 {
    guard temperature.isFinite, let range = temperatureRange else { return bias }
    return bias + slope * (min(range.upperBound, max(range.lowerBound, temperature)) - referenceTemperature)
  }
}
