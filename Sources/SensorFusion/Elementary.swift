import Glibc

// The elementary functions that the pipeline uses. All go through this file, because "the same samples give the same
// bits on any machine" needs functions that do not change with the C library or the processor.

/// Elementary functions with the same result, to the bit, on every machine.
public enum Elementary {
  /// The sine of `x` radians.
  @inlinable
  public static func sin(_ x: Double) -> Double { Glibc.sin(x) }
  /// The cosine of `x` radians.
  @inlinable
  public static func cos(_ x: Double) -> Double { Glibc.cos(x) }
  /// The angle of the point (x, y) in (-pi, pi].
  @inlinable
  public static func atan2(_ y: Double, _ x: Double) -> Double { Glibc.atan2(y, x) }
  /// The angle in [-pi/2, pi/2] whose sine is `x`, which is clamped to [-1, 1].
  @inlinable
  public static func asin(_ x: Double) -> Double { Glibc.asin(max(-1, min(1, x))) }
  /// e to the power of `x`.
  @inlinable
  public static func exp(_ x: Double) -> Double { Glibc.exp(x) }
  /// The natural logarithm of `x`.
  @inlinable
  public static func log(_ x: Double) -> Double { Glibc.log(x) }
}
