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

  /// Degrees in [0, 360), clockwise from the reference frame's x axis to the horizontal direction of the device's top
  /// edge (its y axis): where a device that lies flat points. Meaningless when the top edge points up or down.
  @inlinable public var headingOfTopEdge: Double {
    Self.bearing(of: quaternion.rotate(Vector3(0, 1, 0)))
  }

  /// The matrix that takes reference vectors to device axes.
  @inlinable public var rotationMatrix: RotationMatrix {
    let x = deviceFromWorld(Vector3(1, 0, 0))
    let y = deviceFromWorld(Vector3(0, 1, 0))
    let z = deviceFromWorld(Vector3(0, 0, 1))
    return RotationMatrix(
      m11: x.x, m12: y.x, m13: z.x, m21: x.y, m22: y.y, m23: z.y, m31: x.z, m32: y.z, m33: z.z)
  }

  /// A device vector in the axes of the reference frame.
  @inlinable
  public func worldFromDevice(_ v: Vector3) -> Vector3 { quaternion.rotate(v) }

  /// A vector of the reference frame in device axes.
  @inlinable
  public func deviceFromWorld(_ v: Vector3) -> Vector3 { quaternion.inverseRotate(v) }

  /// The change from `reference` to this attitude, in the axes of the device as it was at `reference`:
  /// `reference⁻¹ · self`. What `CMAttitude.multiply(byInverseOf:)` leaves behind.
  @inlinable
  public func relative(to reference: Attitude) -> Attitude {
    Attitude(quaternion: reference.quaternion.conjugate * quaternion)
  }

  /// Degrees in [0, 360), clockwise from the reference frame's x axis (north) to a horizontal reference vector.
  @usableFromInline
  static func bearing(of v: Vector3) -> Double {
    let degrees = Elementary.atan2(-v.y, v.x) * (180 / .pi)
    // Adding 0 turns -0 into 0.
    return degrees < 0 ? (degrees + 360 == 360 ? 0 : degrees + 360) : degrees + 0
  }
}

/// A rotation matrix by its elements (row, column): takes reference vectors to device axes.
@frozen
public struct RotationMatrix: Hashable, Sendable {
  /// Row 1: the device's x axis in the reference frame.
  public var m11: Double, m12: Double, m13: Double
  /// Row 2: the device's y axis in the reference frame.
  public var m21: Double, m22: Double, m23: Double
  /// Row 3: the device's z axis in the reference frame.
  public var m31: Double, m32: Double, m33: Double

  /// A matrix from its elements, row by row.
  @inlinable
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
