/// The hard iron that was learnt while a device is used.
public struct LearntHardIron: Hashable, Sendable {
  /// What is taken off the field, µT, device axes.
  public var offset: Vector3
  /// How good it is, 0 to 100: even coverage of the directions and small residual; falls with age.
  public var qualityPercent: Double
  /// Seconds since new directions last agreed with it; nil before they did.
  public var age: Double?

  /// A hard iron from its parts.
  public init(offset: Vector3, qualityPercent: Double, age: Double?) {
    self.offset = offset
    self.qualityPercent = qualityPercent
    self.age = age
  }
}

/// Learns the hard iron of a magnetometer while the device is used, from whatever directions it happens to take.
///
/// Keeps a few dozen values that differ from each other, so that lying still adds nothing, and fits a sphere to them
/// with the old offset as prior: a direction that was never seen keeps its old value. The offset in use moves to the
/// fitted one over some seconds, so no heading jumps. Allocates at the start only, apart from the fit (once a second).
public struct BackgroundMagnetometerCalibrator: Sendable {
  /// The hard iron in use, µT, device axes; take it off each sample.
  public private(set) var offset: Vector3
  /// How good the last fit was, 0 to 100; falls to half in `halfLife` seconds without a new direction that agrees.
  public private(set) var qualityPercent = 0.0

  /// How long values are kept, s: the iron around a device changes with what is near it.
  static let memory = 600.0
  /// Values kept at most; two differ by this share of the field's strength.
  static let capacity = 64
  static let leastDistance = 0.2
  /// Time between values looked at, and between fits, s.
  static let sampleStep = 0.1
  static let fitStep = 1.0
  /// Time constant with which the offset moves, s.
  static let slewTime = 3.0
  /// 1-sigma of the offset before anything is known, µT, and of single values against a sphere.
  static let priorSigma = 60.0
  static let valueSigma = 1.5
  /// Values that a fit needs, and the residual (share of the radius) beyond which it is not taken.
  static let leastCount = 8
  static let largestResidual = 0.12
  static let goodResidual = 0.06
  /// The share of the old offset's scatter that a new one may have at most.
  static let improvement = 0.5
  /// The field's strength on earth, µT, with a margin: a fit outside is not the earth's field.
  static let plausibleRadius = 15.0...90.0
  /// Time in which quality halves when nothing new is seen, s.
  static let halfLife = 1800.0

  private struct Value: Sendable {
    var vector: Vector3
    var time: Timestamp
  }

  private var values: [Value] = []
  private var target: Vector3
  private var announced: Vector3
  private var lastSample = Timestamp(nanoseconds: .min)
  private var lastFit = Timestamp(nanoseconds: .min)
  private var confirmed: Timestamp?
  private var hasNews = false
  private var radius = 50.0

  /// What is in use, and how good and how old it is.
  public var learnt: LearntHardIron {
    LearntHardIron(
      offset: offset, qualityPercent: qualityPercent, age: confirmed.map { lastSample.seconds(since: $0) })
  }

  /// A calibrator that begins with a stored hard iron, µT.
  public init(offset: Vector3 = .zero) {
    self.offset = offset
    target = offset
    announced = offset
    values.reserveCapacity(Self.capacity)
  }

  /// Takes one field (µT, device axes, as measured). Returns the way that the offset in use is about to go, when a fit has
  /// moved it far from where it was last said to go; nil else.
  @discardableResult
  public mutating func add(_ field: Vector3, at time: Timestamp) -> Vector3? {
    guard field.isFinite, lastSample.nanoseconds == .min || time.seconds(since: lastSample) >= Self.sampleStep else {
      return nil
    }
    let dt = lastSample.nanoseconds == .min ? 0 : min(1, time.seconds(since: lastSample))
    lastSample = time
    offset += (target - offset) * lowPassGain(dt, Self.slewTime)
    qualityPercent *= 1 - dt * (0.6931 / Self.halfLife)
    keep(Value(vector: field, time: time))
    guard hasNews, lastFit.nanoseconds == .min || time.seconds(since: lastFit) >= Self.fitStep else { return nil }
    lastFit = time
    hasNews = false
    fit()
    let shift = target - announced
    guard shift.norm > FilterConstants.ironShift else { return nil }
    announced = target
    return shift
  }

  private mutating func keep(_ value: Value) {
    values.removeAll { value.time.seconds(since: $0.time) > Self.memory }
    let least = Self.leastDistance * radius
    var nearest = Double.infinity
    var index = 0
    for (i, kept) in values.enumerated() {
      let distance = (kept.vector - value.vector).squaredNorm
      if distance < nearest { (nearest, index) = (distance, i) }
    }
    if nearest < least * least {
      // Seen before: its mean becomes better and newer.
      values[index].vector += (value.vector - values[index].vector) * 0.1
      values[index].time = value.time
      return
    }
    hasNews = true
    if values.count == Self.capacity {
      let oldest = values.indices.min { values[$0].time < values[$1].time } ?? 0
      values[oldest] = value
    } else {
      values.append(value)
    }
  }

  /// A sphere |v - c| = r by linear least squares on |v|² = 2 c · v + k, values relative to the offset in use.
  private mutating func fit() {
    guard values.count >= Self.leastCount else { return }
    // An error e of a value is one of 2 r e in |v|².
    let weight = 1 / (4 * radius * radius * Self.valueSigma * Self.valueSigma)
    let mean = values.reduce(Vector3.zero) { $0 + $1.vector } * (1 / Double(values.count))
    var equations = NormalEquations(count: 4)
    for value in values {
      let v = value.vector - mean
      equations.add([2 * v.x, 2 * v.y, 2 * v.z, 1], value: v.squaredNorm, weight: weight)
    }
    let prior = 1 / (Self.priorSigma * Self.priorSigma)
    for (index, value) in [target.x - mean.x, target.y - mean.y, target.z - mean.z].enumerated() {
      equations.addPrior(index, value: value, weight: prior)
    }
    guard let p = equations.solution() else { return }
    let centre = Vector3(p[0], p[1], p[2])
    let squared = p[3] + centre.squaredNorm
    guard squared > 0 else { return }
    let fitted = squared.squareRoot()
    guard Self.plausibleRadius.contains(fitted) else { return }
    let candidate = centre + mean
    let scatter = scatter(about: candidate)
    let residual = scatter / fitted
    guard residual < Self.largestResidual else {
      // The field itself has changed: start anew from what is seen now.
      values.removeAll(keepingCapacity: true)
      return
    }
    // A field that changes from place to place moves a fit too, but makes it hardly better than the old one.
    if residual < Self.goodResidual, scatter < Self.improvement * self.scatter(about: target) {
      (target, radius) = (candidate, fitted)
    }
    // New directions confirm the offset in use, or the new one, where they lie on its sphere.
    let left = self.scatter(about: target) / fitted
    guard left < Self.goodResidual else { return }
    let coverage = EllipsoidFit.coverage(values.map { $0.vector - target })
    qualityPercent = 100 * min(1, 2 * coverage) * (1 - left / Self.largestResidual)
    confirmed = lastFit
  }

  /// Root mean square deviation of the values' distances from a centre from their mean, µT.
  private func scatter(about centre: Vector3) -> Double {
    var (sum, squares) = (0.0, 0.0)
    for value in values {
      let norm = (value.vector - centre).norm
      sum += norm
      squares += norm * norm
    }
    let count = Double(values.count)
    return max(0, squares / count - sum / count * (sum / count)).squareRoot()
  }
}
