/// A stretch of going up or down, faster than the weather.
public struct Climb: Hashable, Sendable {
  /// Counts climbs from 1; 0 before the first.
  public var number = 0
  /// When it began.
  public var start = Timestamp(nanoseconds: 0)
  /// When it ended, or the newest sample while it goes on.
  public var end = Timestamp(nanoseconds: 0)
  /// Metres, up positive.
  public var height = 0.0
  /// Whether it goes on.
  public var isOpen = false

  /// No climb.
  public init() {}
}

/// Cuts the filtered height into climbs, adds them up, and watches for pressure changes without motion.
struct ClimbTracker: Sendable {
  /// The newest climb that counts.
  private(set) var climb = Climb()
  /// Metres gone up and down in climbs.
  private(set) var ascent = 0.0
  private(set) var descent = 0.0
  /// The height changed while nothing moved.
  private(set) var isPressureOnlyChange = false

  /// A climb starts at this speed and ends below the lower one held for the time; m/s and s. Weather stays below.
  private static let startSpeed = 0.10
  private static let endSpeed = 0.05
  private static let endHold = 2.0
  /// The least height that counts, m.
  private static let leastHeight = 0.8
  /// The flag: this change, m, within this time, s, without motion.
  private static let flagHeight = 0.5
  private static let flagTime = 10.0

  /// Heights every half second over the last 10 s, a ring.
  private var past = [Double](repeating: 0, count: slots)
  private var pastTimes = [Timestamp](repeating: Timestamp(nanoseconds: .min), count: slots)
  private var next = 0
  private static let slots = 20
  private static let spacing = 0.5
  /// How far back a climb may have begun before its speed shows, s.
  private static let lookBack = 4.0

  private var direction = 0.0
  private var foot = 0.0
  private var footTime = Timestamp(nanoseconds: 0)
  private var farthest = 0.0
  private var counted = 0.0
  private var slowSince: Timestamp?
  private var stillSince: Timestamp?
  private var number = 0

  mutating func update(time: Timestamp, height: Double, speed: Double, isStationary: Bool) {
    watchStillness(time: time, height: height, isStationary: isStationary)
    if direction != 0 {
      advance(time: time, height: height, speed: speed)
    }
    if direction == 0, abs(speed) >= Self.startSpeed {
      begin(time: time, height: height, direction: speed > 0 ? 1 : -1)
      advance(time: time, height: height, speed: speed)
    }
    let last = pastTimes[(next + Self.slots - 1) % Self.slots]
    if time.seconds(since: last) >= Self.spacing {
      past[next] = height
      pastTimes[next] = time
      next = (next + 1) % Self.slots
    }
  }

  private mutating func begin(time: Timestamp, height: Double, direction: Double) {
    self.direction = direction
    foot = height
    footTime = time
    for i in 0..<Self.slots where time.seconds(since: pastTimes[i]) <= Self.lookBack {
      // Not before the end of the climb before this one.
      if climb.number > 0, !climb.isOpen, pastTimes[i] < climb.end { continue }
      if (past[i] - foot) * direction < 0 {
        foot = past[i]
        footTime = pastTimes[i]
      }
    }
    farthest = 0
    counted = 0
    slowSince = nil
  }

  private mutating func advance(time: Timestamp, height: Double, speed: Double) {
    farthest = max(farthest, (height - foot) * direction)
    if farthest >= Self.leastHeight {
      if counted == 0 {
        number += 1
        climb = Climb()
        climb.number = number
        climb.start = footTime
        climb.isOpen = true
      }
      if direction > 0 { ascent += farthest - counted } else { descent += farthest - counted }
      counted = farthest
      climb.height = direction * farthest
      climb.end = time
    }
    if speed * direction < Self.endSpeed {
      if slowSince == nil { slowSince = time }
    } else {
      slowSince = nil
    }
    let isOver = slowSince.map { time.seconds(since: $0) >= Self.endHold } ?? false
    if isOver || -speed * direction > Self.startSpeed {
      if counted > 0 {
        climb.isOpen = false
        climb.end = slowSince ?? time
      }
      direction = 0
    }
  }

  private mutating func watchStillness(time: Timestamp, height: Double, isStationary: Bool) {
    guard isStationary else {
      stillSince = nil
      isPressureOnlyChange = false
      return
    }
    let since = stillSince ?? time
    stillSince = since
    isPressureOnlyChange = false
    guard time.seconds(since: since) >= Self.flagTime else { return }
    for i in 0..<Self.slots where time.seconds(since: pastTimes[i]) <= Self.flagTime {
      if abs(past[i] - height) > Self.flagHeight { isPressureOnlyChange = true }
    }
  }
}
