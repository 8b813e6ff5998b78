import SensorFusion

/// What a capture thread hands over: a run of samples, or news of the device.
struct CaptureChunk: Sendable {
  enum Content: Sendable {
    /// The next `count` samples of the mailbox. `isHostStamped`: they carry this machine's boot clock already.
    case samples(count: Int, isHostStamped: Bool)
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
  var isStopped = false

  init(deviceCount: Int, now: Int64) {
    dropped = Array(repeating: 0, count: deviceCount)
    lastActivity = Array(repeating: now, count: deviceCount)
  }

  mutating func put(_ new: [SensorSample], device: Int, arrival: Int64, isHostStamped: Bool) {
    lastActivity[device] = arrival
    guard samples.count + new.count <= Self.capacity else {
      dropped[device] += new.count
      return
    }
    samples.append(contentsOf: new)
    chunks.append(
      CaptureChunk(
        device: device, arrival: arrival, content: .samples(count: new.count, isHostStamped: isHostStamped)))
  }
}
