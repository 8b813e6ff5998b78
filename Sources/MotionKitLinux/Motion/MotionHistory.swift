import Glibc
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
  private static let usersOwn = Locked<StepHistory?>(nil)

  /// The history for queries made in this task; nil means the process's.
  @TaskLocal public static var override: (any MotionHistory)?

  /// Where this task looks for the user's step history; nil for `StepHistory.defaultPath`. A test that must not find the
  /// history of whoever runs it names another place.
  @TaskLocal package static var path: String?

  /// Sets the history for queries; nil goes back to the default.
  public static func setDefault(_ history: (any MotionHistory)?) { chosen.withLock { $0 = history } }

  /// The history in use: the task's `override`, else the one of `setDefault`, else the user's step history
  /// (`StepHistory.defaultPath`) if it has begun; nil where there is none or it cannot be read.
  public static var current: (any MotionHistory)? { try? opened() }

  /// The same; throws for one that has begun and cannot be read, which is not the same as none: what it holds was walked.
  package static func opened() throws(MotionKitError) -> (any MotionHistory)? {
    if let history = override ?? chosen.withLock({ $0 }) { return history }
    if path == nil, StepHistory.isSwitchedOff { return nil }
    guard access(path ?? StepHistory.defaultPath, F_OK) == 0 else { return nil }
    return try forWriting()
  }

  /// The user's step history, begun if it is not there.
  static func forWriting() throws(MotionKitError) -> StepHistory {
    let path = path ?? StepHistory.defaultPath
    return try usersOwn.withLock { (known) throws(MotionKitError) in
      if let known, known.path == path { return known }
      let history = try StepHistory(path: path)
      known = history
      return history
    }
  }

  /// The history in use; throws where there is none, saying how one comes about, or where it cannot be read.
  static func required() throws(MotionKitError) -> any MotionHistory {
    if let history = try opened() { return history }
    if path == nil, StepHistory.isSwitchedOff {
      throw .notFound(what: "a step history", hint: "MOTIONKIT_HISTORY=none switches it off; set it to a file")
    }
    throw .notFound(
      what: "a step history at \(StepHistory.defaultPath)",
      hint: "it begins when steps are first counted on a device; MOTIONKIT_HISTORY names another file")
  }
}

extension Pedometer {
  /// The totals of a past time, at most seven days back, from the step history.
  ///
  /// - Parameters:
  ///   - start: UTC, nanoseconds since 1970-01-01.
  ///   - end: The same; what is walked at the end itself does not count.
  /// - Returns: The totals; 0 steps where nothing is known.
  /// - Throws: `MotionKitError` where there is no history or it cannot be read.
  public func query(from start: Int64, to end: Int64) throws(MotionKitError) -> PedometerTotals {
    try MotionHistories.required().pedometerTotals(from: start, to: end)
  }
}

extension MotionActivityManager {
  /// The activities of a past time, at most seven days back, in order; the first may have begun before it.
  ///
  /// - Parameters:
  ///   - start: UTC, nanoseconds since 1970-01-01.
  ///   - end: The same.
  /// - Returns: The activities; none where nothing is known.
  /// - Throws: `MotionKitError` where there is no history or it cannot be read.
  public func query(from start: Int64, to end: Int64) throws(MotionKitError) -> [ActivityRecord] {
    try MotionHistories.required().activitiesUpToNow(from: start, to: end)
  }
}

extension MotionHistory {
  /// A session that runs shows signs of life at least so often, nanoseconds.
  private static var lease: Int64 { 5_000_000_000 }

  /// The activities of a time; where it ends now, a session that still runs is not taken for one that has just ended
  /// because its newest rows are not written yet.
  package func activitiesUpToNow(
    from start: Int64, to end: Int64, now: Int64 = ClockAnchor.current.utcNanoseconds
  ) throws(MotionKitError) -> [ActivityRecord] {
    var records = try activities(from: start, to: end)
    if records.count > 1, let last = records.last, last.state.activity == .unknown {
      let (limit, overflow) = now.subtractingReportingOverflow(Self.lease)
      if !overflow, last.utcNanoseconds > limit { records.removeLast() }
    }
    return records
  }
}
