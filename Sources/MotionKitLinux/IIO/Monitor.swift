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
}

/// A clock's reading, nanoseconds.
func nanoseconds(of clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

extension KernelClockOffsets {
  /// Reads this machine's clocks. Each is read between two readings of the boot clock, the closest pair of a few tries.
  static func measure() -> KernelClockOffsets {
    KernelClockOffsets(
      realtime: offset(of: CLOCK_REALTIME), monotonic: offset(of: CLOCK_MONOTONIC), tai: offset(of: CLOCK_TAI))
  }

  private static func offset(of clock: clockid_t) -> Int64 {
    var best = Int64.max
    var result: Int64 = 0
    for _ in 0..<5 {
      let before = nanoseconds(of: CLOCK_BOOTTIME)
      let reading = nanoseconds(of: clock)
      let after = nanoseconds(of: CLOCK_BOOTTIME)
      if after - before < best {
        best = after - before
        result = before + best / 2 - reading
      }
      if best < 5000 { break }
    }
    return result
  }
}

/// Starts a detached thread. False where the system has none to give.
func startThread(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
  final class Body {
    let run: @Sendable () -> Void
    let name: String
    init(_ run: @escaping @Sendable () -> Void, _ name: String) {
      self.run = run
      self.name = name
    }
  }
  let box = Unmanaged.passRetained(Body(body, String(name.prefix(15))))
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  var thread = pthread_t()
  let result = pthread_create(
    &thread, &attributes,
    { argument in
      guard let argument else { return nil }
      let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
      // pthread_setname_np is a GNU extension that Glibc's module map leaves out.
      let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      if file >= 0 {
        _ = body.name.withCString { write(file, $0, strlen($0)) }
        close(file)
      }
      body.run()
      return nil
    }, box.toOpaque())
  if result != 0 { box.release() }
  return result == 0
}
