import Glibc

/// What a new thread runs; the box carries the closure through the C pointer.
private final class ThreadBody {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Starts a detached thread that runs `body`.
///
/// Throws `MotionKitError.device` where the system gives no more threads.
func startThread(for purpose: String, _ body: @escaping @Sendable () -> Void) throws(MotionKitError) {
  let box = Unmanaged.passRetained(ThreadBody(body))
  var thread = pthread_t()
  let result = pthread_create(
    &thread, nil,
    { pointer in
      guard let pointer else { return nil }
      Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run()
      return nil
    }, box.toOpaque())
  guard result == 0 else {
    box.release()
    throw .device(
      what: "a thread for \(purpose)", errno: result, hint: "the system has no thread to give; see ulimit -u")
  }
  pthread_detach(thread)
}
