/// The best estimate of a recording's motion: for analysis, when all samples are at hand.
///
/// The filter runs forward, then backward from where it ended, then forward again from where that ended, so that bias,
/// hard iron and field are known from the first sample on. The last two runs meet at each instant with errors that are
/// nearly independent, and are averaged there by their variances (Fraser and Potter, "The optimum linear smoother as a
/// combination of two optimum linear filters", IEEE Transactions on Automatic Control 14, 1969).
public struct MotionSmoother: Sendable {
  /// The settings of the filter; `gains` other than `.adaptive` are smoothed with equal weights.
  public let configuration: ComplementaryFilter.Configuration

  /// A smoother with a filter's settings.
  public init(configuration: ComplementaryFilter.Configuration = .init()) {
    self.configuration = configuration
  }

  /// The smoothed motion of a recording as it stands: samples that a pipeline with these settings would not use are left
  /// out, the others calibrated, as they are there.
  public static func motions(of samples: [SensorSample], settings: MotionPipeline.Configuration) -> [MotionState] {
    var gate = SampleGate()
    var calibration = CalibrationStage(settings.calibration)
    let used = samples.compactMap { gate.accept($0) ? calibration.applied(to: $0) : nil }
    return MotionSmoother(configuration: settings.filterAfterCalibration).smooth(used)
  }

  /// One state for each gyroscope sample after the first accelerometer sample (each accelerometer sample where there
  /// is no gyroscope).
  ///
  /// `samples` are in order of time, those of one instant in order of `SensorKind`. Uses about 300 bytes a sample.
  public func smooth(_ samples: [SensorSample]) -> [MotionState] {
    guard let first = samples.first, let last = samples.last else { return [] }
    // The output's latency is applied once, at the end, as is what the accelerometer's offset adds to the sigma.
    var forward = configuration
    forward.outputLatency = 0
    forward.accelerometerOffsetSigma = 0
    forward.spreadsCorrections = false
    var backward = forward
    backward.magnetometerDelay = -forward.magnetometerDelay

    let reversed = Self.reversed(samples, first: first.time, last: last.time)
    var filter = ComplementaryFilter(configuration: forward)
    for sample in samples { _ = filter.update(sample) }
    var filterBack = ComplementaryFilter(configuration: backward, reversing: filter, at: first.time)
    let back = Self.run(&filterBack, reversed)
    var filterAgain = ComplementaryFilter(configuration: forward, reversing: filterBack, at: first.time)
    let again = Self.run(&filterAgain, samples)

    return combine(again, back, mirror: (first.time, last.time))
  }

  private static func run(_ filter: inout ComplementaryFilter, _ samples: [SensorSample]) -> [MotionState] {
    var states: [MotionState] = []
    states.reserveCapacity(samples.count / 2)
    for sample in samples where filter.update(sample) { states.append(filter.state) }
    return states
  }

  /// An instant mirrored in the recording's middle.
  private static func mirrored(_ time: Timestamp, first: Timestamp, last: Timestamp) -> Timestamp {
    Timestamp(nanoseconds: last.nanoseconds &- (time.nanoseconds &- first.nanoseconds))
  }

  /// The samples in reversed time: rates change sign, and each stands at the start of the step that it described.
  private static func reversed(_ samples: [SensorSample], first: Timestamp, last: Timestamp) -> [SensorSample] {
    var result: [SensorSample] = []
    result.reserveCapacity(samples.count)
    var laterRate: SensorSample?
    for sample in samples.reversed() {
      var turned = sample
      turned.time = mirrored(sample.time, first: first, last: last)
      if sample.kind == .gyroscope {
        let rate = laterRate ?? sample
        (turned.x, turned.y, turned.z) = (-rate.x, -rate.y, -rate.z)
        laterRate = sample
      }
      result.append(turned)
    }
    result.sort { ($0.time, $0.kind) < ($1.time, $1.kind) }
    return result
  }

  private func combine(
    _ states: [MotionState], _ back: [MotionState], mirror: (first: Timestamp, last: Timestamp)
  ) -> [MotionState] {
    var result: [MotionState] = []
    result.reserveCapacity(states.count)
    var index = back.count - 1
    for state in states {
      while index >= 0, Self.mirrored(back[index].time, first: mirror.first, last: mirror.last) < state.time {
        index -= 1
      }
      let isBoth =
        index >= 0 && Self.mirrored(back[index].time, first: mirror.first, last: mirror.last) == state.time
      result.append(isBoth ? average(state, back[index]) : state)
    }
    let turn =
      configuration.referenceFrame.hasNorth
      ? Quaternion.identity : Quaternion(yaw: -(result.first?.attitude.yaw ?? 0))
    for index in result.indices { finish(&result[index], turn: turn) }
    return result
  }

  /// The forward state, moved towards the backward one by the variances of both.
  private func average(_ forward: MotionState, _ back: MotionState) -> MotionState {
    var state = forward
    let difference = back.attitude * forward.attitude.conjugate
    let sign = difference.w < 0 ? -1.0 : 1.0
    // Heading first: the whole turn about the vertical; the rest is tilt.
    let heading = 2 * Elementary.atan2(sign * difference.z, sign * difference.w)
    let tilt = (Quaternion(yaw: -heading) * difference).normalized
    let tiltSign = tilt.w < 0 ? -1.0 : 1.0
    let tiltShare = Self.share(forward.tiltSigma, back.tiltSigma)
    let headingShare = Self.share(forward.headingSigma, back.headingSigma)
    let partOfTilt = Vector3(tilt.x, tilt.y, 0) * (2 * tiltSign * tiltShare)
    let wrapped = heading > .pi ? heading - 2 * .pi : heading < -.pi ? heading + 2 * .pi : heading
    let partOfTurn = Quaternion(yaw: wrapped * headingShare)
    state.attitude = (partOfTurn * Quaternion(rotationVector: partOfTilt) * forward.attitude).normalized
    let rawRate = forward.rotationRate + forward.gyroscopeBias
    state.gyroscopeBias = (forward.gyroscopeBias - back.gyroscopeBias) * 0.5
    if !forward.flags.contains(.noGyroscope) { state.rotationRate = rawRate - state.gyroscopeBias }
    state.magneticField = (forward.magneticField + back.magneticField) * 0.5
    state.tiltSigma = Self.sigma(forward.tiltSigma, back.tiltSigma)
    state.headingSigma = Self.sigma(forward.headingSigma, back.headingSigma)
    state.flags.formUnion(back.flags.intersection([.magneticDisturbance, .frozenField]))
    return state
  }

  /// The weight of the backward estimate.
  private static func share(_ forward: Double, _ back: Double) -> Double {
    guard forward.isFinite, back.isFinite, forward + back > 0 else { return 0.5 }
    return forward * forward / (forward * forward + back * back)
  }

  private static func sigma(_ a: Double, _ b: Double) -> Double {
    guard a.isFinite, b.isFinite, a + b > 0 else { return a.isFinite ? a : b }
    return a * b / (a * a + b * b).squareRoot()
  }

  private func finish(_ state: inout MotionState, turn: Quaternion) {
    let force = state.gravity + state.userAcceleration
    state.attitude = (turn * state.attitude).normalized
    if configuration.outputLatency != 0 {
      state.attitude =
        (state.attitude * Quaternion(rotationVector: state.rotationRate * configuration.outputLatency)).normalized
    }
    let offset = configuration.accelerometerOffsetSigma / standardGravity
    state.tiltSigma = (state.tiltSigma * state.tiltSigma + offset * offset).squareRoot()
    state.gravity = state.attitude.verticalInDevice * standardGravity
    state.userAcceleration = force - state.gravity
  }
}

extension ComplementaryFilter {
  /// A filter that begins where another has ended, for the same samples in reversed time, from `time` on.
  init(configuration: Configuration, reversing end: ComplementaryFilter, at time: Timestamp) {
    self.init(configuration: configuration)
    guard end.isAligned else { return }
    typealias C = FilterConstants
    attitude = end.attitude
    rotation = Matrix3(attitude)
    bias = -end.bias
    scale = end.scale
    hardIron = end.hardIron
    reference = end.reference
    reference.turnRound()
    activity = end.activity
    isAligned = true
    hasHeading = end.hasHeading
    magneticTurn = end.magneticTurn
    firstMagneticTurn = end.firstMagneticTurn
    newestForce = end.newestForce
    alignmentTime = time
    // What the end knew of attitude and field came from the very samples that follow: it is trusted as a start only.
    covariance.bias = end.covariance.bias
    covariance.scale = end.covariance.scale
    if hasHeading {
      covariance.resetHeading(variance: C.resetHeadingSigma * C.resetHeadingSigma)
      covariance.addHardIron(sigma: C.learntIronSigma)
    }
    updateFrameTurn()
    updateSigmas()
  }
}
