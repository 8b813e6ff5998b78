import Glibc

/// State behind a lock, with a condition to wait for its changes. Over pthread, which the thread sanitizer understands.
final class Monitor<State>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  init(_ state: State) {
    self.state = state
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

  /// Runs `body` with the state, alone.
  func withLock<R>(_ body: (inout State) -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&state)
  }

  /// Wakes all that wait.
  func signal() { pthread_cond_broadcast(condition) }

  /// Waits until `ready` says so or `seconds` (nil: no limit) have passed, then runs `body` with the state.
  func wait<R>(seconds: Double?, until ready: (State) -> Bool, then body: (inout State) -> R) -> R {
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
    while !ready(state) {
      if seconds == nil {
        pthread_cond_wait(condition, mutex)
      } else if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
        break
      }
    }
    return body(&state)
  }
}

/// A thread of its own, for work that blocks.
struct WorkerThread: @unchecked Sendable {
  private let thread: pthread_t

  private final class Work {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// Starts `run` on a new thread; nil if the system gives none.
  init?(_ run: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(run))
    let result = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, work.toOpaque())
    guard result == 0 else {
      work.release()
      return nil
    }
    self.thread = thread
  }

  /// Waits until the thread has ended.
  func join() { pthread_join(thread, nil) }
}
