import SensorFusion

/// The iiod protocol as a state machine without input or output: bytes of clients go in, bytes for clients come out,
/// and time is what the caller says it is.
///
/// It answers as iiod 0.24 does (docs/EMULATOR.md lists the differences), never traps on anything a client sends, and
/// holds a bounded amount for each connection: commands that wait, one answer, one block of samples.
///
///     var engine = IIODEngine(board: board)
///     let client = engine.connect()
///     engine.receive(Array("VERSION\r\n".utf8), from: client, at: 0)
///     let answer = engine.takeOutput(of: client)
public struct IIODEngine: Sendable {
  /// Unsent bytes at which no more commands of a connection are carried out and no more blocks are sent to it.
  static let outputLimit = 64 << 10
  /// Commands received but not carried out at which no more are taken, bytes.
  static let inputLimit = 64 << 10
  /// The longest line, bytes.
  static let lineLimit = 4096
  /// The longest value of an attribute, bytes: a page, as in sysfs.
  static let valueLimit = 4096

  /// What a connection is doing.
  enum Activity: Sendable {
    /// Waiting for, or reading, a line.
    case idle
    /// Passing over the rest of a line that is too long.
    case skippingLine
    /// Receiving the value of an attribute.
    case receiving(PendingWrite)
    /// Waiting for samples of a device.
    case reading(PendingRead)
    /// Nothing more: everything that comes is ignored.
    case ended
  }

  struct PendingWrite: Sendable {
    var device: Int
    var group: AttributeGroup
    var attribute: String?
    var remaining: Int64
    var value: [UInt8] = []
    var isTooLong = false
    var byteCount: Int64
  }

  struct PendingRead: Sendable {
    var device: Int
    var remaining: Int
    /// What its samples hold, from the first block on, with which the mask is sent.
    var capture: EmulatedCapture?
  }

  struct Connection: Sendable {
    var id: Int
    var input: [UInt8] = []
    /// Bytes of `input` that are done with.
    var inputStart = 0
    var output: [UInt8] = []
    var outputStart = 0
    var activity = Activity.idle

    var pendingOutput: Int { output.count - outputStart }
    var pendingInput: Int { input.count - inputStart }

    mutating func send(_ text: String) { output.append(contentsOf: text.utf8) }
    mutating func send(code: Int) { send("\(code)\n") }
    mutating func send(_ error: IIODErrno) { send(code: -error.code) }
  }

  /// What has happened since the start.
  public struct Statistics: Hashable, Sendable {
    /// Samples of sensors that were taken in.
    public var samples = 0
    /// Samples that a device captured but nobody read in time.
    public var refused = 0
    /// Values that did not fit the format of their channel.
    public var clipped = 0
    /// Values that are no whole count of their channel, so that clients see them rounded.
    public var inexact = 0
    /// Connections so far.
    public var connections = 0
    /// Connections there are now.
    public var clients = 0
    /// Lines answered, those that were not understood included.
    public var commands = 0
  }

  /// The board that is served.
  public let board: EmulatedBoard
  /// What samples' times are moved by for each clock.
  public var clockOffsets: IIODClockOffsets
  let xml: [UInt8]
  var devices: [EmulatedDeviceState]
  var connections: [Connection] = []
  private var nextConnection = 1
  /// How long a read waits for samples, ms; 0 for ever. One value for all clients, as in iiod; libiio's default.
  var timeout: UInt32 = 1000
  private var retired = Statistics()
  /// Whether clients get no answers at all for the moment.
  var isStalled = false
  /// Whether no more samples will come: what is left is given out, in blocks that are not full where need be.
  var isFinishing = false
  var block: [UInt8] = []

  /// An engine that serves a board.
  public init(board: EmulatedBoard, clockOffsets: IIODClockOffsets = IIODClockOffsets()) {
    self.board = board
    self.clockOffsets = clockOffsets
    xml = Array(IIODContextXML.text(of: board).utf8)
    devices = board.devices.map(EmulatedDeviceState.init)
  }

  /// Counters of everything so far.
  public var statistics: Statistics {
    var result = retired
    result.clients = connections.count
    for state in devices {
      result.refused += state.streams.reduce(0) { $0 + $1.queue.refused }
      result.clipped += state.clipped
      result.inexact += state.inexact
    }
    return result
  }

  // MARK: Connections

  /// A client has come.
  public mutating func connect() -> Int {
    let id = nextConnection
    nextConnection += 1
    retired.connections += 1
    connections.append(Connection(id: id))
    return id
  }

  /// A client has gone: everything that it held is closed.
  public mutating func disconnect(_ id: Int, at now: Int64) {
    guard let index = index(of: id) else { return }
    connections.remove(at: index)
    for device in devices.indices {
      while let stream = devices[device].streams.firstIndex(where: { $0.connection == id }) {
        remove(stream: stream, of: device)
      }
    }
    settle(at: now)
  }

  /// Whether more bytes of a client would be taken now. False also for a client that is gone.
  public func wantsInput(from id: Int) -> Bool {
    guard let index = index(of: id) else { return false }
    if isStalled || isEnded(id) { return false }
    return connections[index].pendingInput < Self.inputLimit
  }

  /// A client will send no more: what it waits for is given up, what it is owed may still be sent.
  public mutating func end(_ id: Int) {
    guard let index = index(of: id) else { return }
    connections[index].activity = .ended
  }

  /// Whether the connection is to be closed once its output is sent.
  public func isEnded(_ id: Int) -> Bool {
    guard let index = index(of: id) else { return true }
    if case .ended = connections[index].activity { return true }
    return false
  }

  /// Whether a client is there.
  public func isConnected(_ id: Int) -> Bool { index(of: id) != nil }

  /// Whether there are bytes to send to anybody.
  var hasOutput: Bool { !isStalled && connections.contains { $0.pendingOutput > 0 } }

  /// Takes bytes from a client and carries out what they complete. Bytes past `wantsInput` are still taken; a caller
  /// that keeps to it bounds what is held.
  public mutating func receive(_ bytes: [UInt8], from id: Int, at now: Int64) {
    guard let index = index(of: id) else { return }
    if case .ended = connections[index].activity { return }
    connections[index].input.append(contentsOf: bytes)
    settle(at: now)
  }

  /// Bytes that wait to be sent to a client.
  public func pendingOutput(of id: Int) -> Int {
    guard !isStalled, let index = index(of: id) else { return 0 }
    return connections[index].pendingOutput
  }

  /// Offers the bytes that wait for a client. `send` returns how many of them it has sent.
  public mutating func sendOutput(of id: Int, at now: Int64, _ send: (UnsafeRawBufferPointer) -> Int) {
    guard !isStalled, let index = index(of: id), connections[index].pendingOutput > 0 else { return }
    let start = connections[index].outputStart
    let sent = connections[index].output.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    connections[index].outputStart += min(max(0, sent), connections[index].pendingOutput)
    if connections[index].pendingOutput == 0 {
      connections[index].output.removeAll(keepingCapacity: connections[index].output.capacity <= Self.outputLimit)
      connections[index].outputStart = 0
    } else if connections[index].outputStart > Self.outputLimit {
      connections[index].output.removeFirst(connections[index].outputStart)
      connections[index].outputStart = 0
    }
    settle(at: now)
  }

  /// All bytes that wait for a client.
  public mutating func takeOutput(of id: Int, at now: Int64 = 0) -> [UInt8] {
    var result: [UInt8] = []
    // What is sent makes room for more, until nothing comes.
    while pendingOutput(of: id) > 0 {
      sendOutput(of: id, at: now) {
        result.append(contentsOf: $0)
        return $0.count
      }
    }
    return result
  }

  func index(of id: Int) -> Int? { connections.firstIndex { $0.id == id } }

  // MARK: Time

  /// When `advance` is to be called again at the latest, if nothing else happens before; nil for never.
  public var deadline: Int64? {
    guard timeout > 0, !isStalled else { return nil }
    return devices.lazy.flatMap(\.streams).compactMap(\.waitingSince).min().map {
      $0.addingReportingOverflow(timeoutNanoseconds).partialValue
    }
  }

  var timeoutNanoseconds: Int64 { Int64(timeout) * 1_000_000 }

  /// Lets time pass: reads that have waited too long fail.
  public mutating func advance(to now: Int64) {
    guard timeout > 0, !isStalled else { return }
    for device in devices.indices {
      for stream in devices[device].streams.indices {
        guard let since = devices[device].streams[stream].waitingSince,
          now.subtractingReportingOverflow(since).partialValue >= timeoutNanoseconds
        else { continue }
        fail(stream: stream, of: device, with: .timedOut)
      }
    }
    settle(at: now)
  }

  // MARK: Commands

  /// Carries out what clients have sent and sends what they wait for, until nothing more can be done.
  mutating func settle(at now: Int64) {
    guard !isStalled else { return }
    var isMoving = true
    while isMoving {
      isMoving = false
      for index in connections.indices where pump(connection: index, at: now) { isMoving = true }
      for index in connections.indices {
        while connections[index].pendingOutput < Self.outputLimit, step(connection: index, at: now) { isMoving = true }
        if connections[index].inputStart > 0 {
          connections[index].input.removeSubrange(..<connections[index].inputStart)
          connections[index].inputStart = 0
        }
      }
    }
  }

  /// One step; false where nothing more can be done.
  private mutating func step(connection index: Int, at now: Int64) -> Bool {
    let input = connections[index].input[connections[index].inputStart...]
    switch connections[index].activity {
    case .reading: return false
    case .ended:
      connections[index].inputStart = connections[index].input.count
      return false
    case .receiving(var write):
      let count = Int(min(write.remaining, Int64(input.count)))
      let kept = min(count, Self.valueLimit - write.value.count)
      write.value.append(contentsOf: input.prefix(kept))
      write.isTooLong = write.isTooLong || kept < count
      write.remaining -= Int64(count)
      connections[index].inputStart += count
      connections[index].activity = write.remaining > 0 ? .receiving(write) : .idle
      if write.remaining == 0 { finish(write, connection: index) }
      return write.remaining == 0
    case .idle, .skippingLine:
      guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else {
        // A line that never ends must not be kept: it is refused once and passed over.
        guard input.count > Self.lineLimit else { return false }
        connections[index].inputStart = connections[index].input.count
        connections[index].activity = .skippingLine
        return false
      }
      connections[index].inputStart = end + 1
      if case .skippingLine = connections[index].activity {
        connections[index].activity = .idle
        connections[index].send(.invalid)
        return true
      }
      guard end - input.startIndex <= Self.lineLimit else {
        connections[index].send(.invalid)
        return true
      }
      perform(IIODCommand.parse(input[..<end]), connection: index, at: now)
      return true
    }
  }

  private mutating func perform(_ line: IIODCommand.Line, connection index: Int, at now: Int64) {
    guard line != .blank else { return }
    retired.commands += 1
    guard case .command(let command) = line else { return connections[index].send(.invalid) }
    switch command {
    case .help: connections[index].send(Self.help)
    case .exit: connections[index].activity = .ended
    case .version:
      let version = IIODContextXML.version
      let tag = String((version.tag + "       ").prefix(7))
      connections[index].send("\(version.major).\(version.minor).\(tag)\n")
    case .print:
      connections[index].send(code: xml.count)
      connections[index].output.append(contentsOf: xml)
      connections[index].send("\n")
    case .timeout(let milliseconds):
      timeout = milliseconds
      connections[index].send(code: 0)
    case .read(let device, let group, let attribute):
      read(device: device, group, attribute, connection: index)
    case .write(let device, let group, let attribute, let byteCount):
      beginWrite(device: device, group, attribute, byteCount, connection: index)
    case .getTrigger(let device): getTrigger(device: device, connection: index)
    case .setTrigger(let device, let trigger): setTrigger(device: device, trigger: trigger, connection: index)
    case .open(let device, let sampleCount, let mask, let isCyclic):
      let result = open(
        device: device, sampleCount: sampleCount, mask: mask, isCyclic: isCyclic, connection: index)
      connections[index].send(code: result.map { -$0.code } ?? 0)
    case .close(let device):
      connections[index].send(code: close(device: device, connection: index).map { -$0.code } ?? 0)
    case .readBuffer(let device, let byteCount):
      beginRead(device: device, byteCount: byteCount, connection: index)
    case .writeBuffer(let device, _):
      // All devices are inputs.
      let state = find(device).map { devices[$0] }
      let isOpen = state?.streams.contains { $0.connection == connections[index].id } ?? false
      connections[index].send(state == nil ? .noDevice : isOpen ? .notPermitted : .badFile)
    case .setBuffersCount(let device, let count):
      guard let place = find(device) else { return connections[index].send(.noDevice) }
      guard count > 0 else { return connections[index].send(.invalid) }
      devices[place].buffersCount = count
      connections[index].send(code: 0)
    }
  }

  /// Where a device is, by id, name or label, the first of equals.
  func find(_ name: String) -> Int? {
    devices.firstIndex { $0.device.id == name }
      ?? devices.firstIndex { $0.device.name == name || (!$0.device.label.isEmpty && $0.device.label == name) }
  }

  /// Counts samples taken in and those that a capture that ends has refused.
  mutating func count(samples: Int = 0, refused: Int = 0) {
    retired.samples += samples
    retired.refused += refused
  }

  private static let help = """
    The commands of this server, in the protocol of iiod 0.24:
    \tHELP, EXIT, PRINT, VERSION
    \tTIMEOUT <milliseconds>
    \tOPEN <device> <samples> <mask>
    \tCLOSE <device>
    \tREAD <device> [INPUT <channel> | BUFFER | DEBUG] [<attribute>]
    \tWRITE <device> [INPUT <channel> | BUFFER | DEBUG] [<attribute>] <bytes>
    \tREADBUF <device> <bytes>
    \tGETTRIG <device>
    \tSETTRIG <device> [<trigger>]
    \tSET <device> BUFFERS_COUNT <count>

    """
}
