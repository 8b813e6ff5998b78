import SensorFusion

/// The samples of one simulated sensor, one after the other: exact times, true values with their errors.
struct SimulatedSensor {
  let kind: SensorKind
  private(set) var rate: Double
  private let errors: SimulatedSensorErrors
  private let selfHeating: Double
  private let airTemperature: Double
  /// Rows of scale, misalignment and soft iron together.
  private let rows: (Vector3, Vector3, Vector3)
  private let constantBias: Vector3
  private var noiseSigma: Double
  private var walkSigma: Double
  private var walk = Vector3.zero
  private var noise: SimulationRandom
  private var timing: SimulationRandom
  private var filter: LowPass?
  private var index: Int64 = 0
  /// True steps so far: what a chip's own counter gives.
  private var stepCount = 0
  /// Samples that were left out by `dropProbability`.
  private(set) var droppedCount: Int64 = 0

  /// Time constant of warming up, s: minutes for a small board.
  private static let warmUp = 300.0

  init(
    kind: SensorKind, rate: Double, errors all: SimulatedErrors, airTemperature: Double, seed: UInt64
  ) {
    self.kind = kind
    self.rate = rate
    self.airTemperature = airTemperature
    errors = all[kind]
    selfHeating = all.selfHeating
    // Streams of their own, so that no sensor's numbers depend on another's rate.
    let stream = UInt64(kind.rawValue) * 8
    var constants = SimulationRandom(seed: seed, stream: stream)
    noise = SimulationRandom(seed: seed, stream: stream + 1)
    timing = SimulationRandom(seed: seed, stream: stream + 2)
    noiseSigma = errors.noiseDensity * (rate / 2).squareRoot()
    walkSigma = errors.biasWalk / rate.squareRoot()
    constantBias = errors.bias + constants.gaussianVector() * errors.biasSigma
    let scale = errors.scale + constants.gaussianVector() * errors.scaleSigma
    let lean = constants.gaussianVector() * errors.misalignmentSigma
    let counterLean = constants.gaussianVector() * errors.misalignmentSigma
    let softDiagonal = constants.gaussianVector() * errors.softIronSigma
    let soft = constants.gaussianVector() * errors.softIronSigma
    rows = (
      Vector3(1 + scale.x + softDiagonal.x, lean.x + soft.x, lean.y + soft.y),
      Vector3(counterLean.x + soft.x, 1 + scale.y + softDiagonal.y, lean.z + soft.z),
      Vector3(counterLean.y + soft.y, counterLean.z + soft.z, 1 + scale.z + softDiagonal.z)
    )
    if errors.bandwidth > 0 {
      filter = LowPass(corner: errors.bandwidth, outputRate: rate)
    }
  }

  /// The next sample of the scene, or nil at its end. `start` is the time stamp of the scene's beginning.
  mutating func next(
    in scene: SimulatedScene, start: Timestamp, cache: inout TruthCache
  ) -> SensorSample? {
    while true {
      let nanoseconds = (Double(index) * 1e9 / rate).rounded()
      let seconds = nanoseconds / 1e9
      guard seconds < scene.duration, nanoseconds < 9e18 else { return nil }
      index += 1
      let value = measured(in: scene, at: seconds, cache: &cache)
      let late = jitter()
      if errors.dropProbability > 0, timing.uniform() < min(errors.dropProbability, SimulatedSensorErrors.mostDropped) {
        droppedCount += 1
        continue
      }
      let time = Timestamp(nanoseconds: start.nanoseconds + Int64(nanoseconds) + late)
      return SensorSample(time: time, kind: kind, x: Float(value.x), y: Float(value.y), z: Float(value.z))
    }
  }

  /// Goes on at another rate, on that rate's own grid from the scene's beginning, with the first sample after `time` in
  /// seconds of the scene. Noise and bias go on; the low-pass stands as if it had always run at the new rate.
  mutating func change(rate: Double, after time: Double, in scene: SimulatedScene, cache: inout TruthCache) {
    self.rate = rate
    noiseSigma = errors.noiseDensity * (rate / 2).squareRoot()
    walkSigma = errors.biasWalk / rate.squareRoot()
    let earliest = time + (errors.jitter > 0 ? Self.jitterLimit / rate : 0)
    index = Int64((max(0, earliest) * rate).rounded(.down))
    while (Double(index) * 1e9 / rate).rounded() / 1e9 <= earliest { index += 1 }
    guard errors.bandwidth > 0 else { return }
    var filter = LowPass(corner: errors.bandwidth, outputRate: rate)
    let end = Double(index - 1) / rate - errors.delay
    var step = Int((Self.filterMemory / errors.bandwidth / filter.interval).rounded(.up))
    filter.fill(with: ideal(in: scene, at: end - Double(step) * filter.interval, cache: &cache))
    while step > 0 {
      step -= 1
      filter.feed(ideal(in: scene, at: end - Double(step) * filter.interval, cache: &cache))
    }
    self.filter = filter
  }

  /// Periods of the corner frequency after which the low-pass has forgotten what was before (to 10⁻⁹).
  private static let filterMemory = 5.0
  /// A sample is off its instant by at most this part of the interval, so that order is kept.
  private static let jitterLimit = 0.4

  private mutating func jitter() -> Int64 {
    guard errors.jitter > 0 else { return 0 }
    let limit = Self.jitterLimit / rate
    return Int64((max(-limit, min(limit, timing.gaussian() * errors.jitter)) * 1e9).rounded())
  }

  private mutating func measured(
    in scene: SimulatedScene, at seconds: Double, cache: inout TruthCache
  ) -> Vector3 {
    let temperature = airTemperature + selfHeating * (1 - Elementary.exp(-seconds / Self.warmUp))
    if kind == .stepCounter {
      while let step = scene.stepTime(stepCount), step <= seconds { stepCount += 1 }
      return Vector3(Double(stepCount), 0, 0)
    }
    var value = trueValue(in: scene, at: seconds, cache: &cache)
    if walkSigma > 0 { walk += noise.gaussianVector() * walkSigma }
    let bias = constantBias + walk + errors.temperatureCoefficient * (temperature - airTemperature)
    if kind == .barometer {
      var pressure = value.x * rows.0.x + bias.x
      if noiseSigma > 0 { pressure += noise.gaussian() * noiseSigma }
      return Vector3(limited(pressure), (temperature * 100).rounded() / 100, 0)
    }
    value = Vector3(rows.0.dot(value), rows.1.dot(value), rows.2.dot(value)) + bias
    if noiseSigma > 0 { value += noise.gaussianVector() * noiseSigma }
    return Vector3(limited(value.x), limited(value.y), limited(value.z))
  }

  /// The range's ends and the resolution's steps.
  private func limited(_ value: Double) -> Double {
    let clipped = max(-errors.range, min(errors.range, value))
    // Adding 0 turns a rounded -0 into 0.
    return errors.resolution > 0 ? (clipped / errors.resolution).rounded() * errors.resolution + 0 : clipped
  }

  private mutating func trueValue(
    in scene: SimulatedScene, at seconds: Double, cache: inout TruthCache
  ) -> Vector3 {
    if kind == .gyroscope, errors.averages, filter == nil {
      return meanRate(in: scene, until: seconds - errors.delay, cache: &cache)
    }
    guard var filter else { return ideal(in: scene, at: seconds - errors.delay, cache: &cache) }
    // The filter sees the motion at a multiple of the output rate, up to and including this instant.
    let steps = filter.stepsPerOutput
    if filter.isEmpty { filter.fill(with: ideal(in: scene, at: seconds - errors.delay, cache: &cache)) }
    var step = steps
    while step > 0 {
      step -= 1
      filter.feed(ideal(in: scene, at: seconds - errors.delay - Double(step) * filter.interval, cache: &cache))
    }
    self.filter = filter
    return filter.output
  }

  /// The rotation since the sample before as a rotation vector, over the interval.
  private func meanRate(in scene: SimulatedScene, until seconds: Double, cache: inout TruthCache) -> Vector3 {
    let end = cache.truth(of: scene, at: seconds)
    let interval = 1 / rate
    // A turn of more than a radian might be one of more than half a circle: then the rate in the middle.
    guard end.rotationRate.norm * interval < 1 else {
      return cache.truth(of: scene, at: seconds - interval / 2).rotationRate
    }
    let turn = cache.truth(of: scene, at: seconds - interval).attitude.conjugate * end.attitude
    let sine = Vector3(turn.x, turn.y, turn.z)
    let norm = sine.norm
    guard norm > 0 else { return .zero }
    let angle = 2 * Elementary.atan2(norm, abs(turn.w))
    return sine * ((turn.w < 0 ? -angle : angle) / norm / interval)
  }

  private func ideal(in scene: SimulatedScene, at seconds: Double, cache: inout TruthCache) -> Vector3 {
    let truth = cache.truth(of: scene, at: seconds)
    switch kind {
    case .accelerometer: return truth.specificForce
    case .gyroscope: return truth.rotationRate
    case .magnetometer: return truth.magneticField
    case .barometer: return Vector3(truth.pressure, 0, 0)
    case .stepCounter: return .zero
    }
  }
}

/// A second-order Butterworth low-pass on three axes, run at a multiple of the output rate (bilinear transform with the
/// corner prewarped; Oppenheim and Schafer, "Discrete-Time Signal Processing", section 7.1).
struct LowPass {
  let stepsPerOutput: Int
  let interval: Double
  private(set) var isEmpty = true
  private(set) var output = Vector3.zero
  private let b0: Double
  private let a1: Double
  private let a2: Double
  private var x1 = Vector3.zero
  private var x2 = Vector3.zero
  private var y1 = Vector3.zero
  private var y2 = Vector3.zero

  init(corner: Double, outputRate: Double) {
    // At least 2 kHz and 20 times the corner, so that nothing folds back.
    stepsPerOutput = max(1, Int((max(2000, 20 * corner) / outputRate).rounded(.up)))
    interval = 1 / (outputRate * Double(stepsPerOutput))
    let half = Double.pi * corner * interval
    let k = Elementary.sin(half) / Elementary.cos(half)
    let norm = 1 / (1 + 2.0.squareRoot() * k + k * k)
    b0 = k * k * norm
    a1 = 2 * (k * k - 1) * norm
    a2 = (1 - 2.0.squareRoot() * k + k * k) * norm
  }

  /// Starts in the steady state of a value.
  mutating func fill(with value: Vector3) {
    isEmpty = false
    (x1, x2, y1, y2, output) = (value, value, value, value, value)
  }

  mutating func feed(_ x: Vector3) {
    output = (x + x1 * 2 + x2) * b0 - y1 * a1 - y2 * a2
    (x2, x1, y2, y1) = (x1, x, y1, output)
  }
}
