import MotionKitLinux
import SensorFusion
import Testing

/// What the pipeline makes of a scene.
private struct Outcome {
  var motions: [MotionState] = []
  var steps: [Step] = []
  var altitudes: [AltitudeState] = []
}

/// Runs an unpaced scene through the pipeline in its default configuration with magnetic north.
private func run(_ source: SimulationSource, gyroscope: Bool = true) throws -> Outcome {
  var configuration = MotionPipeline.Configuration()
  configuration.filter.hasGyroscope = gyroscope
  configuration.filter.referenceFrame = .magneticNorth
  configuration.filter.magnetometerDelay = source.errors.magnetometer.delay
  var pipeline = MotionPipeline(configuration: configuration)
  var outcome = Outcome()
  for sample in try readAll(source, rates: SimulationSource.defaultRates) where gyroscope || sample.kind != .gyroscope {
    let outputs = pipeline.process(sample)
    if outputs.contains(.motion) { outcome.motions.append(pipeline.motion) }
    if outputs.contains(.steps) { outcome.steps += pipeline.newSteps }
    if outputs.contains(.altitude) { outcome.altitudes.append(pipeline.altitude) }
  }
  return outcome
}

private let degree = Double.pi / 180

@Suite("The pipeline on simulated scenes")
struct SimulationPipelineTests {
  @Test(
    "At rest in any attitude gravity is right to 0.1 degrees",
    arguments: ["pitch=0", "roll=180", "pitch=89", "yaw=77&roll=-100"])
  func gravityAtRest(attitude: String) throws {
    let source = try SimulationSource(uri: "sim:still?errors=none&duration=10&\(attitude)", pacing: .unpaced)
    for motion in try run(source).motions {
      let truth = source.scene.truth(at: 0).gravity
      let cosine = motion.gravity.dot(truth) / (motion.gravity.norm * truth.norm)
      #expect(cosine > Elementary.cos(0.1 * degree))
    }
  }

  @Test(
    "After a minute of turning the attitude is right to 0.05 degrees",
    arguments: ["axis=z", "axis=x", "axis=all&rate=60"])
  func rotation(settings: String) throws {
    let source = try SimulationSource(uri: "sim:rotate?errors=none&duration=62&\(settings)", pacing: .unpaced)
    let last = try #require(try run(source).motions.last)
    let truth = source.scene.truth(at: last.time.seconds(since: source.startTime))
    #expect(angle(last.attitude, truth.attitude) < 0.05 * degree)
  }

  @Test(
    "Fifty steps count as fifty, give or take one", arguments: ["held", "hand", "ear", "pocket", "lumbar"],
    ["none", "phone"])
  func fiftySteps(placement: String, errors: String) throws {
    let source = try SimulationSource(
      uri: "sim:walk?steps=50&placement=\(placement)&errors=\(errors)", pacing: .unpaced)
    let steps = try run(source).steps
    // The arm's first and last half swing may count in the hand.
    #expect(abs(steps.count - 50) <= (placement == "hand" ? 2 : 1))
    // Each of the others near a true one.
    let truth = source.scene.stepTimes(until: .infinity)
    for step in steps.dropFirst().dropLast() {
      let time = step.time.seconds(since: source.startTime)
      #expect(truth.contains { abs($0 - time) < 0.3 })
    }
  }

  @Test(
    "Every walk counts in every place, slow, fast, run, with short steps, up and down stairs",
    arguments: ["held", "hand", "ear", "pocket", "lumbar"],
    [
      "walk?steps=35&cadence=1.3&step_length=0.5", "walk?steps=50&cadence=2.2&step_length=0.8",
      "walk?steps=60&gait=run", "walk?steps=40&step_length=0.3", "stairs?floors=2", "stairs?floors=-2",
    ])
  func everyWalk(placement: String, walk: String) throws {
    let source = try SimulationSource(uri: "sim:\(walk)&placement=\(placement)", pacing: .unpaced)
    let truth = source.scene.stepTimes(until: .infinity).count
    let counted = try run(source).steps.count
    // On stairs the first step and the last landing are flat.
    #expect(abs(counted - truth) <= (walk.hasPrefix("stairs") ? 3 : 2), "\(counted) of \(truth)")
  }

  @Test(
    "An arm that swings or waves about a shoulder at rest does not walk",
    arguments: [
      "swing&frequency=0.8&turn=12", "swing&frequency=0.9&turn=25", "swing&frequency=1.1&turn=40&errors=mems",
      "wave&frequency=1.1&turn=35", "wave&frequency=1.4&turn=20&errors=mems",
    ])
  func standingArm(kind: String) throws {
    let source = try SimulationSource(uri: "sim:gesture?duration=60&kind=\(kind)", pacing: .unpaced)
    #expect(try run(source).steps.isEmpty)
  }

  @Test(
    "Without a gyroscope too, arms count that swing weakly, fast, or so that the stride or its third harmonic shows most",
    arguments: [
      "cadence=1.4&step_length=0.6&strength=0.64&swing=11&lean=4&lag=24&elbow=32&errors=phone",
      "cadence=2.2&step_length=0.8&strength=0.9&swing=16&lean=6&lag=20&elbow=40&errors=phone",
      "cadence=2.38&step_length=0.84&swing=30&arm=0.6&lean=17&lag=27&elbow=30&errors=mems",
      "cadence=1.21&step_length=0.55&asymmetry=0.3&swing=13&arm=0.68&lean=4&lag=15&elbow=34&variability=0.04&variant=87",
    ])
  func armsWithoutGyroscope(arm: String) throws {
    let source = try SimulationSource(uri: "sim:walk?placement=hand&steps=100&\(arm)", pacing: .unpaced)
    let counted = try run(source, gyroscope: false).steps.count
    #expect(abs(counted - 100) <= 8, "\(counted) of 100")
  }

  @Test("Who walks softly and evenly counts, with a gyroscope and without", arguments: [true, false])
  func softWalk(gyroscope: Bool) throws {
    let source = try SimulationSource(
      uri: "sim:walk?placement=held&steps=100&cadence=1.46&step_length=0.56&strength=0.61&errors=phone",
      pacing: .unpaced)
    let counted = try run(source, gyroscope: gyroscope).steps.count
    #expect(abs(counted - 100) <= 2, "\(counted) of 100")
  }

  @Test(
    "Without a gyroscope a hand that drums straight along gravity, and a bus, do not walk",
    arguments: [
      "gesture?kind=drum&frequency=1.44&amplitude=0.0084&turn=1.8&variability=0.08",
      "gesture?kind=drum&frequency=1.2&amplitude=0.0094&turn=1.4&variability=0.05",
      "drive?roughness=1.2&speed=31&variant=696063186",
    ])
  func noWalkWithoutGyroscope(scene: String) throws {
    let source = try SimulationSource(uri: "sim:\(scene)&duration=60", pacing: .unpaced)
    #expect(try run(source, gyroscope: false).steps.isEmpty)
  }

  @Test(
    "A bus on a bad road does not walk",
    arguments: [
      "roughness=2.173812&speed=69.066596&variant=614427158", "roughness=1.735166&speed=55.346545&variant=516375657",
      "roughness=1.53084&speed=48.550595&variant=351470134",
    ])
  func bus(road: String) throws {
    let uri = "sim:drive?duration=60&\(road)"
    let source = try SimulationSource(uri: uri, pacing: .unpaced)
    #expect(try run(source).steps.isEmpty)
  }

  @Test(
    "Doors a second before and after a ride hardly show", arguments: ["height=3", "height=-9", "height=12&speed=1.5"])
  func doors(ride: String) throws {
    let closed = try run(SimulationSource(uri: "sim:elevator?errors=none&wait=8&\(ride)", pacing: .unpaced))
    let doors = try run(SimulationSource(uri: "sim:elevator?errors=none&wait=8&door=0.02&\(ride)", pacing: .unpaced))
    // The pulse itself is 1.7 m high.
    for (a, b) in zip(closed.altitudes, doors.altitudes) {
      #expect(abs(a.relativeAltitude - b.relativeAltitude) < 0.45)
    }
  }

  @Test("A lift of 3 m is 3 m to 0.1", arguments: ["none", "phone"])
  func lift(errors: String) throws {
    let source = try SimulationSource(uri: "sim:elevator?errors=\(errors)", pacing: .unpaced)
    let altitudes = try run(source).altitudes
    #expect(try #require(altitudes.first).relativeAltitude == 0)
    #expect(abs(try #require(altitudes.last).relativeAltitude - 3) < 0.1)
  }

  @Test("Nothing that is not a walk counts as one", arguments: ["still", "rotate", "elevator", "drive"])
  func noSteps(scene: String) throws {
    let source = try SimulationSource(uri: "sim:\(scene)?duration=60", pacing: .unpaced)
    #expect(try run(source).steps.isEmpty)
  }
}
