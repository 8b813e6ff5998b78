import Glibc

/// The host and port of an `ip:` URI; nil for any other.
func networkAddress(ofURI uri: String) -> (host: String, port: String)? {
  guard uri.hasPrefix("ip:") else { return nil }
  let rest = String(uri.dropFirst(3))
  let standardPort = "30431"
  if rest.hasPrefix("["), let close = rest.firstIndex(of: "]") {
    let host = String(rest[rest.index(after: rest.startIndex)..<close])
    let after = rest[rest.index(after: close)...]
    return (host, after.hasPrefix(":") ? String(after.dropFirst()) : standardPort)
  }
  let colons = rest.filter { $0 == ":" }.count
  guard colons == 1, let colon = rest.firstIndex(of: ":") else { return (rest, standardPort) }
  return (String(rest[..<colon]), String(rest[rest.index(after: colon)...]))
}

/// Finds out within a few seconds whether somebody listens at an `ip:` URI; libiio alone may take minutes for a name.
///
/// - Parameters:
///   - uri: Of the context; anything but `ip:` passes at once.
///   - seconds: The limit for name resolution and connection together.
///   - isStopped: Asked ten times a second; the probe ends early if it answers true.
/// - Throws: `notFound` with what to check.
func probeNetwork(
  uri: String, seconds: Double, isStopped: @escaping @Sendable () -> Bool = { false }
) throws(MotionKitError) {
  guard let (host, port) = networkAddress(ofURI: uri), !host.isEmpty else { return }
  guard let number = Int(port), (1...65535).contains(number) else {
    throw .invalidSource(uri: uri, reason: "'\(port)' is not a port: ip:HOST[:PORT]")
  }
  // The resolver cannot be interrupted: it runs on a thread of its own, which ends by itself when it is done.
  let result = Locked<ProbeResult?>(nil)
  let deadline = nanoseconds(of: CLOCK_MONOTONIC) + Int64(seconds * 1e9)
  try SystemThread.detach(name: "motionkit-probe") {
    let outcome = connectOnce(host: host, port: port, deadline: deadline, isStopped: isStopped)
    result.withLockNotifying { $0 = outcome }
  }
  let outcome = result.wait(until: deadline + 50_000_000) { $0 }
  switch outcome {
  case .connected: return
  case .unknownHost(let reason):
    throw .notFound(what: "\(uri): no host '\(host)' (\(reason))", hint: "check the name, or use the board's address")
  case .failed(ECONNREFUSED):
    throw .notFound(
      what: "\(uri): \(host) is there, but nothing listens on port \(port)",
      hint: "start iiod on the board (apt install iiod), or give its port: ip:\(host):PORT")
  case .failed(let code) where code != ETIMEDOUT:
    throw .notFound(
      what: "\(uri): \(host) cannot be reached (\(errorText(code)))", hint: "check the address and the network")
  case .failed, nil:
    throw .notFound(
      what: "\(uri): no answer from \(host) within \(Int(seconds.rounded())) s",
      hint: "check the address, the network and the board's firewall (port \(port))")
  }
}

private enum ProbeResult: Sendable {
  case connected
  case unknownHost(String)
  case failed(Int32)
}

/// Connects to any address of the host and closes again.
private func connectOnce(host: String, port: String, deadline: Int64, isStopped: () -> Bool) -> ProbeResult {
  var hints = addrinfo()
  hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  var list: UnsafeMutablePointer<addrinfo>?
  let code = getaddrinfo(host, port, &hints, &list)
  guard code == 0 else { return .unknownHost(gai_strerror(code).map { String(cString: $0) } ?? "not found") }
  defer { freeaddrinfo(list) }
  var last = ProbeResult.failed(ETIMEDOUT)
  var next = list
  while let address = next?.pointee {
    next = address.ai_next
    let socket = socket(
      address.ai_family, address.ai_socktype | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
      address.ai_protocol)
    guard socket >= 0 else { continue }
    defer { close(socket) }
    var error: Int32 = 0
    if connect(socket, address.ai_addr, address.ai_addrlen) != 0 { error = errno }
    while error == EINPROGRESS {
      if nanoseconds(of: CLOCK_MONOTONIC) >= deadline || isStopped() { return .failed(ETIMEDOUT) }
      var waiting = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
      if poll(&waiting, 1, 100) > 0 {
        var size = socklen_t(MemoryLayout<Int32>.size)
        if getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 { error = errno }
      }
    }
    if error == 0 { return .connected }
    last = .failed(error)
  }
  return last
}
