/// One step, released by the step counter. A released step is never taken back.
@frozen
public struct Step: Hashable, Sendable {
  /// When the foot fell (the peak of the bounce), boot clock; up to some seconds before it is released.
  public var time: Timestamp
  /// The number of this step, counted from 1 since the counter started.
  public var number: Int64
  /// Steps per second at this step; 0 where not known yet.
  public var cadence: Double
  /// Whether the step was filled in between two seen ones.
  public var isInterpolated: Bool

  /// A step from its parts.
  @inlinable
  public init(time: Timestamp, number: Int64, cadence: Double, isInterpolated: Bool) {
    self.time = time
    self.number = number
    self.cadence = cadence
    self.isInterpolated = isInterpolated
  }
}

/// A walker who paused or went on.
@frozen
public struct PedometerEvent: Hashable, Sendable {
  /// What happened.
  @frozen
  public enum Kind: UInt8, Hashable, Sendable {
    /// No more steps after this one.
    case pause = 0
    /// The first step after a pause or after the start.
    case resume = 1
  }

  /// The time of the last step before a pause, or of the first one after it; boot clock.
  public var time: Timestamp
  /// What happened.
  public var kind: Kind

  /// An event from its parts.
  @inlinable
  public init(time: Timestamp, kind: Kind) {
    self.time = time
    self.kind = kind
  }
}

/// What the last seconds look like to the step counter, whether steps are counted or not.
@frozen
public struct GaitState: Hashable, Sendable {
  /// When it was computed, boot clock.
  public var time = Timestamp(nanoseconds: 0)
  /// The step frequency if this is gait, steps per second.
  public var stepFrequency = 0.0
  /// Amplitude of the specific force's norm at that frequency, m/s².
  public var amplitude = 0.0
  /// The height of the bounce, m (walking 0.01 to 0.045).
  public var bounce = 0.0
  /// How regular it is, 0 to 1.
  public var periodicity = 0.0
  /// Whether it passes as gait.
  public var isGait = false
  /// Whether there has been no step for some seconds.
  public var isPaused = true
  /// The time of the last step released; the smallest time before the first.
  public var lastStep = Timestamp(nanoseconds: .min)
  /// Standard deviation of the specific force over 2 s, all axes together, m/s².
  public var motionLevel = 0.0

  /// Nothing known.
  public init() {}

  /// A state from its parts.
  init(
    time: Timestamp, stepFrequency: Double, amplitude: Double, bounce: Double, periodicity: Double, isGait: Bool,
    isPaused: Bool, lastStep: Timestamp, motionLevel: Double
  ) {
    self.time = time
    self.stepFrequency = stepFrequency
    self.amplitude = amplitude
    self.bounce = bounce
    self.periodicity = periodicity
    self.isGait = isGait
    self.isPaused = isPaused
    self.lastStep = lastStep
    self.motionLevel = motionLevel
  }
}

/// One output of the altimeter.
@frozen
public struct AltitudeState: Hashable, Sendable {
  /// The time of the barometer sample.
  public var time: Timestamp
  /// Metres above the first sample (or the last re-zero).
  public var relativeAltitude: Double
  /// Metres per second, up positive.
  public var verticalSpeed: Double
  /// Filtered air pressure, kPa.
  public var pressure: Double
  /// Accumulated metres climbed since the start.
  public var ascent: Double
  /// Accumulated metres descended since the start, positive.
  public var descent: Double
  /// The pressure moved while the device did not (a door, the weather, an elevator).
  public var isPressureOnlyChange: Bool
  /// The level was set anew after a jump or a gap in the pressure.
  public var isDiscontinuity: Bool

  /// An altitude of 0 at `pressure` kPa.
  @inlinable
  public init(time: Timestamp, pressure: Double) {
    self.time = time
    relativeAltitude = 0
    verticalSpeed = 0
    self.pressure = pressure
    ascent = 0
    descent = 0
    isPressureOnlyChange = false
    isDiscontinuity = false
  }
}

/// What the carrier of the device is doing.
@frozen
public enum Activity: UInt8, Hashable, Sendable, CaseIterable {
  /// No estimate, or moving in a way that is not recognised.
  case unknown = 0
  /// Not moving.
  case stationary = 1
  /// Walking.
  case walking = 2
  /// Running.
  case running = 3
  /// Reserved: in a vehicle. Never reported (no evidence to tell it by).
  case automotive = 4
  /// Reserved: on a bicycle. Never reported.
  case cycling = 5
}

/// How sure a classification is.
@frozen
public enum ActivityConfidence: UInt8, Hashable, Sendable, Comparable {
  /// A guess.
  case low = 0
  /// Likely.
  case medium = 1
  /// Nearly certain.
  case high = 2

  /// Order by certainty.
  @inlinable
  public static func < (a: ActivityConfidence, b: ActivityConfidence) -> Bool { a.rawValue < b.rawValue }
}

/// A change of activity; holds until the next one.
@frozen
public struct ActivityState: Hashable, Sendable {
  /// When the activity began, boot clock.
  public var time: Timestamp
  /// The activity.
  public var activity: Activity
  /// How sure it is.
  public var confidence: ActivityConfidence

  /// An activity from its parts.
  @inlinable
  public init(time: Timestamp, activity: Activity, confidence: ActivityConfidence) {
    self.time = time
    self.activity = activity
    self.confidence = confidence
  }
}
