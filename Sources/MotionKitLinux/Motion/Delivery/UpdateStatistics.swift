import SensorFusion

/// How a stream of updates is really doing.
public struct UpdateStatistics: Hashable, Sendable {
  /// Values handed over (dropped ones included).
  public internal(set) var count: Int64 = 0
  /// Values dropped because the handler or loop was too slow.
  public internal(set) var droppedSampleCount: Int64 = 0
  /// The mean of the newest intervals, seconds, from the samples' own times; 0 before the second value.
  public internal(set) var actualUpdateInterval: Double = 0
  /// The standard deviation of the same intervals, seconds.
  public internal(set) var jitter: Double = 0

  /// Nothing yet.
  public init() {}
}

/// Keeps the newest sample times and says what they tell.
struct IntervalMeter: Sendable {
  /// So many times are kept: a third of a second at 100 Hz, enough to see a change of rate soon.
  private static let window = 32
  private var times: [Timestamp] = []
  private var next = 0

  mutating func add(_ time: Timestamp) {
    if times.count < Self.window {
      times.append(time)
    } else {
      times[next] = time
    }
    next = (next + 1) % Self.window
  }

  mutating func reset() {
    times.removeAll(keepingCapacity: true)
    next = 0
  }

  /// Mean and standard deviation of the intervals kept.
  var intervals: (mean: Double, deviation: Double) {
    guard times.count > 1 else { return (0, 0) }
    let start = times.count < Self.window ? 0 : next
    let n = Double(times.count - 1)
    func time(_ i: Int) -> Timestamp { times[(start + i) % times.count] }
    let mean = time(times.count - 1).seconds(since: time(0)) / n
    var sum = 0.0
    for i in 1..<times.count {
      let difference = time(i).seconds(since: time(i - 1)) - mean
      sum += difference * difference
    }
    return (mean, (sum / n).squareRoot())
  }
}

/// Lets through what an update interval asks for out of a faster stream.
///
/// Values nearest to a grid of the asked interval pass, so the mean rate is the asked one. Where the sensor is at most
/// a fifth faster than asked, every value passes: an even 104 Hz serves better than 100 Hz with holes.
struct UpdateGate: Sendable {
  /// The asked interval, seconds; 0 lets everything through.
  private(set) var interval: Double
  private var due: Timestamp?
  private var previous: Timestamp?

  /// A sensor that is faster than asked by no more than this passes whole.
  static let tolerance = 1.2

  init(interval: Double) { self.interval = interval }

  mutating func set(interval: Double) {
    guard interval != self.interval else { return }
    self.interval = interval
    due = nil
  }

  /// Whether the value at `time` passes; `sensorInterval` is the time between values, 0 where not known.
  mutating func passes(_ time: Timestamp, sensorInterval: Double) -> Bool {
    let measured = previous.map { time.seconds(since: $0) } ?? sensorInterval
    previous = time
    // The sensor's word holds unless it is plainly wrong.
    let spacing = sensorInterval > 0 && measured > sensorInterval / 2 ? sensorInterval : measured
    guard interval > 0, interval > spacing * Self.tolerance else {
      // Should the sensor become faster, the grid goes on from here.
      due = interval > 0 ? time.advanced(bySeconds: interval) : nil
      return true
    }
    guard let due else {
      self.due = time.advanced(bySeconds: interval)
      return true
    }
    let late = time.seconds(since: due)
    guard late >= -spacing / 2 else { return false }
    // After a gap the grid starts anew instead of letting a burst through.
    self.due = late < interval ? due.advanced(bySeconds: interval) : time.advanced(bySeconds: interval)
    return true
  }
}
