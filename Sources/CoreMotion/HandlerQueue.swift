import Foundation
import MotionKitLinux
import SensorFusion

/// Lets a handler that is not `Sendable` (Core Motion's are not) travel to the queue it was given with.
struct Unchecked<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

/// A variable that handlers, which run one at a time, keep between their calls.
final class Box<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// One turn of a mailbox on the caller's operation queue.
private final class DeliveryOperation: Operation, @unchecked Sendable {
  private let run: HandlerExecutor.Block
  private let abandoned: HandlerExecutor.Block
  private var hasRun = false

  init(run: @escaping HandlerExecutor.Block, abandoned: @escaping HandlerExecutor.Block) {
    self.run = run
    self.abandoned = abandoned
  }

  override func main() {
    hasRun = true
    run()
  }

  // Cancelled by the caller, or thrown away with the queue: the mailbox must not wait for it.
  deinit { if !hasRun { abandoned() } }
}

extension HandlerExecutor {
  /// Runs handlers as operations of `queue`, one at a time whatever the queue allows.
  static func operations(of queue: OperationQueue) -> HandlerExecutor {
    let queue = Unchecked(queue)
    return HandlerExecutor { run, abandoned in
      queue.value.addOperation(DeliveryOperation(run: run, abandoned: abandoned))
    }
  }
}

extension SharedSource {
  /// Tells a handler on `queue` why it cannot be served; a replay waits for it.
  func refuse(to queue: OperationQueue, because error: NSError, _ handler: @escaping (NSError) -> Void) {
    let report = Unchecked(handler)
    let told = Unchecked(error)
    let mailbox = Mailbox<Timestamp>(capacity: 1, isLossless: false, executor: .operations(of: queue)) { _ in
      report.value(told.value)
    }
    refuse(mailbox, because: .unsupported(what: "this service", hint: error.localizedDescription))
  }
}

/// Turns one of Core Motion's handlers into one of MotionKitLinux's.
func adapt<Value: Sendable, Object>(
  _ handler: @escaping (Object?, (any Error)?) -> Void, _ convert: @escaping @Sendable (Value) -> Object
) -> MotionManager.Handler<Value> {
  let handler = Unchecked(handler)
  return { result in
    switch result {
    case .success(let value): handler.value(convert(value), nil)
    case .failure(let error): handler.value(nil, error.coreMotionError)
    }
  }
}
