import Dispatch
import SensorFusion

extension AltitudeState: TimedValue {}

/// The altimeter's part of the pipeline.
struct AltitudeStage: SampleStage {
  /// Barometers are slow and noisy; the altimeter smooths best from this rate on, Hz.
  static let leastBarometerRate = 10.0
  /// For telling a change of pressure without motion, Hz.
  static let accelerometerRate = 50.0

  var reference: AltitudeReference?
  var pipeline: MotionPipeline?
  var pacingSensor: SensorKind { .barometer }

  func demand(interval: Double) -> SensorDemand {
    let rate = interval > 0 ? max(Self.leastBarometerRate, 1 / interval) : .infinity
    return SensorDemand(
      rates: [.barometer: rate, .accelerometer: Self.accelerometerRate], required: [.barometer])
  }

  mutating func begin(_ description: SourceDescription) {
    guard pipeline == nil else { return }
    var configuration = MotionPipeline.Configuration()
    configuration.filter.hasGyroscope = false
    switch reference {
    case nil: break
    case .seaLevelPressure(let kilopascals): configuration.altimeter.seaLevelPressure = kilopascals
    case .startAltitude(let metres): configuration.altimeter.startHeight = metres
    }
    pipeline = MotionPipeline(configuration: configuration)
  }

  mutating func take(_ sample: SensorSample, emit: (AltitudeState) -> Void) {
    guard sample.kind == .barometer || sample.kind == .accelerometer,
      let outputs = pipeline?.process(sample), outputs.contains(.altitude), let altitude = pipeline?.altitude
    else { return }
    emit(altitude)
  }
}

/// What altitudes above sea level are reckoned from.
public enum AltitudeReference: Hashable, Sendable {
  /// The air pressure reduced to sea level, kPa, as weather services report it (there in hPa: 1013.2 hPa is 101.32).
  case seaLevelPressure(kilopascals: Double)
  /// The altitude of the place where updates begin, metres above sea level.
  case startAltitude(metres: Double)

  private static let chosen = Locked<AltitudeReference?>(nil)

  /// The reference for altimeters started in this task that are given none; nil means the process's.
  @TaskLocal public static var override: AltitudeReference?

  /// Sets the reference for altimeters that are given none; nil goes back to the environment.
  public static func setDefault(_ reference: AltitudeReference?) { chosen.withLock { $0 = reference } }

  /// The reference for altimeters that are given none: the task's `override`, else from `setDefault`, else MOTIONKIT_SEA_LEVEL_KPA, else
  /// MOTIONKIT_START_ALTITUDE_M; nil where nobody has said.
  public static var current: AltitudeReference? {
    override ?? chosen.withLock { $0 } ?? reference(fromEnvironment: environment)
  }

  static func reference(fromEnvironment variable: (String) -> String?) -> AltitudeReference? {
    // A value that makes no sense is not passed over: `problem` names it.
    guard pressure.problem(variable) == nil else { return nil }
    if let kilopascals = pressure.value(variable) { return .seaLevelPressure(kilopascals: kilopascals) }
    if let metres = startAltitude.value(variable) { return .startAltitude(metres: metres) }
    return nil
  }

  /// The band of pressures that occur at sea level (87 to 108.5 kPa), with some room, catches hPa written for kPa.
  private static let pressure = EnvironmentNumber(
    name: "MOTIONKIT_SEA_LEVEL_KPA", range: 80...115,
    meaning: "the weather service's pressure in kPa, 80 to 115 (1013 hPa are 101.3 kPa)")
  /// From below the shore of the Dead Sea to above any mountain.
  private static let startAltitude = EnvironmentNumber(
    name: "MOTIONKIT_START_ALTITUDE_M", range: -1000...20000, meaning: "metres above sea level, -1000 to 20000")

  /// What to do where there is none.
  public static let missing = """
    give Altimeter a reference, call AltitudeReference.setDefault(…), or set \
    MOTIONKIT_SEA_LEVEL_KPA (the weather service's pressure in kPa) or MOTIONKIT_START_ALTITUDE_M
    """

  /// Why there is none: a variable of the environment that cannot be used, or that nobody has said.
  static var problem: MotionKitError { problem(inEnvironment: environment) }

  static func problem(inEnvironment variable: (String) -> String?) -> MotionKitError {
    pressure.problem(variable) ?? startAltitude.problem(variable)
      ?? .unsupported(what: "absolute altitude without a reference", hint: missing)
  }
}

/// An altitude above sea level.
@frozen
public struct AbsoluteAltitudeData: TimedValue, Hashable {
  /// The time of the barometer sample.
  public var time: Timestamp
  /// Metres above sea level; may be negative.
  public var altitude: Double
  /// 1-sigma uncertainty, m: the reference's, which outweighs the barometer's.
  public var accuracy: Double
  /// The step in which it makes sense to show the altitude, m.
  public var precision: Double

  /// An altitude from its parts.
  public init(time: Timestamp, altitude: Double, accuracy: Double, precision: Double) {
    self.time = time
    self.altitude = altitude
    self.accuracy = accuracy
    self.precision = precision
  }
}

/// The altimeter's part of the pipeline, above sea level.
struct AbsoluteAltitudeStage: SampleStage {
  /// Barometers are good to about 0.1 kPa, and reported pressures are rounded to as much: 8 m.
  static let accuracy = 8.0
  /// The altimeter's noise is below this, m.
  static let precision = 0.1

  var relative: AltitudeStage
  var pacingSensor: SensorKind { .barometer }

  func demand(interval: Double) -> SensorDemand { relative.demand(interval: interval) }

  mutating func begin(_ description: SourceDescription) { relative.begin(description) }

  mutating func take(_ sample: SensorSample, emit: (AbsoluteAltitudeData) -> Void) {
    var time: Timestamp?
    relative.take(sample) { time = $0.time }
    guard let time, let altitude = relative.pipeline?.absoluteAltitude else { return }
    emit(
      AbsoluteAltitudeData(time: time, altitude: altitude, accuracy: Self.accuracy, precision: Self.precision))
  }
}

/// Altitude from air pressure: relative to where updates began, and above sea level where a reference is known.
///
///     let altimeter = Altimeter()
///     altimeter.startRelativeAltitudeUpdates(to: .main) { result in
///       if let altitude = try? result.get() { print(altitude.relativeAltitude) }
///     }
public final class Altimeter: Sendable {
  /// Where the samples come from: the source it was given, else the process's (`SharedSource.current`), which is looked
  /// up anew at each start while nothing of this manager runs.
  public var source: SharedSource { binding.source }
  /// How values wait for a slow handler.
  public let delivery: Delivery

  /// Seconds between updates before another interval is set, as on a phone.
  public static let defaultUpdateInterval = 1.0

  /// What altitudes above sea level are reckoned from; nil for `AltitudeReference.current`.
  public let reference: AltitudeReference?

  private let binding: SourceBinding
  private let relative: UpdateChannel<AltitudeStage>
  private let absolute: UpdateChannel<AbsoluteAltitudeStage>

  /// An altimeter of a source; nil, the default, for the process's.
  public init(
    source: SharedSource? = nil, delivery: Delivery = .automatic, reference: AltitudeReference? = nil
  ) {
    let binding = SourceBinding(source)
    self.binding = binding
    self.delivery = delivery
    self.reference = reference
    absolute = UpdateChannel(binding: binding, purpose: "absolute altitude", interval: Self.defaultUpdateInterval)
    relative = UpdateChannel(binding: binding, purpose: "altitude", interval: Self.defaultUpdateInterval)
  }

  /// Whether there is a barometer.
  public var isRelativeAltitudeAvailable: Bool { source.has(.barometer) }
  /// Whether updates were started since the last stop and have not failed.
  public var isActive: Bool { relative.isActive }
  /// Seconds between updates that are asked for; may be changed while they run; 0 for every barometer sample.
  public var updateInterval: Double {
    get { relative.interval }
    set {
      relative.interval = newValue
      absolute.interval = newValue
    }
  }
  /// The newest altitude; nil before the first and after stop.
  public var altitude: AltitudeState? { relative.latest }
  /// Why updates failed; nil while all is well.
  public var error: MotionKitError? { relative.error }
  /// The interval really reached, its jitter, and what was dropped.
  public var statistics: UpdateStatistics { relative.statistics }

  /// Starts updates to be read from `altitude`; the first is 0 m, later ones relative to it.
  public func startRelativeAltitudeUpdates() {
    relative.start(AltitudeStage(), delivery: delivery, executor: nil, handler: nil)
  }

  /// Starts updates that call `handler` on `queue`; replaces the handler of a service that runs and begins at 0 m anew.
  public func startRelativeAltitudeUpdates(
    to queue: DispatchQueue, withHandler handler: @escaping MotionManager.Handler<AltitudeState>
  ) {
    startRelativeAltitudeUpdates(on: .queue(queue), handler: handler)
  }

  package func startRelativeAltitudeUpdates(
    on executor: HandlerExecutor, handler: @escaping MotionManager.Handler<AltitudeState>
  ) {
    relative.start(AltitudeStage(), delivery: delivery, executor: executor, handler: handler)
  }

  /// Stops updates; no handler call begins after this returns.
  public func stopRelativeAltitudeUpdates() { relative.stop() }

  /// Altitudes as a sequence, at `updateInterval`.
  public func relativeAltitudeUpdates() -> MotionUpdates<AltitudeState> {
    relative.updates(delivery: delivery) { AltitudeStage() }
  }

  // MARK: Above sea level

  /// Whether there are a barometer and a reference.
  public var isAbsoluteAltitudeAvailable: Bool {
    (reference ?? AltitudeReference.current) != nil && source.has(.barometer)
  }
  /// Whether absolute updates were started since the last stop and have not failed.
  public var isAbsoluteActive: Bool { absolute.isActive }
  /// The newest altitude above sea level; nil before the first and after stop.
  public var absoluteAltitude: AbsoluteAltitudeData? { absolute.latest }

  /// Starts altitudes above sea level that call `handler` on `queue`; replaces the handler of a service that runs.
  /// Without a reference the handler gets one error that says how to give one.
  public func startAbsoluteAltitudeUpdates(
    to queue: DispatchQueue, withHandler handler: @escaping MotionManager.Handler<AbsoluteAltitudeData>
  ) {
    startAbsoluteAltitudeUpdates(on: .queue(queue), handler: handler)
  }

  package func startAbsoluteAltitudeUpdates(
    on executor: HandlerExecutor, handler: @escaping MotionManager.Handler<AbsoluteAltitudeData>
  ) {
    let reference = reference ?? AltitudeReference.current
    let stage = AbsoluteAltitudeStage(relative: AltitudeStage(reference: reference))
    let problem = reference == nil ? AltitudeReference.problem : nil
    absolute.start(stage, delivery: delivery, executor: executor, handler: handler, problem: problem)
  }

  /// Stops altitudes above sea level; no handler call begins after this returns.
  public func stopAbsoluteAltitudeUpdates() { absolute.stop() }
}
