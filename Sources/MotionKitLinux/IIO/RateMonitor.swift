/// Watches the time stamps of one sensor: what its rate really is, and which samples are missing.
///
/// What counts is what the stamps say, not what the device was set to: a trigger that skips, a full kernel buffer and a
/// chip that runs at another rate than it admits are all found here. A pure value; no allocation per sample.
struct RateMonitor: Sendable {
  /// An interval this many times the usual one means that at least one sample is missing.
  static let gapFactor = 1.75
  /// The rate is measured over so much time, nanoseconds, and reported when it is off by this share.
  static let window: Int64 = 3_000_000_000
  static let rateTolerance = 0.05
  /// Gaps are reported at most this often, nanoseconds.
  static let reportInterval: Int64 = 1_000_000_000
  /// So many long intervals in a row are not gaps, but a new rate.
  static let newRateIntervals = 8

  /// What is worth an event.
  enum Finding: Hashable, Sendable {
    /// Samples missing since the last report.
    case gap(missing: Int, gaps: Int, longestNanoseconds: Int64)
    /// The true rate, where it is not the one known so far.
    case rate(Double)
  }

  /// The rate known so far, samples per second: set at first, then as measured; 0 where not known.
  private(set) var rate: Double
  /// Samples found missing since the start.
  private(set) var missingCount = 0

  private var usual: Double
  private var last: Int64?
  private var longInARow = 0
  private var windowStart: Int64 = 0
  private var windowCount = 0
  private var windowGaps: Int64 = 0
  private var pending = (missing: 0, gaps: 0, longest: Int64(0))
  private var reportedAt = Int64.min

  /// A monitor for a sensor that was set to `rate`; 0 where not known.
  init(rate: Double) {
    self.rate = rate
    usual = rate > 0 ? 1e9 / rate : 0
  }

  /// The device delivers (again), set to `rate`. What was missing in between is still counted.
  mutating func begin(rate: Double) {
    guard rate > 0, abs(rate - self.rate) > Self.rateTolerance * rate else { return }
    self.rate = rate
    usual = 1e9 / rate
  }

  /// Looks at the next sample of the sensor; times in order, nanoseconds.
  mutating func add(_ time: Int64) -> Finding? {
    guard let last else {
      self.last = time
      windowStart = time
      return nil
    }
    let (interval, overflow) = time.subtractingReportingOverflow(last)
    guard !overflow, interval > 0 else { return nil }
    self.last = time
    if usual == 0 { usual = Double(interval) }
    windowCount += 1
    if Double(interval) > Self.gapFactor * usual {
      longInARow += 1
      let missing = max(1, Int((Double(interval) / usual).rounded()) - 1)
      missingCount += missing
      pending = (pending.missing + missing, pending.gaps + 1, max(pending.longest, interval))
      windowGaps += interval - Int64(usual)
      if longInARow >= Self.newRateIntervals { adopt(Double(interval)) }
    } else {
      longInARow = 0
      // Follows slowly; one odd interval moves it by at most 1/64.
      usual += max(-usual / 8, min(usual / 8, Double(interval) - usual)) / 8
    }
    return measured(at: time) ?? gapReport(at: time)
  }

  /// Eight long intervals in a row: that is the rate now, and nothing of it was missing.
  private mutating func adopt(_ interval: Double) {
    usual = interval
    longInARow = 0
    missingCount -= pending.missing
    pending = (0, 0, 0)
    windowCount = 0
    windowGaps = 0
    windowStart = last ?? 0
  }

  private mutating func measured(at time: Int64) -> Finding? {
    guard time - windowStart >= Self.window else { return nil }
    let span = Double(time - windowStart - windowGaps)
    let measured = span > 0 ? Double(windowCount) * 1e9 / span : 0
    windowStart = time
    windowCount = 0
    windowGaps = 0
    guard measured > 0, rate <= 0 || abs(measured - rate) > Self.rateTolerance * rate else { return nil }
    rate = measured
    return .rate(measured)
  }

  private mutating func gapReport(at time: Int64) -> Finding? {
    guard pending.gaps > 0, reportedAt == .min || time - reportedAt >= Self.reportInterval else { return nil }
    defer {
      pending = (0, 0, 0)
      reportedAt = time
    }
    return .gap(missing: pending.missing, gaps: pending.gaps, longestNanoseconds: pending.longest)
  }
}
