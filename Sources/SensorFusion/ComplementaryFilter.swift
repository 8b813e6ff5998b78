/// The attitude filter: gyroscope strapdown corrected by accelerometer and magnetometer.
///
/// Feed time-ordered samples; read `state` after each `update` that returns true. Deterministic: no clock, no
/// allocation per sample, the same samples give the same bits.
public struct ComplementaryFilter: Sendable {
  /// What the filter can be told about the device. All defaults suit a calibrated phone-grade sensor.
  public struct Configuration: Hashable, Sendable {
    /// The earth frame of the output attitude.
    public var referenceFrame: ReferenceFrame = .arbitrary
    /// Full scale of an accelerometer axis, m/s²; infinity where not known.
    public var accelerometerRange: Double = .infinity
    /// Full scale of a gyroscope axis, rad/s; infinity where not known.
    public var gyroscopeRange: Double = .infinity
    /// Whether a gyroscope takes part. Without one, output follows each accelerometer sample.
    public var hasGyroscope = true

    /// The defaults.
    public init() {}
  }

  /// The configuration in use.
  public let configuration: Configuration
  /// The newest output.
  public private(set) var state = MotionState(time: Timestamp(nanoseconds: 0))

  /// A filter before its first sample.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// Takes one sample; returns whether `state` is a new output (each gyroscope sample after alignment; each
  /// accelerometer sample where there is no gyroscope).
  public mutating func update(_ sample: SensorSample) -> Bool {
    false
  }
}
