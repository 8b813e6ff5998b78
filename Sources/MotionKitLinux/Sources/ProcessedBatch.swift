import SensorFusion

/// A batch of samples with everything that the pipeline made of it: what every sink receives.
public struct ProcessedBatch: Sendable {
  /// What the source gave.
  public var input = SampleBatch()
  /// Outputs of the attitude filter, in order.
  public var motions: [MotionState] = []
  /// Steps released, in order; their times may lie before this batch.
  public var steps: [Step] = []
  /// Outputs of the altimeter, in order.
  public var altitudes: [AltitudeState] = []
  /// Changes of activity, in order.
  public var activities: [ActivityState] = []
  /// Pauses and resumptions of walking, in order.
  public var pedometerEvents: [PedometerEvent] = []
  /// When the shake gesture was completed, in order.
  public var shakes: [Timestamp] = []
  /// Metres walked since the pipeline started, an estimate; nil where neither height nor calibration is known.
  public var distance: Double?
  /// The hard iron that the pipeline has learnt; nil where it does not learn.
  public var learntHardIron: LearntHardIron?
  /// Floors climbed on foot since the pipeline started.
  public var floorsAscended = 0
  /// Floors descended on foot since the pipeline started.
  public var floorsDescended = 0

  /// An empty batch.
  public init() {}

  /// Runs `input` through the pipeline and replaces the outputs with what comes out.
  public mutating func process(with pipeline: inout MotionPipeline) {
    motions.removeAll(keepingCapacity: true)
    steps.removeAll(keepingCapacity: true)
    altitudes.removeAll(keepingCapacity: true)
    activities.removeAll(keepingCapacity: true)
    pedometerEvents.removeAll(keepingCapacity: true)
    shakes.removeAll(keepingCapacity: true)
    for sample in input.samples {
      let outputs = pipeline.process(sample)
      if outputs.isEmpty { continue }
      if outputs.contains(.motion) { motions.append(pipeline.motion) }
      if outputs.contains(.steps) { steps.append(contentsOf: pipeline.newSteps) }
      if outputs.contains(.altitude) { altitudes.append(pipeline.altitude) }
      if outputs.contains(.activity) { activities.append(pipeline.activity) }
      if outputs.contains(.pedometerEvents) { pedometerEvents.append(contentsOf: pipeline.newPedometerEvents) }
      if outputs.contains(.shake) { shakes.append(sample.time) }
    }
    distance = pipeline.distance
    learntHardIron = pipeline.learntHardIron
    floorsAscended = pipeline.floorsAscended
    floorsDescended = pipeline.floorsDescended
  }
}

/// Where processed batches go: a recording, handlers, a screen.
public protocol MotionSink: AnyObject {
  /// Takes one batch. Called from the thread that reads the source, in order.
  func consume(_ batch: ProcessedBatch) throws(MotionKitError)
}
