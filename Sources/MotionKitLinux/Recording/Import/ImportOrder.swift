/// In which order the rows of a log come, where it is not that of their times.
enum ImportOrder: Equatable {
  /// As the times: what falls back is a clock that was set or a counter that began again.
  case asTimes
  /// The last row first.
  case reversed
  /// Some rows, or all, stand in the wrong places.
  case disordered
  /// The times are no order of anything.
  case none

  /// The share of steps back above which a file is in reverse order.
  private static let reversedShare = 0.9
  /// The share of steps back from which it is not clocks that were set.
  private static let disorderedShare = 0.05
  /// And the fewest.
  private static let fewestBack = 3
  /// A row that comes late stands not further from its place than so many usual steps.
  private static let longestDelay: Int64 = 20
  /// Rows between two steps back, on average, that still are stretches of a log.
  private static let shortestStretch = 4

  /// Judges the times of a log's rows, nanoseconds.
  ///
  /// Rows that stand in wrong places leave holes, which sorting fills: the steps are then as even as those of a log
  /// are. A clock that was set back makes a second row for the same time, so that sorting makes steps that are too short.
  init(_ times: [Int64]) {
    self = .asTimes
    let steps = zip(times, times.dropFirst()).map { $1.subtractingReportingOverflow($0).partialValue }
    let back = steps.filter { $0 < 0 }
    guard !back.isEmpty, steps.count >= 3 else { return }
    if Double(back.count) > Self.reversedShare * Double(steps.count { $0 != 0 }) {
      self = .reversed
      return
    }
    let sorted = times.sorted()
    let even = zip(sorted, sorted.dropFirst()).map { $1.subtractingReportingOverflow($0).partialValue }
    let positive = even.filter { $0 > 0 }.sorted()
    guard !positive.isEmpty else { return }
    let usual = positive[positive.count / 2]
    // Integers: 0.6 of the usual step.
    func isShort(_ step: Int64) -> Bool { step >= 0 && step < usual / 5 * 3 }
    let fits = even.count(where: isShort) <= steps.count(where: isShort) + back.count / 4
    let isOften = back.count >= Self.fewestBack && Double(back.count) >= Self.disorderedShare * Double(steps.count)
    if fits, isOften || back.allSatisfy({ $0 / Self.longestDelay > -usual }) {
      self = .disordered
    } else if isOften, !fits, steps.count < Self.shortestStretch * back.count {
      self = .none
    }
  }

  /// Rows further ahead than so many usual steps are no gap that the next row returns from.
  private static let leastLead: Int64 = 1000
  /// The rows around such a row are not further apart than so many usual steps.
  private static let widestGap: Int64 = 10

  /// Single rows whose time is far ahead of both neighbours, which follow each other.
  static func rowsAhead(_ times: [Int64]) -> [Int] {
    func step(_ from: Int, _ to: Int) -> Int64 {
      let (step, overflow) = times[to].subtractingReportingOverflow(times[from])
      return overflow ? .max : step
    }
    guard times.count > 3 else { return [] }
    let steps = times.indices.dropLast().map { step($0, $0 + 1) }.filter { $0 > 0 }.sorted()
    guard !steps.isEmpty else { return [] }
    let usual = steps[steps.count / 2]
    return times.indices.dropFirst().dropLast().filter { row in
      let around = step(row - 1, row + 1)
      return step(row - 1, row) / leastLead >= usual && around >= 0 && around / widestGap <= usual
    }
  }

  /// Where each row comes from in the order of the times; rows of one time stay as they are.
  static func sorted(_ times: [Int64]) -> [Int] {
    // Stable, which the standard library's sort does not promise: by the place as well.
    times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
  }
}
