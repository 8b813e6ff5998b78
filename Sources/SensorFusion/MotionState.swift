/// What the filter says about its own estimate.
@frozen
public struct MotionFlags: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt32
  /// Flags from their bits.
  @inlinable
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The device lies still; gyroscope bias is being measured.
  @inlinable public static var atRest: MotionFlags { MotionFlags(rawValue: 1 << 0) }
  /// The magnetic field differs from its reference; heading leans on the gyroscope.
  @inlinable public static var magneticDisturbance: MotionFlags { MotionFlags(rawValue: 1 << 1) }
  /// The magnetic field does not move while the device does: it carries no news (a synthetic or stuck field).
  @inlinable public static var frozenField: MotionFlags { MotionFlags(rawValue: 1 << 2) }
  /// A gyroscope axis was at the end of its range within this update.
  @inlinable public static var gyroscopeClipped: MotionFlags { MotionFlags(rawValue: 1 << 3) }
  /// An accelerometer axis was at the end of its range since the last update.
  @inlinable public static var accelerometerClipped: MotionFlags { MotionFlags(rawValue: 1 << 4) }
  /// The first update after a gap in the samples.
  @inlinable public static var afterGap: MotionFlags { MotionFlags(rawValue: 1 << 5) }
  /// No gyroscope: tilt from the accelerometer alone, yaw unknown.
  @inlinable public static var noGyroscope: MotionFlags { MotionFlags(rawValue: 1 << 6) }
  /// No magnetometer sample has been used: heading unknown.
  @inlinable public static var noHeading: MotionFlags { MotionFlags(rawValue: 1 << 7) }
  /// The tilt was lost and set again from the mean force in this update.
  @inlinable public static var tiltReset: MotionFlags { MotionFlags(rawValue: 1 << 8) }
}

/// One output of the attitude filter, in the IIO ABI's units and signs. `MotionKitLinux.DeviceMotion` is the same in
/// Core Motion's.
@frozen
public struct MotionState: Hashable, Sendable {
  /// The time of the sample that completed this output.
  public var time: Timestamp
  /// Rotates device vectors into the configured reference frame (z up; x north and y west where it has a north).
  public var attitude: Quaternion
  /// The specific force of rest in device axes, m/s² (norm 9.80665): flat and face up (0, 0, +9.81).
  public var gravity: Vector3
  /// True kinematic acceleration in device axes, m/s²: specific force minus `gravity`.
  public var userAcceleration: Vector3
  /// Bias-corrected rotation rate in device axes, rad/s; zero without a gyroscope.
  public var rotationRate: Vector3
  /// The gyroscope bias in use, rad/s, device axes.
  public var gyroscopeBias: Vector3
  /// The magnetic field less the estimated hard iron, µT, device axes; zero before the first magnetometer sample.
  public var magneticField: Vector3
  /// 1-sigma of the tilt, radians.
  public var tiltSigma: Double
  /// 1-sigma of the heading, radians; infinity where heading is unknown.
  public var headingSigma: Double
  /// 1-sigma of the gyroscope bias, rad/s, the largest axis.
  public var biasSigma: Double
  /// Conditions of this output.
  public var flags: MotionFlags

  /// A state at rest in the identity attitude, before anything is known.
  @inlinable
  public init(time: Timestamp) {
    self.time = time
    attitude = .identity
    gravity = Vector3(0, 0, standardGravity)
    userAcceleration = .zero
    rotationRate = .zero
    gyroscopeBias = .zero
    magneticField = .zero
    tiltSigma = .infinity
    headingSigma = .infinity
    biasSigma = .infinity
    flags = []
  }
}

/// Standard gravity, m/s² (3rd CGPM, 1901): what 1 g means in Core Motion's units.
public let standardGravity = 9.80665
