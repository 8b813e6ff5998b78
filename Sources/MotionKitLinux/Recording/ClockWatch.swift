import SensorFusion

/// Watches the wall clock against the samples' clock, so that a step of the one is an event and never a jump of the
/// samples. A suspension of the machine gives an anchor, too: the wall clock may come back by a second or so away.
struct ClockWatch {
  /// How far the clocks may move apart before a new anchor is recorded.
  private static let tolerance: Int64 = 50_000_000
  /// How often they are compared, nanoseconds.
  private static let interval: Int64 = 1_000_000_000
  /// A sleep of the machine is longer than this, nanoseconds; readings of the clocks are not that far off.
  static let leastSleep: Int64 = 10_000_000

  private var anchor: ClockAnchor
  /// UTC minus boot clock at the last look.
  private var offset: Int64
  private var nextCheck: Int64 = .min
  /// How long the machine had slept in all, nanoseconds.
  private var slept: Int64

  /// - Parameters:
  ///   - anchor: The clocks now.
  ///   - slept: How long the machine has slept since it was started (`SessionClock.slept`).
  init(anchor: ClockAnchor, slept: Int64) {
    self.anchor = anchor
    self.slept = slept
    offset = anchor.utcNanoseconds &- anchor.time.nanoseconds
  }

  /// Compares the clocks once a second; says what has happened since the last anchor. Of a sleep the source tells; here
  /// it is no event.
  mutating func check(clock: any SessionClock) -> (anchor: ClockAnchor, event: SourceEvent?)? {
    let now = clock.monotonic()
    guard now >= nextCheck else { return nil }
    nextCheck = now + Self.interval
    let new = clock.anchor()
    let newOffset = new.utcNanoseconds &- new.time.nanoseconds
    let step = newOffset &- offset
    let drift = newOffset &- (anchor.utcNanoseconds &- anchor.time.nanoseconds)
    offset = newOffset
    let newSleep = clock.slept()
    let hasSlept = newSleep &- slept > Self.leastSleep
    slept = newSleep
    guard step.magnitude > Self.tolerance.magnitude || drift.magnitude > Self.tolerance.magnitude else {
      guard hasSlept else { return nil }
      anchor = new
      return (new, nil)
    }
    anchor = new
    let isStep = step.magnitude > Self.tolerance.magnitude
    let moved = Double(isStep ? step : drift) / 1e9
    let sign = moved > 0 ? "+" : ""
    return (
      new,
      SourceEvent(
        time: new.time, name: isStep ? "clock_step" : "clock_drift",
        detail: "the wall clock moved by \(sign)\(moved) s against the samples' clock")
    )
  }
}
