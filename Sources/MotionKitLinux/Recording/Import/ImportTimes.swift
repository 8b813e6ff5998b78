import SensorFusion

/// Makes the times of a log's rows strictly rising, and tells what it did. Nothing else is moved.
struct ImportTimes {
  /// The times, strictly rising.
  private(set) var times: [Int64]
  /// Rows that had the time of the row before.
  private(set) var duplicates: Int64 = 0
  /// Jumps that were closed: the row and the step in nanoseconds.
  private(set) var discontinuities: [(row: Int, step: Int64)] = []
  /// Roll-overs of a 32-bit counter.
  private(set) var rollovers: Int64 = 0

  /// Treats the times of rows in the order of the log.
  ///
  /// - Parameters:
  ///   - raw: Nanoseconds.
  ///   - counterUnit: Nanoseconds of one count, if the column holds whole numbers; nil otherwise.
  init(_ raw: [Int64], counterUnit: Int64?) {
    times = raw.map { min(max($0, -Self.farthest), Self.farthest) }
    guard raw.count > 1 else { return }
    if let counterUnit { unroll(counterUnit) }
    closeJumps()
    spreadEqualTimes()
  }

  /// Damaged digits give any time; within these, 73 years to each side of zero, no difference and no shift overflows.
  private static let farthest = Int64.max / 4

  /// The median of the positive steps; 0 where there is none.
  private static func typicalStep(_ times: [Int64]) -> Int64 {
    let steps = zip(times, times.dropFirst()).map { $1 &- $0 }.filter { $0 > 0 }.sorted()
    return steps.isEmpty ? 0 : steps[steps.count / 2]
  }

  /// A 32-bit counter that starts again at 0 goes on.
  private mutating func unroll(_ counterUnit: Int64) {
    let (span, overflow) = Int64(1 << 32).multipliedReportingOverflow(by: counterUnit)
    guard !overflow, times.allSatisfy({ $0 >= 0 && $0 < span }) else { return }
    var added: Int64 = 0
    var previous = times[0]
    for row in times.indices.dropFirst() {
      let time = times[row]
      // A roll-over leaps back by nearly the whole range; a clock set back does not.
      if previous &- time > span - span / 16 {
        added &+= span
        rollovers += 1
      }
      previous = time
      times[row] = time &+ added
    }
  }

  /// No log pauses for so long, nanoseconds (100 days): the clock was set, from the start of its calendar to today.
  static let longestPause: Int64 = 8_640_000_000_000_000

  /// Rows whose times fall back are moved behind the rows before them, until the times return or to the end: the
  /// distance of samples counts, not the date. So are rows whose times leap ahead further than any pause.
  private mutating func closeJumps() {
    let typical = max(Self.typicalStep(times), 1)
    var shift: Int64 = 0
    var last = times[0]
    var lastRaw = times[0]
    for row in times.indices.dropFirst() {
      let raw = times[row]
      let step = raw &- lastRaw
      if step < 0 || step > Self.longestPause {
        discontinuities.append((row, step))
        shift = last &+ typical &- raw
      } else if shift != 0, raw > last, raw &- last <= 10 &* typical, step > 10 &* typical {
        // Back on the time line that was left.
        discontinuities.append((row, step))
        shift = 0
      }
      times[row] = max(raw &+ shift, last)
      last = times[row]
      lastRaw = raw
    }
  }

  /// A run of equal times is one batch that was stamped when it was complete: its rows are spread over the time since
  /// the batch before. Sample k of n lies (n - 1 - k) periods before the stamp.
  private mutating func spreadEqualTimes() {
    var runs: [(start: Int, count: Int)] = []
    var row = 0
    while row < times.count {
      var end = row + 1
      while end < times.count, times[end] == times[row] { end += 1 }
      runs.append((row, end - row))
      duplicates += Int64(end - row - 1)
      row = end
    }
    guard duplicates > 0, runs.count > 1 else { return }
    // The period of each run but the first: the time since the run before, for each of its rows.
    var periods: [Int64] = []
    for (previous, run) in zip(runs, runs.dropFirst()) {
      periods.append(max(0, times[run.start] &- times[previous.start]) / Int64(run.count))
    }
    let typical = periods.sorted()[periods.count / 2]
    var new = times
    for (index, run) in runs.enumerated() where run.count > 1 {
      // Behind a hole the batch is not stretched over the hole.
      let period = index == 0 ? typical : min(periods[index - 1], typical &+ typical / 2)
      for k in 0..<run.count {
        new[run.start + k] = times[run.start] &- Int64(run.count - 1 - k) &* period
      }
    }
    times = new
  }
}
