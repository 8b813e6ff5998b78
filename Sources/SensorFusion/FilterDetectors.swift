// The small estimators that stand beside the attitude filter's covariance. Each takes its first input as its state.

/// A first-order low-pass step for a sample that stands for `dt` seconds.
@inline(__always)
func lowPassGain(_ dt: Double, _ timeConstant: Double) -> Double { dt / (timeConstant + dt) }

/// Tells that the device lies still, by the deviations of force and rate from their own low-passes.
struct RestDetector: Hashable, Sendable {
  /// The low-passed rate, rad/s: at rest, the bias.
  private(set) var rate = Vector3.zero
  private var force = Vector3.zero
  private var hasRate = false
  private var hasForce = false
  private var forceIsStill = false
  private var time = 0.0

  /// Whether the device lies still.
  var isAtRest: Bool { time > FilterConstants.restTime }

  @inline(__always)
  mutating func addForce(_ f: Vector3, dt: Double) {
    guard hasForce else {
      (force, hasForce, forceIsStill) = (f, true, true)
      return
    }
    force += (f - force) * lowPassGain(dt, FilterConstants.restFilterTime)
    forceIsStill = (f - force).squaredNorm < FilterConstants.restForce * FilterConstants.restForce
  }

  @inline(__always)
  mutating func addRate(_ g: Vector3, dt: Double) {
    guard hasRate else {
      (rate, hasRate) = (g, true)
      return
    }
    rate += (g - rate) * lowPassGain(dt, FilterConstants.restFilterTime)
    let limit = FilterConstants.restLargestRate
    let rateIsStill =
      (g - rate).squaredNorm < FilterConstants.restRate * FilterConstants.restRate
      && abs(rate.x) < limit && abs(rate.y) < limit && abs(rate.z) < limit
    time = rateIsStill && forceIsStill ? time + dt : 0
  }

  /// The device moves, whatever the samples say.
  mutating func clear() { time = 0 }

  /// Starts again with the next samples.
  mutating func restart() { self = RestDetector() }
}

/// Tells a field that does not move while the device does: one made up by software, or a stuck sensor.
struct FrozenFieldDetector: Hashable, Sendable {
  private var mean = 0.0
  private var variance = 0.0
  private var hasMean = false
  private var time = 0.0
  /// How far the field can be trusted: 1 for a live one, falling while it is frozen.
  private(set) var weight = 1.0

  @inline(__always)
  mutating func add(norm: Double, dt: Double, isTurning: Bool) {
    guard hasMean else {
      let first = FilterConstants.firstScatter * norm
      (mean, variance, hasMean) = (norm, first * first, true)
      return
    }
    let gain = lowPassGain(dt, FilterConstants.scatterTime)
    let deviation = norm - mean
    mean += gain * deviation
    variance += gain * ((1 - gain) * deviation * deviation - variance)
    let limit = FilterConstants.frozenScatter * norm
    if variance >= limit * limit {
      time = 0
      weight = 1
    } else if isTurning {
      time += dt
      weight = max(FilterConstants.frozenFloor, Elementary.exp(-time / FilterConstants.frozenDecay))
    }
  }
}

/// The local field as the filter has learnt it: a running mean of norm and dip that deviating fields move slowly.
struct FieldReference: Hashable, Sendable {
  /// The norm, µT; 0 before the first field.
  private(set) var norm = 0.0
  /// The angle below the horizon, rad.
  private(set) var dip = 0.0
  private var time = 0.0
  /// The field of the last seconds, and for how long it has stayed the same while the device moved.
  private var recentNorm = 0.0
  private var recentDip = 0.0
  private var recentTime = 0.0

  init() {}

  init(norm: Double, dip: Double) {
    (self.norm, self.dip) = (norm, dip)
    (recentNorm, recentDip) = (norm, dip)
  }

  /// Time turns round: the seconds to come are those just seen, and no news.
  mutating func turnRound() { recentTime = 0 }

  /// The field is about to change: what was learnt is a first guess again.
  mutating func doubt() { time = 0 }

  /// How far a field lies from the reference: 1 at one width of norm or dip.
  func deviation(norm n: Double, dip d: Double) -> Double { Self.deviation(n, d, from: norm, dip) }

  private static func deviation(_ n: Double, _ d: Double, from norm: Double, _ dip: Double) -> Double {
    let a = (n - norm) / (FilterConstants.normWidth * norm)
    let b = (d - dip) / FilterConstants.dipWidth
    return a * a + b * b
  }

  mutating func add(
    norm n: Double, dip d: Double, deviation: Double, duration: Double, weight: Double, isAtRest: Bool
  ) {
    typealias C = FilterConstants
    // Once the field is known, one that changes while the device lies still is not the earth's.
    let isIntruder = isAtRest && deviation > C.disturbedDeviation && time > C.referenceTrial
    let weight = isIntruder ? weight * C.referenceFloor : weight
    time += duration * weight
    // A wrong first field is forgotten fast; an old reference is protected from fields that deviate.
    let age = min(1, time / C.referenceTime)
    let gain =
      duration * weight / min(C.referenceTime, time / C.referenceForgetting + 1)
      * max(C.referenceFloor, 1 / (1 + deviation * age * age))
    let clip = C.referenceNormClip * norm
    norm += gain * max(-clip, min(clip, n - norm))
    dip += gain * max(-C.referenceDipClip, min(C.referenceDipClip, d - dip))
    // A field that is another's, but the same wherever the device turns and for longer than a disturbance lasts, is new.
    guard !isAtRest else { return }
    let memory = lowPassGain(duration, C.newFieldMemory)
    recentNorm += (n - recentNorm) * memory
    recentDip += (d - recentDip) * memory
    let isSame = Self.deviation(n, d, from: recentNorm, recentDip) < C.newFieldScatter
    let isNew = self.deviation(norm: recentNorm, dip: recentDip) > C.disturbedDeviation
    recentTime = isSame && isNew ? recentTime + duration * weight : 0
    if recentTime > C.newFieldTime { (norm, dip, recentTime) = (recentNorm, recentDip, 0) }
  }
}

/// The mean of the heading's innovations: when it contradicts the heading's variance for long, that was too small.
struct HeadingConsistency: Hashable, Sendable {
  private var weight = 0.0
  private var innovation = 0.0

  /// Takes one innovation (rad) with its weight and returns the variance to add to the heading's, rad².
  mutating func add(innovation psi: Double, weight w: Double, duration: Double, variance: Double) -> Double {
    typealias C = FilterConstants
    let gain = duration / C.consistencyTime
    weight += gain * (w - weight)
    innovation += gain * (w * psi - innovation)
    guard weight > C.consistencyWeight else { return 0 }
    let mean = innovation / weight
    return mean * mean > C.consistencyGate * C.consistencyGate * variance ? 2 * gain * mean * mean : 0
  }

  mutating func clear() { self = HeadingConsistency() }
}

/// Watches the mean force in the earth frame: one far from the vertical, and steady, means that the tilt is wrong.
struct LostTiltDetector: Hashable, Sendable {
  private var meanForce = Vector3.zero
  private var meanSquaredAcceleration = 0.0
  private var time = 0.0
  private var lastForce = Vector3.zero
  private var lastIsStill = false
  /// Whether a gap or saturation has left the tilt in doubt.
  private(set) var isDoubtful = false

  /// What to do with the tilt.
  enum Verdict: Hashable, Sendable {
    case keep
    /// Turn this force (earth frame) to the vertical.
    case realign(Vector3)
    /// The same, from a device that lies still.
    case realignStill(Vector3)
  }

  /// Puts the tilt in doubt.
  mutating func doubt() {
    isDoubtful = true
    restart()
  }

  mutating func restart() {
    (meanForce, meanSquaredAcceleration, time) = (.zero, 0, 0)
    lastIsStill = false
  }

  /// Takes the mean force of an interval (earth frame, m/s²), its squared distance from gravity and the mean squared
  /// rate.
  mutating func add(
    force: Vector3, squaredAcceleration: Double, squaredRate: Double, duration: Double
  ) -> Verdict {
    typealias C = FilterConstants
    let window = isDoubtful ? C.doubtfulTiltTime : C.lostTiltTime
    time += duration
    let gain = duration / max(duration, min(time, window))
    meanForce += (force - meanForce) * gain
    meanSquaredAcceleration += (squaredAcceleration - meanSquaredAcceleration) * gain

    if isDoubtful {
      let isStill = squaredRate < C.stillRate * C.stillRate && abs(force.norm - standardGravity) < C.stillForce
      let isSteady = (force - lastForce).squaredNorm < C.stillForce * C.stillForce
      let isConfirmed = isStill && lastIsStill && isSteady
      (lastForce, lastIsStill) = (force, isStill)
      if isConfirmed {
        isDoubtful = false
        restart()
        return .realignStill(force)
      }
    }

    guard time >= window else { return .keep }
    let angle = isDoubtful ? C.doubtfulTiltAngle : C.lostTiltAngle
    let coherence = isDoubtful ? C.doubtfulTiltCoherence : C.lostTiltCoherence
    isDoubtful = false
    let norm = meanForce.norm
    guard norm > C.lostTiltLeastForce * standardGravity, norm < C.lostTiltLargestForce * standardGravity,
      meanForce.z < norm * Elementary.cos(angle)
    else { return .keep }
    let deviation = meanForce - Vector3(0, 0, standardGravity)
    guard deviation.squaredNorm > coherence * meanSquaredAcceleration else { return .keep }
    let force = meanForce
    restart()
    return .realign(force)
  }
}
