import Foundation
import MotionKitLinux
import SensorFusion

/// What the carrier of the device is doing, now and in the past.
open class CMMotionActivityManager: NSObject {
  private let manager = MotionActivityManager()

  /// A manager of the process's source.
  public override init() { super.init() }

  /// Whether there is an accelerometer.
  open class func isActivityAvailable() -> Bool { MotionActivityManager().isActivityAvailable }
  /// Whether this process may use the sensors.
  open class func authorizationStatus() -> CMAuthorizationStatus { .current }

  /// Calls the handler with the present activity and then at each change; replaces a running service's handler.
  /// Core Motion has no way to report an error here; `isActivityAvailable()` tells beforehand.
  open func startActivityUpdates(to queue: OperationQueue, withHandler handler: @escaping CMMotionActivityHandler) {
    let handler = Unchecked(handler)
    let source = manager.source
    manager.startActivityUpdates(on: .operations(of: queue)) { result in
      guard let state = try? result.get() else { return }
      handler.value(CMMotionActivity(state, startDate: Date(utcNanoseconds: source.utcNanoseconds(at: state.time))))
    }
  }

  /// Stops live activities; queries go on.
  open func stopActivityUpdates() { manager.stopActivityUpdates() }

  /// Asks for the activities of a past time, at most seven days back, in order; the first may have begun before it.
  /// The handler is called exactly once.
  open func queryActivityStarting(
    from start: Date, to end: Date, to queue: OperationQueue,
    withHandler handler: @escaping CMMotionActivityQueryHandler
  ) {
    let handler = Unchecked(handler)
    let history = MotionHistories.current
    let isAvailable = history != nil || manager.isActivityAvailable
    queue.addOperation {
      do {
        handler.value(try Self.query(history, from: start, to: end, isAvailable: isAvailable), nil)
      } catch {
        handler.value(nil, error)
      }
    }
  }

  private static func query(
    _ history: (any MotionHistory)?, from start: Date, to end: Date, isAvailable: Bool
  ) throws -> [CMMotionActivity] {
    guard start <= end else {
      throw CMErrorInvalidParameter.error("the query's end (\(end)) is before its start (\(start))")
    }
    guard isAvailable else {
      throw CMErrorMotionActivityNotAvailable.error(
        "there is no accelerometer to tell activities from and no history of them")
    }
    let records: [ActivityRecord]
    do {
      records = try history?.activities(from: start.utcNanoseconds, to: end.utcNanoseconds) ?? []
    } catch {
      throw error.coreMotionError
    }
    guard !records.isEmpty else {
      throw CMErrorUnknown.error("no activity is known between \(start) and \(end)")
    }
    return records.map { CMMotionActivity($0.state, startDate: Date(utcNanoseconds: $0.utcNanoseconds)) }
  }
}

/// An activity: several flags may hold at once; none means moving in a way that is not recognised.
open class CMMotionActivity: CMLogItem {
  private let activity: Activity
  private let storedConfidence: CMMotionActivityConfidence
  private let storedStart: Date

  /// An unknown activity, for subclasses that override the getters.
  public override init() {
    activity = .unknown
    storedConfidence = .low
    storedStart = Date()
    super.init()
  }

  init(_ state: ActivityState, startDate: Date) {
    activity = state.activity
    storedConfidence =
      switch state.confidence {
      case .low: .low
      case .medium: .medium
      case .high: .high
      }
    storedStart = startDate
    super.init(timestamp: state.timestamp)
  }

  /// Reads an archived activity.
  public required init?(coder: NSCoder) {
    activity = Activity(rawValue: UInt8(clamping: coder.decodeInteger(forKey: "activity"))) ?? .unknown
    storedConfidence = CMMotionActivityConfidence(rawValue: coder.decodeInteger(forKey: "confidence")) ?? .low
    storedStart = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "startDate"))
    super.init(coder: coder)
  }

  /// Archives the activity.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(Int(activity.rawValue), forKey: "activity")
    coder.encode(confidence.rawValue, forKey: "confidence")
    coder.encode(startDate.timeIntervalSinceReferenceDate, forKey: "startDate")
  }

  /// How sure it is.
  open var confidence: CMMotionActivityConfidence { storedConfidence }
  /// When it began.
  open var startDate: Date { storedStart }
  /// Whether there is no estimate.
  open var unknown: Bool { activity == .unknown }
  /// Whether the device does not move.
  open var stationary: Bool { activity == .stationary }
  /// Whether the carrier walks.
  open var walking: Bool { activity == .walking }
  /// Whether the carrier runs.
  open var running: Bool { activity == .running }
  /// Whether the carrier is in a vehicle; never on Linux.
  open var automotive: Bool { activity == .automotive }
  /// Whether the carrier is on a bicycle; never on Linux.
  open var cycling: Bool { activity == .cycling }
}
