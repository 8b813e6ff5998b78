import Foundation
import MotionKitLinux
import SensorFusion

/// What the carrier of the device is doing, now and in the past.
open class CMMotionActivityManager: NSObject {
  private let manager = MotionActivityManager()

  /// A manager of the process's source.
  public override init() { super.init() }

  /// The manager underneath, with what Core Motion does not tell (`error`, `statistics`); not in Apple's framework.
  public var underlying: MotionActivityManager { manager }

  /// Whether there is an accelerometer.
  open class func isActivityAvailable() -> Bool { MotionActivityManager().isActivityAvailable }
  /// Whether this process may use the sensors.
  open class func authorizationStatus() -> CMAuthorizationStatus { .current }

  /// Calls the handler with the present activity and then at each change; replaces a running service's handler.
  /// The present activity comes at once where another manager knows it already, else it is unknown at first.
  /// Core Motion has no way to report an error here, so without an accelerometer, and at the end of a recording, the
  /// handler is simply not called; `isActivityAvailable()` tells beforehand and `underlying.error` afterwards.
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
    let history = Result { try MotionHistories.opened() }
    let isAvailable = manager.isActivityAvailable
    queue.addOperation {
      do {
        handler.value(try Self.query(history, from: start, to: end, isAvailable: isAvailable), nil)
      } catch {
        handler.value(nil, error)
      }
    }
  }

  private static func query(
    _ history: Result<(any MotionHistory)?, any Error>, from start: Date, to end: Date, isAvailable: Bool
  ) throws -> [CMMotionActivity] {
    guard start <= end else {
      throw CMErrorInvalidParameter.error("the query's end (\(end)) is before its start (\(start))")
    }
    let records: [ActivityRecord]?
    do {
      records = try history.get()?.activitiesUpToNow(from: start.utcNanoseconds, to: end.utcNanoseconds)
    } catch {
      throw error.asCoreMotion
    }
    guard let records = records ?? (isAvailable ? [] : nil) else {
      throw CMErrorMotionActivityNotAvailable.error(
        "there is no accelerometer to tell activities from and no history of them")
    }
    guard !records.isEmpty else {
      throw CMErrorUnknown.error("no activity is known between \(start) and \(end)")
    }
    return records.map { CMMotionActivity(record: $0) }
  }
}

/// An activity: several flags may hold at once; none means moving in a way that is not recognised.
open class CMMotionActivity: CMLogItem {
  private let flags: Flags
  private let storedConfidence: CMMotionActivityConfidence
  private let storedStart: Date

  /// An unknown activity, for subclasses that override the getters.
  public override init() {
    flags = .unknown
    storedConfidence = .low
    storedStart = Date()
    super.init()
  }

  /// An activity from its parts, for tests: any flags (on a phone a car at a light is automotive and stationary); none is
  /// motion that is not recognised. Not in Apple's framework.
  public init(
    timestamp: TimeInterval, startDate: Date, confidence: CMMotionActivityConfidence, unknown: Bool = false,
    stationary: Bool = false, walking: Bool = false, running: Bool = false, automotive: Bool = false,
    cycling: Bool = false
  ) {
    var flags: Flags = []
    if unknown { flags.insert(.unknown) }
    if stationary { flags.insert(.stationary) }
    if walking { flags.insert(.walking) }
    if running { flags.insert(.running) }
    if automotive { flags.insert(.automotive) }
    if cycling { flags.insert(.cycling) }
    self.flags = flags
    storedConfidence = confidence
    storedStart = startDate
    super.init(timestamp: timestamp)
  }

  convenience init(_ state: ActivityState, startDate: Date) {
    self.init(state, at: state.timestamp, startDate: startDate)
  }

  /// A past activity: its `timestamp` is the instant at which it began, on the boot clock of now (negative for what began
  /// before this machine was started).
  convenience init(record: ActivityRecord) {
    let now = ClockAnchor.current
    let since = Double(now.utcNanoseconds - record.utcNanoseconds) / 1e9
    self.init(
      record.state, at: now.time.seconds - since, startDate: Date(utcNanoseconds: record.utcNanoseconds))
  }

  private convenience init(_ state: ActivityState, at timestamp: TimeInterval, startDate: Date) {
    let confidence: CMMotionActivityConfidence =
      switch state.confidence {
      case .low: .low
      case .medium: .medium
      case .high: .high
      }
    let activity = state.activity
    self.init(
      timestamp: timestamp, startDate: startDate, confidence: confidence, unknown: activity == .unknown,
      stationary: activity == .stationary, walking: activity == .walking, running: activity == .running,
      automotive: activity == .automotive, cycling: activity == .cycling)
  }

  private struct Flags: OptionSet {
    let rawValue: Int
    static let unknown = Flags(rawValue: 1)
    static let stationary = Flags(rawValue: 2)
    static let walking = Flags(rawValue: 4)
    static let running = Flags(rawValue: 8)
    static let automotive = Flags(rawValue: 16)
    static let cycling = Flags(rawValue: 32)
  }

  /// Reads an archived activity.
  public required init?(coder: NSCoder) {
    flags = Flags(rawValue: coder.decodeInteger(forKey: "flags"))
    storedConfidence = CMMotionActivityConfidence(rawValue: coder.decodeInteger(forKey: "confidence")) ?? .low
    storedStart = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "startDate"))
    super.init(coder: coder)
  }

  /// Archives the activity.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(flags.rawValue, forKey: "flags")
    coder.encode(confidence.rawValue, forKey: "confidence")
    coder.encode(startDate.timeIntervalSinceReferenceDate, forKey: "startDate")
  }

  /// How sure it is.
  open var confidence: CMMotionActivityConfidence { storedConfidence }
  /// When it began.
  open var startDate: Date { storedStart }
  /// Whether there is no estimate.
  open var unknown: Bool { flags.contains(.unknown) }
  /// Whether the device does not move.
  open var stationary: Bool { flags.contains(.stationary) }
  /// Whether the carrier walks.
  open var walking: Bool { flags.contains(.walking) }
  /// Whether the carrier runs.
  open var running: Bool { flags.contains(.running) }
  /// Whether the carrier is in a vehicle; never on Linux.
  open var automotive: Bool { flags.contains(.automotive) }
  /// Whether the carrier is on a bicycle; never on Linux.
  open var cycling: Bool { flags.contains(.cycling) }
}
