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
    magneticFieldAccuracy = MagneticFieldAccuracy(headingSigma: state.headingSigma, flags: state.flags)
    let hasHeading = frame.hasNorth && !state.flags.contains(.noHeading)
    heading = hasHeading ? attitude.headingOfXAxis : -1
    headingAccuracy = hasHeading ? state.headingSigma * (180 / .pi) : -1
  }
}

/// How far a magnetic field, and a heading from it, can be trusted.
@frozen
public enum MagneticFieldAccuracy: Int8, Hashable, Sendable, Comparable {
  /// There is no field: no magnetometer, or none used in this frame.
  case uncalibrated = -1
  /// Disturbed, frozen, or a heading worse than 15° (1 sigma).
  case low = 0
  /// A heading within 15°.
  case medium = 1
  /// A heading within 5°.
  case high = 2

  /// The heading's 1-sigma for `high` and `medium`, radians.
  private static let highLimit = 5 * Double.pi / 180
  private static let mediumLimit = 15 * Double.pi / 180

  init(headingSigma: Double, flags: MotionFlags) {
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
