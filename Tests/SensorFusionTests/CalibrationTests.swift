import SensorFusion
import Testing

/// A sensor with offset, scale and cross-axis errors: value = skew * true + offset.
private struct Distortion {
  var offset = Vector3(31, -22, 14)
  var x = Vector3(1.07, 0.03, -0.02)
  var y = Vector3(0.03, 0.94, 0.025)
  var z = Vector3(-0.02, 0.025, 1.02)

  func measured(_ v: Vector3) -> Vector3 { Vector3(x.dot(v), y.dot(v), z.dot(v)) + offset }
}

/// Attitudes of a figure eight in the hand, 50 a second for `seconds`.
private func figureEight(_ seconds: Double) -> [Quaternion] {
  (0..<Int(50 * seconds)).map { step in
    let t = 0.02 * Double(step)
    return Quaternion(yaw: 2.2 * Elementary.sin(0.9 * t))
      * Quaternion(rotationVector: Vector3(1.8 * Elementary.sin(1.8 * t), 0, 0))
      * Quaternion(rotationVector: Vector3(0, 2.5 * Elementary.sin(0.55 * t), 0))
  }
}

private let earthField = Vector3(20, 0, -43)

/// The worst heading error of a calibrated field over level and tilted attitudes, rad.
private func worstHeading(_ correct: (Vector3) -> Vector3, _ distortion: Distortion) -> Double {
  var worst = 0.0
  for yaw in stride(from: 0.0, to: 360, by: 15) {
    for tilt in [0.0, 30, -30] {
      let q = Quaternion(yaw: yaw * degree) * Quaternion(rotationVector: Vector3(tilt * degree, 0, 0))
      let field = q.rotate(correct(distortion.measured(q.inverseRotate(earthField))))
      worst = max(worst, abs(Elementary.atan2(field.y, field.x)))
    }
  }
  return worst
}

@Suite struct CalibrationTests {
  @Test(arguments: [UInt64(1), 2, 3, 4]) func headingAfterAFigureEightIsWithinTwoDegrees(seed: UInt64) throws {
    var noise = Noise(seed: seed)
    let distortion = Distortion()
    let values = figureEight(20).map { distortion.measured($0.inverseRotate(earthField)) + noise.vector(0.5) }
    let fit = try EllipsoidFit.fit(values)
    #expect(worstHeading({ fit.calibration.apply($0) }, distortion) < 2 * degree)
    #expect((fit.calibration.offset - distortion.offset).norm < 0.5)
    #expect(fit.residual < 0.02)
    #expect(fit.qualityPercent > 30)
    // The sensor's own mean scale is kept.
    #expect(abs(fit.radius - earthField.norm) < 1.5)
  }

  @Test func badFitsAreRefusedWithAReason() {
    var noise = Noise(seed: 6)
    func failure(_ values: [Vector3]) -> CalibrationFailure? {
      do throws(CalibrationFailure) {
        _ = try EllipsoidFit.fit(values)
        return nil
      } catch {
        return error
      }
    }
    #expect(failure([Vector3(1, 2, 3)]) == .tooFew(have: 1, need: EllipsoidFit.leastCount))
    // Lying still.
    #expect(failure((0..<100).map { _ in Vector3(20, 0, -40) }) == .tooLittleTurning(percent: 0))
    // Turned about one axis only.
    let flat = (0..<200).map { step in
      let a = 0.1 * Double(step)
      return Vector3(20 * Elementary.cos(a), 20 * Elementary.sin(a), -40) + noise.vector(0.3)
    }
    let flatFailure = failure(flat)
    #expect(flatFailure != nil)
    // A field that changes its strength at random.
    let wild = (0..<300).map { _ in noise.vector(30) }
    let wildFailure = failure(wild)
    #expect(wildFailure != nil)
    for reason in [flatFailure, wildFailure] { #expect(reason?.description.isEmpty == false) }
    #expect(failure((0..<50).map { _ in Vector3(.nan, 0, 0) }) != nil)
  }

  @Test func backgroundCalibrationReachesThreeDegreesInTwoMinutesOfHandling() {
    var noise = Noise(seed: 9)
    var distortion = Distortion()
    (distortion.x, distortion.y, distortion.z) = (Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1))
    var calibrator = BackgroundMagnetometerCalibrator()
    var last = calibrator.offset
    var largestStep = 0.0
    // Ordinary handling: in the hand, on the table, turned in a room, put in a pocket.
    for step in 0..<6000 {
      let t = 0.02 * Double(step)
      let pose: Quaternion
      switch t {
      case ..<20: pose = Quaternion(yaw: 0.2 * Elementary.sin(t))
      case ..<60:
        pose = Quaternion(yaw: 0.1 * t) * Quaternion(rotationVector: Vector3(0.8 + 0.4 * Elementary.sin(0.5 * t), 0, 0))
      case ..<90:
        pose =
          Quaternion(yaw: 3 - 0.08 * t) * Quaternion(rotationVector: Vector3(0.2, 1.2 * Elementary.sin(0.2 * t), 0))
      default:
        pose = Quaternion(yaw: 1) * Quaternion(rotationVector: Vector3(1.6 + 0.5 * Elementary.sin(2 * t), 0.3, 0))
      }
      calibrator.add(distortion.measured(pose.inverseRotate(earthField)) + noise.vector(0.5), at: Timestamp(seconds: t))
      largestStep = max(largestStep, (calibrator.offset - last).norm)
      last = calibrator.offset
    }
    #expect(worstHeading({ $0 - calibrator.offset }, distortion) < 3 * degree)
    #expect(calibrator.qualityPercent > 30)
    // 40 µT are learnt without a step that a heading would show at once.
    #expect(largestStep < 3)
  }

  @Test func backgroundCalibrationLearnsNothingWhileLyingStill() {
    var noise = Noise(seed: 10)
    var calibrator = BackgroundMagnetometerCalibrator(offset: Vector3(3, 4, 5))
    for step in 0..<5000 {
      calibrator.add(Vector3(20, 5, -40) + noise.vector(0.5), at: Timestamp(seconds: 0.02 * Double(step)))
    }
    #expect((calibrator.offset - Vector3(3, 4, 5)).norm < 1e-9)
    #expect(calibrator.qualityPercent == 0)
  }

  @Test func sixPositionsGiveOffsetScaleAndCrossAxis() throws {
    let distortion = Distortion(
      offset: Vector3(0.3, -0.2, 0.5), x: Vector3(1.02, 0.01, -0.015), y: Vector3(-0.005, 0.98, 0.02),
      z: Vector3(0.01, -0.02, 1.01))
    let g = standardGravity
    let truths = [
      Vector3(g, 0, 0), Vector3(-g, 0, 0), Vector3(0, g, 0), Vector3(0, -g, 0), Vector3(0, 0, g), Vector3(0, 0, -g),
    ]
    let fit = try AccelerometerCalibration.sixPositions(truths.reversed().map(distortion.measured))
    for truth in truths { #expect((fit.calibration.apply(distortion.measured(truth)) - truth).norm < 1e-9) }
    #expect((fit.calibration.offset - distortion.offset).norm < 1e-9)
    #expect(throws: CalibrationFailure.tooLittleTurning(percent: 83)) {
      _ = try AccelerometerCalibration.sixPositions(truths.dropLast().map(distortion.measured))
    }
  }

  @Test func freeFormPosesGiveGravityInEveryPose() throws {
    var noise = Noise(seed: 12)
    let distortion = Distortion(
      offset: Vector3(0.3, -0.2, 0.5), x: Vector3(1.02, 0.01, -0.01), y: Vector3(0.01, 0.98, 0.005),
      z: Vector3(-0.01, 0.005, 1.01))
    let poses = (0..<24).map { _ in
      let v = noise.vector(1)
      return distortion.measured(v * (standardGravity / v.norm)) + noise.vector(0.005)
    }
    let fit = try AccelerometerCalibration.freeForm(poses)
    for _ in 0..<50 {
      let v = noise.vector(1)
      let truth = v * (standardGravity / v.norm)
      #expect((fit.calibration.apply(distortion.measured(truth)) - truth).norm < 0.05)
    }
  }

  private static let slope = Vector3(0.0004, 0.0002, -0.0001)

  /// A rest at a temperature; `extra` is what the bias has besides.
  private func rest(_ temperature: Double, _ noise: inout Noise, extra: Vector3 = .zero) throws -> GyroscopeRest {
    let bias = Vector3(0.01, -0.02, 0.005) + Self.slope * (temperature - 25) + extra
    return try GyroscopeRest(
      rates: (0..<1000).map { _ in bias + noise.vector(0.003) }, duration: 10, temperature: temperature)
  }

  @Test func gyroscopeBiasFollowsTheTemperature() throws {
    var noise = Noise(seed: 13)
    let rests = [try rest(15, &noise), try rest(40, &noise), try rest(25, &noise)]
    let dependence = try #require(GyroscopeTemperature(rests))
    #expect((dependence.slope - Self.slope).norm < 0.00003)
    // The newest rest holds; the others tell how it changes.
    #expect(dependence.reference == 25)
    #expect((rests[2].bias + dependence.change(at: 30) - Vector3(0.012, -0.019, 0.0045)).norm < 0.0005)
    // Beyond what was seen the nearest is taken.
    #expect(dependence.range == 15...40)
    #expect(dependence.change(at: 90) == dependence.change(at: 40))
    #expect(dependence.change(at: .nan) == .zero)
  }

  /// Two points lie on any line, near temperatures tell nothing, and a bias that wanders by itself is no slope.
  @Test func aSlopeThatTheRestsDoNotTellIsNotTaken() throws {
    var noise = Noise(seed: 17)
    #expect(GyroscopeTemperature([]) == nil)
    #expect(GyroscopeTemperature([try rest(15, &noise), try rest(40, &noise)]) == nil)
    #expect(GyroscopeTemperature([try rest(20, &noise), try rest(22, &noise), try rest(24, &noise)]) == nil)
    let wandering = [
      try rest(15, &noise, extra: Vector3(0.02, 0, 0)), try rest(25, &noise, extra: Vector3(-0.03, 0, 0)),
      try rest(40, &noise, extra: Vector3(0.01, 0, 0)),
    ]
    #expect(GyroscopeTemperature(wandering) == nil)
  }

  @Test func oneRestADegreeIsKeptTheNewestLast() throws {
    var noise = Noise(seed: 18)
    var rests: [GyroscopeRest] = []
    for temperature in [20.0, 30, 20.4, .nan] {
      rests = GyroscopeTemperature.adding(try rest(temperature.isNaN ? 25 : temperature, &noise), to: rests)
    }
    #expect(rests.map(\.temperature) == [30, 20.4, 25])
    var unknown = rests[0]
    unknown.temperature = .nan
    #expect(GyroscopeTemperature.adding(unknown, to: rests) == rests)
    for temperature in stride(from: -40.0, to: 60, by: 2) {
      rests = GyroscopeTemperature.adding(try rest(temperature, &noise), to: rests)
    }
    #expect(rests.count == 32 && rests.last?.temperature == 58)
  }

  @Test func gyroscopeBiasIsNotTakenFromMotion() {
    var noise = Noise(seed: 14)
    #expect(throws: CalibrationFailure.moved) {
      _ = try GyroscopeRest(
        rates: (0..<500).map { Vector3(0.00005 * Double($0), 0, 0) + noise.vector(0.002) }, duration: 5)
    }
    #expect(throws: CalibrationFailure.moved) {
      _ = try GyroscopeRest(rates: (0..<500).map { _ in noise.vector(0.1) }, duration: 5)
    }
    #expect(throws: CalibrationFailure.tooFew(have: 3, need: 50)) {
      _ = try GyroscopeRest(rates: [.zero, .zero, .zero], duration: 0.03)
    }
  }

  private static let misaligned = Quaternion(rotationVector: Vector3(0.08, -0.05, 0.1))

  /// Sights of a device turned about: `spread` of the attitudes, late by `delay`.
  private func sights(
    _ count: Int, spread: Double = 1.5, delay: Double = 0, noise sigma: Double = 0.1, seed: UInt64 = 15,
    turn: Quaternion = misaligned
  ) -> [MagnetometerAlignment.Sight] {
    var noise = Noise(seed: seed)
    return (0..<count).map { _ in
      let q = Quaternion(rotationVector: noise.vector(spread))
      let rate = noise.vector(0.7)
      let before = q * Quaternion(rotationVector: rate * -delay)
      return .init(
        up: q.inverseRotate(Vector3(0, 0, standardGravity)) + noise.vector(0.01),
        field: turn.inverseRotate(before.inverseRotate(earthField)) + noise.vector(sigma), rate: rate)
    }
  }

  @Test(arguments: [0.0, 0.025]) func alignmentTurnsTheFieldToTheAccelerometersAxes(delay: Double) throws {
    let alignment = try MagnetometerAlignment.fit(sights(200, delay: delay))
    let error = angle(Quaternion(rotationVector: alignment.rotation), Self.misaligned)
    #expect(error < 0.3 * degree)
    #expect(alignment.isSignificant && alignment.residual < 0.5 * degree)
    // Three axes, each within three of its own sigmas.
    #expect(error < 3 * 1.8 * alignment.sigma && alignment.sigma < 0.3 * degree)
  }

  @Test func alignedAxesAreNotTurned() throws {
    var significant = 0
    for seed in UInt64(1)...20 {
      let alignment = try MagnetometerAlignment.fit(sights(100, noise: 1, seed: seed, turn: .identity))
      if alignment.isSignificant { significant += 1 }
      #expect(alignment.rotation.norm < 1 * degree)
    }
    #expect(significant <= 8)
  }

  /// Each with the reason that tells what to do.
  @Test func anAlignmentThatIsNotKnownIsRefused() {
    func failure(_ sights: [MagnetometerAlignment.Sight]) -> CalibrationFailure? {
      do throws(CalibrationFailure) {
        _ = try MagnetometerAlignment.fit(sights)
        return nil
      } catch {
        return error
      }
    }
    #expect(failure(sights(5)) == .tooFewSights(have: 5, need: 12))
    guard case .tooLittleTurning = failure(sights(200, spread: 0.02)) else {
      Issue.record("\(String(describing: failure(sights(200, spread: 0.02))))")
      return
    }
    // A dozen noisy looks.
    guard case .alignmentUncertain = failure(sights(16, noise: 4)) else {
      Issue.record("\(String(describing: failure(sights(16, noise: 4))))")
      return
    }
    guard case .elevationVaries = failure(sights(200, noise: 10)) else {
      Issue.record("\(String(describing: failure(sights(200, noise: 10))))")
      return
    }
    let crossed = sights(200, turn: Quaternion(rotationVector: Vector3(0, 0, .pi / 2)))
    #expect(failure(crossed) != nil)
    for reason in [failure(crossed), failure(sights(5)), failure(sights(200, noise: 10))] {
      #expect(reason?.description.isEmpty == false)
    }
  }
}
