import SensorFusion

extension IIODEngine {
  /// Holds that a device's buffer may have at once; a client that opens again and again is refused at some point.
  static let streamLimit = 256
  /// What all clients of a device may have waiting together, 64-bit words: 64 MiB.
  static let queuedWordLimit = 8 << 20

  // MARK: Samples

  /// A sensor has delivered a sample: the devices that it feeds show it, and capture it where a buffer is on.
  ///
  /// `sample.time` is boot clock time; clients see it in the clock that they chose, by `clockOffsets`.
  public mutating func deliver(_ sample: SensorSample, at now: Int64) {
    count(samples: 1)
    var hasBlock = false
    for index in devices.indices where devices[index].kinds.contains(sample.kind) {
      let due = devices[index].take(sample)
      if let time = due.late { devices[index].capture(at: time, offsets: clockOffsets) }
      devices[index].apply(sample)
      if let time = due.now { devices[index].capture(at: time, offsets: clockOffsets) }
      hasBlock = hasBlock || isBlockReady(of: index)
    }
    if hasBlock { settle(at: now) }
  }

  /// A device has captured these raw values, those of all its channels one after another, repeated ones in full, the
  /// time stamp left at 0: for boards that tests make up. Values beyond the channels are ignored, missing ones are 0.
  public mutating func deliver(raw values: [Int64], to device: String, time: Timestamp, at now: Int64) {
    guard let index = find(device), !devices[index].isMuted, !devices[index].isUnplugged else { return }
    count(samples: 1)
    for place in devices[index].values.indices {
      devices[index].values[place] = place < values.count ? values[place] : 0
    }
    devices[index].capture(at: time, offsets: clockOffsets)
    if isBlockReady(of: index) { settle(at: now) }
  }

  private func isBlockReady(of device: Int) -> Bool {
    guard let capture = devices[device].capture else { return false }
    return devices[device].streams.contains {
      $0.waitingSince != nil && $0.queue.count >= capture.blockCount($0.sampleCount)
    }
  }

  /// No more samples will come. Reads get what is left, in a shorter block if need be, and then ENODEV, as of a device
  /// that is gone.
  public mutating func finish(at now: Int64) {
    isFinishing = true
    settle(at: now)
  }

  /// Whether, after `finish`, everything that clients were to get has been taken.
  public var isDrained: Bool {
    isFinishing && devices.allSatisfy { $0.available == 0 } && connections.allSatisfy { $0.pendingOutput == 0 }
  }

  // MARK: Opening and closing

  /// `OPEN`: the error, or nil for success.
  mutating func open(
    device name: String, sampleCount: UInt32, mask: [UInt32], isCyclic: Bool, connection: Int
  ) -> IIODErrno? {
    guard let device = find(name) else { return .noDevice }
    let state = devices[device]
    guard mask.count == (state.device.channels.count + 31) / 32, sampleCount > 0, state.device.hasBuffer
    else { return .invalid }
    if isCyclic { return .notPermitted }
    if state.isUnplugged { return .noEntry }
    guard state.trigger != nil else { return .invalid }
    guard state.streams.count < Self.streamLimit else { return .noMemory }
    let stream: IIODStream
    switch makeStream(device: device, sampleCount: sampleCount, mask: mask, connection: connections[connection].id) {
    case .failure(let error): return error
    case .success(let made): stream = made
    }
    devices[device].streams.insert(stream, at: 0)
    rebuildCapture(of: device)
    return nil
  }

  /// A hold on a device's buffer beside those there are, or why there can be none.
  private func makeStream(
    device: Int, sampleCount: UInt32, mask: [UInt32], connection: Int
  ) -> Result<IIODStream, IIODErrno> {
    let state = devices[device]
    guard let capture = EmulatedCapture(device: state.device, mask: state.union(with: mask)) else {
      return .failure(.invalid)
    }
    return capture.queueLength(sampleCount: sampleCount, buffersCount: state.buffersCount).flatMap { asked, kept in
      let queue = SampleQueue(capacity: kept, valueCount: state.values.count)
      let held = state.streams.reduce(0) { $0 + $1.queue.capacity * $1.queue.width }
      guard held + queue.capacity * queue.width <= Self.queuedWordLimit else { return .failure(.noMemory) }
      return .success(
        IIODStream(connection: connection, sampleCount: Int(sampleCount), mask: mask, length: asked, queue: queue))
    }
  }

  /// `CLOSE`: gives up the newest hold of this client.
  mutating func close(device name: String, connection: Int) -> IIODErrno? {
    guard let device = find(name) else { return .noDevice }
    let id = connections[connection].id
    guard let stream = devices[device].streams.firstIndex(where: { $0.connection == id })
    else { return .noDeviceOrAddress }
    remove(stream: stream, of: device)
    return nil
  }

  /// Takes a client's hold away, with what it has not got.
  mutating func remove(stream: Int, of device: Int) {
    count(refused: devices[device].streams[stream].queue.refused)
    devices[device].streams.remove(at: stream)
    rebuildCapture(of: device)
  }

  /// Lets samples hold the channels of all who have the buffer, or switches it off.
  private mutating func rebuildCapture(of device: Int) {
    let alive = devices[device].streams.filter(\.isAlive)
    guard let length = alive.map(\.length).max(), let block = alive.map(\.sampleCount).max() else {
      devices[device].capture = nil
      return
    }
    devices[device].length = length
    devices[device].watermark = block
    // Those who are left with the time alone keep what they had.
    let mask = devices[device].union(with: [])
    devices[device].capture = EmulatedCapture(device: devices[device].device, mask: mask) ?? devices[device].capture
  }

  // MARK: Reading

  /// `READBUF`: the answer comes in `pump`.
  mutating func beginRead(device name: String, byteCount: UInt32, connection: Int) {
    guard let device = find(name) else { return connections[connection].send(.noDevice) }
    let id = connections[connection].id
    guard let capture = devices[device].capture,
      devices[device].streams.first(where: { $0.connection == id })?.isAlive == true
    else { return connections[connection].send(.badFile) }
    guard Int(byteCount) >= capture.layout.unpaddedSize else { return connections[connection].send(code: 0) }
    connections[connection].activity = .reading(PendingRead(device: device, remaining: Int(byteCount)))
  }

  /// Hands a client that waits for blocks what there is of them. Returns whether its read has come to its end.
  ///
  /// A client that does not take what was sent to it gets no more until it does; what waits for it is bounded.
  mutating func pump(connection: Int, at now: Int64) -> Bool {
    let id = connections[connection].id
    while case .reading(let read) = connections[connection].activity {
      let device = read.device
      guard let stream = devices[device].streams.firstIndex(where: { $0.connection == id }),
        devices[device].streams[stream].isAlive, let capture = read.capture ?? devices[device].capture
      else {
        connections[connection].send(.badFile)
        connections[connection].activity = .idle
        return true
      }
      guard connections[connection].pendingOutput < Self.outputLimit else {
        devices[device].streams[stream].waitingSince = nil
        return false
      }
      let sampleCount = devices[device].streams[stream].sampleCount
      let whole = capture.blockCount(sampleCount)
      let waiting = devices[device].streams[stream].queue.count
      let isWhole = waiting >= whole
      guard isWhole || isFinishing else {
        devices[device].streams[stream].waitingSince = devices[device].streams[stream].waitingSince ?? now
        return false
      }
      guard waiting > 0 else {
        fail(stream: stream, of: device, with: .noDevice)
        return true
      }
      guard capture.isReadable(sampleCount) else {
        fail(stream: stream, of: device, with: .invalid)
        return true
      }
      devices[device].streams[stream].waitingSince = nil
      var bytes: [UInt8] = []
      swap(&bytes, &block)
      bytes.removeAll(keepingCapacity: true)
      for _ in 0..<min(whole, waiting) {
        devices[device].streams[stream].queue.removeFirst { capture.encode($0, into: &bytes) }
      }
      swap(&bytes, &block)
      if send(block: capture, isLast: !isWhole, to: connection) { return true }
    }
    return false
  }

  /// Sends one chunk. Returns whether this ended the read.
  private mutating func send(block capture: EmulatedCapture, isLast: Bool, to connection: Int) -> Bool {
    guard case .reading(var read) = connections[connection].activity else { return false }
    let count = min(block.count, read.remaining)
    connections[connection].send(code: count)
    if read.capture == nil {
      let digits = capture.mask.reversed().map { word in
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
      }
      connections[connection].send(digits.joined() + "\n")
      read.capture = capture
    }
    connections[connection].output.append(contentsOf: block[..<count])
    read.remaining -= count
    guard read.remaining < capture.layout.unpaddedSize || isLast else {
      connections[connection].activity = .reading(read)
      return false
    }
    // A rest that is less than a sample, or that will not come, is not delivered; a zero says so.
    if read.remaining > 0 { connections[connection].send(code: 0) }
    connections[connection].activity = .idle
    return true
  }

  /// Ends a client's read and its capture: it has to close and to open again.
  mutating func fail(stream: Int, of device: Int, with error: IIODErrno) {
    let id = devices[device].streams[stream].connection
    for index in connections.indices where connections[index].id == id {
      guard case .reading(let read) = connections[index].activity, read.device == device else { continue }
      connections[index].send(error)
      connections[index].activity = .idle
    }
    devices[device].streams[stream].isAlive = false
    devices[device].streams[stream].waitingSince = nil
    rebuildCapture(of: device)
  }
}
