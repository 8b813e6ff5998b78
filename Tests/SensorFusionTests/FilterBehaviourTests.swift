import Glibc
import SensorFusion
import Testing

/// Repeatable noise: a 64-bit linear congruential generator and the sum of twelve uniforms.
struct Noise {
  private var seed: UInt64

  init(seed: UInt64) { self.seed = seed }

  mutating func uniform() -> Double {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(seed >> 11) * 0x1p-53
  }

  /// Mean 0, sigma 1.
  mutating func normal() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += uniform() }
    return sum
  }

  mutating func vector(_ sigma: Double) -> Vector3 { Vector3(normal(), normal(), normal()) * sigma }
}

/// A device that turns with known rates in a known field.
struct Scene {
  /// Device to north-west-up.
  var attitude = Quaternion.identity
  var field = Vector3(20, 0, -45)

  mutating func turn(_ rate: Vector3, _ dt: Double) {
    attitude = (attitude * Quaternion(rotationVector: rate * dt)).normalized
  }

  var force: Vector3 { attitude.inverseRotate(Vector3(0, 0, standardGravity)) }
  var seenField: Vector3 { attitude.inverseRotate(field) }
}

@Suite struct FilterBehaviourTests {
  @Test(arguments: [Vector3(0, 0, 1), Vector3(1, 0, 0), Vector3(0, -1, 0), Vector3(0.3, -0.5, 0.8), Vector3(0, 0, -1)])
  func gravityOfAStillDeviceIsWithinATenthOfADegree(pose: Vector3) {
    var noise = Noise(seed: 3)
    var filter = ComplementaryFilter(.arbitrary)
    let force = pose * (standardGravity / pose.norm)
    var worst = (settling: 0.0, settled: 0.0)
    for step in 0..<2000 {
      let output = filter.feed(
        0.01 * Double(step), force: force + noise.vector(0.01),
        rate: noise.vector(0.002) + Vector3(0.003, 0.002, -0.004))
      guard let state = output else { continue }
      // A raw bias of 0.3°/s is learnt once rest is seen, after 1.5 s.
      let error = angle(state.gravity, pose)
      if step < 300 { worst.settling = max(worst.settling, error) } else { worst.settled = max(worst.settled, error) }
    }
    #expect(worst.settling < 0.5 * degree)
    #expect(worst.settled < 0.1 * degree)
  }

  @Test(arguments: [100.0, 285.0])
  func idealRotationIsWithinATwentiethOfADegreeAfterAMinute(hertz: Double) {
    var scene = Scene()
    var magnetic = ComplementaryFilter(.magneticNorth) { $0.magnetometerDelay = 0 }
    var arbitrary = ComplementaryFilter(.arbitrary)
    let dt = 1 / hertz
    for step in 0..<Int(60 * hertz) {
      let t = dt * Double(step)
      let rate = Vector3(0.8 * Elementary.sin(0.9 * t), 0.6 * Elementary.cos(0.5 * t), 0.4)
      if step > 0 { scene.turn(rate, dt) }
      _ = magnetic.feed(t, force: scene.force, rate: rate, field: scene.seenField)
      _ = arbitrary.feed(t, force: scene.force, rate: rate)
    }
    #expect(angle(magnetic.state.attitude, scene.attitude) < 0.05 * degree)
    #expect(angle(arbitrary.state.attitude, scene.attitude) < 0.05 * degree)
  }

  @Test func anHourAtRestDriftsLessThanADegree() {
    var noise = Noise(seed: 11)
    var filter = ComplementaryFilter(.arbitrary)
    var bias = Vector3(0.05, -0.03, 0.05) * degree
    var yawAfterAMinute = 0.0
    var squaredTilt = 0.0
    var count = 0.0
    let dt = 0.02
    for step in 0..<180_000 {
      bias += noise.vector(0.0005 * degree * dt.squareRoot())
      let state = filter.feed(
        dt * Double(step), force: Vector3(0, 0, standardGravity) + noise.vector(0.02),
        rate: bias + noise.vector(0.05 * degree))
      if step == 3000 { yawAfterAMinute = filter.state.attitude.yaw }
      guard step > 3000, let state else { continue }
      let tilt = angle(state.gravity, Vector3(0, 0, 1))
      squaredTilt += tilt * tilt
      count += 1
    }
    #expect(abs(wrapped(filter.state.attitude.yaw - yawAfterAMinute)) < 1 * degree)
    #expect((squaredTilt / count).squareRoot() < 0.02 * degree)
  }

  /// The error of heading, radians, at each 10 ms of a device that is turned about while the field becomes `field` at
  /// `second`.
  private func headingErrors(seed: UInt64, seconds: Int, second: Int, field: Vector3) -> [Double] {
    var noise = Noise(seed: seed)
    var scene = Scene()
    var filter = ComplementaryFilter(.magneticNorth) { $0.magnetometerDelay = 0 }
    let dt = 0.01
    return (0..<seconds * 100).map { step in
      let t = dt * Double(step)
      if step == second * 100 { scene.field = field }
      let rate = Vector3(0.7 * Elementary.sin(1.1 * t), 0.5 * Elementary.cos(0.7 * t), 0.6 * Elementary.sin(0.3 * t))
      if step > 0 { scene.turn(rate, dt) }
      _ = filter.feed(
        t, force: scene.force + noise.vector(0.05), rate: rate + noise.vector(0.003),
        field: scene.seenField + noise.vector(0.5))
      return abs(wrapped((filter.state.attitude * scene.attitude.conjugate).yaw))
    }
  }

  /// Seconds until the heading has turned by 70° after the field turned by 90°.
  @Test func aTurnedFieldIsFollowedWithinTwentySeconds() throws {
    let errors = headingErrors(seed: 5, seconds: 90, second: 50, field: Vector3(0, 20, -45))
    // A short disturbance is not followed, a lasting one is.
    #expect(errors[5200] < 20 * degree)
    let turned = try #require(errors[5001...].firstIndex { $0 > 70 * degree })
    #expect(turned < 7000)
  }

  /// A field that is turned by 60°, stronger and steeper, as in another building: refused at first, believed when it stays.
  @Test func aStrongerFieldThatStaysIsTheNewOne() {
    let errors = headingErrors(seed: 6, seconds: 160, second: 100, field: Vector3(13, 22.5, -62))
    #expect(errors[11_000] < 5 * degree)
    #expect(errors[15_999] > 50 * degree)
  }

  @Test func correctedArbitraryFrameStartsAtZeroAndDoesNotJump() {
    var filter = ComplementaryFilter(.arbitraryCorrected)
    var last = 0.0
    for step in 0..<500 {
      // The field appears after two seconds.
      let field = step < 200 ? nil : Vector3(-5, 19, -40)
      guard
        let state = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: .zero, field: field)
      else { continue }
      #expect(abs(state.attitude.yaw) < 0.01 * degree)
      #expect(abs(state.attitude.yaw - last) < 0.01 * degree)
      last = state.attitude.yaw
    }
    #expect(!filter.state.flags.contains(.noHeading))
  }

  @Test func trueNorthIsMagneticNorthTurnedByTheDeclination() throws {
    // 10° east: a device whose x axis points to magnetic north points 10° east of true north.
    var filter = ComplementaryFilter(.trueNorth(declination: 10 * degree))
    for step in 0..<50 {
      _ = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: .zero, field: Vector3(20, 0, -40))
    }
    #expect(abs(filter.state.attitude.yaw + 10 * degree) < 0.01 * degree)
    let magnetic = try #require(filter.attitude(in: .magneticNorth))
    #expect(abs(magnetic.yaw) < 0.01 * degree)
    let arbitrary = try #require(filter.attitude(in: .arbitrary))
    #expect(abs(arbitrary.yaw) < 0.01 * degree)
  }

  @Test func arbitraryFrameIsFreeOfMagneticCorrections() throws {
    var noise = Noise(seed: 2)
    var scene = Scene(attitude: Quaternion(yaw: 1))
    var both = ComplementaryFilter(.magneticNorth)
    var alone = ComplementaryFilter(.arbitrary)
    for step in 0..<3000 {
      let t = 0.01 * Double(step)
      let rate = Vector3(0.3 * Elementary.sin(t), 0.2, 0.5 * Elementary.cos(0.4 * t))
      if step > 0 { scene.turn(rate, 0.01) }
      let (force, seen) = (scene.force + noise.vector(0.05), rate + noise.vector(0.002))
      _ = both.feed(t, force: force, rate: seen, field: scene.seenField + noise.vector(0.5))
      _ = alone.feed(t, force: force, rate: seen)
    }
    let arbitrary = try #require(both.attitude(in: .arbitrary))
    #expect(angle(arbitrary, alone.state.attitude) < 0.5 * degree)
    #expect(angle(both.state.attitude, scene.attitude) < 2 * degree)
    #expect(alone.attitude(in: .magneticNorth) == nil)
  }

  @Test func accelerometerAloneGivesTiltAndSaysSo() throws {
    var noise = Noise(seed: 4)
    var filter = ComplementaryFilter(.arbitrary) { $0.hasGyroscope = false }
    let pose = Vector3(0.3, -0.4, 0.85)
    var last: MotionState?
    for step in 0..<300 {
      let force = pose * (standardGravity / pose.norm) + noise.vector(0.05)
      last = filter.feed(0.02 * Double(step), force: force)
      #expect(last != nil)
    }
    let state = try #require(last)
    #expect(angle(state.gravity, pose) < 0.3 * degree)
    #expect(state.flags.contains(.noGyroscope))
    #expect(state.rotationRate == .zero)
    #expect(state.tiltSigma < 3 * degree)
    #expect(state.headingSigma == .infinity)
  }

  @Test func accelerometerAndMagnetometerMakeACompass() throws {
    var filter = ComplementaryFilter(.magneticNorth) { $0.hasGyroscope = false }
    let scene = Scene(attitude: Quaternion(yaw: 2) * Quaternion(rotationVector: Vector3(0.4, 0.2, 0)))
    for step in 0..<100 { _ = filter.feed(0.02 * Double(step), force: scene.force, field: scene.seenField) }
    #expect(angle(filter.state.attitude, scene.attitude) < 0.1 * degree)
    #expect(filter.state.headingSigma < 20 * degree)
  }

  @Test func magnetometerAloneGivesTheField() {
    var filter = ComplementaryFilter(.magneticNorth)
    #expect(filter.feed(0, field: Vector3(10, 20, -30)) == nil)
    #expect(filter.state.magneticField == Vector3(10, 20, -30))
  }

  @Test func aGyroscopeThatNeverComesAndOneThatReturns() throws {
    var filter = ComplementaryFilter(.arbitrary)
    var first: MotionState?
    for step in 0..<300 {
      let state = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8))
      if first == nil { first = state }
    }
    // After a second, not before.
    #expect(abs(try #require(first).time.seconds - 1) < 0.05)
    #expect(filter.state.flags.contains(.noGyroscope))
    for step in 300..<400 {
      let output = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: Vector3(0, 0, 0.2))
      let state = try #require(output)
      #expect(!state.flags.contains(.noGyroscope))
    }
    #expect(abs(filter.state.attitude.yaw - 0.2 * 0.99) < 0.01)
  }

  @Test func gapsAreBridgedWithTheMeanOfTheRates() throws {
    var filter = ComplementaryFilter(.arbitrary)
    for step in 0...200 { _ = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: Vector3(0, 0, 0.5)) }
    let before = filter.state
    let output = filter.feed(2.5, force: Vector3(0, 0, 9.8), rate: Vector3(0, 0, 0.7))
    let after = try #require(output)
    #expect(abs(after.attitude.yaw - before.attitude.yaw - 0.3) < 0.002)
    #expect(after.flags.contains(.afterGap))
    #expect(after.tiltSigma > before.tiltSigma)
    let next = filter.feed(2.51, force: Vector3(0, 0, 9.8), rate: Vector3(0, 0, 0.7))
    #expect(next?.flags.contains(.afterGap) == false)
  }

  @Test func aTiltLostInALongGapIsFoundAgain() {
    var filter = ComplementaryFilter(.arbitrary)
    for step in 0...300 { _ = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: .zero) }
    // While nothing was recorded the device was turned over.
    var resets = 0
    for step in 0...100 {
      let state = filter.feed(10 + 0.01 * Double(step), force: Vector3(0, 0, -9.8), rate: .zero)
      if state?.flags.contains(.tiltReset) == true { resets += 1 }
    }
    #expect(angle(filter.state.gravity, Vector3(0, 0, -1)) < 1 * degree)
    #expect(resets == 1)
  }

  @Test func aTiltInDoubtIsFoundAgainWhileTheDeviceIsShaken() {
    var filter = ComplementaryFilter(.arbitrary)
    for step in 0...300 { _ = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: .zero) }
    // Unseen, it was tilted by 30°; now it is shaken twice a second with 5 m/s².
    let tilt = Quaternion(rotationVector: Vector3(30 * degree, 0, 0))
    var resetAt: Double?
    for step in 0...100 {
      let t = 5 + 0.01 * Double(step)
      let shake = Vector3(5 * Elementary.sin(4 * .pi * t), 0, 0)
      let state = filter.feed(t, force: tilt.inverseRotate(Vector3(0, 0, 9.8) + shake), rate: .zero)
      if state?.flags.contains(.tiltReset) == true, resetAt == nil { resetAt = t - 5 }
    }
    #expect(resetAt.map { $0 < 0.7 } == true)
    #expect(angle(filter.state.gravity, tilt.inverseRotate(Vector3(0, 0, 1))) < 8 * degree)
  }

  @Test func sensorsOfDifferentRatesAndJitterGiveTheSameAttitude() {
    var noise = Noise(seed: 9)
    var scene = Scene()
    var filter = ComplementaryFilter(.magneticNorth) { $0.magnetometerDelay = 0 }
    // Gyroscope 200 Hz with 20 % jitter, accelerometer 104 Hz, magnetometer 20 Hz, none at the same instants.
    var (t, nextForce, nextField) = (0.0, 0.0, 0.0)
    while t < 40 {
      let dt = 0.005 * (0.8 + 0.4 * noise.uniform())
      let rate = Vector3(1.2 * Elementary.sin(1.3 * t), 0.9 * Elementary.cos(0.8 * t), 0.5)
      // Samples between t and t + dt, in order of time.
      let end = t + dt
      while min(nextForce, nextField) <= end {
        let at = min(nextForce, nextField)
        var between = scene
        between.turn(rate, at - t)
        if nextForce <= nextField {
          _ = filter.feed(at, force: between.force + noise.vector(0.03))
          nextForce += 1.0 / 104
        } else {
          _ = filter.feed(at, field: between.seenField + noise.vector(0.3))
          nextField += 1.0 / 20
        }
      }
      scene.turn(rate, dt)
      t = end
      _ = filter.feed(t, rate: rate + noise.vector(0.002))
    }
    #expect(angle(filter.state.gravity, scene.force) < 0.5 * degree)
    #expect(angle(filter.state.attitude, scene.attitude) < 2 * degree)
    #expect(filter.state.headingSigma < 10 * degree)
  }

  @Test func spreadCorrectionsTakeSmallSteps() {
    var noise = Noise(seed: 21)
    var plain = ComplementaryFilter(.magneticNorth)
    var smooth = ComplementaryFilter(.magneticNorth) { $0.spreadsCorrections = true }
    var largest = (plain: 0.0, smooth: 0.0, apart: 0.0)
    var last = (plain: Quaternion.identity, smooth: Quaternion.identity)
    for step in 0..<2000 {
      let t = 0.01 * Double(step)
      let force = Vector3(0.5 * Elementary.sin(9 * t), 0, 9.8) + noise.vector(0.3)
      let field = Vector3(20, 3 * Elementary.sin(0.7 * t), -40) + noise.vector(1)
      _ = plain.feed(t, force: force, rate: .zero, field: field)
      _ = smooth.feed(t, force: force, rate: .zero, field: field)
      if step > 100 {
        largest.plain = max(largest.plain, angle(plain.state.attitude, last.plain))
        largest.smooth = max(largest.smooth, angle(smooth.state.attitude, last.smooth))
        largest.apart = max(largest.apart, angle(plain.state.attitude, smooth.state.attitude))
      }
      last = (plain.state.attitude, smooth.state.attitude)
    }
    #expect(largest.smooth < 0.25 * largest.plain)
    #expect(largest.apart < 2 * largest.plain)
  }

  @Test func outputLatencyPredictsTheAttitude() {
    var late = ComplementaryFilter(.arbitrary) { $0.outputLatency = 0.01 }
    var plain = ComplementaryFilter(.arbitrary)
    for step in 0..<100 {
      for run in 0..<2 {
        let t = 0.01 * Double(step)
        if run == 0 { _ = late.feed(t, force: Vector3(0, 0, 9.8), rate: Vector3(0, 0, 1)) }
        if run == 1 { _ = plain.feed(t, force: Vector3(0, 0, 9.8), rate: Vector3(0, 0, 1)) }
      }
    }
    #expect(abs(late.state.attitude.yaw - plain.state.attitude.yaw - 0.01) < 1e-4)
  }

  @Test func fixedGainsFollowWithTheirTimeConstants() {
    var filter = ComplementaryFilter(.magneticNorth) { $0.gains = .fixed(accelerometer: 2, magnetometer: 5) }
    for step in 0..<100 {
      _ = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: .zero, field: Vector3(20, 0, -40))
    }
    // The force now says 10°, and keeps saying so: 63 % of it after one time constant.
    let tilt = 10 * degree
    let force = Vector3(9.8 * Elementary.sin(tilt), 0, 9.8 * Elementary.cos(tilt))
    for step in 100..<300 {
      _ = filter.feed(0.01 * Double(step), force: force, rate: .zero, field: Vector3(20, 0, -40))
    }
    #expect(abs(angle(filter.state.gravity, Vector3(0, 0, 1)) - 6.3 * degree) < 0.4 * degree)
  }

  @Test func accelerometerSaturationDoesNotTurnTheAttitude() {
    var filter = ComplementaryFilter(.arbitrary) { $0.accelerometerRange = 2 * standardGravity }
    for step in 0..<200 { _ = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: .zero) }
    var clipped = 0
    for step in 200..<280 {
      let state = filter.feed(0.01 * Double(step), force: Vector3(2 * standardGravity, 0, 9.8), rate: .zero)
      if state?.flags.contains(.accelerometerClipped) == true { clipped += 1 }
    }
    #expect(clipped == 80)
    #expect(angle(filter.state.gravity, Vector3(0, 0, 1)) < 1 * degree)
  }

  @Test func absurdSamplesNeverPoisonTheFilter() {
    var noise = Noise(seed: 8)
    var filter = ComplementaryFilter(.magneticNorth)
    let absurd: [Float] = [0, -0.0, 1e-30, 1e30, -3.4e38, .nan, .infinity, 1e5, -9e4, 1e-12, 5]
    for step in 0..<20_000 {
      let time = Timestamp(nanoseconds: Int64(step) * 3_000_000)
      for kind in [SensorKind.accelerometer, .gyroscope, .magnetometer] {
        func pick() -> Float { absurd[Int(noise.uniform() * 11)] }
        _ = filter.update(SensorSample(time: time, kind: kind, x: pick(), y: pick(), z: pick()))
      }
      #expect(filter.state.isFinite, "step \(step)")
      if !filter.state.isFinite { return }
    }
    for step in 0..<6000 {
      _ = filter.feed(61 + 0.01 * Double(step), force: Vector3(0, 0, 9.8), rate: .zero, field: Vector3(20, 0, -40))
    }
    #expect(angle(filter.state.gravity, Vector3(0, 0, 1)) < 1 * degree)
  }
}
