import Dispatch
import SensorFusion

/// Steps and what follows from them, from a start to an end. nil is "not known", never 0.
public struct PedometerData: TimedValue, Hashable {
  /// Where counting began, boot clock.
  public var start: Timestamp
  /// The time of the newest step counted, or the end that was asked for; boot clock.
  public var end: Timestamp
  /// Steps between the two.
  public var numberOfSteps: Int
  /// Metres walked, an estimate; nil where the walker's height or a calibration is not known.
  public var distance: Double?
  /// Floors of 3 m climbed on foot; nil without a barometer.
  public var floorsAscended: Int?
  /// Floors of 3 m descended on foot; nil without a barometer.
  public var floorsDescended: Int?
  /// Seconds a metre at the end; nil when not walking, or without a distance.
  public var currentPace: Double?
  /// Steps a second at the end; nil when not known.
  public var currentCadence: Double?
  /// Seconds a metre over the time spent walking; nil without a distance.
  public var averageActivePace: Double?

  /// The end.
  public var time: Timestamp { end }

  /// No step yet.
  public init(start: Timestamp) {
    self.start = start
    end = start
    numberOfSteps = 0
  }
}

/// The pipeline for steps and activity, fed with what they use only.
struct PedestrianPipeline: Sendable {
  /// The rate the step counter's figures were measured at, Hz.
  static let inertialRate = 100.0
  /// Enough for floors, Hz.
  static let barometerRate = 10.0

  private(set) var pipeline: MotionPipeline?
  private(set) var hasBarometer = false

  static func demand(usesBarometer: Bool) -> SensorDemand {
    var demand = SensorDemand(
      rates: [.accelerometer: inertialRate, .gyroscope: inertialRate], required: [.accelerometer])
    if usesBarometer { demand.rates[.barometer] = barometerRate }
    return demand
  }

  mutating func begin(_ description: SourceDescription) {
    hasBarometer = description.sensor(.barometer) != nil
    if pipeline == nil { pipeline = MotionPipeline(for: description, frame: .arbitrary) }
  }

  mutating func process(_ sample: SensorSample) -> PipelineOutputs? {
    sample.kind == .magnetometer || sample.kind == .stepCounter ? nil : pipeline?.process(sample)
  }
}

/// The pedometer's part of the pipeline: a new total whenever steps are released.
struct PedometerStage: SampleStage {
  private var pedestrian = PedestrianPipeline()
  private var data: PedometerData?
  var pacingSensor: SensorKind { .accelerometer }

  func demand(interval: Double) -> SensorDemand { PedestrianPipeline.demand(usesBarometer: true) }

  mutating func begin(_ description: SourceDescription) { pedestrian.begin(description) }

  mutating func take(_ sample: SensorSample, emit: (PedometerData) -> Void) {
    guard let outputs = pedestrian.process(sample) else { return }
    var data = self.data ?? PedometerData(start: sample.time)
    if outputs.contains(.steps), let steps = pedestrian.pipeline?.newSteps, let last = steps.last {
      data.numberOfSteps += steps.count
      data.end = last.time
      data.currentCadence = last.cadence > 0 ? last.cadence : nil
      emit(data)
    }
    self.data = data
  }
}

/// Counts steps.
///
///     let pedometer = Pedometer()
///     pedometer.startUpdates(to: .main) { result in
///       if let data = try? result.get() { print(data.numberOfSteps) }
///     }
public final class Pedometer: Sendable {
  /// Where the samples come from.
  public let source: SharedSource
  /// How values wait for a slow handler.
  public let delivery: Delivery

  private let totals: UpdateChannel<PedometerStage>

  /// A pedometer of a source, by default the process's; see `SharedSource.current`.
  public init(source: SharedSource = .current, delivery: Delivery = .automatic) {
    self.source = source
    self.delivery = delivery
    totals = UpdateChannel(source: source, purpose: "step counting", interval: 0)
  }

  /// Whether there is an accelerometer to count steps with.
  public var isStepCountingAvailable: Bool { source.has(.accelerometer) }
  /// Whether floors can be counted: a barometer too.
  public var isFloorCountingAvailable: Bool { source.has(.accelerometer) && source.has(.barometer) }
  /// Whether updates were started since the last stop and have not failed.
  public var isActive: Bool { totals.isActive }
  /// The newest total; nil before the first and after stop.
  public var data: PedometerData? { totals.latest }
  /// Why updates failed; nil while all is well.
  public var error: MotionKitError? { totals.error }
  /// What was delivered and dropped.
  public var statistics: UpdateStatistics { totals.statistics }

  /// Starts counting, to be read from `data`.
  public func startUpdates() { totals.start(PedometerStage(), delivery: delivery, executor: nil, handler: nil) }

  /// Starts counting and calls `handler` on `queue` with the total since the start whenever steps are released;
  /// replaces the handler of a service that runs and begins at 0 anew.
  public func startUpdates(to queue: DispatchQueue, withHandler handler: @escaping MotionManager.Handler<PedometerData>)
  {
    startUpdates(on: .queue(queue), handler: handler)
  }

  package func startUpdates(on executor: HandlerExecutor, handler: @escaping MotionManager.Handler<PedometerData>) {
    totals.start(PedometerStage(), delivery: delivery, executor: executor, handler: handler)
  }

  /// Stops counting; no handler call begins after this returns.
  public func stopUpdates() { totals.stop() }

  /// Totals since the start of the iteration as a sequence.
  public func updates() -> MotionUpdates<PedometerData> {
    totals.updates(delivery: delivery) { PedometerStage() }
  }
}
