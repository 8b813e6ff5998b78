import CoreMotion
import MotionKitLinux
import MotionTestSupport
import SensorFusion
import Testing

/// The formulae of Core Motion, written out once more from its documentation: q rotates device vectors into the
/// reference frame; the matrix is the transpose of q's; q = qz(yaw) qx(pitch) qy(roll).
struct Formulae {
  let q: CMQuaternion
  var m11: Double { 1 - 2 * (q.y * q.y + q.z * q.z) }
  var m12: Double { 2 * (q.x * q.y + q.z * q.w) }
  var m13: Double { 2 * (q.x * q.z - q.y * q.w) }
  var m21: Double { 2 * (q.x * q.y - q.z * q.w) }
  var m22: Double { 1 - 2 * (q.x * q.x + q.z * q.z) }
  var m23: Double { 2 * (q.y * q.z + q.x * q.w) }
  var m31: Double { 2 * (q.x * q.z + q.y * q.w) }
  var m32: Double { 2 * (q.y * q.z - q.x * q.w) }
  var m33: Double { 1 - 2 * (q.x * q.x + q.y * q.y) }
}

private func quaternion(yaw: Double, pitch: Double, roll: Double) -> CMQuaternion {
  let z = Quaternion(w: cos(yaw / 2), x: 0, y: 0, z: sin(yaw / 2))
  let x = Quaternion(w: cos(pitch / 2), x: sin(pitch / 2), y: 0, z: 0)
  let y = Quaternion(w: cos(roll / 2), x: 0, y: sin(roll / 2), z: 0)
  let q = z * x * y
  return CMQuaternion(x: q.x, y: q.y, z: q.z, w: q.w)
}

func matches(_ a: CMRotationMatrix, _ b: Formulae, _ tolerance: Double = 1e-12) -> Bool {
  let pairs = [
    (a.m11, b.m11), (a.m12, b.m12), (a.m13, b.m13), (a.m21, b.m21), (a.m22, b.m22), (a.m23, b.m23), (a.m31, b.m31),
    (a.m32, b.m32), (a.m33, b.m33),
  ]
  return pairs.allSatisfy { abs($0 - $1) < tolerance }
}

func angle(_ a: Double, _ b: Double) -> Double { abs(atan2(sin(a - b), cos(a - b))) }

@Suite struct MathematicsTests {
  @Test func threeFormsOfAnAttitudeAgreeEverywhere() {
    for yaw in stride(from: -3.1, through: 3.1, by: 0.62) {
      for pitch in stride(from: -1.5, through: 1.5, by: 0.5) {
        for roll in stride(from: -3.1, through: 3.1, by: 0.62) {
          let attitude = CMAttitude(quaternion: quaternion(yaw: yaw, pitch: pitch, roll: roll))
          #expect(angle(attitude.yaw, yaw) < 1e-9)
          #expect(angle(attitude.pitch, pitch) < 1e-9)
          #expect(angle(attitude.roll, roll) < 1e-9)
          #expect(matches(attitude.rotationMatrix, Formulae(q: attitude.quaternion)))
        }
      }
    }
  }

  @Test(arguments: [1.0, -1.0]) func atThePoleRollIsZeroAndYawTakesTheWholeRotation(sign: Double) {
    for yaw in stride(from: -3.0, through: 3.0, by: 0.5) {
      for roll in stride(from: -3.0, through: 3.0, by: 0.5) {
        let attitude = CMAttitude(quaternion: quaternion(yaw: yaw, pitch: sign * .pi / 2, roll: roll))
        #expect(attitude.roll == 0)
        #expect(abs(attitude.pitch - sign * .pi / 2) < 1e-7)
        let again = Formulae(q: quaternion(yaw: attitude.yaw, pitch: attitude.pitch, roll: attitude.roll))
        #expect(matches(attitude.rotationMatrix, again, 1e-6))
      }
    }
  }

  @Test func multiplyByInverseGivesTheChangeInTheReferencesAxes() throws {
    let reference = CMAttitude(quaternion: quaternion(yaw: 0.4, pitch: 0.9, roll: -0.3))
    let now = CMAttitude(quaternion: quaternion(yaw: 1.4, pitch: -0.2, roll: 0.8))
    let change = try #require(now.copy() as? CMAttitude)
    change.multiply(byInverseOf: reference)
    // q = ref^-1 q, so M(q) M(ref)^T is the change's matrix.
    let m = now.rotationMatrix
    let r = reference.rotationMatrix
    #expect(abs(change.rotationMatrix.m12 - (m.m11 * r.m21 + m.m12 * r.m22 + m.m13 * r.m23)) < 1e-12)
    #expect(abs(change.rotationMatrix.m31 - (m.m31 * r.m11 + m.m32 * r.m12 + m.m33 * r.m13)) < 1e-12)
    // The mug: tilted, then turned by 90 degrees about the vertical, all three angles change.
    let mug = CMAttitude(quaternion: quaternion(yaw: .pi / 2, pitch: .pi / 4, roll: 0))
    mug.multiply(byInverseOf: CMAttitude(quaternion: quaternion(yaw: 0, pitch: .pi / 4, roll: 0)))
    #expect(min(abs(mug.yaw), abs(mug.pitch), abs(mug.roll)) > 0.2)
    // Itself: nothing is left.
    now.multiply(byInverseOf: try #require(now.copy() as? CMAttitude))
    #expect(abs(now.quaternion.w - 1) < 1e-12)
  }

  @Test func attitudesAreValues() throws {
    let a = CMAttitude(quaternion: quaternion(yaw: 0.4, pitch: 0.9, roll: -0.3))
    let b = try #require(a.copy() as? CMAttitude)
    #expect(a == b && a.hash == b.hash && a !== b)
    b.multiply(byInverseOf: CMAttitude(quaternion: quaternion(yaw: 1, pitch: 0, roll: 0)))
    #expect(a != b)
    #expect(CMAttitude().pitch == 0 && CMAttitude().quaternion.w == 1)
  }

  @Test func aSceneOfKnownTruthIsSeenRight() async throws {
    let source = try SimulationSource(uri: "sim:rotate?duration=20&errors=none", pacing: .unpaced)
    let log = Log<CMDeviceMotion>()
    try await MotionReplay.run(source) {
      let manager = CMMotionManager()
      manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical, to: OperationQueue()) { log.add($0, $1) }
      return manager
    }
    for motion in log.values.dropFirst(200) {
      let truth = source.scene.truth(at: motion.timestamp - source.startTime.seconds)
      let gravity = coreMotionAcceleration(fromSpecificForce: truth.gravity)
      let g = motion.gravity
      // Within 0.1 degrees and 0.002 rad/s.
      #expect((Vector3(g.x, g.y, g.z) - gravity).norm < 0.1 * .pi / 180)
      // A sample of 100 Hz is the mean rate of the 10 ms before it.
      let middle = source.scene.truth(at: motion.timestamp - source.startTime.seconds - 0.005)
      let w = motion.rotationRate
      #expect((Vector3(w.x, w.y, w.z) - middle.rotationRate).norm < 2e-3)
    }
  }

  @Test func sixPosesReadAsOnAPhone() async throws {
    let g = standardGravity
    let poses: [(force: Vector3, expected: (Double, Double, Double))] = [
      (Vector3(0, 0, g), (0, 0, -1)), (Vector3(0, 0, -g), (0, 0, 1)), (Vector3(0, g, 0), (0, -1, 0)),
      (Vector3(0, -g, 0), (0, 1, 0)), (Vector3(-g, 0, 0), (1, 0, 0)), (Vector3(g, 0, 0), (-1, 0, 0)),
    ]
    for pose in poses {
      let raw = Log<CMAccelerometerData>()
      let motion = Log<CMDeviceMotion>()
      let source = ScriptedSource(seconds: 3, rate: 100) { _ in [.accelerometer: pose.force, .gyroscope: .zero] }
      try await MotionReplay.run(source) {
        let manager = CMMotionManager()
        manager.startAccelerometerUpdates(to: .main) { raw.add($0, $1) }
        manager.startDeviceMotionUpdates(to: .main) { motion.add($0, $1) }
        return manager
      }
      let a = try #require(raw.values.last).acceleration
      let gravity = try #require(motion.values.last).gravity
      for (value, expected) in [
        (a.x, pose.expected.0), (a.y, pose.expected.1), (a.z, pose.expected.2), (gravity.x, pose.expected.0),
        (gravity.y, pose.expected.1), (gravity.z, pose.expected.2),
      ] {
        #expect(abs(value - expected) < 1e-3)
      }
    }
  }

  @Test func pushingToTheRightReadsNegativeUserAccelerationAsOnAPhone() async throws {
    let log = Log<CMDeviceMotion>()
    // Flat and still for 5 s, then pushed to +x with 2 m/s² for 0.2 s.
    let source = ScriptedSource(seconds: 5.2, rate: 100) { t in
      [.accelerometer: Vector3(t >= 5 ? 2 : 0, 0, standardGravity), .gyroscope: .zero]
    }
    try await MotionReplay.run(source) {
      let manager = CMMotionManager()
      manager.startDeviceMotionUpdates(to: .main) { log.add($0, $1) }
      return manager
    }
    #expect(abs(try #require(log.values.last).userAcceleration.x + 0.204) < 0.01)
  }
}
