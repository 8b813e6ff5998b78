/// Three components along right-handed axes, in `Double`. The unit and the frame are named where one is stored.
@frozen
public struct Vector3: Hashable, Sendable {
  /// The component along x.
  public var x: Double
  /// The component along y.
  public var y: Double
  /// The component along z.
  public var z: Double

  /// A vector from its components.
  @inlinable
  public init(_ x: Double, _ y: Double, _ z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// (0, 0, 0).
  @inlinable public static var zero: Vector3 { Vector3(0, 0, 0) }

  /// Sum, component by component.
  @inlinable
  public static func + (a: Vector3, b: Vector3) -> Vector3 { Vector3(a.x + b.x, a.y + b.y, a.z + b.z) }

  /// Difference, component by component.
  @inlinable
  public static func - (a: Vector3, b: Vector3) -> Vector3 { Vector3(a.x - b.x, a.y - b.y, a.z - b.z) }

  /// The opposite vector.
  @inlinable
  public static prefix func - (a: Vector3) -> Vector3 { Vector3(-a.x, -a.y, -a.z) }

  /// The vector scaled by `s`.
  @inlinable
  public static func * (a: Vector3, s: Double) -> Vector3 { Vector3(a.x * s, a.y * s, a.z * s) }

  /// The vector scaled by `s`.
  @inlinable
  public static func * (s: Double, a: Vector3) -> Vector3 { a * s }

  /// Adds in place.
  @inlinable
  public static func += (a: inout Vector3, b: Vector3) { a = a + b }

  /// Subtracts in place.
  @inlinable
  public static func -= (a: inout Vector3, b: Vector3) { a = a - b }

  /// The scalar product.
  @inlinable
  public func dot(_ b: Vector3) -> Double { x * b.x + y * b.y + z * b.z }

  /// The vector product `self` x `b`, right-handed.
  @inlinable
  public func cross(_ b: Vector3) -> Vector3 {
    Vector3(y * b.z - z * b.y, z * b.x - x * b.z, x * b.y - y * b.x)
  }

  /// The squared Euclidean norm.
  @inlinable public var squaredNorm: Double { dot(self) }

  /// The Euclidean norm.
  @inlinable public var norm: Double { squaredNorm.squareRoot() }

  /// Whether no component is NaN or infinite.
  @inlinable public var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}
