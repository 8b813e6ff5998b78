import SensorFusion

/// What a few seconds of one sensor's samples say of it.
public struct SensorMeasurement: Hashable, Sendable {
  /// The sensor as it was started.
  public var sensor: SensorDescription
  /// The rate that was asked for, samples per second; 0 for the device's own.
  public var wantedRate: Double
  /// The true rate, jitter and gaps, from the time stamps.
  public private(set) var timing = StreamStatistics()
  /// Samples found missing by their time stamps.
  public var missing: Int64 = 0
  /// The mean of all samples, unit of the kind.
  public private(set) var mean = Vector3(0, 0, 0)
  /// The mean length of the vector; for a barometer of the pressure.
  public private(set) var meanMagnitude = 0.0
  /// Samples at the end of the range.
  public private(set) var clipped: Int64 = 0

  private var squares = Vector3(0, 0, 0)
  private var finite = 0.0

  init(_ sensor: SensorDescription, wantedRate: Double) {
    self.sensor = sensor
    self.wantedRate = wantedRate
  }

  /// Samples that came.
  public var count: Int64 { timing.count }

  /// Standard deviation of each value, unit of the kind.
  public var deviation: Vector3 {
    guard finite > 1 else { return Vector3(0, 0, 0) }
    let n = finite - 1
    return Vector3((squares.x / n).squareRoot(), (squares.y / n).squareRoot(), (squares.z / n).squareRoot())
  }

  /// How a person is told which sensor is meant.
  public var title: String {
    let id = sensor.attributes.first { $0.name == "device" }?.value ?? ""
    return "\(sensor.kind) \(sensor.name)\(id.isEmpty ? "" : " (\(id))")"
  }

  /// Takes one sample.
  mutating func add(_ sample: SensorSample) {
    timing.add(sample.time)
    let isBarometer = sample.kind == .barometer
    // A temperature that is not measured is NaN.
    let y = isBarometer && sample.y.isNaN ? 0 : Double(sample.y)
    let value = Vector3(Double(sample.x), y, isBarometer ? 0 : Double(sample.z))
    guard value.isFinite else { return }
    finite += 1
    let step = value - mean
    mean = mean + step * (1 / finite)
    let rest = value - mean
    squares = squares + Vector3(step.x * rest.x, step.y * rest.y, step.z * rest.z)
    let magnitude = isBarometer ? value.x : value.norm
    meanMagnitude += (magnitude - meanMagnitude) / finite
    // One count below the full scale is the largest positive value of two's complement.
    let limit = sensor.range - 1.01 * sensor.resolution
    if !isBarometer, max(abs(value.x), abs(value.y), abs(value.z)) >= limit { clipped += 1 }
  }
}
