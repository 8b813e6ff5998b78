import MotionKitLinux
import SensorFusion

/// Ticks at even steps of a source's time: a tick comes after all samples up to its instant have been handled and before
/// any later one.
final class Ticker: SampleConsumer, @unchecked Sendable {
  let demand = SensorDemand(rates: [:], required: [])
  /// What a tick carries: its time.
  let ticks = Mailbox<Timestamp>(capacity: 1, isLossless: true)
  private let interval: Double

  // Confined to the reading thread.
  private var start: Timestamp?
  private var count = 0.0
  private var newest = Timestamp(nanoseconds: .min)

  /// One tick every `interval` seconds, the first after one interval.
  init(interval: Double) { self.interval = interval }

  func begin(_ description: SourceDescription) {}

  func pause(before time: Timestamp) -> Bool {
    let start = self.start ?? time
    self.start = start
    return tick(from: start) { $0 < time }
  }

  func take(_ sample: SensorSample) { newest = sample.time }

  private func tick(from start: Timestamp, while isDue: (Timestamp) -> Bool) -> Bool {
    var hasTicked = false
    while true {
      let due = start.advanced(bySeconds: (count + 1) * interval)
      guard isDue(due) else { return hasTicked }
      count += 1
      hasTicked = true
      ticks.offer(due)
      ticks.waitUntilIdle()
    }
  }

  func finish(_ error: MotionKitError?) {
    if error == nil, let start { _ = tick(from: start) { $0 <= newest } }
    ticks.end(nil)
  }

  func waitUntilIdle() {}

  func close() { ticks.close() }
}
