// The two 3 x 3 shapes that the filter's covariance is made of, as fixed scalar fields: no arrays, no allocation.

/// A 3 x 3 matrix by rows.
struct Matrix3: Hashable, Sendable {
  var x: Vector3
  var y: Vector3
  var z: Vector3

  static var zero: Matrix3 { Matrix3(x: .zero, y: .zero, z: .zero) }

  /// The rotation matrix of a unit quaternion: its rows are the reference axes in device axes.
  @inline(__always)
  init(_ q: Quaternion) {
    let (xx, yy, zz) = (2 * q.x * q.x, 2 * q.y * q.y, 2 * q.z * q.z)
    let (xy, xz, yz) = (2 * q.x * q.y, 2 * q.x * q.z, 2 * q.y * q.z)
    let (wx, wy, wz) = (2 * q.w * q.x, 2 * q.w * q.y, 2 * q.w * q.z)
    x = Vector3(1 - (yy + zz), xy - wz, xz + wy)
    y = Vector3(xy + wz, 1 - (xx + zz), yz - wx)
    z = Vector3(xz - wy, yz + wx, 1 - (xx + yy))
  }

  @inline(__always)
  init(x: Vector3, y: Vector3, z: Vector3) {
    self.x = x
    self.y = y
    self.z = z
  }

  @inline(__always)
  static func * (m: Matrix3, v: Vector3) -> Vector3 { Vector3(m.x.dot(v), m.y.dot(v), m.z.dot(v)) }

  @inline(__always)
  static func * (m: Matrix3, s: Double) -> Matrix3 { Matrix3(x: m.x * s, y: m.y * s, z: m.z * s) }

  @inline(__always)
  static func * (a: Matrix3, b: Matrix3) -> Matrix3 {
    Matrix3(x: b.leftMultiplied(by: a.x), y: b.leftMultiplied(by: a.y), z: b.leftMultiplied(by: a.z))
  }

  @inline(__always)
  static func + (a: Matrix3, b: Matrix3) -> Matrix3 { Matrix3(x: a.x + b.x, y: a.y + b.y, z: a.z + b.z) }

  @inline(__always)
  static func - (a: Matrix3, b: Matrix3) -> Matrix3 { Matrix3(x: a.x - b.x, y: a.y - b.y, z: a.z - b.z) }

  /// `transpose(self) * v`, the same as the row vector `v` times the matrix.
  @inline(__always)
  func leftMultiplied(by v: Vector3) -> Vector3 { x * v.x + y * v.y + z * v.z }

  var transposed: Matrix3 {
    Matrix3(x: Vector3(x.x, y.x, z.x), y: Vector3(x.y, y.y, z.y), z: Vector3(x.z, y.z, z.z))
  }

  /// Adds `m * s`.
  @inline(__always)
  mutating func add(_ m: Matrix3, times s: Double) {
    x += m.x * s
    y += m.y * s
    z += m.z * s
  }

  /// Subtracts `a bᵀ + c dᵀ`.
  @inline(__always)
  mutating func subtractProducts(_ a: Vector3, _ b: Vector3, _ c: Vector3, _ d: Vector3) {
    x -= b * a.x + d * c.x
    y -= b * a.y + d * c.y
    z -= b * a.z + d * c.z
  }

  var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}

/// A symmetric 3 x 3 matrix by its upper triangle.
struct SymmetricMatrix3: Hashable, Sendable {
  var xx: Double
  var xy: Double
  var xz: Double
  var yy: Double
  var yz: Double
  var zz: Double

  /// A diagonal matrix.
  @inline(__always)
  init(diagonal: Vector3) {
    (xx, yy, zz) = (diagonal.x, diagonal.y, diagonal.z)
    (xy, xz, yz) = (0, 0, 0)
  }

  @inline(__always)
  static func * (m: SymmetricMatrix3, v: Vector3) -> Vector3 { Vector3(m.x.dot(v), m.y.dot(v), m.z.dot(v)) }

  /// The rows (equal to the columns).
  var x: Vector3 { Vector3(xx, xy, xz) }
  var y: Vector3 { Vector3(xy, yy, yz) }
  var z: Vector3 { Vector3(xz, yz, zz) }

  var full: Matrix3 { Matrix3(x: x, y: y, z: z) }

  var diagonal: Vector3 { Vector3(xx, yy, zz) }

  /// Subtracts `k uᵀ + u kᵀ`.
  @inline(__always)
  mutating func subtractSymmetricProduct(_ k: Vector3, _ u: Vector3) {
    xx -= 2 * (k.x * u.x)
    xy -= k.x * u.y + k.y * u.x
    xz -= k.x * u.z + k.z * u.x
    yy -= 2 * (k.y * u.y)
    yz -= k.y * u.z + k.z * u.y
    zz -= 2 * (k.z * u.z)
  }

  /// Adds `m + mᵀ`.
  @inline(__always)
  mutating func addSymmetricPart(_ m: Matrix3) {
    xx += 2 * m.x.x
    xy += m.x.y + m.y.x
    xz += m.x.z + m.z.x
    yy += 2 * m.y.y
    yz += m.y.z + m.z.y
    zz += 2 * m.z.z
  }

  var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}
