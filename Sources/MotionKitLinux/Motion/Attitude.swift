import SensorFusion

/// The rotation of the device in its reference frame, as Core Motion defines it.
///
/// Intrinsic Z-X'-Y'': `q = qz(yaw) qx(pitch) qy(roll)`. Pitch is positive when the top edge rises, roll when the right
/// edge goes down, yaw counter-clockwise seen from above. At pitch ±90° roll is 0 and yaw takes the whole rotation.
@frozen
public struct Attitude: Hashable, Sendable {
  /// Rotates device vectors into the reference frame; unit norm, either sign.
  public var quaternion: Quaternion

  /// An attitude from a unit quaternion.
  @inlinable
  public init(quaternion: Quaternion) { self.quaternion = quaternion }

  /// How close |sin pitch| comes to 1 before roll is taken as 0 (1e-12 is 0.00008° from the pole).
  @usableFromInline static let poleMargin = 1e-12

  /// sin(pitch), the (2, 3) element of the reference-to-device matrix.
  @inlinable var sinePitch: Double {
    let q = quaternion
    return 2 * (q.y * q.z + q.x * q.w)
  }

  /// Radians in [-pi/2, pi/2] about the device's x axis.
  @inlinable public var pitch: Double { Elementary.asin(sinePitch) }

  /// Radians in (-pi, pi] about the device's y axis.
  @inlinable public var roll: Double {
    guard abs(sinePitch) < 1 - Self.poleMargin else { return 0 }
    let q = quaternion
    return Elementary.atan2(2 * (q.y * q.w - q.x * q.z), 1 - 2 * (q.x * q.x + q.y * q.y))
  }

  /// Radians in (-pi, pi] about the vertical.
  @inlinable public var yaw: Double {
    let q = quaternion
    guard abs(sinePitch) < 1 - Self.poleMargin else {
      // With roll 0 the matrix's first row is (cos yaw, sin yaw, 0) at either pole.
      return Elementary.atan2(2 * (q.x * q.y + q.z * q.w), 1 - 2 * (q.y * q.y + q.z * q.z))
    }
    return Elementary.atan2(2 * (q.z * q.w - q.x * q.y), 1 - 2 * (q.x * q.x + q.z * q.z))
  }

  /// Degrees in [0, 360), clockwise from the reference frame's x axis to the horizontal direction of the device's x
  /// axis. Meaningless when the device's x axis is vertical.
  @inlinable public var headingOfXAxis: Double {
    Self.bearing(of: quaternion.rotate(Vector3(1, 0, 0)))
  }

  /// Degrees in [0, 360), clockwise from the reference frame's x axis (north) to a horizontal reference vector.
  @usableFromInline
  static func bearing(of v: Vector3) -> Double {
    let degrees = Elementary.atan2(-v.y, v.x) * (180 / .pi)
    return degrees < 0 ? (degrees + 360 == 360 ? 0 : degrees + 360) : degrees
  }
}
