import MotionKitLinux
import SensorFusion

/// Everything that the live views show, gathered from the batches.
struct LiveModel {
  /// The source, as started.
  let source: SourceDescription
  /// The earth frame of the attitude.
  let frame: ReferenceFrame
  /// One monitor a sensor, in order of kind.
  private(set) var monitors: [SensorMonitor]
  /// The newest output of the attitude filter.
  private(set) var motion: DeviceMotion?
  /// The newest output of the altimeter.
  private(set) var altitude: AltitudeState?
  /// Steps counted.
  private(set) var stepCount: Int64 = 0
  /// Metres walked; nil where the walker's height is not known.
  private(set) var distance: Double?
  /// The newest step.
  private(set) var lastStep: Step?
  /// The activity that holds.
  private(set) var activity: ActivityState?
  /// The hard iron that is being learnt; nil where none is.
  private(set) var hardIron: LearntHardIron?
  /// Events of the stream, the newest last; marks included.
  private(set) var recentEvents: [SourceEvent] = []
  /// How many events of the stream there were, marks left out.
  private(set) var eventCount: Int64 = 0
  /// What is lost, and what to tell of it.
  private(set) var losses: LossWatch
  /// The first and the newest sample's time.
  private(set) var timeSpan: ClosedRange<Timestamp>?

  /// How many events are kept to be shown.
  private static let keptEvents = 3
  /// A step this long ago says nothing about the cadence now, seconds.
  private static let cadenceHold = 3.0

  /// A model before the first batch.
  init(source: SourceDescription, frame: ReferenceFrame) {
    self.source = source
    self.frame = frame
    losses = LossWatch(source)
    monitors = source.sensors.sorted { $0.kind < $1.kind }.map { SensorMonitor($0) }
  }

  /// Seconds of samples so far.
  var elapsed: Double { timeSpan.map { $0.upperBound.seconds(since: $0.lowerBound) } ?? 0 }

  /// Steps per second now; 0 while nobody walks.
  var cadence: Double {
    guard let lastStep, let now = timeSpan?.upperBound, now.seconds(since: lastStep.time) < Self.cadenceHold else {
      return 0
    }
    return lastStep.cadence
  }

  /// Takes one batch; returns a line for each event that the user should know of at once.
  @discardableResult
  mutating func take(_ batch: ProcessedBatch) -> [String] {
    for sample in batch.input.samples {
      if let index = monitors.firstIndex(where: { $0.sensor.kind == sample.kind }) { monitors[index].take(sample) }
    }
    if let first = batch.input.samples.first?.time, let last = batch.input.samples.last?.time {
      let begin = timeSpan?.lowerBound ?? first
      timeSpan = min(begin, last)...max(begin, last)
    }
    if let state = batch.motions.last { motion = DeviceMotion(state, frame: frame) }
    hardIron = batch.learntHardIron ?? hardIron
    altitude = batch.altitudes.last ?? altitude
    activity = batch.activities.last ?? activity
    if let step = batch.steps.last {
      stepCount = step.number
      distance = batch.distance
      lastStep = step
    }
    for event in batch.input.events {
      if event.name != "mark" { eventCount += 1 }
      recentEvents.append(event)
    }
    if recentEvents.count > Self.keptEvents { recentEvents.removeFirst(recentEvents.count - Self.keptEvents) }
    return losses.take(batch.input.events)
  }
}

extension Activity {
  /// The word for it.
  var word: String {
    switch self {
    case .unknown: "unknown"
    case .stationary: "stationary"
    case .walking: "walking"
    case .running: "running"
    case .automotive: "automotive"
    case .cycling: "cycling"
    }
  }
}

extension ActivityConfidence {
  /// The word for it.
  var word: String {
    switch self {
    case .low: "low"
    case .medium: "medium"
    case .high: "high"
    }
  }
}

extension MotionFlags {
  /// The names of the flags that are set, in order of their bits.
  var words: [String] {
    let names: [(MotionFlags, String)] = [
      (.atRest, "at rest"), (.magneticDisturbance, "magnetic disturbance"), (.frozenField, "frozen field"),
      (.gyroscopeClipped, "gyroscope clipped"), (.accelerometerClipped, "accelerometer clipped"),
      (.afterGap, "after gap"), (.noGyroscope, "no gyroscope"), (.noHeading, "no heading"),
      (.tiltReset, "tilt reset"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }
}

extension LearntHardIron {
  /// `62 %, 4 s old`; what it still needs before there is any.
  var summary: String {
    guard let age else { return "none yet: turn the device about" }
    let old = age < 60 ? "\(Format.fixed(age, 0)) s" : Format.clock(age)
    return "\(Format.fixed(qualityPercent, 0)) %, \(old) old"
  }
}

/// Degrees of an angle in radians.
func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

/// The point of the compass nearest to a heading in degrees.
func compassPoint(_ heading: Double) -> String {
  let points = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
  return points[Int((heading / 45).rounded()) & 7]
}
