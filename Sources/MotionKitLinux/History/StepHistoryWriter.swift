import SensorFusion

/// Writes a running session into the history: one for each source that is being read.
///
/// A sink like any other: give it each `ProcessedBatch`, and `finish` at the end. It writes about once a second, each
/// time in one transaction; a process that is killed loses that second and nothing else. When two programs read the same
/// source, one of them writes and the other stands by, so no step counts twice; the other takes over within seconds.
public final class StepHistoryWriter: MotionSink {
  /// Steps that were not written because another program writes for the same source.
  public private(set) var standbySteps = 0

  private let history: StepHistory
  private let source: String
  private var anchor: ClockAnchor
  private var session: Int64 = 0
  /// The newest time of any sample, and of the last write.
  private var newest: Timestamp
  private var lastWrite: Timestamp
  private var lastPrune: Timestamp

  private var steps: [Step] = []
  private var distance: Double?
  private var writtenDistance = 0.0
  private var activities: [ActivityState] = []
  private var altitude: AltitudeState?
  private var floors = (up: 0, down: 0)
  private var written = (ascent: 0.0, descent: 0.0, up: 0, down: 0)
  private var hasBarometer = false
  private var row = Row()

  /// The row of steps that is being filled.
  private struct Row {
    var id: Int64 = 0
    var start: Int64 = 0
    var end: Int64 = 0
    var active: Int64 = 0
    var distance: Double?
    var times: [UInt8] = []
    var count: Int { times.count / 4 }
  }

  /// Time between two writes, and between two deletions of what is old, s.
  private static let writeInterval = 0.8
  private static let pruneInterval = 3600.0
  /// How long a writer may be silent before another takes over, ns.
  private static let lease: Int64 = 5_000_000_000

  /// Begins a session.
  ///
  /// - Parameters:
  ///   - history: Where to write.
  ///   - source: The source's URI, the same in all programs that read it.
  ///   - anchor: The boot clock and UTC now.
  /// - Throws: `MotionKitError` where the history cannot be written.
  public init(history: StepHistory, source: String, anchor: ClockAnchor) throws(MotionKitError) {
    self.history = history
    self.source = source
    self.anchor = anchor
    newest = anchor.time
    lastWrite = anchor.time
    lastPrune = anchor.time
    row.times.reserveCapacity(4 * StepHistory.rowSteps)
    try history.prune(now: anchor.utcNanoseconds)
    session = try history.database.withLock { (database) throws(MotionKitError) -> Int64 in
      try database.write { () throws(MotionKitError) -> Int64 in
        let sql = "INSERT INTO sessions (source, start_utc, last_utc) VALUES (?1, ?2, ?2)"
        try database.run(sql, [.text(source), .integer(anchor.utcNanoseconds)])
        return database.lastRowID
      }
    }
  }

  /// Sets the pair of clocks that holds from now on; call it when the wall clock was stepped.
  public func update(anchor: ClockAnchor) throws(MotionKitError) {
    try flush()
    self.anchor = anchor
    row = Row()
  }

  /// Takes one batch; writes when a second has passed.
  public func consume(_ batch: ProcessedBatch) throws(MotionKitError) {
    add(steps: batch.steps, distance: batch.distance)
    activities.append(contentsOf: batch.activities)
    if let last = batch.altitudes.last {
      altitude = last
      hasBarometer = true
      floors = (batch.floorsAscended, batch.floorsDescended)
    }
    if let last = batch.input.samples.last { newest = max(newest, last.time) }
    if newest.seconds(since: lastWrite) >= Self.writeInterval { try flush() }
  }

  /// Takes steps alone, such as those of a chip's own counter.
  ///
  /// - Parameters:
  ///   - steps: In order of time.
  ///   - distance: Metres walked since the session began, nil where not known.
  public func add(steps: [Step], distance: Double?) {
    self.steps.append(contentsOf: steps)
    if let distance { self.distance = distance }
    if let last = steps.last { newest = max(newest, last.time) }
  }

  /// Writes everything and ends the session: the activity is unknown from here on.
  public func finish() throws(MotionKitError) {
    activities.append(ActivityState(time: newest, activity: .unknown, confidence: .low))
    try flush(releasing: true)
  }

  /// Writes what has come since the last write, in one transaction.
  public func flush() throws(MotionKitError) { try flush(releasing: false) }

  private func flush(releasing: Bool) throws(MotionKitError) {
    let saved = (row, writtenDistance, written)
    do {
      let isOurs = try history.database.withLock { (database) throws(MotionKitError) -> Bool in
        try database.write { () throws(MotionKitError) -> Bool in
          guard try takeTurn(database, releasing: releasing) else { return false }
          try writeSteps(database)
          try writeClimb(database)
          try writeActivities(database)
          try database.run(
            "UPDATE sessions SET last_utc = ?1, has_barometer = ?2 WHERE id = ?3",
            [.integer(utc(newest)), .integer(hasBarometer ? 1 : 0), .integer(session)])
          return true
        }
      }
      if !isOurs { stepAside() }
    } catch {
      (row, writtenDistance, written) = saved
      throw error
    }
    steps.removeAll(keepingCapacity: true)
    activities.removeAll(keepingCapacity: true)
    lastWrite = newest
    if newest.seconds(since: lastPrune) >= Self.pruneInterval {
      lastPrune = newest
      try history.prune(now: utc(newest))
    }
  }

  private func utc(_ time: Timestamp) -> Int64 {
    anchor.utcNanoseconds &+ (time.nanoseconds &- anchor.time.nanoseconds)
  }

  /// Whether this session is the one that writes for its source.
  private func takeTurn(_ database: SQLiteDatabase, releasing: Bool) throws(MotionKitError) -> Bool {
    let now = newest.nanoseconds
    // A lease further ahead than one can be is from before the machine was started again.
    let sql = """
      INSERT INTO recorders (source, session, until) VALUES (?1, ?2, ?3)
      ON CONFLICT (source) DO UPDATE SET session = ?2, until = ?3
      WHERE session = ?2 OR until < ?4 OR until > ?4 + ?5
      """
    // Free at once for whoever comes next, whatever its clock says.
    let until = releasing ? Int64.min : now + Self.lease
    try database.run(
      sql, [.text(source), .integer(session), .integer(until), .integer(now), .integer(2 * Self.lease)])
    return database.changes > 0
  }

  /// Another program writes for this source: what came since is in its rows.
  private func stepAside() {
    standbySteps += steps.count
    if let distance { writtenDistance = distance }
    if let altitude { written = (altitude.ascent, altitude.descent, floors.up, floors.down) }
    row = Row()
  }

  private func writeSteps(_ database: SQLiteDatabase) throws(MotionKitError) {
    guard !steps.isEmpty else { return }
    let metres = distance.map { ($0 - writtenDistance) / Double(steps.count) }
    if let distance { writtenDistance = distance }
    for step in steps {
      let time = utc(step.time)
      let gap = time - row.end
      let isNext = row.count > 0 && gap >= 0 && time - row.start < StepHistory.rowSpan
      if row.count == 0 || row.count >= StepHistory.rowSteps || !isNext || gap > StepHistory.longestStep {
        if row.count > 0 { try store(database) }
        let lead = row.count > 0 && isNext && gap <= StepHistory.longestStep ? gap : Int64.max
        try begin(database, at: time, boot: step.time, lead: lead)
      } else {
        row.active += gap
      }
      let offset = UInt32(clamping: (time - row.start) / 1000).littleEndian
      withUnsafeBytes(of: offset) { row.times.append(contentsOf: $0) }
      row.end = time
      if let metres { row.distance = (row.distance ?? 0) + metres }
    }
    try store(database)
  }

  private func begin(
    _ database: SQLiteDatabase, at time: Int64, boot: Timestamp, lead: Int64
  ) throws(MotionKitError) {
    let hasLead = lead != .max
    row.start = time
    row.end = time
    row.active = hasLead ? lead : 0
    row.distance = nil
    row.times.removeAll(keepingCapacity: true)
    // A step without one before it has a lead too long to count.
    try database.run(
      """
      INSERT INTO steps (session, start_utc, end_utc, start_boot, count, lead_ns, active_ns, distance, times)
      VALUES (?1, ?2, ?2, ?3, 0, ?4, 0, NULL, x'')
      """,
      [
        .integer(session), .integer(time), .integer(boot.nanoseconds),
        .integer(hasLead ? lead : StepHistory.longestStep + 1),
      ])
    row.id = database.lastRowID
  }

  private func store(_ database: SQLiteDatabase) throws(MotionKitError) {
    try database.run(
      "UPDATE steps SET end_utc = ?1, count = ?2, active_ns = ?3, distance = ?4, times = ?5 WHERE id = ?6",
      [
        .integer(row.end), .integer(Int64(row.count)), .integer(row.active), SQLiteValue(row.distance),
        .blob(row.times), .integer(row.id),
      ])
  }

  private func writeClimb(_ database: SQLiteDatabase) throws(MotionKitError) {
    guard let altitude else { return }
    let now = (altitude.ascent, altitude.descent, floors.up, floors.down)
    guard now != written else { return }
    try database.run(
      """
      INSERT INTO climbs (session, utc, boot, ascent, descent, floors_up, floors_down)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """,
      [
        .integer(session), .integer(utc(altitude.time)), .integer(altitude.time.nanoseconds),
        .real(now.0 - written.ascent), .real(now.1 - written.descent), .integer(Int64(now.2 - written.up)),
        .integer(Int64(now.3 - written.down)),
      ])
    written = now
  }

  private func writeActivities(_ database: SQLiteDatabase) throws(MotionKitError) {
    for state in activities {
      try database.run(
        "INSERT INTO activities (session, utc, boot, activity, confidence) VALUES (?1, ?2, ?3, ?4, ?5)",
        [
          .integer(session), .integer(utc(state.time)), .integer(state.time.nanoseconds),
          .integer(Int64(state.activity.rawValue)), .integer(Int64(state.confidence.rawValue)),
        ])
    }
  }
}
