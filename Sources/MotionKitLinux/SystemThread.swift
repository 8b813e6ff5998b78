import Glibc

/// A thread of the system, for work that blocks; `top -H` shows its name.
struct SystemThread: @unchecked Sendable {
  private let thread: pthread_t

  /// What a new thread runs; the box carries the closure through the C pointer.
  private final class Work {
    let name: String
    let run: @Sendable () -> Void
    init(_ name: String, _ run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// The kernel's limit of a thread's name, bytes (TASK_COMM_LEN less the closing zero).
  private static let longestName = 15

  /// Starts `run` on a new thread, to be joined once.
  ///
  /// Throws `MotionKitError.device` where the system gives no more threads.
  init(name: String, _ run: @escaping @Sendable () -> Void) throws(MotionKitError) {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(name, run))
    let result = pthread_create(
      &thread, nil,
      { pointer in
        guard let pointer else { return nil }
        let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
        SystemThread.nameThisOne(work.name)
        work.run()
        return nil
      }, work.toOpaque())
    guard result == 0 else {
      work.release()
      throw .device(
        what: "a thread for \(name)", errno: result, hint: "the system has no thread to give; see ulimit -u")
    }
    self.thread = thread
  }

  /// Starts a thread that nobody waits for. Throws as `init` does.
  static func detach(name: String, _ run: @escaping @Sendable () -> Void) throws(MotionKitError) {
    pthread_detach(try SystemThread(name: name, run).thread)
  }

  /// Waits until the thread has ended.
  func join() { pthread_join(thread, nil) }

  /// pthread_setname_np is a GNU extension that Glibc's module map leaves out.
  private static func nameThisOne(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    let bytes = Array(name.utf8.prefix(longestName))
    _ = write(file, bytes, bytes.count)
    close(file)
  }
}
