import Glibc
import Synchronization

/// The terminal that the program runs on: what it can do, its size, and the screen that `live` draws on.
enum Terminal {
  /// Whether `descriptor` is a terminal that can move its cursor, with this process in the foreground.
  static func isInteractive(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1, environment("TERM") != "dumb" else { return false }
    let foreground = tcgetpgrp(descriptor)
    return foreground < 0 || foreground == getpgrp()
  }

  /// Whether the locale's encoding is UTF-8. Where no locale is set, as over a bare ssh or in a container, the
  /// terminal is taken for one of today.
  static let isUTF8: Bool = {
    // The order of setlocale(3): the first one that is set and not empty decides.
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
    guard let lower = name?.lowercased() else { return true }
    return lower.hasSuffix("utf-8") || lower.hasSuffix("utf8") || lower.contains("utf-8@")
  }()

  /// Columns and rows of the terminal; 80 x 24 where it does not say.
  static func size(_ descriptor: Int32) -> (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// A variable of the environment.
  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  // MARK: The screen

  /// Alternate screen, hidden cursor, no wrapping; and back.
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  private static let leave: [UInt8] = Array("\u{1B}[?7h\u{1B}[?25h\u{1B}[0m\u{1B}[?1049l".utf8)

  private static let isOnScreen = Atomic<Bool>(false)
  private static let hasKeyboard = Atomic<Bool>(false)
  /// The keyboard's settings before `takeKeyboard`. Written once, by the main thread, before `hasKeyboard` is set.
  private nonisolated(unsafe) static var savedKeyboard: termios?

  /// Lets keys come one by one and without echo, where standard input is a terminal; returns whether they do.
  /// `restore`, which runs on every way out of the process, ends it.
  @discardableResult
  static func takeKeyboard() -> Bool {
    if savedKeyboard == nil {
      var settings = termios()
      guard isInteractive(STDIN_FILENO), tcgetattr(STDIN_FILENO, &settings) == 0 else { return false }
      savedKeyboard = settings
    }
    if !hasKeyboard.exchange(true, ordering: .acquiringAndReleasing) { setKeyboard() }
    return true
  }

  /// Takes over the whole terminal; the text that was there comes back with `restore`.
  static func enterScreen() {
    if !isOnScreen.exchange(true, ordering: .acquiringAndReleasing) { showScreen() }
  }

  /// Gives keyboard and screen back. Safe to call twice, from any thread and from a signal handler.
  static func restore() {
    if isOnScreen.exchange(false, ordering: .acquiringAndReleasing) { hideScreen() }
    if hasKeyboard.exchange(false, ordering: .acquiringAndReleasing) { resetKeyboard() }
  }

  /// Gives keyboard and screen back for as long as `pause` takes.
  static func suspend(_ pause: () -> Void) {
    let (wasOnScreen, hadKeyboard) = (isOnScreen.load(ordering: .acquiring), hasKeyboard.load(ordering: .acquiring))
    if wasOnScreen { hideScreen() }
    if hadKeyboard { resetKeyboard() }
    pause()
    if hadKeyboard, hasKeyboard.load(ordering: .acquiring) { setKeyboard() }
    if wasOnScreen, isOnScreen.load(ordering: .acquiring) { showScreen() }
  }

  private static func setKeyboard() {
    guard var settings = savedKeyboard else { return }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    withUnsafeMutableBytes(of: &settings.c_cc) { keys in
      keys[Int(VMIN)] = 0
      keys[Int(VTIME)] = 0
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }

  private static func resetKeyboard() {
    if var settings = savedKeyboard { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
  }

  private static func showScreen() {
    let bytes = Array(enter.utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }

  private static func hideScreen() {
    leave.withUnsafeBufferPointer { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  /// Gives the terminal back if the program crashes.
  static func restoreOnCrash() {
    _ = leave.count  // initialised here, not in the handler
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT] {
      signal(number) { number in
        Terminal.restore()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// A key that was pressed since the last call, if any. Only after `takeKeyboard`.
  static func readKey() -> UInt8? {
    guard hasKeyboard.load(ordering: .acquiring) else { return nil }
    // Asked first: after a suspension the terminal may for a moment be in the shell's mode, in which a read waits.
    var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, 0) == 1, descriptor.revents & Int16(POLLIN) != 0 else { return nil }
    var key: UInt8 = 0
    return read(STDIN_FILENO, &key, 1) == 1 ? key : nil
  }
}
