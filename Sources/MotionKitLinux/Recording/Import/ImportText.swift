/// The lines of another program's log: text in UTF-16 becomes UTF-8, and a lone CR, as old Macs and some loggers write it,
/// ends a line.
func importLines(_ path: String) throws(MotionKitError) -> LineReader {
  do throws(FileFault) {
    let head = try openText(path)
    var first = [UInt8](repeating: 0, count: 1 << 16)
    let count = try first.withTypedUnsafeMutableBytes { (room) throws(FileFault) in try head.read(into: room) }
    let begin = first[..<count]
    let source = try openText(path)
    if let isBigEndian = UTF16Bytes.isBigEndian(begin) {
      return LineReader(path: path, source: UTF16Bytes(source, isBigEndian: isBigEndian))
    }
    if begin.contains(0x0D), !begin.contains(0x0A) { return LineReader(path: path, source: LoneReturns(source)) }
    return LineReader(path: path, source: source)
  } catch { throw .file(path, error) }
}

/// A text in UTF-16 as UTF-8.
final class UTF16Bytes: ByteSource {
  private let source: any ByteSource
  private let isBigEndian: Bool
  private var input = [UInt8](repeating: 0, count: 1 << 14)
  private var output: [UInt8] = []
  /// Bytes of `output` given out.
  private var given = 0
  /// The first byte of a unit, and the first unit of a pair, whose rest has not come yet.
  private var half: UInt8?
  private var high: UInt16?

  init(_ source: any ByteSource, isBigEndian: Bool) {
    (self.source, self.isBigEndian) = (source, isBigEndian)
  }

  /// Whether a text is UTF-16 and which half of a unit comes first; nil for any other. Without a byte order mark it is
  /// known by the zeros: nearly everything in a table of numbers is ASCII.
  static func isBigEndian(_ begin: ArraySlice<UInt8>) -> Bool? {
    let first = Array(begin.prefix(256))
    guard first.count >= 4 else { return nil }
    if first[0] == 0xFF, first[1] == 0xFE { return false }
    if first[0] == 0xFE, first[1] == 0xFF { return true }
    let pairs = first.count / 2
    let zerosFirst = (0..<pairs).count { first[2 * $0] == 0 && first[2 * $0 + 1] != 0 }
    let zerosSecond = (0..<pairs).count { first[2 * $0 + 1] == 0 && first[2 * $0] != 0 }
    if zerosFirst * 10 >= pairs * 9 { return true }
    if zerosSecond * 10 >= pairs * 9 { return false }
    return nil
  }

  var progress: WorkProgress { source.progress }
  var isDamaged: Bool { source.isDamaged }

  func read(into room: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    while given == output.count {
      output.removeAll(keepingCapacity: true)
      given = 0
      let count = try input.withTypedUnsafeMutableBytes { (bytes) throws(FileFault) in try source.read(into: bytes) }
      if count == 0 { return 0 }
      for byte in input[..<count] { take(byte) }
    }
    let count = min(room.count, output.count - given)
    room.copyBytes(from: output[given..<(given + count)])
    given += count
    return count
  }

  private func take(_ byte: UInt8) {
    guard let first = half else {
      half = byte
      return
    }
    half = nil
    let unit = isBigEndian ? UInt16(first) << 8 | UInt16(byte) : UInt16(byte) << 8 | UInt16(first)
    switch unit {
    case 0xFEFF: break
    case 0xD800..<0xDC00: high = unit
    case 0xDC00..<0xE000:
      guard let lead = high else { return put("\u{FFFD}") }
      high = nil
      let value = 0x10000 + ((UInt32(lead) - 0xD800) << 10) + (UInt32(unit) - 0xDC00)
      put(Unicode.Scalar(value) ?? "\u{FFFD}")
    default: put(Unicode.Scalar(unit) ?? "\u{FFFD}")
    }
  }

  private func put(_ scalar: Unicode.Scalar) {
    if let bytes = UTF8.encode(scalar) { output.append(contentsOf: bytes) }
  }
}

/// A text whose lines end with CR alone, with LF in their place.
final class LoneReturns: ByteSource {
  private let source: any ByteSource

  init(_ source: any ByteSource) { self.source = source }

  var progress: WorkProgress { source.progress }
  var isDamaged: Bool { source.isDamaged }

  func read(into room: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    let count = try source.read(into: room)
    for index in 0..<count where room[index] == 0x0D { room[index] = 0x0A }
    return count
  }
}
