/// Tells stationary, walking and running apart, from released steps and the specific force.
public struct ActivityClassifier: Sendable {
  /// The activity that holds now.
  public private(set) var state = ActivityState(time: Timestamp(nanoseconds: 0), activity: .unknown, confidence: .low)
  /// Whether the accelerometer sees no motion (used by the altimeter's flag).
  public private(set) var isStationary = false

  /// A classifier before its first sample.
  public init() {}

  /// Takes one accelerometer sample (m/s², device axes) after the step counter has; returns whether `state` changed.
  public mutating func update(time: Timestamp, specificForce: Vector3, steps: borrowing StepCounter) -> Bool {
    false
  }
}
