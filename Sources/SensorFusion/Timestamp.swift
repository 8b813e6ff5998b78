/// An instant of the boot clock (CLOCK_BOOTTIME), in whole nanoseconds.
///
/// Every sample, output and event carries one. The wall clock never appears in the pipeline: a recording keeps pairs
/// of (boot time, UTC) beside the samples, so samples do not jump when NTP does.
@frozen
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Nanoseconds since the machine was started, time asleep included.
  public var nanoseconds: Int64

  /// An instant from nanoseconds of the boot clock.
  @inlinable
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// An instant from seconds of the boot clock, rounded to the nearest nanosecond.
  ///
  /// Values that are not finite or do not fit in 64 bits of nanoseconds (292 years) are clamped; NaN becomes 0.
  @inlinable
  public init(seconds: Double) {
    let nanoseconds = (seconds * 1e9).rounded()
    self.nanoseconds = Int64(exactly: nanoseconds) ?? (nanoseconds > 0 ? .max : nanoseconds < 0 ? .min : 0)
  }

  /// The same instant in seconds, as applications see it.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// Seconds from `earlier` to this instant; negative if this instant is the earlier one. Never traps.
  @inlinable
  public func seconds(since earlier: Timestamp) -> Double {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return overflow ? seconds - earlier.seconds : Double(difference) / 1e9
  }

  /// The instant `seconds` later, clamped to the range of 64-bit nanoseconds.
  @inlinable
  public func advanced(bySeconds seconds: Double) -> Timestamp {
    let step = Timestamp(seconds: seconds).nanoseconds
    let (sum, overflow) = nanoseconds.addingReportingOverflow(step)
    return Timestamp(nanoseconds: overflow ? (step > 0 ? .max : .min) : sum)
  }

  /// Order in time.
  @inlinable
  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }
}
