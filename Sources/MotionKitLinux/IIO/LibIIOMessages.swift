import CIIO
import Glibc

/// Keeps libiio's own messages off the standard error, and nothing else.
///
/// Whenever a connection ends, libiio prints lines such as `ERROR: READ LINE: -9` with `fprintf(stderr, …)`; the library
/// has no switch for it. They would spoil a screen that is drawn in place, and say nothing that our errors and events do
/// not. So the C library's `stderr` stream is replaced once by one that drops what a thread writes while it is inside
/// libiio, and passes on everything else unchanged and at once. Descriptor 2 itself is not touched. Setting the
/// environment variable MOTIONKIT_LIBIIO_MESSAGES leaves everything as it is.
enum LibIIOMessages {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  private static let isInstalled: Bool = {
    guard getenv("MOTIONKIT_LIBIIO_MESSAGES") == nil else { return false }
    _ = key
    let functions = ciio_stream_functions(
      read: nil,
      write: { _, bytes, count in
        guard let bytes else { return 0 }
        return LibIIOMessages.isQuiet ? count : write(2, bytes, count)
      }, seek: nil, close: nil)
    guard let stream = ciio_open_stream(nil, "w", functions) else { return false }
    setvbuf(stream, nil, Int32(_IONBF), 0)
    ciio_set_standard_error(stream)
    return true
  }()

  private static var isQuiet: Bool { pthread_getspecific(key) != nil }

  /// Drops what this thread's C code writes to `stderr` from now on; for threads that do nothing but read devices.
  static func silenceThread() {
    guard isInstalled else { return }
    pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
  }

  /// Runs `body`, whose C code's messages are dropped.
  static func silenced<Result>(_ body: () throws(MotionKitError) -> Result) throws(MotionKitError) -> Result {
    guard isInstalled, !isQuiet else { return try body() }
    pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1))
    defer { pthread_setspecific(key, nil) }
    return try body()
  }
}
