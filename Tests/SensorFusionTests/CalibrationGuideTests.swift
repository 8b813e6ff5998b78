import Testing

@testable import SensorFusion

private let distorted = AxisCalibration(
  offset: Vector3(0.3, -0.2, 0.1), x: Vector3(1.01, 0.02, 0), y: Vector3(0, 0.99, -0.01), z: Vector3(0.01, 0, 1.02))

/// Feeds a guide `seconds` of a function's values at 100 Hz; stops when it is complete.
private func feed(
  _ guide: inout CalibrationGuide, from start: Double = 0, seconds: Double, _ value: (Double) -> Vector3
) {
  for i in 0..<Int(seconds * 100) where !guide.isComplete {
    let t = start + Double(i) / 100
    let v = value(t)
    guide.add(
      SensorSample(
        time: Timestamp(seconds: t), kind: guide.kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
  }
}

/// A little noise that is the same each time.
private func noise(_ t: Double) -> Vector3 {
  Vector3(Elementary.sin(1e4 * t), Elementary.sin(1.7e4 * t), Elementary.sin(2.3e4 * t))
}

@Suite struct CalibrationGuideTests {
  @Test func aStillGyroscopeGivesItsBiasInTenSeconds() throws {
    var guide = CalibrationGuide(.rest)
    let bias = Vector3(0.01, -0.02, 0.003)
    guide.add(SensorSample(time: Timestamp(seconds: 0), pressureKilopascals: 100, temperatureCelsius: 31))
    feed(&guide, seconds: 5) { bias + noise($0) * 0.001 }
    #expect((40...50).contains(guide.coveragePercent))
    feed(&guide, from: 5, seconds: 10) { bias + noise($0) * 0.001 }
    #expect(guide.isComplete)
    let result = try guide.result()
    #expect((result.calibration.offset - bias).norm < 1e-4)
    #expect(result.temperature == 31)
    #expect(result.rest?.temperature == 31 && result.rest?.bias == result.calibration.offset)
  }

  @Test func aGyroscopeThatMovesBeginsAnewOrIsRefused() throws {
    var guide = CalibrationGuide(.rest)
    feed(&guide, seconds: 5) { _ in Vector3(0.01, 0, 0) }
    feed(&guide, from: 5, seconds: 3) { Vector3(Elementary.sin(5 * $0), 0, 0) }
    #expect(guide.disturbances > 0)
    #expect(guide.coveragePercent == 0)
    #expect(throws: CalibrationFailure.moved) { try guide.result() }
    feed(&guide, from: 8, seconds: 12) { _ in Vector3(0.01, 0, 0) }
    #expect(guide.isComplete)
    #expect(abs(try guide.result().calibration.offset.x - 0.01) < 1e-6)
  }

  /// Fifteen seconds of a gyroscope with a bias on something that turns at `rate` (rad/s, device axes), with what the
  /// other two sensors see of it; `iron` (µT) is added to the field.
  private func measure(
    bias: Vector3, rate: Vector3, witnesses: Set<SensorKind>, iron: (Double) -> Vector3 = { _ in Vector3(12, -20, 8) }
  ) -> CalibrationGuide {
    var guide = CalibrationGuide(.rest)
    // The earth's vectors turn the other way in the device's axes.
    func turned(_ v: Vector3, _ t: Double) -> Vector3 {
      guard rate.norm > 0 else { return v }
      let axis = rate * (1 / rate.norm)
      let (c, s) = (Elementary.cos(-rate.norm * t), Elementary.sin(-rate.norm * t))
      return v * c + axis.cross(v) * s + axis * (axis.dot(v) * (1 - c))
    }
    for i in 0..<1500 where !guide.isComplete {
      let t = Double(i) / 100
      func add(_ kind: SensorKind, _ v: Vector3) {
        guide.add(SensorSample(time: Timestamp(seconds: t), kind: kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
      }
      if witnesses.contains(.accelerometer) {
        add(.accelerometer, turned(Vector3(0, 0, standardGravity), t) + noise(t) * 0.05)
      }
      if witnesses.contains(.magnetometer), i % 2 == 0 {
        add(.magnetometer, turned(Vector3(18, 6, -42), t) + iron(t) + noise(t + 3) * 0.5)
      }
      add(.gyroscope, bias + rate + noise(t) * 0.002)
    }
    return guide
  }

  @Test(arguments: [
    (Vector3(0, 0, 0.35), [SensorKind.accelerometer, .magnetometer], TurnSign.field),
    (Vector3(0, 0, -0.06), [.magnetometer], .field), (Vector3(0.3, -0.2, 0.1), [.magnetometer], .field),
    (Vector3(0, 0, 0.35), [.magnetometer], .field),
  ]) func aSteadyTurnIsSeenByTheField(rate: Vector3, witnesses: [SensorKind], sign: TurnSign) {
    let guide = measure(bias: Vector3(0.01, 0.02, -0.005), rate: rate, witnesses: Set(witnesses))
    #expect(!guide.isComplete && guide.disturbances > 0)
    #expect(throws: CalibrationFailure.turning(sign)) { try guide.result() }
  }

  @Test(arguments: [Vector3(0.005, 0, 0), Vector3(0.02, 0, 0.3), Vector3(0, 0.5, 0)])
  func aSteadyTurnIsSeenByGravity(rate: Vector3) {
    let guide = measure(bias: Vector3(0.01, 0.02, -0.005), rate: rate, witnesses: [.accelerometer])
    guard !guide.isComplete, case .turning(.gravity(let angle)) = guide.disturbance else {
      Issue.record("\(String(describing: guide.disturbance))")
      return
    }
    #expect(angle > 0.017 && angle < 1)
  }

  @Test func aTurnFasterThanAnyBiasNeedsNoWitness() {
    let guide = measure(bias: .zero, rate: Vector3(0, 0, 2), witnesses: [])
    guard !guide.isComplete, case .turning(.rate(let rate)) = guide.disturbance else {
      Issue.record("\(String(describing: guide.disturbance))")
      return
    }
    #expect(abs(rate - 2) < 0.01)
  }

  /// A bias as large as parts have is kept, whatever iron does meanwhile.
  @Test(arguments: [0.0, 0.02, 0.1, -0.35]) func aBiasIsNoTurn(bias: Double) throws {
    let irons: [(Double) -> Vector3] = [
      { _ in Vector3(12, -20, 8) }, { Vector3(0.1 * $0, -0.05 * $0, 0) }, { Vector3($0 > 5 ? 15 : 0, 0, 0) },
      { Vector3(3 * Elementary.sin(2 * $0), 3 * Elementary.sin(0.7 * $0), 0) },
    ]
    for iron in irons {
      let guide = measure(
        bias: Vector3(0.1 * bias, 0, bias), rate: .zero, witnesses: [.accelerometer, .magnetometer], iron: iron)
      #expect(guide.isComplete && guide.disturbances == 0, "\(String(describing: guide.disturbance))")
      #expect(abs(try guide.result().calibration.offset.z - bias) < 1e-3)
    }
  }

  @Test func sixFacesUpCalibrateAnAccelerometer() throws {
    var guide = CalibrationGuide(.sixPositions)
    let faces = [
      Vector3(1, 0, 0), Vector3(-1, 0, 0), Vector3(0, 1, 0), Vector3(0, -1, 0), Vector3(0, 0, 1), Vector3(0, 0, -1),
    ]
    // What the sensor shows is what the calibration undoes.
    let inverse = { (v: Vector3) in
      // Two rounds of correction undo a matrix this near to the identity.
      var raw = v + distorted.offset
      for _ in 0..<20 { raw = raw + (v - distorted.apply(raw)) }
      return raw
    }
    for (index, face) in faces.enumerated() {
      #expect(guide.instruction.contains(["+x", "-x", "+y", "-y", "+z", "-z"][index]))
      let raw = inverse(face * standardGravity)
      feed(&guide, from: Double(index) * 4, seconds: 2) { raw + noise($0) * 0.01 }
      // Taken to the next face.
      let next = inverse(faces[(index + 1) % 6] * standardGravity)
      feed(&guide, from: Double(index) * 4 + 2, seconds: 2) { t in
        let part = (t - Double(index) * 4 - 2) / 2
        return raw * (1 - part) + next * part
      }
    }
    #expect(guide.isComplete)
    let result = try guide.result()
    #expect((result.calibration.offset - distorted.offset).norm < 0.01)
    #expect((result.calibration.x - distorted.x).norm < 0.002)
    #expect((result.calibration.z - distorted.z).norm < 0.002)
  }

  @Test func aMissingFaceIsNamedAndRefused() {
    var guide = CalibrationGuide(.sixPositions)
    feed(&guide, seconds: 3) { _ in Vector3(0, 0, standardGravity) }
    #expect(!guide.isComplete)
    #expect(!guide.instruction.contains("+z") && guide.instruction.contains("-z"))
    #expect(throws: CalibrationFailure.self) { try guide.result() }
  }

  @Test func turningGivesHardIron() throws {
    var guide = CalibrationGuide(.turning)
    let iron = Vector3(30, -12, 5)
    feed(&guide, seconds: 120) { t in
      let q =
        Quaternion(rotationVector: Vector3(0, 0, t)) * Quaternion(rotationVector: Vector3(0.37 * t, 0, 0))
        * Quaternion(rotationVector: Vector3(0, 0.23 * t, 0))
      return q.inverseRotate(Vector3(20, 0, -44)) + iron + noise(t) * 0.3
    }
    #expect(guide.isComplete)
    let result = try guide.result()
    #expect((result.calibration.offset - iron).norm < 1)
    #expect(result.residual < 0.02)
  }

  /// Accelerometer and gyroscope beside a magnetometer whose axes are turned by `lean`, and that has hard and soft iron.
  private func turn(_ guide: inout CalibrationGuide, lean: Quaternion, hasGyroscope: Bool = true) {
    let iron = Vector3(30, -12, 5)
    func attitude(_ t: Double) -> Quaternion {
      Quaternion(rotationVector: Vector3(0, 0, 0.6 * t)) * Quaternion(rotationVector: Vector3(0.37 * t, 0, 0))
        * Quaternion(rotationVector: Vector3(0, 0.23 * t, 0))
    }
    let dt = 0.01
    for i in 1...12_000 where !guide.isComplete {
      let t = Double(i) * dt
      let q = attitude(t)
      let step = attitude(t - dt).conjugate * q
      let rate = Vector3(step.x, step.y, step.z) * (2 / dt * (step.w < 0 ? -1 : 1))
      let bent = lean.inverseRotate(q.inverseRotate(Vector3(20, 0, -44)))
      let values: [(SensorKind, Vector3)] = [
        (.accelerometer, q.inverseRotate(Vector3(0, 0, standardGravity)) + noise(t) * 0.03),
        (.gyroscope, rate + noise(t) * 0.002 + Vector3(0.01, 0, -0.005)),
        (.magnetometer, Vector3(bent.x * 1.06, bent.y * 0.97, bent.z) + iron + noise(t) * 0.3),
      ]
      for (kind, v) in values where hasGyroscope || kind != .gyroscope {
        guide.add(
          SensorSample(time: Timestamp(seconds: t), kind: kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
      }
    }
  }

  @Test(arguments: [Vector3(0.07, -0.04, 0.09), Vector3(-0.15, 0.1, 0), .zero])
  func turningFindsHowTheMagnetometersAxesLie(lean: Vector3) throws {
    var guide = CalibrationGuide(.turning)
    let truth = Quaternion(rotationVector: lean)
    turn(&guide, lean: truth)
    #expect(guide.isComplete)
    let result = try guide.result()
    let alignment = try #require(result.alignment)
    #expect(result.alignmentFailure == nil)
    #expect(angle(Quaternion(rotationVector: alignment.rotation), truth) < 1 * degree)
    // The kept calibration turns the field to the accelerometer's axes.
    for direction in [Vector3(40, 10, -20), Vector3(-5, 30, 35), Vector3(20, -40, 5)] {
      let bent = truth.inverseRotate(direction)
      let measured = Vector3(bent.x * 1.06, bent.y * 0.97, bent.z) + Vector3(30, -12, 5)
      #expect(angle(result.calibration.apply(measured), direction) < 1.5 * degree)
    }
  }

  /// Fields are enough before gravity was seen well: the guide asks to turn on, for half a minute at most.
  @Test func theGuideWaitsForTheAxesButNotForEver() throws {
    var guide = CalibrationGuide(.turning)
    var asked: (first: Double, last: Double)?
    var end: Double?
    for i in 1...12_000 where end == nil {
      let t = Double(i) / 100
      let q =
        Quaternion(rotationVector: Vector3(0, 0, 0.6 * t)) * Quaternion(rotationVector: Vector3(0.37 * t, 0, 0))
        * Quaternion(rotationVector: Vector3(0, 0.23 * t, 0))
      // An accelerometer on a hinge: it does not turn along.
      let values = [
        (SensorKind.accelerometer, Vector3(0, 0, standardGravity)), (.gyroscope, Vector3.zero),
        (.magnetometer, q.inverseRotate(Vector3(20, 0, -44)) + noise(t) * 0.3),
      ]
      for (kind, v) in values {
        guide.add(
          SensorSample(time: Timestamp(seconds: t), kind: kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
      }
      if guide.instruction.contains("compared") { asked = (asked?.first ?? t, t) }
      if guide.isComplete { end = t }
    }
    let (first, last) = try #require(asked)
    #expect(try #require(end) == last)
    #expect((28...32).contains(last - first))
    #expect(try guide.result().alignmentFailure != nil)
  }

  /// Hard and soft iron are found without gravity; the axes then stay as they are, and the reason is told.
  @Test func withoutTiltTheAxesAreNotCompared() throws {
    var guide = CalibrationGuide(.turning)
    turn(&guide, lean: Quaternion(rotationVector: Vector3(0.1, 0, 0)), hasGyroscope: false)
    let result = try guide.result()
    #expect(result.alignment == nil)
    #expect(result.alignmentFailure != nil)
  }

  @Test func aMagnetometerThatIsNotTurnedIsRefused() {
    for turn in [0.0, 1.0] {
      var guide = CalibrationGuide(.turning)
      feed(&guide, seconds: 60) { t in
        Quaternion(rotationVector: Vector3(0, 0, turn * t)).inverseRotate(Vector3(20, 0, -44)) + noise(t) * 0.8
      }
      #expect(!guide.isComplete)
      #expect(throws: CalibrationFailure.self) { try guide.result() }
      guard turn == 0 else { continue }
      #expect {
        try guide.result()
      } throws: {
        if case .tooLittleTurning = $0 as? CalibrationFailure { true } else { false }
      }
    }
  }

  @Test func aFieldThatIsNotTheEarthsIsRefused() {
    var guide = CalibrationGuide(.turning)
    feed(&guide, seconds: 60) { t in
      let q =
        Quaternion(rotationVector: Vector3(0, 0, t)) * Quaternion(rotationVector: Vector3(0.37 * t, 0, 0))
        * Quaternion(rotationVector: Vector3(0, 0.23 * t, 0))
      return q.inverseRotate(Vector3(200, 0, -44))
    }
    #expect {
      try guide.result()
    } throws: {
      if case .implausibleField = $0 as? CalibrationFailure { true } else { false }
    }
  }
}

/// Calibrations in the pipeline.
@Suite struct PipelineCalibrationTests {
  private func samples(_ seconds: Int, raw: (Vector3) -> Vector3) -> [SensorSample] {
    (0..<seconds * 100).flatMap { i -> [SensorSample] in
      let time = Timestamp(seconds: Double(i) / 100)
      let t = Double(i) / 100
      let force = Quaternion(rotationVector: Vector3(0.5 * Elementary.sin(t), 0, 0)).inverseRotate(
        Vector3(0, 0, standardGravity))
      let f = raw(force)
      return [
        SensorSample(time: time, kind: .accelerometer, x: Float(f.x), y: Float(f.y), z: Float(f.z)),
        SensorSample(time: time, kind: .gyroscope, x: Float(0.5 * Elementary.cos(t)), y: 0, z: 0),
      ]
    }
  }

  private func run(_ samples: [SensorSample], _ configuration: MotionPipeline.Configuration) -> [MotionState] {
    var pipeline = MotionPipeline(configuration: configuration)
    var states: [MotionState] = []
    for sample in samples where pipeline.process(sample).contains(.motion) { states.append(pipeline.motion) }
    return states
  }

  @Test func aCalibratedSensorGivesWhatATrueOneGives() throws {
    var configuration = MotionPipeline.Configuration()
    let offset = Vector3(0.5, -0.25, 0.125)
    var calibration = AxisCalibration.identity
    calibration.offset = offset
    configuration.calibration.accelerometer = calibration
    let truth = run(samples(10) { $0 }, .init())
    let wrong = run(samples(10) { $0 + offset }, .init())
    let calibrated = run(samples(10) { $0 + offset }, configuration)
    #expect(truth.count == calibrated.count)
    let (last, uncalibrated) = (try #require(calibrated.last), try #require(wrong.last))
    let exact = try #require(truth.last)
    #expect((last.gravity - exact.gravity).norm < 1e-4)
    #expect((uncalibrated.gravity - exact.gravity).norm > 0.2)

    let smoothed = MotionSmoother.motions(of: samples(10) { $0 + offset }, settings: configuration)
    let smoothTruth = MotionSmoother.motions(of: samples(10) { $0 }, settings: .init())
    #expect((try #require(smoothed.last).gravity - (try #require(smoothTruth.last)).gravity).norm < 1e-4)
  }

  /// A sensor that clips at 20 m/s² clips at 22 when its scale is 10 % too small, and that is still seen.
  @Test func theRangeIsCalibratedToo() {
    var configuration = MotionPipeline.Configuration()
    configuration.filter.accelerometerRange = 20
    configuration.calibration.accelerometer = AxisCalibration(
      offset: .zero, x: Vector3(0.9, 0, 0), y: Vector3(0, 0.9, 0), z: Vector3(0, 0, 0.9))
    #expect(abs(configuration.filterAfterCalibration.accelerometerRange - 18) < 1e-12)
    let states = run(samples(1) { _ in Vector3(0, 0, 20) }, configuration)
    #expect(states.contains { $0.flags.contains(.accelerometerClipped) })
    configuration.filter.accelerometerRange = .infinity
    #expect(configuration.filterAfterCalibration.accelerometerRange == .infinity)
  }

  /// A gyroscope whose bias drifts with the temperature is wrong by the drift where its calibration does not follow it.
  @Test func theGyroscopesBiasFollowsTheTemperatureOfTheSamples() throws {
    let bias = Vector3(0.01, -0.02, 0.005)
    let slope = Vector3(0.0004, 0.0002, -0.0003)
    var configuration = MotionPipeline.Configuration()
    configuration.calibration.gyroscope = AxisCalibration.identity
    configuration.calibration.gyroscope?.offset = bias
    // Warms from 20 to 40 °C in two minutes, turning all the time, so nothing can be learnt at rest.
    var samples: [SensorSample] = []
    for i in 0..<6000 {
      let t = Double(i) / 50
      let temperature = 20 + t / 6
      let rate = bias + slope * (temperature - 20)
      let q = Quaternion(rotationVector: Vector3(0.5 * Elementary.sin(t), 0, 0))
      let f = q.inverseRotate(Vector3(0, 0, standardGravity))
      let time = Timestamp(seconds: t)
      samples.append(SensorSample(time: time, kind: .accelerometer, x: Float(f.x), y: Float(f.y), z: Float(f.z)))
      samples.append(
        SensorSample(
          time: time, kind: .gyroscope, x: Float(0.5 * Elementary.cos(t) + rate.x), y: Float(rate.y), z: Float(rate.z)))
      if i % 50 == 0 {
        samples.append(SensorSample(time: time, pressureKilopascals: 100, temperatureCelsius: Float(temperature)))
      }
    }
    func yaw(_ configuration: MotionPipeline.Configuration) throws -> Double {
      abs(try #require(run(samples, configuration).last).attitude.yaw)
    }
    let constant = try yaw(configuration)
    configuration.calibration.gyroscopeTemperature = GyroscopeTemperature(slope: slope, reference: 20, range: 15...45)
    let following = try yaw(configuration)
    #expect(constant > 10 * degree)
    #expect(following < 1.5 * degree)
    // The smoother follows as well.
    let smoothed = MotionSmoother.motions(of: samples, settings: configuration)
    #expect(abs(try #require(smoothed.last).gyroscopeBias.z) < 0.001)
    // A thermometer that says nothing sensible changes nothing.
    samples = samples.map {
      var sample = $0
      if sample.kind == .barometer { sample.y = 400 }
      return sample
    }
    #expect(try yaw(configuration) == constant)
  }
}
