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

/// What is known of the walker.
public struct Walker: Hashable, Sendable {
  /// Body height in metres, from which the step length is estimated; nil where not known.
  public var height: Double?
  /// From a calibration walk, m·√s; see `StepCounter.Configuration.stepLengthFactor(distance:steps:)`.
  public var stepLengthFactor: Double?
  /// Fewer false steps on hand motion at the price of some real ones.
  public var isStrict = false
  /// Steps from the chip's own counter even where there is an accelerometer; without one they are anyway. Their times
  /// are estimates, and they come late and in lumps.
  public var usesHardwareCounter = false

  /// A walker of whom nothing is known: steps and cadence, no distance.
  public init(height: Double? = nil, stepLengthFactor: Double? = nil) {
    self.height = height
    self.stepLengthFactor = stepLengthFactor
  }

  private static let chosen = Locked<Walker?>(nil)

  /// Sets the walker for pedometers that are given none; nil goes back to the environment.
  public static func setDefault(_ walker: Walker?) { chosen.withLock { $0 = walker } }

  /// The walker for pedometers that are given none: from `setDefault`, else with the height MOTIONKIT_HEIGHT_M.
  public static var current: Walker { chosen.withLock { $0 } ?? walker(fromEnvironment: environment) }

  static func walker(fromEnvironment variable: (String) -> String?) -> Walker {
    Walker(height: environmentHeight.value(variable))
  }

  /// People are 0.5 to 2.8 m tall: catches centimetres written for metres.
  private static let environmentHeight = EnvironmentNumber(
    name: "MOTIONKIT_HEIGHT_M", range: 0.5...2.8, meaning: "the walker's height in metres, 0.5 to 2.8")

  /// What is wrong with MOTIONKIT_HEIGHT_M; nil where it is right, or not set.
  public static var problem: MotionKitError? { environmentHeight.problem(environment) }

  /// What is wrong with the height that the environment gives; nil where it is right, not given, or not used.
  func problem(inEnvironment variable: (String) -> String?) -> MotionKitError? {
    givesDistance ? nil : Self.environmentHeight.problem(variable)
  }

  /// Whether distances can be told.
  public var givesDistance: Bool { height != nil || stepLengthFactor != nil }
}

/// The pipeline for steps and activity, fed with what they use only.
struct PedestrianPipeline: Sendable {
  /// The rate the step counter's figures were measured at, Hz.
  static let inertialRate = 100.0
  /// Enough for floors, Hz.
  static let barometerRate = 10.0

  /// How often a chip's counter is read, Hz.
  static let hardwareRate = 1.0

  let walker: Walker
  private(set) var pipeline: MotionPipeline?
  private(set) var hasBarometer = false

  init(walker: Walker) { self.walker = walker }

  static func demand(usesBarometer: Bool, usesHardwareCounter: Bool) -> SensorDemand {
    var demand = SensorDemand(
      rates: [.accelerometer: inertialRate, .gyroscope: inertialRate], required: [.accelerometer])
    if usesHardwareCounter {
      demand.rates[.stepCounter] = hardwareRate
      demand.required = [.stepCounter]
    }
    if usesBarometer { demand.rates[.barometer] = barometerRate }
    return demand
  }

  func demand(usesBarometer: Bool) -> SensorDemand {
    Self.demand(usesBarometer: usesBarometer, usesHardwareCounter: walker.usesHardwareCounter)
  }

  mutating func begin(_ description: SourceDescription) {
    hasBarometer = description.sensor(.barometer) != nil
    guard pipeline == nil else { return }
    var configuration = MotionPipeline.Configuration(for: description, frame: .arbitrary)
    configuration.stepCounter.height = walker.height
    configuration.stepCounter.stepLengthFactor = walker.stepLengthFactor
    configuration.stepCounter.isStrict = walker.isStrict
    configuration.stepCounter.usesHardware = walker.usesHardwareCounter || description.countsStepsInHardwareOnly
    pipeline = MotionPipeline(configuration: configuration)
  }

  mutating func process(_ sample: SensorSample) -> PipelineOutputs? {
    sample.kind == .magnetometer ? nil : pipeline?.process(sample)
  }
}

/// The pedometer's part of the pipeline: a new total whenever steps are released.
struct PedometerStage: SampleStage {
  static var feedsHistory: Bool { true }

  /// A longer time between steps is not walking, s.
  private static let longestStep = 2.0

  private var pedestrian: PedestrianPipeline
  private var data: PedometerData?
  private var lastStep: Timestamp?
  private var activeSeconds = 0.0
  /// The distances after the newest steps, for the pace.
  private var lastDistance = 0.0
  var pacingSensor: SensorKind { .accelerometer }

  /// Steps before so many seconds from the first sample are not counted.
  private let delay: Double
  /// What belongs to those.
  private var uncounted = (distance: 0.0, ascended: 0, descended: 0)

  init(walker: Walker, delay: Double = 0) {
    pedestrian = PedestrianPipeline(walker: walker)
    self.delay = delay
  }

  func demand(interval: Double) -> SensorDemand { pedestrian.demand(usesBarometer: true) }

  mutating func begin(_ description: SourceDescription) { pedestrian.begin(description) }

  mutating func take(_ sample: SensorSample, emit: (PedometerData) -> Void) {
    guard let outputs = pedestrian.process(sample) else { return }
    if data == nil { data = PedometerData(start: sample.time.advanced(bySeconds: delay)) }
    if outputs.contains(.steps), let steps = pedestrian.pipeline?.newSteps { add(steps) }
    if outputs.contains(.pedometerEvents), pedestrian.pipeline?.newPedometerEvents.last?.kind == .pause {
      data?.currentCadence = nil
      data?.currentPace = nil
    }
    guard let data else { return }
    if sample.time < data.start {
      uncounted.ascended = pedestrian.pipeline?.floorsAscended ?? 0
      uncounted.descended = pedestrian.pipeline?.floorsDescended ?? 0
    } else if !outputs.isDisjoint(with: [.steps, .pedometerEvents]) {
      emit(data)
    }
  }

  private mutating func add(_ steps: [Step]) {
    guard var data else { return }
    var stepLength = 0.0
    if let distance = pedestrian.pipeline?.distance {
      stepLength = (distance - lastDistance) / Double(max(1, steps.count))
      lastDistance = distance
    }
    let released = steps.count
    let steps = delay > 0 ? steps.filter { $0.time >= data.start } : steps
    uncounted.distance += stepLength * Double(released - steps.count)
    guard let last = steps.last else { return }
    for step in steps {
      if let lastStep, step.time.seconds(since: lastStep) <= Self.longestStep {
        activeSeconds += step.time.seconds(since: lastStep)
      }
      lastStep = step.time
    }
    data.numberOfSteps += steps.count
    data.end = last.time
    data.currentCadence = last.cadence > 0 ? last.cadence : nil
    if pedestrian.hasBarometer {
      data.floorsAscended = pedestrian.pipeline.map { $0.floorsAscended - uncounted.ascended }
      data.floorsDescended = pedestrian.pipeline.map { $0.floorsDescended - uncounted.descended }
    }
    if let total = pedestrian.pipeline?.distance {
      let distance = total - uncounted.distance
      data.distance = distance
      let speed = (data.currentCadence ?? 0) * stepLength
      data.currentPace = speed > 0 ? 1 / speed : nil
      data.averageActivePace = distance > 0 && activeSeconds > 0 ? activeSeconds / distance : nil
    }
    self.data = data
  }
}

extension PedometerEvent: TimedValue {}

/// The pedometer's part of the pipeline: pauses and resumptions.
struct PedometerEventStage: SampleStage {
  static var feedsHistory: Bool { true }

  private var pedestrian: PedestrianPipeline
  var pacingSensor: SensorKind { .accelerometer }

  init(walker: Walker) { pedestrian = PedestrianPipeline(walker: walker) }

  func demand(interval: Double) -> SensorDemand { pedestrian.demand(usesBarometer: false) }

  mutating func begin(_ description: SourceDescription) { pedestrian.begin(description) }

  mutating func take(_ sample: SensorSample, emit: (PedometerEvent) -> Void) {
    guard let outputs = pedestrian.process(sample), outputs.contains(.pedometerEvents) else { return }
    for event in pedestrian.pipeline?.newPedometerEvents ?? [] { emit(event) }
  }
}

/// Counts steps.
///
///     let pedometer = Pedometer()
///     pedometer.startUpdates(to: .main) { result in
///       if let data = try? result.get() { print(data.numberOfSteps) }
///     }
public final class Pedometer: Sendable {
  /// Where the samples come from: the source it was given, else the process's (`SharedSource.current`), which is looked
  /// up anew at each start while nothing of this manager runs.
  public var source: SharedSource { binding.source }
  /// How values wait for a slow handler.
  public let delivery: Delivery

  /// What is known of the walker.
  public let walker: Walker

  private let binding: SourceBinding
  private let totals: UpdateChannel<PedometerStage>
  private let events: UpdateChannel<PedometerEventStage>

  /// A pedometer of a source; nil, the default, for the process's.
  public init(source: SharedSource? = nil, delivery: Delivery = .automatic, walker: Walker = .current) {
    let binding = SourceBinding(source)
    self.binding = binding
    self.delivery = delivery
    self.walker = walker
    events = UpdateChannel(binding: binding, purpose: "pedometer events", interval: 0)
    totals = UpdateChannel(binding: binding, purpose: "step counting", interval: 0)
  }

  /// Whether there is an accelerometer to count steps with, or a chip that counts them.
  public var isStepCountingAvailable: Bool { source.has(.accelerometer) || source.has(.stepCounter) }
  /// Whether floors can be counted: a barometer too.
  public var isFloorCountingAvailable: Bool { isStepCountingAvailable && source.has(.barometer) }
  /// Whether distances and paces can be told: the walker's height or a calibration is known.
  public var isDistanceAvailable: Bool { walker.givesDistance && isStepCountingAvailable }
  /// Whether updates were started since the last stop and have not failed.
  public var isActive: Bool { totals.isActive }
  /// The newest total; nil before the first and after stop.
  public var data: PedometerData? { totals.latest }
  /// Why updates failed; nil while all is well.
  public var error: MotionKitError? { totals.error }
  /// What was delivered and dropped.
  public var statistics: UpdateStatistics { totals.statistics }

  /// Starts counting, to be read from `data`.
  public func startUpdates() {
    totals.start(
      PedometerStage(walker: counted), delivery: delivery, executor: nil, handler: nil,
      problem: walker.problem(inEnvironment: environment))
  }

  /// Starts counting and calls `handler` on `queue` with the total since the start whenever steps are released;
  /// replaces the handler of a service that runs and begins at 0 anew.
  public func startUpdates(to queue: DispatchQueue, withHandler handler: @escaping MotionManager.Handler<PedometerData>)
  {
    startUpdates(on: .queue(queue), handler: handler)
  }

  /// With a `delay`, steps count only so many seconds after the first sample.
  package func startUpdates(
    on executor: HandlerExecutor, delay: Double = 0, handler: @escaping MotionManager.Handler<PedometerData>
  ) {
    totals.start(
      PedometerStage(walker: counted, delay: delay), delivery: delivery, executor: executor, handler: handler,
      problem: walker.problem(inEnvironment: environment))
  }

  /// Stops counting; no handler call begins after this returns.
  public func stopUpdates() { totals.stop() }

  /// Totals since the start of the iteration as a sequence.
  public func updates() -> MotionUpdates<PedometerData> {
    totals.updates(delivery: delivery) { [counted] in PedometerStage(walker: counted) }
  }

  /// The walker, with the chip's counter where the source has nothing better.
  private var counted: Walker {
    var walker = walker
    if !source.has(.accelerometer), source.has(.stepCounter) { walker.usesHardwareCounter = true }
    return walker
  }

  // MARK: Events

  /// Whether event updates were started since the last stop and have not failed.
  public var isEventActive: Bool { events.isActive }

  /// Calls `handler` on `queue` when the walker pauses and goes on; replaces the handler of a service that runs.
  public func startEventUpdates(
    to queue: DispatchQueue, withHandler handler: @escaping MotionManager.Handler<PedometerEvent>
  ) {
    startEventUpdates(on: .queue(queue), handler: handler)
  }

  package func startEventUpdates(
    on executor: HandlerExecutor, handler: @escaping MotionManager.Handler<PedometerEvent>
  ) {
    events.start(PedometerEventStage(walker: counted), delivery: delivery, executor: executor, handler: handler)
  }

  /// Stops events; no handler call begins after this returns.
  public func stopEventUpdates() { events.stop() }

  /// Pauses and resumptions as a sequence.
  public func eventUpdates() -> MotionUpdates<PedometerEvent> {
    events.updates(delivery: delivery) { [counted] in PedometerEventStage(walker: counted) }
  }
}
