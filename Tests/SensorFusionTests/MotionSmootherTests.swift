import SensorFusion
import Testing

@Suite struct MotionSmootherTests {
  /// A minute of handling that starts beside a magnet, with the truth at each gyroscope sample.
  private func recording(seed: UInt64) -> (samples: [SensorSample], truth: [Quaternion]) {
    var noise = Noise(seed: seed)
    var scene = Scene(attitude: Quaternion(yaw: 0.4))
    var samples: [SensorSample] = []
    var truth: [Quaternion] = []
    let bias = noise.vector(0.004)
    for step in 0..<6000 {
      let t = 0.01 * Double(step)
      let rate =
        t < 3 ? .zero : Vector3(Elementary.sin(t), 0.8 * Elementary.cos(0.7 * t), 0.5 * Elementary.sin(0.3 * t))
      if step > 0 { scene.turn(rate, 0.01) }
      let magnet = t < 10 ? Vector3(-6, 18, 10) : .zero
      let time = Timestamp(seconds: t)
      func add(_ kind: SensorKind, _ v: Vector3) {
        samples.append(SensorSample(time: time, kind: kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
      }
      add(.accelerometer, scene.force + noise.vector(0.4))
      add(.gyroscope, rate + bias + noise.vector(0.003))
      add(.magnetometer, scene.attitude.inverseRotate(scene.field + magnet) + noise.vector(0.5))
      truth.append(scene.attitude)
    }
    return (samples, truth)
  }

  private func meanSquare(_ states: [MotionState], _ truth: [Quaternion]) -> Double {
    let offset = truth.count - states.count
    var sum = 0.0
    for (index, state) in states.enumerated() {
      let error = angle(state.attitude, truth[index + offset])
      sum += error * error
    }
    return sum / Double(states.count)
  }

  @Test(arguments: [UInt64(1), 2, 3]) func smoothingIsBetterThanTheCausalFilter(seed: UInt64) {
    let (samples, truth) = recording(seed: seed)
    var configuration = ComplementaryFilter.Configuration()
    configuration.referenceFrame = .magneticNorth
    configuration.magnetometerDelay = 0
    var filter = ComplementaryFilter(configuration: configuration)
    var causal: [MotionState] = []
    for sample in samples where filter.update(sample) { causal.append(filter.state) }
    let smooth = MotionSmoother(configuration: configuration).smooth(samples)
    // Every gyroscope sample has a state, the first included.
    #expect(smooth.count == truth.count)
    #expect(smooth.allSatisfy { $0.isFinite })
    let (causalError, smoothError) = (meanSquare(causal, truth), meanSquare(smooth, truth))
    #expect(smoothError < 0.25 * causalError)
    #expect(smoothError.squareRoot() < 3 * degree)
    for state in smooth {
      #expect((state.gravity.norm - standardGravity).magnitude < 1e-9)
      if (state.gravity.norm - standardGravity).magnitude >= 1e-9 { return }
    }
  }

  @Test func withoutAMagnetometerYawStartsAtZero() throws {
    let (all, truth) = recording(seed: 4)
    let samples = all.filter { $0.kind != .magnetometer }
    let states = MotionSmoother().smooth(samples)
    #expect(states.count == truth.count)
    #expect(abs(try #require(states.first).attitude.yaw) < 1e-9)
    let turn = try #require(truth.first).conjugate
    let last = try #require(states.last)
    let start = try #require(states.first)
    // Turned as a whole, tilt included, within the drift of a minute.
    let moved = start.attitude.conjugate * last.attitude
    #expect(angle(moved, turn * (try #require(truth.last))) < 2 * degree)
  }

  @Test func theSameRecordingGivesTheSameBits() {
    let (samples, _) = recording(seed: 5)
    #expect(MotionSmoother().smooth(samples) == MotionSmoother().smooth(samples))
  }

  @Test func emptyAndGyroscopeOnlyRecordingsGiveNothing() {
    #expect(MotionSmoother().smooth([]).isEmpty)
    let rates = (0..<100).map {
      SensorSample(time: Timestamp(nanoseconds: Int64($0) * 10_000_000), kind: .gyroscope, x: 0, y: 0, z: 1)
    }
    #expect(MotionSmoother().smooth(rates).isEmpty)
  }

  @Test func anAccelerometerAloneIsSmoothedToo() {
    var configuration = ComplementaryFilter.Configuration()
    configuration.hasGyroscope = false
    let forces = (0..<300).map {
      SensorSample(time: Timestamp(nanoseconds: Int64($0) * 10_000_000), kind: .accelerometer, x: 0, y: 4.9, z: 8.49)
    }
    let states = MotionSmoother(configuration: configuration).smooth(forces)
    #expect(states.count == 300)
    for state in states {
      #expect(angle(state.gravity, Vector3(0, 4.9, 8.49)) < 0.01 * degree)
      #expect(state.flags.contains(.noGyroscope))
    }
  }
}
