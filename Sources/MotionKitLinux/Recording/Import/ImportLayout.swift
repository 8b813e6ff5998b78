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

  /// Units below the names, a cell each; empty where there is no such line.
  var units: [String] = []
  /// Whether numbers have points between thousands, beside a decimal comma.
  var hasThousands = false
  /// Whether there is nothing but a header.
  var isHeaderOnly: Bool { headerLine > 0 && preview.isEmpty }

  /// Looks at the beginning of a file; nil if it holds no rows of cells.
  init?(path: String) throws(MotionKitError) {
    let reader = try importLines(path)
    var lines: [Line] = []
    while lines.count < Self.longestPreamble + Self.previewRows, let line = try reader.next() {
      if line.isDamaged || line.isBlank { continue }
      // What tells a spreadsheet the separator is no header.
      if line.number == 1, line.count <= 6, line.text.lowercased().hasPrefix("sep=") { continue }
      lines.append(Line(number: line.number, text: Self.decode(line)))
    }
    // To look at, a last line without an end is as good as any; it never becomes a sample.
    if lines.count < Self.longestPreamble, let rest = reader.rest() {
      lines.append(Line(number: rest.number, text: Self.decode(rest)))
    }
    guard findRows(lines) || findNames(lines) else { return nil }
    hasDecimalComma = separator != UInt8(ascii: ",") && Self.hasDecimalComma(preview)
    hasThousands = hasDecimalComma && preview.contains { $0.contains(where: Self.hasThousands) }
  }

  private struct Line {
    var number: Int
    var text: String

    /// What a program or a person says beside the table.
    var isComment: Bool { ImportLayout.comment(text) != nil }
  }

  /// What stands behind a mark of a comment; nil where there is none.
  static func comment(_ text: String) -> String? {
    let trimmed = text.drop { $0 == " " || $0 == "\t" }
    for mark in ["//", "#", "%"] where trimmed.hasPrefix(mark) {
      return String(trimmed.dropFirst(mark.count).drop { $0 == mark.first || $0 == " " })
    }
    return nil
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

  private static let separators = [UInt8(ascii: ";"), 0x09, UInt8(ascii: ","), 0x20]

  /// Finds the first rows of numbers, and what stands above them.
  private mutating func findRows(_ lines: [Line]) -> Bool {
    for candidate in Self.separators {
      separator = candidate
      let cells = lines.map { $0.isComment ? [] : cellTexts($0.text) }
      let first = cells.indices.prefix(Self.longestPreamble).first { index in
        guard Self.looksLikeRow(cells[index]) else { return false }
        let width = cells[index].count
        let fitsNext = index + 1 == cells.count || cells[index + 1].isEmpty || cells[index + 1].count == width
        return fitsNext || (index > 0 && cells[index - 1].count == width && Self.looksLikeNames(cells[index - 1]))
      }
      guard let first, candidate != 0x20 || Self.looksLikeNumbers(cells[first]) else { continue }
      takeNames(lines, above: first)
      for row in lines[first...].prefix(Self.previewRows) where !row.isComment { preview.append(cellTexts(row.text)) }
      fitWidth()
      return true
    }
    return false
  }

  /// The names and units above the first row of numbers.
  private mutating func takeNames(_ lines: [Line], above row: Int) {
    let width = cellTexts(lines[row].text).count
    func fits(_ cells: [String]) -> Bool { cells.count >= width - 1 && cells.count <= width + 1 }
    var index = row - 1
    // A comment that is no header may stand between the header and the rows.
    while index > 0, lines[index].isComment, !fits(nameCells(lines[index])) { index -= 1 }
    guard index >= 0 else { return }
    var cells = nameCells(lines[index])
    guard cells.count >= 2, Self.looksLikeNames(cells), !lines[index].isComment || fits(cells) else { return }
    if separator == 0x20, !fits(cells) { return }
    headerLine = lines[index].number
    if index > 0, ImportUnit.isRowOfUnits(cells) {
      let above = nameCells(lines[index - 1])
      if fits(above), Self.looksLikeNames(above) { (cells, units) = (above, cells) }
    }
    names = cells
  }

  /// The same of a line's bytes: most lines are rows, and told by their first byte.
  static func comment(_ line: TextLine) -> String? {
    guard
      let first = UnsafeBufferPointer(start: line.start, count: line.count).first(where: { $0 != 0x20 && $0 != 0x09 }),
      "#%/".utf8.contains(first)
    else { return nil }
    return comment(decode(line))
  }

  private func nameCells(_ line: Line) -> [String] { cellTexts(Self.comment(line.text) ?? line.text) }

  /// A separator at the end of the header or of the rows alone is no column.
  private mutating func fitWidth() {
    guard headerLine > 0, let width = preview.first?.count else { return }
    if width == names.count + 1, preview.allSatisfy({ $0.count != width || $0.last == "" }) { names.append("") }
    if width == names.count - 1, names.last == "" { names.removeLast() }
  }

  /// Without rows of numbers: the first line of names, which has as many cells as the one behind it.
  private mutating func findNames(_ lines: [Line]) -> Bool {
    for candidate in Self.separators {
      separator = candidate
      let counts = lines.map { cellTexts($0.text).count }
      for index in counts.indices.prefix(Self.longestPreamble) where counts[index] >= 2 {
        let cells = cellTexts(lines[index].text)
        let isLast = index + 1 == counts.count
        // One row that fits is enough, or a header whose every row is wrong: that is told when rows are read.
        guard
          isLast || counts[index + 1] == counts[index] || (candidate != 0x20 && Self.looksLikeNames(cells)),
          Self.looksLikeNames(cells)
        else { continue }
        headerLine = lines[index].number
        names = nameCells(lines[index])
        for row in lines[(index + 1)...].prefix(Self.previewRows) { preview.append(cellTexts(row.text)) }
        return true
      }
    }
    // A single column.
    return false
  }

  /// At least half of what stands in it are numbers or times.
  private static func looksLikeRow(_ cells: [String]) -> Bool {
    let filled = cells.filter { !$0.isEmpty }
    let numbers = filled.count { isNumber($0) || isDate($0) || hasThousands($0) }
    return cells.count >= 2 && numbers > 0 && 2 * numbers >= filled.count
  }

  /// Blanks separate words as well as numbers: every cell has to be one.
  private static func looksLikeNumbers(_ cells: [String]) -> Bool { cells.allSatisfy { isNumber($0) || isDate($0) } }

  /// `1.013,25`.
  private static func hasThousands(_ cell: String) -> Bool {
    let parts = cell.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].contains("."), !parts[1].contains(".") else { return false }
    let groups = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    return groups.dropFirst().allSatisfy { $0.count == 3 } && isNumber(groups.joined() + "." + parts[1])
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
