import SensorFusion

/// The rows of one file, with the columns that matter as numbers.
final class ImportTable {
  /// What is in a cell.
  enum Cell: UInt8 {
    case value, blank, notFinite
  }

  /// A column of numbers.
  struct Values {
    var numbers: [Double] = []
    var cells: [Cell] = []
  }

  let path: String
  let fileName: String
  let format: ImportFormat
  let columns: [ImportColumn]
  /// The column that orders the rows; nil where the log has none.
  private(set) var timeColumn: Int?
  private(set) var wallColumn: Int?
  /// Why the time is read as it is; empty where the header says it.
  private(set) var timeNote = ""
  /// Nanoseconds of each row by the time column.
  private(set) var times: [Int64] = []
  /// Nanoseconds of each row by the wall clock, where the log has one beside the time.
  private(set) var wallTimes: [Int64] = []
  /// Place of each row in its batch.
  private(set) var batchIndices: [Int64] = []
  /// Number of each row, where the log numbers them.
  private(set) var rowNumbers: [Int64] = []
  /// The line of each row.
  private(set) var lines: [Int] = []
  private(set) var values: [Int: Values] = [:]
  private(set) var notes: [(row: Int, text: String)] = []
  private(set) var report = ReadReport()
  /// The first cells of the time column, as they stand.
  let timePreview: [String]

  private let layout: ImportLayout
  private var decimals = 9
  private var isDate = false
  private var wallDecimals = 9
  private var wallIsDate = false
  private var dateOrder = DateText.Order.monthFirst
  /// Whether the file has no header, so that a column is known by its number.
  var hasNoHeader: Bool { layout.headerLine == 0 }
  /// Whether the file has a header and no rows.
  var isHeaderOnly: Bool { layout.isHeaderOnly }

  /// Reads a file; nil if it holds no rows of cells.
  convenience init?(
    path: String, fileName: String, options: ImportOptions, metadata: ImportFormat.SensorLoggerMetadata
  ) throws(MotionKitError) {
    guard let layout = try ImportLayout(path: path) else { return nil }
    try self.init(path: path, fileName: fileName, layout: layout, options: options, metadata: metadata)
  }

  init(
    path: String, fileName: String, layout: ImportLayout, options: ImportOptions,
    metadata: ImportFormat.SensorLoggerMetadata
  ) throws(MotionKitError) {
    self.path = path
    self.fileName = fileName
    self.layout = layout
    format = ImportFormat(fileName: fileName, layout: layout, metadata: metadata)
    columns = try Self.named(format.columns, options: options, path: path)
    var ranked: [(rank: Int, index: Int)] = []
    for (index, column) in columns.enumerated() {
      if case .time(let rank) = column.role { ranked.append((rank, index)) }
    }
    ranked.sort { $0 < $1 }
    timeColumn = ranked.first?.index
    if let first = ranked.first, first.rank <= ImportColumn.TimeRank.elapsed {
      wallColumn = ranked.first { $0.rank == ImportColumn.TimeRank.wall }?.index
    }
    if let timeColumn {
      timePreview = layout.preview.compactMap { $0.indices.contains(timeColumn) ? $0[timeColumn] : nil }
    } else {
      timePreview = []
    }
    guard hasValues else { return }
    if let timeColumn {
      (decimals, isDate, timeNote) = try timeUnit(of: timeColumn, preview: timePreview, options: options)
    }
    if let wallColumn {
      let preview = layout.preview.compactMap { $0.indices.contains(wallColumn) ? $0[wallColumn] : nil }
      if let unit = try? timeUnit(of: wallColumn, preview: preview, options: ImportOptions()) {
        (wallDecimals, wallIsDate, _) = unit
      } else {
        self.wallColumn = nil
      }
    }
    try readRows()
  }

  /// Whether a column holds something that can be imported.
  var hasValues: Bool {
    columns.contains { column in
      switch column.role {
      case .value, .bareAxis: true
      default: false
      }
    }
  }

  /// Gives the columns that the user names their roles, and bare axes an accelerometer's.
  private static func named(
    _ found: [ImportColumn], options: ImportOptions, path: String
  ) throws(MotionKitError) -> [ImportColumn] {
    var columns = found
    for (role, name) in options.columns.sorted(by: { $0.key < $1.key }) {
      guard let index = columns.firstIndex(where: { $0.name == name }) else {
        throw .invalidFile(
          path: path, line: 1, column: 1,
          reason: "it has no column '\(name)'; it has \(columns.map(\.name).joined(separator: ", "))")
      }
      let parts = role.split(separator: ".")
      let axis = parts.count == 2 ? ["x": 0, "y": 1, "z": 2][String(parts[1])] : 0
      if role == "time" {
        columns[index].role = .time(rank: -1)
      } else if let name = parts.first, let quantity = ImportQuantity(rawValue: String(name)), let axis {
        for other in columns.indices {
          if case .value(quantity, axis: axis, _) = columns[other].role { columns[other].role = .unknown }
        }
        columns[index].role = .value(quantity, axis: axis, isUncalibrated: false)
      } else {
        throw .unsupported(
          what: "the column role '\(role)'", hint: "use time, accel.x, gyro.y, mag.z, pressure or temperature")
      }
    }
    let hasQuantity = columns.contains { if case .value(let q, _, _) = $0.role { q == .acceleration } else { false } }
    if !hasQuantity {
      for index in columns.indices {
        if case .bareAxis(let axis) = columns[index].role {
          // The unit tells what it is; without one x, y, z are an accelerometer's, as in every log seen.
          let quantity = columns[index].unit.flatMap { unit in
            [ImportQuantity.acceleration, .rotation, .field].first { ImportUnit.factor(unit, $0) != nil }
          }
          columns[index].role = .value(quantity ?? .acceleration, axis: axis, isUncalibrated: false)
        }
      }
    }
    return columns
  }

  // MARK: Time

  private func timeUnit(
    of column: Int, preview: [String], options: ImportOptions
  ) throws(MotionKitError) -> (decimals: Int, isDate: Bool, note: String) {
    let name = columns[column].name
    if let first = preview.first(where: { !$0.isEmpty }),
      DateText.nanoseconds(first) != nil
        || DateText.nanoseconds(first, order: .dayFirst) != nil
    {
      guard let (order, isSure) = DateText.order(of: preview) else { return (9, true, "") }
      dateOrder = order
      return (9, true, isSure ? "" : "column '\(name)' is read as month/day/year")
    }
    if let text = options.timeUnit {
      guard let decimals = ImportUnit.timeDecimals(text) else {
        throw .unsupported(what: "the time unit '\(text)'", hint: "use s, ms, us or ns")
      }
      return (decimals, false, "")
    }
    if let text = columns[column].unit ?? format.timeUnit, let decimals = ImportUnit.timeDecimals(text) {
      return (decimals, false, "")
    }
    return try deducedUnit(name, preview: preview)
  }

  /// Rates that a log of a motion sensor can have, Hz.
  private static let possibleRates = 0.5...8000.0
  /// Seconds from 1970 to 2001 and to 2065: dates that a log can have.
  private static let possibleEpochs = 978e6...3e9

  /// The only unit that gives a date of our time, or else the only one that gives a possible rate.
  private func deducedUnit(
    _ name: String, preview: [String]
  ) throws(MotionKitError) -> (decimals: Int, isDate: Bool, note: String) {
    let text = layout.hasDecimalComma ? preview.map { String($0.map { $0 == "," ? "." : $0 }) } : preview
    let numbers = text.compactMap { Double($0) }
    guard let first = numbers.first else { return (9, false, "") }
    let units = [("s", 9, 1.0), ("ms", 6, 1e-3), ("us", 3, 1e-6), ("ns", 0, 1e-9)]
    if let unit = units.first(where: { Self.possibleEpochs.contains(first * $0.2) }) {
      return (unit.1, false, "time column '\(name)' read as \(unit.0) since 1970")
    }
    let steps = zip(numbers, numbers.dropFirst()).map { $1 - $0 }.filter { $0 > 0 }.sorted()
    // No step to tell by: the checks of the times speak.
    guard !steps.isEmpty else { return (9, false, "") }
    let typical = steps[steps.count / 2]
    let possible = units.filter { Self.possibleRates.contains(1 / (typical * $0.2)) }
    if possible.isEmpty {
      throw .invalidFile(
        path: path, line: max(layout.headerLine, 1), column: 1,
        reason:
          "the time column '\(name)' has no unit, and with steps of \(typical) none from seconds to nanoseconds fits; give"
          + " the samples per second (--rate with --assume-rate), or another column (--columns time=NAME)")
    }
    guard possible.count == 1, let unit = possible.first else {
      throw .invalidFile(
        path: path, line: max(layout.headerLine, 1), column: 1,
        reason: "the time column '\(name)' has no unit, and its steps of \(typical) may be "
          + possible.map { "\($0.0) (\(1 / (typical * $0.2)) Hz)" }.joined(separator: " or ")
          + "; say which (--time-unit)")
    }
    return (
      unit.1, false, "time column '\(name)' read as \(unit.0): no other unit gives a possible rate"
    )
  }

  // MARK: Rows

  private func readRows() throws(MotionKitError) {
    let reader = try importLines(path)
    let wanted = wantedColumns()
    for index in columns.indices where wanted[index] == .value { values[index] = Values() }
    var scratch: [UInt8] = []
    var badCells = 0
    var firstBad: MotionKitError?
    var firstBadWidth: (line: Int, cells: Int)?
    let width = columns.count
    while let line = try reader.next() {
      if line.number <= layout.headerLine { continue }
      if line.isDamaged {
        report.add(.damagedLine, file: fileName, line: line.number)
        continue
      }
      if line.isBlank { continue }
      if let remark = ImportLayout.comment(line) {
        if !lines.isEmpty, !remark.isEmpty { notes.append((lines.count, remark)) }
        continue
      }
      if layout.headerLine > 0, lines.isEmpty, ImportLayout.decode(line) == layout.names.joined(separator: ",") {
        continue
      }
      var row = Row(width: width)
      Self.normalize(line, layout, into: &scratch)
      let count = parse(scratch, wanted, &row)
      guard count == width else {
        if layout.headerLine == 0, lines.isEmpty { continue }
        if firstBadWidth == nil { firstBadWidth = (line.number, count) }
        report.add(.wrongWidth, file: fileName, line: line.number, detail: "expected \(width) fields, found \(count)")
        continue
      }
      if let bad = row.badColumn {
        badCells += 1
        let text = CSVText.cells(ImportLayout.decode(line), separator: layout.separator)
        let cell = text.indices.contains(bad) ? text[bad] : ""
        let reason =
          "'\(cell)' in column '\(columns[bad].name)' is \(bad == timeColumn ? wordsOfBadTime(cell) : "no number")"
        if firstBad == nil {
          firstBad = .invalidFile(path: path, line: line.number, column: row.badOffset + 1, reason: reason)
        }
        report.add(.badRow, file: fileName, line: line.number, detail: reason)
        continue
      }
      take(row, line)
    }
    if reader.tornBytes > 0 { report.add(.tornLastLine, file: fileName, line: reader.lineNumber + 1) }
    if reader.hasByteOrderMark { report.add(.byteOrderMark, file: fileName, line: 1) }
    if reader.crlfLines > 0 { report.add(.crlf, file: fileName, count: Int64(reader.crlfLines)) }
    if let firstBad, badCells * 10 > lines.count { throw firstBad }
    if lines.isEmpty, let firstBadWidth {
      let cause =
        firstBadWidth.cells > width
        ? "; does it have decimal commas and commas between the fields? Then save it with points or semicolons"
        : ""
      throw .invalidFile(
        path: path, line: firstBadWidth.line, column: 1,
        reason: "no sample rows: expected \(width) fields, found \(firstBadWidth.cells)\(cause)")
    }
  }

  /// What is wrong with a cell of the time column.
  private func wordsOfBadTime(_ cell: String) -> String {
    if isDate { return "no date and time as the rows before have it" }
    // In nanoseconds 64 bits hold no more.
    return Double(cell) == nil ? "no number" : "no time: more than 292 years (is the unit right? --time-unit)"
  }

  /// Puts the rows into another order, or leaves some out: `order` names for each place the row that comes there.
  func reorder(_ order: [Int]) {
    let count = lines.count
    func moved<T>(_ all: [T]) -> [T] { all.count == count ? order.map { all[$0] } : all }
    times = moved(times)
    wallTimes = moved(wallTimes)
    batchIndices = moved(batchIndices)
    rowNumbers = moved(rowNumbers)
    lines = moved(lines)
    for column in values.keys {
      guard let old = values[column] else { continue }
      values[column] = Values(numbers: moved(old.numbers), cells: moved(old.cells))
    }
    var places = [Int?](repeating: nil, count: count)
    for (place, row) in order.enumerated() { places[row] = place }
    notes = notes.compactMap { note in
      guard places.indices.contains(note.row) else { return note }
      return places[note.row].map { ($0, note.text) }
    }
  }

  /// Leaves rows out whose time lies far ahead of the rows around them, which go on without it; counted.
  func dropRowsAhead() {
    let ahead = ImportOrder.rowsAhead(times)
    guard !ahead.isEmpty else { return }
    for row in ahead { report.add(.ahead, file: fileName, line: lines[row]) }
    let gone = Set(ahead)
    reorder(lines.indices.filter { !gone.contains($0) })
  }

  /// Nanoseconds in one unit of the time column.
  var timeStep: Int64 { (0..<decimals).reduce(1) { step, _ in step * 10 } }

  private enum Wanted { case nothing, time, wall, batchIndex, index, note, value }

  private func wantedColumns() -> [Wanted] {
    columns.indices.map { index in
      if index == timeColumn { return .time }
      if index == wallColumn { return .wall }
      switch columns[index].role {
      case .batchIndex: return .batchIndex
      case .index: return timeColumn == nil ? .index : .nothing
      case .note: return .note
      case .value: return .value
      default: return .nothing
      }
    }
  }

  /// One row on its way into the columns.
  private struct Row {
    var time: Int64?
    var wall: Int64?
    var batchIndex: Int64?
    var index: Int64?
    var noteColumn: Int?
    var numbers: [Double]
    var cells: [Cell]
    var badColumn: Int?
    var badOffset = 0

    init(width: Int) {
      numbers = Array(repeating: .nan, count: width)
      cells = Array(repeating: .blank, count: width)
    }
  }

  /// Brings a line into the form of this project's files: commas between, points in numbers. Commas inside quotes
  /// become a byte that no number has.
  private static func normalize(_ line: TextLine, _ layout: ImportLayout, into scratch: inout [UInt8]) {
    scratch.removeAll(keepingCapacity: true)
    var isQuoted = false
    var wasBlank = true
    if layout.hasThousands {
      // `1.013,25`: rare, so by cells.
      for (index, cell) in CSVText.cells(ImportLayout.decode(line), separator: layout.separator).enumerated() {
        if index > 0 { scratch.append(UInt8(ascii: ",")) }
        let isNumber = cell.utf8.allSatisfy { (48...57).contains($0) || "+-.,eE".utf8.contains($0) }
        for byte in cell.utf8 where !(isNumber && byte == UInt8(ascii: ".") && cell.contains(",")) {
          scratch.append(byte == UInt8(ascii: ",") ? UInt8(ascii: ".") : byte)
        }
      }
      scratch.append(0x0A)
      return
    }
    for byte in UnsafeBufferPointer(start: line.start, count: line.count) {
      if byte == 0x22 { isQuoted.toggle() }
      if layout.separator == 0x20 {
        let isBlank = byte == 0x20 || byte == 0x09
        if isBlank {
          if !wasBlank { scratch.append(UInt8(ascii: ",")) }
        } else {
          scratch.append(byte)
        }
        wasBlank = isBlank
      } else if byte == layout.separator, !isQuoted {
        scratch.append(UInt8(ascii: ","))
      } else if byte == UInt8(ascii: ",") {
        scratch.append(layout.hasDecimalComma ? UInt8(ascii: ".") : 1)
      } else {
        scratch.append(byte)
      }
    }
    if layout.separator == 0x20, scratch.last == UInt8(ascii: ",") { scratch.removeLast() }
    scratch.append(0x0A)
  }

  /// Reads a row's cells; returns how many there are.
  private func parse(_ scratch: [UInt8], _ wanted: [Wanted], _ row: inout Row) -> Int {
    scratch.withUnsafeBufferPointer { buffer in
      guard var p = buffer.baseAddress else { return 0 }
      let start = p
      let end = p + (buffer.count - 1)
      var column = 0
      while true {
        let cellStart = p
        var status = CellStatus.value
        var time: Int64 = 0
        switch column < wanted.count ? wanted[column] : .nothing {
        case .nothing: CSVText.skipCell(&p, end: end)
        case .note:
          row.noteColumn = column
          CSVText.skipCell(&p, end: end)
        case .time:
          status = readTime(&p, end: end, decimals: decimals, isDate: isDate, into: &time)
          if status == .value { row.time = time }
        case .wall:
          status = readTime(&p, end: end, decimals: wallDecimals, isDate: wallIsDate, into: &time)
          if status == .value { row.wall = time }
          status = .value
        case .batchIndex:
          status = NumberText.readTime(&p, end: end, decimals: 0, into: &time)
          if status == .value { row.batchIndex = time }
        case .index:
          status = NumberText.readTime(&p, end: end, decimals: 0, into: &time)
          if status == .value { row.index = time }
        case .value:
          status = NumberText.readDouble(&p, end: end, into: &row.numbers[column])
          if status == .value { row.cells[column] = row.numbers[column].isFinite ? .value : .notFinite }
        }
        if status == .bad, row.badColumn == nil {
          row.badColumn = column
          row.badOffset = cellStart - start
        }
        column += 1
        if p >= end { return column }
        p += 1
      }
    }
  }

  private func readTime(
    _ p: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, decimals: Int, isDate: Bool, into time: inout Int64
  ) -> CellStatus {
    guard isDate else { return NumberText.readTime(&p, end: end, decimals: decimals, into: &time) }
    let (first, last) = NumberText.cell(&p, end: end)
    guard first < last else { return .blank }
    let text = String(decoding: UnsafeBufferPointer(start: first, count: last - first), as: UTF8.self)
    guard let nanoseconds = DateText.nanoseconds(text, order: dateOrder) else { return .bad }
    time = nanoseconds
    return .value
  }

  private func take(_ row: Row, _ line: TextLine) {
    if timeColumn != nil {
      guard let time = row.time else {
        report.add(.blankRow, file: fileName, line: line.number)
        return
      }
      times.append(time)
      if wallColumn != nil { wallTimes.append(row.wall ?? wallTimes.last ?? 0) }
    }
    if let batchIndex = row.batchIndex { batchIndices.append(batchIndex) }
    if let index = row.index { rowNumbers.append(index) }
    for index in values.keys {
      values[index]?.numbers.append(row.numbers[index])
      values[index]?.cells.append(row.cells[index])
    }
    if let column = row.noteColumn {
      let cells = CSVText.cells(ImportLayout.decode(line), separator: layout.separator)
      if cells.indices.contains(column), !cells[column].isEmpty { notes.append((lines.count, cells[column])) }
    }
    lines.append(line.number)
  }
}
