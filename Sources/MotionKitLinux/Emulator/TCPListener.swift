import Glibc

/// Opens listening sockets.
enum TCPListener {
  /// A non-blocking socket that listens at the first address that `host` stands for.
  static func open(host: String, port: UInt16) throws(MotionKitError) -> Int32 {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0, let address = list?.pointee else {
      let reason = gai_strerror(code).map { String(cString: $0) } ?? "error \(code)"
      throw .notFound(what: "the address \(host) to listen on", hint: "\(reason); use 127.0.0.1, or 0.0.0.0 for all")
    }
    defer { freeaddrinfo(list) }
    let descriptor = socket(address.ai_family, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw failure(errno, host: host, port: port) }
    makeNonBlocking(descriptor)
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, 32) == 0 else {
      let code = errno
      close(descriptor)
      throw failure(code, host: host, port: port)
    }
    return descriptor
  }

  /// No call on the descriptor waits, and no child process inherits it.
  static func makeNonBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  private static func failure(_ code: Int32, host: String, port: UInt16) -> MotionKitError {
    let what = "port \(port) of \(host)"
    switch code {
    case EADDRINUSE: return .busy(what: what, hint: "an iiod may run on this machine; choose another with --port")
    case EACCES: return .notPermitted(what: what, hint: "ports below 1024 are for root; choose another with --port")
    case EADDRNOTAVAIL: return .notFound(what: what, hint: "this machine has no such address; try 127.0.0.1")
    default: return .device(what: what, errno: code, hint: "try another with --host and --port")
    }
  }

  /// The port that a socket listens on.
  static func port(of descriptor: Int32) -> UInt16 {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &size) }
      // The port lies at the same place in addresses of both families.
      return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
    }
  }
}
