import CNumberText

// Numbers from the text of CSV cells: exact, the same in every locale.

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
  /// What reads many numbers in a row passes its own copy.
  private static let tables = NumberTables.shared

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
      decimal.exponent < 0
      ? mantissa / tables.exactTens[-decimal.exponent] : mantissa * tables.exactTens[decimal.exponent]
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
