import SensorFusion

/// Values that were collected over a time.
public struct Batch<Value: TimedValue>: TimedValue {
  /// The values, in order; at least one.
  public var values: [Value]
  /// The time of the newest value.
  public var time: Timestamp

  init(_ values: [Value], time: Timestamp) {
    self.values = values
    self.time = time
  }
}

/// Collects another stage's values and lets them through together, once a second of samples.
struct BatchStage<Base: SampleStage>: SampleStage {
  /// Seconds that a batch spans, as on a watch.
  static var span: Double { 1 }

  let rate: Double
  private var base: Base
  private var collected: [Base.Output] = []
  private var gate: UpdateGate

  /// Batches of `base`'s values at `rate` Hz.
  init(_ base: Base, rate: Double) {
    self.base = base
    self.rate = rate
    gate = UpdateGate(interval: 1 / rate)
  }

  var pacingSensor: SensorKind { base.pacingSensor }

  func demand(interval: Double) -> SensorDemand { base.demand(interval: 1 / rate) }

  mutating func begin(_ description: SourceDescription) { base.begin(description) }

  mutating func take(_ sample: SensorSample, emit: (Batch<Base.Output>) -> Void) {
    var completed: Base.Output?
    base.take(sample) { completed = $0 }
    guard let value = completed, gate.passes(value.time, sensorInterval: 0) else { return }
    if let first = collected.first, value.time.seconds(since: first.time) >= Self.span, let last = collected.last {
      emit(Batch(collected, time: last.time))
      collected.removeAll(keepingCapacity: true)
    }
    collected.append(value)
  }

  mutating func finish(emit: (Batch<Base.Output>) -> Void) {
    if let last = collected.last { emit(Batch(collected, time: last.time)) }
    collected.removeAll()
  }
}
