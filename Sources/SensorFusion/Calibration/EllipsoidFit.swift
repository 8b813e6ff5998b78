/// Fits what turns a sensor's values into a sphere: hard and soft iron of a magnetometer, offset, scale and cross-axis
/// sensitivity of an accelerometer in many still poses.
///
/// A field or force of constant strength, seen from all sides, lies on a sphere; the sensor makes an ellipsoid of it.
/// Its nine coefficients follow from linear least squares, its centre is the offset, and the symmetric square root of
/// its matrix makes it a sphere again (Renaudin, Afzal and Lachapelle, "Complete triaxis magnetometer calibration in the
/// magnetic domain", Journal of Sensors, 2010).
public enum EllipsoidFit {
  /// Values that a full fit needs; a sphere needs fewer.
  public static let leastCount = 12
  /// Least coverage of the directions.
  public static let leastCoverage = 0.2
  /// Largest residual as a share of the radius.
  public static let largestResidual = 0.1
  /// Largest ratio between the scales of two axes.
  public static let largestScaleRatio = 2.0

  /// Fits offset and matrix. `radius` is the strength that calibrated values shall have (gravity for an accelerometer);
  /// nil keeps the mean scale of the sensor. Throws `CalibrationFailure`.
  public static func fit(_ values: [Vector3], radius: Double? = nil) throws(CalibrationFailure) -> CalibrationFit {
    guard values.count >= leastCount else { throw .tooFew(have: values.count, need: leastCount) }
    let sphere = try fitSphere(values, radius: radius)
    // Centred and scaled by the sphere, so that all coefficients are near 1 or 0.
    let (centre, scale) = (sphere.calibration.offset, 1 / sphere.radiusOfValues)
    var equations = NormalEquations(count: 9)
    for value in values {
      let v = (value - centre) * scale
      equations.add(
        [v.x * v.x, v.y * v.y, v.z * v.z, 2 * v.x * v.y, 2 * v.x * v.z, 2 * v.y * v.z, 2 * v.x, 2 * v.y, 2 * v.z],
        value: 1)
    }
    guard let p = equations.solution() else {
      throw .tooLittleTurning(percent: Int(100 * min(1, sphere.fit.coverage / leastCoverage)))
    }
    let q = SymmetricMatrix3(xx: p[0], xy: p[3], xz: p[4], yy: p[1], yz: p[5], zz: p[2])
    let eigenvalues = q.eigen.values
    let (least, largest) = (
      min(eigenvalues.x, eigenvalues.y, eigenvalues.z), max(eigenvalues.x, eigenvalues.y, eigenvalues.z)
    )
    guard least > 0 else { throw .notAnEllipsoid }
    let ratio = (largest / least).squareRoot()
    guard ratio < largestScaleRatio else { throw .implausibleScale(ratio: ratio) }
    let n = Vector3(p[6], p[7], p[8])
    let inner = q.mapped { 1 / $0 } * n * -1
    // (v - inner)ᵀ Q (v - inner) = 1 + innerᵀ Q inner.
    let level = 1 + inner.dot(q * inner)
    guard level > 0 else { throw .notAnEllipsoid }
    let root = q.mapped { ($0 / level).squareRoot() }
    // The geometric mean of the semi-axes is the radius that the sensor's own scale gives.
    let own =
      sphere.radiusOfValues
      * (level * Elementary.pow(1 / (eigenvalues.x * eigenvalues.y * eigenvalues.z), 1.0 / 3)).squareRoot()
    let target = radius ?? own
    let calibration = AxisCalibration(offset: centre + inner * (1 / scale), matrix: root * (scale * target))
    return try checked(calibration, values, radius: target)
  }

  /// Fits the offset alone, for few values or little turning. Throws `CalibrationFailure`.
  public static func sphere(_ values: [Vector3], radius: Double? = nil) throws(CalibrationFailure) -> CalibrationFit {
    let (calibration, _, fit) = try fitSphere(values, radius: radius)
    guard fit.coverage >= leastCoverage else {
      throw .tooLittleTurning(percent: Int(100 * fit.coverage / leastCoverage))
    }
    return try checked(calibration, values, radius: fit.radius)
  }

  private static func fitSphere(
    _ values: [Vector3], radius: Double?
  ) throws(CalibrationFailure) -> (calibration: AxisCalibration, radiusOfValues: Double, fit: CalibrationFit) {
    guard values.count >= 4 else { throw .tooFew(have: values.count, need: leastCount) }
    let mean = values.reduce(Vector3.zero, +) * (1 / Double(values.count))
    let spread = (values.reduce(0) { $0 + ($1 - mean).squaredNorm } / Double(values.count)).squareRoot()
    guard spread > 0, spread.isFinite else { throw .tooLittleTurning(percent: 0) }
    // |v|² = 2 c · v + k in units of the spread.
    var equations = NormalEquations(count: 4)
    for value in values {
      let v = (value - mean) * (1 / spread)
      equations.add([2 * v.x, 2 * v.y, 2 * v.z, 1], value: v.squaredNorm)
    }
    guard let p = equations.solution() else { throw .tooLittleTurning(percent: 0) }
    let centre = Vector3(p[0], p[1], p[2])
    let squared = p[3] + centre.squaredNorm
    guard squared > 0 else { throw .notAnEllipsoid }
    let own = squared.squareRoot() * spread
    let target = radius ?? own
    let scale = target / own
    let calibration = AxisCalibration(
      offset: mean + centre * spread, x: Vector3(scale, 0, 0), y: Vector3(0, scale, 0), z: Vector3(0, 0, scale))
    return (calibration, own, measured(calibration, values, radius: target))
  }

  /// How evenly directions cover the sphere: 1 when their second moments are equal in all directions, 0 when they lie
  /// in a plane.
  public static func coverage(_ directions: [Vector3]) -> Double {
    var moment = SymmetricMatrix3(diagonal: .zero)
    var count = 0.0
    for direction in directions where direction.norm > 0 {
      moment.addSquare(direction * (1 / direction.norm), weight: 1)
      count += 1
    }
    guard count > 0 else { return 0 }
    let values = moment.eigen.values
    return max(0, min(1, 3 * min(values.x, values.y, values.z) / count))
  }

  private static func measured(_ calibration: AxisCalibration, _ values: [Vector3], radius: Double) -> CalibrationFit {
    let corrected = values.map { calibration.apply($0) }
    let squares = corrected.reduce(0.0) { sum, v in sum + (v.norm - radius) * (v.norm - radius) }
    return CalibrationFit(
      calibration: calibration, residual: (squares / Double(values.count)).squareRoot() / radius,
      coverage: coverage(corrected), radius: radius)
  }

  private static func checked(
    _ calibration: AxisCalibration, _ values: [Vector3], radius: Double
  ) throws(CalibrationFailure) -> CalibrationFit {
    let fit = measured(calibration, values, radius: radius)
    guard calibration.isFinite else { throw .notAnEllipsoid }
    guard fit.coverage >= leastCoverage else {
      throw .tooLittleTurning(percent: Int(100 * fit.coverage / leastCoverage))
    }
    guard fit.residual <= largestResidual else { throw .tooScattered(residualPercent: 100 * fit.residual) }
    return fit
  }
}
