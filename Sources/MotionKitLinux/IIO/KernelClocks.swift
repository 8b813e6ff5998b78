import Glibc

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
