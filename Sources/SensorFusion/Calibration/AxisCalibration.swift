/// What turns a three-axis sensor's values into true ones: `matrix * (value - offset)`.
///
/// For the magnetometer `offset` is the hard iron and `matrix` the inverse of the soft iron; for the accelerometer the
/// zero-g offset, and scale and cross-axis sensitivity; for the gyroscope the bias.
@frozen
public struct AxisCalibration: Hashable, Sendable {
  /// In the sensor's unit, device axes.
  public var offset: Vector3
  /// The rows of the matrix; the identity for a sensor with exact scale and axes.
  public var x: Vector3
  /// The second row.
  public var y: Vector3
  /// The third row.
  public var z: Vector3

  /// A calibration from its parts.
  @inlinable
  public init(offset: Vector3, x: Vector3, y: Vector3, z: Vector3) {
    self.offset = offset
    self.x = x
    self.y = y
    self.z = z
  }

  /// Changes nothing.
  @inlinable public static var identity: AxisCalibration {
    AxisCalibration(offset: .zero, x: Vector3(1, 0, 0), y: Vector3(0, 1, 0), z: Vector3(0, 0, 1))
  }

  /// The true value of a measured one.
  @inlinable
  public func apply(_ value: Vector3) -> Vector3 {
    let v = value - offset
    return Vector3(x.dot(v), y.dot(v), z.dot(v))
  }

  /// Whether no part is NaN or infinite.
  @inlinable public var isFinite: Bool { offset.isFinite && x.isFinite && y.isFinite && z.isFinite }

  init(offset: Vector3, matrix m: Matrix3) { self.init(offset: offset, x: m.x, y: m.y, z: m.z) }

  var matrix: Matrix3 { Matrix3(x: x, y: y, z: z) }
}

/// Why a calibration was not made, or not trusted.
public enum CalibrationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Fewer samples or poses than the fit has unknowns.
  case tooFew(have: Int, need: Int)
  /// The device was not turned enough; `percent` of the needed spread was seen.
  case tooLittleTurning(percent: Int)
  /// The values do not lie on an ellipsoid: the field, or the device, changed while measuring.
  case notAnEllipsoid
  /// The values lie too far from the fitted surface, in percent of its radius.
  case tooScattered(residualPercent: Double)
  /// The axes' scales differ by more than any sensor's do.
  case implausibleScale(ratio: Double)
  /// The fitted field is not the earth's; its strength in µT.
  case implausibleField(strength: Double)
  /// The device moved while it should have lain still.
  case moved
  /// What lay still by its gyroscope turned steadily.
  case turning(TurnSign)
  /// Too few looks at field and gravity at once to compare the axes of magnetometer and accelerometer.
  case tooFewSights(have: Int, need: Int)
  /// The turn between their axes is known to no better than `sigma` (rad).
  case alignmentUncertain(sigma: Double)
  /// The angle between field and gravity varies by `residual` (rad) whatever the axes are turned by.
  case elevationVaries(residual: Double)
  /// The axes lie `angle` (rad) apart: more than any mounting's play.
  case misaligned(angle: Double)

  /// What happened and what to do about it.
  public var description: String {
    switch self {
    case .tooFew(let have, let need):
      "only \(have) values, at least \(need) are needed: measure longer"
    case .tooLittleTurning(let percent):
      "the device was turned too little (\(percent) % of what is needed): turn every face up, down and to all sides"
    case .notAnEllipsoid:
      "the values do not lie on an ellipsoid: keep away from moving iron and currents, and repeat"
    case .tooScattered(let percent):
      "the values scatter by \((percent * 10).rounded() / 10) % around the fit: keep away from iron, move slowly, repeat"
    case .implausibleScale(let ratio):
      "the fitted axes differ by a factor of \((ratio * 100).rounded() / 100): some directions were not measured, repeat"
    case .implausibleField(let strength):
      "the fitted field of \(strength.rounded()) µT is not the earth's (15 to 90 µT): keep away from iron, repeat"
    case .moved:
      "the device moved: leave it still until the measurement ends"
    case .turning(let sign):
      "\(sign): what turns the device steadily (a turntable, a robot) must stand still until the measurement ends"
    case .tooFewSights(let have, let need):
      "field and gravity were seen together \(have) times, \(need) are needed: it takes an accelerometer, and a gyroscope "
        + "unless the device is held still now and then"
    case .alignmentUncertain(let sigma):
      (sigma.isFinite ? "they are known to ±\(Self.degrees(sigma))° only" : "they cannot be told")
        + ": turn the device for longer, and to all sides"
    case .elevationVaries(let residual):
      "the angle between field and gravity varies by \(Self.degrees(residual))°: turn more slowly, calibrate the "
        + "accelerometer first, and check both mount matrices"
    case .misaligned(let angle):
      (angle.isFinite ? "they lie \(Self.degrees(angle))° apart" : "they lie far apart")
        + ": check the mount matrices of magnetometer and accelerometer"
    }
  }

  /// An angle with one decimal.
  private static func degrees(_ angle: Double) -> Double { (angle * 1800 / .pi).rounded() / 10 }
}

/// What tells that a device turns steadily while its gyroscope's bias is measured.
public enum TurnSign: Hashable, Sendable, CustomStringConvertible {
  /// The rate itself, rad/s: no gyroscope is off by so much.
  case rate(Double)
  /// Gravity, which turned by so much, rad.
  case gravity(Double)
  /// The magnetic field, which turned about the same axis.
  case field

  /// What was seen.
  public var description: String {
    func degrees(_ angle: Double) -> Double { (angle * 1800 / .pi).rounded() / 10 }
    return switch self {
    case .rate(let rate): "\(degrees(rate))°/s is more than any gyroscope reads at rest"
    case .gravity(let angle): "gravity turned by \(degrees(angle))°"
    case .field: "the magnetic field turned as the gyroscope says"
    }
  }
}

/// A fitted calibration and how good it is.
public struct CalibrationFit: Hashable, Sendable {
  /// What to apply.
  public var calibration: AxisCalibration
  /// Root mean square distance of the values from the fitted surface, as a share of its radius.
  public var residual: Double
  /// How evenly the directions were covered: 0 none, 1 like a sphere.
  public var coverage: Double
  /// The radius that the calibrated values have, in the sensor's unit.
  public var radius: Double

  /// 0 to 100: coverage and residual together.
  public var qualityPercent: Double { 100 * coverage * max(0, 1 - residual / EllipsoidFit.largestResidual) }
}
