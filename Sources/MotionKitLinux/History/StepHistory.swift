import Glibc
import SensorFusion

/// Steps, climbs and activities of the last days, in a SQLite file that several programs use at once.
///
/// Every time is stored twice: UTC, by the clock anchor that held when it was written, for the questions; and the boot
/// clock, to tell what was really later. Sums are over step times: a bout that a border cuts counts on both sides
/// exactly, and a day with 23 or 25 hours is no special case. A step belongs to a time from its start up to, not
/// including, its end, so ranges that touch never count a step twice.
///
///     let history = try StepHistory()
///     MotionHistories.setDefault(history)
///     let today = try history.pedometerTotals(from: midnight, to: now)
public final class StepHistory: MotionHistory, Sendable {
  /// The file.
  public let path: String
  let database: Locked<SQLiteDatabase>
  /// How long things are kept, nanoseconds.
  let keep: Int64

  /// The most steps in one row, and the longest time it covers, so that a border cuts little.
  static let rowSteps = 256
  static let rowSpan: Int64 = 3_600_000_000_000
  /// A pause longer than this is no walking, nanoseconds.
  static let longestStep: Int64 = 2_000_000_000

  /// Opens the history, or begins one.
  ///
  /// - Parameters:
  ///   - path: The file; nil for `MOTIONKIT_HISTORY`, else `motionkit/history.sqlite` under `XDG_STATE_HOME`, else under
  ///     `~/.local/state`. Missing directories are made.
  ///   - days: What is older is deleted when something is written; infinity keeps everything, nil is as many days as
  ///     `MOTIONKIT_HISTORY_DAYS` says, else seven.
  /// - Throws: `MotionKitError` where the file cannot be made, read or understood, or the variable makes no sense.
  public init(path: String? = nil, keepingDays days: Double? = nil) throws(MotionKitError) {
    if path == nil, Self.isSwitchedOff {
      throw .unsupported(what: "the step history, switched off by MOTIONKIT_HISTORY=none,", hint: "name its file")
    }
    let path = path ?? Self.defaultPath
    self.path = path
    let nanoseconds: Double
    if let days { nanoseconds = days * 86_400e9 } else { nanoseconds = try Self.keptDays(environment) * 86_400e9 }
    keep = nanoseconds < Double(Int64.max) ? Int64(max(0, nanoseconds)) : .max
    try Self.makeDirectories(for: path)
    let database = try SQLiteDatabase(path: path)
    try Self.prepare(database)
    self.database = Locked(database)
  }

  /// How long a history keeps, days, where nobody says.
  static func keptDays(_ variable: (String) -> String?) throws(MotionKitError) -> Double {
    let number = EnvironmentNumber(
      name: "MOTIONKIT_HISTORY_DAYS", range: 1...100_000, meaning: "how many days a step history keeps, 1 to 100000")
    if let problem = number.problem(variable) { throw problem }
    return number.value(variable) ?? 7
  }

  /// Whether `MOTIONKIT_HISTORY=none` says that the user wants no history.
  public static var isSwitchedOff: Bool { environment("MOTIONKIT_HISTORY") == "none" }

  /// Whether `MOTIONKIT_HISTORY_DAYS` says how long a history keeps.
  public static var isKeptTimeChosen: Bool { environment("MOTIONKIT_HISTORY_DAYS") != nil }

  /// The file that is used when none is named.
  public static var defaultPath: String {
    func environment(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    if let path = environment("MOTIONKIT_HISTORY") { return path }
    let state = environment("XDG_STATE_HOME") ?? (environment("HOME") ?? "/var/tmp") + "/.local/state"
    return state + "/motionkit/history.sqlite"
  }

  private static func makeDirectories(for path: String) throws(MotionKitError) {
    var end = path.startIndex
    while let slash = path[end...].firstIndex(of: "/") {
      let directory = String(path[..<slash])
      end = path.index(after: slash)
      if directory.isEmpty || mkdir(directory, 0o755) == 0 || errno == EEXIST { continue }
      throw .fileSystem(path: directory, errno: errno, hint: "choose another history file, or set XDG_STATE_HOME")
    }
  }

  private static func prepare(_ database: SQLiteDatabase) throws(MotionKitError) {
    // Looked at before anything is written: it may be another program's.
    let found = try database.read { () throws(MotionKitError) in try version(of: database) }
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 500")
    if found == schemaVersion { return }
    // Another program may just have begun it.
    try database.write { () throws(MotionKitError) in
      if try version(of: database) < schemaVersion { try database.execute(schema) }
    }
  }

  /// The version of the tables, 0 for an empty file, as one transaction sees them. Throws for a file that holds
  /// something else.
  private static func version(of database: SQLiteDatabase) throws(MotionKitError) -> Int64 {
    var (version, all, ours): (Int64, Int64, Int64) = (0, 0, 0)
    try database.run("PRAGMA user_version", []) { version = $0.integer(0) }
    let names = tableNames.map { "'\($0)'" }.joined(separator: ", ")
    let count = "SELECT COUNT(*), SUM(type = 'table' AND name IN (\(names))) FROM sqlite_master"
    try database.run(count, []) { (all, ours) = ($0.integer(0), $0.integer(1)) }
    guard version <= schemaVersion || ours < tableNames.count else {
      throw .invalidFile(
        path: database.path, line: 0, column: 0, reason: "it was written by a newer version; update this program")
    }
    guard version == 0 ? all == 0 : ours == tableNames.count else {
      throw .invalidFile(
        path: database.path, line: 0, column: 0,
        reason: "it is another program's database, not a step history; name another file, which may be new")
    }
    return version
  }

  private static let schemaVersion: Int64 = 1
  private static let tableNames = ["sessions", "steps", "climbs", "activities", "recorders"]
  /// `sessions`: one for each writer; `last_utc` is its newest write, so a killed one ends there.
  /// `steps`: up to 256 steps of a bout; `times` holds microseconds from `start_utc`, 32-bit little-endian, a step each.
  /// `recorders`: which session may write for a source, until when on the boot clock.
  private static let schema = """
    CREATE TABLE IF NOT EXISTS sessions (
      id INTEGER PRIMARY KEY, source TEXT NOT NULL, start_utc INTEGER NOT NULL, last_utc INTEGER NOT NULL,
      has_barometer INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE IF NOT EXISTS steps (
      id INTEGER PRIMARY KEY, session INTEGER NOT NULL, start_utc INTEGER NOT NULL, end_utc INTEGER NOT NULL,
      start_boot INTEGER NOT NULL, count INTEGER NOT NULL, lead_ns INTEGER NOT NULL, active_ns INTEGER NOT NULL,
      distance REAL, times BLOB NOT NULL);
    CREATE INDEX IF NOT EXISTS steps_start ON steps (start_utc, end_utc, count, active_ns, distance);
    CREATE TABLE IF NOT EXISTS climbs (
      id INTEGER PRIMARY KEY, session INTEGER NOT NULL, utc INTEGER NOT NULL, boot INTEGER NOT NULL,
      ascent REAL NOT NULL, descent REAL NOT NULL, floors_up INTEGER NOT NULL, floors_down INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS climbs_utc ON climbs (utc);
    CREATE TABLE IF NOT EXISTS activities (
      id INTEGER PRIMARY KEY, session INTEGER NOT NULL, utc INTEGER NOT NULL, boot INTEGER NOT NULL,
      activity INTEGER NOT NULL, confidence INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS activities_utc ON activities (utc);
    CREATE TABLE IF NOT EXISTS recorders (source TEXT PRIMARY KEY, session INTEGER NOT NULL, until INTEGER NOT NULL);
    PRAGMA user_version = 1;
    """

  /// The totals of a time; an empty one has 0 steps. Times are UTC, nanoseconds since 1970-01-01.
  public func pedometerTotals(from start: Int64, to end: Int64) throws(MotionKitError) -> PedometerTotals {
    try database.withLock { (database) throws(MotionKitError) -> PedometerTotals in
      try database.read { () throws(MotionKitError) -> PedometerTotals in
        try Self.totals(database, from: start, to: end)
      }
    }
  }

  private static func totals(
    _ database: SQLiteDatabase, from start: Int64, to end: Int64
  ) throws(MotionKitError) -> PedometerTotals {
    var totals = PedometerTotals()
    guard start < end else { return totals }
    var activeNanoseconds: Int64 = 0
    var distance: Double?
    func add(_ metres: Double?) { if let metres { distance = (distance ?? 0) + metres } }

    // Rows that lie inside as a whole, summed by the library from the index alone.
    let inside = """
      SELECT COUNT(*), SUM(count), SUM(active_ns), SUM(distance) FROM steps
      WHERE start_utc >= ?1 AND start_utc < ?2 AND end_utc < ?2
      """
    try database.run(inside, [.integer(start), .integer(end)]) { row in
      totals.numberOfSteps += Int(row.integer(1))
      activeNanoseconds += row.integer(2)
      add(row.real(3))
    }
    // Rows that a border cuts: step by step.
    let cut = """
      SELECT start_utc, lead_ns, distance, times FROM steps
      WHERE (start_utc >= ?3 AND start_utc < ?1 AND end_utc >= ?1)
         OR (start_utc >= ?1 AND start_utc < ?2 AND end_utc >= ?2)
      """
    let earliest = start.subtractingReportingOverflow(rowSpan)
    let from = earliest.overflow ? Int64.min : earliest.partialValue
    try database.run(cut, [.integer(start), .integer(end), .integer(from)]) { row in
      let first = row.integer(0)
      row.withBlob(3) { bytes in
        let count = bytes.count / 4
        var inside = 0
        var before = first - row.integer(1)
        for i in 0..<count {
          let offset = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * i, as: UInt32.self))
          let time = first + Int64(offset) * 1000
          if time >= start, time < end {
            inside += 1
            if time - before <= longestStep { activeNanoseconds += time - before }
          }
          before = time
        }
        totals.numberOfSteps += inside
        if inside > 0 { add(row.real(2).map { $0 * Double(inside) / Double(count) }) }
      }
    }
    totals.distance = distance
    totals.activeSeconds = Double(activeNanoseconds) / 1e9

    var hasBarometer = false
    let sessions = "SELECT 1 FROM sessions WHERE has_barometer = 1 AND start_utc < ?2 AND last_utc >= ?1 LIMIT 1"
    try database.run(sessions, [.integer(start), .integer(end)]) { _ in hasBarometer = true }
    if hasBarometer {
      let floors = "SELECT SUM(floors_up), SUM(floors_down) FROM climbs WHERE utc >= ?1 AND utc < ?2"
      try database.run(floors, [.integer(start), .integer(end)]) { row in
        totals.floorsAscended = Int(row.integer(0))
        totals.floorsDescended = Int(row.integer(1))
      }
    }
    return totals
  }

  /// Metres climbed and descended in a time; UTC, nanoseconds since 1970-01-01.
  public func climbed(
    from start: Int64, to end: Int64
  ) throws(MotionKitError) -> (ascent: Double, descent: Double) {
    try database.withLock { (database) throws(MotionKitError) -> (ascent: Double, descent: Double) in
      var sums = (ascent: 0.0, descent: 0.0)
      let sql = "SELECT SUM(ascent), SUM(descent) FROM climbs WHERE utc >= ?1 AND utc < ?2"
      try database.run(sql, [.integer(start), .integer(end)]) { row in
        sums = (row.real(0) ?? 0, row.real(1) ?? 0)
      }
      return sums
    }
  }

  /// The climbs and descents that ended in a time, in order; UTC, nanoseconds since 1970-01-01.
  public func climbs(from start: Int64, to end: Int64) throws(MotionKitError) -> [ClimbRecord] {
    try database.withLock { (database) throws(MotionKitError) -> [ClimbRecord] in
      var climbs: [ClimbRecord] = []
      var session: Int64 = 0
      let sql = """
        SELECT session, utc, ascent, descent, floors_up, floors_down FROM climbs
        WHERE utc >= ?1 AND utc < ?2 ORDER BY session, utc, id
        """
      try database.run(sql, [.integer(start), .integer(end)]) { row in
        let (ascent, descent) = (row.real(2) ?? 0, row.real(3) ?? 0)
        var climb = ClimbRecord(startUTCNanoseconds: row.integer(1), height: ascent - descent)
        climb.floorsAscended = Int(row.integer(4))
        climb.floorsDescended = Int(row.integer(5))
        let isSameSession = session == row.integer(0)
        session = row.integer(0)
        if isSameSession, let last = climbs.indices.last, climbs[last].absorb(climb) { return }
        // A row of floors alone belongs to the climb before it, or tells nothing.
        if climb.height != 0 { climbs.append(climb) }
      }
      return climbs.sorted { $0.startUTCNanoseconds < $1.startUTCNanoseconds }
    }
  }

  /// The activities of a time in order, the first of which may have begun before it.
  ///
  /// Where nothing was recorded the activity is unknown: from the end of a session, or the last sign of a killed one.
  public func activities(from start: Int64, to end: Int64) throws(MotionKitError) -> [ActivityRecord] {
    guard start < end else { return [] }
    return try database.withLock { (database) throws(MotionKitError) -> [ActivityRecord] in
      try database.read { () throws(MotionKitError) -> [ActivityRecord] in
        var found: [(record: ActivityRecord, sessionEnd: Int64)] = []
        let columns = "a.utc, a.boot, a.activity, a.confidence, s.last_utc"
        let join = "FROM activities a JOIN sessions s ON s.id = a.session"
        func take(_ row: SQLiteRow) {
          let state = ActivityState(
            time: Timestamp(nanoseconds: row.integer(1)),
            activity: Activity(rawValue: UInt8(clamping: row.integer(2))) ?? .unknown,
            confidence: ActivityConfidence(rawValue: UInt8(clamping: row.integer(3))) ?? .low)
          found.append((ActivityRecord(utcNanoseconds: row.integer(0), state: state), row.integer(4)))
        }
        try database.run(
          "SELECT \(columns) \(join) WHERE a.utc <= ?1 ORDER BY a.utc DESC, a.id DESC LIMIT 1", [.integer(start)],
          row: take)
        try database.run(
          "SELECT \(columns) \(join) WHERE a.utc > ?1 AND a.utc < ?2 ORDER BY a.utc, a.id",
          [.integer(start), .integer(end)], row: take)

        var records: [ActivityRecord] = []
        for (index, item) in found.enumerated() {
          let next = index + 1 < found.count ? found[index + 1].record.utcNanoseconds : Int64.max
          if min(item.sessionEnd, next) > start || item.record.utcNanoseconds >= start { records.append(item.record) }
          guard item.sessionEnd < next, item.sessionEnd < end, item.record.state.activity != .unknown else { continue }
          var gone = item.record
          gone.utcNanoseconds = max(item.sessionEnd, item.record.utcNanoseconds)
          gone.state = ActivityState(time: gone.state.time, activity: .unknown, confidence: .low)
          if gone.utcNanoseconds >= start { records.append(gone) }
        }
        return records
      }
    }
  }

  /// Deletes what is older than the history keeps, seen from `now` (UTC, nanoseconds since 1970-01-01).
  public func prune(now: Int64) throws(MotionKitError) {
    let (limit, overflow) = now.subtractingReportingOverflow(keep)
    if overflow { return }
    try database.withLock { (database) throws(MotionKitError) in
      try database.write { () throws(MotionKitError) in
        try database.run("DELETE FROM steps WHERE end_utc < ?1", [.integer(limit)])
        try database.run("DELETE FROM climbs WHERE utc < ?1", [.integer(limit)])
        // The activity that held at the limit stays: it reaches into what is kept.
        try database.run(
          "DELETE FROM activities WHERE utc < (SELECT MAX(utc) FROM activities WHERE utc <= ?1)", [.integer(limit)])
        try database.run(
          """
          DELETE FROM sessions WHERE last_utc < ?1 AND id NOT IN (SELECT session FROM activities)
          """, [.integer(limit)])
      }
    }
  }
}

extension StepHistory {
  /// Throws where it can be read, but not written. A history that nobody may write answers questions all the same.
  public func checkWritable() throws(MotionKitError) {
    guard database.withLock({ $0.isReadOnly }) else { return }
    throw .notPermitted(
      what: "writing the history \(path)", hint: "check who owns the file and its directory, or name another history")
  }

  /// What SQLite says about the soundness of the file: `ok`, or the first faults.
  public func checkIntegrity() throws(MotionKitError) -> String {
    try database.withLock { (database) throws(MotionKitError) -> String in
      var lines: [String] = []
      try database.run("PRAGMA integrity_check(10)", []) { lines.append($0.text(0)) }
      return lines.joined(separator: "\n")
    }
  }
}

/// A stretch of going up or down in the past.
public struct ClimbRecord: Hashable, Sendable {
  /// When its first metres had shown, UTC, nanoseconds since 1970-01-01.
  public var startUTCNanoseconds: Int64
  /// When its last metres had shown, the same.
  public var endUTCNanoseconds: Int64
  /// Metres, up positive.
  public var height: Double
  /// Floors of it climbed on foot.
  public var floorsAscended = 0
  /// Floors of it descended on foot.
  public var floorsDescended = 0

  /// A climb of which all showed at once.
  public init(startUTCNanoseconds: Int64, height: Double) {
    self.startUTCNanoseconds = startUTCNanoseconds
    endUTCNanoseconds = startUTCNanoseconds
    self.height = height
  }

  /// The longest time between two writes of one climb, and after its end for its floors, ns.
  private static let longestPause: Int64 = 5_000_000_000

  /// Makes `next`, from the same session, part of this climb if it goes on with it; returns whether.
  fileprivate mutating func absorb(_ next: ClimbRecord) -> Bool {
    let pause = next.startUTCNanoseconds.subtractingReportingOverflow(endUTCNanoseconds)
    guard !pause.overflow, (0...Self.longestPause).contains(pause.partialValue), height * next.height >= 0 else {
      return false
    }
    if next.height != 0 { endUTCNanoseconds = next.endUTCNanoseconds }
    height += next.height
    floorsAscended += next.floorsAscended
    floorsDescended += next.floorsDescended
    return true
  }
}
