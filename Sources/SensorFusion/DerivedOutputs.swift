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
