/// Rows of CSV text by RFC 4180: cells between commas, quotes around what holds commas, quotes or line ends.
enum CSVText {
  /// The cells of one record, unquoted, without spaces around them.
  static func cells(_ record: String, separator: UInt8 = UInt8(ascii: ",")) -> [String] {
    var cells: [String] = []
    var cell: [UInt8] = []
    var isQuoted = false
    var wasQuoted = false
    var bytes = Array(record.utf8)[...]
    func trimmed() -> String {
      if wasQuoted { return String(decoding: cell, as: UTF8.self) }
      func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
      var slice = cell[...]
      while let first = slice.first, isSpace(first) { slice.removeFirst() }
      while let last = slice.last, isSpace(last) { slice.removeLast() }
      return String(decoding: slice, as: UTF8.self)
    }
    while let byte = bytes.popFirst() {
      if isQuoted {
        if byte != 0x22 {
          cell.append(byte)
        } else if bytes.first == 0x22 {
          cell.append(0x22)
          bytes.removeFirst()
        } else {
          isQuoted = false
        }
      } else if byte == 0x22, cell.allSatisfy({ $0 == 0x20 || $0 == 0x09 }), !wasQuoted {
        cell.removeAll()
        isQuoted = true
        wasQuoted = true
      } else if byte == separator {
        cells.append(trimmed())
        cell.removeAll()
        wasQuoted = false
      } else if !wasQuoted || (byte != 0x20 && byte != 0x0D) {
        cell.append(byte)
      }
    }
    cells.append(trimmed())
    return cells
  }

  /// What a message quotes of a file's content: printable, however damaged it is, and short.
  static func shown(_ text: String) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
      if count == longestShown { return result + "…" }
      let isPrintable: Bool
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
        isPrintable = false
      default: isPrintable = true
      }
      result.unicodeScalars.append(isPrintable ? scalar : "\u{FFFD}")
      count += 1
    }
    return result
  }

  /// Characters: the rest of a line says where it is and why it is shown.
  private static let longestShown = 60

  /// Whether a quoted cell is still open at the end of the text: the record goes on in the next line.
  static func isOpen(_ record: String) -> Bool {
    record.utf8.count { $0 == 0x22 } % 2 == 1
  }

  /// Moves `p` behind the cell that it stands at, to the comma or to the line's end.
  @inline(__always)
  static func skipCell(_ p: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
    var isQuoted = false
    while p < end, isQuoted || p.pointee != UInt8(ascii: ",") {
      if p.pointee == 0x22 { isQuoted.toggle() }
      p += 1
    }
  }
}
