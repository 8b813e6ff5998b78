import Glibc

/// A value that only one thread at a time can touch, with a condition to wait for.
///
/// A plain pthread mutex: the thread sanitizer understands it. Timed waits follow CLOCK_MONOTONIC, which nobody sets.
package final class Locked<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Value

  /// Protects `value`.
  package init(_ value: sending Value) {
    self.value = value
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

  /// Runs `body` with the lock held.
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Runs `body` with the lock held, then wakes everybody who waits.
  package func withLockNotifying<R>(_ body: (inout Value) -> R) -> R {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(condition)
      pthread_mutex_unlock(mutex)
    }
    return body(&value)
  }

  /// Wakes everybody who waits, to look again.
  package func signal() { pthread_cond_broadcast(condition) }

  /// Runs `body` with the lock held, again after each notification, until it returns something.
  package func wait<R>(until body: (inout Value) -> R?) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// The same until `deadline` at most (nanoseconds of CLOCK_MONOTONIC); nil if nothing was returned by then.
  package func wait<R>(until deadline: Int64, for body: (inout Value) -> R?) -> R? {
    var limit = timespec(tv_sec: Int(max(0, deadline) / 1_000_000_000), tv_nsec: Int(max(0, deadline) % 1_000_000_000))
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      if pthread_cond_timedwait(condition, mutex, &limit) == ETIMEDOUT { return body(&value) }
    }
  }

  /// Waits until `ready` says so or `seconds` (nil: no limit) have passed, then runs `body`.
  package func wait<R>(seconds: Double?, until ready: (Value) -> Bool, then body: (inout Value) -> R) -> R {
    guard let seconds else { return wait(until: { ready($0) ? body(&$0) : nil }) }
    let nanosecondsAhead = Int64(max(0, min(seconds, 1e9)) * 1e9)
    let deadline = nanoseconds(of: CLOCK_MONOTONIC) + nanosecondsAhead
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var limit = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
    while !ready(value), pthread_cond_timedwait(condition, mutex, &limit) != ETIMEDOUT {}
    return body(&value)
  }
}
