import CNumberText

/// Writes the text of rows at a place in memory: a pointer and the tables it needs, so that a row is written without a
/// call, a check or a reference between its cells.
///
/// The caller has made room: `longestCell` bytes a cell, some of which behind its text may be touched.
struct CellWriter {
  /// Bytes that one number and the comma before it take or touch.
  static let longestCell = 40

  /// Where the next byte goes.
  private(set) var place: UnsafeMutablePointer<UInt8>
  private let fives: UnsafePointer<UInt64>
  private let tens: UnsafePointer<UInt64>

  /// Writes from `place` on.
  @inline(__always)
  init(_ place: UnsafeMutablePointer<UInt8>, _ tables: NumberTables) {
    self.place = place
    fives = tables.fives
    tens = tables.tens
  }

  @inline(__always)
  mutating func put(byte: UInt8) {
    place.pointee = byte
    place += 1
  }

  @inline(__always) mutating func comma() { put(byte: UInt8(ascii: ",")) }
  @inline(__always) mutating func newline() { put(byte: UInt8(ascii: "\n")) }

  /// At most `longestCell` bytes.
  @inline(__always)
  mutating func put(_ text: StaticString) {
    place.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    place += text.utf8CodeUnitCount
  }

  /// Text that is there already.
  @inline(__always)
  mutating func put(_ text: UnsafeMutablePointer<UInt8>, count: Int) {
    place.update(from: text, count: count)
    place += count
  }

  @inline(__always)
  private func store(_ word: UInt64, at offset: Int) {
    UnsafeMutableRawPointer(place + offset).storeBytes(of: word.littleEndian, as: UInt64.self)
  }

  // MARK: Whole numbers and times

  mutating func put(_ value: Bool) { put(byte: value ? UInt8(ascii: "1") : UInt8(ascii: "0")) }

  @inline(__always)
  mutating func put(_ value: Int64) {
    if value < 0 { put(byte: UInt8(ascii: "-")) }
    put(whole: value.magnitude)
  }

  /// Nanoseconds as seconds with nine decimals, exact.
  @inline(__always)
  mutating func put(nanoseconds: Int64) {
    if nanoseconds < 0 { put(byte: UInt8(ascii: "-")) }
    let magnitude = nanoseconds.magnitude
    let seconds = magnitude / 1_000_000_000
    let rest = magnitude &- seconds &* 1_000_000_000
    put(whole: seconds)
    let first = rest / 100_000_000
    store((first | 0x30) << 8 | 0x2E, at: 0)
    store(Self.text(ofEight: rest &- first &* 100_000_000), at: 2)
    place += 10
  }

  @inline(__always)
  private mutating func put(whole number: UInt64) {
    guard number < 100_000_000 else { return put(long: number) }
    let count = max(1, digitCount(number))
    store(Self.text(ofEight: number) >> UInt64(truncatingIfNeeded: 64 &- 8 &* count), at: 0)
    place += count
  }

  /// More than eight digits.
  @inline(never)
  private mutating func put(long number: UInt64) {
    put(whole: number / 100_000_000)
    store(Self.text(ofEight: number % 100_000_000), at: 0)
    place += 8
  }

  // MARK: Digits

  /// Eight decimal digits as text, the first in the lowest byte: halves, then pairs, then single digits, by
  /// multiplication with the inverse of the divisor.
  @inline(__always)
  private static func text(ofEight number: UInt64) -> UInt64 {
    let high = number / 10_000
    let fours = high | ((number &- high &* 10_000) << 32)
    let hundreds = ((fours &* 10_486) >> 20) & 0x0000_007F_0000_007F
    let twos = hundreds | ((fours &- hundreds &* 100) << 16)
    let tens = ((twos &* 103) >> 10) & 0x000F_000F_000F_000F
    return (tens | ((twos &- tens &* 10) << 8)) | 0x3030_3030_3030_3030
  }

  /// How many decimal digits a number from 1 to 10^19 - 1 has.
  @inline(__always)
  private func digitCount(_ number: UInt64) -> Int {
    // 1233 / 4096 is the logarithm of 2; the table settles what it cannot.
    let bits = UInt64(truncatingIfNeeded: 64 &- number.leadingZeroBitCount)
    let estimate = Int(truncatingIfNeeded: (bits &* 1233) >> 12)
    return estimate &+ (number >= tens[estimate] ? 1 : 0)
  }

  /// Writes a decimal in plain notation: `digits` are 17 (9 for a `narrow` one) with zeros at the end, of which `count` are
  /// written, with the point behind the first `point` of them, -3 to 8.
  @inline(__always)
  private mutating func putDigits(_ digits: UInt64, _ count: Int, point: Int, sign: Int, isNarrow: Bool) {
    place.pointee = UInt8(ascii: "-")
    place += sign
    // The first digit by itself, then groups of eight.
    var (first, second, third): (UInt64, UInt64, UInt64)
    if isNarrow {
      first = digits / 100_000_000
      second = Self.text(ofEight: digits &- first &* 100_000_000)
      third = 0x3030_3030_3030_3030
    } else {
      let high = digits / 100_000_000
      first = high / 100_000_000
      second = Self.text(ofEight: high &- first &* 100_000_000)
      third = Self.text(ofEight: digits &- high &* 100_000_000)
    }
    first |= 0x30
    if point <= 0 {
      store(0x3030_3030_3030_2E30, at: 0)
      let start = 2 &- point
      place[start] = UInt8(truncatingIfNeeded: first)
      store(second, at: start &+ 1)
      if !isNarrow { store(third, at: start &+ 9) }
      place += start &+ count
      return
    }
    // The digits before the point, the point over the first one behind it, then the rest one place further.
    store(second << 8 | first, at: 0)
    store(second >> UInt64(truncatingIfNeeded: 8 &* (point &- 1)), at: point &+ 1)
    store(third, at: 10)
    place[point] = UInt8(ascii: ".")
    // Whole numbers are few: all others have digits behind the point.
    place += count > point ? count &+ 1 : point
  }

  // MARK: The shortest decimal
  //
  // A binary number x = c 2^q is scaled by 10^m to D + F/2^s, with D a whole number of just more digits than the shortest
  // decimal can need: x 10^m = c 5^m / 2^s with s = -(q + m). For the numbers taken here 5^m fits in 64 bits and the product
  // in 128, so nothing is rounded. Every decimal that reads back to x lies less than half a unit in the last place of x
  // away, which is 5^m in units of 2^-(s+1); being odd, that is never the distance of a decimal just at the edge. So the
  // shortest decimal is the nearest multiple of the largest power of ten that has one so near. Powers of two, whose lower
  // edge is nearer, ties, very large and very small numbers are left to std::to_chars, which gives the same text.

  /// All ones where `a` is below `b`, else 0; both below 2^63. Which of two decimals is nearer is as good as random: a
  /// branch on it would be guessed wrong half the time.
  @inline(__always)
  private static func mask(_ a: UInt64, below b: UInt64) -> UInt64 {
    UInt64(bitPattern: Int64(bitPattern: a &- b) >> 63)
  }

  @inline(__always)
  private static func choose(_ mask: UInt64, _ a: UInt64, _ b: UInt64) -> UInt64 { b ^ ((a ^ b) & mask) }

  /// The shortest decimal that reads back to the same double, of those the nearest one; `NaN`, `Inf`, `-Inf` otherwise (as
  /// pandas and R read).
  @inline(__always)
  mutating func put(_ value: Double) {
    let bits = value.bitPattern & ~(1 << 63)
    let exponent = Int(truncatingIfNeeded: bits >> 52) &- 1023
    let fraction = bits & (1 << 52 - 1)
    // From 2^-28, for which 100 2^(s+1) is below 2^63, to 2^50, for which s is not 0.
    guard UInt(bitPattern: exponent &+ 28) < 78, fraction != 0 else {
      return bits == 0 ? putZero(value.sign) : putSlow(value)
    }
    let decimalExponent = (exponent &* 78_913) >> 18
    let m = 16 &- decimalExponent
    let s = UInt64(truncatingIfNeeded: 36 &- exponent &+ decimalExponent)
    let half = fives[m]
    let (high, low) = (fraction | 1 << 52).multipliedFullWidth(by: half)
    let whole = high &<< (64 &- s) | low &>> s
    let part = (low << 1) & (2 &<< s &- 1)
    let hundreds = whole / 100
    let rest = whole &- hundreds &* 100
    let below = rest &<< (s &+ 1) | part
    let above = 100 &<< (s &+ 1) &- below
    if min(below, above) < half { return putShort(value, hundreds &+ (above < below ? 1 : 0), 2 &- m, 17) }
    // Division by 10, exact below 100.
    let quotient = (rest &* 103) >> 10
    let belowTen = (rest &- quotient &* 10) &<< (s &+ 1) | part
    let aboveTen = 10 &<< (s &+ 1) &- belowTen
    let isUp = Self.mask(aboveTen, below: belowTen)
    let isTen = Self.mask(Self.choose(isUp, aboveTen, belowTen), below: half)
    let nearestTen = hundreds &* 10 &+ quotient &- isUp
    let nearest = whole &- Self.mask(1 &<< s, below: part)
    // One of 18 digits is always a multiple of ten: then half a unit is more than 5.
    let isLong = Self.mask(99_999_999_999_999_999, below: whole)
    let digits = Self.choose(isTen, Self.choose(isLong, nearestTen, nearestTen &* 10), nearest)
    let count = 17 &- Int(truncatingIfNeeded: isTen & ~isLong & 1)
    let point = 17 &- m &+ Int(truncatingIfNeeded: isLong & 1)
    // Neither a tie nor a point that std::to_chars would not write.
    guard belowTen != aboveTen, part != 1 &<< s, UInt(bitPattern: point &+ 3) <= 11 else { return putSlow(value) }
    putDigits(digits, count, point: point, sign: Int(truncatingIfNeeded: value.bitPattern >> 63), isNarrow: false)
  }

  /// The shortest decimal that reads back to the same float, likewise.
  @inline(__always)
  mutating func put(_ value: Float) {
    let bits = value.bitPattern & ~(1 << 31)
    let exponent = Int(truncatingIfNeeded: bits >> 23) &- 127
    let fraction = bits & (1 << 23 - 1)
    // From 2^-27, for which the product fits in 64 bits, to 2^20, for which s is not 0.
    guard UInt(bitPattern: exponent &+ 27) < 48, fraction != 0 else {
      return bits == 0 ? putZero(value.sign) : putSlow(value)
    }
    let decimalExponent = (exponent &* 78_913) >> 18
    let m = 8 &- decimalExponent
    let s = UInt64(truncatingIfNeeded: 15 &- exponent &+ decimalExponent)
    let half = fives[m]
    let product = UInt64(fraction | 1 << 23) &* half
    let whole = product &>> s
    let part = (product << 1) & (2 &<< s &- 1)
    let thousands = whole / 1000
    let rest = whole &- thousands &* 1000
    let below = rest &<< (s &+ 1) | part
    let above = 1000 &<< (s &+ 1) &- below
    if min(below, above) < half { return putShort(value, thousands &+ (above < below ? 1 : 0), 3 &- m, 9) }
    // Division by 100 and by 10, exact below 1000.
    let hundreds = (rest &* 5243) >> 19
    let belowHundred = (rest &- hundreds &* 100) &<< (s &+ 1) | part
    let aboveHundred = 100 &<< (s &+ 1) &- belowHundred
    let tenth = (rest &* 6554) >> 16
    let belowTen = (rest &- tenth &* 10) &<< (s &+ 1) | part
    let aboveTen = 10 &<< (s &+ 1) &- belowTen
    let isHundredUp = Self.mask(aboveHundred, below: belowHundred)
    let isHundred = Self.mask(Self.choose(isHundredUp, aboveHundred, belowHundred), below: half)
    let nearestHundred = (thousands &* 10 &+ hundreds &- isHundredUp) &* 10
    let nearestTen = thousands &* 100 &+ tenth &- Self.mask(aboveTen, below: belowTen)
    let nearest = Self.choose(isHundred, nearestHundred, nearestTen)
    let isLong = Self.mask(999_999_999, below: whole)
    let digits = Self.choose(isLong, nearest, nearest &* 10)
    let count = 8 &+ Int(truncatingIfNeeded: (isLong & 1) &+ isHundred)
    let point = 9 &- m &+ Int(truncatingIfNeeded: isLong & 1)
    guard belowHundred != aboveHundred, belowTen != aboveTen, UInt(bitPattern: point &+ 3) <= 11 else {
      return putSlow(value)
    }
    putDigits(digits, count, point: point, sign: Int(truncatingIfNeeded: value.bitPattern >> 31), isNarrow: true)
  }

  /// What a sensor that is not there, and a rate at rest, are.
  @inline(__always)
  private mutating func putZero(_ sign: FloatingPointSign) {
    if sign == .minus { put(byte: UInt8(ascii: "-")) }
    put(byte: UInt8(ascii: "0"))
  }

  /// A number with fewer digits than its neighbours have: zeros at its end are taken off.
  @inline(never)
  private mutating func putShort<T: TextNumber>(_ value: T, _ number: UInt64, _ power: Int, _ capacity: Int) {
    var (significand, exponent) = (number, power)
    while significand % 10 == 0 {
      significand /= 10
      exponent += 1
    }
    let count = digitCount(significand)
    let point = count + exponent
    // std::to_chars takes the shorter of both notations, the plain one of two that are equal.
    guard exponent >= (count == 1 ? -3 : -3 - count), exponent <= (count == 1 ? 4 : 5), point <= 8 else {
      return putSlow(value)
    }
    putDigits(
      significand &* tens[capacity - count], count, point: point, sign: value.sign == .minus ? 1 : 0,
      isNarrow: capacity == 9)
  }

  /// Any number, by the C++ library.
  @inline(never)
  private mutating func putSlow<T: TextNumber>(_ value: T) {
    guard value.isFinite else { return put(value.isNaN ? "NaN" : value < 0 ? "-Inf" : "Inf") }
    place += place.withMemoryRebound(to: CChar.self, capacity: Self.longestCell) { value.write(to: $0) }
  }
}

/// The two kinds of numbers that rows hold.
private protocol TextNumber: BinaryFloatingPoint {
  /// Writes a finite number as the C++ library does; returns the length.
  func write(to place: UnsafeMutablePointer<CChar>) -> Int
}

extension Float: TextNumber {
  fileprivate func write(to place: UnsafeMutablePointer<CChar>) -> Int { mk_write_float(self, place) }
}

extension Double: TextNumber {
  fileprivate func write(to place: UnsafeMutablePointer<CChar>) -> Int { mk_write_double(self, place) }
}
