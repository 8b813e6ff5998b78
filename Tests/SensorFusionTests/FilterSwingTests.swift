import Glibc
import SensorFusion
import Testing

/// A device on an arm that turns about a fixed axis after four seconds of rest: exact attitude, force and mean rate.
private struct Arm {
  /// Angle, rad, and its derivatives at a time, s.
  var motion: (Double) -> (angle: Double, rate: Double, change: Double)
  /// m.
  var radius = 0.8
  /// From the arm's axes (it turns about z) to the earth's.
  var plane = Quaternion(rotationVector: Vector3(0.9, 0.2, 0))
  /// From the device's axes to the arm's.
  var grip = Quaternion(rotationVector: Vector3(0.4, -0.7, 0.5))

  func attitude(at t: Double) -> Quaternion { (plane * Quaternion(yaw: motion(t).angle) * grip).normalized }

  func force(at t: Double) -> Vector3 {
    let m = motion(t)
    // Centripetal and tangential acceleration of a point on y.
    let acceleration = Vector3(-m.change * radius, -m.rate * m.rate * radius, 0)
    let earth = (plane * Quaternion(yaw: m.angle)).rotate(acceleration) + Vector3(0, 0, standardGravity)
    return attitude(at: t).inverseRotate(earth)
  }

  func meanRate(from a: Double, to b: Double) -> Vector3 {
    grip.inverseRotate(Vector3(0, 0, (motion(b).angle - motion(a).angle) / (b - a)))
  }
}

/// What a whirl or swing of a minute does to the tilt: error and stated sigma in degrees, over its second half.
private func tiltOfAMinute(
  _ arm: Arm, scaleError: Vector3 = .zero, forceOffset: Vector3 = .zero
) -> (rms: Double, sigma: Double) {
  var noise = Noise(seed: 21)
  var filter = ComplementaryFilter(.arbitrary)
  var squares = 0.0
  var variances = 0.0
  var count = 0.0
  for step in 1..<6000 {
    let t = 0.01 * Double(step)
    let rate = arm.meanRate(from: t - 0.01, to: t)
    let measured = rate + Vector3(rate.x * scaleError.x, rate.y * scaleError.y, rate.z * scaleError.z)
    let output = filter.feed(
      t, force: arm.force(at: t) + forceOffset + noise.vector(0.02), rate: measured + noise.vector(0.001))
    guard let state = output, t > 30 else { continue }
    let error = angle(state.gravity, arm.attitude(at: t).inverseRotate(Vector3(0, 0, 1)))
    squares += error * error
    variances += state.tiltSigma * state.tiltSigma
    count += 1
  }
  return ((squares / count).squareRoot() / degree, (variances / count).squareRoot() / degree)
}

/// Whirled at a steady rate (rad/s), after a second of getting going.
private func whirl(_ rate: Double) -> Arm {
  Arm { t in
    let u = min(1, max(0, t - 4))
    return (rate * (t < 5 ? u * u / 2 : t - 4.5), rate * u, t > 4 && t < 5 ? rate : 0)
  }
}

@Suite struct FilterSwingTests {
  /// 40 m/s², a turn a second. The centripetal force turns with the device and tells nothing of the tilt.
  @Test func aWhirlKeepsTheTilt() {
    let tilt = tiltOfAMinute(whirl(7))
    #expect(tilt.rms < 1)
  }

  /// An error of 0.8 % at 400°/s turns the attitude by 3°/s, as a bias would that is gone when the whirl ends.
  @Test func theGyroscopesScaleIsLearntInAWhirl() {
    let tilt = tiltOfAMinute(whirl(7), scaleError: Vector3(0.008, -0.006, 0.007))
    #expect(tilt.rms < 3)
    #expect(tilt.rms < 2 * tilt.sigma)
  }

  /// To and fro by 115° to either side of a slanting arm: up to 80 m/s², always towards the hand. Tilt errors, gains and
  /// the swing's own velocity, all of one frequency, must not add up to a pull.
  @Test func aSwingDoesNotPullTheTilt() {
    let tilt = tiltOfAMinute(
      Arm { t in
        let middle = 1.0
        guard t > 4 else { return (middle, 0, 0) }
        let (s, c) = (Glibc.sin(5 * (t - 4)), Glibc.cos(5 * (t - 4)))
        // It grows from nothing over the first second.
        let size = 2 * min(1, t - 4)
        let growth = t < 5 ? 2.0 : 0
        return (middle + size * s, size * 5 * c + growth * s, -size * 25 * s + growth * 10 * c)
      })
    #expect(tilt.rms < 2)
  }

  /// The tilt cannot be better than the accelerometer, and says so.
  @Test func anAccelerometersOffsetIsInTheStatedTilt() {
    let still = Arm { _ in (0, 0, 0) }
    // 20 mg each on two axes: about one stated sigma.
    let tilt = tiltOfAMinute(still, forceOffset: Vector3(0.2, -0.2, 0))
    #expect(tilt.rms > 1)
    #expect(tilt.rms < 2 * tilt.sigma)

    var known = ComplementaryFilter(.arbitrary) { $0.accelerometerOffsetSigma = 0.01 }
    for step in 0..<3000 {
      _ = known.feed(0.01 * Double(step), force: Vector3(0, 0, standardGravity), rate: .zero)
    }
    #expect(known.state.tiltSigma < 0.5 * degree)
  }
}
