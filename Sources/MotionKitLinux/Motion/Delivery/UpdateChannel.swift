import SensorFusion

/// One service of a manager: its interval, its handler or none, the streams beside it, and its newest value.
package final class UpdateChannel<Stage: SampleStage>: Sendable {
  package typealias Value = Stage.Output
  package typealias Handler = Mailbox<Value>.Handler

  private struct WeakConsumer {
    weak var consumer: Consumer<Stage>?
  }

  private struct State {
    var interval: Double
    var consumer: Consumer<Stage>?
    var streams: [WeakConsumer] = []
    var startError: MotionKitError?
    /// Drops of services that have ended.
    var pastDrops: Int64 = 0
  }

  private let source: SharedSource
  private let purpose: String
  private let state: Locked<State>

  /// A service of `source` named `purpose` in messages.
  package init(source: SharedSource, purpose: String, interval: Double) {
    self.source = source
    self.purpose = purpose
    state = Locked(State(interval: interval))
  }

  deinit { stop() }

  /// Seconds between updates that are asked for; applied at once.
  package var interval: Double {
    get { state.withLock { $0.interval } }
    set {
      let consumers = state.withLock { state -> [Consumer<Stage>] in
        state.interval = newValue
        state.streams.removeAll { $0.consumer == nil }
        return state.streams.compactMap(\.consumer) + (state.consumer.map { [$0] } ?? [])
      }
      for consumer in consumers { consumer.setInterval(Self.usable(newValue)) }
      if !consumers.isEmpty { source.demandChanged() }
    }
  }

  /// Negative and non-finite wishes mean "as fast as can be".
  private static func usable(_ interval: Double) -> Double { interval.isFinite && interval > 0 ? interval : 0 }

  /// Whether it was started since the last stop and has not failed.
  package var isActive: Bool { state.withLock { $0.consumer.map { $0.error == nil } ?? false } }
  /// The newest value; nil before the first and after stop.
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
    _ stage: Stage, delivery: Delivery, executor: HandlerExecutor?, handler: Handler?
  ) {
    let mailbox: Mailbox<Value>?
    if let executor, let handler {
      let (capacity, isLossless) = source.resolve(delivery)
      mailbox = Mailbox(capacity: capacity, isLossless: isLossless, executor: executor, handler: handler)
    } else {
      mailbox = nil
    }
    stop()
    do {
      try source.require(stage.demand(interval: Self.usable(interval)).required, for: purpose)
    } catch {
      state.withLock { $0.startError = error }
      mailbox?.end(error)
      return
    }
    let (consumer, replaced) = state.withLock { state -> (Consumer<Stage>, Consumer<Stage>?) in
      let consumer = Consumer(stage: stage, interval: Self.usable(state.interval), mailbox: mailbox)
      let replaced = state.consumer
      state.consumer = consumer
      state.startError = nil
      return (consumer, replaced)
    }
    retire(replaced)
    source.add(consumer)
  }

  /// Stops; no handler call begins after this returns.
  package func stop() {
    let consumer = state.withLock { state -> Consumer<Stage>? in
      defer { state.consumer = nil }
      state.startError = nil
      return state.consumer
    }
    retire(consumer)
  }

  private func retire(_ consumer: Consumer<Stage>?) {
    guard let consumer else { return }
    consumer.close()
    source.remove(consumer)
    let drops = consumer.statistics.droppedSampleCount
    if drops > 0 { state.withLock { $0.pastDrops += drops } }
  }

  /// A sequence whose every iteration is a service of its own, with this channel's interval.
  package func updates(delivery: Delivery, stage: @escaping @Sendable () -> Stage) -> MotionUpdates<Value> {
    MotionUpdates { [source, purpose, state] in
      let (capacity, isLossless) = source.resolve(delivery)
      let mailbox = Mailbox<Value>(capacity: capacity, isLossless: isLossless)
      let stage = stage()
      let interval = Self.usable(state.withLock { $0.interval })
      do throws(MotionKitError) {
        try source.require(stage.demand(interval: interval).required, for: purpose)
      } catch {
        mailbox.end(error)
        return Subscription(mailbox: mailbox) {}
      }
      let consumer = Consumer(stage: stage, interval: interval, mailbox: mailbox)
      state.withLock { state in
        state.streams.removeAll { $0.consumer == nil }
        state.streams.append(WeakConsumer(consumer: consumer))
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
