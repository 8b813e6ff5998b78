/// Counts floors that were climbed on foot: height from the altimeter, as far as steps go with it.
///
/// A metre of a climb counts when there is at least one step for it, from 5 s before the climb to 5 s after it; so an
/// elevator gives no floors. A floor is 3 m.
struct FloorCounter: Sendable {
  /// Floors climbed.
  private(set) var ascended = 0
  /// Floors descended.
  private(set) var descended = 0

  /// Metres a floor, and the share of one that is forgiven.
  private static let floorHeight = 3.0
  private static let forgiven = 0.15
  /// Steps this long before or after a climb belong to it, s.
  private static let around = 5.0

  private var up = 0.0
  private var down = 0.0
  /// The climb whose steps are being counted.
  private var climb = Climb()
  private var steps = 0
  private var credited = 0.0
  /// The times of the newest steps, a ring.
  private var recent = SIMD16<Int64>(repeating: .min)
  private var recentIndex = 0

  /// Takes a step that was released.
  mutating func add(_ step: Step) {
    recent[recentIndex] = step.time.nanoseconds
    recentIndex = (recentIndex + 1) % 16
    guard climb.number > 0, belongs(step.time.nanoseconds) else { return }
    steps += 1
    credit()
  }

  /// Takes the altimeter's newest climb.
  mutating func update(_ newest: Climb) {
    guard newest.number > 0, newest != climb else { return }
    if newest.number != climb.number {
      climb = newest
      credited = 0
      steps = 0
      for i in 0..<16 where recent[i] != .min && belongs(recent[i]) { steps += 1 }
    } else {
      climb = newest
    }
    credit()
  }

  private func belongs(_ time: Int64) -> Bool {
    let time = Timestamp(nanoseconds: time)
    return time.seconds(since: climb.start) >= -Self.around
      && (climb.isOpen || time.seconds(since: climb.end) <= Self.around)
  }

  private mutating func credit() {
    let metres = min(abs(climb.height), Double(steps))
    guard metres > credited else { return }
    if climb.height > 0 { up += metres - credited } else { down += metres - credited }
    credited = metres
    ascended = Int(up / Self.floorHeight + Self.forgiven)
    descended = Int(down / Self.floorHeight + Self.forgiven)
  }
}
