import SensorFusion

/// Finds out that another client of the same iiod reads a device in larger batches than ours: iiod reads blocks as large as
/// the most demanding client's and drops of each what the others did not ask for. So the same number of samples is
/// missing behind every batch.
struct SharedBlocks: Sendable {
  /// So many batches in a row must be cut by the same number, give or take one.
  static let batches = 4
  /// The largest block that is worth following, samples.
  static let largestBlock = 1 << 14

  private var lastStamp: Int64?
  private var missing = 0
  private var inARow = 0

  /// Looks at a batch.
  ///
  /// - Parameters:
  ///   - count: Its samples.
  ///   - first: The time of its first sample.
  ///   - last: The time of its last, nanoseconds.
  /// - Returns: How large the other client's blocks are, once that is sure.
  mutating func block(count: Int, first: Timestamp, last: Int64) -> Int? {
    defer { lastStamp = last }
    let (span, isFar) = last.subtractingReportingOverflow(first.nanoseconds)
    guard let before = lastStamp, count > 1, !isFar, span >= Int64(count) else { return nil }
    // By the batch itself: the rate that is set may not be the true one.
    let period = span / Int64(count - 1)
    let (interval, overflow) = first.nanoseconds.subtractingReportingOverflow(before)
    guard !overflow, interval > 0, interval / period < Int64(Self.largestBlock) else {
      inARow = 0
      return nil
    }
    let lost = max(0, Int((Double(interval) / Double(period)).rounded()) - 1)
    inARow = lost > 1 && (inARow == 0 || abs(lost - missing) <= 1) ? inARow + 1 : 0
    missing = lost
    guard inARow >= Self.batches else { return nil }
    inARow = 0
    return count + lost
  }
}
