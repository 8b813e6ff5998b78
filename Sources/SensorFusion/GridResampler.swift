/// One instant of the step counter's 50 Hz grid: everything it looks at, averaged over the grid interval.
struct GridSample: Sendable {
  /// Specific force, m/s², device axes.
  var force = Vector3.zero
  /// Rotation rate, rad/s, device axes; zero without a gyroscope.
  var rate = Vector3.zero
  /// Specific force turned into the earth frame, m/s²; z is up. Zero without a gyroscope.
  var earth = Vector3.zero
  /// Rotation rate in the earth frame, rad/s.
  var earthRate = Vector3.zero
  /// The device's x and y axes in the earth frame.
  var axisX = Vector3.zero
  var axisY = Vector3.zero
  /// The share of the interval in which rate and earth are known, 0 to 1.
  var rotationShare = 0.0

  /// `self + b * s`, every channel.
  func adding(_ b: GridSample, times s: Double) -> GridSample {
    GridSample(
      force: force + b.force * s, rate: rate + b.rate * s, earth: earth + b.earth * s,
      earthRate: earthRate + b.earthRate * s, axisX: axisX + b.axisX * s, axisY: axisY + b.axisY * s,
      rotationShare: rotationShare + b.rotationShare * s)
  }
}

/// Turns samples at any rate, with jitter and holes, into an even grid.
///
/// A grid value is the mean of the line through the samples over one grid interval. At high rates that averages all
/// samples of the interval, at low rates it interpolates between neighbours, and nothing depends on the rate itself.
/// Feed one sample with `push`, then take grid values with `next` until it returns nil.
struct GridResampler: Sendable {
  /// The grid interval, nanoseconds (50 Hz).
  static let interval: Int64 = 20_000_000
  /// The longest hole that is bridged by interpolation, nanoseconds.
  static let longestHole: Int64 = 1_000_000_000

  private var previous = GridSample()
  private var latest = GridSample()
  /// The integral of the line from the last grid edge to `cursor`, in units of value x nanoseconds.
  private var integral = GridSample()
  private var previousTime: Int64 = 0
  private var latestTime: Int64 = 0
  private var cursor: Int64 = 0
  private var nextEdge: Int64 = 0
  private var isStarted = false

  /// Takes one sample. Returns false if the stream starts anew with it: the first sample, a hole that is too long,
  /// or a time that is not later than the sample before.
  mutating func push(time: Int64, sample: GridSample) -> Bool {
    let (step, overflow) = time.subtractingReportingOverflow(latestTime)
    guard isStarted, !overflow, step > 0, step <= Self.longestHole, time < .max - 2 * Self.interval else {
      isStarted = true
      integral = GridSample()
      latest = sample
      latestTime = time
      previousTime = time
      cursor = time
      nextEdge = time.addingReportingOverflow(Self.interval).partialValue
      return false
    }
    previous = latest
    previousTime = latestTime
    latest = sample
    latestTime = time
    return true
  }

  /// The next grid value that the newest sample completes, nil when there is none left.
  mutating func next() -> GridSample? {
    guard cursor < latestTime else { return nil }
    let end = min(nextEdge, latestTime)
    let span = Double(latestTime - previousTime)
    let width = Double(end - cursor)
    // The mean of a line over [cursor, end] is its value in the middle.
    let middle = (Double(cursor - previousTime) + 0.5 * width) / span
    integral = integral.adding(previous, times: width * (1 - middle)).adding(latest, times: width * middle)
    cursor = end
    guard end == nextEdge else { return nil }
    nextEdge += Self.interval
    let mean = GridSample().adding(integral, times: 1 / Double(Self.interval))
    integral = GridSample()
    return mean
  }

  /// The middle of the grid interval that `next` returned last.
  var gridTime: Int64 { nextEdge - Self.interval - Self.interval / 2 }
}
