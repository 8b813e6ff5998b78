import Foundation
import MotionKitLinux
import SensorFusion

/// Everything about the device's motion at one instant.
open class CMDeviceMotion: CMLogItem {
  /// Where the sensors are.
  public enum SensorLocation: Int, Sendable {
    /// In the device.
    case `default` = 0
    /// In the left earpiece; never on Linux.
    case headphoneLeft = 1
    /// In the right earpiece; never on Linux.
    case headphoneRight = 2
  }

  private let storedAttitude: CMAttitude
  private let storedRotationRate: CMRotationRate
  private let storedGravity: CMAcceleration
  private let storedUserAcceleration: CMAcceleration
  private let storedMagneticField: CMCalibratedMagneticField
  private let storedHeading: Double
  private let storedHeadingAccuracy: Double

  /// A motion without content, for subclasses that override the getters.
  public override init() {
    storedAttitude = CMAttitude()
    storedRotationRate = CMRotationRate()
    storedGravity = CMAcceleration()
    storedUserAcceleration = CMAcceleration()
    storedMagneticField = CMCalibratedMagneticField(field: CMMagneticField(), accuracy: .uncalibrated)
    storedHeading = -1
    storedHeadingAccuracy = -1
    super.init()
  }

  /// A motion from its parts; not in Apple's framework.
  public init(
    timestamp: TimeInterval, attitude: CMAttitude, rotationRate: CMRotationRate, gravity: CMAcceleration,
    userAcceleration: CMAcceleration, magneticField: CMCalibratedMagneticField, heading: Double = -1,
    headingAccuracy: Double = -1
  ) {
    storedAttitude = attitude
    storedRotationRate = rotationRate
    storedGravity = gravity
    storedUserAcceleration = userAcceleration
    storedMagneticField = magneticField
    storedHeading = heading
    storedHeadingAccuracy = headingAccuracy
    super.init(timestamp: timestamp)
  }

  /// Reads an archived motion.
  public required init?(coder: NSCoder) {
    storedAttitude = CMAttitude(quaternion: CMQuaternion(coder.decodeQuaternion(forKey: "attitude")))
    storedRotationRate = CMRotationRate(coder.decodeVector(forKey: "rotationRate"))
    storedGravity = CMAcceleration(coder.decodeVector(forKey: "gravity"))
    storedUserAcceleration = CMAcceleration(coder.decodeVector(forKey: "userAcceleration"))
    storedMagneticField = CMCalibratedMagneticField(
      field: CMMagneticField(coder.decodeVector(forKey: "magneticField")),
      accuracy: CMMagneticFieldCalibrationAccuracy(rawValue: coder.decodeInt32(forKey: "accuracy")) ?? .uncalibrated)
    storedHeading = coder.decodeDouble(forKey: "heading")
    storedHeadingAccuracy = coder.decodeDouble(forKey: "headingAccuracy")
    super.init(coder: coder)
  }

  /// Archives the motion.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(Quaternion(attitude.quaternion), forKey: "attitude")
    coder.encode(Vector3(rotationRate), forKey: "rotationRate")
    coder.encode(Vector3(gravity), forKey: "gravity")
    coder.encode(Vector3(userAcceleration), forKey: "userAcceleration")
    coder.encode(Vector3(magneticField.field), forKey: "magneticField")
    coder.encode(magneticField.accuracy.rawValue, forKey: "accuracy")
    coder.encode(heading, forKey: "heading")
    coder.encode(headingAccuracy, forKey: "headingAccuracy")
  }

  /// A copy with an attitude of its own.
  open override func copy(with zone: NSZone? = nil) -> Any {
    CMDeviceMotion(
      timestamp: timestamp, attitude: CMAttitude(quaternion: attitude.quaternion), rotationRate: rotationRate,
      gravity: gravity, userAcceleration: userAcceleration, magneticField: magneticField, heading: heading,
      headingAccuracy: headingAccuracy)
  }

  /// The rotation of the device in the reference frame; this motion's own object.
  open var attitude: CMAttitude { storedAttitude }
  /// Rotation rate without the gyroscope's bias, rad/s, device axes.
  open var rotationRate: CMRotationRate { storedRotationRate }
  /// The unit vector of gravity in device axes, g.
  open var gravity: CMAcceleration { storedGravity }
  /// The acceleration that the user gives the device, g: minus the kinematic one, so that with `gravity` it sums to
  /// what the accelerometer reads.
  open var userAcceleration: CMAcceleration { storedUserAcceleration }
  /// The field without the device's own, µT; zero and `.uncalibrated` where the frame does not use the magnetometer.
  open var magneticField: CMCalibratedMagneticField { storedMagneticField }
  /// Degrees in [0, 360) from north to the device's x axis, clockwise; negative where the frame has no north.
  open var heading: Double { storedHeading }
  /// 1-sigma of `heading`, degrees; negative where there is none.
  open var headingAccuracy: Double { storedHeadingAccuracy }
  /// In the device.
  open var sensorLocation: SensorLocation { .default }
}

extension CMDeviceMotion {
  convenience init(_ motion: DeviceMotion) {
    self.init(
      timestamp: motion.timestamp, attitude: CMAttitude(quaternion: CMQuaternion(motion.attitude.quaternion)),
      rotationRate: CMRotationRate(motion.rotationRate), gravity: CMAcceleration(motion.gravity),
      userAcceleration: CMAcceleration(motion.userAcceleration),
      magneticField: CMCalibratedMagneticField(
        field: CMMagneticField(motion.magneticField),
        accuracy: CMMagneticFieldCalibrationAccuracy(motion.magneticFieldAccuracy)),
      heading: motion.heading, headingAccuracy: motion.headingAccuracy)
  }
}

extension CMMagneticFieldCalibrationAccuracy {
  init(_ accuracy: MagneticFieldAccuracy) {
    switch accuracy {
    case .uncalibrated: self = .uncalibrated
    case .low: self = .low
    case .medium: self = .medium
    case .high: self = .high
    }
  }
}
