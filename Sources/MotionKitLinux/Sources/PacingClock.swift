import Glibc

/// The clock by which recordings and simulations are paced; tests inject one that they move by hand.
public protocol PacingClock: AnyObject, Sendable {
  /// Now, nanoseconds of a clock that only goes forward.
  var nanoseconds: Int64 { get }
  /// Wall-clock time now, UTC, nanoseconds since 1970-01-01.
  var utcNanoseconds: Int64 { get }
  /// Waits until `deadline` (of the clock of `nanoseconds`); returns early after `interrupt`.
  func wait(until deadline: Int64)
  /// Ends every wait, present and future. May be called from any thread.
  func interrupt()
}

/// The machine's clock: CLOCK_MONOTONIC for waiting, CLOCK_REALTIME for UTC.
public final class SystemPacingClock: PacingClock, @unchecked Sendable {
  // Heap storage, because pthread objects must keep their address.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// Guarded by `mutex`.
  private var isInterrupted = false

  /// A clock for one source.
  public init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Nanoseconds of CLOCK_MONOTONIC.
  public var nanoseconds: Int64 { Self.read(CLOCK_MONOTONIC) }

  /// Nanoseconds of CLOCK_REALTIME.
  public var utcNanoseconds: Int64 { Self.read(CLOCK_REALTIME) }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Waits on a condition variable until the deadline or an interrupt.
  public func wait(until deadline: Int64) {
    var time = timespec(
      tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
    pthread_mutex_lock(mutex)
    while !isInterrupted, nanoseconds < deadline {
      if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { break }
    }
    pthread_mutex_unlock(mutex)
  }

  /// Ends every wait.
  public func interrupt() {
    pthread_mutex_lock(mutex)
    isInterrupted = true
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }
}
