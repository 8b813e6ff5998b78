/// Accelerometer calibration from still poses.
public enum AccelerometerCalibration {
  /// Largest angle between a pose and the axis it stands for, rad.
  static let largestPoseAngle = 25 * Double.pi / 180

  /// Offset, scale and cross-axis sensitivity from the six poses with each axis up and down, in any order: mean specific
  /// forces in m/s². The axes are those of the housing that stood on the table. Throws `CalibrationFailure`.
  ///
  /// Each pose gives three equations for the twelve unknowns of `force = matrix * value + constant` (ST Microelectronics,
  /// application note AN4508, describes the procedure).
  public static func sixPositions(_ poses: [Vector3]) throws(CalibrationFailure) -> CalibrationFit {
    var seen: Set<Int> = []
    var equations = [NormalEquations](repeating: NormalEquations(count: 4), count: 3)
    let scale = 1 / standardGravity
    for pose in poses {
      guard let (index, axis) = nearestAxis(pose) else { continue }
      seen.insert(index)
      let v = pose * scale
      for (row, target) in [axis.x, axis.y, axis.z].enumerated() {
        equations[row].add([v.x, v.y, v.z, 1], value: target)
      }
    }
    guard seen.count == 6 else { throw .tooLittleTurning(percent: 100 * seen.count / 6) }
    guard let a = equations[0].solution(), let b = equations[1].solution(), let c = equations[2].solution() else {
      throw .tooLittleTurning(percent: 100)
    }
    let matrix = Matrix3(
      x: Vector3(a[0], a[1], a[2]), y: Vector3(b[0], b[1], b[2]), z: Vector3(c[0], c[1], c[2]))
    // matrix * value + constant = matrix * (value - offset).
    guard let offset = solve(matrix, Vector3(-a[3], -b[3], -c[3]) * standardGravity) else { throw .notAnEllipsoid }
    let calibration = AxisCalibration(offset: offset, matrix: matrix)
    let corrected = poses.map { calibration.apply($0) }
    let squares = corrected.reduce(0.0) { $0 + ($1.norm - standardGravity) * ($1.norm - standardGravity) }
    let residual = (squares / Double(poses.count)).squareRoot() / standardGravity
    guard residual <= EllipsoidFit.largestResidual else { throw .tooScattered(residualPercent: 100 * residual) }
    return CalibrationFit(
      calibration: calibration, residual: residual, coverage: EllipsoidFit.coverage(corrected),
      radius: standardGravity)
  }

  /// Offset, scale and symmetric cross-axis sensitivity from mean specific forces (m/s²) in many still poses of any
  /// kind. Throws `CalibrationFailure`.
  public static func freeForm(_ poses: [Vector3]) throws(CalibrationFailure) -> CalibrationFit {
    try EllipsoidFit.fit(poses, radius: standardGravity)
  }

  /// Which of the six axis directions a pose is nearest to; nil if none is near.
  private static func nearestAxis(_ pose: Vector3) -> (index: Int, axis: Vector3)? {
    let axes = [
      Vector3(1, 0, 0), Vector3(-1, 0, 0), Vector3(0, 1, 0), Vector3(0, -1, 0), Vector3(0, 0, 1), Vector3(0, 0, -1),
    ]
    for (index, axis) in axes.enumerated() where pose.dot(axis) > pose.norm * Elementary.cos(largestPoseAngle) {
      return (index, axis)
    }
    return nil
  }

  /// Solves a 3 x 3 system by Cramer's rule.
  private static func solve(_ m: Matrix3, _ v: Vector3) -> Vector3? {
    let t = m.transposed
    let determinant = t.x.dot(t.y.cross(t.z))
    guard abs(determinant) > 1e-6 else { return nil }
    return Vector3(v.dot(t.y.cross(t.z)), t.x.dot(v.cross(t.z)), t.x.dot(t.y.cross(v))) * (1 / determinant)
  }
}
