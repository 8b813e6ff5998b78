// The form of numbers that this software writes. Most cells are read by these, which know digits, a point and a sign and
// nothing else. They stop at the first byte of any other kind; the caller looks whether that is the end of the cell and
// otherwise reads it again by the careful functions. Signs and lengths of values are as good as random: without branches
// on them none is guessed wrong. `LineReader.padding` bytes behind the text may be looked at.

extension NumberText {
  /// The seconds of the last time that was read, as text: most rows have the same ones.
  struct Seconds {
    /// The text with its point in two words, where the masks have ones.
    fileprivate var words: (UInt64, UInt64) = (0, 0)
    fileprivate var masks = (UInt64.max, UInt64.max)
    fileprivate var length = 0
    fileprivate var nanoseconds: Int64 = 0
  }

  /// Reads `digits.ddddddddd`, at most ten before the point, as nanoseconds; false for any other form.
  @inline(__always)
  static func readPlainTime(
    _ p: inout UnsafePointer<UInt8>, into nanoseconds: inout Int64, _ seconds: inout Seconds
  ) -> Bool {
    let word = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
    let next = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    if (word ^ seconds.words.0) & seconds.masks.0 | (next ^ seconds.words.1) & seconds.masks.1 != 0 {
      guard learn(p, &seconds) else { return false }
    }
    p += seconds.length
    let eight = UnsafeRawPointer(p).loadUnaligned(as: UInt64.self)
    let last = p[8] &- 48
    guard isEightDigits(eight), last < 10, p[9] &- 48 >= 10 else { return false }
    p += 9
    nanoseconds = seconds.nanoseconds &+ Int64(truncatingIfNeeded: eightDigits(eight) &* 10 &+ UInt64(last))
    return true
  }

  /// Takes the seconds that stand at `p`; false where they do not fit.
  @inline(never)
  private static func learn(_ p: UnsafePointer<UInt8>, _ seconds: inout Seconds) -> Bool {
    var whole: UInt64 = 0
    var length = 0
    while p[length] &- 48 < 10, length < 10 {
      whole = whole * 10 + UInt64(p[length] &- 48)
      length += 1
    }
    // The largest number of whole seconds behind which any nanoseconds still fit in 64 bits.
    guard length > 0, p[length] == UInt8(ascii: "."), whole < 9_223_372_036 else { return false }
    seconds.length = length + 1
    seconds.words.0 = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
    seconds.words.1 = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    seconds.masks.0 = UInt64.max >> UInt64(max(0, 64 - 8 * seconds.length))
    seconds.masks.1 = seconds.length > 8 ? UInt64.max >> UInt64(128 - 8 * seconds.length) : 0
    seconds.nanoseconds = Int64(whole) * 1_000_000_000
    return true
  }

  /// Reads `[-]digits[.digits]` as the nearest float; false for any other form and where one rounding does not settle.
  @inline(__always)
  static func readPlainFloat(
    _ p: inout UnsafePointer<UInt8>, into value: inout Float, _ tables: NumberTables
  ) -> Bool {
    let start = p
    let sign = p.pointee == UInt8(ascii: "-") ? 1 : 0
    p += sign
    let low = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
    let next = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    // The first point: its byte is 0 after the exclusive or, and only what stands behind it may be mistaken for another.
    let blanked = low ^ 0x2E2E_2E2E_2E2E_2E2E
    let found = (blanked &- 0x0101_0101_0101_0101) & ~blanked & 0x8080_8080_8080_8080
    let whole = found.trailingZeroBitCount >> 3
    // The digits without the point: eight in one word, a ninth by itself.
    let before = ((found & (0 &- found)) >> 7) &- 1
    let digits = (low & before) | (((low >> 8) | (next << 56)) & ~before)
    var count = leadingDigits(digits)
    // A point among the first eight bytes, digits before it.
    guard count >= whole, whole > 0, whole < 8 else {
      p = start
      return readOtherFloat(&p, into: &value, tables)
    }
    var mantissa = firstDigits(digits, count)
    let ninth = ((next >> 8) & 0xFF) &- 48
    let hasNinth = count == 8 && ninth < 10
    mantissa = hasNinth ? mantissa &* 10 &+ ninth : mantissa
    count &+= hasNinth ? 1 : 0
    p += count &+ 1
    guard p.pointee &- 48 >= 10 else {
      p = start
      return readOtherFloat(&p, into: &value, tables)
    }
    let exact = Double(Int64(truncatingIfNeeded: mantissa)) / tables.exactTens[count &- whole]
    guard isSettled(exact) else { return false }
    value = Float(bitPattern: Float(exact).bitPattern | UInt32(truncatingIfNeeded: sign) << 31)
    return true
  }

  /// Whether the float nearest to this double is the one nearest to the decimal that it is nearest to: not where it lies
  /// just between two floats.
  @inline(__always)
  private static func isSettled(_ exact: Double) -> Bool { exact.bitPattern & 0x1FFF_FFFF != 0x1000_0000 }

  /// As `readPlainFloat`, for numbers without a point or with more than nine digits.
  @inline(never)
  private static func readOtherFloat(
    _ p: inout UnsafePointer<UInt8>, into value: inout Float, _ tables: NumberTables
  ) -> Bool {
    let sign = p.pointee == UInt8(ascii: "-") ? 1 : 0
    p += sign
    var word = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
    var digits = leadingDigits(word)
    guard digits > 0, digits < 8 else { return false }
    var mantissa = firstDigits(word, digits)
    p += digits
    var decimals = 0
    if p.pointee == UInt8(ascii: ".") {
      p += 1
      word = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
      decimals = leadingDigits(word)
      if decimals > 0 {
        mantissa = mantissa &* tables.tens[decimals] &+ firstDigits(word, decimals)
        p += decimals
      }
      if decimals == 8 {
        while true {
          let digit = p.pointee &- 48
          guard digit < 10 else { break }
          mantissa = mantissa &* 10 &+ UInt64(digit)
          p += 1
          decimals += 1
        }
      }
      digits += decimals
    }
    // 15 digits are below 2^53.
    guard digits <= 15 else { return false }
    let exact = Double(mantissa) / tables.exactTens[decimals]
    guard isSettled(exact), exact >= Double(Float.leastNormalMagnitude) || mantissa == 0 else { return false }
    value = Float(bitPattern: Float(exact).bitPattern | UInt32(sign) << 31)
    return true
  }

  /// The number of the first `count` (1 to 8) bytes of a little-endian word, all digits: those behind are pushed out, and
  /// zeros come in before the first.
  @inline(__always)
  private static func firstDigits(_ word: UInt64, _ count: Int) -> UInt64 {
    joined(word &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count))
  }

  /// How many of the first bytes of a little-endian word are decimal digits. A byte that is none may carry into those behind
  /// it, which do not count then.
  @inline(__always)
  private static func leadingDigits(_ word: UInt64) -> Int {
    let bytes = word
    let highs = (bytes & 0xF0F0_F0F0_F0F0_F0F0) ^ 0x3030_3030_3030_3030
    let carried = ((bytes &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0) ^ 0x3030_3030_3030_3030
    return (highs | carried).trailingZeroBitCount >> 3
  }

  /// Whether all bytes of a little-endian word are decimal digits: the high halves must be 3, and stay 3 when 6 is
  /// added, which carries from 10 on.
  @inline(__always)
  private static func isEightDigits(_ word: UInt64) -> Bool {
    let bytes = UInt64(littleEndian: word)
    let carried = (bytes &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0
    return (bytes & 0xF0F0_F0F0_F0F0_F0F0) == 0x3030_3030_3030_3030 && carried == 0x3030_3030_3030_3030
  }

  /// The number of eight digits in memory.
  @inline(__always)
  private static func eightDigits(_ word: UInt64) -> UInt64 { joined(UInt64(littleEndian: word)) }

  /// The number of eight digits, first digit in the lowest byte: neighbours are joined three times, to pairs, fours and
  /// the eight. (D. Lemire, Number parsing at a gigabyte per second, Software: Practice and Experience 51, 2021.)
  @inline(__always)
  private static func joined(_ word: UInt64) -> UInt64 {
    let ones = word & 0x0F0F_0F0F_0F0F_0F0F
    let pairs = (ones &* 10 &+ (ones >> 8)) & 0x00FF_00FF_00FF_00FF
    let fours = (pairs &* 100 &+ (pairs >> 16)) & 0x0000_FFFF_0000_FFFF
    return (fours &* 10_000 &+ (fours >> 32)) & 0xFFFF_FFFF
  }
}
