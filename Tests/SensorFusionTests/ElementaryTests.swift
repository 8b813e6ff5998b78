import Glibc
import SensorFusion
import Testing

/// The distance of `value` from `reference` in units in the last place of `reference`.
private func unitsInLastPlace(_ value: Double, _ reference: Double) -> Double {
  if value == reference || (value.isNaN && reference.isNaN) { return 0 }
  return abs(value - reference) / max(reference.ulp, Double.leastNormalMagnitude)
}

/// `count` points from `a` to `b`, not on round numbers.
private func grid(_ a: Double, _ b: Double, count: Int = 20_000) -> [Double] {
  (0...count).map { index -> Double in
    let share: Double = Double(index) / Double(count)
    let offset: Double = 1e-9 * Double(index % 7)
    return a + (b - a) * share + offset
  }
}

@Suite struct ElementaryTests {
  /// The worst error of `function` against the C library's over the points.
  private func worst(_ points: [Double], _ function: (Double) -> Double, _ reference: (Double) -> Double) -> Double {
    points.map { unitsInLastPlace(function($0), reference($0)) }.max() ?? .infinity
  }

  @Test func sineAndCosineAreWithinTwoUlp() {
    for points in [grid(-7, 7), grid(-1000, 1000), grid(0, 1e-3), grid(-1e6, 1e6)] {
      #expect(worst(points, Elementary.sin, Glibc.sin) <= 2)
      #expect(worst(points, Elementary.cos, Glibc.cos) <= 2)
    }
    // Nearest doubles to multiples of pi/2, where all digits cancel.
    for k in -1000...1000 {
      let x = Double(k) * (0.5 * .pi)
      #expect(unitsInLastPlace(Elementary.sin(x), Glibc.sin(x)) <= 2)
      #expect(unitsInLastPlace(Elementary.cos(x), Glibc.cos(x)) <= 2)
    }
  }

  @Test func sineOfHugeAndNonFiniteAnglesIsBounded() {
    for x in [1e7, -1e12, 1e300, Double.greatestFiniteMagnitude] {
      let (s, c) = Elementary.sinCos(x)
      #expect(abs(s * s + c * c - 1) < 1e-14)
    }
    #expect(Elementary.sin(.infinity).isNaN)
    #expect(Elementary.cos(.nan).isNaN)
    #expect(Elementary.sin(-0.0).sign == .minus)
  }

  @Test func arcTangentIsWithinTwoUlpInAllQuadrants() {
    for angle in grid(-3.2, 3.2) {
      for radius in [1e-200, 1.0, 37.5, 1e200] {
        let (y, x) = (radius * Glibc.sin(angle), radius * Glibc.cos(angle))
        #expect(unitsInLastPlace(Elementary.atan2(y, x), Glibc.atan2(y, x)) <= 2, "\(y) \(x)")
      }
    }
    let special = [
      0.0, -0.0, 1, -1, .infinity, -.infinity, .nan, Double.leastNonzeroMagnitude, -Double.leastNonzeroMagnitude, 1e308,
    ]
    for y in special {
      for x in special {
        let (value, reference) = (Elementary.atan2(y, x), Glibc.atan2(y, x))
        #expect(unitsInLastPlace(value, reference) <= 1, "\(y) \(x): \(value) \(reference)")
        if !reference.isNaN { #expect(value.sign == reference.sign, "\(y) \(x)") }
      }
    }
  }

  @Test func arcSineAndArcCosineAreWithinFourUlpAndClamped() {
    let points = grid(-1, 1).filter { abs($0) <= 1 }
    #expect(worst(points, Elementary.asin, Glibc.asin) <= 4)
    #expect(worst(points, Elementary.acos, Glibc.acos) <= 4)
    #expect(Elementary.asin(1 + 1e-12) == 0.5 * .pi)
    #expect(Elementary.asin(-2) == -0.5 * .pi)
    #expect(Elementary.acos(-1.5) == .pi)
  }

  @Test func exponentialIsWithinTwoUlp() {
    for points in [grid(-708, 709.7), grid(-1, 1), grid(-1e-6, 1e-6)] {
      #expect(worst(points, Elementary.exp, Glibc.exp) <= 2)
    }
    #expect(Elementary.exp(0) == 1)
    #expect(Elementary.exp(710) == .infinity)
    #expect(Elementary.exp(-800) == 0)
    #expect(Elementary.exp(.nan).isNaN)
    #expect(Elementary.exp(-.infinity) == 0)
  }

  @Test func logarithmIsWithinTwoUlp() {
    let wide = grid(-700, 700).map { Glibc.exp($0) }
    for points in [wide, grid(0.5, 2), grid(1 - 1e-6, 1 + 1e-6), grid(1e-3, 1000)] {
      #expect(worst(points.filter { $0 > 0 }, Elementary.log, Glibc.log) <= 2)
    }
    #expect(Elementary.log(1) == 0)
    #expect(Elementary.log(0) == -.infinity)
    #expect(Elementary.log(-1).isNaN)
    #expect(Elementary.log(.infinity) == .infinity)
    #expect(
      unitsInLastPlace(Elementary.log(Double.leastNonzeroMagnitude), Glibc.log(Double.leastNonzeroMagnitude)) <= 2)
  }

  @Test func powerOfTheBarometricFormulaIsExact() {
    for ratio in grid(0.2, 1.2, count: 2000) {
      let reference = Glibc.pow(ratio, 0.190263)
      #expect(abs(Elementary.pow(ratio, 0.190263) / reference - 1) < 4e-16)
    }
    #expect(Elementary.pow(3, 0) == 1)
  }
}
