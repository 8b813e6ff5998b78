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
private func run(_ source: SimulationSource) throws -> Outcome {
  var configuration = MotionPipeline.Configuration()
  configuration.filter.referenceFrame = .magneticNorth
  configuration.filter.magnetometerDelay = source.errors.magnetometer.delay
  var pipeline = MotionPipeline(configuration: configuration)
  var outcome = Outcome()
  for sample in try readAll(source, rates: SimulationSource.defaultRates) {
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
    "A hundred steps count as a hundred, give or take one", arguments: ["held", "hand", "ear", "pocket", "lumbar"],
    ["none", "phone"])
  func hundredSteps(placement: String, errors: String) throws {
    let source = try SimulationSource(
      uri: "sim:walk?steps=100&placement=\(placement)&errors=\(errors)", pacing: .unpaced)
    let steps = try run(source).steps
    // The arm's first and last half swing may count in the hand.
    #expect(abs(steps.count - 100) <= (placement == "hand" ? 2 : 1))
    // Each of the others near a true one.
    let truth = source.scene.stepTimes(until: .infinity)
    for step in steps.dropFirst().dropLast() {
      let time = step.time.seconds(since: source.startTime)
      #expect(truth.contains { abs($0 - time) < 0.3 })
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
