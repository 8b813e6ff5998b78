import Foundation
import MotionKitLinux
import SensorFusion

/// Counts steps, now and in the past.
///
/// Handlers run on a serial queue of the framework's own, the same for live updates and queries.
open class CMPedometer: NSObject {
  private let pedometer = Pedometer()
  private let queue = DispatchQueue(label: "CMPedometer")

  /// A pedometer of the process's source.
  public override init() { super.init() }

  /// The pedometer underneath, with what Core Motion does not tell (`error`, `statistics`); not in Apple's framework.
  public var underlying: Pedometer { pedometer }

  /// Whether there is an accelerometer to count steps with.
  open class func isStepCountingAvailable() -> Bool { Pedometer().isStepCountingAvailable }
  /// Whether the walker's height or a calibration is known; see `Walker`.
  open class func isDistanceAvailable() -> Bool { Pedometer().isDistanceAvailable }
  /// Whether there is a barometer too.
  open class func isFloorCountingAvailable() -> Bool { Pedometer().isFloorCountingAvailable }
  /// Whether distances can be told.
  open class func isPaceAvailable() -> Bool { Pedometer().isDistanceAvailable }
  /// Whether steps can be counted.
  open class func isCadenceAvailable() -> Bool { Pedometer().isStepCountingAvailable }
  /// Whether steps can be counted.
  open class func isPedometerEventTrackingAvailable() -> Bool { Pedometer().isStepCountingAvailable }
  /// Whether this process may use the sensors.
  open class func authorizationStatus() -> CMAuthorizationStatus { .current }

  /// Asks for the totals of a past time, at most seven days back. The handler is called exactly once.
  open func queryPedometerData(
    from start: Date, to end: Date, withHandler handler: @escaping CMPedometerHandler
  ) {
    let handler = Unchecked(handler)
    let history = Result { try MotionHistories.opened() }
    let isAvailable = pedometer.isStepCountingAvailable
    queue.async {
      do {
        handler.value(try Self.query(history, from: start, to: end, isAvailable: isAvailable), nil)
      } catch {
        handler.value(nil, error)
      }
    }
  }

  private static func query(
    _ history: Result<(any MotionHistory)?, any Error>, from start: Date, to end: Date, isAvailable: Bool
  ) throws -> CMPedometerData {
    guard start <= end else {
      throw CMErrorInvalidParameter.error("the query's end (\(end)) is before its start (\(start))")
    }
    do {
      if let history = try history.get() {
        let totals = try history.pedometerTotals(from: start.utcNanoseconds, to: end.utcNanoseconds)
        return CMPedometerData(start: start, end: end, totals: totals)
      }
    } catch {
      throw error.asCoreMotion
    }
    guard isAvailable else {
      throw CMErrorMotionActivityNotAvailable.error("there is no accelerometer to count steps with and no step history")
    }
    // With an accelerometer and no history yet, nothing was counted: 0 steps, as on a new phone.
    return CMPedometerData(start: start, end: end, totals: PedometerTotals())
  }

  /// Calls the handler with the totals from `start` on whenever steps are found; replaces a running service's handler.
  ///
  /// With a start in the past, what the history knows of the time before now is included (a history that cannot be read
  /// is an error, after which only new steps count); with one in the future, what is walked before it does not count.
  open func startUpdates(from start: Date, withHandler handler: @escaping CMPedometerHandler) {
    let handler = Unchecked(handler)
    let source = pedometer.source
    let now = Date()
    var past = PedometerTotals()
    if start < now {
      do {
        let history = try MotionHistories.opened()
        past = try history?.pedometerTotals(from: start.utcNanoseconds, to: now.utcNanoseconds) ?? past
      } catch {
        let error = error.asCoreMotion
        queue.async { handler.value(nil, error) }
      }
    }
    pedometer.startUpdates(on: .queue(queue), delay: max(0, start.timeIntervalSince(now))) { [past] result in
      switch result {
      case .success(let data):
        let end = Date(utcNanoseconds: source.utcNanoseconds(at: data.end))
        handler.value(CMPedometerData(start: start, end: end, live: data, past: past), nil)
      case .failure(let error):
        handler.value(nil, error.pedometerError)
      }
    }
  }

  /// Stops live totals.
  open func stopUpdates() { pedometer.stopUpdates() }

  /// Calls the handler when the walker pauses and goes on; replaces a running service's handler.
  open func startEventUpdates(handler: @escaping CMPedometerEventHandler) {
    let handler = Unchecked(handler)
    let source = pedometer.source
    pedometer.startEventUpdates(on: .queue(queue)) { result in
      switch result {
      case .success(let event):
        let date = Date(utcNanoseconds: source.utcNanoseconds(at: event.time))
        handler.value(CMPedometerEvent(date: date, type: event.kind == .pause ? .pause : .resume), nil)
      case .failure(let error):
        handler.value(nil, error.coreMotionError)
      }
    }
  }

  /// Stops events.
  open func stopEventUpdates() { pedometer.stopEventUpdates() }
}

extension Error {
  /// As Core Motion reports it, if it is an error of the package.
  var asCoreMotion: any Error { (self as? MotionKitError)?.coreMotionError ?? self }
}

extension MotionKitError {
  /// As a pedometer or an activity manager reports it: hardware that is not there has a code of its own.
  var pedometerError: NSError {
    switch self {
    case .noSensors, .notFound: CMErrorMotionActivityNotAvailable.error("\(self)", underlying: self)
    case .notPermitted: CMErrorMotionActivityNotAuthorized.error("\(self)", underlying: self)
    default: coreMotionError
    }
  }
}

/// Steps and what follows from them, from a start to an end. nil is "not known", never 0.
open class CMPedometerData: NSObject, NSSecureCoding, NSCopying {
  private let storedStart: Date
  private let storedEnd: Date
  private let totals: PedometerTotals
  private let storedPace: Double?
  private let storedCadence: Double?

  /// No steps, for subclasses that override the getters.
  public override init() {
    storedStart = Date()
    storedEnd = storedStart
    totals = PedometerTotals()
    storedPace = nil
    storedCadence = nil
  }

  /// Data from their parts, for tests: metres, floors, seconds a metre, steps a second; not in Apple's framework.
  public init(
    startDate: Date, endDate: Date, numberOfSteps: Int, distance: Double? = nil, floorsAscended: Int? = nil,
    floorsDescended: Int? = nil, currentPace: Double? = nil, currentCadence: Double? = nil,
    averageActivePace: Double? = nil
  ) {
    storedStart = startDate
    storedEnd = endDate
    var totals = PedometerTotals()
    totals.numberOfSteps = numberOfSteps
    totals.distance = distance
    totals.floorsAscended = floorsAscended
    totals.floorsDescended = floorsDescended
    totals.activeSeconds = (averageActivePace ?? 0) * (distance ?? 0)
    self.totals = totals
    storedPace = currentPace
    storedCadence = currentCadence
  }

  init(start: Date, end: Date, totals: PedometerTotals, currentPace: Double? = nil, currentCadence: Double? = nil) {
    storedStart = start
    storedEnd = end
    self.totals = totals
    storedPace = currentPace
    storedCadence = currentCadence
  }

  /// Live totals on top of those of the past.
  convenience init(start: Date, end: Date, live: PedometerData, past: PedometerTotals) {
    func sum<N: AdditiveArithmetic>(_ a: N?, _ b: N?) -> N? {
      a.map { a in b.map { a + $0 } ?? a } ?? b
    }
    var totals = past
    totals.numberOfSteps += live.numberOfSteps
    totals.distance = sum(past.distance, live.distance)
    totals.floorsAscended = sum(past.floorsAscended, live.floorsAscended)
    totals.floorsDescended = sum(past.floorsDescended, live.floorsDescended)
    totals.activeSeconds += (live.averageActivePace ?? 0) * (live.distance ?? 0)
    self.init(
      start: start, end: end, totals: totals, currentPace: live.currentPace, currentCadence: live.currentCadence)
  }

  /// Reads archived data.
  public required init?(coder: NSCoder) {
    func number(_ key: String) -> Double? { coder.containsValue(forKey: key) ? coder.decodeDouble(forKey: key) : nil }
    storedStart = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "startDate"))
    storedEnd = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "endDate"))
    var totals = PedometerTotals()
    totals.numberOfSteps = coder.decodeInteger(forKey: "numberOfSteps")
    totals.distance = number("distance")
    totals.floorsAscended = number("floorsAscended").flatMap { Int(exactly: $0) }
    totals.floorsDescended = number("floorsDescended").flatMap { Int(exactly: $0) }
    totals.activeSeconds = (number("averageActivePace") ?? 0) * (totals.distance ?? 0)
    self.totals = totals
    storedPace = number("currentPace")
    storedCadence = number("currentCadence")
  }

  /// Archives the data.
  open func encode(with coder: NSCoder) {
    func encode(_ value: NSNumber?, _ key: String) {
      if let value { coder.encode(value.doubleValue, forKey: key) }
    }
    coder.encode(startDate.timeIntervalSinceReferenceDate, forKey: "startDate")
    coder.encode(endDate.timeIntervalSinceReferenceDate, forKey: "endDate")
    coder.encode(numberOfSteps.intValue, forKey: "numberOfSteps")
    encode(distance, "distance")
    encode(floorsAscended, "floorsAscended")
    encode(floorsDescended, "floorsDescended")
    encode(averageActivePace, "averageActivePace")
    encode(currentPace, "currentPace")
    encode(currentCadence, "currentCadence")
  }

  /// True: only the classes of this module are decoded.
  open class var supportsSecureCoding: Bool { true }

  /// The data itself: they never change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The start that was asked for.
  open var startDate: Date { storedStart }
  /// The end that was asked for, or the time of the newest step.
  open var endDate: Date { storedEnd }
  /// Steps.
  open var numberOfSteps: NSNumber { NSNumber(value: totals.numberOfSteps) }
  /// Metres walked, an estimate; nil where the walker's height is not known.
  open var distance: NSNumber? { totals.distance.map { NSNumber(value: $0) } }
  /// Floors climbed on foot; nil without a barometer.
  open var floorsAscended: NSNumber? { totals.floorsAscended.map { NSNumber(value: $0) } }
  /// Floors descended on foot; nil without a barometer.
  open var floorsDescended: NSNumber? { totals.floorsDescended.map { NSNumber(value: $0) } }
  /// Seconds a metre now; nil in queries and when not walking.
  open var currentPace: NSNumber? { storedPace.map { NSNumber(value: $0) } }
  /// Steps a second now; nil in queries and when not walking.
  open var currentCadence: NSNumber? { storedCadence.map { NSNumber(value: $0) } }
  /// Seconds a metre over the time spent walking; nil without a distance.
  open var averageActivePace: NSNumber? { totals.averageActivePace.map { NSNumber(value: $0) } }
}

/// A walker who paused or went on.
open class CMPedometerEvent: NSObject, NSSecureCoding, NSCopying {
  private let storedDate: Date
  private let storedType: CMPedometerEventType

  /// A pause now, for subclasses that override the getters.
  public override init() {
    storedDate = Date()
    storedType = .pause
  }

  /// An event from its parts; not in Apple's framework.
  public init(date: Date, type: CMPedometerEventType) {
    storedDate = date
    storedType = type
  }

  /// Reads an archived event.
  public required init?(coder: NSCoder) {
    storedDate = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "date"))
    storedType = CMPedometerEventType(rawValue: coder.decodeInteger(forKey: "type")) ?? .pause
  }

  /// Archives the event.
  open func encode(with coder: NSCoder) {
    coder.encode(date.timeIntervalSinceReferenceDate, forKey: "date")
    coder.encode(type.rawValue, forKey: "type")
  }

  /// True: only the classes of this module are decoded.
  open class var supportsSecureCoding: Bool { true }

  /// The event itself: it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The time of the last step before a pause, or of the first after it.
  open var date: Date { storedDate }
  /// What happened.
  open var type: CMPedometerEventType { storedType }
}

extension Date {
  /// From UTC nanoseconds since 1970-01-01.
  init(utcNanoseconds: Int64) { self.init(timeIntervalSince1970: Double(utcNanoseconds) / 1e9) }

  /// UTC nanoseconds since 1970-01-01, clamped to what fits.
  var utcNanoseconds: Int64 {
    let nanoseconds = timeIntervalSince1970 * 1e9
    return Int64(exactly: nanoseconds.rounded()) ?? (nanoseconds > 0 ? .max : .min)
  }
}
