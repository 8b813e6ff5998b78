import SensorFusion

/// What a capture thread hands over: a run of samples, or news of the device.
struct CaptureChunk: Sendable {
  enum Content: Sendable {
    /// The next `count` samples of the mailbox. `isHostStamped`: they carry this machine's boot clock already.
    case samples(count: Int, isHostStamped: Bool)
    /// The device is about to be switched on: its samples from now on are on their way.
    case opening
    /// The device delivers (again): the clock of its stamps, the periods of its sensors by kind in nanoseconds, and when
    /// it was about to be switched on (this machine's boot clock).
    case started(clock: String, periods: [SensorKind: Int64], openedAt: Int64)
    /// The device does not deliver any more.
    case lost(String)
    /// Something worth recording.
    case event(name: String, detail: String)
  }
  var device: Int
  /// When it came, this machine's boot clock.
  var arrival: Int64
  var content: Content
}

/// Where capture threads put what they got and the consumer takes it. Bounded: a consumer that does not read makes
/// nothing grow; what does not fit is dropped and counted.
struct CaptureMailbox: Sendable {
  /// Samples that may wait: half a minute of three sensors at 1 kHz.
  static let capacity = 100_000

  var samples: [SensorSample] = []
  var chunks: [CaptureChunk] = []
  /// Samples dropped since the consumer last looked, a device each.
  var dropped: [Int]
  /// Time of the last batch or the last opening of each device, for the watchdog.
  var lastActivity: [Int64]
  /// How long each device may be silent at least, and how long its batches take to fill, nanoseconds.
  var patience: [Int64]
  var fillTime: [Int64]
  var isStopped = false
  /// Whether the consumer is to be woken once every device that delivers has brought something, not by each of them: no
  /// sample can be delivered before the others' are there, and each waking costs.
  private let gathers: Bool
  /// Devices that deliver, and those that have brought something since the consumer last looked, a bit each.
  private var delivering: UInt64 = 0
  private var brought: UInt64 = 0

  /// - Parameters:
  ///   - deviceCount: How many put something in.
  ///   - now: This machine's boot clock.
  ///   - gathers: Whether the consumer does not mind to wait for all of them (it looks by itself now and then).
  init(deviceCount: Int, now: Int64, gathers: Bool = false) {
    self.gathers = gathers
    dropped = Array(repeating: 0, count: deviceCount)
    lastActivity = Array(repeating: now, count: deviceCount)
    patience = Array(repeating: 0, count: deviceCount)
    fillTime = Array(repeating: 0, count: deviceCount)
  }

  /// Takes a batch; returns whether the consumer is to be woken.
  mutating func put(_ new: [SensorSample], device: Int, arrival: Int64, isHostStamped: Bool) -> Bool {
    lastActivity[device] = arrival
    guard samples.count + new.count <= Self.capacity else {
      dropped[device] += new.count
      return true
    }
    samples.append(contentsOf: new)
    chunks.append(
      CaptureChunk(
        device: device, arrival: arrival, content: .samples(count: new.count, isHostStamped: isHostStamped)))
    let bit: UInt64 = 1 << UInt64(device & 63)
    delivering |= bit
    brought |= bit
    return !gathers || brought == delivering
  }

  /// Takes news of a device, for which the consumer is always to be woken.
  mutating func put(_ content: CaptureChunk.Content, device: Int, arrival: Int64) {
    if case .lost = content { delivering &= ~(1 << UInt64(device & 63)) }
    chunks.append(CaptureChunk(device: device, arrival: arrival, content: content))
    lastActivity[device] = arrival
  }

  /// The consumer has taken what was there.
  mutating func wasTaken() { brought = 0 }
}
