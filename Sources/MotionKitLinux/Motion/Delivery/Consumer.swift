import SensorFusion

/// The sensors that a consumer needs.
package struct SensorDemand: Hashable, Sendable {
  /// Samples per second, by sensor; 0 means the device's own setting, infinity its fastest.
  package var rates: [SensorKind: Double]
  /// Those it cannot do without.
  package var required: Set<SensorKind>

  package init(rates: [SensorKind: Double], required: Set<SensorKind>) {
    self.rates = rates
    self.required = required
  }
}

/// One user of a shared source. All but `demand` is called from the source's reading thread.
package protocol SampleConsumer: AnyObject, Sendable {
  /// What it needs; may change while it runs.
  var demand: SensorDemand { get }
  /// Samples follow, from sensors as described. Called again when the source was started again with other settings.
  func begin(_ description: SourceDescription)
  /// One sample, in order of time.
  func take(_ sample: SensorSample)
  /// No sample follows: the source is at its end, or failed.
  func finish(_ error: MotionKitError?)
  /// It is no user of the source any more.
  func leave()
  /// Whether it tells what the carrier does, so that the step history is written while it runs.
  var feedsHistory: Bool { get }
  /// Whether it tells the present activity, from the source's one classifier.
  var tellsActivity: Bool { get }
  /// In lockstep, before the next sample, whose time this is: whether it let anybody do anything.
  func pause(before time: Timestamp) -> Bool
  /// Waits until handlers have finished with what they were given.
  func waitUntilIdle()
  /// Delivers nothing more after this returns, apart from a call that is running. From any thread.
  func close()
  /// Closes, and ends every `waitUntilIdle()`, even where a handler never returns.
  func abandon()
}

extension SampleConsumer {
  /// Nothing to tidy up.
  package func leave() {}
  /// Nothing more than closing.
  package func abandon() { close() }
  /// No.
  package var feedsHistory: Bool { false }
  /// No.
  package var tellsActivity: Bool { false }
  /// No.
  package func pause(before time: Timestamp) -> Bool { false }
}

/// Makes a service's values out of samples. Used from the reading thread only.
package protocol SampleStage: Sendable {
  /// What comes out.
  associatedtype Output: TimedValue
  /// Whether it tells what the carrier does.
  static var feedsHistory: Bool { get }
  /// Whether it tells the present activity, from the source's one classifier.
  static var tellsActivity: Bool { get }
  /// Called once before anything else, with the source it will serve.
  mutating func join(_ source: SharedSource)
  /// The sensor whose rate paces the output.
  var pacingSensor: SensorKind { get }
  /// What it needs to give a value every `interval` seconds (0: as fast as can be).
  func demand(interval: Double) -> SensorDemand
  /// Samples follow, from sensors as described.
  mutating func begin(_ description: SourceDescription)
  /// Takes one sample and gives what it completes to `emit`.
  mutating func take(_ sample: SensorSample, emit: (Output) -> Void)
  /// No sample follows: gives what it still holds to `emit`.
  mutating func finish(emit: (Output) -> Void)
}

extension SampleStage {
  /// No.
  package static var feedsHistory: Bool { false }
  /// No.
  package static var tellsActivity: Bool { false }
  /// Needs nothing from it but samples.
  package mutating func join(_ source: SharedSource) {}
  /// Holds nothing back.
  package mutating func finish(emit: (Output) -> Void) {}
}

/// A service in use: a stage, the gate of its update interval, the newest value, and the way to its handler or loop.
package final class Consumer<Stage: SampleStage>: SampleConsumer, @unchecked Sendable {
  package typealias Value = Stage.Output

  private struct Shared {
    var interval: Double
    var latest: Value?
    var count: Int64 = 0
    var meter = IntervalMeter()
    var error: MotionKitError?
    var hasEnded = false
    var isClosed = false
  }

  // Confined to the reading thread, hence the unchecked conformance.
  private var stage: Stage
  private var gate: UpdateGate
  private var sensorInterval = 0.0

  private let demandAtInterval: @Sendable (Double) -> SensorDemand
  private let shared: Locked<Shared>
  package let mailbox: Mailbox<Value>?
  private let source: SharedSource
  private let reportsEnd: Bool

  /// A consumer that keeps the newest value and, with a mailbox, delivers each. With `reportsEnd` the end of the source
  /// is an error.
  package init(stage: Stage, interval: Double, source: SharedSource, mailbox: Mailbox<Value>?, reportsEnd: Bool) {
    self.stage = stage
    self.mailbox = mailbox
    self.source = source
    self.reportsEnd = reportsEnd
    self.stage.join(source)
    gate = UpdateGate(interval: interval)
    demandAtInterval = { [stage] in stage.demand(interval: $0) }
    shared = Locked(Shared(interval: interval))
  }

  package var feedsHistory: Bool { Stage.feedsHistory }
  package var tellsActivity: Bool { Stage.tellsActivity }
  package var demand: SensorDemand { demandAtInterval(shared.withLock { $0.interval }) }

  /// Seconds between values that are asked for.
  package func setInterval(_ interval: Double) {
    shared.withLock {
      $0.interval = interval
      $0.meter.reset()
    }
  }

  /// The newest value; nil before the first, after `close`, and after a failure.
  package var latest: Value? {
    let value = shared.withLock { $0.latest }
    if value != nil { source.noteDelivery() }
    return value
  }

  /// Why it ended, if it failed.
  package var error: MotionKitError? { shared.withLock { $0.error } }

  /// Whether no value comes any more: the source failed, or is at its end.
  package var hasEnded: Bool { shared.withLock { $0.hasEnded } }

  /// Counts and intervals so far.
  package var statistics: UpdateStatistics {
    var statistics = UpdateStatistics()
    shared.withLock {
      statistics.count = $0.count
      (statistics.actualUpdateInterval, statistics.jitter) = $0.meter.intervals
    }
    statistics.droppedSampleCount = mailbox?.dropped ?? 0
    return statistics
  }

  /// Delivers nothing more after this returns, apart from a call that is running.
  package func close() {
    shared.withLock {
      $0.isClosed = true
      $0.latest = nil
    }
    mailbox?.close()
  }

  package func abandon() {
    close()
    mailbox?.abandonHandler()
  }

  package func begin(_ description: SourceDescription) {
    let rate = description.sensor(stage.pacingSensor)?.rate ?? 0
    sensorInterval = rate > 0 ? 1 / rate : 0
    stage.begin(description)
  }

  package func take(_ sample: SensorSample) {
    stage.take(sample) { deliver($0) }
  }

  private func deliver(_ value: Value) {
    let passes = shared.withLock { shared in
      gate.set(interval: shared.interval)
      guard !shared.isClosed, gate.passes(value.time, sensorInterval: sensorInterval) else { return false }
      shared.latest = value
      shared.count += 1
      shared.meter.add(value.time)
      return true
    }
    guard passes, let mailbox else { return }
    source.noteDelivery()
    mailbox.offer(value)
  }

  package func finish(_ error: MotionKitError?) {
    stage.finish { deliver($0) }
    let hasFailed = error != nil
    let error = error ?? (reportsEnd ? source.endError : nil)
    shared.withLock {
      $0.error = error
      $0.hasEnded = true
      // What a lost device said last must not pass for the present; a recording's last value is its result.
      if hasFailed { $0.latest = nil }
    }
    if error != nil { source.noteDelivery() }
    mailbox?.end(error)
  }

  package func waitUntilIdle() { mailbox?.waitUntilIdle() }
}
