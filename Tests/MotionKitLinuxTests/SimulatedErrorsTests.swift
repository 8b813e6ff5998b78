import MotionKitLinux
import SensorFusion
import Testing

/// Mean and standard deviation.
private func statistics(_ values: [Double]) -> (mean: Double, deviation: Double) {
  let mean = values.reduce(0, +) / Double(values.count)
  let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - 1)
  return (mean, variance.squareRoot())
}

/// The values of a still device, upside up: any deviation from (0, 0, 9.80665) is an error.
private func still(_ settings: String, _ kind: SensorKind, rate: Double = 100, seconds: Int = 100) throws
  -> [SensorSample]
{
  try simulate("sim:still?errors=none&duration=\(seconds)&\(settings)", rates: [kind: rate])
}

@Suite("Simulated sensor errors")
struct SimulatedErrorsTests {
  @Test("White noise has the density that was asked for, at any rate", arguments: [50.0, 400])
  func whiteNoise(rate: Double) throws {
    let samples = try still("gyro_noise=0.01", .gyroscope, rate: rate)
    for axis in [samples.map(\.x), samples.map(\.y), samples.map(\.z)] {
      let (mean, deviation) = statistics(axis.map(Double.init))
      let wanted = 0.01 * Double.pi / 180 * (rate / 2).squareRoot()
      #expect(abs(deviation / wanted - 1) < 0.05)
      #expect(abs(mean) < 4 * wanted / Double(samples.count).squareRoot())
    }
    // White: neighbours are not alike.
    let x = samples.map { Double($0.x) }
    let product = zip(x, x.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 } / x.reduce(0) { $0 + $1 * $1 }
    #expect(abs(product) < 0.06)
  }

  @Test("Constant offsets, hard iron and scale do what they say")
  func offsets() throws {
    let accelerometer = try #require(try still("accel_bias=0.1,-0.2,0.3", .accelerometer, seconds: 1).first)
    #expect(accelerometer.x == 0.1 && accelerometer.y == -0.2 && accelerometer.z == Float(standardGravity + 0.3))
    let gyroscope = try #require(try still("gyro_bias=1", .gyroscope, seconds: 1).first)
    #expect(gyroscope.x == Float(Double.pi / 180) && gyroscope.x == gyroscope.z)
    let scaled = try #require(try still("accel_scale=0,0,0.01", .accelerometer, seconds: 1).first)
    #expect(scaled.z == Float(standardGravity * 1.01) && scaled.x == 0)
    let clean = try #require(try still("", .magnetometer, seconds: 1).first)
    let iron = try #require(try still("mag_bias=20,0,-5", .magnetometer, seconds: 1).first)
    #expect(abs((iron.vector - clean.vector - Vector3(20, 0, -5)).norm) < 1e-5)
  }

  @Test("Random constants differ by seed and axis, and have the spread that was asked for")
  func randomConstants() throws {
    let values = try (1...300).flatMap { seed in
      let sample = try #require(
        try still("accel_bias_sigma=0.2&seed=\(seed)", .accelerometer, rate: 1, seconds: 1).first)
      return [Double(sample.x), Double(sample.y), Double(sample.z) - standardGravity]
    }
    let (mean, deviation) = statistics(values)
    #expect(abs(mean) < 0.03 && abs(deviation / 0.2 - 1) < 0.1)
    let lean = try (1...300).map { seed in
      Double(try #require(try still("accel_misalignment=1&seed=\(seed)", .accelerometer, rate: 1, seconds: 1).first).x)
    }
    #expect(abs(statistics(lean).deviation / (standardGravity * Double.pi / 180) - 1) < 0.2)
    let soft = try (1...300).map { seed in
      try #require(try still("mag_soft=0.05&seed=\(seed)", .magnetometer, rate: 1, seconds: 1).first).vector.norm
    }
    #expect(statistics(soft).deviation > 1 && statistics(soft).deviation < 5)
  }

  @Test("The bias walks as far as the square root of time")
  func biasWalk() throws {
    let ends = try (1...200).map { seed in
      Double(try #require(try still("accel_walk=0.01&seed=\(seed)", .accelerometer, rate: 10, seconds: 100).last).x)
    }
    #expect(abs(statistics(ends).deviation / (0.01 * 10) - 1) < 0.2)
  }

  @Test("Quantisation and range")
  func quantisationAndRange() throws {
    let coarse = try still("accel_noise=0.05&accel_resolution=0.25", .accelerometer)
    #expect(coarse.allSatisfy { ($0.z / 0.25).rounded() == $0.z / 0.25 })
    #expect(Set(coarse.map(\.z)).count > 1)
    let clipped = try simulate(
      "sim:rotate?rate=400&duration=5&errors=none&gyro_range=300", rates: [.gyroscope: 100])
    #expect(clipped.map(\.z).max() == Float(300 * Double.pi / 180))
  }

  @Test("Dropped samples are missing in the number asked for, and counted")
  func dropped() throws {
    let source = try SimulationSource(uri: "sim:still?errors=none&duration=100&accel_drop=0.2", pacing: .unpaced)
    let count = try readAll(source, rates: [.accelerometer: 100]).count
    #expect(abs(count - 8000) < 200)
    #expect(Int(source.droppedSampleCount) == 10_000 - count)
  }

  @Test("Jitter moves the time stamps by what was asked for, and keeps their order")
  func jitter() throws {
    let samples = try still("accel_jitter=0.001", .accelerometer)
    let errors = samples.enumerated().map { Double($1.time.nanoseconds - 1_000_000_000_000) / 1e9 - Double($0) / 100 }
    let (mean, deviation) = statistics(errors)
    #expect(abs(mean) < 1e-4 && abs(deviation / 0.001 - 1) < 0.05)
    let wild = try still("accel_jitter=0.1", .accelerometer)
    #expect(zip(wild, wild.dropFirst()).allSatisfy { $0.time < $1.time })
  }

  @Test("Temperature moves the offset as the part warms up")
  func temperature() throws {
    let samples = try still("heating=10&gyro_tempco=0.1", .gyroscope, rate: 1, seconds: 1800)
    let degrees = samples.map { Double($0.x) * 180 / Double.pi }
    #expect(degrees[0] == 0)
    // After the time constant of 300 s, 63.2 % of 10 K at 0.1 °/s/K.
    #expect(abs(degrees[300] - 0.632) < 0.001)
    #expect(abs(try #require(degrees.last) - 1) < 0.003)
    let barometer = try still("heating=10&temperature=15", .barometer, rate: 1, seconds: 1800)
    #expect(barometer[0].y == 15)
    #expect(abs(try #require(barometer.last).y - 25) < 0.05)
  }

  @Test("A delayed value is an earlier truth; a low-pass lets slow motion through and stops fast")
  func delayAndBandwidth() throws {
    let source = try SimulationSource(uri: "sim:shake?errors=none&duration=6&accel_delay=0.02", pacing: .unpaced)
    for sample in try readAll(source, rates: [.accelerometer: 100]) {
      let truth = source.scene.truth(at: sample.time.seconds(since: source.startTime) - 0.02)
      #expect((sample.vector - truth.specificForce).norm < 1e-5)
    }
    func peak(_ bandwidth: String) throws -> Float {
      let samples = try simulate(
        "sim:shake?errors=none&duration=6&frequency=10&\(bandwidth)", rates: [.accelerometer: 200])
      return samples.map { abs($0.x) }.max() ?? 0
    }
    let open = try peak("")
    // A second-order Butterworth filter passes 1/sqrt(2) at its corner, 1/sqrt(17) an octave above it.
    #expect(try abs(peak("accel_bandwidth=10") / open - 0.707) < 0.05)
    #expect(try abs(peak("accel_bandwidth=5") / open - 0.243) < 0.05)
    #expect(try abs(peak("accel_bandwidth=200") / open - 1) < 0.05)
  }

  @Test("The presets are ordered: none is exact, phone is close, mems is worse")
  func presets() throws {
    func error(_ preset: String) throws -> Double {
      let samples = try simulate("sim:still?duration=10&errors=\(preset)", rates: [.accelerometer: 100])
      return samples.reduce(0) { $0 + ($1.vector - Vector3(0, 0, standardGravity)).norm } / Double(samples.count)
    }
    let errors = (try error("none"), try error("phone"), try error("mems"))
    #expect(errors.0 < 1e-6 && errors.1 > 0.001 && errors.1 < 0.15 && errors.2 > errors.1 && errors.2 < 1.5)
  }

  @Test("A chip's step counter counts the true steps")
  func stepCounter() throws {
    let source = try SimulationSource(uri: "sim:walk?steps=20&sensors=accel,steps", pacing: .unpaced)
    let counts = try readAll(source, rates: [.stepCounter: 5]).map(\.x)
    #expect(counts.first == 0 && counts.last == 20)
    #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 <= $1 && $1 <= $0 + 1 })
  }
}
