/// The times of one sensor's samples: steps between them, and which steps are gaps.
struct SampleClock: Hashable, Sendable {
  private(set) var newest = Timestamp(nanoseconds: .min)
  private(set) var hasSample = false
  /// The last two steps, s: a gap is longer than both by far, so a slow sensor has none.
  private var lastStep = 0.0
  private var stepBefore = 0.0

  struct Step: Hashable, Sendable {
    /// Seconds since the sample before; 0 for the first.
    var duration: Double
    /// Whether samples are missing in between.
    var isGap: Bool
  }

  /// Seconds between the last two samples.
  var lastDuration: Double { lastStep }

  /// The usual step, s; 0 where not known.
  var usualStep: Double { min(lastStep, stepBefore) }

  /// Takes the time of a sample; nil if it is not newer than the last (or the least time there is).
  @inline(__always)
  mutating func step(to time: Timestamp) -> Step? {
    guard time > newest else { return nil }
    let (difference, overflow) = time.nanoseconds.subtractingReportingOverflow(newest.nanoseconds)
    let duration = hasSample ? (overflow ? .greatestFiniteMagnitude : Double(difference) * 1e-9) : 0
    let isGap = duration > FilterConstants.gap && duration > FilterConstants.gapSteps * usualStep
    if hasSample { (stepBefore, lastStep) = (lastStep, duration) }
    (newest, hasSample) = (time, true)
    return Step(duration: duration, isGap: isGap)
  }
}

/// The sums of one correction interval.
struct CorrectionInterval: Hashable, Sendable {
  /// Integral of the rotation matrix, s.
  private(set) var rotationIntegral = Matrix3.zero
  /// Integral of the rotation matrix with each column times the rate about its axis, rad.
  private(set) var turnIntegral = Matrix3.zero
  /// Integral of the squared rate, rad²/s.
  private(set) var squaredRateIntegral = 0.0
  /// s.
  private(set) var duration = 0.0
  private var lastStep = 0.0
  /// Sum of the force in the earth frame weighted by `forceDuration`, m/s.
  private var forceIntegral = Vector3.zero
  private(set) var forceDuration = 0.0
  var isForceClipped = false
  /// Sum of the field in the earth frame, µT.
  private var fieldSum = Vector3.zero
  private var fieldCount = 0.0
  /// The time that the field samples stand for, s.
  private(set) var fieldDuration = 0.0

  @inline(__always)
  mutating func addRotation(_ r: Matrix3, rate: Vector3, duration dt: Double) {
    rotationIntegral.add(r, times: dt)
    let turn = rate * dt
    turnIntegral.x += r.x.scaled(by: turn)
    turnIntegral.y += r.y.scaled(by: turn)
    turnIntegral.z += r.z.scaled(by: turn)
    addStep(squaredRate: rate.squaredNorm, duration: dt)
  }

  /// The same without the matrix, which fixed gains do not need.
  @inline(__always)
  mutating func addStep(squaredRate: Double, duration dt: Double) {
    squaredRateIntegral += squaredRate * dt
    duration += dt
    lastStep = dt
  }

  @inline(__always)
  mutating func addForce(_ f: Vector3, duration dt: Double) {
    forceIntegral += f * dt
    forceDuration += dt
  }

  @inline(__always)
  mutating func addField(_ m: Vector3, duration dt: Double) {
    fieldSum += m
    fieldCount += 1
    fieldDuration += dt
  }

  mutating func clearForce() { (forceIntegral, forceDuration) = (.zero, 0) }

  /// Whether the interval ends with the newest sample: the end that lies nearest to the nominal one, and not before
  /// there is a force.
  var isComplete: Bool {
    duration + 0.5 * lastStep >= FilterConstants.interval
      && (forceDuration > 0 || duration >= FilterConstants.longestInterval)
  }

  var hasForce: Bool { forceDuration > 0 }
  var hasField: Bool { fieldCount > 0 }
  /// The mean force, m/s², earth frame.
  var meanForce: Vector3 { forceIntegral * (1 / forceDuration) }
  /// The mean field, µT, earth frame, before the hard iron is taken off.
  var meanField: Vector3 { fieldSum * (1 / fieldCount) }
  /// The mean rotation matrix.
  var meanRotation: Matrix3 { rotationIntegral * (1 / duration) }
  /// Mean squared rate, (rad/s)².
  var meanSquaredRate: Double { squaredRateIntegral / duration }
}
