import Glibc

/// The sockets of a server and the thread that serves them.
final class IIODServerLoop: @unchecked Sendable {
  struct State {
    var engine: IIODEngine
    var isRefusing = false
    var isStopping = false
    var hasEnded = false
  }

  /// Clients at a time; more are turned away.
  private static let clientLimit = 128
  /// Bytes taken from a client at a time.
  private static let readSize = 16 << 10

  private struct Client {
    var descriptor: Int32
    var id: Int
  }

  let state: Locked<State>
  private let listener: Int32
  private let wakeReader: Int32
  private let wakeWriter: Int32
  /// The rest belongs to the thread.
  private var clients: [Client] = []
  private var buffer = [UInt8](repeating: 0, count: readSize)

  /// Serves the clients that come to `listener`, which it takes over.
  init(engine: IIODEngine, listener: Int32) throws(MotionKitError) {
    var pipes: [Int32] = [-1, -1]
    guard pipe(&pipes) == 0 else {
      let code = errno
      close(listener)
      throw .device(what: "the emulator's pipe", errno: code, hint: "too many open files: see ulimit -n")
    }
    self.listener = listener
    (wakeReader, wakeWriter) = (pipes[0], pipes[1])
    for descriptor in pipes { TCPListener.makeNonBlocking(descriptor) }
    state = Locked(State(engine: engine))
    do {
      try SystemThread.detach(name: "iiod server") { self.run() }
    } catch {
      close(listener)
      throw error
    }
  }

  deinit {
    close(wakeReader)
    close(wakeWriter)
  }

  /// The clock that timeouts are measured by.
  private static func now() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

  /// Hands samples to the engine from any thread; the thread is woken only if there is something to send.
  func deliver(_ body: (inout IIODEngine, Int64) -> Void) {
    let isWakeNeeded = state.withLock { state in
      body(&state.engine, Self.now())
      return state.engine.hasOutput
    }
    if isWakeNeeded { wake() }
  }

  /// Changes the state from any thread; what follows from it for the connections is done at once.
  func change(_ body: (inout State, Int64) -> Void) {
    state.withLock { body(&$0, Self.now()) }
    wake()
  }

  /// Ends the thread and waits until it has ended.
  func stop() {
    state.withLock { $0.isStopping = true }
    wake()
    state.wait { $0.hasEnded ? () : nil }
  }

  private func wake() {
    var byte: UInt8 = 0
    // A full pipe wakes as well.
    _ = write(wakeWriter, &byte, 1)
  }

  // MARK: The thread

  private func run() {
    var entries: [pollfd] = []
    while true {
      entries.removeAll(keepingCapacity: true)
      entries.append(pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0))
      entries.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
      let (isStopping, timeout) = state.withLock { state in
        for client in clients {
          var events: Int32 = 0
          if state.engine.wantsInput(from: client.id) { events |= POLLIN }
          if state.engine.pendingOutput(of: client.id) > 0 { events |= POLLOUT }
          entries.append(pollfd(fd: client.descriptor, events: Int16(events), revents: 0))
        }
        return (state.isStopping, Self.milliseconds(until: state.engine.deadline))
      }
      if isStopping { break }
      guard poll(&entries, nfds_t(entries.count), timeout) >= 0 || errno == EINTR else { break }
      if entries[0].revents != 0 { while read(wakeReader, &buffer, buffer.count) > 0 {} }
      for index in clients.indices { serve(clients[index], events: Int32(entries[index + 2].revents)) }
      if entries[1].revents != 0 { accept() }
      state.withLock { $0.engine.advance(to: Self.now()) }
      finish()
    }
    for client in clients { close(client.descriptor) }
    close(listener)
    state.withLockNotifying { $0.hasEnded = true }
  }

  private static func milliseconds(until deadline: Int64?) -> Int32 {
    guard let deadline else { return -1 }
    // Rounded up, so that the deadline has passed when poll returns.
    return Int32(min(max(0, (deadline - now() + 999_999) / 1_000_000), 1_000_000))
  }

  private func serve(_ client: Client, events: Int32) {
    if events & POLLIN != 0 {
      let count = recv(client.descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        state.withLock { $0.engine.receive(Array(buffer[..<count]), from: client.id, at: Self.now()) }
      } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
        // The client says no more; what it is owed is still sent.
        state.withLock { $0.engine.end(client.id) }
      }
    } else if events & (POLLERR | POLLHUP | POLLNVAL) != 0 {
      state.withLock { $0.engine.disconnect(client.id, at: Self.now()) }
      return
    }
    send(to: client)
  }

  /// Sends what the socket takes.
  private func send(to client: Client) {
    state.withLock { state in
      var hasFailed = false
      state.engine.sendOutput(of: client.id, at: Self.now()) { bytes in
        let count = Glibc.send(client.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        hasFailed = count < 0 && errno != EAGAIN && errno != EINTR
        return max(0, count)
      }
      if hasFailed { state.engine.disconnect(client.id, at: Self.now()) }
    }
  }

  /// Takes in all who wait at the door.
  private func accept() {
    while true {
      let descriptor = Glibc.accept(listener, nil, nil)
      guard descriptor >= 0 else { return }
      TCPListener.makeNonBlocking(descriptor)
      let id = state.withLock { state in
        state.isRefusing || clients.count >= Self.clientLimit ? nil : state.engine.connect()
      }
      guard let id else {
        reset(descriptor)
        continue
      }
      var on: Int32 = 1
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
      clients.append(Client(descriptor: descriptor, id: id))
    }
  }

  /// Closes the connections that are over.
  private func finish() {
    state.withLock { state in
      clients.removeAll { client in
        guard state.engine.isEnded(client.id), state.engine.pendingOutput(of: client.id) == 0 else { return false }
        if state.engine.isConnected(client.id) {
          state.engine.disconnect(client.id, at: Self.now())
          close(client.descriptor)
        } else {
          // The engine dropped it, or the client is gone: nothing more is to be delivered.
          reset(client.descriptor)
        }
        return true
      }
    }
  }

  /// Closes a connection so that the other side learns of it at once.
  private func reset(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close(descriptor)
  }
}
