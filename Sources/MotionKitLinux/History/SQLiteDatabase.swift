import CSQLite

/// One connection to a SQLite file, used by one thread at a time. Errors carry SQLite's own words and the path.
final class SQLiteDatabase {
  /// A prepared statement, kept for the life of the connection.
  struct Statement {
    fileprivate let handle: OpaquePointer
  }

  let path: String
  private var connection: OpaquePointer?
  private var statements: [String: Statement] = [:]

  /// How long to wait for another process's transaction, ms.
  private static let patience: Int32 = 10_000

  /// Opens or makes the file.
  init(path: String) throws(MotionKitError) {
    self.path = path
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
    let code = sqlite3_open_v2(path, &connection, flags, nil)
    guard code == SQLITE_OK else {
      let error = fault(code)
      sqlite3_close(connection)
      connection = nil
      throw error
    }
    sqlite3_extended_result_codes(connection, 1)
    sqlite3_busy_timeout(connection, Self.patience)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement.handle) }
    sqlite3_close(connection)
  }

  /// Runs statements that give no rows.
  func execute(_ sql: String) throws(MotionKitError) {
    let code = sqlite3_exec(connection, sql, nil, nil, nil)
    if code != SQLITE_OK { throw fault(code) }
  }

  /// Runs `body` in a transaction that takes the write lock at once; everything in it happens or nothing.
  func write<R>(_ body: () throws(MotionKitError) -> R) throws(MotionKitError) -> R {
    try transaction("BEGIN IMMEDIATE", body)
  }

  /// Runs `body` on one unchanging view of the data.
  func read<R>(_ body: () throws(MotionKitError) -> R) throws(MotionKitError) -> R {
    try transaction("BEGIN", body)
  }

  private func transaction<R>(
    _ begin: String, _ body: () throws(MotionKitError) -> R
  ) throws(MotionKitError) -> R {
    try execute(begin)
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      sqlite3_exec(connection, "ROLLBACK", nil, nil, nil)
      throw error
    }
  }

  /// Runs a statement with values, and `row` for each row it gives.
  func run(
    _ sql: String, _ values: [SQLiteValue], row: (SQLiteRow) -> Void = { _ in }
  ) throws(MotionKitError) {
    let statement = try prepare(sql).handle
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      let code = value.bind(to: statement, at: Int32(index + 1))
      if code != SQLITE_OK { throw fault(code) }
    }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw fault(code) }
      row(SQLiteRow(handle: statement))
    }
  }

  /// Whether the file may only be read.
  var isReadOnly: Bool { sqlite3_db_readonly(connection, "main") == 1 }
  /// Rows that the last statement changed.
  var changes: Int { Int(sqlite3_changes(connection)) }
  /// The id of the row that was inserted last.
  var lastRowID: Int64 { sqlite3_last_insert_rowid(connection) }

  private func prepare(_ sql: String) throws(MotionKitError) -> Statement {
    if let known = statements[sql] { return known }
    var handle: OpaquePointer?
    let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard code == SQLITE_OK, let handle else { throw fault(code) }
    let statement = Statement(handle: handle)
    statements[sql] = statement
    return statement
  }

  private func fault(_ code: Int32) -> MotionKitError {
    let text = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return .busy(what: path, hint: "another program holds the history for long; try again")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      return .invalidFile(
        path: path, line: 0, column: 0, reason: "\(text); move it away, and a new history is begun")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH:
      return .notPermitted(what: "\(path): \(text)", hint: "check the directory's owner, or name another history")
    default:
      return .device(what: "history \(path) (\(text))", errno: sqlite3_system_errno(connection), hint: "")
    }
  }
}

/// A value for a statement.
enum SQLiteValue {
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
  case null

  init(_ value: Double?) { self = value.map { .real($0) } ?? .null }

  fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    // The library copies what it is given before it returns.
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch self {
    case .integer(let value): return sqlite3_bind_int64(statement, index, value)
    case .real(let value): return sqlite3_bind_double(statement, index, value)
    case .text(let value): return sqlite3_bind_text(statement, index, value, -1, copies)
    case .blob(let bytes):
      return bytes.withUnsafeBytes { sqlite3_bind_blob(statement, index, $0.baseAddress, Int32($0.count), copies) }
    case .null: return sqlite3_bind_null(statement, index)
    }
  }
}

/// The row that a statement stands on.
struct SQLiteRow {
  fileprivate let handle: OpaquePointer

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  func real(_ column: Int32) -> Double? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_double(handle, column)
  }
  func text(_ column: Int32) -> String { sqlite3_column_text(handle, column).map { String(cString: $0) } ?? "" }
  func withBlob<R>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let bytes = sqlite3_column_blob(handle, column)
    return body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
