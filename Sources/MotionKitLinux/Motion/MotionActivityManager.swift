import Dispatch
import SensorFusion

extension ActivityState: TimedValue {}

/// The activity classifier's part of the pipeline: the activity that holds at the start, then each change.
struct ActivityStage: SampleStage {
  static var feedsHistory: Bool { true }

  private var pedestrian = PedestrianPipeline(walker: Walker())
  private var hasBegun = false
  var pacingSensor: SensorKind { .accelerometer }

  func demand(interval: Double) -> SensorDemand {
    PedestrianPipeline.demand(usesBarometer: false, usesHardwareCounter: false)
  }

  mutating func begin(_ description: SourceDescription) { pedestrian.begin(description) }

  mutating func take(_ sample: SensorSample, emit: (ActivityState) -> Void) {
    guard let outputs = pedestrian.process(sample), let activity = pedestrian.pipeline?.activity else { return }
    if outputs.contains(.activity) {
      emit(activity)
    } else if !hasBegun {
      emit(ActivityState(time: sample.time, activity: activity.activity, confidence: activity.confidence))
    }
    hasBegun = true
  }
}

/// What the carrier of the device is doing: stationary, walking, running.
///
/// The first update is the activity at the start (unknown until there is evidence), then one at each change.
public final class MotionActivityManager: Sendable {
  /// Where the samples come from.
  public let source: SharedSource
  /// How values wait for a slow handler.
  public let delivery: Delivery

  private let activities: UpdateChannel<ActivityStage>

  /// A manager of a source, by default the process's; see `SharedSource.current`.
  public init(source: SharedSource = .current, delivery: Delivery = .automatic) {
    self.source = source
    self.delivery = delivery
    activities = UpdateChannel(source: source, purpose: "motion activity", interval: 0)
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
