/// The attitude filter: gyroscope strapdown corrected by accelerometer and magnetometer.
///
/// Feed time-ordered samples; read `state` after each `update` that returns true. Deterministic: no clock, no
/// allocation per sample, the same samples give the same bits.
///
/// The rates are integrated to an attitude; samples of force and field, turned into the earth frame by it, are summed
/// over 0.1 s, and each sum corrects attitude, gyroscope bias and hard iron by a small Kalman filter whose error states
/// live in the earth frame. docs/FUSION.md describes it.
///
/// Samples of one instant come in order of `SensorKind`. A sample that is not finite, beyond what any sensor measures,
/// or not newer than the last of its sensor changes nothing.
public struct ComplementaryFilter: Sendable {
  /// How strongly the accelerometer and the magnetometer correct the gyroscope.
  public enum Gains: Hashable, Sendable {
    /// By the covariance of the estimate: the most accurate.
    case adaptive
    /// By fixed time constants in seconds, the classical complementary filter: the cheapest. The gyroscope bias is
    /// learnt at rest only and the hard iron not at all.
    case fixed(accelerometer: Double, magnetometer: Double)
  }

  /// What the filter can be told about the device. All defaults suit a calibrated phone-grade sensor.
  public struct Configuration: Hashable, Sendable {
    /// The earth frame of the output attitude.
    public var referenceFrame: ReferenceFrame = .arbitrary
    /// Full scale of an accelerometer axis, m/s²; infinity where not known.
    public var accelerometerRange: Double = .infinity
    /// Full scale of a gyroscope axis, rad/s; infinity where not known.
    public var gyroscopeRange: Double = .infinity
    /// 1-sigma of the accelerometer's offset, m/s²: the tilt is stated as no better known than this allows, and nothing
    /// else depends on it. The default, 20 mg, is usual for parts as they are delivered; a calibration makes it less.
    public var accelerometerOffsetSigma = 0.2
    /// Whether a gyroscope takes part. Without one, output follows each accelerometer sample. One that is configured
    /// but silent for a second counts as absent until it speaks.
    public var hasGyroscope = true
    /// How corrections are weighted.
    public var gains = Gains.adaptive
    /// 1-sigma of the gyroscope bias at the start, rad/s. The default, 0.5°/s, suits calibrated rates; take 2°/s to
    /// 3°/s for raw ones of a MEMS part. Larger learns a large bias faster and follows disturbances more.
    public var initialBiasSigma = 0.5 * Double.pi / 180
    /// How far ahead of the newest gyroscope sample the output attitude lies, s: the sensors' delay, if known.
    public var outputLatency = 0.0
    /// How much later than the gyroscope the magnetometer sees the device turn, s.
    public var magnetometerDelay = 0.010
    /// Whether each correction is spread over the following interval instead of made at once (steps of about 0.1°).
    public var spreadsCorrections = false

    /// The defaults.
    public init() {}
  }

  /// The configuration in use.
  public let configuration: Configuration
  /// The newest output.
  public internal(set) var state = MotionState(time: Timestamp(nanoseconds: 0))

  // MARK: From the configuration

  /// Whether gains come from the covariance.
  let usesCovariance: Bool
  /// Whether magnetometer samples correct the attitude.
  let usesMagnetometer: Bool
  /// Values from these on are clipped.
  private let clippedForce: Double
  private let clippedRate: Double

  // MARK: The estimate

  /// Device to the internal earth frame: z up, x magnetic north and y west once heading is known.
  var attitude = Quaternion.identity
  /// rad/s.
  var bias = Vector3.zero
  /// Relative error of the gyroscope's scale.
  var scale = Vector3.zero
  /// Integral of the horizontal force, m/s: its growth is a tilt error's.
  var velocityX = 0.0
  var velocityY = 0.0
  /// The same, low-passed.
  var meanVelocityX = 0.0
  var meanVelocityY = 0.0
  /// Mean vertical force, m/s².
  var verticalForce = standardGravity
  /// µT, device axes.
  var hardIron = Vector3.zero
  var covariance: ErrorCovariance
  /// Mean squared acceleration, (m/s²)².
  var activity = FilterConstants.firstActivity
  var isAligned = false
  var hasHeading = false
  /// The angle by which the magnetometer has turned the earth frame in all, and the first time, rad.
  var magneticTurn = 0.0
  var firstMagneticTurn = 0.0
  /// Turns the internal earth frame to that of the output.
  var frameTurn = Quaternion.identity
  var isFrameTurned = false
  /// What has been corrected but not shown yet (earth frame, rad) and the time left to show it, s.
  var hiddenCorrection = Vector3.zero
  var hiddenTime = 0.0

  // MARK: Samples

  var rotation = Matrix3(.identity)
  var rate = Vector3.zero
  var rawRate = Vector3.zero
  var alignmentTime = Timestamp(nanoseconds: .min)
  var gyroscopeClock = SampleClock()
  var accelerometerClock = SampleClock()
  var magnetometerClock = SampleClock()
  var newestForce = Vector3.zero
  /// An accelerometer sample that waits for the rate at its time.
  var hasPendingForce = false
  var pendingForceDuration = 0.0
  var interval = CorrectionInterval()
  var meanSquaredRate = 0.0
  /// Flags of samples since the last output.
  var sampleFlags: MotionFlags = []
  /// Flags of the last magnetometer interval.
  var fieldFlags: MotionFlags = []
  /// Variance of the newest magnetic heading by the field alone, rad², for fixed gains and for no gyroscope.
  var fieldHeadingVariance = FilterConstants.firstHeadingSigma * FilterConstants.firstHeadingSigma

  // MARK: Detectors

  var rest = RestDetector()
  var frozenField = FrozenFieldDetector()
  var reference = FieldReference()
  var consistency = HeadingConsistency()
  var lostTilt = LostTiltDetector()
  /// Mean of the rotation matrix over the recent past: how much the hard iron can be told from the field.
  var coverage = Matrix3.zero
  var hasCoverage = false
  /// Low-passed force and field in device axes where there is no gyroscope; nil where there is one.
  var inclinometer: Inclinometer?

  /// A filter before its first sample.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    usesCovariance = configuration.gains == .adaptive
    usesMagnetometer = configuration.referenceFrame != .arbitrary
    clippedForce = FilterConstants.clippedShare * configuration.accelerometerRange
    clippedRate = FilterConstants.clippedShare * configuration.gyroscopeRange
    covariance = ErrorCovariance(
      tiltSigma: FilterConstants.firstTiltSigma, biasSigma: configuration.initialBiasSigma,
      scaleSigma: FilterConstants.scaleSigma, velocitySigma: FilterConstants.velocitySigma)
    updateFrameTurn()
  }

  /// Takes one sample; returns whether `state` is a new output (each gyroscope sample after alignment; each
  /// accelerometer sample where there is no gyroscope).
  ///
  /// In a frame with a north, output waits for the first magnetic heading, but no longer than half a second.
  /// A magnetometer alone makes no output but keeps `state.magneticField` up to date.
  public mutating func update(_ sample: SensorSample) -> Bool {
    let v = sample.vector
    switch sample.kind {
    case .accelerometer: return addForce(v, at: sample.time)
    case .gyroscope: return addRate(v, at: sample.time)
    case .magnetometer:
      addField(v, at: sample.time)
      return false
    case .barometer, .stepCounter: return false
    }
  }

  /// The attitude of the newest output instant in any frame; nil in a frame with a north before heading is known.
  ///
  /// With `referenceFrame` `.arbitrary` in the configuration the magnetometer is not used, and no north is ever known.
  public func attitude(in frame: ReferenceFrame) -> Quaternion? {
    guard isAligned, hasHeading || !frame.hasNorth else { return nil }
    return (frameTurn(to: frame) * frameTurn.conjugate * state.attitude).normalized
  }

  /// The rotation from the internal earth frame to `frame`.
  private func frameTurn(to frame: ReferenceFrame) -> Quaternion {
    switch frame {
    case .arbitrary: Quaternion(yaw: -magneticTurn)
    case .arbitraryCorrected: Quaternion(yaw: -firstMagneticTurn)
    case .magneticNorth: .identity
    case .trueNorth(let declination): Quaternion(yaw: -declination)
    }
  }

  mutating func updateFrameTurn() {
    frameTurn = frameTurn(to: configuration.referenceFrame)
    isFrameTurned = frameTurn != .identity
  }

  // MARK: Samples in

  @inline(__always)
  private mutating func addForce(_ f: Vector3, at time: Timestamp) -> Bool {
    guard Self.isPlausible(f, limit: FilterConstants.largestForce),
      let step = accelerometerClock.step(to: time)
    else { return false }
    newestForce = f
    if max(abs(f.x), abs(f.y), abs(f.z)) >= clippedForce {
      sampleFlags.insert(.accelerometerClipped)
      interval.isForceClipped = true
    }
    if !isAligned { align(to: f, at: time) }
    rest.addForce(f, dt: step.duration)
    guard isAligned else { return false }
    // After a gap in both, the gyroscope's first sample may be the next to come.
    if inclinometer != nil || !step.isGap || !configuration.hasGyroscope, isGyroscopeAbsent(at: time) {
      return tiltFromAccelerometer(f, dt: step.duration, at: time)
    }
    if step.isGap { forgetForces() }
    if hasPendingForce { accumulatePendingForce() }
    hasPendingForce = true
    pendingForceDuration = min(step.duration, FilterConstants.gap)
    return false
  }

  @inline(__always)
  private mutating func addRate(_ g: Vector3, at time: Timestamp) -> Bool {
    guard configuration.hasGyroscope, Self.isPlausible(g, limit: FilterConstants.largestRate) else { return false }
    let isFirst = !gyroscopeClock.hasSample
    guard let step = gyroscopeClock.step(to: time) else { return false }
    let previousRate = rate
    rawRate = g
    rate = correctedRate(g)
    rest.addRate(g, dt: step.duration)
    guard isAligned else { return false }
    if isFirst {
      if inclinometer != nil { leaveInclinometer(heading: 0) }
      meanSquaredRate = rate.squaredNorm
    } else if inclinometer != nil || step.isGap {
      bridgeGap(step.duration, from: previousRate)
    } else {
      rotate(by: step.duration, to: time)
    }
    if max(abs(g.x), abs(g.y), abs(g.z)) >= clippedRate { widenForClippedRate(step.duration) }
    if interval.isComplete { correct() }
    return output(at: time)
  }

  @inline(__always)
  private mutating func addField(_ m: Vector3, at time: Timestamp) {
    guard Self.isPlausible(m, limit: FilterConstants.largestField),
      let step = magnetometerClock.step(to: time)
    else { return }
    state.magneticField = m - hardIron
    let duration = min(step.duration, FilterConstants.longestFieldTime)
    let isTurning = rate.squaredNorm > FilterConstants.frozenRate * FilterConstants.frozenRate
    frozenField.add(norm: m.norm, dt: duration, isTurning: isTurning)
    guard isAligned, usesMagnetometer else { return }
    if inclinometer != nil {
      inclinometer?.addField(m, dt: step.duration, at: time)
      return
    }
    guard gyroscopeClock.hasSample else { return }
    let delayed = m - rate.cross(m) * configuration.magnetometerDelay
    // Between gyroscope samples the attitude is carried on by the newest rate.
    if time > gyroscopeClock.newest {
      let ahead = time.seconds(since: gyroscopeClock.newest)
      let q = attitude * Quaternion(rotationVector: rate * min(ahead, FilterConstants.gap))
      interval.addField(q.rotate(delayed), duration: duration)
    } else {
      interval.addField(rotation * delayed, duration: duration)
    }
  }

  /// Whether the components are finite and within what a sensor measures.
  private static func isPlausible(_ v: Vector3, limit: Double) -> Bool {
    // A comparison with NaN is false.
    abs(v.x) <= limit && abs(v.y) <= limit && abs(v.z) <= limit
  }

  /// The rate without what is known of the gyroscope's errors.
  @inline(__always)
  func correctedRate(_ g: Vector3) -> Vector3 {
    let unbiased = g - bias
    return unbiased - unbiased.scaled(by: scale)
  }

  // MARK: Strapdown

  mutating func align(to f: Vector3, at time: Timestamp) {
    let norm = f.norm
    guard norm > FilterConstants.smallestForce else { return }
    let shortest = Quaternion(turningToVertical: f)
    attitude = (Quaternion(yaw: -shortest.yaw) * shortest).normalized
    rotation = Matrix3(attitude)
    isAligned = true
    alignmentTime = time
    // A force that is not gravity's was turned by an acceleration of about the difference.
    let excess = min(1, abs(norm - standardGravity) / standardGravity)
    let sigma = FilterConstants.firstTiltSigma
    covariance.resetTilt(variance: sigma * sigma + excess * excess)
    updateSigmas()
  }

  /// Turns the attitude by the rate over the `dt` seconds before `time` and adds the samples of that time.
  @inline(__always)
  private mutating func rotate(by dt: Double, to time: Timestamp) {
    let before = attitude
    attitude = (attitude * Quaternion(rotationVector: rate * dt)).renormalized
    rotation = Matrix3(attitude)
    if hasPendingForce {
      hasPendingForce = false
      if accelerometerClock.newest >= time {
        interval.addForce(rotation * newestForce, duration: pendingForceDuration)
      } else {
        let age = time.seconds(since: accelerometerClock.newest)
        let q = before * Quaternion(rotationVector: rate * max(0, dt - age))
        interval.addForce(q.rotate(newestForce), duration: pendingForceDuration)
      }
    }
    if usesCovariance {
      interval.addRotation(rotation, rate: rate, duration: dt)
    } else {
      interval.addStep(squaredRate: rate.squaredNorm, duration: dt)
    }
  }

  /// Adds an accelerometer sample that the next one has overtaken, with the attitude carried on by the newest rate.
  private mutating func accumulatePendingForce() {
    hasPendingForce = false
    interval.addForce(rotation * newestForce, duration: pendingForceDuration)
  }

  private mutating func forgetForces() {
    hasPendingForce = false
    interval.clearForce()
    resetVelocity()
    rest.clear()
  }

  mutating func resetVelocity() {
    (velocityX, velocityY) = (0, 0)
    (meanVelocityX, meanVelocityY) = (0, 0)
    covariance.resetVelocity(variance: FilterConstants.velocitySigma * FilterConstants.velocitySigma)
  }

  private mutating func bridgeGap(_ dt: Double, from previousRate: Vector3) {
    typealias C = FilterConstants
    sampleFlags.insert(.afterGap)
    let change = (rate - previousRate).norm
    let typical = meanSquaredRate.squareRoot() * min(1, dt / C.gapRateMemory)
    let sigma = min(C.gapLargestSigma, C.gapShare * dt * (change + typical) + C.gapLeastSigma)
    if inclinometer != nil {
      leaveInclinometer(heading: sigma * sigma)
    } else {
      if dt <= C.longestBridge {
        attitude = (attitude * Quaternion(rotationVector: (previousRate + rate) * (0.5 * dt))).renormalized
        rotation = Matrix3(attitude)
      }
      covariance.inflate(tilt: sigma * sigma, heading: hasHeading ? sigma * sigma : 0)
    }
    resetVelocity()
    rest.clear()
    consistency.clear()
    interval = CorrectionInterval()
    hasPendingForce = accelerometerClock.newest == gyroscopeClock.newest
    if sigma > C.doubtfulTiltAngle || dt > C.longestBridge { lostTilt.doubt() } else { lostTilt.restart() }
    updateSigmas()
  }

  private mutating func widenForClippedRate(_ dt: Double) {
    sampleFlags.insert(.gyroscopeClipped)
    let missed = FilterConstants.clippedRateShare * rate.norm * dt
    covariance.inflate(tilt: missed * missed, heading: hasHeading ? missed * missed : 0)
    rest.clear()
    lostTilt.doubt()
    updateSigmas()
  }
}
