/// What a source needs of a mailbox, whatever its values.
package protocol HandlerRun: AnyObject, Sendable {
  /// No more values come: what waits is still delivered, then the error if there is one.
  func end(_ error: MotionKitError?)
  /// Waits until the consumer has finished with everything that was offered.
  func waitUntilIdle()
  /// Closes, and lets go of whoever waits for a handler that does not return.
  func abandonHandler()
}

/// Carries values from the reading thread to one consumer: a handler on a queue, or a loop that awaits.
///
/// A ring of bounded size. With a handler at most one block is in flight on the queue, however many values wait, so a
/// slow handler costs neither memory nor a flood of blocks, and two calls never overlap, even on a concurrent queue.
package final class Mailbox<Value: Sendable>: HandlerRun {
  /// What the consumer gets: values, then perhaps one error.
  package typealias Output = Result<Value, MotionKitError>
  package typealias Handler = @Sendable (Output) -> Void

  private struct State {
    var ring: [Value?] = []
    var head = 0
    var count = 0
    /// A block is on the queue or running.
    var isDraining = false
    /// The handler is running.
    var isHandling = false
    var isClosed = false
    /// No value comes any more; the error, if any, is still to be delivered.
    var hasEnded = false
    var error: MotionKitError?
    var dropped: Int64 = 0
    var handler: Handler?
    var waiter: CheckedContinuation<Output?, Never>?

    mutating func push(_ value: Value, capacity: Int) {
      if count == ring.count { grow(capacity: capacity) }
      ring[(head + count) % ring.count] = value
      count += 1
    }

    mutating func pop() -> Value? {
      guard count > 0 else { return nil }
      let value = ring[head].take()
      head = (head + 1) % ring.count
      count -= 1
      return value
    }

    private mutating func grow(capacity: Int) {
      var larger: [Value?] = []
      let size = min(capacity, max(8, ring.count * 2))
      larger.reserveCapacity(size)
      for i in 0..<count { larger.append(ring[(head + i) % ring.count]) }
      larger.append(contentsOf: repeatElement(nil, count: size - count))
      ring = larger
      head = 0
    }

    /// The next thing for the consumer; nil when there is nothing now.
    mutating func next() -> Output? {
      if let value = pop() { return .success(value) }
      if let error = error.take() { return .failure(error) }
      return nil
    }
  }

  /// So many values a block handles before it lets others on the caller's queue have a turn.
  private static var valuesPerBlock: Int { 16 }

  private let capacity: Int
  private let isLossless: Bool
  private let executor: HandlerExecutor?
  private let state: Locked<State>

  /// A mailbox for a handler.
  package init(capacity: Int, isLossless: Bool, executor: HandlerExecutor, handler: @escaping Handler) {
    self.capacity = max(1, capacity)
    self.isLossless = isLossless
    self.executor = executor
    state = Locked(State(handler: handler))
  }

  /// A mailbox for a loop that calls `next()`.
  package init(capacity: Int, isLossless: Bool) {
    self.capacity = max(1, capacity)
    self.isLossless = isLossless
    executor = nil
    state = Locked(State())
  }

  /// Values dropped because the consumer was too slow.
  package var dropped: Int64 { state.withLock { $0.dropped } }

  /// Hands over one value. Waits for room if lossless; otherwise drops and counts the oldest.
  package func offer(_ value: Value) {
    let action = state.wait { state -> Action? in
      if state.isClosed || state.hasEnded { return .nothing }
      if let waiter = state.waiter.take() { return .resume(waiter, .success(value)) }
      if state.count == self.capacity {
        if self.isLossless { return nil }
        _ = state.pop()
        state.dropped += 1
      }
      state.push(value, capacity: self.capacity)
      return self.startDraining(&state)
    }
    perform(action)
  }

  /// No more values come: what waits is still delivered, then the error if there is one.
  package func end(_ error: MotionKitError?) {
    let action = state.withLockNotifying { state -> Action in
      guard !state.isClosed, !state.hasEnded else { return .nothing }
      state.hasEnded = true
      if let waiter = state.waiter.take() { return .resume(waiter, error.map { .failure($0) }) }
      state.error = error
      return error == nil ? .nothing : self.startDraining(&state)
    }
    perform(action)
  }

  /// Delivers nothing more after this returns, apart from a call that is running.
  package func close() {
    let (waiter, handler) = state.withLockNotifying { state -> (CheckedContinuation<Output?, Never>?, Handler?) in
      state.isClosed = true
      state.ring = []
      state.count = 0
      state.error = nil
      return (state.waiter.take(), state.handler.take())
    }
    waiter?.resume(returning: nil)
    withExtendedLifetime(handler) {}  // let go outside the lock: it may own anything
  }

  /// Closes, and lets go of whoever waits for a handler that does not return.
  package func abandonHandler() {
    close()
    state.withLockNotifying { $0.isHandling = false }
  }

  /// The next value for a loop; nil at the end.
  package func next() async -> Output? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        var replaced: CheckedContinuation<Output?, Never>?
        let ready = state.withLockNotifying { state -> Output?? in
          if let output = state.next() { return .some(output) }
          if state.isClosed || state.hasEnded { return .some(nil) }
          replaced = state.waiter
          state.waiter = continuation
          return nil
        }
        replaced?.resume(returning: nil)
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      close()
    }
  }

  /// Waits until the consumer has finished with everything that was offered; also with the call that closed it, since
  /// that call may start something anew.
  package func waitUntilIdle() {
    state.wait { state -> Void? in
      if state.isClosed { return state.isHandling ? nil : () }
      let isEmpty = state.count == 0 && state.error == nil
      if self.executor != nil { return isEmpty && !state.isDraining ? () : nil }
      return isEmpty && (state.waiter != nil || state.hasEnded) ? () : nil
    }
  }

  private enum Action {
    case nothing
    case schedule
    case resume(CheckedContinuation<Output?, Never>, Output?)
  }

  private func startDraining(_ state: inout State) -> Action {
    guard executor != nil, !state.isDraining else { return .nothing }
    state.isDraining = true
    return .schedule
  }

  private func perform(_ action: Action) {
    switch action {
    case .nothing: break
    case .schedule: schedule()
    case .resume(let waiter, let output): waiter.resume(returning: output)
    }
  }

  private func schedule() {
    executor?.schedule({ self.drain() }, { self.abandon() })
  }

  /// Runs on the caller's queue.
  private func drain() {
    for _ in 0..<Self.valuesPerBlock {
      let item = state.withLockNotifying { state -> (Output, Handler)? in
        state.isHandling = false
        guard !state.isClosed, let handler = state.handler, let output = state.next() else {
          state.isDraining = false
          return nil
        }
        state.isHandling = true
        return (output, handler)
      }
      guard let (output, handler) = item else { return }
      handler(output)
    }
    state.withLockNotifying { $0.isHandling = false }
    schedule()
  }

  /// The caller's queue threw our block away (`cancelAllOperations`): what waited is gone and counted.
  private func abandon() {
    state.withLockNotifying { state in
      while state.pop() != nil { state.dropped += 1 }
      state.isDraining = false
    }
  }
}
