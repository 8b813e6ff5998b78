/// Relative altitude, vertical speed, ascent and descent from air pressure.
public struct PressureAltimeter: Sendable {
  /// What the altimeter can be told.
  public struct Configuration: Hashable, Sendable {
    /// The defaults.
    public init() {}
  }

  /// The configuration in use.
  public let configuration: Configuration
  /// The newest output.
  public private(set) var state = AltitudeState(time: Timestamp(nanoseconds: 0), pressure: 0)

  /// An altimeter before its first sample.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// Takes one barometer sample (kPa; °C or NaN); `isStationary` says whether the accelerometer sees no motion.
  /// Returns whether `state` is a new output; implausible pressures are skipped.
  public mutating func update(
    time: Timestamp, pressure: Double, temperature: Double, isStationary: Bool
  ) -> Bool {
    false
  }
}
