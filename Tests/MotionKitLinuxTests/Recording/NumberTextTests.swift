import CNumberText
import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

private func text(_ write: (RowBuffer) -> Void) -> String {
  let buffer = RowBuffer(capacity: 1)
  write(buffer)
  return String(decoding: buffer.bytes, as: UTF8.self)
}

private func parse<T>(
  _ text: String, _ initial: T,
  _ read: (inout UnsafePointer<UInt8>, UnsafePointer<UInt8>, inout T) -> CellStatus
) -> (status: CellStatus, value: T, consumed: Int) {
  var value = initial
  let bytes = Array(text.utf8) + [0x0A]
  return bytes.withUnsafeBufferPointer { buffer in
    guard var p = buffer.baseAddress else { return (.bad, value, 0) }
    let start = p
    let status = read(&p, start + (buffer.count - 1), &value)
    return (status, value, p - start)
  }
}

private func float(_ text: String) -> (status: CellStatus, value: Float, consumed: Int) {
  parse(text, 0) { NumberText.readFloat(&$0, end: $1, into: &$2) }
}

private func double(_ text: String) -> (status: CellStatus, value: Double, consumed: Int) {
  parse(text, 0) { NumberText.readDouble(&$0, end: $1, into: &$2) }
}

private func time(_ text: String, decimals: Int = 9) -> Int64? {
  let result = parse(text, Int64(0)) { NumberText.readTime(&$0, end: $1, decimals: decimals, into: &$2) }
  return result.status == .value ? result.value : nil
}

/// What went wrong in many tries: an expectation for each of them would cost more than the tries.
private struct Tries {
  private(set) var wrong: [String] = []

  mutating func expect(_ isRight: Bool, _ text: @autoclosure () -> String) {
    if !isRight, wrong.count < 5 { wrong.append(text()) }
  }
}

@Suite struct NumberTextTests {
  @Test func everyFloatReadsBackToTheSameBits() {
    var generator = SeededGenerator(1)
    var tries = Tries()
    for _ in 0..<200_000 {
      let value = Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &generator))
      guard value.isFinite else { continue }
      let written = text { $0.append(value) }
      let read = float(written)
      tries.expect(read.status == .value && read.value.bitPattern == value.bitPattern, written)
      tries.expect(written.utf8.count <= 16, written)
    }
    #expect(tries.wrong == [])
  }

  @Test func everyDoubleReadsBackToTheSameBits() {
    var generator = SeededGenerator(2)
    var tries = Tries()
    for _ in 0..<200_000 {
      let value = Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &generator))
      guard value.isFinite else { continue }
      let written = text { $0.append(value) }
      let read = double(written)
      tries.expect(read.status == .value && read.value.bitPattern == value.bitPattern, written)
    }
    #expect(tries.wrong == [])
  }

  @Test func extremesReadBack() {
    for value in [
      0, -0.0, Float.greatestFiniteMagnitude, -Float.greatestFiniteMagnitude, .leastNonzeroMagnitude,
      .leastNormalMagnitude, 9.80665, 0.1, 16_777_216, 1e-7, -1.2e-38,
    ] as [Float] {
      let written = text { $0.append(value) }
      #expect(float(written).value.bitPattern == value.bitPattern, "\(written)")
    }
    #expect(text { $0.append(Float.nan) } == "NaN")
    #expect(float("NaN").value.isNaN)
    #expect(float(text { $0.append(-Float.infinity) }).value == -.infinity)
  }

  /// Decimals close to the middle between two floats: rounding to double first and to float then would be wrong.
  @Test func floatsAreRoundedOnceNotTwice() {
    // 1 + 2^-24 lies midway between 1 and the next float; a little more must round up, a little less down.
    #expect(float("1.00000005960464477539").value == 1)
    #expect(float("1.00000005960464477540").value == Float(1).nextUp)
    #expect(float("1.000000059604644776").value == Float(1).nextUp)
    #expect(float("1.0000000596046447").value == 1)
    var generator = SeededGenerator(3)
    var tries = Tries()
    for _ in 0..<50_000 {
      let a = Float(bitPattern: UInt32.random(in: 0x3000_0000...0x4F00_0000, using: &generator))
      let middle = (Double(a) + Double(a.nextUp)) / 2
      for candidate in [middle.nextDown, middle.nextUp] {
        let expected = Float(candidate)
        tries.expect(float(text { $0.append(candidate) }).value == expected, "\(candidate)")
      }
    }
    #expect(tries.wrong == [])
  }

  @Test func oddNumbersAreReadOrRefused() {
    #expect(float("+1.5").value == 1.5)
    #expect(float(" 1.5 ").value == 1.5)
    #expect(float("\"1.5\"").value == 1.5)
    #expect(float("1.5e2").value == 150)
    #expect(float("1.").value == 1)
    #expect(float(".5").value == 0.5)
    #expect(float("1.5,7").consumed == 3)
    for blank in ["", " ", ",1"] { #expect(float(blank).status == .blank) }
    for bad in [
      "x", "1.5x", "--1", "+-1", "1e", "1.2.3", "0x10", "1 2", "1e999", ".", "-", "1,5".replacing(",", with: ";"),
    ] {
      #expect(float(bad).status == .bad, "\(bad)")
    }
    #expect(float("1e-999").value == 0)
  }

  @Test func timesAreExact() {
    var generator = SeededGenerator(4)
    var tries = Tries()
    for _ in 0..<100_000 {
      let shift = UInt64.random(in: 0..<64, using: &generator)
      let value = Int64.random(in: .min ... .max, using: &generator) >> Int64(shift)
      tries.expect(time(text { $0.append(nanoseconds: value) }) == value, "\(value)")
      tries.expect(time("\(value)", decimals: 0) == value, "\(value)")
    }
    #expect(tries.wrong == [])
    #expect(text { $0.append(nanoseconds: 1_732_340_000_123_456_789) } == "1732340000.123456789")
    #expect(text { $0.append(nanoseconds: -1) } == "-0.000000001")
    #expect(text { $0.append(nanoseconds: 0) } == "0.000000000")
    for extreme in [Int64.min, .min + 1, .max, .max - 1, -999_999_999, 999_999_999, 1_000_000_000] {
      #expect(time(text { $0.append(nanoseconds: extreme) }) == extreme)
    }
  }

  @Test func timesOfOtherProgramsAreRead() {
    #expect(time("1.5") == 1_500_000_000)
    #expect(time("0.0000000014") == 1)
    #expect(time("0.0000000015") == 2)
    #expect(time("-0.0000000015") == -2)
    #expect(time("1.73234e+09") == 1_732_340_000_000_000_000)
    #expect(time("1e-9") == 1)
    #expect(time("12.25", decimals: 6) == 12_250_000)
    #expect(time("0000000000000000000000001.5") == 1_500_000_000)
    #expect(time("1.50000000000000000000000000001") == 1_500_000_000)
    #expect(time("1650458715596950054", decimals: 0) == 1_650_458_715_596_950_054)
    #expect(time("9223372036.854775808") == nil)
    #expect(time("1e30") == nil)
    #expect(time("12:30") == nil)
  }

  @Test func wholeNumbersAreWritten() {
    for value in [Int64.min, .max, 0, 9, 10, 99, 100, -1, 1_000_000_000_000_000_000] {
      #expect(text { $0.append(value) } == "\(value)")
    }
  }

  @Test func cellsAreQuotedWhereNeeded() {
    #expect(text { $0.append(cell: "plain text") } == "plain text")
    #expect(text { $0.append(cell: "a,b") } == "\"a,b\"")
    #expect(text { $0.append(cell: "say \"so\"\n") } == "\"say \"\"so\"\"\n\"")
    #expect(CSVText.cells("1,\"a,\"\"b\"\"\", c ,") == ["1", "a,\"b\"", "c", ""])
  }

  /// The fast readers of this software's own form agree with the careful ones, or leave the cell to them.
  @Test func plainCellsReadTheSame() {
    func plain<T>(
      _ text: String, _ initial: T, _ read: (inout UnsafePointer<UInt8>, inout T) -> Bool
    ) -> (value: T, consumed: Int)? {
      var value = initial
      let bytes = Array(text.utf8) + [0x2C] + Array(repeating: UInt8(0), count: LineReader.padding)
      return bytes.withUnsafeBufferPointer { buffer in
        guard var p = buffer.baseAddress else { return nil }
        let start = p
        return read(&p, &value) ? (value, p - start) : nil
      }
    }
    var generator = SeededGenerator(6)
    var fast = 0
    var tries = Tries()
    var seconds = NumberText.Seconds()
    for _ in 0..<100_000 {
      let value = Float.random(in: -100...100, using: &generator)
      let written = text { $0.append(value) }
      if let read = plain(written, Float(0), { NumberText.readPlainFloat(&$0, into: &$1, .shared) }) {
        fast += 1
        tries.expect(read.value.bitPattern == value.bitPattern && read.consumed == written.utf8.count, written)
      }
      // Every length up to the ten digits of a date; the same second now and then, as in a file.
      let limits: [Int64] = [1, 1_000_000, 10_000_000_000, 2_000_000_000_000_000, .max]
      let limit = limits.randomElement(using: &generator) ?? 1
      var nanoseconds = Int64.random(in: 0...limit, using: &generator)
      for _ in 0..<3 {
        let stamp = text { $0.append(nanoseconds: nanoseconds) }
        let time = plain(stamp, Int64(0)) { NumberText.readPlainTime(&$0, into: &$1, &seconds) }
        tries.expect(time?.value == nanoseconds && time?.consumed == stamp.utf8.count, stamp)
        nanoseconds = min(nanoseconds, .max - 1_000_000_000) + Int64.random(in: 0...1_000_000_000, using: &generator)
      }
    }
    #expect(tries.wrong == [])
    #expect(fast > 99_000)
    for (number, value) in [
      ("12345678", 12_345_678), ("123456789", nil), ("1234567.25", 1_234_567.25), ("12345678.5", nil),
      ("0.123456789", 0.123456789), ("1.00000001234", 1.00000001234), ("1.5", 1.5), ("7", 7), ("1234.0", 1234),
      ("0.00000000", 0), ("0.0000000012345", 0.0000000012345),
    ] as [(String, Double?)] {
      let read = plain(number, Float(0)) { NumberText.readPlainFloat(&$0, into: &$1, .shared) }
      guard let read else { continue }
      #expect(value.map { Float($0) == read.value } ?? false, "\(number) is \(read.value)")
      #expect(read.consumed == number.utf8.count, "\(number)")
    }
    for other in ["", "-", ".", "x", "NaN", "1e5", " 1", "+1", "\"1\"", "1.5.5", "--1.5", "-.5", "1-.5"] {
      let read = plain(other, Float(0)) { NumberText.readPlainFloat(&$0, into: &$1, .shared) }
      #expect(read == nil || read.map { $0.consumed < other.utf8.count } == true, "\(other)")
    }
    for other in [
      "1", "1.5", "1.12345678", "1.1234567890", "1.12345678x", ".123456789", "1.1234 6789",
      "-1.123456789", "9223372036.123456789", "12345678901.123456789",
    ] {
      #expect(plain(other, Int64(0)) { NumberText.readPlainTime(&$0, into: &$1, &seconds) } == nil, "\(other)")
    }
    #expect(plain("0", Float(1)) { NumberText.readPlainFloat(&$0, into: &$1, .shared) }?.value == 0)
    #expect(plain("-0", Float(1)) { NumberText.readPlainFloat(&$0, into: &$1, .shared) }?.value.sign == .minus)
  }

  /// Whatever stands in a cell, digits and points, other letters, halves of characters: the fast reader reads what the
  /// careful one reads, or leaves it to that.
  @Test func plainCellsOfAnyBytesReadTheSameOrNotAtAll() {
    var generator = SeededGenerator(8)
    let digits = Array(repeating: "0123456789", count: 4).joined()
    let bytes = Array((digits + "....--,,\n/:+e \"x").utf8) + [0, 0x7F, 0x80, 0xAC, 0xAD, 0xFF]
    var (read, long) = (0, 0)
    var tries = Tries()
    for _ in 0..<300_000 {
      let count = Int.random(in: 1...20, using: &generator)
      var cell = (0..<count).map { _ in bytes[Int.random(in: 0..<bytes.count, using: &generator)] }
      // Half of them are numbers of every length, some with one strange byte.
      if Bool.random(using: &generator) {
        cell = (0..<count).map { _ in UInt8.random(in: 48...57, using: &generator) }
        cell[Int.random(in: 0..<count, using: &generator)] = 0x2E
        if Bool.random(using: &generator) { cell.insert(0x2D, at: 0) }
        if Int.random(in: 0..<4, using: &generator) == 0 {
          let place = Int.random(in: 0..<cell.count, using: &generator)
          cell[place] = bytes[Int.random(in: 0..<bytes.count, using: &generator)]
        }
      }
      let text = cell + [0x2C, 0x31] + Array(repeating: UInt8(0), count: LineReader.padding)
      text.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return }
        var (p, q) = (start, start)
        var (plain, careful) = (Float(-1), Float(-1))
        guard NumberText.readPlainFloat(&p, into: &plain, .shared) else { return }
        guard p.pointee == 0x2C || p.pointee == 0x0A else { return }
        let end = start + (buffer.firstIndex(of: 0x0A) ?? cell.count + 2)
        let status = NumberText.readFloat(&q, end: end, into: &careful)
        tries.expect(status == .value && p == q && plain.bitPattern == careful.bitPattern, "\(cell)")
        read += 1
        if p - start > 12 { long += 1 }
      }
    }
    #expect(tries.wrong == [])
    #expect(read > 50_000 && long > 5_000, "\(read), \(long)")
  }

  /// What is written by this software's own digits is what the C++ library writes, byte for byte.
  @Test func textIsThatOfTheLibrary() {
    func library<T: BinaryFloatingPoint>(_ value: T) -> String {
      var room = [CChar](repeating: 0, count: 32)
      let count = (value as? Float).map { mk_write_float($0, &room) } ?? mk_write_double(Double(value), &room)
      return String(decoding: room[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    var generator = SeededGenerator(7)
    var wrong: [String] = []
    func check(_ value: Double) {
      let float = Float(value)
      let (longText, shortText) = (text { $0.append(value) }, text { $0.append(float) })
      if longText != library(value) { wrong.append("\(longText) is \(library(value))") }
      if float.isFinite, shortText != library(float) { wrong.append("\(shortText) is \(library(float))") }
    }
    for _ in 0..<20_000 {
      let power = pow(10, Double(Int.random(in: -13...19, using: &generator)))
      let value = Double.random(in: -1...1, using: &generator) * power
      check(value)
      check(value.nextUp)
      // Few digits, whole numbers, halves of units, powers of two and their neighbours.
      check((value * 1000).rounded() / 1000)
      check(Double(Float(value)))
      check(value.rounded())
      check(value.rounded() / 10)
      check((value.rounded() + 0.5) / 16)
      let two = Double(sign: .plus, exponent: Int.random(in: -70...70, using: &generator), significand: 1)
      check(two)
      check(two.nextUp)
      check(two.nextDown)
      check(Double(Float(two).nextDown))
    }
    for value in [0, -0.0, 0.1, 0.001, 0.0001, 0.00001, 0.00012, 1e5, 123456, 1e15, 1e16, 9_007_199_254_740_992] {
      check(value)
      check(-value)
      check(.leastNonzeroMagnitude)
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(5))")
  }
}
