import Foundation
import MotionKitLinux
import SensorFusion

/// The rotation of the device in its reference frame: as Euler angles, matrix and quaternion.
open class CMAttitude: NSObject, NSSecureCoding, NSCopying {
  private var attitude: Attitude

  /// No rotation.
  public override init() { attitude = Attitude(quaternion: .identity) }

  /// An attitude from a unit quaternion; not in Apple's framework.
  public init(quaternion: CMQuaternion) {
    attitude = Attitude(quaternion: Quaternion(quaternion))
  }

  /// Reads an archived attitude.
  public required init?(coder: NSCoder) {
    attitude = Attitude(quaternion: coder.decodeQuaternion(forKey: "quaternion"))
  }

  /// Archives the attitude.
  open func encode(with coder: NSCoder) { coder.encode(Quaternion(quaternion), forKey: "quaternion") }

  /// True: only the classes of this module are decoded.
  open class var supportsSecureCoding: Bool { true }

  /// A new attitude of the same value.
  open func copy(with zone: NSZone? = nil) -> Any { CMAttitude(quaternion: quaternion) }

  /// Radians in (-pi, pi] about the device's y axis; positive when the right edge goes down; 0 at pitch ±90°.
  open var roll: Double { attitude.roll }
  /// Radians in [-pi/2, pi/2] about the device's x axis; positive when the top edge rises.
  open var pitch: Double { attitude.pitch }
  /// Radians in (-pi, pi] about the vertical; counter-clockwise seen from above.
  open var yaw: Double { attitude.yaw }
  /// Takes reference vectors to device axes.
  open var rotationMatrix: CMRotationMatrix { CMRotationMatrix(attitude.rotationMatrix) }
  /// Rotates device vectors into the reference frame.
  open var quaternion: CMQuaternion { CMQuaternion(attitude.quaternion) }

  /// Makes this the change from `attitude` to what it was, in the axes of the device as it was at `attitude`.
  open func multiply(byInverseOf attitude: CMAttitude) {
    self.attitude = Attitude(quaternion: Quaternion(quaternion))
      .relative(to: Attitude(quaternion: Quaternion(attitude.quaternion)))
  }

  /// Whether the other object is an attitude with the same quaternion.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CMAttitude else { return false }
    return Quaternion(quaternion) == Quaternion(other.quaternion)
  }

  /// Equal attitudes have equal hashes.
  open override var hash: Int { Quaternion(quaternion).hashValue }
}

extension CMRotationMatrix {
  init(_ m: RotationMatrix) {
    self.init(
      m11: m.m11, m12: m.m12, m13: m.m13, m21: m.m21, m22: m.m22, m23: m.m23, m31: m.m31, m32: m.m32, m33: m.m33)
  }
}
