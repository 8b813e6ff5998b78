/// How one element of a sample lies in an IIO buffer: `[be|le]:[s|u]bits/storagebits[Xrepeat][>>shift]`.
///
/// Decoding masks and sign-extends always: bits above `bits` may hold garbage even where the storage is wider.
/// (Linux kernel documentation, Documentation/iio/iio_devbuf.rst and ABI/testing/sysfs-bus-iio, `in_*_type`.)
struct ScanFormat: Hashable, Sendable {
  /// Whether the most significant byte comes first.
  var isBigEndian: Bool
  /// Whether the value is two's complement.
  var isSigned: Bool
  /// Valid bits, 1 to 64.
  var bits: Int
  /// Bits that one value takes in memory: 8, 16, 32 or 64.
  var storageBits: Int
  /// How many values of this format follow one another, 1 or more.
  var repeatCount: Int
  /// Bits to shift right before masking.
  var shift: Int

  /// Bytes of the whole element, which is also its alignment.
  var byteCount: Int { storageBits / 8 * repeatCount }

  /// A format from its parts; nil where they cannot be: storage that is no power of two of bytes, bits that do not fit.
  init?(isBigEndian: Bool, isSigned: Bool, bits: Int, storageBits: Int, repeatCount: Int = 1, shift: Int = 0) {
    guard [8, 16, 32, 64].contains(storageBits), bits >= 1, shift >= 0, bits + shift <= storageBits,
      (1...1024).contains(repeatCount)
    else { return nil }
    self.isBigEndian = isBigEndian
    self.isSigned = isSigned
    self.bits = bits
    self.storageBits = storageBits
    self.repeatCount = repeatCount
    self.shift = shift
  }

  /// Reads the kernel's or libiio's text, such as `le:s12/16>>4` or `be:S16/16>>0`; nil where it is not one.
  init?(_ text: String) {
    var rest = Substring(text)
    func number() -> Int? {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      return Int(digits)
    }
    func skip(_ prefix: String) -> Bool {
      guard rest.hasPrefix(prefix) else { return false }
      rest = rest.dropFirst(prefix.count)
      return true
    }
    while rest.last?.isWhitespace == true { rest = rest.dropLast() }
    let isBigEndian = rest.hasPrefix("be:")
    guard skip("be:") || skip("le:"), let sign = rest.popFirst(), "sSuU".contains(sign), let bits = number(),
      skip("/"), let storage = number()
    else { return nil }
    var repeatCount = 1
    if skip("X") {
      guard let count = number() else { return nil }
      repeatCount = count
    }
    var shift = 0
    if skip(">>") {
      guard let places = number() else { return nil }
      shift = places
    }
    guard rest.isEmpty else { return nil }
    self.init(
      isBigEndian: isBigEndian, isSigned: sign == "s" || sign == "S", bits: bits, storageBits: storage,
      repeatCount: repeatCount, shift: shift)
  }

  /// The value at `pointer`, the first of a repeated one. Reads `storageBits / 8` bytes at any alignment.
  @inline(__always)
  func integer(at pointer: UnsafeRawPointer) -> Int64 {
    let word: UInt64
    switch storageBits {
    case 8: word = UInt64(pointer.load(as: UInt8.self))
    case 16:
      let stored = pointer.loadUnaligned(as: UInt16.self)
      word = UInt64(isBigEndian ? UInt16(bigEndian: stored) : UInt16(littleEndian: stored))
    case 32:
      let stored = pointer.loadUnaligned(as: UInt32.self)
      word = UInt64(isBigEndian ? UInt32(bigEndian: stored) : UInt32(littleEndian: stored))
    default:
      let stored = pointer.loadUnaligned(as: UInt64.self)
      word = isBigEndian ? UInt64(bigEndian: stored) : UInt64(littleEndian: stored)
    }
    // Move the valid bits to the top, then back down: one pair of shifts masks and extends the sign.
    let top = UInt64(truncatingIfNeeded: 64 - bits)
    let raised = (word &>> UInt64(truncatingIfNeeded: shift)) &<< top
    return isSigned ? Int64(bitPattern: raised) &>> Int64(top) : Int64(bitPattern: raised &>> top)
  }

  /// The value at `pointer` as a number: unsigned 64-bit values above the signed range stay positive.
  @inline(__always)
  func value(at pointer: UnsafeRawPointer) -> Double {
    let integer = integer(at: pointer)
    return !isSigned && bits == 64 ? Double(UInt64(bitPattern: integer)) : Double(integer)
  }
}

/// Where the elements of one sample lie, by the kernel's rule.
///
/// Each element is aligned to its own size, repeats included, and the whole sample is padded to its largest element.
/// libiio 0.24 leaves that trailing padding out, so its sample size is wrong where the last element is not the
/// largest; streams decoded with it drift.
struct ScanLayout: Hashable, Sendable {
  /// Byte offset of each element, in scan order.
  let offsets: [Int]
  /// Bytes from one sample to the next, as the kernel delivers them.
  let sampleSize: Int
  /// Bytes of one sample as libiio counts them: without the trailing padding.
  let unpaddedSize: Int

  /// The layout of elements of these sizes (`ScanFormat.byteCount`), in scan order.
  init(byteCounts: [Int]) {
    var end = 0
    var offsets: [Int] = []
    for size in byteCounts {
      let start = Self.align(end, to: size)
      offsets.append(start)
      end = start + size
    }
    self.offsets = offsets
    unpaddedSize = end
    sampleSize = Self.align(end, to: byteCounts.max() ?? 1)
  }

  /// The samples to ask libiio for so that whole kernel samples fit: at least `count`, and a multiple that makes
  /// libiio's byte count one of the kernel's sample size too.
  func requestCount(atLeast count: Int) -> Int {
    guard unpaddedSize > 0, unpaddedSize != sampleSize else { return max(1, count) }
    var a = unpaddedSize
    var b = sampleSize
    while b != 0 { (a, b) = (b, a % b) }
    return Self.align(max(1, count), to: sampleSize / a)
  }

  /// `value` raised to the next multiple of `size`.
  static func align(_ value: Int, to size: Int) -> Int { size > 1 ? (value + size - 1) / size * size : value }
}
