import SensorFusion

/// Reads one raw file of a session, row by row.
final class SampleFileReader {
  let kind: SensorKind
  let file: SessionFile
  /// What was tolerated so far.
  private(set) var report = ReadReport()
  /// Rows delivered.
  private(set) var rows: Int64 = 0

  let lines: LineReader
  /// Whether a row with a cell that is no number is dropped and counted; otherwise it is an error.
  private let skipsBadRows: Bool
  /// For each column of the file which value it holds: 0 the time, 1… the values, -1 none that is known.
  private var roles: [Int8] = []
  private var valueCount: Int
  /// Whether the columns are exactly those that this software writes, so that rows can be read in one go.
  private var isPlain = false
  /// The newest row's time, and that of the one before it; the beginning of time before the first.
  private var newest = Timestamp(nanoseconds: .min)
  private var before = Timestamp(nanoseconds: .min)
  private var newestLine = 0
  /// The newest row, kept back until the next one shows that its time is not far ahead of all that follow.
  private var held: SensorSample?
  /// A row older than the newest but not than the one before that: the row behind it shows which of the two is wrong.
  private var doubtful: (sample: SensorSample, line: Int)?
  private(set) var isAtEnd = false
  private var seconds = NumberText.Seconds()
  private var pendingFault: MotionKitError?
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
    let place = lines.place(ofLine: line)
    return .invalidFile(path: place.path, line: place.line, column: column, reason: reason)
  }

  private func note(_ finding: ReadReport.Finding, line: Int = 0, count: Int64 = 1, detail: String = "") {
    let place = lines.place(ofLine: max(line, 1))
    report.add(finding, file: place.name, line: line > 0 ? place.line : 0, count: count, detail: detail)
  }

  private func noteDamage() { note(.damagedData, line: lines.lineNumber + 1, detail: lines.wordsOfDamage) }

  private func readHeader() throws(MotionKitError) {
    guard let line = try lines.next() else {
      // An empty file, or a header cut short by a crash: no rows.
      if lines.tornBytes > 0 { note(.tornLastLine, line: 1) }
      if lines.isMediumDamaged { note(.damagedData, line: 1) }
      isAtEnd = true
      return
    }
    let names = CSVText.cells(line.text)
    for name in names {
      roles.append(Int8(file.columns.firstIndex(of: name) ?? -1))
      if !file.columns.contains(name) { note(.unknownColumn, line: 1, detail: CSVText.shown(name)) }
    }
    isPlain = names == file.columns
    for (index, column) in file.columns.enumerated() where !isOptional(index) {
      let count = roles.count { $0 == Int8(index) }
      if count == 0 {
        throw fault(
          1, 1,
          "the column '\(column)' is missing (found: \(CSVText.shown(names.joined(separator: ", ")))); a session's files have it;"
            + " use import for other programs' files")
      }
      if count > 1 { throw fault(1, 1, "the column '\(column)' is there \(count) times") }
    }
  }

  /// The next rows in order of time, at most `capacity` (2 or more), at `block`; how many, 0 at the end. Throws at a cell
  /// that is no number, after everything before it has been given out.
  func read(into block: UnsafeMutablePointer<SensorSample>, capacity: Int) throws(MotionKitError) -> Int {
    if let fault = pendingFault {
      pendingFault = nil
      throw fault
    }
    while true {
      var count = 0
      if let held {
        block.initialize(to: held)
        count = 1
        self.held = nil
      }
      do throws(MotionKitError) {
        while count < capacity, !isAtEnd {
          if isPlain, doubtful == nil { count += readPlainRows(into: block + count, capacity: capacity - count) }
          guard count < capacity, let (sample, line) = try nextOfAnyForm() else { continue }
          take(sample, line, block, &count)
        }
      } catch {
        dropDoubtful()
        if count == 0 { throw error }
        pendingFault = error
        return count
      }
      if isAtEnd {
        dropDoubtful()
        return count
      }
      count -= 1
      held = block[count]
      if count > 0 { return count }
    }
  }

  /// Puts a row where its time belongs: behind the others, or nowhere.
  private func take(
    _ sample: SensorSample, _ line: Int, _ block: UnsafeMutablePointer<SensorSample>, _ count: inout Int
  ) {
    if let doubtful, sample.time < newest, sample.time >= doubtful.sample.time {
      // Two rows against one.
      note(.ahead, line: newestLine, detail: "\(newest.seconds(since: doubtful.sample.time)) s ahead")
      count -= 1
      rows -= 1
      newest = before
      self.doubtful = nil
      append(doubtful.sample, doubtful.line, block, &count)
      return append(sample, line, block, &count)
    }
    dropDoubtful()
    guard rows > 0, sample.time < newest else { return append(sample, line, block, &count) }
    doubtful = (sample, line)
    if sample.time <= before || count == 0 { dropDoubtful() }
  }

  private func append(
    _ sample: SensorSample, _ line: Int, _ block: UnsafeMutablePointer<SensorSample>, _ count: inout Int
  ) {
    if rows > 0, sample.time == newest { note(.duplicate, line: line) }
    if !sample.isFinite { note(.nonFinite, line: line) }
    (before, newest, newestLine) = (newest, sample.time, line)
    (block + count).initialize(to: sample)
    count += 1
    rows += 1
  }

  private func dropDoubtful() {
    guard let (sample, line) = doubtful else { return }
    doubtful = nil
    note(.backward, line: line, detail: "\(newest.seconds(since: sample.time)) s back")
  }

  /// The next row; nil at the end. For whoever needs few.
  func next() throws(MotionKitError) -> SensorSample? {
    if singles.isEmpty {
      let room = UnsafeMutablePointer<SensorSample>.allocate(capacity: Self.singlesCount)
      defer { room.deallocate() }
      let count = try read(into: room, capacity: Self.singlesCount)
      singles = UnsafeBufferPointer(start: room, count: count).reversed()
    }
    return singles.popLast()
  }

  private var singles: [SensorSample] = []
  private static let singlesCount = 16

  /// Reads rows of plain numbers in the columns that this software writes, up to the first row of any other form and
  /// as far as the lines are in memory. Equal and falling times are left to the careful path, which counts them.
  private func readPlainRows(into block: UnsafeMutablePointer<SensorSample>, capacity: Int) -> Int {
    let comma = UInt8(ascii: ",")
    let (kind, valueCount) = (kind, valueCount)
    let tables = NumberTables.shared
    var seconds = seconds
    var newest = newest.nanoseconds
    var next = lines.cursor
    var count = 0
    while count < capacity {
      var p = next
      var time: Int64 = 0
      guard NumberText.readPlainTime(&p, into: &time, &seconds), p.pointee == comma, time > newest else { break }
      p += 1
      var sample = SensorSample(time: Timestamp(nanoseconds: time), kind: kind, x: 0, y: 0, z: 0)
      guard NumberText.readPlainFloat(&p, into: &sample.x, tables) else { break }
      if valueCount >= 2 {
        guard p.pointee == comma else { break }
        p += 1
        guard NumberText.readPlainFloat(&p, into: &sample.y, tables) else { break }
      }
      if valueCount == 3 {
        guard p.pointee == comma else { break }
        p += 1
        guard NumberText.readPlainFloat(&p, into: &sample.z, tables) else { break }
      }
      guard p.pointee == 0x0A else { break }
      newest = time
      (block + count).initialize(to: sample)
      count += 1
      next = p + 1
    }
    guard count > 0 else { return 0 }
    lines.take(count, to: next)
    before = count > 1 ? block[count - 2].time : self.newest
    self.newest = Timestamp(nanoseconds: newest)
    newestLine = lines.lineNumber
    self.seconds = seconds
    rows += Int64(count)
    return count
  }

  private func isOptional(_ column: Int) -> Bool { kind == .barometer && column == 2 }

  private func nextOfAnyForm() throws(MotionKitError) -> (sample: SensorSample, line: Int)? {
    while !isAtEnd {
      guard let line = try lines.next() else {
        try finish()
        return nil
      }
      if let sample = try parse(line) { return (sample, line.number) }
    }
    return nil
  }

  @inline(__always)
  private func parse(_ line: TextLine) throws(MotionKitError) -> SensorSample? {
    if line.isDamaged {
      note(.damagedLine, line: line.number)
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
      note(isEmpty ? .blankRow : .blankCell, line: line.number)
      return nil
    }
    return SensorSample(
      time: Timestamp(nanoseconds: time), kind: kind, x: values.0, y: values.1, z: values.2)
  }

  /// A cell that is no number: an error that names it, or a row less.
  private func refuse(_ cell: UnsafePointer<UInt8>, _ line: TextLine, _ role: Int) throws(MotionKitError) {
    var p = cell
    let (first, last) = NumberText.cell(&p, end: line.end)
    let text = String(decoding: UnsafeBufferPointer(start: first, count: last - first), as: UTF8.self)
    let reason = "'\(CSVText.shown(text))' in column '\(file.columns[role])' is no number"
    guard skipsBadRows else { throw fault(line.number, cell - line.start + 1, reason) }
    note(.badRow, line: line.number, detail: reason)
  }

  private func wrongWidth(_ line: TextLine) -> SensorSample? {
    if line.isBlank {
      note(.blankRow, line: line.number)
      return nil
    }
    let cells = CSVText.cells(line.text).count
    if firstBadWidth == nil { firstBadWidth = (line.number, cells) }
    note(
      .wrongWidth, line: line.number, detail: "expected \(roles.count) cells, found \(cells)")
    return nil
  }

  private func finish() throws(MotionKitError) {
    isAtEnd = true
    if lines.tornBytes > 0 { note(.tornLastLine, line: lines.lineNumber + 1) }
    if lines.isMediumDamaged { noteDamage() }
    if lines.hasByteOrderMark { note(.byteOrderMark, line: 1) }
    if lines.crlfLines > 0 { note(.crlf, count: Int64(lines.crlfLines)) }
    if rows == 0, !skipsBadRows, let firstBadWidth {
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
