/// Smooths the height that a barometer gives: median over a second, then an adaptive low-pass.
struct HeightFilter: Sendable {
  private(set) var level = 0.0
  private(set) var speed = 0.0
  var height: Double { level }
  var climbSpeed: Double { speed }
  private var n = 0
  private var lastTime = Timestamp(nanoseconds: 0)
  private var last = 0.0
  private var sigma = 0.0, es = 0.0, u = 0.0
  private var median = TimedMedian()
  private var total = 0
  mutating func restart() { n = 0; median.removeAll() }
  mutating func update(time: Timestamp, height h: Double) {
    let z = median.add(time: time, value: h)
    let dtRaw = time.seconds(since: lastTime)
    lastTime = time
    n += 1; total += 1
    if n <= 3 { level = z; es = 0; u = z; speed = 0; last = h; return }
    let dt = min(2, dtRaw)
    let d = 0.886 * abs(h - last); last = h
    let c = max(1 / Double(total), 1 - Elementary.exp(-dt / 10))
    sigma += c * (min(d, 5 * sigma + 0.3) - sigma)
    let e = z - level
    es += (1 - Elementary.exp(-dt / 0.5)) * (e - es)
    let e0 = max(0.30, 2.5 * sigma / max(1, Double(median.count) / 1.6).squareRoot())
    let q = es / e0
    let tau = max(0.5, 2 / (1 + q * q))
    level += (1 - Elementary.exp(-dt / tau)) * e
    u += (1 - Elementary.exp(-dt / 2.5)) * (z - u)
    speed = (z - u) / 2.5
  }
}
/// The median of the values of the last second, at least of the last three.
struct TimedMedian: Sendable {
  private static let capacity = 128
  private static let span: Int64 = 1_000_000_000
  private static let least = 3
  private var values = [Double](repeating: 0, count: capacity)
  private var times = [Int64](repeating: 0, count: capacity)
  private var sorted = [Double](repeating: 0, count: capacity)
  private var first = 0
  private(set) var count = 0

  mutating func removeAll() {
    first = 0
    count = 0
  }

  /// Adds a value and returns the median.
  mutating func add(time: Timestamp, value: Double) -> Double {
    let now = time.nanoseconds
    while count == Self.capacity
      || count >= Self.least && now.subtractingReportingOverflow(times[first]).partialValue >= Self.span
    {
      remove(values[first])
      first = (first + 1) % Self.capacity
    }
    let slot = (first + count) % Self.capacity
    values[slot] = value
    times[slot] = now
    var i = count
    while i > 0, sorted[i - 1] > value {
      sorted[i] = sorted[i - 1]
      i -= 1
    }
    sorted[i] = value
    count += 1
    return count % 2 == 1 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2])
  }

  private mutating func remove(_ value: Double) {
    var i = 0
    while i < count - 1, sorted[i] != value { i += 1 }
    while i < count - 1 {
      sorted[i] = sorted[i + 1]
      i += 1
    }
    count -= 1
  }
}
