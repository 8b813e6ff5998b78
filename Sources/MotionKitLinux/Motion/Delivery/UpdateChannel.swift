import SensorFusion

/// One service of a manager: its interval, its handler or none, the streams beside it, and its newest value.
package final class UpdateChannel<Stage: SampleStage>: Sendable {
  package typealias Value = Stage.Output
  package typealias Handler = Mailbox<Value>.Handler

  private struct WeakConsumer {
    weak var consumer: Consumer<Stage>?
    let source: SharedSource
  }

  private struct State {
    var interval: Double
    var consumer: Consumer<Stage>?
    /// Where the consumer's samples come from.
    var source: SharedSource?
    var streams: [WeakConsumer] = []
    var startError: MotionKitError?
    /// Drops of services that have ended.
    var pastDrops: Int64 = 0
  }

  private let binding: SourceBinding
  private let purpose: String
  private let state: Locked<State>

  /// A service of a manager's source, named `purpose` in messages.
  package init(binding: SourceBinding, purpose: String, interval: Double) {
    self.binding = binding
    self.purpose = purpose
    state = Locked(State(interval: interval))
    binding.add { [weak self] in self?.activeSource }
  }

  /// The source of the service that runs; nil while none does.
  private var activeSource: SharedSource? {
    state.withLock { state in state.consumer.flatMap { $0.hasEnded ? nil : state.source } }
  }

  deinit { stop() }

  /// Seconds between updates that are asked for; applied at once.
  package var interval: Double {
    get { state.withLock { $0.interval } }
    set {
      let (consumers, sources) = state.withLock { state -> ([Consumer<Stage>], [SharedSource]) in
        state.interval = newValue
        state.streams.removeAll { $0.consumer == nil }
        return (
          state.streams.compactMap(\.consumer) + (state.consumer.map { [$0] } ?? []),
          state.streams.map(\.source) + (state.source.map { [$0] } ?? [])
        )
      }
      for consumer in consumers { consumer.setInterval(Self.usable(newValue)) }
      for source in sources { source.demandChanged() }
    }
  }

  /// Negative and non-finite wishes mean "as fast as can be".
  private static func usable(_ interval: Double) -> Double { interval.isFinite && interval > 0 ? interval : 0 }

  /// Whether it was started since the last stop and values may still come.
  package var isActive: Bool { state.withLock { $0.consumer.map { !$0.hasEnded } ?? false } }
  /// The newest value; nil before the first, after stop, and after a failure.
  package var latest: Value? { state.withLock { $0.consumer }?.latest }
  /// Why the service failed or could not start; nil while all is well.
  package var error: MotionKitError? { state.withLock { $0.startError ?? $0.consumer?.error } }

  /// Counts and intervals of the service that runs, with the drops of all before it.
  package var statistics: UpdateStatistics {
    let (consumer, streams, pastDrops) = state.withLock { ($0.consumer, $0.streams, $0.pastDrops) }
    var statistics = consumer?.statistics ?? UpdateStatistics()
    statistics.droppedSampleCount += pastDrops
    for stream in streams { statistics.droppedSampleCount += stream.consumer?.statistics.droppedSampleCount ?? 0 }
    return statistics
  }

  /// Starts, or starts anew with another stage and handler; the old handler is not called after this returns.
  ///
  /// Where the source cannot serve, the handler gets one error and the service is not active.
  package func start(
    _ stage: Stage, delivery: Delivery, executor: HandlerExecutor?, handler: Handler?, problem: MotionKitError? = nil
  ) {
    let source = binding.sourceForStart()
    let mailbox: Mailbox<Value>?
    if let executor, let handler {
      let (capacity, isLossless) = source.resolve(delivery)
      mailbox = Mailbox(capacity: capacity, isLossless: isLossless, executor: executor, handler: handler)
    } else {
      mailbox = nil
    }
    stop()
    do throws(MotionKitError) {
      if let problem { throw problem }
      try source.require(stage.demand(interval: Self.usable(interval)).required, for: purpose)
    } catch {
      state.withLock { $0.startError = error }
      if let mailbox { source.refuse(mailbox, because: error) }
      return
    }
    // In lockstep a replay ends as a test expects it: quietly.
    let consumer = Consumer(
      stage: stage, interval: Self.usable(interval), source: source, mailbox: mailbox,
      reportsEnd: source.stepping == .free)
    let replaced = state.withLock { state -> (Consumer<Stage>?, SharedSource?) in
      defer {
        state.consumer = consumer
        state.source = source
        state.startError = nil
      }
      return (state.consumer, state.source)
    }
    retire(replaced)
    // The interval may have been changed since.
    consumer.setInterval(Self.usable(interval))
    source.add(consumer)
  }

  /// Stops; no handler call begins after this returns.
  package func stop() {
    let stopped = state.withLock { state -> (Consumer<Stage>?, SharedSource?) in
      defer { (state.consumer, state.source) = (nil, nil) }
      state.startError = nil
      return (state.consumer, state.source)
    }
    retire(stopped)
  }

  private func retire(_ used: (consumer: Consumer<Stage>?, source: SharedSource?)) {
    guard let consumer = used.consumer else { return }
    consumer.close()
    used.source?.remove(consumer)
    let drops = consumer.statistics.droppedSampleCount
    if drops > 0 { state.withLock { $0.pastDrops += drops } }
  }

  /// A sequence whose every iteration is a service of its own, with this channel's interval.
  package func updates(delivery: Delivery, stage: @escaping @Sendable () -> Stage) -> MotionUpdates<Value> {
    MotionUpdates { [binding, purpose, state] in
      let source = binding.sourceForStart()
      let (capacity, isLossless) = source.resolve(delivery)
      let mailbox = Mailbox<Value>(capacity: capacity, isLossless: isLossless)
      let stage = stage()
      let interval = Self.usable(state.withLock { $0.interval })
      do throws(MotionKitError) {
        try source.require(stage.demand(interval: interval).required, for: purpose)
      } catch {
        source.refuse(mailbox, because: error)
        return Subscription(mailbox: mailbox) {}
      }
      let consumer = Consumer(
        stage: stage, interval: interval, source: source, mailbox: mailbox, reportsEnd: false)
      state.withLock { state in
        state.streams.removeAll { $0.consumer == nil }
        state.streams.append(WeakConsumer(consumer: consumer, source: source))
      }
      source.add(consumer)
      return Subscription(mailbox: mailbox) { source.remove(consumer) }
    }
  }
}

extension SharedSource {
  /// The capacity of a mailbox and whether its sender waits for room.
  func resolve(_ delivery: Delivery) -> (capacity: Int, isLossless: Bool) {
    switch delivery {
    case .automatic: (Delivery.defaultCapacity, isUnpaced || stepping == .lockstep)
    case .newest(let capacity): (capacity, false)
    case .lossless: (Delivery.defaultCapacity, true)
    }
  }
}
