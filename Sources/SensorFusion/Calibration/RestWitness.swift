/// What other sensors tell about a gyroscope's rest: a steady turn reads like a bias, but gravity turns with it, unless it
/// is about the vertical, and then the magnetic field does.
///
/// A turn about the vertical of a device without a magnetometer, or slower than the field tells, stays unseen.
struct RestWitness: Sendable {
  /// Forces and fields are averaged over these times, s: long against noise and vibration, short against a turn at
  /// `largestBias`.
  private static let forceSlot = 1.0
  private static let fieldSlot = 0.25
  /// Gravity that turns by more than this, rad: above what the mean of a second's noise does.
  private static let largestTilt = 1 * Double.pi / 180
  /// Least turn by the measured rate, rad, and least number of means, at which the field is asked: below them drifts and
  /// waves look the same. So it sees turns of 2°/s and more in ten seconds.
  private static let leastTurn = 20 * Double.pi / 180
  private static let leastFields = 20
  /// What of the field can turn with a device, µT: the earth's part across the axis, where there is enough to tell.
  private static let turningField = 10.0...100.0
  /// The share of the field's changes that the turn must explain.
  private static let leastShare = 0.9
  /// More than any gyroscope reads at rest, rad/s: 75°/s is the largest zero-rate level in a data sheet (L3G4200D at
  /// 2000°/s).
  static let largestBias = 75 * Double.pi / 180

  private var forces = SlotMeans(length: forceSlot)
  private var fields = SlotMeans(length: fieldSlot)

  /// Takes a sample; only accelerometer and magnetometer tell anything.
  mutating func add(_ sample: SensorSample) {
    guard sample.vector.isFinite else { return }
    if sample.kind == .accelerometer { forces.add(sample) }
    if sample.kind == .magnetometer { fields.add(sample) }
  }

  /// Begins anew.
  mutating func reset() {
    forces.reset()
    fields.reset()
  }

  /// Why what was measured is a turn; nil where nothing says so. `rate` is the mean rate, rad/s, device axes.
  func turn(at rate: Vector3) -> CalibrationFailure? {
    if rate.norm > Self.largestBias { return .turning(.rate(rate.norm)) }
    if let tilt, tilt > Self.largestTilt { return .turning(.gravity(tilt)) }
    return fieldTurns(at: rate) ? .turning(.field) : nil
  }

  /// The largest angle between gravity at the start and later, rad; nil before a second time.
  private var tilt: Double? {
    guard let first = forces.means.first?.value, forces.means.count > 1 else { return nil }
    return forces.means.dropFirst().map { mean in
      Elementary.atan2(first.cross(mean.value).norm, first.dot(mean.value))
    }.max()
  }

  /// Whether the field turns about the rate's axis as it would for a device that really turns.
  ///
  /// In the plane across the axis, as complex numbers, such a field is `c + a·exp(-i·rate·t)`: `c` is what turns with the
  /// device (its own iron), `a` the earth's. Least squares give `a`, and the share of the changes that this explains.
  private func fieldTurns(at rate: Vector3) -> Bool {
    guard let first = fields.means.first, let last = fields.means.last, fields.means.count >= Self.leastFields,
      rate.norm * (last.seconds - first.seconds) >= Self.leastTurn
    else { return false }
    let axis = rate * (1 / rate.norm)
    let (u, v) = axis.plane
    let count = Double(fields.means.count)
    var mean = (field: Vector3.zero, cosine: 0.0, sine: 0.0)
    func phase(_ seconds: Double) -> (cosine: Double, sine: Double) {
      let angle = rate.norm * (seconds - first.seconds)
      return (Elementary.cos(angle), -Elementary.sin(angle))
    }
    for slot in fields.means {
      let turn = phase(slot.seconds)
      mean.field += slot.value * (1 / count)
      mean.cosine += turn.cosine / count
      mean.sine += turn.sine / count
    }
    var (product, turns, changes) = ((real: 0.0, imaginary: 0.0), 0.0, 0.0)
    for slot in fields.means {
      let turn = phase(slot.seconds)
      let (cosine, sine) = (turn.cosine - mean.cosine, turn.sine - mean.sine)
      let change = slot.value - mean.field
      let (x, y) = (change.dot(u), change.dot(v))
      // The field's number times the conjugate of the turn's.
      product.real += x * cosine + y * sine
      product.imaginary += y * cosine - x * sine
      turns += cosine * cosine + sine * sine
      changes += change.squaredNorm
    }
    guard turns > 0, changes > 0 else { return false }
    let square = product.real * product.real + product.imaginary * product.imaginary
    return Self.turningField.contains(square.squareRoot() / turns) && square / turns >= Self.leastShare * changes
  }
}

/// Means of a sensor's samples over times of one length.
private struct SlotMeans: Sendable {
  let length: Double
  /// The time of a mean, s since the first sample, and the mean.
  private(set) var means: [(seconds: Double, value: Vector3)] = []
  private var begin: Timestamp?
  private var sum = Vector3.zero
  private var seconds = 0.0
  private var count = 0
  private var slot = 0

  init(length: Double) { self.length = length }

  mutating func reset() { self = SlotMeans(length: length) }

  mutating func add(_ sample: SensorSample) {
    let start = begin ?? sample.time
    begin = start
    let elapsed = sample.time.seconds(since: start)
    let now = Int((elapsed / length).rounded(.down))
    if now != slot {
      if count > 0 { means.append((seconds / Double(count), sum * (1 / Double(count)))) }
      (sum, seconds, count, slot) = (.zero, 0, 0, now)
    }
    sum += sample.vector
    seconds += elapsed
    count += 1
  }
}

extension Vector3 {
  /// Two unit vectors that span the plane across this one, which is of length 1, so that all three are right-handed.
  fileprivate var plane: (Vector3, Vector3) {
    let other = abs(x) < 0.6 ? Vector3(1, 0, 0) : Vector3(0, 1, 0)
    let across = cross(other)
    let u = across * (1 / across.norm)
    return (u, cross(u))
  }
}
