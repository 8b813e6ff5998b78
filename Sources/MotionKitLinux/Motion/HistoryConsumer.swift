import Dispatch
import SensorFusion

/// Writes what a device's carrier does into the step history, beside the services that show it.
///
/// There is one for a source while any of its services counts steps or tells activities. The disk is waited for on a
/// queue of its own, not on the reading thread.
final class HistoryConsumer: SampleConsumer, @unchecked Sendable {
  /// Samples that are processed together: a second's.
  private static let samplesPerBatch = 200

  let demand = PedestrianPipeline.demand(usesBarometer: true)
  private let uri: String
  private let open: @Sendable () throws(MotionKitError) -> StepHistory

  // Confined to the reading thread.
  private var pipeline: MotionPipeline?
  private var batch = ProcessedBatch()

  private let queue = DispatchQueue(label: "step history", qos: .utility)
  // Confined to the queue.
  private var writer: StepHistoryWriter?

  init(uri: String, open: @escaping @Sendable () throws(MotionKitError) -> StepHistory) {
    self.uri = uri
    self.open = open
  }

  func begin(_ description: SourceDescription) {
    guard pipeline == nil else { return }
    var pedestrian = PedestrianPipeline(walker: .current)
    pedestrian.begin(description)
    pipeline = pedestrian.pipeline
    let anchor = description.anchors.last ?? ClockAnchor.now()
    queue.async { [self] in
      // Where the history cannot be written, live updates go on all the same; a query then says why.
      writer = try? StepHistoryWriter(history: try open(), source: uri, anchor: anchor)
    }
  }

  func take(_ sample: SensorSample) {
    guard sample.kind != .magnetometer, sample.kind != .stepCounter else { return }
    batch.input.samples.append(sample)
    if batch.input.samples.count >= Self.samplesPerBatch { process() }
  }

  private func process() {
    guard !batch.input.samples.isEmpty, var pipeline = pipeline.take() else { return }
    batch.process(with: &pipeline)
    self.pipeline = pipeline
    let processed = batch
    batch.input.samples.removeAll()
    queue.async { [self] in try? writer?.consume(processed) }
  }

  func finish(_ error: MotionKitError?) {
    leave()
    queue.sync {}
  }

  func leave() {
    process()
    queue.async { [self] in
      try? writer?.finish()
      writer = nil
    }
  }

  func waitUntilIdle() {}

  func close() {}
}
