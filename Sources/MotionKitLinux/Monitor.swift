import Glibc

/// A value behind a mutex, with a condition to wait on: POSIX, since the thread sanitizer understands it.
final class Monitor<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Timed waits must not follow the wall clock when it is set.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` alone; everybody who waits looks again afterwards if `notify` is set.
  func with<Result>(notify: Bool = false, _ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let result = body(&value)
    if notify { pthread_cond_broadcast(condition) }
    return result
  }

  /// Waits until `body` gives a result, at most until `deadline` (nanoseconds of CLOCK_MONOTONIC); nil after that.
  func wait<Result>(until deadline: Int64, for body: (inout Value) -> Result?) -> Result? {
    var limit = timespec(tv_sec: Int(max(0, deadline) / 1_000_000_000), tv_nsec: Int(max(0, deadline) % 1_000_000_000))
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      if pthread_cond_timedwait(condition, mutex, &limit) == ETIMEDOUT { return body(&value) }
    }
  }

  /// Runs `body` alone.
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result { with(body) }

  /// Wakes all that wait.
  func signal() { pthread_cond_broadcast(condition) }

  /// Waits until `ready` says so or `seconds` (nil: no limit) have passed, then runs `body`.
  func wait<Result>(seconds: Double?, until ready: (Value) -> Bool, then body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var deadline = timespec()
    if let seconds {
      clock_gettime(CLOCK_MONOTONIC, &deadline)
      let wait = Int64(max(0, min(seconds, 1e9)) * 1e9)
      let nanoseconds = Int64(deadline.tv_nsec) + wait % 1_000_000_000
      deadline.tv_sec += Int(wait / 1_000_000_000 + nanoseconds / 1_000_000_000)
      deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
    }
    while !ready(value) {
      if seconds == nil {
        pthread_cond_wait(condition, mutex)
      } else if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
        break
      }
    }
    return body(&value)
  }
}
