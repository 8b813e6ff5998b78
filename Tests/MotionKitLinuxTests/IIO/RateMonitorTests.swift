import Testing

@testable import MotionKitLinux

@Suite("rate monitor") struct RateMonitorTests {
  private static let ms: Int64 = 1_000_000

  private func findings(_ monitor: inout RateMonitor, _ times: [Int64]) -> [RateMonitor.Finding] {
    times.compactMap { monitor.add($0) }
  }

  @Test("an even stream at the rate it is set to has nothing to report", arguments: [1.0, 25, 200, 1000])
  func even(rate: Double) {
    var monitor = RateMonitor(rate: rate)
    let period = Int64(1e9 / rate)
    #expect(findings(&monitor, (0..<5000).map { $0 * period }).isEmpty)
    #expect(monitor.missingCount == 0)
  }

  @Test("jitter of a third of the period is no gap")
  func jitter() {
    var monitor = RateMonitor(rate: 100)
    var random = TestRandom(state: 7)
    let times = (0..<3000).map { $0 * 10 * Self.ms + Int64.random(in: -3 * Self.ms...3 * Self.ms, using: &random) }
    #expect(findings(&monitor, times).isEmpty)
  }

  @Test("every missing sample is counted, and reported once a second at most")
  func gaps() {
    var monitor = RateMonitor(rate: 100)
    var times = (0..<3000).map { Int64($0) * 10 * Self.ms }
    times.removeAll {
      (10_000 * Self.ms..<10_050 * Self.ms).contains($0) || $0 == 10_200 * Self.ms || $0 == 10_300 * Self.ms
    }
    let found = findings(&monitor, times)
    #expect(monitor.missingCount == 7)
    #expect(
      found == [
        .gap(missing: 5, gaps: 1, longestNanoseconds: 60 * Self.ms),
        .gap(missing: 2, gaps: 2, longestNanoseconds: 20 * Self.ms),
      ])
  }

  @Test("case 11: set to 52 Hz, real 83 Hz: the true rate is reported once")
  func wrongRate() throws {
    var monitor = RateMonitor(rate: 52)
    let found = findings(&monitor, (0..<2000).map { Int64(Double($0) * 1e9 / 83) })
    #expect(found.count == 1)
    guard case .rate(let rate)? = found.first else {
      Issue.record("\(found)")
      return
    }
    #expect(abs(rate - 83) < 1)
  }

  @Test("a rate that is halved while running is a new rate, not a gap a sample")
  func halved() {
    var monitor = RateMonitor(rate: 100)
    let times = (0..<1000).map { $0 * 10 * Self.ms } + (0..<1000).map { 10_000 * Self.ms + $0 * 20 * Self.ms }
    let found = findings(&monitor, times)
    #expect(found.contains { if case .rate(let rate) = $0 { abs(rate - 50) < 2 } else { false } })
    #expect(monitor.missingCount < 9)
    #expect(abs(monitor.rate - 50) < 1)
  }

  @Test("times that repeat, go back or are absurd change nothing and do not trap")
  func absurd() {
    var monitor = RateMonitor(rate: 0)
    for time in [0, 0, -5, .max, .min, 3, 10] as [Int64] { _ = monitor.add(time) }
  }
}
