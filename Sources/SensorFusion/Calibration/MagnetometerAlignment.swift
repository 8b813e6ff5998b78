/// The turn between the axes of magnetometer and accelerometer, and how well it is known.
///
/// The earth's field keeps its angle to gravity wherever the device points; in a device whose two sensors are turned
/// against each other it does not. A fit of hard and soft iron cannot see that turn: a turned sphere is the same sphere.
public struct MagnetometerAlignment: Hashable, Sendable {
  /// What the calibrated field is to be turned by, into the accelerometer's axes: a rotation vector, rad.
  public var rotation: Vector3
  /// Root mean square deviation of the angle between field and gravity after it, rad.
  public var residual: Double
  /// 1-sigma of `rotation`, rad, the worst axis: from how much it changes when parts of the measurement are left out.
  public var sigma: Double

  /// An alignment from its parts.
  public init(rotation: Vector3, residual: Double, sigma: Double) {
    self.rotation = rotation
    self.residual = residual
    self.sigma = sigma
  }

  /// Whether it is more than its own uncertainty: only then the field is better off turned than not.
  public var isSignificant: Bool { rotation.norm > Self.significance * sigma }

  /// One look at field and gravity at the same instant, device axes.
  public struct Sight: Hashable, Sendable {
    /// Towards the zenith; any length.
    public var up: Vector3
    /// The field after hard and soft iron; any length.
    public var field: Vector3
    /// The rotation rate, rad/s: a magnetometer's values are late.
    public var rate: Vector3

    /// A sight from its parts.
    public init(up: Vector3, field: Vector3, rate: Vector3 = .zero) {
      self.up = up
      self.field = field
      self.rate = rate
    }
  }

  /// Sights that a fit needs, at least.
  static let leastCount = 12
  /// Least coverage of the directions of gravity (`EllipsoidFit.coverage`): half of what hard and soft iron need, since it
  /// only keeps out what noise alone shows.
  static let leastCoverage = 0.1
  /// Parts of the measurement that are left out in turn for `sigma`; each is one stretch of time, since neighbours err
  /// alike.
  static let blocks = 8
  /// Largest `sigma`, and largest `residual`, of an alignment that is trusted, rad.
  static let largestSigma = 1 * Double.pi / 180
  static let largestResidual = 5 * Double.pi / 180
  /// A larger turn is no play in the mounting: it is a wrong mount matrix. rad.
  static let largestRotation = 30 * Double.pi / 180
  /// An alignment below this many sigma is not applied.
  static let significance = 2.0
  /// The magnetometer's delay, s, which is found along with the turn: what is expected, and its 1-sigma.
  static let delay = 0.010
  static let delaySigma = 0.015
  /// 1-sigma of a sight, rad: weighs sights against the expected delay, nothing else.
  static let sightSigma = 0.02

  /// Finds the turn that makes the angle between field and gravity the same in all sights, in order of time.
  /// Throws `CalibrationFailure` where it is not known well enough to be applied.
  public static func fit(_ sights: [Sight]) throws(CalibrationFailure) -> MagnetometerAlignment {
    let used = sights.filter { $0.up.norm > 0 && $0.field.norm > 0 && $0.up.isFinite && $0.field.isFinite }
    guard used.count >= leastCount else { throw .tooFewSights(have: used.count, need: leastCount) }
    // Noise seems to turn a device that hardly was.
    let coverage = EllipsoidFit.coverage(used.map(\.up))
    guard coverage >= leastCoverage else {
      throw .tooLittleTurning(percent: Int(100 * coverage / leastCoverage))
    }
    // Each round is linear about the one before; three take care of larger turns.
    var total = Quaternion.identity
    var last: Solution?
    for _ in 0..<3 {
      guard let solution = solve(used[...], leavingOut: 0..<0, about: total) else {
        throw .alignmentUncertain(sigma: .infinity)
      }
      guard solution.turn.norm < 1 else {
        let sigma = jackknife(used, about: total)
        guard sigma <= largestSigma else { throw .alignmentUncertain(sigma: sigma) }
        throw .misaligned(angle: .infinity)
      }
      total = (Quaternion(rotationVector: solution.turn) * total).normalized
      last = solution
    }
    var residual = 0.0
    if let last {
      // The sine of the field's elevation changes by its cosine per radian.
      let cosine = max(0.1, (1 - last.elevationSine * last.elevationSine).squareRoot())
      residual = last.rootMeanSquare / cosine
    }
    let rotation = vector(of: total)
    let sigma = jackknife(used, about: total)
    guard residual <= largestResidual else { throw .elevationVaries(residual: residual) }
    guard sigma <= largestSigma else { throw .alignmentUncertain(sigma: sigma) }
    guard rotation.norm <= largestRotation else { throw .misaligned(angle: rotation.norm) }
    return MagnetometerAlignment(rotation: rotation, residual: residual, sigma: sigma)
  }

  private struct Solution {
    var turn: Vector3
    var elevationSine: Double
    var rootMeanSquare: Double
  }

  /// up · (field + turn × field - delay * rate × field) = a constant: linear in turn, delay and constant.
  private static func solve(
    _ sights: ArraySlice<Sight>, leavingOut omitted: Range<Int>, about total: Quaternion
  ) -> Solution? {
    var equations = NormalEquations(count: 5)
    var rows: [(row: [Double], value: Double)] = []
    rows.reserveCapacity(sights.count)
    for (index, sight) in sights.enumerated() where !omitted.contains(index) {
      let up = sight.up * (1 / sight.up.norm)
      let field = total.rotate(sight.field * (1 / sight.field.norm))
      let turn = field.cross(up)
      let row = [turn.x, turn.y, turn.z, -up.dot(sight.rate.cross(field)), -1]
      rows.append((row, -up.dot(field)))
      equations.add(row, value: -up.dot(field))
    }
    let weight = sightSigma / delaySigma
    equations.addPrior(3, value: delay, weight: weight * weight)
    guard let p = equations.solution(), !rows.isEmpty else { return nil }
    var squares = 0.0
    for (row, value) in rows {
      var error = -value
      for (a, x) in zip(row, p) { error += a * x }
      squares += error * error
    }
    return Solution(
      turn: Vector3(p[0], p[1], p[2]), elevationSine: max(-1, min(1, p[4])),
      rootMeanSquare: (squares / Double(rows.count)).squareRoot())
  }

  /// The delete-a-block jackknife's 1-sigma (Shao and Wu, "A general theory for jackknife variance estimation", Annals of
  /// Statistics 17, 1989); infinite where a part cannot be left out.
  private static func jackknife(_ sights: [Sight], about total: Quaternion) -> Double {
    var turns: [Vector3] = []
    for block in 0..<blocks {
      let omitted = block * sights.count / blocks..<(block + 1) * sights.count / blocks
      guard let part = solve(sights[...], leavingOut: omitted, about: total) else { return .infinity }
      turns.append(part.turn)
    }
    let mean = turns.reduce(Vector3.zero, +) * (1 / Double(blocks))
    var squares = Vector3.zero
    for turn in turns {
      let d = turn - mean
      squares += Vector3(d.x * d.x, d.y * d.y, d.z * d.z)
    }
    let share = Double(blocks - 1) / Double(blocks)
    return (share * max(squares.x, squares.y, squares.z)).squareRoot()
  }

  private static func vector(of turn: Quaternion) -> Vector3 {
    let sine = Vector3(turn.x, turn.y, turn.z)
    guard sine.norm > 0 else { return .zero }
    return sine * (2 * Elementary.atan2(sine.norm, turn.w) / sine.norm)
  }
}

extension AxisCalibration {
  /// The calibration whose values are turned by `rotation` (a rotation vector, rad) at the end.
  func turned(by rotation: Vector3) -> AxisCalibration {
    let turn = Matrix3(Quaternion(rotationVector: rotation))
    return AxisCalibration(offset: offset, matrix: turn * matrix)
  }
}

/// Collects sights while a device is turned: gravity from the attitude filter, the field as measured.
struct AlignmentSights: Sendable {
  /// Gravity, the field before any calibration, and the rate.
  private(set) var sights: [MagnetometerAlignment.Sight] = []

  /// Time between sights, s, and how far apart field and gravity may lie in time.
  private static let step = 0.1
  private static let largestAge = 0.05
  /// Largest stated tilt of a sight, rad. A filter that has just started, or was shaken, is beyond it.
  private static let largestTilt = 3 * Double.pi / 180
  /// Largest acceleration of a sight without a gyroscope, m/s²: low-passed force lags behind a turning device.
  private static let largestAcceleration = 0.15
  /// Beyond this many every second goes.
  private static let limit = 1200

  private let calibrations: SensorCalibrations
  private var filter = ComplementaryFilter(configuration: .init())
  private var last: Timestamp?

  /// Sights with accelerometer and gyroscope calibrated so.
  init(calibrations: SensorCalibrations) { self.calibrations = calibrations }

  mutating func add(_ raw: SensorSample) {
    switch raw.kind {
    case .accelerometer, .gyroscope:
      _ = filter.update(calibrations.applied(to: raw))
    case .magnetometer:
      if let last, raw.time.seconds(since: last) < Self.step { return }
      let state = filter.state
      let age = raw.time.seconds(since: state.time)
      guard state.tiltSigma < Self.largestTilt, abs(age) < Self.largestAge,
        !state.flags.contains(.noGyroscope) || state.userAcceleration.norm < Self.largestAcceleration
      else { return }
      last = raw.time
      let up = state.gravity - state.rotationRate.cross(state.gravity) * age
      sights.append(.init(up: up, field: raw.vector, rate: state.rotationRate))
      if sights.count > Self.limit {
        sights = sights.indices.filter { $0 % 2 == 0 }.map { sights[$0] }
      }
    case .barometer, .stepCounter: break
    }
  }

  /// The turn between the accelerometer's axes and those of a field calibrated by `calibration`.
  func alignment(of calibration: AxisCalibration) throws(CalibrationFailure) -> MagnetometerAlignment {
    try MagnetometerAlignment.fit(
      sights.map { .init(up: $0.up, field: calibration.apply($0.field), rate: $0.rate) })
  }
}
