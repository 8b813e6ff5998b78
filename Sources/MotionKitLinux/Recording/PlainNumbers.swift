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

  /// Reads `[-]digits[.digits]` as the nearest float, and leaves `p` where the number ends; false for any other form and
  /// where one rounding does not settle.
  ///
  /// Where the number ends is found first, by itself: the next cell waits for that and not for the value.
  @inline(__always)
  static func readPlainFloat(
    _ p: inout UnsafePointer<UInt8>, into value: inout Float, _ tables: NumberTables
  ) -> Bool {
    let start = p
    let first = UInt64(littleEndian: UnsafeRawPointer(start).loadUnaligned(as: UInt64.self))
    let second = UInt64(littleEndian: UnsafeRawPointer(start).loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    let ends = (endings(first), endings(second))
    p += (ends.0.trailingZeroBitCount &+ (ends.0 == 0 ? ends.1.trailingZeroBitCount : 0)) >> 3
    let sign = first & 0xFF == UInt64(UInt8(ascii: "-")) ? 1 : 0
    let digits = start + sign
    let low = UInt64(littleEndian: UnsafeRawPointer(digits).loadUnaligned(as: UInt64.self))
    // One to four digits, a point, one to eight digits.
    let found = points(low) & 0x0000_0080_8080_8000
    let whole = found.trailingZeroBitCount >> 3
    let fraction = digits + (whole &+ 1)
    let decimals = p - fraction
    guard found != 0, UInt(bitPattern: decimals &- 1) < 8 else {
      return readOtherFloat(start, p, into: &value, tables)
    }
    let unitShift = UInt32(truncatingIfNeeded: 32 &- 8 &* whole)
    let units = UInt32(truncatingIfNeeded: low) &<< unitShift
    let restShift = UInt64(truncatingIfNeeded: 64 &- 8 &* decimals)
    let rest = UInt64(littleEndian: UnsafeRawPointer(fraction).loadUnaligned(as: UInt64.self)) &<< restShift
    let strange = strangers(rest, restShift) | UInt64(strangers(units, unitShift))
    guard strange == 0 else { return false }
    let mantissa = joined(units) &* tables.tens[decimals] &+ joined(rest)
    // 12 digits are below 2^53.
    let exact = Double(Int64(truncatingIfNeeded: mantissa)) / tables.exactTens[decimals]
    guard isSettled(exact) else { return false }
    value = Float(bitPattern: Float(exact).bitPattern | UInt32(truncatingIfNeeded: sign) << 31)
    return true
  }

  /// Ones in the highest bits of the bytes of a little-endian word that are below '-', as what ends a number is: the sum
  /// reaches the highest bit from '-' on. A byte that is no ASCII may carry into the next one, but such a byte is no
  /// number's either.
  @inline(__always)
  private static func endings(_ word: UInt64) -> UInt64 {
    ~(word &+ 0x5353_5353_5353_5353) & 0x8080_8080_8080_8080
  }

  /// Ones in the highest bits of the bytes that are a point, by the first such bit; those behind it may be mistaken.
  @inline(__always)
  private static func points(_ word: UInt64) -> UInt64 {
    let blanked = word ^ 0x2E2E_2E2E_2E2E_2E2E
    return (blanked &- 0x0101_0101_0101_0101) & ~blanked & 0x8080_8080_8080_8080
  }

  /// Whether the float nearest to this double is the one nearest to the decimal that it is nearest to: not where it lies
  /// just between two floats.
  @inline(__always)
  private static func isSettled(_ exact: Double) -> Bool { exact.bitPattern & 0x1FFF_FFFF != 0x1000_0000 }

  /// As `readPlainFloat`, of the bytes up to `end`, for numbers without a point or with other counts of digits: at most
  /// eight before the point, and 15 in all.
  @inline(never)
  private static func readOtherFloat(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, into value: inout Float, _ tables: NumberTables
  ) -> Bool {
    let sign = start.pointee == UInt8(ascii: "-") ? 1 : 0
    let digits = start + sign
    let length = end - digits
    let low = UInt64(littleEndian: UnsafeRawPointer(digits).loadUnaligned(as: UInt64.self))
    let whole = min(points(low).trailingZeroBitCount >> 3, length)
    guard length <= 16, whole > 0 else { return false }
    let unitShift = UInt64(truncatingIfNeeded: 64 &- 8 &* whole)
    let units = low &<< unitShift
    guard strangers(units, unitShift) == 0 else { return false }
    var mantissa = joined(units)
    let decimals = max(0, length - whole - 1)
    if length > whole {
      let point = digits + whole
      guard point.pointee == UInt8(ascii: "."), whole + decimals <= 15 else { return false }
      for offset in stride(from: 0, to: decimals, by: 8) {
        let count = min(8, decimals - offset)
        let shift = UInt64(truncatingIfNeeded: 64 &- 8 &* count)
        let word = UnsafeRawPointer(point).loadUnaligned(fromByteOffset: 1 + offset, as: UInt64.self)
        let rest = UInt64(littleEndian: word) &<< shift
        guard strangers(rest, shift) == 0 else { return false }
        mantissa = mantissa &* tables.tens[count] &+ joined(rest)
      }
    }
    // 15 digits are below 2^53.
    let exact = Double(Int64(truncatingIfNeeded: mantissa)) / tables.exactTens[decimals]
    guard isSettled(exact) else { return false }
    value = Float(bitPattern: Float(exact).bitPattern | UInt32(truncatingIfNeeded: sign) << 31)
    return true
  }

  /// Zero where all bytes of a little-endian word are decimal digits, but for the lowest ones, zeros, that `shift` bits
  /// of pushing have brought in: the high halves must be 3, and stay 3 when 6 is added, which carries from 10 on.
  @inline(__always)
  private static func strangers<Word: FixedWidthInteger>(_ word: Word, _ shift: Word) -> Word {
    let sixes = Word.max / 0xFF &* 0x06
    let highs = Word.max / 0xFF &* 0xF0
    let threes = Word.max / 0xFF &* 0x30
    let digits = threes &<< shift
    return ((word ^ digits) | ((word &+ sixes) ^ digits)) & highs
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

  /// The same for four digits.
  @inline(__always)
  private static func joined(_ word: UInt32) -> UInt64 {
    let ones = word & 0x0F0F_0F0F
    let pairs = (ones &* 10 &+ (ones >> 8)) & 0x00FF_00FF
    return UInt64((pairs &* 100 &+ (pairs >> 16)) & 0xFFFF)
  }
}
