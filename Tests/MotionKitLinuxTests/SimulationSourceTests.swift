import CAllocationCounter
import MotionKitLinux
import SensorFusion
import Testing

@Suite("Simulation source")
struct SimulationSourceTests {
  @Test("Samples come at exact times, in order, each sensor at its rate")
  func exactRates() throws {
    let samples = try simulate(
      "sim:rotate?duration=10&errors=none",
      rates: [.accelerometer: 100, .gyroscope: 333, .magnetometer: 12.5, .barometer: 25])
    for (kind, rate) in [
      (SensorKind.accelerometer, 100.0), (.gyroscope, 333), (.magnetometer, 12.5), (.barometer, 25),
    ] {
      let times = samples.filter { $0.kind == kind }.map(\.time.nanoseconds)
      #expect(times.count == Int(rate * 10))
      let exact: [Int64] = times.indices.map { index in
        let offset: Double = (Double(index) * 1e9 / rate).rounded()
        return 1_000_000_000_000 + Int64(offset)
      }
      #expect(times == exact)
    }
    for (earlier, later) in zip(samples, samples.dropFirst()) {
      #expect((earlier.time, earlier.kind) < (later.time, later.kind))
    }
  }

  @Test("Without errors every sample is the truth, rounded to a float")
  func idealSamplesAreTruth() throws {
    let source = try SimulationSource(
      uri: "sim:walk?steps=10&placement=hand&errors=none&gyro_average=0", pacing: .unpaced)
    for sample in try readAll(source, rates: SimulationSource.defaultRates) {
      let truth = source.scene.truth(at: Double(sample.time.nanoseconds - source.startTime.nanoseconds) / 1e9)
      let value: Vector3
      switch sample.kind {
      case .accelerometer: value = truth.specificForce
      case .gyroscope: value = truth.rotationRate
      case .magnetometer: value = truth.magneticField
      default: value = Vector3(truth.pressure, 22, 0)
      }
      #expect(sample.x == Float(value.x) && sample.y == Float(value.y) && sample.z == Float(value.z))
    }
  }

  @Test(
    "Adding up a gyroscope's samples gives the attitude",
    arguments: ["walk?placement=hand", "rotate?axis=all&rate=300"])
  func gyroscopeAddsUp(scene: String) throws {
    let separator = scene.contains("?") ? "&" : "?"
    let source = try SimulationSource(uri: "sim:\(scene)\(separator)errors=none&duration=20", pacing: .unpaced)
    var q = source.scene.truth(at: 0).attitude
    for sample in try readAll(source, rates: [.gyroscope: 100]).dropFirst() {
      let turn = sample.vector * 0.01
      let half = turn.norm / 2
      let sinc = half > 1e-12 ? Elementary.sin(half) / (2 * half) : 0.5
      q = q * Quaternion(w: Elementary.cos(half), x: turn.x * sinc, y: turn.y * sinc, z: turn.z * sinc)
      let truth = source.scene.truth(at: sample.time.seconds(since: source.startTime))
      // What is left is the rounding of samples to 32 bits.
      #expect(angle(q, truth.attitude) < 2e-6)
    }
  }

  @Test("The same seed gives the same bits, another seed others, and a sensor's values do not hang on the others")
  func determinism() throws {
    let uri = "sim:walk?steps=20&errors=mems&accel_drop=0.1&seed="
    let first = try simulate(uri + "7")
    let again = try simulate(uri + "7")
    #expect(first == again)
    let other = try simulate(uri + "8")
    #expect(first != other)
    let alone = try simulate(uri + "7", rates: [.gyroscope: 100])
    #expect(alone == first.filter { $0.kind == .gyroscope })
  }

  @Test("An unknown scene is answered with the list of scenes")
  func unknownScene() {
    #expect {
      try openSource("sim:flying")
    } throws: { error in
      guard case .notFound(let what, let hint)? = error as? MotionKitError else { return false }
      return what.contains("flying") && SimulatedScene.catalogue.allSatisfy { hint.contains("sim:\($0.name)") }
    }
  }

  @Test("An unknown key is answered with the list of keys, a bad value with what it takes")
  func unknownKeyAndBadValue() {
    #expect {
      try openSource("sim:walk?cadense=2")
    } throws: { error in
      guard case .notFound(let what, let hint)? = error as? MotionKitError else { return false }
      return what.contains("cadense") && hint.contains("cadence") && hint.contains("gyro_bias")
        && hint.contains("seed") && hint.contains("field")
    }
    for uri in [
      "sim:walk?cadence=fast", "sim:walk?cadence=-1", "sim:walk?placement=hat", "sim:rotate?rate=1,2",
      "sim:still?seed=x",
      "sim:walk?steps=1.5", "sim:still?sensors=nose", "sim:still?duration=nan", "sim:still?gyro_bias=1,2,x",
      "sim:stairs?floors=0", "sim:still?errors=some",
    ] {
      #expect {
        try openSource(uri)
      } throws: { error in
        guard case .invalidSource(let named, let reason)? = error as? MotionKitError else { return false }
        return named.hasPrefix("sim:") && reason.contains("=")
      }
    }
  }

  @Test("Every scene of the catalogue opens and gives finite samples")
  func everySceneRuns() throws {
    for entry in SimulatedScene.catalogue {
      let samples = try simulate("sim:\(entry.name)?duration=3&errors=mems")
      #expect(samples.count > 800)
      #expect(samples.allSatisfy { $0.x.isFinite && $0.y.isFinite && $0.z.isFinite })
    }
  }

  @Test("Only what is asked for comes; what is missing and required is an error that says so")
  func requests() throws {
    let samples = try simulate("sim:still?duration=1", rates: [.barometer: 0])
    #expect(samples.count == 25 && samples.allSatisfy { $0.kind == .barometer })
    let source = try SimulationSource(uri: "sim:still?sensors=accel", pacing: .unpaced)
    #expect(source.description.sensors.map(\.kind) == [.accelerometer])
    #expect(throws: MotionKitError.self) {
      try source.start(SensorRequest(rates: [.accelerometer: 10, .gyroscope: 10], required: [.gyroscope]))
    }
    #expect(throws: MotionKitError.self) { try source.start(SensorRequest(rates: [.gyroscope: 10])) }
    #expect(throws: MotionKitError.self) { try source.start(SensorRequest(rates: [.accelerometer: -1])) }
    let started = try source.start(SensorRequest(rates: [.accelerometer: 10, .gyroscope: 10]))
    #expect(started.sensors.map(\.rate) == [10])
  }

  @Test("Paced, samples come when they are due and never before")
  func pacing() throws {
    let clock = JumpingClock()
    let begin = clock.nanoseconds
    let source = try SimulationSource(uri: "sim:still?duration=2&errors=none", pacing: .speed(4), clock: clock)
    let started = try source.start(SensorRequest(rates: [.accelerometer: 100]))
    #expect(started.anchors == [ClockAnchor(time: source.startTime, utcNanoseconds: clock.utcNanoseconds)])
    var batch = SampleBatch()
    var count = 0
    while try source.read(into: &batch, timeout: 1) != .end {
      for sample in batch.samples {
        let due = begin + (sample.time.nanoseconds - source.startTime.nanoseconds) / 4
        #expect(clock.nanoseconds >= due && clock.nanoseconds - due < 10)
        count += 1
      }
    }
    #expect(count == 200)
    #expect(clock.nanoseconds - begin == 1_990_000_000 / 4)
  }

  @Test("A reader that comes late gets all that was due at once; one that asks early gets a timeout")
  func lateAndEarlyReaders() throws {
    let clock = JumpingClock()
    let source = try SimulationSource(uri: "sim:still", pacing: .speed(1), clock: clock)
    _ = try source.start(SensorRequest(rates: [.accelerometer: 10]))
    clock.advance(seconds: 1.95)
    var batch = SampleBatch()
    #expect(try source.read(into: &batch, timeout: 1) == .data)
    #expect(batch.samples.count == 20)
    #expect(try source.read(into: &batch, timeout: 0.02) == .timeout)
    #expect(batch.samples.isEmpty)
    #expect(try source.read(into: &batch, timeout: 1) == .data)
    #expect(batch.samples.count == 1)
  }

  @Test("A stop ends the stream, interrupts the wait and can come twice")
  func stopEndsTheStream() throws {
    let clock = JumpingClock()
    let source = try SimulationSource(uri: "sim:still", pacing: .speed(1), clock: clock)
    _ = try source.start(SensorRequest(rates: [.accelerometer: 10]))
    source.stop()
    source.stop()
    var batch = SampleBatch()
    #expect(try source.read(into: &batch, timeout: 1000) == .end)
    #expect(clock.wasInterrupted)
    #expect(throws: MotionKitError.self) { try source.start(SensorRequest(rates: [.accelerometer: 10])) }
  }

  @Test("A pace that is not a positive number is refused", arguments: [0, -1, Double.nan, .infinity])
  func badPace(factor: Double) {
    #expect(throws: MotionKitError.self) { try openSource("sim:still", pacing: .speed(factor)) }
  }

  @Test("A batch stays small however long the scene")
  func boundedBatches() throws {
    let source = try openSource("sim:still", pacing: .unpaced)
    _ = try source.start(SensorRequest(rates: [.accelerometer: 1000]))
    var batch = SampleBatch()
    for _ in 0..<50 {
      #expect(try source.read(into: &batch, timeout: 0) == .data)
      #expect(batch.samples.count <= 512)
    }
  }

  @Test(
    "Generating samples allocates nothing", .enabled(if: allocation_count() >= 0),
    arguments: [
      "walk?placement=hand&errors=mems", "motion?accel_bandwidth=50", "drive?disturbance=20&wander=1", "stairs",
    ])
  func allocatesNothing(scene: String) throws {
    let source = try SimulationSource(uri: "sim:" + scene, pacing: .unpaced)
    _ = try source.start(SensorRequest(rates: SimulationSource.defaultRates))
    var batch = SampleBatch()
    _ = try source.read(into: &batch, timeout: 0)
    var allocations = 0
    for _ in 0..<5 {
      let before = allocation_count()
      _ = try source.read(into: &batch, timeout: 0)
      allocations += allocation_count() - before
    }
    // A few a batch of 512 samples in a debug build; none that grows with the samples.
    #expect(allocations <= 5 * 4)
  }
}

@Suite("Sessions of recordings/")
struct RecordedScenesTests {
  /// As recordings/make makes them.
  private static let sessions: [(name: String, uri: String, rates: [SensorKind: Double])] = [
    ("still", "sim:still?pitch=30&roll=20&duration=10", slow),
    ("rotate", "sim:rotate?axis=all&rate=90&duration=8", fast),
    ("walk", "sim:walk?steps=20&hold=2&seed=7", fast),
    ("stairs", "sim:stairs?floors=1&hold=2", slow),
    (
      "elevator", "sim:elevator?wait=3&door=0.02",
      [.accelerometer: 25, .gyroscope: 25, .magnetometer: 12.5, .barometer: 25]
    ),
  ]
  private static let slow: [SensorKind: Double] = [
    .accelerometer: 25, .gyroscope: 25, .magnetometer: 12.5, .barometer: 10,
  ]
  private static let fast: [SensorKind: Double] = [
    .accelerometer: 50, .gyroscope: 50, .magnetometer: 25, .barometer: 10,
  ]

  @Test("A session holds, to the bit, what its scene gives today", arguments: 0..<5)
  func sessionsAreReproducible(index: Int) throws {
    let session = Self.sessions[index]
    // This file lies in Tests/MotionKitLinuxTests of the checkout.
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let recorded = try readAll(
      try openSource("file:/\(root)/recordings/\(session.name)", pacing: .unpaced), rates: session.rates)
    let simulated = try simulate(session.uri, rates: session.rates)
    #expect(!simulated.isEmpty && recorded == simulated)
  }

  /// A change of the pipeline's outputs asks for `recordings/make`; the one from the lab is remade by a replay into it.
  @Test(
    "What a session holds is what the pipeline computes today",
    arguments: ["still", "rotate", "walk", "stairs", "elevator", "lab"])
  func sessionsAreComputedByTodaysPipeline(name: String) throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let result = try verifySession("/\(root)/recordings/\(name)")
    #expect(result.difference == nil, "\(String(describing: result.difference))")
  }
}
