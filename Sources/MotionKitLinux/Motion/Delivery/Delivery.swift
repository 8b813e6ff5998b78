@preconcurrency import Dispatch

/// How values wait for a handler or a loop that is slower than the sensor. Memory is bounded either way.
public enum Delivery: Hashable, Sendable {
  /// `newest` with the default capacity for live sources, `lossless` for recordings and simulations without pacing.
  case automatic
  /// At most `capacity` values wait (at least 1); the oldest are dropped and counted.
  case newest(capacity: Int)
  /// Nothing is dropped here: the source is read no further until the handler has room. A live source may then lose
  /// samples itself, which it reports as events; other users of the same source wait too.
  case lossless

  /// How many values wait by default: 2.56 s at 100 Hz.
  public static let defaultCapacity = 256
}

/// Where a handler runs: schedules one block; calls `abandoned` if the block will never run.
package struct HandlerExecutor: Sendable {
  package typealias Block = @Sendable () -> Void
  package let schedule: @Sendable (_ run: @escaping Block, _ abandoned: @escaping Block) -> Void

  package init(_ schedule: @escaping @Sendable (_ run: @escaping Block, _ abandoned: @escaping Block) -> Void) {
    self.schedule = schedule
  }
}

extension HandlerExecutor {
  /// Runs handlers on a Dispatch queue; one that is concurrent still sees one call at a time.
  package static func queue(_ queue: DispatchQueue) -> HandlerExecutor {
    HandlerExecutor { run, _ in queue.async(execute: run) }
  }
}
