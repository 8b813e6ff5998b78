import SensorFusion

/// A bounded queue of samples of one size: what the kernel's buffer is to a driver. The oldest stay, new ones are
/// refused once it is full.
struct SampleQueue {
  private var storage: [UInt8]
  private var head = 0
  /// Bytes held.
  private(set) var count = 0

  /// A queue of at most `capacity` bytes.
  init(capacity: Int) { storage = Array(repeating: 0, count: max(1, capacity)) }

  /// Takes a sample, or refuses it and says so.
  mutating func append(_ bytes: [UInt8]) -> Bool {
    guard count + bytes.count <= storage.count else { return false }
    var position = (head + count) % storage.count
    for byte in bytes {
      storage[position] = byte
      position += 1
      if position == storage.count { position = 0 }
    }
    count += bytes.count
    return true
  }

  /// Moves the `byteCount` oldest bytes to the end of `block`. The caller has seen that they are there.
  mutating func move(_ byteCount: Int, to block: inout [UInt8]) {
    let first = min(byteCount, storage.count - head)
    block.append(contentsOf: storage[head..<head + first])
    if byteCount > first { block.append(contentsOf: storage[..<(byteCount - first)]) }
    head = (head + byteCount) % storage.count
    count -= byteCount
  }
}

/// A running buffer of a device: which elements make a sample, and the samples that wait.
struct EmulatedCapture {
  /// One element of the sample.
  struct Element {
    /// The place of its first value among all values of the device; nil for the time stamp.
    var firstValue: Int?
    var format: EmulatedFormat
    var offset: Int
  }

  /// The largest kernel buffer, bytes: a kernel gives no more in one piece (kmalloc's limit).
  static let largestQueue = 4 << 20

  /// The channels of all clients together.
  let mask: [UInt32]
  /// Samples of a block, the largest count that a client asked for.
  let sampleCount: Int
  /// Samples that the kernel's buffer was asked to hold.
  let length: Int
  let elements: [Element]
  let layout: ScanLayout
  var queue: SampleQueue
  /// Samples that had to be refused because nobody read the buffer in time.
  var refused = 0
  private var scratch: [UInt8]

  /// Bytes of a block: libiio counts it in its own sample size, which may be smaller than the kernel's.
  var blockSize: Int { sampleCount * layout.unpaddedSize }
  /// Samples that wait.
  var available: Int { queue.count / layout.sampleSize }

  /// A buffer for the channels of `mask`, or the errno that the kernel gives.
  static func make(
    device: EmulatedDevice, mask: [UInt32], sampleCount: UInt32, buffersCount: UInt32
  ) -> Result<EmulatedCapture, IIODErrno> {
    var elements: [Element] = []
    var formats: [EmulatedFormat] = []
    var firstValue = 0
    for (index, channel) in device.channels.enumerated() {
      let isAsked = index / 32 < mask.count && mask[index / 32] & (1 << UInt32(index % 32)) != 0
      if isAsked, channel.scanIndex != nil {
        elements.append(Element(firstValue: channel.isTimestamp ? nil : firstValue, format: channel.format, offset: 0))
        formats.append(channel.format)
      }
      firstValue += channel.format.repeatCount
    }
    // A time stamp alone is not a sample; the kernel refuses it.
    guard sampleCount > 0, elements.contains(where: { $0.firstValue != nil }) else { return .failure(.invalid) }
    let layout = ScanLayout(byteCounts: formats.map(\.byteCount))
    for index in elements.indices { elements[index].offset = layout.offsets[index] }
    let length = UInt64(sampleCount) * UInt64(max(1, buffersCount))
    let size = UInt64(layout.sampleSize)
    // libiio cannot allocate its own block; the kernel refuses lengths whose bytes it cannot count, and those for which
    // it has no memory in one piece.
    if sampleCount > UInt32.max / 2 { return .failure(.noMemory) }
    if length > UInt64(UInt32.max) / size { return .failure(.invalid) }
    guard Self.rounded(Int(length)) * layout.sampleSize <= largestQueue else { return .failure(.noMemory) }
    return .success(
      EmulatedCapture(
        mask: mask, sampleCount: Int(sampleCount), length: Int(length), elements: elements, layout: layout))
  }

  private init(mask: [UInt32], sampleCount: Int, length: Int, elements: [Element], layout: ScanLayout) {
    self.mask = mask
    self.sampleCount = sampleCount
    self.length = length
    self.elements = elements
    self.layout = layout
    queue = SampleQueue(capacity: Self.rounded(length) * layout.sampleSize)
    scratch = Array(repeating: 0, count: layout.sampleSize)
  }

  /// The kernel's kfifo rounds its length up to a power of two.
  private static func rounded(_ length: Int) -> Int {
    var result = 1
    while result < length { result *= 2 }
    return result
  }

  /// Captures one sample from the values of all channels.
  mutating func append(values: [Int64], time: Int64) {
    for element in elements {
      guard let first = element.firstValue else {
        element.format.encode(time, into: &scratch, at: element.offset)
        continue
      }
      for index in 0..<element.format.repeatCount {
        element.format.encode(
          values[first + index], into: &scratch, at: element.offset + index * element.format.storageBits / 8)
      }
    }
    if !queue.append(scratch) { refused += 1 }
  }
}

/// The error numbers of the protocol, which are Linux's.
struct IIODErrno: Error, Hashable, Sendable {
  /// The positive number.
  let code: Int

  static let notPermitted = IIODErrno(code: 1)
  static let noEntry = IIODErrno(code: 2)
  static let inputOutput = IIODErrno(code: 5)
  static let noDeviceOrAddress = IIODErrno(code: 6)
  static let badFile = IIODErrno(code: 9)
  static let noMemory = IIODErrno(code: 12)
  static let access = IIODErrno(code: 13)
  static let busy = IIODErrno(code: 16)
  static let noDevice = IIODErrno(code: 19)
  static let invalid = IIODErrno(code: 22)
  static let tooBig = IIODErrno(code: 27)
  static let timedOut = IIODErrno(code: 110)
}
