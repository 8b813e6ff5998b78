// Foundation comes with CoreMotion, as it does on a phone.
@_exported import Foundation

/// An acceleration in g: gravity minus the device's own, device axes; flat and face up (0, 0, -1).
public struct CMAcceleration: Sendable, BitwiseCopyable {
  /// Along the device's x axis, to the right.
  public var x: Double
  /// Along the device's y axis, to the top edge.
  public var y: Double
  /// Along the device's z axis, out of the face.
  public var z: Double

  /// Zero.
  public init() { self.init(x: 0, y: 0, z: 0) }

  /// An acceleration from its components.
  public init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }
}

/// A rotation rate in rad/s, right-handed about the device axes.
public struct CMRotationRate: Sendable, BitwiseCopyable {
  /// About the device's x axis.
  public var x: Double
  /// About the device's y axis.
  public var y: Double
  /// About the device's z axis.
  public var z: Double

  /// Zero.
  public init() { self.init(x: 0, y: 0, z: 0) }

  /// A rotation rate from its components.
  public init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }
}

/// A magnetic field in µT, device axes.
public struct CMMagneticField: Sendable, BitwiseCopyable {
  /// Along the device's x axis.
  public var x: Double
  /// Along the device's y axis.
  public var y: Double
  /// Along the device's z axis.
  public var z: Double

  /// Zero.
  public init() { self.init(x: 0, y: 0, z: 0) }

  /// A field from its components.
  public init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }
}

/// A quaternion of an attitude: rotates device vectors into the reference frame.
public struct CMQuaternion: Sendable, BitwiseCopyable {
  /// The first imaginary part.
  public var x: Double
  /// The second imaginary part.
  public var y: Double
  /// The third imaginary part.
  public var z: Double
  /// The scalar part.
  public var w: Double

  /// All zero: no rotation at all, not even the identity.
  public init() { self.init(x: 0, y: 0, z: 0, w: 0) }

  /// A quaternion from its parts, scalar last.
  public init(x: Double, y: Double, z: Double, w: Double) {
    self.x = x
    self.y = y
    self.z = z
    self.w = w
  }
}

/// A rotation matrix of an attitude: takes reference vectors to device axes (row, column).
public struct CMRotationMatrix: Sendable, BitwiseCopyable {
  /// Row 1, column 1.
  public var m11: Double
  /// Row 1, column 2.
  public var m12: Double
  /// Row 1, column 3.
  public var m13: Double
  /// Row 2, column 1.
  public var m21: Double
  /// Row 2, column 2.
  public var m22: Double
  /// Row 2, column 3.
  public var m23: Double
  /// Row 3, column 1.
  public var m31: Double
  /// Row 3, column 2.
  public var m32: Double
  /// Row 3, column 3.
  public var m33: Double

  /// All zero.
  public init() { self.init(m11: 0, m12: 0, m13: 0, m21: 0, m22: 0, m23: 0, m31: 0, m32: 0, m33: 0) }

  /// A matrix from its elements, row by row.
  public init(
    m11: Double, m12: Double, m13: Double, m21: Double, m22: Double, m23: Double, m31: Double, m32: Double, m33: Double
  ) {
    self.m11 = m11
    self.m12 = m12
    self.m13 = m13
    self.m21 = m21
    self.m22 = m22
    self.m23 = m23
    self.m31 = m31
    self.m32 = m32
    self.m33 = m33
  }
}

/// How well the magnetic field is known.
public enum CMMagneticFieldCalibrationAccuracy: Int32, Sendable, BitwiseCopyable {
  /// Not at all: treat the field and the heading as noise.
  case uncalibrated = -1
  /// Poorly.
  case low = 0
  /// Fairly.
  case medium = 1
  /// Well.
  case high = 2
}

/// A magnetic field without the device's own, with its accuracy.
public struct CMCalibratedMagneticField: Sendable, BitwiseCopyable {
  /// The field, µT, device axes.
  public var field: CMMagneticField
  /// How well it is known.
  public var accuracy: CMMagneticFieldCalibrationAccuracy

  /// A zero field of low accuracy.
  public init() { self.init(field: CMMagneticField(), accuracy: .low) }

  /// A field with its accuracy.
  public init(field: CMMagneticField, accuracy: CMMagneticFieldCalibrationAccuracy) {
    self.field = field
    self.accuracy = accuracy
  }
}

/// The earth frames of an attitude: z up, right-handed; with a north, x points there and y west.
public struct CMAttitudeReferenceFrame: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt
  /// Frames from their bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// x is horizontal and fixed at the start; yaw drifts.
  public static let xArbitraryZVertical = CMAttitudeReferenceFrame(rawValue: 1)
  /// As `xArbitraryZVertical`; the magnetometer corrects the drift of yaw.
  public static let xArbitraryCorrectedZVertical = CMAttitudeReferenceFrame(rawValue: 2)
  /// x points to magnetic north.
  public static let xMagneticNorthZVertical = CMAttitudeReferenceFrame(rawValue: 4)
  /// x points to geographic north; needs a location, see `MagneticDeclination`.
  public static let xTrueNorthZVertical = CMAttitudeReferenceFrame(rawValue: 8)
}

/// Whether this process may use the sensors.
public enum CMAuthorizationStatus: Int, Sendable {
  /// Never returned on Linux.
  case notDetermined = 0
  /// Never returned on Linux.
  case restricted = 1
  /// The device nodes exist and may not be opened.
  case denied = 2
  /// Nothing forbids it.
  case authorized = 3
}

/// How sure a `CMMotionActivity` is.
public enum CMMotionActivityConfidence: Int, Sendable {
  /// A guess.
  case low = 0
  /// Likely.
  case medium = 1
  /// Nearly certain.
  case high = 2
}

/// What a `CMPedometerEvent` reports.
public enum CMPedometerEventType: Int, Sendable {
  /// The walker stopped.
  case pause = 0
  /// The walker goes on.
  case resume = 1
}

/// Gets accelerometer readings, or an error.
public typealias CMAccelerometerHandler = (CMAccelerometerData?, (any Error)?) -> Void
/// Gets gyroscope readings, or an error.
public typealias CMGyroHandler = (CMGyroData?, (any Error)?) -> Void
/// Gets magnetometer readings, or an error.
public typealias CMMagnetometerHandler = (CMMagnetometerData?, (any Error)?) -> Void
/// Gets device motion, or an error.
public typealias CMDeviceMotionHandler = (CMDeviceMotion?, (any Error)?) -> Void
/// Gets relative altitudes, or an error.
public typealias CMAltitudeHandler = (CMAltitudeData?, (any Error)?) -> Void
/// Gets altitudes above sea level, or an error.
public typealias CMAbsoluteAltitudeHandler = (CMAbsoluteAltitudeData?, (any Error)?) -> Void
/// Gets pedometer data, or an error.
public typealias CMPedometerHandler = (CMPedometerData?, (any Error)?) -> Void
/// Gets pauses and resumptions of walking, or an error.
public typealias CMPedometerEventHandler = (CMPedometerEvent?, (any Error)?) -> Void
/// Gets the present activity at each change.
public typealias CMMotionActivityHandler = (CMMotionActivity?) -> Void
/// Gets the activities of a past time, or an error.
public typealias CMMotionActivityQueryHandler = ([CMMotionActivity]?, (any Error)?) -> Void
/// Gets the steps of a past time, or an error.
public typealias CMStepQueryHandler = (Int, (any Error)?) -> Void
/// Gets the steps since the start with their time, or an error.
public typealias CMStepUpdateHandler = (Int, Date, (any Error)?) -> Void
