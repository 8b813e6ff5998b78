import Foundation
import MotionKitLinux

/// The step counter of iOS 7. Use `CMPedometer`.
@available(*, deprecated, message: "use CMPedometer")
open class CMStepCounter: NSObject {
  private let pedometer = Pedometer()

  /// A counter of the process's source.
  public override init() { super.init() }

  /// Whether there is an accelerometer to count steps with.
  open class func isStepCountingAvailable() -> Bool { Pedometer().isStepCountingAvailable }

  /// Asks for the steps of a past time; an empty one has 0.
  open func queryStepCountStarting(
    from start: Date, to end: Date, to queue: OperationQueue, withHandler handler: @escaping CMStepQueryHandler
  ) {
    let handler = Unchecked(handler)
    let queue = Unchecked(queue)
    CMPedometer().queryPedometerData(from: start, to: end) { data, error in
      let steps = data?.numberOfSteps.intValue ?? 0
      let error = Unchecked(error)
      queue.value.addOperation { handler.value(steps, error.value) }
    }
  }

  /// Calls the handler with the steps since the start whenever `stepCounts` more have been counted.
  open func startStepCountingUpdates(
    to queue: OperationQueue, updateOn stepCounts: Int, withHandler handler: @escaping CMStepUpdateHandler
  ) {
    let handler = Unchecked(handler)
    let source = pedometer.source
    let reported = Box(0)
    pedometer.startUpdates(on: .operations(of: queue)) { result in
      switch result {
      case .success(let data):
        // One call at a time, so the memory of the last report needs no lock.
        guard data.numberOfSteps - reported.value >= max(1, stepCounts) else { return }
        reported.value = data.numberOfSteps
        handler.value(data.numberOfSteps, Date(utcNanoseconds: source.utcNanoseconds(at: data.end)), nil)
      case .failure(let error):
        handler.value(0, Date(), error.pedometerError)
      }
    }
  }

  /// Stops counting.
  open func stopStepCountingUpdates() { pedometer.stopUpdates() }
}
