import Glibc

/// Standard output could not be written.
enum OutputError: Error {
  /// The reader has gone away (`| head`): not an error of ours.
  case closed
  /// The write failed, for example on a full disk.
  case failed(errno: Int32)
}

/// Standard output: data, and nothing else. Collects text and writes it in large pieces.
struct Output {
  private var buffer: [UInt8] = []
  /// As large as a pipe.
  private static let capacity = 65_536

  /// Adds text; writes when enough has come together.
  mutating func write(_ text: String) throws(OutputError) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.capacity { try flush() }
  }

  /// Adds a line.
  mutating func line(_ text: String) throws(OutputError) {
    try write(text)
    try write("\n")
  }

  /// Adds a line that names a file: as it is for programs, printable on a terminal.
  mutating func line(path: String) throws(OutputError) {
    try line(isatty(STDOUT_FILENO) == 1 ? Format.printable(path) : path)
  }

  /// Writes what is held.
  mutating func flush() throws(OutputError) {
    var done = 0
    while done < buffer.count {
      let written = buffer.withUnsafeBytes { bytes in
        Glibc.write(STDOUT_FILENO, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      }
      if written > 0 {
        done += written
        continue
      }
      let code = errno
      if code == EINTR { continue }
      if code == EAGAIN, Self.waitUntilWritable() { continue }
      buffer.removeAll()
      throw code == EPIPE ? .closed : .failed(errno: code)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Waits for a non-blocking standard output (a terminal shared with a program that made it so).
  private static func waitUntilWritable() -> Bool {
    var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&descriptor, 1, 1000) >= 0
  }

  /// Opens `/dev/null` in place of standard descriptors that are closed, so that no file takes their numbers.
  static func fillStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      _ = open("/dev/null", O_RDWR)
    }
  }
}

/// Standard error: everything that is not data.
struct Console {
  /// Whether only errors are said.
  var isQuiet = false
  /// Whether details are said.
  var isVerbose = false
  /// Whether colour may be used on standard error.
  var hasColor = false
  /// Whether a progress line stands on the terminal.
  private var hasProgress = false

  /// Says something worth knowing.
  mutating func note(_ text: String) {
    if !isQuiet { put("motionlog: \(Format.printable(text))\n") }
  }

  /// Says a detail.
  mutating func detail(_ text: String) {
    if isVerbose { put("motionlog: \(Format.printable(text))\n") }
  }

  /// Says what may be wrong.
  mutating func warning(_ text: String) {
    if !isQuiet { put("motionlog: \(paint("33", "warning:")) \(Format.printable(text))\n") }
  }

  /// Says what went wrong; never silenced.
  mutating func error(_ text: String) { put("motionlog: \(paint("31", "error:")) \(Format.printable(text))\n") }

  /// Says more about what was said before.
  mutating func more(_ text: String) { put("  \(Format.printable(text))\n") }

  /// Replaces the progress line on a terminal.
  mutating func progress(_ text: String) {
    guard !isQuiet else { return }
    let columns = Terminal.size(STDERR_FILENO).columns
    Self.write("\r\(Format.printable(text).prefix(max(10, columns - 1)))\u{1B}[K")
    hasProgress = true
  }

  /// Leaves the progress line as it is and goes on below it.
  mutating func endProgress() {
    if hasProgress { Self.write("\n") }
    hasProgress = false
  }

  /// Takes the progress line away.
  mutating func clearProgress() {
    if hasProgress { Self.write("\r\u{1B}[K") }
    hasProgress = false
  }

  private mutating func put(_ text: String) {
    endProgress()
    Self.write(text)
  }

  private func paint(_ code: String, _ text: String) -> String {
    hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    // Nobody to tell if this fails.
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
