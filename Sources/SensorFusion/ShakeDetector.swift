/// Recognises the shake gesture: quick swings to and fro, each hard, in a row. A bump, a drop or a run is none.
///
/// A swing is a peak of the acceleration beyond gravity; a gesture is four swings, each against the direction of the
/// one before it and 60 to 250 ms after it (2 to 8 Hz there and back). A runner's acceleration has no such mirror
/// image: in flight it is never more than 1 g downwards.
struct ShakeDetector: Sendable {
  /// Least acceleration of a swing, m/s²: beyond the 1 g that free flight can give.
  private static let swing = 12.0
  /// Swings in a row.
  private static let swingsNeeded = 4
  /// Time from one swing to the next, s.
  private static let shortest = 0.06
  private static let longest = 0.25
  /// Cosine of the angle between opposite swings.
  private static let opposite = -0.5
  /// Time constant of the gravity estimate, s.
  private static let gravityTime = 1.0
  /// No second gesture within this time, s.
  private static let pause = 1.0

  private var gravity = Vector3.zero
  private var lastTime: Timestamp?
  private var peak = Vector3.zero
  private var peakTime = Timestamp(nanoseconds: 0)
  private var swings = 0
  private var lastShake: Timestamp?

  /// Takes one accelerometer sample (m/s², device axes); returns whether a gesture was completed by it.
  mutating func update(time: Timestamp, specificForce: Vector3) -> Bool {
    guard let last = lastTime, time > last, time.seconds(since: last) < Self.longest else {
      lastTime = time
      gravity = specificForce
      swings = 0
      return false
    }
    let dt = time.seconds(since: last)
    lastTime = time
    gravity += (specificForce - gravity) * (dt / (Self.gravityTime + dt))
    let force = specificForce - gravity
    let sinceSwing = time.seconds(since: peakTime)
    if swings > 0, sinceSwing > Self.longest { swings = 0 }
    guard force.squaredNorm >= Self.swing * Self.swing else { return false }

    let norms = (force.squaredNorm * peak.squaredNorm).squareRoot()
    if swings > 0, force.dot(peak) < Self.opposite * norms {
      guard sinceSwing >= Self.shortest else {
        // Too fast for a hand: a knock that rings.
        swings = 1
        peak = force
        peakTime = time
        return false
      }
      swings += 1
      peak = force
      peakTime = time
    } else if swings == 0 {
      swings = 1
      peak = force
      peakTime = time
    } else if force.squaredNorm > peak.squaredNorm, force.dot(peak) > -Self.opposite * norms {
      // The same swing, still growing.
      peak = force
      peakTime = time
    }
    guard swings >= Self.swingsNeeded else { return false }
    swings = 0
    if let lastShake, time.seconds(since: lastShake) < Self.pause { return false }
    lastShake = time
    return true
  }
}
