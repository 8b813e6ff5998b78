import Foundation
import Glibc
import Testing

/// A pseudo terminal with the program on it.
final class PseudoTerminal {
  let process: Process
  private let controller: Int32
  private let terminal: Int32
  private(set) var screen = ""

  init(_ arguments: [String], columns: UInt16 = 80, rows: UInt16 = 24, environment: [String: String] = [:]) throws {
    (controller, terminal) = Self.open()
    try #require(terminal >= 0)
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    process = BuiltProgram.process(arguments, environment: ["TERM": "xterm-256color"].merging(environment) { $1 })
    for keyPath in [\Process.standardInput, \.standardOutput, \.standardError] {
      process[keyPath: keyPath] = FileHandle(fileDescriptor: terminal, closeOnDealloc: false)
    }
    try process.run()
  }

  /// Opens a pair of descriptors, the controlling side first; -1 where the system has no pseudo terminals.
  private static func open() -> (Int32, Int32) {
    // posix_openpt and its companions are hidden behind a feature macro; these are what they do.
    let unlock: UInt = 0x4004_5431  // TIOCSPTLCK
    let getNumber: UInt = 0x8004_5430  // TIOCGPTN
    let controller = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (locked, number): (Int32, Int32) = (0, 0)
    guard controller >= 0, ioctl(controller, unlock, &locked) == 0, ioctl(controller, getNumber, &number) == 0 else {
      return (controller, -1)
    }
    return (controller, Glibc.open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC))
  }

  /// Whether there are pseudo terminals here.
  static var isAvailable: Bool {
    let (controller, terminal) = open()
    defer { for descriptor in [controller, terminal] where descriptor >= 0 { close(descriptor) } }
    return terminal >= 0
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    close(terminal)
    close(controller)
  }

  /// Reads until `text` has been shown `count` times in all, or the program says no more for some seconds.
  func wait(for text: String, count: Int = 1) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while screen.components(separatedBy: text).count - 1 < count {
      var descriptor = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, 20_000) == 1 else { return false }
      let length = read(controller, &buffer, buffer.count)
      guard length > 0 else { return false }
      screen += String(decoding: buffer[..<length], as: UTF8.self)
    }
    return true
  }

  /// Presses keys.
  func type(_ keys: String) { _ = keys.withCString { write(controller, $0, strlen($0)) } }

  /// Changes the size, as a window does.
  func resize(columns: UInt16, rows: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    kill(process.processIdentifier, SIGWINCH)
  }

  /// Whether keys come line by line and with echo, as a shell wants it.
  var isRestored: Bool {
    var settings = termios()
    tcgetattr(terminal, &settings)
    let wanted = tcflag_t(ICANON | ECHO)
    return settings.c_lflag & wanted == wanted
  }
}

/// The live readout and the recorder on a terminal.
@Suite(.serialized, .enabled(if: PseudoTerminal.isAvailable, "no pseudo terminals here")) struct TerminalTests {
  private static let enter = "\u{1B}[?1049h"
  private static let leave = "\u{1B}[?1049l"

  @Test func theReadoutShowsEverythingAndQuitsWithQ() throws {
    let terminal = try PseudoTerminal(["live", "-u", "sim:walk", "--speed", "5"])
    for word in [
      Self.enter, "pitch", "heading", "gravity", "user acceleration", "rotation rate", "magnetic field", "altitude",
      "walking", "accelerometer", "clipped", "q quit",
    ] {
      #expect(terminal.wait(for: word), "\(word)")
    }
    #expect(!terminal.isRestored)
    #expect(terminal.screen.contains("\u{1B}[33;44m") || terminal.screen.contains("\u{1B}[97;44m"), "a coloured sky")
    terminal.type("q")
    #expect(terminal.wait(for: Self.leave))
    terminal.process.waitUntilExit()
    #expect(terminal.process.terminationStatus == 0)
    #expect(terminal.isRestored)
  }

  @Test func noColorMeansNone() throws {
    for (arguments, environment) in [(["--no-color"], [:]), ([], ["NO_COLOR": "1"])] {
      let terminal = try PseudoTerminal(["live", "-u", "sim:walk"] + arguments, environment: environment)
      #expect(terminal.wait(for: "gravity", count: 3))
      #expect(terminal.screen.firstMatch(of: /\x1B\[[0-9;]+m/) == nil)
      terminal.type("q")
      terminal.process.waitUntilExit()
    }
  }

  @Test func aMarkedEventIsShown() throws {
    let terminal = try PseudoTerminal(["live", "-u", "sim:walk"], rows: 40)
    #expect(terminal.wait(for: "q quit"))
    terminal.type("m")
    #expect(terminal.wait(for: "mark 1"))
    terminal.type("q")
    terminal.process.waitUntilExit()
  }

  @Test func thePictureFollowsTheSize() throws {
    let terminal = try PseudoTerminal(["live", "-u", "sim:walk", "--no-color"])
    #expect(terminal.wait(for: "q quit"))
    terminal.resize(columns: 50, rows: 14)
    let mark = terminal.screen.count
    #expect(terminal.wait(for: Self.enter))
    let pictures = terminal.screen.components(separatedBy: "q quit").count - 1
    #expect(terminal.wait(for: "q quit", count: pictures + 4))
    terminal.type("q")
    #expect(terminal.wait(for: Self.leave))
    let live = terminal.screen.dropFirst(mark).components(separatedBy: Self.leave)[0]
    let last = try #require(live.components(separatedBy: "\u{1B}[H").dropLast().last)
    let lines = last.replacing(/\x1B\[[0-9;?]*[A-Za-z]/, with: "")
      .unicodeScalars.split { $0 == "\r" || $0 == "\n" }
    #expect(lines.count <= 14)
    for line in lines { #expect(line.count <= 50, "\(line)") }
    terminal.process.waitUntilExit()
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV])
  func theTerminalIsRestoredOnEveryWayOut(number: Int32) throws {
    let terminal = try PseudoTerminal(["live", "-u", "sim:walk"])
    #expect(terminal.wait(for: "q quit"))
    kill(terminal.process.processIdentifier, number)
    #expect(terminal.wait(for: Self.leave))
    terminal.process.waitUntilExit()
    #expect(terminal.isRestored)
  }

  @Test func anErrorLeavesTheTerminalReadable() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 2)
    let file = walk + "/gyroscope.csv"
    var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    lines[150] = "x" + lines[150]
    try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let terminal = try PseudoTerminal(["replay", walk, "--no-color"])
    #expect(terminal.wait(for: "error: "))
    terminal.process.waitUntilExit()
    #expect(terminal.process.terminationStatus == 5)
    #expect(terminal.isRestored)
    let afterScreen = terminal.screen.components(separatedBy: Self.leave).last ?? ""
    #expect(afterScreen.contains("gyroscope.csv:151:1"))
  }

  @Test func theRecorderShowsProgressAndTakesMarks() throws {
    let directory = try TemporaryDirectory()
    let terminal = try PseudoTerminal(["record", directory("walk"), "-u", "sim:walk", "--speed", "5"])
    #expect(terminal.wait(for: "rows"))
    terminal.type("m")
    #expect(terminal.wait(for: "1 mark"))
    terminal.type("q")
    #expect(terminal.wait(for: "recorded: "))
    terminal.process.waitUntilExit()
    #expect(terminal.process.terminationStatus == 0)
    #expect(terminal.isRestored)
    let events = try String(contentsOfFile: directory("walk") + "/events.csv", encoding: .utf8)
    #expect(events.contains(",mark,mark 1"))
  }
}
