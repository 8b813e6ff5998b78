import SensorFusion
import Testing

/// The pressure at a height above sea level, kPa.
private func pressure(_ height: Double) -> Double {
  101.325 * Elementary.exp(Elementary.log(1 - height / 44_330.77) / 0.190263)
}

/// Runs heights through an altimeter.
private func run(
  rate: Double, seconds: Double, noise: Double = 0, seed: UInt64 = 1, isStationary: Bool = false,
  _ height: (Double) -> Double
) -> (times: [Double], states: [AltitudeState], altimeter: PressureAltimeter) {
  var altimeter = PressureAltimeter()
  var random = TestRandom(seed: seed)
  var times: [Double] = []
  var states: [AltitudeState] = []
  for i in 0..<Int(seconds * rate) {
    let t = Double(i) / rate
    let value = pressure(height(t) + (noise > 0 ? noise * random.normal() : 0))
    if altimeter.update(
      time: Timestamp(seconds: t), pressure: value, temperature: .nan, isStationary: isStationary)
    {
      times.append(t)
      states.append(altimeter.state)
    }
  }
  return (times, states, altimeter)
}

@Suite struct AltimeterTests {
  @Test(arguments: [5.0, 10, 25, 50, 100])
  func aDoorPulseDoesNotShow(rate: Double) {
    let result = run(rate: rate, seconds: 30) { $0 >= 15 && $0 < 15.4 ? 1.7 : 0 }
    #expect(result.states.allSatisfy { abs($0.relativeAltitude) < 0.08 })
  }

  @Test(arguments: [5.0, 10, 25])
  func aClimbIsFollowedWithinEightTenthsOfASecond(rate: Double) {
    func height(_ t: Double) -> Double { 0.3 * min(20, max(0, t - 20)) }
    var lags: [Double] = []
    for seed in 1...5 as ClosedRange<UInt64> {
      let result = run(rate: rate, seconds: 50, noise: 0.05, seed: seed, height)
      let before = zip(result.times, result.states).filter { $0.0 > 10 && $0.0 < 20 }.map(\.1.relativeAltitude)
      let zero = before.reduce(0, +) / Double(before.count)
      for (t, state) in zip(result.times, result.states) where t > 20 && t <= 40 {
        lags.append((height(t) - (state.relativeAltitude - zero)) / 0.3)
      }
      #expect(abs((result.states.last?.relativeAltitude ?? 0) - zero - 6) < 0.1)
      #expect(abs(result.altimeter.state.ascent - 6) < 0.4 && result.altimeter.state.descent == 0)
    }
    #expect(lags.reduce(0, +) / Double(lags.count) < 0.8)
  }

  @Test func aNewPressureLevelIsReportedAndNotClimbed() {
    let result = run(rate: 10, seconds: 30) { $0 < 15 ? 0 : 400 }
    #expect(result.states.allSatisfy { abs($0.relativeAltitude) < 0.5 })
    #expect(result.states.filter(\.isDiscontinuity).count == 1)
    #expect(result.altimeter.state.ascent == 0)
    #expect(result.altimeter.skipped > 0)
  }

  @Test func aGapStartsTheLevelAnewWithoutARamp() {
    var altimeter = PressureAltimeter()
    var states: [AltitudeState] = []
    for i in 0..<300 where i < 100 || i >= 250 {
      let height = i < 100 ? 0.0 : 12.0
      _ = altimeter.update(
        time: Timestamp(seconds: Double(i) / 10), pressure: pressure(height), temperature: .nan, isStationary: false)
      states.append(altimeter.state)
    }
    #expect(states[100].isDiscontinuity)
    #expect(abs(states[100].relativeAltitude - 12) < 0.01)
  }

  @Test func pressureWithoutMotionIsFlagged() {
    let result = run(rate: 5, seconds: 60, isStationary: true) { $0 < 30 ? 0 : 1 }
    #expect(result.states.contains { $0.isPressureOnlyChange })
    let moving = run(rate: 5, seconds: 60, isStationary: false) { $0 < 30 ? 0 : 1 }
    #expect(!moving.states.contains { $0.isPressureOnlyChange })
  }

  @Test func absoluteAltitudeNeedsAReference() throws {
    var altimeter = PressureAltimeter()
    _ = altimeter.update(time: Timestamp(seconds: 1), pressure: 95, temperature: .nan, isStationary: false)
    #expect(altimeter.absoluteAltitude == nil)
    var configuration = PressureAltimeter.Configuration()
    configuration.seaLevelPressure = 101.325
    altimeter = PressureAltimeter(configuration: configuration)
    _ = altimeter.update(time: Timestamp(seconds: 1), pressure: 95, temperature: .nan, isStationary: false)
    // ICAO standard atmosphere: 540 m at 950.0 hPa.
    let standard = try #require(altimeter.absoluteAltitude)
    #expect(abs(standard - 540.3) < 1)
    configuration.seaLevelPressure = nil
    configuration.startHeight = 512
    altimeter = PressureAltimeter(configuration: configuration)
    _ = altimeter.update(time: Timestamp(seconds: 1), pressure: 95, temperature: .nan, isStationary: false)
    let known = try #require(altimeter.absoluteAltitude)
    #expect(abs(known - 512) < 1e-9)
  }

  @Test func floorsNeedSteps() {
    // 6 m up in 20 s: once with steps, once in an elevator.
    for isOnFoot in [true, false] {
      var walker = SyntheticWalker()
      walker.stillBefore = 10
      walker.steps = 50
      var configuration = MotionPipeline.Configuration()
      configuration.filter.hasGyroscope = false
      var pipeline = MotionPipeline(configuration: configuration)
      for i in 0..<6000 {
        let t = Double(i) / 100
        let f = isOnFoot ? walker.force(at: t) : Vector3(0, 0, 9.80665)
        let time = Timestamp(seconds: t)
        _ = pipeline.process(
          SensorSample(time: time, kind: .accelerometer, x: Float(f.x), y: Float(f.y), z: Float(f.z)))
        if i % 10 == 0 {
          let height = 6 * min(1, max(0, (t - 12) / 20))
          _ = pipeline.process(SensorSample(time: time, pressureKilopascals: Float(pressure(height))))
        }
      }
      #expect(pipeline.floorsAscended == (isOnFoot ? 2 : 0))
      #expect(pipeline.floorsDescended == 0)
      #expect(abs(pipeline.altitude.ascent - 6) < 0.3)
    }
  }
}
