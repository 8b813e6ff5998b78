// Quaternions from rotation vectors and directions.

extension Quaternion {
  /// Above this squared angle the rotation vector's quaternion takes its sine and cosine from `Elementary`, rad².
  @usableFromInline static let largestSeriesSquaredAngle = 0.16

  /// The rotation by the angle |v| (rad) about `v`, right-handed.
  @inlinable @inline(__always)
  public init(rotationVector v: Vector3) {
    let squaredAngle = v.squaredNorm
    if squaredAngle <= Self.largestSeriesSquaredAngle {
      // Taylor series in h² = angle² / 4; the remainder is below 10⁻¹¹ rad.
      let h2 = 0.25 * squaredAngle
      let s = 0.5 * (1 + h2 * (-1 / 6.0 + h2 * (1 / 120.0 - h2 * (1 / 5040.0))))
      let c = 1 + h2 * (-0.5 + h2 * (1 / 24.0 - h2 * (1 / 720.0)))
      self.init(w: c, x: v.x * s, y: v.y * s, z: v.z * s)
    } else {
      let angle = squaredAngle.squareRoot()
      let half = Elementary.sinCos(0.5 * angle)
      let s = half.sin / angle
      self.init(w: half.cos, x: v.x * s, y: v.y * s, z: v.z * s)
    }
  }

  /// The rotation by `angle` radians about z.
  @inlinable
  public init(yaw angle: Double) {
    let half = Elementary.sinCos(0.5 * angle)
    self.init(w: half.cos, x: 0, y: 0, z: half.sin)
  }

  /// The shortest rotation that turns `direction` (any length but 0) to +z; about x where it points to -z.
  @inlinable
  public init(turningToVertical direction: Vector3) {
    let norm = direction.norm
    guard norm > 0, norm.isFinite else {
      self = .identity
      return
    }
    let (x, y, z) = (direction.x / norm, direction.y / norm, direction.z / norm)
    // Half-angle form: w = cos(angle / 2), and the axis is (y, -x, 0). Near -z, w comes from the horizontal part.
    let horizontal = x * x + y * y
    guard z > -0.5 else {
      let s = (0.5 * (1 - z)).squareRoot()
      let h = horizontal.squareRoot()
      guard h > 0 else {
        self.init(w: 0, x: 1, y: 0, z: 0)
        return
      }
      self = Quaternion(w: 0.5 * h / s, x: s * y / h, y: -s * x / h, z: 0).normalized
      return
    }
    let w = (0.5 * (1 + z)).squareRoot()
    let scale = 0.5 / w
    self = Quaternion(w: w, x: y * scale, y: -x * scale, z: 0).normalized
  }

  /// The device's yaw: the angle about z of its y axis from the reference's y axis, counter-clockwise from above; of
  /// its x axis where y is vertical.
  @inlinable public var yaw: Double {
    let sinePitch = 2 * (y * z + x * w)
    guard abs(sinePitch) < 1 - 1e-12 else { return Elementary.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z)) }
    return Elementary.atan2(2 * (z * w - x * y), 1 - 2 * (x * x + z * z))
  }

  /// Scaled to unit norm where the norm is already within a percent of it: one Newton step, exact to its square.
  @inlinable @inline(__always) var renormalized: Quaternion {
    let s = 1.5 - 0.5 * squaredNorm
    return Quaternion(w: w * s, x: x * s, y: y * s, z: z * s)
  }

  /// The vertical in device axes.
  @inlinable @inline(__always) var verticalInDevice: Vector3 {
    Vector3(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
  }
}
