/// How a calibration is measured.
public enum CalibrationMethod: Hashable, Sendable {
  /// Gyroscope: its bias while it lies still.
  case rest
  /// Accelerometer: each face of the housing up once, on a level table.
  case sixPositions
  /// Accelerometer: a dozen still poses of any kind.
  case freePoses
  /// Magnetometer: turned about all axes.
  case turning
}

/// What a guided calibration has come to.
public struct CalibrationResult: Hashable, Sendable {
  /// What to apply.
  public var calibration: AxisCalibration
  /// Root mean square error that is left: as a share of field or gravity; rad/s for a gyroscope.
  public var residual: Double
  /// 0 to 100.
  public var qualityPercent: Double
  /// The mean temperature while measuring, °C; nil where there was no barometer to tell.
  public var temperature: Double?
  /// The gyroscope's rest, one point of its bias over temperature; nil for other sensors.
  public var rest: GyroscopeRest?
  /// How the magnetometer's axes lie to the accelerometer's; nil for other sensors and where it is not known. Where it
  /// is significant, `calibration` turns the field by it.
  public var alignment: MagnetometerAlignment?
  /// Why a magnetometer's axes were not compared.
  public var alignmentFailure: CalibrationFailure?
}

/// Collects what a calibration needs from a sensor's samples, and tells how far it is and what to do next.
///
///     var guide = CalibrationGuide(.turning)
///     while !guide.isComplete { guide.add(nextSample()) }
///     let result = try guide.result()
public struct CalibrationGuide: Sendable {
  /// How it is measured.
  public let method: CalibrationMethod
  /// How much of what is needed has been seen, 0 to 100.
  public private(set) var coveragePercent = 0.0
  /// The residual of the fit to what has been seen; nil before there is one.
  public private(set) var residual: Double?
  /// How often a measurement at rest began anew because the device moved or turned.
  public private(set) var disturbances = 0

  /// Why a measurement at rest last began anew; nil where it did not.
  public private(set) var disturbance: CalibrationFailure?

  private var window: [Vector3] = []
  private var windowStart: Timestamp?
  private var values: [Vector3] = []
  private var measured = 0.0
  private var temperatures = (sum: 0.0, count: 0)
  private var sights: AlignmentSights
  private var witness = RestWitness()
  /// When enough fields were seen.
  private var fieldsEnd: Timestamp?

  /// How long a gyroscope lies still, s.
  static let restTime = 10.0
  /// Samples are looked at in windows of this length, s: rest of the gyroscope, a pose, a new fit.
  static let restWindow = 1.0
  static let poseWindow = 0.5
  static let fitWindow = 1.0
  /// Largest 1-sigma within a still pose, m/s²: above any sensor's noise, below slow turning.
  static let largestPoseSpread = 0.1
  /// Largest deviation of a still pose from standard gravity, a share of it.
  static let largestPoseDeviation = 0.15
  /// Poses nearer than this to a known one are the same; those between it and `newPoseAngle` are not used. rad.
  static let samePoseAngle = 2 * Double.pi / 180
  static let newPoseAngle = 20 * Double.pi / 180
  /// Still poses of any kind: three more than the fit has unknowns.
  static let freePoseCount = 12
  /// Coverage at which poses, and fields, are enough.
  static let enoughPoseCoverage = 0.5
  static let enoughFieldCoverage = 0.5
  /// Share of the parts of the sphere that a fit of the field needs, and that is enough.
  static let leastDirectionShare = 0.35
  static let enoughDirectionShare = 0.6
  /// Fields must differ by this, µT, to be worth keeping, and be this many for a fit; beyond the limit every second goes.
  static let leastFieldStep = 2.0
  static let leastFieldCount = 50
  /// Least root mean square distance of fields from their mean, µT: the weakest field on earth, half covered.
  static let leastFieldSpread = 8.0
  static let fieldLimit = 1000
  /// How much longer a magnetometer is turned so that its axes can be compared, s.
  static let alignmentPatience = 30.0

  /// A guide before its first sample. `calibrations` are those of the other sensors: a magnetometer's axes are turned to
  /// the calibrated accelerometer's.
  public init(_ method: CalibrationMethod, calibrations: SensorCalibrations = .init()) {
    self.method = method
    sights = AlignmentSights(calibrations: calibrations)
  }

  /// The sensor that is calibrated.
  public var kind: SensorKind {
    switch method {
    case .rest: .gyroscope
    case .sixPositions, .freePoses: .accelerometer
    case .turning: .magnetometer
    }
  }

  /// Whether enough has been seen.
  public var isComplete: Bool { coveragePercent >= 100 }

  /// What to do next.
  public var instruction: String {
    switch method {
    case .rest: return "leave the device still"
    case .freePoses: return "hold it still in another direction"
    case .turning:
      return fieldsEnd == nil
        ? "turn every face up, down and to all sides, slowly" : "turn on, to all sides: the axes are being compared"
    case .sixPositions:
      let missing = Self.faces.filter { face in !values.contains { Self.face(of: $0)?.name == face.name } }
      return missing.isEmpty
        ? "all faces are done" : "put it still on a level table with up: " + missing.map(\.name).joined(separator: " ")
    }
  }

  /// Takes a sample. Those of other sensors are ignored, but for a barometer's temperature, what tells gravity while a
  /// magnetometer is turned, and what tells a steady turn from a gyroscope's rest: accelerometer and magnetometer.
  public mutating func add(_ sample: SensorSample) {
    if sample.kind == .barometer, sample.y.isFinite {
      temperatures.sum += Double(sample.y)
      temperatures.count += 1
    }
    if method == .turning { sights.add(sample) }
    if method == .rest { witness.add(sample) }
    guard sample.kind == kind, sample.vector.isFinite else { return }
    let start = windowStart ?? sample.time
    windowStart = start
    let length =
      switch method {
      case .rest: Self.restWindow
      case .sixPositions, .freePoses: Self.poseWindow
      case .turning: Self.fitWindow
      }
    let elapsed = sample.time.seconds(since: start)
    if elapsed >= length {
      // A gap is no measurement.
      if elapsed < 2 * length { take(duration: elapsed) }
      window.removeAll(keepingCapacity: true)
      windowStart = sample.time
    }
    window.append(sample.vector)
  }

  private mutating func take(duration: Double) {
    switch method {
    case .rest: takeRest(duration)
    case .sixPositions, .freePoses: takePose()
    case .turning: takeFields()
    }
  }

  /// The calibration from what has been seen so far. Throws `CalibrationFailure`.
  public func result() throws(CalibrationFailure) -> CalibrationResult {
    let temperature = temperatures.count > 0 ? temperatures.sum / Double(temperatures.count) : nil
    if method == .rest {
      if values.isEmpty, let disturbance { throw disturbance }
      // What turns steadily does so between two looks too.
      if !isComplete, let disturbance, case .turning = disturbance { throw disturbance }
      let rest = try GyroscopeRest(rates: values, duration: measured, temperature: temperature ?? .nan)
      var calibration = AxisCalibration.identity
      calibration.offset = rest.bias
      return CalibrationResult(
        calibration: calibration, residual: rest.noise / Double(values.count).squareRoot(),
        qualityPercent: min(100, 100 * measured / Self.restTime), temperature: temperature, rest: rest)
    }
    let fit = try self.fit()
    var result = CalibrationResult(
      calibration: fit.calibration, residual: fit.residual, qualityPercent: fit.qualityPercent,
      temperature: temperature)
    guard method == .turning else { return result }
    do throws(CalibrationFailure) {
      let alignment = try sights.alignment(of: fit.calibration)
      result.alignment = alignment
      if alignment.isSignificant { result.calibration = fit.calibration.turned(by: alignment.rotation) }
    } catch {
      result.alignmentFailure = error
    }
    return result
  }

  private func fit() throws(CalibrationFailure) -> CalibrationFit {
    switch method {
    case .rest, .turning:
      // Noise is a sphere too: a small one.
      let mean = values.reduce(Vector3.zero, +) * (1 / Double(max(1, values.count)))
      let squares = values.reduce(0.0) { $0 + ($1 - mean).squaredNorm }
      let spread = (squares / Double(max(1, values.count))).squareRoot()
      guard spread >= Self.leastFieldSpread else {
        throw .tooLittleTurning(percent: Int(100 * spread / Self.leastFieldSpread))
      }
      let fit = try EllipsoidFit.fit(values)
      let seen = Self.directionShare(values.map { fit.calibration.apply($0) })
      guard seen >= Self.leastDirectionShare else {
        throw .tooLittleTurning(percent: Int(100 * seen / Self.leastDirectionShare))
      }
      guard BackgroundMagnetometerCalibrator.plausibleRadius.contains(fit.radius) else {
        throw .implausibleField(strength: fit.radius)
      }
      return fit
    case .sixPositions: return try AccelerometerCalibration.sixPositions(values)
    case .freePoses: return try AccelerometerCalibration.freeForm(values)
    }
  }

  // MARK: Rest

  private mutating func takeRest(_ duration: Double) {
    values += window
    measured += duration
    do throws(CalibrationFailure) {
      let rest = try GyroscopeRest(rates: values, duration: measured)
      if let turn = witness.turn(at: rest.bias) { throw turn }
    } catch {
      switch error {
      case .moved, .turning:
        disturbances += 1
        disturbance = error
        values.removeAll(keepingCapacity: true)
        measured = 0
        witness.reset()
      default: break
      }
    }
    coveragePercent = min(100, 100 * measured / Self.restTime)
  }

  // MARK: Poses

  private static let faces: [(name: String, axis: Vector3)] = [
    ("+x", Vector3(1, 0, 0)), ("-x", Vector3(-1, 0, 0)), ("+y", Vector3(0, 1, 0)), ("-y", Vector3(0, -1, 0)),
    ("+z", Vector3(0, 0, 1)), ("-z", Vector3(0, 0, -1)),
  ]

  /// The face that is up in a pose; nil where none is.
  private static func face(of pose: Vector3) -> (name: String, axis: Vector3)? {
    faces.first { pose.dot($0.axis) > pose.norm * Elementary.cos(AccelerometerCalibration.largestPoseAngle) }
  }

  private mutating func takePose() {
    let count = Double(window.count)
    let mean = window.reduce(Vector3.zero, +) * (1 / count)
    let variance = window.reduce(0.0) { $0 + ($1 - mean).squaredNorm } / count
    guard window.count >= 10, variance < Self.largestPoseSpread * Self.largestPoseSpread,
      abs(mean.norm - standardGravity) < Self.largestPoseDeviation * standardGravity
    else { return }
    func cosine(_ pose: Vector3) -> Double { pose.dot(mean) / (pose.norm * mean.norm) }
    let nearest = values.indices.max { cosine(values[$0]) < cosine(values[$1]) }
    if let nearest, cosine(values[nearest]) > Elementary.cos(Self.newPoseAngle) {
      if cosine(values[nearest]) > Elementary.cos(Self.samePoseAngle) {
        values[nearest] = (values[nearest] + mean) * 0.5
      }
    } else if method == .freePoses || Self.face(of: mean) != nil {
      values.append(mean)
    }
    let coverage = EllipsoidFit.coverage(values)
    let fit = try? fit()
    residual = fit?.residual
    if method == .sixPositions {
      let seen = Self.faces.count { face in values.contains { Self.face(of: $0)?.name == face.name } }
      coveragePercent = 100 * Double(seen) / 6
    } else {
      let part = min(1, Double(values.count) / Double(Self.freePoseCount), coverage / Self.enoughPoseCoverage)
      coveragePercent = fit == nil ? min(99, 100 * part) : 100 * part
    }
  }

  // MARK: Fields

  /// How many of 54 parts of the sphere (3 x 3 on each face of a cube) were seen, as a share. A short path passes few,
  /// even where an ellipsoid bent to it seems to be covered.
  private static func directionShare(_ directions: [Vector3]) -> Double {
    var seen: UInt64 = 0
    for d in directions {
      let (a, b, c) = (abs(d.x), abs(d.y), abs(d.z))
      let largest = max(a, b, c)
      guard largest > 0 else { continue }
      let (main, u, v, face) =
        largest == a ? (d.x, d.y, d.z, 0) : largest == b ? (d.y, d.x, d.z, 2) : (d.z, d.x, d.y, 4)
      // The thirds of a face seen from the middle are equal angles: tan 15° parts them.
      func third(_ value: Double) -> Int { value < -0.268 * largest ? 0 : value > 0.268 * largest ? 2 : 1 }
      seen |= 1 << UInt64((face + (main < 0 ? 1 : 0)) * 9 + third(u) * 3 + third(v))
    }
    return Double(seen.nonzeroBitCount) / 54
  }

  /// Whether turning on may still tell how the axes lie.
  private mutating func waitsForAlignment(of calibration: AxisCalibration) -> Bool {
    guard let now = windowStart, sights.sights.count >= MagnetometerAlignment.leastCount else { return false }
    let end = fieldsEnd ?? now
    fieldsEnd = end
    guard now.seconds(since: end) < Self.alignmentPatience else { return false }
    return (try? sights.alignment(of: calibration)) == nil
  }

  private mutating func takeFields() {
    for value in window where values.last.map({ ($0 - value).norm >= Self.leastFieldStep }) ?? true {
      values.append(value)
    }
    if values.count > Self.fieldLimit {
      values = values.indices.filter { $0 % 2 == 0 }.map { values[$0] }
    }
    guard values.count >= Self.leastFieldCount else { return }
    do throws(CalibrationFailure) {
      let fit = try fit()
      residual = fit.residual
      let seen = Self.directionShare(values.map { fit.calibration.apply($0) })
      coveragePercent = 100 * min(1, fit.coverage / Self.enoughFieldCoverage, seen / Self.enoughDirectionShare)
      if coveragePercent >= 100, waitsForAlignment(of: fit.calibration) { coveragePercent = 99 }
    } catch {
      residual = nil
      if case .tooLittleTurning(let percent) = error {
        // What a fit at all needs is the first part of what is enough.
        coveragePercent = Double(min(99, percent)) * Self.leastDirectionShare / Self.enoughDirectionShare
      } else {
        coveragePercent = min(coveragePercent, 99)
      }
    }
  }
}
