import SensorFusion

/// Reads events.csv, whose details may be quoted and hold line ends.
final class EventFileReader {
  private(set) var report = ReadReport()
  private let lines: LineReader
  private var roles: [Int] = []
  private var isAtEnd = false
  private let name = SessionFile.events.fileName

  /// Whether an event without a time is dropped and counted; otherwise it is an error.
  private let skipsBadRows: Bool

  init(lines: LineReader, skipsBadRows: Bool = false) throws(MotionKitError) {
    self.lines = lines
    self.skipsBadRows = skipsBadRows
    guard let header = try record() else {
      isAtEnd = true
      return
    }
    let names = CSVText.cells(header.text)
    for column in SessionFile.events.columns {
      guard let index = names.firstIndex(of: column) else {
        throw .invalidFile(
          path: lines.path, line: 1, column: 1,
          reason: "the column '\(column)' is missing (found: \(CSVText.shown(names.joined(separator: ", "))))")
      }
      roles.append(index)
    }
    for column in names where !SessionFile.events.columns.contains(column) {
      report.add(.unknownColumn, file: name, line: 1, detail: CSVText.shown(column))
    }
    width = names.count
  }

  private var width = 3

  /// A record with the number of its first line; nil at the end.
  private func record() throws(MotionKitError) -> (text: String, line: Int)? {
    guard let first = try lines.next() else {
      if lines.tornBytes > 0 { report.add(.tornLastLine, file: name, line: lines.lineNumber + 1) }
      return nil
    }
    var text = first.text
    let number = first.number
    var isDamaged = first.isDamaged
    while !isDamaged, CSVText.isOpen(text) {
      guard let line = try lines.next() else {
        report.add(.tornLastLine, file: name, line: number)
        return nil
      }
      isDamaged = line.isDamaged
      text += "\n" + line.text
    }
    if isDamaged {
      report.add(.damagedLine, file: name, line: number)
      return ("", number)
    }
    return (text, number)
  }

  /// The next event, in the order of the file; nil at the end.
  func next() throws(MotionKitError) -> SourceEvent? {
    while !isAtEnd {
      guard let (text, line) = try record() else {
        isAtEnd = true
        return nil
      }
      guard !text.isEmpty else { continue }
      let cells = CSVText.cells(text)
      guard cells.count == width else {
        report.add(.wrongWidth, file: name, line: line, detail: "expected \(width) cells, found \(cells.count)")
        continue
      }
      guard let time = Self.time(cells[roles[0]]) else {
        let reason = "'\(CSVText.shown(cells[roles[0]]))' in column 'timestamp_s' is no number"
        guard skipsBadRows else { throw .invalidFile(path: lines.path, line: line, column: 1, reason: reason) }
        report.add(.badRow, file: name, line: line, detail: reason)
        continue
      }
      return SourceEvent(time: time, name: cells[roles[1]], detail: cells[roles[2]])
    }
    return nil
  }

  private static func time(_ text: String) -> Timestamp? {
    let bytes = Array(text.utf8) + [0]
    return bytes.withUnsafeBufferPointer { buffer in
      guard var p = buffer.baseAddress else { return nil }
      let end = p + (buffer.count - 1)
      var nanoseconds: Int64 = 0
      guard NumberText.readTime(&p, end: end, into: &nanoseconds) == .value, p == end else { return nil }
      return Timestamp(nanoseconds: nanoseconds)
    }
  }
}
