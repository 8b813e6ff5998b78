import Foundation
import MotionKitLinux
import SensorFusion

/// A value with the time at which it was valid.
open class CMLogItem: NSObject, NSSecureCoding, NSCopying {
  private let storedTimestamp: TimeInterval

  /// An item at time 0, for subclasses that override the getters.
  public override init() { storedTimestamp = 0 }

  /// An item at a time in seconds since the machine was started.
  public init(timestamp: TimeInterval) { storedTimestamp = timestamp }

  /// Reads an archived item.
  public required init?(coder: NSCoder) { storedTimestamp = coder.decodeDouble(forKey: "timestamp") }

  /// Archives the item.
  open func encode(with coder: NSCoder) { coder.encode(timestamp, forKey: "timestamp") }

  /// True: only the classes of this module are decoded.
  open class var supportsSecureCoding: Bool { true }

  /// The item itself: it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Seconds since the machine was started (the boot clock, time asleep included) at which the value was valid.
  open var timestamp: TimeInterval { storedTimestamp }
}

/// One reading of the accelerometer.
open class CMAccelerometerData: CMLogItem {
  private let storedAcceleration: CMAcceleration

  /// An empty reading, for subclasses that override the getters.
  public override init() {
    storedAcceleration = CMAcceleration()
    super.init()
  }

  /// A reading from its parts; not in Apple's framework.
  public init(timestamp: TimeInterval, acceleration: CMAcceleration) {
    storedAcceleration = acceleration
    super.init(timestamp: timestamp)
  }

  /// Reads an archived reading.
  public required init?(coder: NSCoder) {
    storedAcceleration = CMAcceleration(coder.decodeVector(forKey: "acceleration"))
    super.init(coder: coder)
  }

  /// Archives the reading.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(Vector3(acceleration), forKey: "acceleration")
  }

  /// Gravity minus the device's acceleration, g, device axes.
  open var acceleration: CMAcceleration { storedAcceleration }
}

/// One reading of the gyroscope.
open class CMGyroData: CMLogItem {
  private let storedRotationRate: CMRotationRate

  /// An empty reading, for subclasses that override the getters.
  public override init() {
    storedRotationRate = CMRotationRate()
    super.init()
  }

  /// A reading from its parts; not in Apple's framework.
  public init(timestamp: TimeInterval, rotationRate: CMRotationRate) {
    storedRotationRate = rotationRate
    super.init(timestamp: timestamp)
  }

  /// Reads an archived reading.
  public required init?(coder: NSCoder) {
    storedRotationRate = CMRotationRate(coder.decodeVector(forKey: "rotationRate"))
    super.init(coder: coder)
  }

  /// Archives the reading.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(Vector3(rotationRate), forKey: "rotationRate")
  }

  /// Rotation rate with the sensor's bias in it, rad/s, right-handed about the device axes.
  open var rotationRate: CMRotationRate { storedRotationRate }
}

/// One reading of the magnetometer.
open class CMMagnetometerData: CMLogItem {
  private let storedMagneticField: CMMagneticField

  /// An empty reading, for subclasses that override the getters.
  public override init() {
    storedMagneticField = CMMagneticField()
    super.init()
  }

  /// A reading from its parts; not in Apple's framework.
  public init(timestamp: TimeInterval, magneticField: CMMagneticField) {
    storedMagneticField = magneticField
    super.init(timestamp: timestamp)
  }

  /// Reads an archived reading.
  public required init?(coder: NSCoder) {
    storedMagneticField = CMMagneticField(coder.decodeVector(forKey: "magneticField"))
    super.init(coder: coder)
  }

  /// Archives the reading.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(Vector3(magneticField), forKey: "magneticField")
  }

  /// The whole field, the device's own included, µT, device axes.
  open var magneticField: CMMagneticField { storedMagneticField }
}

// MARK: MotionKitLinux's values

extension CMAcceleration {
  init(_ v: Vector3) { self.init(x: v.x, y: v.y, z: v.z) }
}

extension CMRotationRate {
  init(_ v: Vector3) { self.init(x: v.x, y: v.y, z: v.z) }
}

extension CMMagneticField {
  init(_ v: Vector3) { self.init(x: v.x, y: v.y, z: v.z) }
}

extension CMQuaternion {
  init(_ q: Quaternion) { self.init(x: q.x, y: q.y, z: q.z, w: q.w) }
}

extension Quaternion {
  init(_ q: CMQuaternion) { self.init(w: q.w, x: q.x, y: q.y, z: q.z) }
}

extension Vector3 {
  init(_ v: CMAcceleration) { self.init(v.x, v.y, v.z) }
  init(_ v: CMRotationRate) { self.init(v.x, v.y, v.z) }
  init(_ v: CMMagneticField) { self.init(v.x, v.y, v.z) }
}

extension CMAccelerometerData {
  convenience init(_ data: AccelerometerData) {
    self.init(timestamp: data.timestamp, acceleration: CMAcceleration(data.acceleration))
  }
}

extension CMGyroData {
  convenience init(_ data: GyroscopeData) {
    self.init(timestamp: data.timestamp, rotationRate: CMRotationRate(data.rotationRate))
  }
}

extension CMMagnetometerData {
  convenience init(_ data: MagnetometerData) {
    self.init(timestamp: data.timestamp, magneticField: CMMagneticField(data.magneticField))
  }
}

extension NSCoder {
  func encode(_ v: Vector3, forKey key: String) {
    encode(v.x, forKey: key + ".x")
    encode(v.y, forKey: key + ".y")
    encode(v.z, forKey: key + ".z")
  }

  func decodeVector(forKey key: String) -> Vector3 {
    Vector3(decodeDouble(forKey: key + ".x"), decodeDouble(forKey: key + ".y"), decodeDouble(forKey: key + ".z"))
  }

  func encode(_ q: Quaternion, forKey key: String) {
    encode(q.w, forKey: key + ".w")
    encode(Vector3(q.x, q.y, q.z), forKey: key)
  }

  func decodeQuaternion(forKey key: String) -> Quaternion {
    let v = decodeVector(forKey: key)
    return Quaternion(w: decodeDouble(forKey: key + ".w"), x: v.x, y: v.y, z: v.z)
  }
}
