import SensorFusion

/// The timing of one stream of samples, in one pass and bounded memory.
///
/// The rate is the number of intervals over the time they took, gaps left out; never the inverse of a typical
/// interval, which rounded time stamps make wrong.
public struct StreamStatistics: Hashable, Sendable {
  /// An interval this many times the median is a gap.
  public static let gapFactor = 2.5
  /// Intervals that the median is taken from.
  private static let medianCount = 1001

  /// Samples.
  public private(set) var count: Int64 = 0
  /// The first sample's time.
  public private(set) var first: Timestamp?
  /// The last sample's time.
  public private(set) var last: Timestamp?
  /// Samples with the time of the one before.
  public private(set) var duplicates: Int64 = 0
  /// Samples older than the one before.
  public private(set) var backward: Int64 = 0

  private var early: [Double] = []
  private var median: Double?
  private var regular: Int64 = 0
  private var regularTime = 0.0
  private var mean = 0.0
  private var squares = 0.0
  private var gaps: Int64 = 0
  private var gapTime = 0.0
  private var longest = 0.0

  /// Statistics of no sample.
  public init() {}

  /// Takes the time of the next sample.
  public mutating func add(_ time: Timestamp) {
    count += 1
    defer { last = time }
    guard let last else {
      first = time
      return
    }
    let interval = time.seconds(since: last)
    if interval == 0 { duplicates += 1 }
    if interval < 0 { backward += 1 }
    guard interval > 0 else { return }
    if let median {
      account(interval, median: median)
    } else {
      early.append(interval)
      if early.count == Self.medianCount { settle() }
    }
  }

  /// The median of the first intervals, seconds; 0 where there is none.
  public var typicalInterval: Double {
    if let median { return median }
    return early.isEmpty ? 0 : early.sorted()[early.count / 2]
  }

  private mutating func settle() {
    let median = typicalInterval
    self.median = median
    for interval in early { account(interval, median: median) }
    early = []
  }

  private mutating func account(_ interval: Double, median: Double) {
    if interval > Self.gapFactor * median {
      gaps += 1
      gapTime += interval
      longest = max(longest, interval)
      return
    }
    regular += 1
    regularTime += interval
    // Welford's running variance.
    let step = interval - mean
    mean += step / Double(regular)
    squares += step * (interval - mean)
  }

  private var settled: StreamStatistics {
    guard median == nil else { return self }
    var copy = self
    copy.settle()
    return copy
  }

  /// Samples per second; 0 where there are not two instants.
  public var rate: Double {
    let settled = settled
    guard settled.regularTime > 0 else { return 0 }
    // Samples of one instant count too: they are samples that came within the time.
    return Double(settled.regular + duplicates) / settled.regularTime
  }

  /// Standard deviation of the intervals without gaps, seconds.
  public var jitter: Double {
    let settled = settled
    return settled.regular > 1 ? (settled.squares / Double(settled.regular - 1)).squareRoot() : 0
  }

  /// Intervals longer than `gapFactor` times the median.
  public var gapCount: Int64 { settled.gaps }
  /// Seconds in gaps.
  public var gapDuration: Double { settled.gapTime }
  /// The longest gap, seconds; 0 without one.
  public var longestGap: Double { settled.longest }
  /// Seconds from the first to the last sample.
  public var duration: Double {
    guard let first, let last else { return 0 }
    return last.seconds(since: first)
  }
}
