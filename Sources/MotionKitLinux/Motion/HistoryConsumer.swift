import SensorFusion

/// Writes what a device's carrier does into the step history, beside the services that show it.
///
/// There is one for a source while any of its services counts steps or tells activities. Where the history cannot be
/// written, live updates go on all the same; a query then says why.
final class HistoryConsumer: SampleConsumer, @unchecked Sendable {
  /// Samples that are processed together: a second's.
  private static let samplesPerBatch = 200

  let demand: SensorDemand
  private let walker: Walker
  private let uri: String
  private let open: @Sendable () throws(MotionKitError) -> StepHistory

  // Confined to the reading thread.
  private var pipeline: MotionPipeline?
  private var batch = ProcessedBatch()
  private var recorder: StepHistoryRecorder?

  /// One for a source; `usesHardwareCounter` as the service counts that it stands beside.
  init(
    uri: String, usesHardwareCounter: Bool, open: @escaping @Sendable () throws(MotionKitError) -> StepHistory
  ) {
    var walker = Walker.current
    walker.usesHardwareCounter = usesHardwareCounter
    self.walker = walker
    demand = PedestrianPipeline.demand(usesBarometer: true, usesHardwareCounter: usesHardwareCounter)
    self.uri = uri
    self.open = open
  }

  func begin(_ description: SourceDescription) {
    guard pipeline == nil else { return }
    var pedestrian = PedestrianPipeline(walker: walker)
    pedestrian.begin(description)
    pipeline = pedestrian.pipeline
    recorder = StepHistoryRecorder(source: description, uri: uri, open: open)
  }

  func take(_ sample: SensorSample) {
    guard sample.kind != .magnetometer else { return }
    batch.input.samples.append(sample)
    if batch.input.samples.count >= Self.samplesPerBatch { process() }
  }

  private func process() {
    guard !batch.input.samples.isEmpty, var pipeline = pipeline.take() else { return }
    batch.process(with: &pipeline)
    self.pipeline = pipeline
    recorder?.consume(batch)
    batch.input.samples.removeAll(keepingCapacity: true)
  }

  func finish(_ error: MotionKitError?) {
    process()
    recorder?.finish()
    recorder = nil
  }

  func leave() {
    process()
    recorder?.leave()
    recorder = nil
  }

  func waitUntilIdle() {}

  func close() {}
}
