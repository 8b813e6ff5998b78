import Glibc
import MotionKitLinux
import SensorFusion
import Synchronization

/// The signals of the process, taken by one thread with `sigwait`, so that nothing runs in a handler and no system
/// call elsewhere is interrupted.
///
/// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPWR (mains are gone) and SIGXCPU (`ulimit -t`) ask for an orderly end; a second
/// one of them ends at once. SIGUSR1 marks an event. SIGTSTP and SIGWINCH keep the screen in order. SIGPIPE is ignored:
/// writes report EPIPE instead; so is SIGUSR2, which must not cost a recording.
final class Signals: Sendable {
  /// The process's signals.
  static let shared = Signals()

  /// The first signal that asked for the end; 0 while none has.
  private let stopSignal = Atomic<Int32>(0)
  /// When marks were asked for that are not yet taken, boot clock.
  private let marks = Locked<[Timestamp]>([])
  private let resized = Atomic<Bool>(false)
  private let holdsData = Atomic<Bool>(false)
  /// Whether a slow end is to be told.
  private let tellsSlowEnd = Atomic<Bool>(false)

  /// The signals that ask for an end, with the words for them.
  private static let stopping: [Int32: String] = [
    SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP", SIGQUIT: "SIGQUIT", SIGPWR: "SIGPWR", SIGXCPU: "SIGXCPU",
  ]
  /// How long an orderly end may take when there is nothing to write.
  private static let patience = timespec(tv_sec: 0, tv_nsec: 800_000_000)
  /// How long it takes, when there is something to write, until the user is told what the wait is for.
  private static let silence = timespec(tv_sec: 2, tv_nsec: 0)

  /// A signal's name.
  static func name(_ number: Int32) -> String { stopping[number] ?? "signal \(number)" }

  /// The signal that asked for the end, if one has.
  var stop: Int32? {
    let signal = stopSignal.load(ordering: .acquiring)
    return signal == 0 ? nil : signal
  }

  /// Takes the marks asked for since the last call: the times of the boot clock at which they were.
  func takeMarks() -> [Timestamp] {
    marks.withLock { waiting in
      defer { waiting.removeAll() }
      return waiting
    }
  }

  /// Asks for a mark now, as SIGUSR1 does.
  func addMark() {
    let now = bootTime()
    marks.withLock { $0.append(now) }
  }

  /// Whether the terminal's size has changed since the last call.
  func takeResize() -> Bool { resized.exchange(false, ordering: .acquiringAndReleasing) }

  /// Says whether there is data to write before the end. While there is none, a stop signal ends the process after
  /// `patience` even when the main thread is stuck in a device or a connection; while there is, the end waits for the
  /// disk, and `tells` says whether a long wait is told.
  func setHoldsData(_ value: Bool, tells: Bool = false) {
    tellsSlowEnd.store(value && tells, ordering: .releasing)
    holdsData.store(value, ordering: .releasing)
  }

  /// Blocks the signals in every thread and starts the thread that takes them. Call before any other thread exists.
  func install() {
    signal(SIGPIPE, SIG_IGN)
    // A file at its largest size is an error of the write, too (EFBIG).
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGUSR2, SIG_IGN)
    var set = sigset_t()
    sigemptyset(&set)
    for number in Self.stopping.keys where !(number == SIGHUP && Self.isIgnored(number)) { sigaddset(&set, number) }
    for number in [SIGUSR1, SIGWINCH, SIGTSTP] { sigaddset(&set, number) }
    // Set, not added to: some parents hand down a mask that blocks nearly everything.
    pthread_sigmask(SIG_SETMASK, &set, nil)
    Terminal.restoreOnCrash()

    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in Signals.shared.takeSignals() }, nil)
    pthread_detach(thread)
  }

  /// Whether the parent asked for the signal to be ignored, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    var old = sigaction()
    sigaction(number, nil, &old)
    return unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private func takeSignals() -> UnsafeMutableRawPointer? {
    var set = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &set)
    while true {
      var number: Int32 = 0
      if let first = stop, !holdsData.load(ordering: .acquiring) {
        var patience = Self.patience
        number = sigtimedwait(&set, nil, &patience)
        if number < 0 {
          if errno == EAGAIN, !holdsData.load(ordering: .acquiring) { endAtOnce(first) }
          continue
        }
      } else if stop != nil, tellsSlowEnd.load(ordering: .acquiring) {
        var silence = Self.silence
        number = sigtimedwait(&set, nil, &silence)
        if number < 0 {
          if errno == EAGAIN, tellsSlowEnd.exchange(false, ordering: .acquiringAndReleasing) { Self.tellSlowEnd() }
          continue
        }
      } else {
        sigwait(&set, &number)
      }
      take(number)
    }
  }

  private func take(_ number: Int32) {
    switch number {
    case SIGUSR1: addMark()
    case SIGWINCH: resized.store(true, ordering: .releasing)
    case SIGTSTP:
      Terminal.suspend { kill(getpid(), SIGSTOP) }
      resized.store(true, ordering: .releasing)
    case _ where Self.stopping[number] != nil:
      let (isFirst, _) = stopSignal.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing)
      if !isFirst { endAtOnce(number) }
    default: break
    }
  }

  private static func tellSlowEnd() {
    let line = isatty(STDERR_FILENO) == 1 ? "\r\u{1B}[K" : ""
    let text =
      line + "motionlog: waiting for the disk to take the rest; the same signal again ends at once"
      + " (what has been written stays readable)\n"
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  private func endAtOnce(_ number: Int32) -> Never {
    Terminal.restore()
    _exit(128 + number)
  }
}
