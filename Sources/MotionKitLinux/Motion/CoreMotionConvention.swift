import SensorFusion

// The one place where units and signs change: below it everything is what the Linux IIO ABI says (specific force in
// m/s², flat and face up z = +9.81), above it everything is what Core Motion says (g, gravity minus acceleration,
// flat and face up z = -1). Rotation rate (rad/s), field (µT), pressure (kPa) and attitude are the same in both.

/// A Core Motion acceleration in g from a specific force (or minus a kinematic acceleration) in m/s², IIO sign.
@inlinable
public func coreMotionAcceleration(fromSpecificForce force: Vector3) -> Vector3 {
  force * (-1 / standardGravity)
}

/// A specific force in m/s², IIO sign, from a Core Motion acceleration in g.
@inlinable
public func specificForce(fromCoreMotionAcceleration acceleration: Vector3) -> Vector3 {
  acceleration * -standardGravity
}

/// Everything about the device's motion at one instant, in Core Motion's units and signs.
@frozen
public struct DeviceMotion: Hashable, Sendable {
  /// The boot clock at which the values are valid.
  public var time: Timestamp
  /// The rotation of the device in the reference frame.
  public var attitude: Attitude
  /// The unit vector of gravity in device axes, g: flat and face up (0, 0, -1).
  public var gravity: Vector3
  /// The acceleration that the user gives the device, g, device axes, Core Motion's sign (minus the kinematic
  /// acceleration): `gravity + userAcceleration` is what `accelerometer` reads.
  public var userAcceleration: Vector3
  /// Bias-corrected rotation rate, rad/s, device axes.
  public var rotationRate: Vector3
  /// The magnetic field without the device's own, µT, device axes; zero where there is none.
  public var magneticField: Vector3
  /// Degrees in [0, 360) from north to the device's x axis, clockwise; negative where the frame has no north.
  public var heading: Double
  /// 1-sigma of the heading in degrees; negative where there is no heading.
  public var headingAccuracy: Double
  /// The gyroscope bias that was subtracted, rad/s.
  public var gyroscopeBias: Vector3
  /// 1-sigma of the tilt, degrees.
  public var tiltAccuracy: Double
  /// How far the field, and a heading from it, can be trusted.
  public var magneticFieldAccuracy: MagneticFieldAccuracy
  /// What the filter says about this estimate.
  public var flags: MotionFlags

  /// The same instant as the filter's output, in Core Motion's convention.
  public init(_ state: MotionState, frame: ReferenceFrame) {
    time = state.time
    attitude = Attitude(quaternion: state.attitude)
    gravity = coreMotionAcceleration(fromSpecificForce: state.gravity)
    userAcceleration = coreMotionAcceleration(fromSpecificForce: state.userAcceleration)
    rotationRate = state.rotationRate
    magneticField = state.magneticField
    gyroscopeBias = state.gyroscopeBias
    tiltAccuracy = state.tiltSigma * (180 / .pi)
    flags = state.flags
    let strength = state.magneticField.norm
    magneticFieldAccuracy = MagneticFieldAccuracy(
      headingSigma: state.headingSigma, flags: state.flags, fieldStrength: strength)
    let hasHeading = frame.hasNorth && !state.flags.contains(.noHeading)
    heading = hasHeading ? attitude.headingOfXAxis : -1
    headingAccuracy =
      hasHeading
      ? MagneticFieldAccuracy.honest(headingSigma: state.headingSigma, fieldStrength: strength) * (180 / .pi) : -1
  }

  /// Whether the strength of the field is one that occurs on earth. If not, the device has magnetism of its own (or a
  /// magnet is near), nobody knows how much, and the heading may be anything until the magnetometer is calibrated. True
  /// where no field is known.
  public var hasPlausibleField: Bool { MagneticFieldAccuracy.isPlausible(magneticField.norm) }
}

/// How far a magnetic field, and a heading from it, can be trusted.
@frozen
public enum MagneticFieldAccuracy: Int8, Hashable, Sendable, Comparable {
  /// There is no field: no magnetometer, or none used in this frame.
  case uncalibrated = -1
  /// Disturbed, frozen, stronger or weaker than the earth's field can be, or a heading worse than 15° (1 sigma).
  case low = 0
  /// A heading within 15°.
  case medium = 1
  /// A heading within 5°.
  case high = 2

  /// The heading's 1-sigma for `high` and `medium`, radians.
  private static let highLimit = 5 * Double.pi / 180
  private static let mediumLimit = 15 * Double.pi / 180

  /// How strong the earth's field is at its surface, µT: from the South Atlantic anomaly to the south magnetic pole
  /// (IGRF-13 and WMM2025 have 22 to 67 µT). A total outside is not the earth's alone.
  public static let earthFieldStrength = 22.0...67.0

  /// The standard deviation of a direction of which nothing is known, radians: of an even spread over the circle.
  static let unknownHeadingSigma = Double.pi / 3.0.squareRoot()

  /// The heading's sigma, and what can honestly be said where the field cannot be the earth's.
  static func honest(headingSigma: Double, fieldStrength: Double) -> Double {
    isPlausible(fieldStrength) ? headingSigma : max(headingSigma, unknownHeadingSigma)
  }

  static func isPlausible(_ fieldStrength: Double) -> Bool {
    fieldStrength == 0 || earthFieldStrength.contains(fieldStrength)
  }

  init(headingSigma: Double, flags: MotionFlags, fieldStrength: Double) {
    let headingSigma = Self.honest(headingSigma: headingSigma, fieldStrength: fieldStrength)
    if flags.contains(.noHeading) || !headingSigma.isFinite {
      self = .uncalibrated
    } else if !flags.isDisjoint(with: [.magneticDisturbance, .frozenField]) || headingSigma > Self.mediumLimit {
      self = .low
    } else {
      self = headingSigma > Self.highLimit ? .medium : .high
    }
  }

  /// Order by trust.
  public static func < (a: MagneticFieldAccuracy, b: MagneticFieldAccuracy) -> Bool { a.rawValue < b.rawValue }
}

extension DeviceMotion {
  /// Degrees in [0, 360) from north to the device's top edge, clockwise; negative where the frame has no north.
  public var topEdgeHeading: Double { heading < 0 ? -1 : attitude.headingOfTopEdge }

  /// What the accelerometer reads with this motion, g.
  public var acceleration: Vector3 { gravity + userAcceleration }
}
