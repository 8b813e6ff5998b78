/// The last seven seconds of the step counter's signals on the 50 Hz grid, oldest first, in storage taken once.
struct GaitHistory: Sendable {
  /// The signals kept.
  enum Channel: Int, CaseIterable {
    /// |a|, m/s².
    case norm
    /// |a| band-passed 0.5-5 Hz.
    case bandNorm
    /// Specific force, device axes.
    case forceX, forceY, forceZ
    /// The same, band-passed.
    case bandX, bandY, bandZ
    /// Rotation rate, rad/s, device axes.
    case rateX, rateY, rateZ
    /// Specific force in the earth frame, band-passed; z is up.
    case earthX, earthY, earthZ
    /// Rotation rate in the earth frame about the horizontal axes, band-passed, rad/s.
    case earthRateX, earthRateY
    /// |rotation rate|, rad/s, and the same band-passed.
    case rateNorm
    case bandRateNorm
    /// The acceleration of a point one metre along the device's x, y and z axis by the turning alone, in the earth frame
    /// (second letter), band-passed, 1/s²; of the sample before.
    case turnXX, turnXY, turnXZ
    case turnYX, turnYY, turnYZ
    case turnZX, turnZY, turnZZ
  }

  /// Grid samples kept (7 s).
  static let length = 350
  /// Room before the storage is shifted, so that a shift is rare.
  private static let capacity = 2 * length

  private static let channels = Channel.allCases.count

  private var storage = [Double](repeating: 0, count: channels * capacity)
  private var start = 0
  /// Grid samples held, at most `length`.
  private(set) var count = 0

  /// Forgets everything.
  mutating func removeAll() {
    start = 0
    count = 0
  }

  /// Makes room for one more sample; `set` then writes its channels.
  mutating func append() {
    if count < Self.length {
      count += 1
    } else {
      start += 1
    }
    guard start + count > Self.capacity else { return }
    let (from, held) = (start, count - 1)
    storage.withUnsafeMutableBufferPointer { storage in
      for channel in 0..<Self.channels {
        let base = channel * Self.capacity
        for i in 0..<held { storage[base + i] = storage[base + from + i] }
      }
    }
    start = 0
  }

  /// Writes the newest value of a channel.
  mutating func set(_ channel: Channel, _ value: Double) {
    storage[channel.rawValue * Self.capacity + start + count - 1] = value
  }

  /// The value of a channel `age` grid samples before the newest.
  func value(_ channel: Channel, age: Int) -> Double {
    storage[channel.rawValue * Self.capacity + start + count - 1 - age]
  }

  /// Calls `body` with a way to every channel's values, oldest first.
  func withChannels(_ body: ((Channel) -> UnsafePointer<Double>) -> Void) {
    storage.withUnsafeBufferPointer { storage in
      guard let base = storage.baseAddress else { return }
      body { base + ($0.rawValue * Self.capacity + start) }
    }
  }

  /// Calls `body` with a channel's values, oldest first.
  func withValues<R>(_ channel: Channel, _ body: (UnsafeBufferPointer<Double>) -> R) -> R {
    storage.withUnsafeBufferPointer { storage in
      let begin = channel.rawValue * Self.capacity + start
      return body(UnsafeBufferPointer(rebasing: storage[begin..<(begin + count)]))
    }
  }

  /// The mean of a channel over the `n` samples that end `age` samples before the newest.
  func mean(_ channel: Channel, last n: Int, age: Int = 0) -> Double {
    withValues(channel) { values in
      let end = count - age
      let begin = max(0, end - n)
      guard begin < end else { return 0 }
      var sum = 0.0
      for i in begin..<end { sum += values[i] }
      return sum / Double(end - begin)
    }
  }

  /// The variance of a channel over its newest `n` samples.
  func variance(_ channel: Channel, last n: Int) -> Double {
    withValues(channel) { values in
      let begin = max(0, count - n)
      guard begin < count else { return 0 }
      // Shifted by the newest value, so that gravity does not eat the digits.
      let shift = values[count - 1]
      var sum = 0.0
      var squares = 0.0
      for i in begin..<count {
        let d = values[i] - shift
        sum += d
        squares += d * d
      }
      let n = Double(count - begin)
      return max(0, squares / n - (sum / n) * (sum / n))
    }
  }

  /// The specific force's mean over the `n` samples that end `age` samples before the newest.
  func meanForce(last n: Int, age: Int) -> Vector3 {
    Vector3(
      mean(.forceX, last: n, age: age), mean(.forceY, last: n, age: age), mean(.forceZ, last: n, age: age))
  }
}
