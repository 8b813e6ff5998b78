import Glibc

@testable import MotionKitLinux

/// A TCP relay that makes a network bad: every byte is delayed, connections stall and are cut. One thread serves all.
final class SlowNetwork: Sendable {
  struct Settings: Sendable {
    /// Nanoseconds that every byte takes, each way.
    var delay: Int64 = 0
    /// Nothing passes before this time (CLOCK_MONOTONIC).
    var stalledUntil: Int64 = 0
    var isCut = false
    var isStopped = false
  }

  let port: UInt16
  private let settings = Locked(Settings())

  /// Relays connections to a port of this machine.
  init(to target: UInt16, delaySeconds: Double) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = Self.with(&address) { bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0 }
    guard isBound, listen(listener, 16) == 0 else {
      throw MotionKitError.device(what: "no port for the relay", errno: errno, hint: "")
    }
    port = UInt16(bigEndian: address.sin_port)
    settings.withLock { $0.delay = Int64(delaySeconds * 1e9) }
    let settings = settings
    try SystemThread.detach(name: "slow network") { Self.run(listener, target, settings) }
  }

  deinit { stop() }

  /// Nothing passes for a while; nothing is lost either.
  func stall(seconds: Double) {
    settings.withLock { $0.stalledUntil = nanoseconds(of: CLOCK_MONOTONIC) + Int64(seconds * 1e9) }
  }
  /// Ends all connections; new ones are served.
  func cut() { settings.withLock { $0.isCut = true } }
  func stop() { settings.withLock { $0.isStopped = true } }

  /// One direction of a connection.
  private struct Lane {
    var from: Int32
    var to: Int32
    var waiting: [(due: Int64, bytes: [UInt8])] = []
  }

  private static func run(_ listener: Int32, _ target: UInt16, _ settings: Locked<Settings>) {
    var lanes: [Lane] = []
    func closeAll() {
      for socket in Set(lanes.flatMap { [$0.from, $0.to] }) { close(socket) }
      lanes = []
    }
    defer {
      closeAll()
      close(listener)
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let now = nanoseconds(of: CLOCK_MONOTONIC)
      let current = settings.withLock { value in
        defer { value.isCut = false }
        return value
      }
      if current.isStopped { return }
      if current.isCut { closeAll() }
      var polled = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
      polled += lanes.map { pollfd(fd: $0.from, events: Int16(POLLIN), revents: 0) }
      _ = poll(&polled, nfds_t(polled.count), 2)
      var ended = Set<Int32>()
      for index in lanes.indices {
        if polled[index + 1].revents != 0 {
          let count = Glibc.read(lanes[index].from, &buffer, buffer.count)
          if count <= 0 {
            ended.formUnion([lanes[index].from, lanes[index].to])
          } else {
            lanes[index].waiting.append((now + current.delay, Array(buffer[..<count])))
          }
        }
        while let first = lanes[index].waiting.first, first.due <= now, now >= current.stalledUntil {
          _ = send(lanes[index].to, first.bytes, first.bytes.count, Int32(MSG_NOSIGNAL))
          lanes[index].waiting.removeFirst()
        }
      }
      for socket in ended { close(socket) }
      lanes.removeAll { ended.contains($0.from) || ended.contains($0.to) }
      guard polled[0].revents != 0 else { continue }
      let client = accept(listener, nil, nil)
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.address(target)
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      guard client >= 0, Self.with(&address, { connect(server, $0, size) }) == 0 else {
        close(client)
        close(server)
        continue
      }
      lanes.append(Lane(from: client, to: server))
      lanes.append(Lane(from: server, to: client))
    }
  }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  private static func with<Result>(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
  ) -> Result {
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
    }
  }
}
