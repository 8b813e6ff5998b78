import SensorFusion

/// Reads one raw file of a session, row by row.
final class SampleFileReader {
  let kind: SensorKind
  let file: SessionFile
  /// What was tolerated so far.
  private(set) var report = ReadReport()
  /// Rows delivered.
  private(set) var rows: Int64 = 0

  private let lines: LineReader
  /// Whether a row with a cell that is no number is dropped and counted; otherwise it is an error.
  private let skipsBadRows: Bool
  /// For each column of the file which value it holds: 0 the time, 1… the values, -1 none that is known.
  private var roles: [Int8] = []
  private var valueCount: Int
  /// Whether the columns are exactly those that this software writes, so that rows can be read in one go.
  private var isPlain = false
  /// The newest row's time; the beginning of time before the first.
  private var newest = Timestamp(nanoseconds: .min)
  private(set) var isAtEnd = false
  private var firstBadWidth: (line: Int, cells: Int)?

  /// Opens the file and reads its header.
  init(_ kind: SensorKind, lines: LineReader, skipsBadRows: Bool = false) throws(MotionKitError) {
    self.kind = kind
    self.lines = lines
    self.skipsBadRows = skipsBadRows
    file = SessionFile(kind)
    valueCount = file.columns.count - 1
    try readHeader()
  }

  private func fault(_ line: Int, _ column: Int, _ reason: String) -> MotionKitError {
    .invalidFile(path: lines.path, line: line, column: column, reason: reason)
  }

  private func readHeader() throws(MotionKitError) {
    guard let line = try lines.next() else {
      // An empty file, or a header cut short by a crash: no rows.
      if lines.tornBytes > 0 { report.add(.tornLastLine, file: file.fileName, line: 1) }
      isAtEnd = true
      return
    }
    let names = CSVText.cells(line.text)
    for name in names {
      roles.append(Int8(file.columns.firstIndex(of: name) ?? -1))
      if !file.columns.contains(name) { report.add(.unknownColumn, file: file.fileName, line: 1, detail: name) }
    }
    isPlain = names == file.columns
    for (index, column) in file.columns.enumerated() where !isOptional(index) {
      let count = roles.count { $0 == Int8(index) }
      if count == 0 {
        throw fault(
          1, 1,
          "the column '\(column)' is missing (found: \(names.joined(separator: ", "))); a session's files have it;"
            + " use import for other programs' files")
      }
      if count > 1 { throw fault(1, 1, "the column '\(column)' is there \(count) times") }
    }
  }

  /// A row of plain numbers in the columns that this software writes; nil, with nothing taken, for any other row.
  @inline(__always)
  private func plainRow() -> SensorSample? {
    var p = lines.cursor
    var time: Int64 = 0
    guard NumberText.readPlainTime(&p, into: &time), p.pointee == UInt8(ascii: ",") else { return nil }
    p += 1
    var sample = SensorSample(time: Timestamp(nanoseconds: time), kind: kind, x: 0, y: 0, z: 0)
    guard NumberText.readPlainFloat(&p, into: &sample.x) else { return nil }
    if valueCount >= 2 {
      guard p.pointee == UInt8(ascii: ",") else { return nil }
      p += 1
      guard NumberText.readPlainFloat(&p, into: &sample.y) else { return nil }
    }
    if valueCount == 3 {
      guard p.pointee == UInt8(ascii: ",") else { return nil }
      p += 1
      guard NumberText.readPlainFloat(&p, into: &sample.z) else { return nil }
    }
    // Equal and falling times are for the careful path, which counts them.
    guard p.pointee == 0x0A, sample.time > newest else { return nil }
    newest = sample.time
    lines.take(lineEnd: p)
    rows += 1
    return sample
  }

  private func isOptional(_ column: Int) -> Bool { kind == .barometer && column == 2 }

  /// The next row in order of time; nil at the end. Throws at a cell that is no number.
  @inline(__always)
  func next() throws(MotionKitError) -> SensorSample? {
    if isPlain, let sample = plainRow() { return sample }
    return try nextOfAnyForm()
  }

  @inline(never)
  private func nextOfAnyForm() throws(MotionKitError) -> SensorSample? {
    while !isAtEnd {
      guard let line = try lines.next() else {
        try finish()
        return nil
      }
      if let sample = try parse(line) { return sample }
    }
    return nil
  }

  @inline(__always)
  private func parse(_ line: TextLine) throws(MotionKitError) -> SensorSample? {
    if line.isDamaged {
      report.add(.damagedLine, file: file.fileName, line: line.number)
      return nil
    }
    var p = line.start
    let end = line.end
    var time: Int64 = 0
    var values: (Float, Float, Float) = (0, kind == .barometer ? .nan : 0, 0)
    var blanks = 0
    var isTimeBlank = false
    var column = 0
    let columns = roles.count
    while column < columns {
      let start = p
      let role = roles[column]
      var status = CellStatus.value
      switch role {
      case 0:
        status = NumberText.readTime(&p, end: end, into: &time)
        if status == .blank { isTimeBlank = true }
      case 1: status = NumberText.readFloat(&p, end: end, into: &values.0)
      case 2: status = NumberText.readFloat(&p, end: end, into: &values.1)
      case 3: status = NumberText.readFloat(&p, end: end, into: &values.2)
      default: CSVText.skipCell(&p, end: end)
      }
      if status != .value {
        if status == .bad {
          try refuse(start, line, Int(role))
          return nil
        }
        if role != 0, !isOptional(Int(role)) { blanks += 1 }
      }
      column += 1
      if p == end { break }
      p += 1
    }
    guard column == columns, p == end else {
      return wrongWidth(line)
    }
    if blanks > 0 || isTimeBlank {
      let isEmpty = isTimeBlank || blanks == valueCount || (kind == .barometer && blanks == 1)
      report.add(isEmpty ? .blankRow : .blankCell, file: file.fileName, line: line.number)
      return nil
    }
    let stamp = Timestamp(nanoseconds: time)
    if rows > 0, stamp <= newest {
      guard stamp == newest else {
        report.add(
          .backward, file: file.fileName, line: line.number, detail: "\(newest.seconds(since: stamp)) s back")
        return nil
      }
      report.add(.duplicate, file: file.fileName, line: line.number)
    }
    newest = stamp
    let sample = SensorSample(time: stamp, kind: kind, x: values.0, y: values.1, z: values.2)
    if !sample.isFinite { report.add(.nonFinite, file: file.fileName, line: line.number) }
    rows += 1
    return sample
  }

  /// A cell that is no number: an error that names it, or a row less.
  private func refuse(_ cell: UnsafePointer<UInt8>, _ line: TextLine, _ role: Int) throws(MotionKitError) {
    var p = cell
    let (first, last) = NumberText.cell(&p, end: line.end)
    let text = String(decoding: UnsafeBufferPointer(start: first, count: last - first), as: UTF8.self)
    let reason = "'\(text)' in column '\(file.columns[role])' is no number"
    guard skipsBadRows else { throw fault(line.number, cell - line.start + 1, reason) }
    report.add(.badRow, file: file.fileName, line: line.number, detail: reason)
  }

  private func wrongWidth(_ line: TextLine) -> SensorSample? {
    if line.isBlank {
      report.add(.blankRow, file: file.fileName, line: line.number)
      return nil
    }
    let cells = CSVText.cells(line.text).count
    if firstBadWidth == nil { firstBadWidth = (line.number, cells) }
    report.add(
      .wrongWidth, file: file.fileName, line: line.number, detail: "expected \(roles.count) cells, found \(cells)")
    return nil
  }

  private func finish() throws(MotionKitError) {
    isAtEnd = true
    if lines.tornBytes > 0 { report.add(.tornLastLine, file: file.fileName, line: lines.lineNumber + 1) }
    if lines.hasByteOrderMark { report.add(.byteOrderMark, file: file.fileName, line: 1) }
    if lines.crlfLines > 0 { report.add(.crlf, file: file.fileName, count: Int64(lines.crlfLines)) }
    if rows == 0, let firstBadWidth {
      let cause = firstBadWidth.cells > roles.count ? "; a decimal comma?" : ""
      throw fault(
        firstBadWidth.line, 1,
        "no row fits the header: expected \(roles.count) cells, found \(firstBadWidth.cells)\(cause)")
    }
  }
}

extension SensorSample {
  /// Whether the values that its kind uses are finite (a barometer's temperature may be missing).
  var isFinite: Bool {
    switch kind {
    case .accelerometer, .gyroscope, .magnetometer: x.isFinite && y.isFinite && z.isFinite
    case .barometer, .stepCounter: x.isFinite
    }
  }
}
