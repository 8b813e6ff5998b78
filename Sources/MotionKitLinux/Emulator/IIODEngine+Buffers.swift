import SensorFusion

extension IIODEngine {
  /// Holds that a device's buffer may have at once; a client that opens again and again is refused at some point.
  static let streamLimit = 256

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
    guard devices[device].waitingSince != nil, let capture = devices[device].capture else { return false }
    return capture.queue.count >= capture.blockSize / capture.layout.sampleSize * capture.layout.sampleSize
  }

  /// No more samples will come. Reads get what is left, in a shorter block if need be, and then ENODEV, as of a device
  /// that is gone.
  public mutating func finish(at now: Int64) {
    isFinishing = true
    settle(at: now)
  }

  /// Whether, after `finish`, everything that clients were to get has been taken.
  public var isDrained: Bool {
    let holds = devices.contains { state in
      guard let capture = state.capture, state.streams.contains(where: \.isAlive) else { return false }
      return capture.queue.count >= capture.layout.sampleSize
    }
    return isFinishing && !holds && connections.allSatisfy { $0.pendingOutput == 0 }
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
    let before = devices[device].streams
    devices[device].streams.insert(
      IIODStream(connection: connections[connection].id, sampleCount: sampleCount, mask: mask), at: 0)
    guard let error = rebuildCapture(of: device) else { return nil }
    // Those who had the buffer before keep it, unlike in iiod.
    devices[device].streams = before
    return error
  }

  /// `CLOSE`: gives up the newest hold of this client.
  mutating func close(device name: String, connection: Int) -> IIODErrno? {
    guard let device = find(name) else { return .noDevice }
    let id = connections[connection].id
    guard let stream = devices[device].streams.firstIndex(where: { $0.connection == id })
    else { return .noDeviceOrAddress }
    devices[device].streams.remove(at: stream)
    return rebuildCapture(of: device)
  }

  /// Starts the buffer anew for those who hold it, with all their channels and the largest of their counts, or switches
  /// it off. What it held is gone, as in iiod. Where it cannot be started the old one goes on.
  mutating func rebuildCapture(of device: Int) -> IIODErrno? {
    var mask: [UInt32] = []
    var sampleCount: UInt32 = 0
    for stream in devices[device].streams where stream.isAlive {
      while mask.count < stream.mask.count { mask.append(0) }
      for (index, word) in stream.mask.enumerated() { mask[index] |= word }
      sampleCount = max(sampleCount, stream.sampleCount)
    }
    guard sampleCount > 0 else {
      setCapture(nil, of: device)
      return nil
    }
    let state = devices[device]
    switch EmulatedCapture.make(
      device: state.device, mask: mask, sampleCount: sampleCount, buffersCount: state.buffersCount)
    {
    case .failure(let error): return error
    case .success(let capture):
      setCapture(capture, of: device)
      devices[device].length = capture.length
      devices[device].watermark = capture.sampleCount
      return nil
    }
  }

  private mutating func setCapture(_ capture: EmulatedCapture?, of device: Int) {
    count(refused: devices[device].capture?.refused ?? 0)
    devices[device].capture = capture
    devices[device].waitingSince = nil
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

  /// Hands blocks of a running buffer to all who wait for one. Returns whether somebody's read has come to its end.
  ///
  /// A client that does not take what was sent to it gets no block until it does, and misses those in between.
  mutating func pump(device: Int, at now: Int64) -> Bool {
    var hasEnded = false
    while let capture = devices[device].capture {
      let readers = connections.indices.filter {
        guard case .reading(let read) = connections[$0].activity else { return false }
        return read.device == device && connections[$0].pendingOutput < Self.outputLimit
      }
      guard !readers.isEmpty else {
        devices[device].waitingSince = nil
        break
      }
      devices[device].waitingSince = devices[device].waitingSince ?? now
      let byteCount = capture.blockSize / capture.layout.sampleSize * capture.layout.sampleSize
      var blockSize = byteCount
      if capture.queue.count < byteCount {
        guard isFinishing else { break }
        blockSize = capture.queue.count / capture.layout.sampleSize * capture.layout.sampleSize
      }
      guard blockSize > 0 else {
        failReads(of: device, with: .noDevice)
        return true
      }
      guard byteCount == capture.blockSize else {
        // libiio asks for a rest that is less than a sample of the kernel's size, which the kernel refuses.
        failReads(of: device, with: .invalid)
        return true
      }
      block.removeAll(keepingCapacity: true)
      devices[device].capture?.queue.move(blockSize, to: &block)
      devices[device].waitingSince = now
      for reader in readers where send(block: capture, to: reader) { hasEnded = true }
    }
    return hasEnded
  }

  /// Sends one chunk. Returns whether this ended the read.
  private mutating func send(block capture: EmulatedCapture, to connection: Int) -> Bool {
    guard case .reading(var read) = connections[connection].activity else { return false }
    let count = min(block.count, read.remaining)
    connections[connection].send(code: count)
    if read.needsMask {
      let digits = capture.mask.reversed().map { word in
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
      }
      connections[connection].send(digits.joined() + "\n")
      read.needsMask = false
    }
    connections[connection].output.append(contentsOf: block[..<count])
    read.remaining -= count
    let isLast = isFinishing && block.count < capture.blockSize
    guard read.remaining < capture.layout.unpaddedSize || isLast else {
      connections[connection].activity = .reading(read)
      return false
    }
    // A rest that is less than a sample, or that will not come, is not delivered; a zero says so.
    if read.remaining > 0 { connections[connection].send(code: 0) }
    connections[connection].activity = .idle
    return true
  }

  /// Ends all reads of a device and its capture: clients have to close and to open again.
  mutating func failReads(of device: Int, with error: IIODErrno) {
    for index in connections.indices {
      guard case .reading(let read) = connections[index].activity, read.device == device else { continue }
      connections[index].send(error)
      connections[index].activity = .idle
    }
    for index in devices[device].streams.indices { devices[device].streams[index].isAlive = false }
    setCapture(nil, of: device)
  }
}
