import CNumberText

// Numbers as the text of CSV cells: exact in both directions, the same bytes in every locale.

/// Bytes of CSV rows on their way to a file or to a comparison. Not `Sendable`: one thread fills and empties it.
final class RowBuffer {
  /// The longest text of one number or fixed word that `append` may write.
  private static let longestCell = 64

  private var storage: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// Bytes held.
  private(set) var count = 0

  init(capacity: Int = 4096) {
    self.capacity = max(capacity, Self.longestCell)
    storage = .allocate(capacity: self.capacity)
  }

  deinit { storage.deallocate() }

  /// What is held; valid until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

  func removeAll() { count = 0 }

  /// Forgets the first `n` bytes.
  func removeFirst(_ n: Int) {
    count -= n
    storage.update(from: storage + n, count: count)
  }

  @inline(__always)
  private func makeRoom(_ extra: Int) {
    if capacity - count < extra { grow(extra) }
  }

  @inline(never)
  private func grow(_ extra: Int) {
    let newCapacity = max(capacity * 2, count + extra)
    let new = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
    new.update(from: storage, count: count)
    storage.deallocate()
    storage = new
    capacity = newCapacity
  }

  @inline(__always)
  func append(byte: UInt8) {
    makeRoom(1)
    storage[count] = byte
    count += 1
  }

  func comma() { append(byte: UInt8(ascii: ",")) }
  func newline() { append(byte: UInt8(ascii: "\n")) }

  func append(_ text: StaticString) {
    makeRoom(text.utf8CodeUnitCount)
    (storage + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    count += text.utf8CodeUnitCount
  }

  /// Text as one cell, quoted where RFC 4180 asks for it.
  func append(cell text: String) {
    let needsQuotes = text.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
    makeRoom(2 * text.utf8.count + 2)
    if needsQuotes { append(byte: 0x22) }
    for byte in text.utf8 {
      if byte == 0x22 { append(byte: 0x22) }
      append(byte: byte)
    }
    if needsQuotes { append(byte: 0x22) }
  }

  /// The shortest decimal that reads back to the same float; `NaN`, `Inf`, `-Inf` otherwise (as pandas and R read).
  func append(_ value: Float) {
    makeRoom(Self.longestCell)
    guard value.isFinite else { return append(value.isNaN ? "NaN" : value < 0 ? "-Inf" : "Inf") }
    count += (storage + count).withMemoryRebound(to: CChar.self, capacity: 16) { mk_write_float(value, $0) }
  }

  /// The shortest decimal that reads back to the same double; `NaN`, `Inf`, `-Inf` otherwise.
  func append(_ value: Double) {
    makeRoom(Self.longestCell)
    guard value.isFinite else { return append(value.isNaN ? "NaN" : value < 0 ? "-Inf" : "Inf") }
    count += (storage + count).withMemoryRebound(to: CChar.self, capacity: 25) { mk_write_double(value, $0) }
  }

  func append(_ value: Int64) {
    makeRoom(Self.longestCell)
    if value < 0 { append(byte: UInt8(ascii: "-")) }
    appendDigits(value.magnitude, atLeast: 1)
  }

  func append(_ value: Bool) { append(byte: value ? UInt8(ascii: "1") : UInt8(ascii: "0")) }

  /// Nanoseconds as seconds with nine decimals, exact.
  func append(nanoseconds: Int64) {
    makeRoom(Self.longestCell)
    let magnitude = nanoseconds.magnitude
    if nanoseconds < 0 { append(byte: UInt8(ascii: "-")) }
    appendDigits(magnitude / 1_000_000_000, atLeast: 1)
    append(byte: UInt8(ascii: "."))
    appendDigits(magnitude % 1_000_000_000, atLeast: 9)
  }

  /// Decimal digits with leading zeros up to `atLeast`; room has been made.
  private func appendDigits(_ value: UInt64, atLeast: Int) {
    var digits = 1
    var bound: UInt64 = 10
    while digits < 20, value >= bound {
      digits += 1
      let (next, overflow) = bound.multipliedReportingOverflow(by: 10)
      if overflow {
        if value >= bound { digits = 20 }
        break
      }
      bound = next
    }
    digits = max(digits, atLeast)
    var rest = value
    var place = count + digits
    count = place
    for _ in 0..<digits {
      place -= 1
      storage[place] = UInt8(truncatingIfNeeded: 48 + rest % 10)
      rest /= 10
    }
  }
}

/// How a cell read.
enum CellStatus {
  /// A number, `NaN` or an infinity.
  case value
  /// Nothing, or nothing but spaces.
  case blank
  /// Something else.
  case bad
}

/// Reads numbers at a position in a line. The byte at `end` must be readable and no digit (a line end is).
enum NumberText {
  /// 10^0 … 10^22: the powers of ten that a double holds exactly. Never changed and never freed: there is one for
  /// the whole process.
  nonisolated(unsafe) private static let powers: UnsafePointer<Double> = {
    let powers = UnsafeMutablePointer<Double>.allocate(capacity: 23)
    powers.initialize(to: 1)
    for exponent in 1...22 { (powers + exponent).initialize(to: powers[exponent - 1] * 10) }
    return UnsafePointer(powers)
  }()

  /// A decimal's digits and its exponent: value = mantissa x 10^exponent.
  private struct Decimal {
    var isNegative = false
    var mantissa: UInt64 = 0
    var digits = 0
    var exponent = 0
  }

  /// Reads `[-+]digits[.digits][e[-+]digits]` and stops behind it; nil where the text is something else.
  @inline(__always)
  private static func scan(_ p: inout UnsafePointer<UInt8>) -> Decimal? {
    var decimal = Decimal()
    if p.pointee == UInt8(ascii: "-") {
      decimal.isNegative = true
      p += 1
    } else if p.pointee == UInt8(ascii: "+") {
      p += 1
    }
    var q = p
    while true {
      let digit = q.pointee &- 48
      guard digit < 10 else { break }
      decimal.mantissa = decimal.mantissa &* 10 &+ UInt64(digit)
      q += 1
    }
    decimal.digits = q - p
    if q.pointee == UInt8(ascii: ".") {
      q += 1
      let fraction = q
      while true {
        let digit = q.pointee &- 48
        guard digit < 10 else { break }
        decimal.mantissa = decimal.mantissa &* 10 &+ UInt64(digit)
        q += 1
      }
      decimal.exponent = -(q - fraction)
      decimal.digits -= decimal.exponent
    }
    guard decimal.digits > 0 else { return nil }
    if q.pointee | 0x20 == UInt8(ascii: "e") {
      q += 1
      var isNegative = false
      if q.pointee == UInt8(ascii: "-") || q.pointee == UInt8(ascii: "+") {
        isNegative = q.pointee == UInt8(ascii: "-")
        q += 1
      }
      let start = q
      var exponent = 0
      while true {
        let digit = q.pointee &- 48
        guard digit < 10 else { break }
        exponent = min(exponent * 10 + Int(digit), 100_000)
        q += 1
      }
      guard q > start else { return nil }
      decimal.exponent += isNegative ? -exponent : exponent
    }
    p = q
    return decimal
  }

  // MARK: The form that this software writes
  //
  // Most cells are read by these two, which know digits, a point and a sign and nothing else. They stop at the first
  // byte of any other kind; the caller looks whether that is the end of the cell and otherwise reads it again by the
  // careful functions below.

  /// Reads `[-]digits.ddddddddd` as nanoseconds; false for any other form.
  @inline(__always)
  static func readPlainTime(_ p: inout UnsafePointer<UInt8>, into nanoseconds: inout Int64) -> Bool {
    let isNegative = p.pointee == UInt8(ascii: "-")
    if isNegative { p += 1 }
    let start = p
    var seconds: UInt64 = 0
    while true {
      let digit = p.pointee &- 48
      guard digit < 10 else { break }
      seconds = seconds &* 10 &+ UInt64(digit)
      p += 1
    }
    // Nine digits of seconds and nine decimals fit in 64 bits.
    guard p > start, p - start <= 9, p.pointee == UInt8(ascii: ".") else { return false }
    p += 1
    let eight = UnsafeRawPointer(p).loadUnaligned(as: UInt64.self)
    guard isEightDigits(eight) else { return false }
    let last = p[8] &- 48
    guard last < 10, p[9] &- 48 >= 10 else { return false }
    p += 9
    let magnitude = Int64(seconds &* 1_000_000_000 &+ eightDigits(eight) &* 10 &+ UInt64(last))
    nanoseconds = isNegative ? -magnitude : magnitude
    return true
  }

  /// Reads `[-]digits[.digits]` as the nearest float; false for any other form and where one rounding does not settle.
  @inline(__always)
  static func readPlainFloat(_ p: inout UnsafePointer<UInt8>, into value: inout Float) -> Bool {
    let isNegative = p.pointee == UInt8(ascii: "-")
    if isNegative { p += 1 }
    let start = p
    var mantissa: UInt64 = 0
    while true {
      let digit = p.pointee &- 48
      guard digit < 10 else { break }
      mantissa = mantissa &* 10 &+ UInt64(digit)
      p += 1
    }
    var digits = p - start
    var decimals = 0
    if p.pointee == UInt8(ascii: ".") {
      p += 1
      let fraction = p
      while true {
        let digit = p.pointee &- 48
        guard digit < 10 else { break }
        mantissa = mantissa &* 10 &+ UInt64(digit)
        p += 1
      }
      decimals = p - fraction
      digits += decimals
    }
    // 15 digits are below 2^53.
    guard digits > 0, digits <= 15 else { return false }
    let exact = Double(mantissa) / powers[decimals]
    let isMidway = exact.bitPattern & 0x1FFF_FFFF == 0x1000_0000
    guard !isMidway, exact >= Double(Float.leastNormalMagnitude) || mantissa == 0 else { return false }
    value = Float(isNegative ? -exact : exact)
    return true
  }

  /// Whether all bytes of a little-endian word are decimal digits: the high halves must be 3, and stay 3 when 6 is
  /// added, which carries from 10 on.
  @inline(__always)
  private static func isEightDigits(_ word: UInt64) -> Bool {
    let bytes = UInt64(littleEndian: word)
    let carried = (bytes &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0
    return (bytes & 0xF0F0_F0F0_F0F0_F0F0) == 0x3030_3030_3030_3030 && carried == 0x3030_3030_3030_3030
  }

  /// The number of eight digits, first digit in the lowest byte: neighbours are joined three times, to pairs, fours and
  /// the eight. (D. Lemire, Number parsing at a gigabyte per second, Software: Practice and Experience 51, 2021.)
  @inline(__always)
  private static func eightDigits(_ word: UInt64) -> UInt64 {
    let ones = UInt64(littleEndian: word) & 0x0F0F_0F0F_0F0F_0F0F
    let pairs = (ones &* 10 &+ (ones >> 8)) & 0x00FF_00FF_00FF_00FF
    let fours = (pairs &* 100 &+ (pairs >> 16)) & 0x0000_FFFF_0000_FFFF
    return (fours &* 10_000 &+ (fours >> 32)) & 0xFFFF_FFFF
  }

  // MARK: Any form

  /// Reads a cell as the nearest double and leaves `p` at the comma or the line's end behind it.
  @inline(__always)
  static func readDouble(_ p: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, into value: inout Double)
    -> CellStatus
  {
    var q = p
    if let decimal = scan(&q), q == end || q.pointee == UInt8(ascii: ","),
      let exact = clinger(decimal)
    {
      value = exact
      p = q
      return .value
    }
    return slow(&p, end: end, into: &value, read: mk_read_double)
  }

  /// Reads a cell as the nearest float and leaves `p` at the comma or the line's end behind it.
  @inline(__always)
  static func readFloat(_ p: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, into value: inout Float)
    -> CellStatus
  {
    var q = p
    if let decimal = scan(&q), q == end || q.pointee == UInt8(ascii: ","),
      let exact = clinger(decimal)
    {
      // The double nearest to the decimal rounds to the float nearest to the decimal unless it lies just between two
      // floats (or where floats are subnormal or overflow): then the decimal itself must decide.
      let isMidway = exact.bitPattern & 0x1FFF_FFFF == 0x1000_0000
      let magnitude = abs(exact)
      let isNormal =
        magnitude >= Double(Float.leastNormalMagnitude) && magnitude <= Double(Float.greatestFiniteMagnitude)
      if !isMidway, isNormal || exact == 0 {
        value = Float(exact)
        p = q
        return .value
      }
    }
    return slow(&p, end: end, into: &value, read: mk_read_float)
  }

  /// Clinger's exact case: a mantissa and a power of ten that are both doubles need one correctly rounded operation.
  /// (W. D. Clinger, How to read floating point numbers accurately, PLDI 1990.)
  @inline(__always)
  private static func clinger(_ decimal: Decimal) -> Double? {
    // 18 digits fit in 64 bits, so the mantissa has not wrapped.
    guard decimal.digits <= 18, decimal.mantissa <= 1 << 53, decimal.exponent >= -22, decimal.exponent <= 22 else {
      return nil
    }
    let mantissa = Double(decimal.mantissa)
    let magnitude =
      decimal.exponent < 0 ? mantissa / powers[-decimal.exponent] : mantissa * powers[decimal.exponent]
    return decimal.isNegative ? -magnitude : magnitude
  }

  /// Everything the fast path leaves: long mantissas, spaces, quotes, blanks, NaN and infinities.
  @inline(never)
  private static func slow<T: BinaryFloatingPoint>(
    _ p: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, into value: inout T,
    read: (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutablePointer<T>) -> Int32
  ) -> CellStatus {
    var (first, last) = cell(&p, end: end)
    guard first < last else { return .blank }
    if first.pointee == UInt8(ascii: "+") {
      first += 1
      guard first < last, first.pointee != UInt8(ascii: "-") else { return .bad }
    }
    let isNumber = first.withMemoryRebound(to: CChar.self, capacity: last - first) { text in
      read(text, text + (last - first), &value)
    }
    if isNumber != 0 { return .value }
    switch lowercased(first, last) {
    case "nan", "-nan", "na", "n/a", "null", "none": value = .nan
    case "inf", "infinity": value = .infinity
    case "-inf", "-infinity": value = -.infinity
    default: return .bad
    }
    return .value
  }

  /// The text of the cell at `p` without spaces and quotes around it; `p` moves to the comma or end behind it.
  static func cell(
    _ p: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>
  ) -> (first: UnsafePointer<UInt8>, last: UnsafePointer<UInt8>) {
    var first = p
    var last = p
    while last < end, last.pointee != UInt8(ascii: ",") { last += 1 }
    p = last
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    while first < last, isSpace(first.pointee) { first += 1 }
    while last > first, isSpace(last[-1]) { last -= 1 }
    if last - first >= 2, first.pointee == 0x22, last[-1] == 0x22 {
      first += 1
      last -= 1
    }
    return (first, last)
  }

  private static func lowercased(_ first: UnsafePointer<UInt8>, _ last: UnsafePointer<UInt8>) -> String {
    guard last - first <= 9 else { return "" }
    return String(decoding: UnsafeBufferPointer(start: first, count: last - first), as: UTF8.self).lowercased()
  }

  /// Reads a cell as a whole number of nanoseconds, exactly; `decimals` says how many decimal places one unit of the
  /// text is above a nanosecond (9: seconds, 6: ms, 3: µs, 0: ns). Digits below a nanosecond are rounded, half away
  /// from zero. Leaves `p` at the comma or the line's end behind it.
  @inline(__always)
  static func readTime(
    _ p: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, decimals: Int = 9, into nanoseconds: inout Int64
  ) -> CellStatus {
    var q = p
    if let decimal = scan(&q), q == end || q.pointee == UInt8(ascii: ","), decimal.digits <= 19,
      let exact = scaled(decimal, by: decimals)
    {
      nanoseconds = exact
      p = q
      return .value
    }
    return slowTime(&p, end: end, decimals: decimals, into: &nanoseconds)
  }

  @inline(__always)
  private static func scaled(_ decimal: Decimal, by decimals: Int) -> Int64? {
    let shift = decimal.exponent + decimals
    var magnitude = decimal.mantissa
    if shift > 0 {
      guard shift <= 19 || magnitude == 0 else { return nil }
      if magnitude != 0 {
        let (product, overflow) = magnitude.multipliedReportingOverflow(by: tenTo(shift))
        guard !overflow else { return nil }
        magnitude = product
      }
    } else if shift < 0 {
      if shift < -19 {
        magnitude = 0
      } else {
        let divisor = tenTo(-shift)
        let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: divisor)
        magnitude = quotient + (remainder >= divisor - remainder ? 1 : 0)
      }
    }
    if decimal.isNegative {
      return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
    return Int64(exactly: magnitude)
  }

  @inline(__always)
  private static func tenTo(_ n: Int) -> UInt64 {
    var power: UInt64 = 1
    for _ in 0..<n { power &*= 10 }
    return power
  }

  /// Times with more than 18 digits, spaces or quotes.
  @inline(never)
  private static func slowTime(
    _ p: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, decimals: Int, into nanoseconds: inout Int64
  ) -> CellStatus {
    let (first, last) = cell(&p, end: end)
    guard first < last else { return .blank }
    // Copied, so that a byte that is no digit stands behind it.
    var text = Array(UnsafeBufferPointer(start: first, count: last - first))
    if let point = text.firstIndex(of: UInt8(ascii: ".")), text.allSatisfy({ $0 | 0x20 != UInt8(ascii: "e") }) {
      // Digits that cannot change the result: zeros in front, and decimals two places below a nanosecond.
      let keep = point + 1 + decimals + 1
      if text.count > keep { text.removeSubrange(keep...) }
    }
    let sign = text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+") ? 1 : 0
    while text.count > sign + 1, text[sign] == 48, text[sign + 1] &- 48 < 10 { text.remove(at: sign) }
    text.append(0)
    return text.withUnsafeBufferPointer { buffer in
      guard var q = buffer.baseAddress else { return .blank }
      let stop = q + (buffer.count - 1)
      // 19 digits still fit in UInt64 (10^19 - 1 < 2^64).
      guard let decimal = scan(&q), q == stop, decimal.digits <= 19, let exact = scaled(decimal, by: decimals) else {
        return .bad
      }
      nanoseconds = exact
      return .value
    }
  }
}
