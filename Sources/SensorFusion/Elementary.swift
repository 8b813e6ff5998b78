// The elementary functions that the pipeline uses. "The same samples give the same bits on any machine" needs functions
// that do not change with the C library or the processor (libm picks fused variants at run time), so they are made here
// from additions, multiplications, divisions and square roots, which IEEE 754 defines to the bit: range reduction, then
// the Taylor polynomial long enough that its remainder is below half a unit in the last place. Textbook method; see
// Muller, Elementary Functions (2016), chapters 3 and 11.

/// Elementary functions with the same result, to the bit, on every machine. Accurate to 2 units in the last place.
public enum Elementary {
  /// The sine of `x` radians; NaN if `x` is not finite. Accurate for |x| below 10⁶.
  @inlinable
  public static func sin(_ x: Double) -> Double { sinCos(x).sin }

  /// The cosine of `x` radians; NaN if `x` is not finite. Accurate for |x| below 10⁶.
  @inlinable
  public static func cos(_ x: Double) -> Double { sinCos(x).cos }

  /// Sine and cosine of `x` radians together.
  @inlinable
  public static func sinCos(_ x: Double) -> (sin: Double, cos: Double) {
    if abs(x) <= 0.25 * .pi { return (x == 0 ? x : sineKernel(x), cosineKernel(x)) }
    guard abs(x) < largestReduced else { return reducedFromLarge(x) }
    let count = (x * (2 / .pi)).rounded()
    // Three pieces of pi/2; the first two have at most 33 bits, so their products with `count` are exact.
    let r = ((x - count * halfPi1) - count * halfPi2) - count * halfPi3
    let (s, c) = (sineKernel(r), cosineKernel(r))
    switch Int64(count) & 3 {
    case 0: return (s, c)
    case 1: return (c, -s)
    case 2: return (-s, -c)
    default: return (-c, s)
    }
  }

  /// The angle of the point (x, y) in [-pi, pi]; the signs of zeros choose the side, as in C. NaN if either is NaN.
  @inlinable
  public static func atan2(_ y: Double, _ x: Double) -> Double {
    guard !x.isNaN, !y.isNaN else { return .nan }
    let (ax, ay) = (abs(x), abs(y))
    let first: Double
    if ax == ay {
      first = ax == 0 ? 0 : 0.25 * .pi
    } else if ay < ax {
      first = ratioArcTangent(ay, ax)
    } else {
      first = (0.5 * .pi - ratioArcTangent(ax, ay)) + halfPiTail
    }
    let inHalfPlane = x.sign == .minus ? (.pi - first) + 2 * halfPiTail : first
    return y.sign == .minus ? -inHalfPlane : inHalfPlane
  }

  /// The angle in [-pi/2, pi/2] whose sine is `x`, which is clamped to [-1, 1].
  @inlinable
  public static func asin(_ x: Double) -> Double {
    let x = max(-1, min(1, x))
    return x == 0 ? x : atan2(x, ((1 - x) * (1 + x)).squareRoot())
  }

  /// The angle in [0, pi] whose cosine is `x`, which is clamped to [-1, 1].
  @inlinable
  public static func acos(_ x: Double) -> Double {
    let x = max(-1, min(1, x))
    return atan2(((1 - x) * (1 + x)).squareRoot(), x)
  }

  /// e to the power of `x`; 0 below the smallest normal number.
  @inlinable
  public static func exp(_ x: Double) -> Double {
    guard x < 709.782712893384 else { return x.isNaN ? x : .infinity }
    guard x > -708.3964185322641 else { return 0 }
    let count = (x * 1.4426950408889634).rounded()
    let high = x - count * ln2High
    let low = count * ln2Low
    let r = high - low
    // e^r - 1 - r, |r| <= ln2 / 2, to r^13.
    var p = 1 / 6227020800.0
    p = p * r + 1 / 479001600.0
    p = p * r + 1 / 39916800.0
    p = p * r + 1 / 3628800.0
    p = p * r + 1 / 362880.0
    p = p * r + 1 / 40320.0
    p = p * r + 1 / 5040.0
    p = p * r + 1 / 720.0
    p = p * r + 1 / 120.0
    p = p * r + 1 / 24.0
    p = p * r + 1 / 6.0
    p = p * r + 0.5
    let value = 1 + (high + (p * r * r - low))
    // Twice by halves: 2^count itself may lie outside the range where value * 2^count does not.
    let half = Int64(count) >> 1
    return value * powerOfTwo(half) * powerOfTwo(Int64(count) - half)
  }

  /// The natural logarithm of `x`; -infinity at 0, NaN below.
  @inlinable
  public static func log(_ x: Double) -> Double {
    guard x > 0 else { return x == 0 ? -.infinity : .nan }
    guard x.isFinite else { return x }
    // Subnormals are scaled to normal ones first.
    let isSmall = x < Double.leastNormalMagnitude
    let bits = (isSmall ? x * 18014398509481984 : x).bitPattern
    var exponent = Int64(bits >> 52) - 1023 - (isSmall ? 54 : 0)
    var m = Double(bitPattern: bits & 0x000F_FFFF_FFFF_FFFF | 0x3FF0_0000_0000_0000)
    if m > 1.4142135623730951 {
      m *= 0.5
      exponent += 1
    }
    // log m = 2 artanh s with s = (m - 1) / (m + 1); 2 s = f - s f leaves the small rest to the series.
    let f = m - 1
    let s = f / (2 + f)
    let z = s * s
    var p = 2 / 21.0
    p = p * z + 2 / 19.0
    p = p * z + 2 / 17.0
    p = p * z + 2 / 15.0
    p = p * z + 2 / 13.0
    p = p * z + 2 / 11.0
    p = p * z + 2 / 9.0
    p = p * z + 2 / 7.0
    p = p * z + 2 / 5.0
    p = p * z + 2 / 3.0
    let k = Double(exponent)
    return k * ln2High - ((s * (f - p * z) - k * ln2Low) - f)
  }

  /// `base` (positive) to the power of `exponent`; relative error about 10⁻¹⁶ times (1 + |exponent log base|).
  @inlinable
  public static func pow(_ base: Double, _ exponent: Double) -> Double {
    exponent == 0 ? 1 : exp(exponent * log(base))
  }

  // MARK: Kernels

  /// pi/2 in pieces of 33, 33 and 53 bits.
  @usableFromInline static let halfPi1 = 1.5707963267341256
  @usableFromInline static let halfPi2 = 6.077100506303966e-11
  @usableFromInline static let halfPi3 = 2.0222662487959506e-21
  /// pi/2 less its nearest double.
  @usableFromInline static let halfPiTail = 6.123233995736766e-17
  /// Beyond this the count of quarter turns has more than 20 bits and its product with `halfPi1` is not exact.
  @usableFromInline static let largestReduced = 1_647_099.0
  /// The logarithm of 2 in pieces of 32 and 53 bits.
  @usableFromInline static let ln2High = 0.6931471803691238
  @usableFromInline static let ln2Low = 1.9082149292705877e-10

  /// 2 to the power of `exponent`, which must give a normal number.
  @inlinable
  static func powerOfTwo(_ exponent: Int64) -> Double {
    Double(bitPattern: UInt64(bitPattern: exponent + 1023) << 52)
  }

  /// Sine for |x| up to pi/4 (a little more is harmless).
  @inlinable
  static func sineKernel(_ x: Double) -> Double {
    let z = x * x
    var p = 1 / 355687428096000.0
    p = p * z - 1 / 1307674368000.0
    p = p * z + 1 / 6227020800.0
    p = p * z - 1 / 39916800.0
    p = p * z + 1 / 362880.0
    p = p * z - 1 / 5040.0
    p = p * z + 1 / 120.0
    p = p * z - 1 / 6.0
    return x + x * z * p
  }

  /// Cosine for |x| up to pi/4 (a little more is harmless).
  @inlinable
  static func cosineKernel(_ x: Double) -> Double {
    let z = x * x
    var p = 1 / 20922789888000.0
    p = p * z - 1 / 87178291200.0
    p = p * z + 1 / 479001600.0
    p = p * z - 1 / 3628800.0
    p = p * z + 1 / 40320.0
    p = p * z - 1 / 720.0
    p = p * z + 1 / 24.0
    return 1 - (0.5 * z - z * z * p)
  }

  /// Sine and cosine of an angle of so many turns that doubles hardly resolve it: reduced by the nearest double of
  /// 2 pi, exactly, so the result is bounded and repeatable but not accurate.
  @usableFromInline
  static func reducedFromLarge(_ x: Double) -> (sin: Double, cos: Double) {
    guard x.isFinite else { return (.nan, .nan) }
    return sinCos(x.remainder(dividingBy: 2 * .pi))
  }

  /// The arc tangent of a / b for 0 <= a < b.
  @inlinable
  static func ratioArcTangent(_ a: Double, _ b: Double) -> Double {
    let ratio = b == .infinity ? 0 : a / b
    let index = (ratio * 8).rounded()
    guard index > 0 else { return arcTangentKernel(ratio) }
    // atan r = atan c + atan((r - c) / (1 + r c)), c the nearest eighth, so the argument stays below 1/15.
    let c = index * 0.125
    let t = arcTangentKernel((ratio - c) / (1 + ratio * c))
    switch index {
    case 1: return 0.12435499454676144 + t
    case 2: return 0.24497866312686414 + t
    case 3: return 0.35877067027057225 + t
    case 4: return 0.4636476090008061 + t
    case 5: return 0.5585993153435624 + t
    case 6: return 0.6435011087932844 + t
    case 7: return 0.7188299996216245 + t
    default: return 0.7853981633974483 + t
    }
  }

  /// The arc tangent for |t| up to 1/15.
  @inlinable
  static func arcTangentKernel(_ t: Double) -> Double {
    let z = t * t
    var p = 1 / 13.0
    p = p * z - 1 / 11.0
    p = p * z + 1 / 9.0
    p = p * z - 1 / 7.0
    p = p * z + 1 / 5.0
    p = p * z - 1 / 3.0
    return t + t * z * p
  }
}
