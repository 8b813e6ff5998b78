/// A quaternion w + xi + yj + zk, Hamilton convention, used as a rotation of unit norm.
///
/// An attitude rotates device vectors into the reference frame: `v_ref = q.rotate(v_dev)`.
@frozen
public struct Quaternion: Hashable, Sendable {
  /// The scalar part.
  public var w: Double
  /// The first imaginary part.
  public var x: Double
  /// The second imaginary part.
  public var y: Double
  /// The third imaginary part.
  public var z: Double

  /// A quaternion from its four parts, scalar first.
  @inlinable
  public init(w: Double, x: Double, y: Double, z: Double) {
    self.w = w
    self.x = x
    self.y = y
    self.z = z
  }

  /// No rotation.
  @inlinable public static var identity: Quaternion { Quaternion(w: 1, x: 0, y: 0, z: 0) }

  /// The Hamilton product: rotates by `b` first, then by `a`.
  @inlinable @inline(__always)
  public static func * (a: Quaternion, b: Quaternion) -> Quaternion {
    Quaternion(
      w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
      x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w)
  }

  /// The conjugate: the opposite rotation of a unit quaternion.
  @inlinable public var conjugate: Quaternion { Quaternion(w: w, x: -x, y: -y, z: -z) }

  /// The squared norm; 1 for a rotation.
  @inlinable public var squaredNorm: Double { w * w + x * x + y * y + z * z }

  /// The quaternion scaled to unit norm; the identity if its norm is 0 or not finite.
  @inlinable public var normalized: Quaternion {
    let norm = squaredNorm.squareRoot()
    guard norm > 0, norm.isFinite else { return .identity }
    return Quaternion(w: w / norm, x: x / norm, y: y / norm, z: z / norm)
  }

  /// `q v q*`: a device vector into the reference frame.
  @inlinable
  public func rotate(_ v: Vector3) -> Vector3 {
    // Rodrigues' form: v + 2 w (u x v) + 2 u x (u x v), u the imaginary part.
    let u = Vector3(x, y, z)
    let t = u.cross(v) * 2
    return v + t * w + u.cross(t)
  }

  /// `q* v q`: a reference vector into the device frame.
  @inlinable
  public func inverseRotate(_ v: Vector3) -> Vector3 { conjugate.rotate(v) }

  /// Whether no part is NaN or infinite.
  @inlinable public var isFinite: Bool { w.isFinite && x.isFinite && y.isFinite && z.isFinite }
}
