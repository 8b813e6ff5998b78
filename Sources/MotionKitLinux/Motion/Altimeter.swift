import Dispatch
import SensorFusion

extension AltitudeState: TimedValue {}

/// The altimeter's part of the pipeline.
struct AltitudeStage: SampleStage {
  /// Barometers are slow and noisy; the altimeter smooths best from this rate on, Hz.
  static let leastBarometerRate = 10.0
  /// For telling a change of pressure without motion, Hz.
  static let accelerometerRate = 50.0

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
    pipeline = MotionPipeline(configuration: configuration)
  }

  mutating func take(_ sample: SensorSample, emit: (AltitudeState) -> Void) {
    guard sample.kind == .barometer || sample.kind == .accelerometer,
      let outputs = pipeline?.process(sample), outputs.contains(.altitude), let altitude = pipeline?.altitude
    else { return }
    emit(altitude)
  }
}

/// Altitude relative to where updates began, from air pressure.
///
///     let altimeter = Altimeter()
///     altimeter.startRelativeAltitudeUpdates(to: .main) { result in
///       if let altitude = try? result.get() { print(altitude.relativeAltitude) }
///     }
public final class Altimeter: Sendable {
  /// Where the samples come from.
  public let source: SharedSource
  /// How values wait for a slow handler.
  public let delivery: Delivery

  /// Seconds between updates before another interval is set, as on a phone.
  public static let defaultUpdateInterval = 1.0

  private let relative: UpdateChannel<AltitudeStage>

  /// An altimeter of a source, by default the process's; see `SharedSource.current`.
  public init(source: SharedSource = .current, delivery: Delivery = .automatic) {
    self.source = source
    self.delivery = delivery
    relative = UpdateChannel(source: source, purpose: "altitude", interval: Self.defaultUpdateInterval)
  }

  /// Whether there is a barometer.
  public var isRelativeAltitudeAvailable: Bool { source.has(.barometer) }
  /// Whether updates were started since the last stop and have not failed.
  public var isActive: Bool { relative.isActive }
  /// Seconds between updates that are asked for; may be changed while they run; 0 for every barometer sample.
  public var updateInterval: Double {
    get { relative.interval }
    set { relative.interval = newValue }
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
}
