import Foundation
import Glibc
import MotionKitLinux

/// Debian's iiod over a file tree made from an emulated board.
final class RealIIOD {
  /// Whether one can be run here: as root, or where users may make namespaces.
  static let isAvailable: Bool = {
    // Later versions answer otherwise in places; this is the one that the emulator speaks as.
    guard let version = TestProgram.run("iiod", ["-V"]),
      String(decoding: version.output, as: UTF8.self).contains("0.24")
    else { return false }
    return TestProgram.run("unshare", namespace + ["mount", "--bind", "/usr", "/sys/bus"])?.status == 0
  }()

  private static let namespace = getuid() == 0 ? ["-m"] : ["-r", "-m"]

  let port: UInt16
  private let directory: URL
  private let process = Process()
  private let fifo: Int32

  init(board: EmulatedBoard) throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("iiod-\(UUID().uuidString)")
    try Self.write(board, to: directory)
    port = try TestConnection.freePort()
    // One path for the tree in both worlds: iiod opens the FIFO as /dev/iio:device0, the test by its own path.
    let script = """
      set -e
      for node in null zero urandom; do mount --bind /dev/$node "$1/dev/$node"; done
      mount --bind "$1/bus" /sys/bus
      mount --rbind "$1/dev" /dev
      exec iiod -p "$2"
      """
    fifo = open(directory.appendingPathComponent("dev/iio:device0").path, O_RDWR | O_NONBLOCK)
    process.executableURL = URL(fileURLWithPath: try TestProgram.path("unshare").orThrow("unshare is missing"))
    process.arguments = Self.namespace + ["sh", "-c", script, "sh", directory.path, String(port)]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    // It answers as soon as it has read the tree.
    for _ in 0..<1000 where (try? TestConnection(port: port).ask("VERSION\r\n", count: 5)) == nil {
      guard process.isRunning else { throw TestFailure("iiod ended at once") }
      usleep(10_000)
    }
  }

  /// Samples for iio:device0, as bytes of the kernel's.
  func feed(_ bytes: [UInt8]) throws {
    guard Glibc.write(fifo, bytes, bytes.count) == bytes.count else { throw TestFailure("the FIFO is full") }
  }

  /// Takes back what nobody has read.
  func drain() {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while read(fifo, &buffer, buffer.count) > 0 {}
  }

  func stop() {
    // Asked politely, it would wait for its clients to leave.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    close(fifo)
    try? FileManager.default.removeItem(at: directory)
  }

  /// Writes the tree that the kernel would show for the board.
  private static func write(_ board: EmulatedBoard, to directory: URL) throws {
    let files = FileManager.default
    try files.createDirectory(at: directory.appendingPathComponent("dev/shm"), withIntermediateDirectories: true)
    for node in ["null", "zero", "urandom"] {
      try Data().write(to: directory.appendingPathComponent("dev/\(node)"))
    }
    for device in board.devices {
      let folder = directory.appendingPathComponent("bus/iio/devices/\(device.id)")
      func put(_ name: String, _ text: String) throws {
        let url = folder.appendingPathComponent(name)
        try files.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data((text + "\n").utf8).write(to: url)
      }
      try put("name", device.name)
      if !device.label.isEmpty { try put("label", device.label) }
      for attribute in device.attributes + device.channels.flatMap(\.attributes) {
        try put(attribute.fileName, text(of: attribute, device: device))
      }
      guard device.hasBuffer else { continue }
      for channel in device.channels {
        guard let index = channel.scanIndex else { continue }
        try put("scan_elements/in_\(channel.id)_en", "0")
        try put("scan_elements/in_\(channel.id)_index", "\(index)")
        try put(
          "scan_elements/in_\(channel.id)_type",
          channel.format.text.lowercased().replacingOccurrences(of: "x", with: "X"))
      }
      for (name, value) in [
        ("data_available", "0"), ("direction", "in"), ("enable", "0"), ("length", "2"), ("watermark", "1"),
      ] {
        try put("buffer/\(name)", value)
      }
      let trigger = board.devices.first { $0.id == device.trigger }
      try put("trigger/current_trigger", trigger?.name ?? "")
      guard mkfifo(directory.appendingPathComponent("dev/\(device.id)").path, 0o600) == 0 else {
        throw TestFailure("no FIFO for \(device.id)")
      }
    }
  }

  private static func text(of attribute: EmulatedAttribute, device: EmulatedDevice) -> String {
    switch attribute.value {
    case .text(let text): return text
    case .raw: return "0"
    case .processed: return "0.000000000"
    case .samplingFrequency: return "\(Int(device.rate)).000000"
    case .availableFrequencies:
      return device.availableRates.map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" }.joined(separator: " ")
    case .timestampClock: return "realtime\n"
    }
  }
}

struct TestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension Optional {
  func orThrow(_ message: String) throws -> Wrapped {
    guard let value = self else { throw TestFailure(message) }
    return value
  }
}

/// A TCP client with a limit on how long it waits.
final class TestConnection {
  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    // deinit closes the socket: it runs after a throw too, since all is initialised.
    guard result == 0 else { throw TestFailure("no connection to port \(port): errno \(errno)") }
    // Far more than anything takes; only a test that fails waits as long.
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) throws {
    guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw TestFailure("sending failed: errno \(errno)")
    }
  }

  /// Receives until the bytes end in `ending` and are at least `count`. Gives less where the connection ends.
  func receive(until ending: String = "", count: Int = 0) throws -> [UInt8] {
    var result: [UInt8] = []
    let end = Array(ending.utf8)
    var buffer = [UInt8](repeating: 0, count: 65536)
    while result.count < count || !result.suffix(end.count).elementsEqual(end)
      || (count == 0 && result.count < end.count)
    {
      let received = recv(descriptor, &buffer, buffer.count, 0)
      guard received > 0 else {
        if received == 0 { return result }
        if result.count > 0 { return result }
        throw TestFailure(
          "nothing more in time after \(String(decoding: result.suffix(200), as: UTF8.self).debugDescription)")
      }
      result.append(contentsOf: buffer[..<received])
    }
    return result
  }

  func ask(_ text: String, until ending: String = "", count: Int = 0) throws -> [UInt8] {
    try send(Array(text.utf8))
    return try receive(until: ending, count: count)
  }

  func sendNoMore() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Receives until the other side closes.
  func receiveAll() throws -> [UInt8] { try receive(count: .max) }

  /// Whether anything comes in time.
  func hasInput(within seconds: Double) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, Int32(seconds * 1000)) > 0
  }

  /// A port that nobody listens on at the moment.
  static func freePort() throws -> UInt16 {
    let server = try IIODServer(board: EmulatedBoard(summary: "", devices: []))
    defer { server.stop() }
    return server.port
  }
}
