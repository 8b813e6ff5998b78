/// How a text file of rows is laid out: where its header is, what separates cells, what marks decimals.
struct ImportLayout {
  /// Rows looked at to find out.
  private static let previewRows = 200
  /// Lines in front of a header at most (a terminal's log, a program's preamble).
  private static let longestPreamble = 60

  /// The header's line, 1-based; 0 where there is none.
  var headerLine = 0
  /// The columns' names; empty where there is no header.
  var names: [String] = []
  /// A comma, a semicolon, a tab, or a space for any run of blanks.
  var separator = UInt8(ascii: ",")
  /// Whether numbers have a comma for a point.
  var hasDecimalComma = false
  /// The cells of the first rows.
  var preview: [[String]] = []

  /// Looks at the beginning of a file; nil if it holds no rows of cells.
  init?(path: String) throws(MotionKitError) {
    let reader = try LineReader(path: path)
    var lines: [(number: Int, text: String)] = []
    while lines.count < Self.longestPreamble + Self.previewRows, let line = try reader.next() {
      if line.number == 1, line.count >= 2, line.start[0] == 0xFF || line.start[0] == 0xFE {
        throw .invalidFile(path: path, line: 1, column: 1, reason: "it is UTF-16 text; save it as UTF-8")
      }
      if line.isDamaged || line.isBlank { continue }
      // What tells a spreadsheet the separator is no header.
      if line.number == 1, line.count <= 6, line.text.lowercased().hasPrefix("sep=") { continue }
      lines.append((line.number, Self.decode(line)))
    }
    // To look at, a last line without an end is as good as any; it never becomes a sample.
    if lines.count < Self.longestPreamble, let rest = reader.rest() { lines.append((rest.number, Self.decode(rest))) }
    guard let start = findHeader(lines) else { return nil }
    let first = lines[start]
    let cells = CSVText.cells(first.text, separator: separator)
    var rows = lines[start...]
    if cells.contains(where: { Self.isNumber($0) || Self.isDate($0) }), separator == 0x20 || !Self.looksLikeNames(cells)
    {
      headerLine = 0
    } else {
      headerLine = first.number
      names = cells
      rows = rows.dropFirst()
    }
    for row in rows.prefix(Self.previewRows) { preview.append(cellTexts(row.text)) }
    hasDecimalComma = separator != UInt8(ascii: ",") && Self.hasDecimalComma(preview)
  }

  /// UTF-8, or Latin-1 where it is not that.
  static func decode(_ line: TextLine) -> String {
    let bytes = UnsafeBufferPointer(start: line.start, count: line.count)
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private func cellTexts(_ text: String) -> [String] {
    if separator == 0x20 { return text.split(whereSeparator: \.isWhitespace).map(String.init) }
    return CSVText.cells(text, separator: separator)
  }

  /// The first line that has as many cells as the one behind it.
  private mutating func findHeader(_ lines: [(number: Int, text: String)]) -> Int? {
    for candidate in [UInt8(ascii: ";"), 0x09, UInt8(ascii: ","), 0x20] {
      separator = candidate
      let counts = lines.map { cellTexts($0.text).count }
      for index in counts.indices.prefix(Self.longestPreamble) where counts[index] >= 2 {
        let isLast = index + 1 == counts.count
        // One row that fits is enough, or a header whose every row is wrong: that is told when rows are read.
        if isLast || counts[index + 1] == counts[index]
          || (candidate != 0x20 && Self.looksLikeNames(cellTexts(lines[index].text)))
        {
          return index
        }
      }
    }
    // A single column.
    return nil
  }

  private static func looksLikeNames(_ cells: [String]) -> Bool {
    !cells.isEmpty && cells.allSatisfy { !isNumber($0) && !isDate($0) }
  }

  private static func isNumber(_ cell: String) -> Bool {
    guard let first = cell.utf8.first, !cell.isEmpty else { return false }
    guard
      (48...57).contains(first) || first == UInt8(ascii: "-") || first == UInt8(ascii: "+")
        || first == UInt8(ascii: ".")
    else { return cell.lowercased() == "nan" }
    return Double(cell.replacingCommaByPoint) != nil
  }

  private static func isDate(_ cell: String) -> Bool { DateText.nanoseconds(cell) != nil }

  private static func hasDecimalComma(_ rows: [[String]]) -> Bool {
    var commas = 0
    for row in rows {
      for cell in row {
        if cell.contains("."), isNumber(cell) { return false }
        if cell.contains(","), isNumber(cell) { commas += 1 }
      }
    }
    return commas > 0
  }
}

extension String {
  fileprivate var replacingCommaByPoint: String { String(map { $0 == "," ? "." : $0 }) }
}

/// Dates and times of day as logs write them.
enum DateText {
  /// Nanoseconds since 1970 of `YYYY-MM-DD hh:mm:ss[.fff][ ±hhmm]` (any separators between the parts); without a zone
  /// the time is taken as UTC. Of a time of day, `hh:mm:ss[.fff]`, those since midnight. Nil for other text.
  static func nanoseconds(_ text: String) -> Int64? {
    let parts = text.utf8.prefix { $0 != UInt8(ascii: ":") }
    if parts.count == 1 || parts.count == 2 { return text.utf8.count > 2 ? nanoseconds("1970-01-01 " + text) : nil }
    var numbers: [Int64] = []
    var fraction: Int64 = 0
    var zone: Int64 = 0
    var bytes = Array(text.utf8)[...]
    func digits(_ limit: Int) -> (value: Int64, count: Int)? {
      var value: Int64 = 0
      var count = 0
      while count < limit, let byte = bytes.first, (48...57).contains(byte) {
        value = value * 10 + Int64(byte - 48)
        bytes.removeFirst()
        count += 1
      }
      return count > 0 ? (value, count) : nil
    }
    for (index, width) in [4, 2, 2, 2, 2, 2].enumerated() {
      guard let part = digits(width), index > 0 || part.count == 4 else { return nil }
      numbers.append(part.value)
      if index < 5 {
        let allowed: [UInt8] = index < 2 ? [0x2D, 0x2F] : index == 2 ? [0x20, 0x54, 0x5F] : [0x3A, 0x2D]
        guard let byte = bytes.first, allowed.contains(byte) else { return nil }
        bytes.removeFirst()
      }
    }
    if let byte = bytes.first, [0x2E, 0x2C, 0x3A, 0x5F].contains(byte) {
      bytes.removeFirst()
      guard let part = digits(9) else { return nil }
      fraction = part.value
      for _ in part.count..<9 { fraction *= 10 }
      _ = digits(20)
    }
    while bytes.first == 0x20 { bytes.removeFirst() }
    if bytes.first == UInt8(ascii: "Z") {
      bytes.removeFirst()
    } else if let sign = bytes.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
      bytes.removeFirst()
      guard let hours = digits(2) else { return nil }
      if bytes.first == 0x3A { bytes.removeFirst() }
      zone = (hours.value * 60 + (digits(2)?.value ?? 0)) * (sign == UInt8(ascii: "-") ? -60 : 60)
    }
    guard bytes.isEmpty, (1...12).contains(numbers[1]), (1...31).contains(numbers[2]), numbers[3] < 25,
      numbers[4] < 60, numbers[5] < 62
    else { return nil }
    let days = days(year: numbers[0], month: numbers[1], day: numbers[2])
    let seconds = days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5] - zone
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? nil : scaled + fraction
  }

  /// Days from 1970-01-01 in the proleptic Gregorian calendar. March is counted as the first month, so that the leap
  /// day is the last of a year.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let shiftedMonth = (month + 9) % 12
    let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
    let leapDays = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
    // 719468 days from 0000-03-01 to 1970-01-01.
    return 365 * shiftedYear + leapDays + dayOfYear - 719_468
  }
}
