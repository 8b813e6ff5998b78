import SensorFusion

/// A whole recording's batches with the best estimate of its motion: what a live session would have written, but for
/// `motions`, which are `MotionSmoother`'s. Holds all of the recording, about 350 bytes a sample.
public struct SmoothedBatches: Sendable {
  private static let batchSize = 4096

  private let input: SampleBatch
  private let motions: [MotionState]
  private var pipeline: MotionPipeline
  private var position = (sample: 0, event: 0, motion: 0)

  /// Smooths all samples (in order of time) with the settings of the pipeline that recorded them.
  public init(of input: SampleBatch, settings: MotionPipeline.Configuration) {
    self.input = input
    pipeline = MotionPipeline(configuration: settings)
    motions = MotionSmoother.motions(of: input.samples, settings: settings)
  }

  /// How many states of motion there are; 0 without a usable accelerometer sample.
  public var motionCount: Int { motions.count }
  /// Samples that were not used, by reason; complete after the last batch.
  public var counters: PipelineCounters { pipeline.counters }

  /// Replaces `batch` by the next one, in order of time; false behind the last.
  public mutating func next(into batch: inout ProcessedBatch) -> Bool {
    batch.input.removeAll()
    let end = min(position.sample + Self.batchSize, input.samples.count)
    batch.input.samples += input.samples[position.sample..<end]
    position.sample = end
    let isLast = end == input.samples.count
    let time = batch.input.samples.last?.time ?? Timestamp(nanoseconds: .max)
    while position.event < input.events.count, isLast || input.events[position.event].time <= time {
      batch.input.events.append(input.events[position.event])
      position.event += 1
    }
    guard !batch.input.samples.isEmpty || !batch.input.events.isEmpty else { return false }
    batch.process(with: &pipeline)
    batch.motions.removeAll(keepingCapacity: true)
    while position.motion < motions.count, isLast || motions[position.motion].time <= time {
      batch.motions.append(motions[position.motion])
      position.motion += 1
    }
    return true
  }
}
