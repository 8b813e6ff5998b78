import SensorFusion

/// Steps, floors and activities of the past, on the wall clock. What `CMPedometer` and `CMMotionActivityManager`
/// queries answer from.
public protocol MotionHistory: Sendable {
  /// The totals of a time; an empty one has 0 steps. Times are UTC, nanoseconds since 1970-01-01.
  func pedometerTotals(from start: Int64, to end: Int64) throws(MotionKitError) -> PedometerTotals

  /// The activities of a time in order, the first of which may have begun before it.
  func activities(from start: Int64, to end: Int64) throws(MotionKitError) -> [ActivityRecord]
}

/// Steps and what follows from them, over a time of the past. nil is "not known", never 0.
public struct PedometerTotals: Hashable, Sendable {
  /// Steps.
  public var numberOfSteps = 0
  /// Metres walked, an estimate.
  public var distance: Double?
  /// Floors climbed on foot.
  public var floorsAscended: Int?
  /// Floors descended on foot.
  public var floorsDescended: Int?
  /// Seconds spent walking.
  public var activeSeconds = 0.0

  /// Nothing.
  public init() {}

  /// Seconds a metre over the time spent walking; nil without a distance.
  public var averageActivePace: Double? {
    guard let distance, distance > 0, activeSeconds > 0 else { return nil }
    return activeSeconds / distance
  }
}

/// A past activity: from its start to the next record's.
public struct ActivityRecord: Hashable, Sendable {
  /// UTC, nanoseconds since 1970-01-01.
  public var utcNanoseconds: Int64
  /// The activity and how sure it is.
  public var state: ActivityState

  /// A record from its parts.
  public init(utcNanoseconds: Int64, state: ActivityState) {
    self.utcNanoseconds = utcNanoseconds
    self.state = state
  }
}

/// The history that queries in this process answer from.
public enum MotionHistories {
  private static let chosen = Locked<(any MotionHistory)?>(nil)

  /// Sets the history; nil goes back to the default.
  public static func setDefault(_ history: (any MotionHistory)?) { chosen.withLock { $0 = history } }

  /// The history in use; nil where there is none.
  public static var current: (any MotionHistory)? { chosen.withLock { $0 } }
}
