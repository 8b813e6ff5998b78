/// How one element of a sample lies in an emulated buffer: `[be|le]:[s|u]bits/storage[Xrepeat]>>shift`.
public struct EmulatedFormat: Hashable, Sendable {
  /// Whether the most significant byte comes first.
  public var isBigEndian: Bool
  /// Whether values are two's complement.
  public var isSigned: Bool
  /// Valid bits, 1 to 64.
  public var bits: Int
  /// Bits that one value takes in memory: 8, 16, 32 or 64.
  public var storageBits: Int
  /// How many values follow one another, at least 1.
  public var repeatCount: Int
  /// Places that the value is shifted to the left.
  public var shift: Int
  /// What the bits of the storage that belong to no value hold; real chips leave anything there.
  public var unusedBits: UInt64

  /// A format. Parts that do not fit together are brought into range, so that encoding never fails.
  public init(
    isBigEndian: Bool = false, isSigned: Bool = true, bits: Int, storageBits: Int, repeatCount: Int = 1, shift: Int = 0,
    unusedBits: UInt64 = 0
  ) {
    self.isBigEndian = isBigEndian
    self.isSigned = isSigned
    self.storageBits = [8, 16, 32, 64].first { $0 >= storageBits } ?? 64
    self.bits = min(max(1, bits), self.storageBits)
    self.shift = min(max(0, shift), self.storageBits - self.bits)
    self.repeatCount = min(max(1, repeatCount), 64)
    self.unusedBits = unusedBits
  }

  /// Reads the kernel's or libiio's text, such as `le:s12/16>>4`; nil where it is not one.
  public init?(_ text: String, unusedBits: UInt64 = 0) {
    guard let format = ScanFormat(text) else { return nil }
    self.init(
      isBigEndian: format.isBigEndian, isSigned: format.isSigned, bits: format.bits, storageBits: format.storageBits,
      repeatCount: format.repeatCount, shift: format.shift, unusedBits: unusedBits)
  }

  /// Bytes of the whole element, which is also what it is aligned to.
  public var byteCount: Int { storageBits / 8 * repeatCount }

  /// The smallest and the largest value.
  public var range: ClosedRange<Int64> {
    if isSigned { return Int64.min >> (64 - bits)...Int64.max >> (64 - bits) }
    return 0...(bits >= 63 ? .max : (1 << bits) - 1)
  }

  /// The text of libiio's XML: the sign letter is a capital where every bit of the storage is the value's.
  public var text: String {
    let letter = isSigned ? (bits == storageBits ? "S" : "s") : (bits == storageBits ? "U" : "u")
    let times = repeatCount > 1 ? "X\(repeatCount)" : ""
    return "\(isBigEndian ? "be" : "le"):\(letter)\(bits)/\(storageBits)\(times)>>\(shift)"
  }

  /// Writes one value (the lowest `bits` of it) as `storageBits / 8` bytes at `offset`.
  func encode(_ value: Int64, into bytes: inout [UInt8], at offset: Int) {
    let mask: UInt64 = (bits == 64 ? .max : (1 << UInt64(bits)) - 1) << UInt64(shift)
    let word = (UInt64(bitPattern: value) << UInt64(shift)) & mask | unusedBits & ~mask
    let count = storageBits / 8
    for index in 0..<count {
      let place = isBigEndian ? count - 1 - index : index
      bytes[offset + place] = UInt8(truncatingIfNeeded: word >> UInt64(8 * index))
    }
  }
}
