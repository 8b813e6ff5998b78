/// Steps from a chip's own counter (`in_steps_*`), which tells how many there were, late and in lumps, and not when.
///
/// The first reading is the zero point. A reading that is lower than the one before means that the counter was reset
/// (a restart, a driver that was loaded again): it has counted from 0 since. A reading that jumps by more than anyone
/// can have walked is a new zero point and counts nothing. The steps of a lump are laid out evenly back from its
/// reading, never before the last step or the zero point; their times are estimates, so all are `isInterpolated`.
public struct HardwareSteps: Sendable {
  /// The configuration in use; only the step length of it matters here.
  public let configuration: StepCounter.Configuration
  /// The steps that the newest reading brought, oldest first.
  public private(set) var newSteps: [Step] = []
  /// The pauses and resumptions that the newest reading brought, oldest first.
  public private(set) var newEvents: [PedometerEvent] = []
  /// All steps since the start.
  public private(set) var count: Int64 = 0
  /// Metres walked since the start, an estimate; nil where neither height nor calibration is known.
  public private(set) var distance: Double?
  /// Times that the counter was found reset.
  public private(set) var resets: Int64 = 0
  /// Readings that no walk explains.
  public private(set) var implausible: Int64 = 0

  private var last: (time: Timestamp, value: Int64)?
  /// The last step, or the zero point before there is one.
  private var lastStep = Timestamp(nanoseconds: 0)
  private var isPaused = true

  /// Ordinary walking, s a step: how far apart the steps of a lump were where nothing says otherwise.
  private static let usualInterval = 0.55
  /// The fastest that people step, 1/s, and the most steps that a chip holds back until it is sure.
  private static let fastest = 5.0
  private static let heldBack = 32.0
  /// No step for this long is a pause, s.
  private static let pause = 2.5

  /// A counter before its first reading.
  public init(configuration: StepCounter.Configuration = .init()) {
    self.configuration = configuration
    newSteps.reserveCapacity(Int(Self.heldBack))
    newEvents.reserveCapacity(2)
    if configuration.givesDistance { distance = 0 }
  }

  /// Takes one reading (steps since the counter was reset); returns whether `newSteps` holds anything.
  public mutating func update(time: Timestamp, reading: Double) -> Bool {
    newSteps.removeAll(keepingCapacity: true)
    newEvents.removeAll(keepingCapacity: true)
    // Int64(exactly:) takes what is whole and fits; a counter gives nothing else.
    guard let value = Int64(exactly: reading), value >= 0 else {
      implausible += 1
      return false
    }
    guard let previous = last else {
      last = (time, value)
      lastStep = time
      return false
    }
    last = (time, value)
    var steps = value - previous.value
    if steps < 0 {
      resets += 1
      steps = value
    }
    guard Double(steps) <= Self.fastest * max(0, time.seconds(since: previous.time)) + Self.heldBack else {
      implausible += 1
      return false
    }
    if steps > 0 { add(steps, until: time) }
    if !isPaused, time.seconds(since: lastStep) > Self.pause {
      isPaused = true
      newEvents.append(PedometerEvent(time: lastStep, kind: .pause))
    }
    return !newSteps.isEmpty
  }

  private mutating func add(_ steps: Int64, until time: Timestamp) {
    let interval = min(Self.usualInterval, max(0, time.seconds(since: lastStep)) / Double(steps))
    let cadence = interval > 0 ? min(Self.fastest, 1 / interval) : Self.fastest
    for back in stride(from: steps - 1, through: 0, by: -1) {
      count += 1
      let stamp = time.advanced(bySeconds: -interval * Double(back))
      newSteps.append(Step(time: stamp, number: count, cadence: cadence, isInterpolated: true))
      if let length = configuration.stepLength(cadence: cadence) { distance = (distance ?? 0) + length }
    }
    if isPaused, let first = newSteps.first {
      isPaused = false
      newEvents.append(PedometerEvent(time: first.time, kind: .resume))
    }
    lastStep = time
  }
}
