/// Counts steps from the specific force, with the help of the attitude filter where there is a gyroscope.
public struct StepCounter: Sendable {
  /// What the counter can be told.
  public struct Configuration: Hashable, Sendable {
    /// Fewer false steps on hand motion at the price of some real ones (arm swing).
    public var isStrict = false

    /// The defaults.
    public init() {}
  }

  /// The configuration in use.
  public let configuration: Configuration
  /// The steps released by the newest `update`, oldest first.
  public private(set) var newSteps: [Step] = []
  /// All steps released since the start.
  public private(set) var count: Int64 = 0

  /// A counter before its first sample.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// Takes one accelerometer sample (m/s², device axes) with the newest output of the attitude filter, nil without a
  /// gyroscope; returns whether `newSteps` holds anything.
  public mutating func update(time: Timestamp, specificForce: Vector3, motion: MotionState?) -> Bool {
    false
  }
}
