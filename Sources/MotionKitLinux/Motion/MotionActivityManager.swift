import Dispatch
import SensorFusion

extension ActivityState: TimedValue {}

/// The activity classifier's part of the pipeline: the activity that holds at the start, then each change.
struct ActivityStage: SampleStage {
  static var feedsHistory: Bool { true }

  static var tellsActivity: Bool { true }

  private var tracker: ActivityTracker?
  private var hasBegun = false
  var pacingSensor: SensorKind { .accelerometer }

  func demand(interval: Double) -> SensorDemand {
    PedestrianPipeline.demand(usesBarometer: false, usesHardwareCounter: false)
  }

  mutating func join(_ source: SharedSource) { tracker = source.activity }

  mutating func begin(_ description: SourceDescription) {}

  mutating func take(_ sample: SensorSample, emit: (ActivityState) -> Void) {
    guard let tracker, let activity = tracker.activity, tracker.hasChanged || !hasBegun else { return }
    hasBegun = true
    emit(activity)
  }
}

/// The one classifier of a source: whoever asks for activities later is told what it knows already.
///
/// Runs while anybody asks for activities, as the first of them to see each sample. Confined to the reading thread.
final class ActivityTracker: SampleConsumer, @unchecked Sendable {
  private var pedestrian = PedestrianPipeline(walker: Walker())
  /// The activity that holds now, with the time at which it began; nil before the first sample.
  private(set) var activity: ActivityState?
  /// Whether the newest sample changed it.
  private(set) var hasChanged = false

  var demand: SensorDemand { PedestrianPipeline.demand(usesBarometer: false, usesHardwareCounter: false) }

  func begin(_ description: SourceDescription) { pedestrian.begin(description) }

  func take(_ sample: SensorSample) {
    hasChanged = false
    guard let outputs = pedestrian.process(sample), let state = pedestrian.pipeline?.activity else { return }
    if outputs.contains(.activity) {
      activity = state
      hasChanged = true
    } else if activity == nil {
      activity = ActivityState(time: sample.time, activity: state.activity, confidence: state.confidence)
    }
  }

  func leave() { forget() }

  func finish(_ error: MotionKitError?) { forget() }

  /// What comes later, if anything, does not join up with what was.
  private func forget() {
    pedestrian = PedestrianPipeline(walker: Walker())
    activity = nil
    hasChanged = false
  }

  func waitUntilIdle() {}

  func close() {}
}

/// What the carrier of the device is doing: stationary, walking, running.
///
/// The first update is the present activity (unknown until there is evidence; at once where another manager of the source
/// has it already), then one at each change.
public final class MotionActivityManager: Sendable {
  /// Where the samples come from: the source it was given, else the process's (`SharedSource.current`), which is looked
  /// up anew at each start while nothing of this manager runs.
  public var source: SharedSource { binding.source }
  /// How values wait for a slow handler.
  public let delivery: Delivery

  private let binding: SourceBinding
  private let activities: UpdateChannel<ActivityStage>

  /// A manager of a source; nil, the default, for the process's.
  public init(source: SharedSource? = nil, delivery: Delivery = .automatic) {
    let binding = SourceBinding(source)
    self.binding = binding
    self.delivery = delivery
    activities = UpdateChannel(binding: binding, purpose: "motion activity", interval: 0)
  }

  /// Whether there is an accelerometer.
  public var isActivityAvailable: Bool { source.has(.accelerometer) }
  /// Whether updates were started since the last stop and have not failed.
  public var isActive: Bool { activities.isActive }
  /// The activity that holds now; nil before the first and after stop.
  public var activity: ActivityState? { activities.latest }
  /// Why updates failed; nil while all is well.
  public var error: MotionKitError? { activities.error }
  /// What was delivered and dropped.
  public var statistics: UpdateStatistics { activities.statistics }

  /// Starts updates to be read from `activity`.
  public func startActivityUpdates() {
    activities.start(ActivityStage(), delivery: delivery, executor: nil, handler: nil)
  }

  /// Starts updates that call `handler` on `queue`; replaces the handler of a service that runs.
  public func startActivityUpdates(
    to queue: DispatchQueue, withHandler handler: @escaping MotionManager.Handler<ActivityState>
  ) {
    startActivityUpdates(on: .queue(queue), handler: handler)
  }

  package func startActivityUpdates(
    on executor: HandlerExecutor, handler: @escaping MotionManager.Handler<ActivityState>
  ) {
    activities.start(ActivityStage(), delivery: delivery, executor: executor, handler: handler)
  }

  /// Stops updates; no handler call begins after this returns.
  public func stopActivityUpdates() { activities.stop() }

  /// Activities as a sequence.
  public func activityUpdates() -> MotionUpdates<ActivityState> {
    activities.updates(delivery: delivery) { ActivityStage() }
  }
}
