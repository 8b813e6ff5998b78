import MotionKitLinux
import SensorFusion

/// What a reader can see of one sensor's stream: rate, gaps, clipping, the newest values.
struct SensorMonitor {
  /// The sensor as its source describes it.
  let sensor: SensorDescription
  /// Samples seen.
  private(set) var count: Int64 = 0
  /// The newest sample.
  private(set) var newest: SensorSample?
  /// Intervals so long that a sample must be missing.
  private(set) var gaps: Int64 = 0
  /// Samples with an axis at the end of its range.
  private(set) var clipped: Int64 = 0
  /// Mean of the recent intervals, seconds.
  private var interval = 0.0

  /// One interval this many times the mean is a gap: beyond jitter, below two samples missing.
  private static let gapFactor = 1.8
  /// Intervals that the mean looks back over: about two seconds of a usual sensor.
  private static let memory: Int64 = 200
  /// Intervals before gaps are looked for: a driver's first intervals are often short or long.
  private static let settling: Int64 = 5
  /// An axis this near to its full scale, as a share of it, is clipped.
  private static let clippingShare: Float = 0.999

  /// A monitor before its first sample.
  init(_ sensor: SensorDescription) { self.sensor = sensor }

  /// Samples per second, measured over the recent ones; 0 before there are two.
  var rate: Double { interval > 0 ? 1 / interval : 0 }

  /// Takes one sample of this sensor.
  mutating func take(_ sample: SensorSample) {
    if let newest {
      let step = sample.time.seconds(since: newest.time)
      let intervals = count  // this is the count-th interval
      if intervals > Self.settling, step > interval * Self.gapFactor {
        gaps += 1  // a gap says nothing about the rate
      } else if step > 0 {
        interval += (step - interval) / Double(min(intervals, Self.memory))
      }
    }
    if sensor.kind <= .magnetometer, sensor.range.isFinite {
      let limit = Float(sensor.range) * Self.clippingShare
      if max(abs(sample.x), abs(sample.y), abs(sample.z)) >= limit { clipped += 1 }
    }
    count += 1
    newest = sample
  }
}
