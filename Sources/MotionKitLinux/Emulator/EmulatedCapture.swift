import SensorFusion

/// What one client has still to get of a device: the values of all channels and the time of each sample, bounded as the
/// kernel's buffer is. The oldest stay, new ones are refused once it is full.
///
/// Values are kept, not bytes: which channels make a sample may change while samples wait (see `EmulatedCapture`).
struct SampleQueue: Sendable {
  /// Samples that it holds at most.
  let capacity: Int
  /// 64-bit words of a sample: the values, then the time.
  let width: Int
  /// Samples held.
  private(set) var count = 0
  /// Samples refused so far.
  private(set) var refused = 0
  private var storage: [Int64] = []
  /// Samples for which there is room in `storage`: it grows with what waits.
  private var room = 0
  private var head = 0

  /// A queue of at most `capacity` samples of `valueCount` values.
  init(capacity: Int, valueCount: Int) {
    self.capacity = max(1, capacity)
    width = valueCount + 1
  }

  /// Takes a sample, or refuses it and counts that.
  mutating func append(_ values: [Int64], time: Int64) {
    guard count < capacity else {
      refused += 1
      return
    }
    if count == room { grow() }
    let start = ((head + count) % room) * width
    for index in values.indices { storage[start + index] = values[index] }
    storage[start + width - 1] = time
    count += 1
  }

  private mutating func grow() {
    let newRoom = min(capacity, max(64, room * 2))
    var new = Array(storage[(head * width)...])
    new.append(contentsOf: storage[..<(head * width)])
    new.append(contentsOf: repeatElement(0, count: newRoom * width - new.count))
    (storage, room, head) = (new, newRoom, 0)
  }

  /// Takes the oldest sample. The caller has seen that there is one.
  mutating func removeFirst(_ body: (ArraySlice<Int64>) -> Void) {
    body(storage[(head * width)..<((head + 1) * width)])
    head = (head + 1) % room
    count -= 1
  }
}

/// How the samples of a running buffer lie in memory: the channels of all its clients together.
struct EmulatedCapture: Sendable {
  /// One element of the sample.
  struct Element: Sendable {
    /// The place of its first value among all values of the device; nil for the time stamp.
    var firstValue: Int?
    var format: EmulatedFormat
    var offset: Int
  }

  /// The largest kernel buffer, bytes: a kernel gives no more in one piece (kmalloc's limit).
  static let largestQueue = 4 << 20

  /// The channels of all clients together.
  let mask: [UInt32]
  let elements: [Element]
  let layout: ScanLayout

  /// Samples of channels of `mask`; nil where a kernel would refuse them.
  init?(device: EmulatedDevice, mask: [UInt32]) {
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
    // A time stamp alone is not a sample.
    guard elements.contains(where: { $0.firstValue != nil }) else { return nil }
    layout = ScanLayout(byteCounts: formats.map(\.byteCount))
    for index in elements.indices { elements[index].offset = layout.offsets[index] }
    self.mask = mask
    self.elements = elements
  }

  /// Samples that a buffer of `buffersCount` blocks of `sampleCount` holds, or the errno that the kernel gives.
  func queueLength(sampleCount: UInt32, buffersCount: UInt32) -> Result<(asked: Int, kept: Int), IIODErrno> {
    let length = UInt64(sampleCount) * UInt64(max(1, buffersCount))
    // libiio cannot allocate its own block; the kernel refuses lengths whose bytes it cannot count, and those for which
    // it has no memory in one piece.
    if sampleCount > UInt32.max / 2 { return .failure(.noMemory) }
    if length > UInt64(UInt32.max) / UInt64(layout.sampleSize) { return .failure(.invalid) }
    // The kernel's kfifo rounds its length up to a power of two.
    var kept = 1
    while kept < Int(length) { kept *= 2 }
    guard kept * layout.sampleSize <= Self.largestQueue else { return .failure(.noMemory) }
    return .success((Int(length), kept))
  }

  /// Samples of a block of `sampleCount`: libiio counts it in its own sample size, which may be smaller than the
  /// kernel's.
  func blockCount(_ sampleCount: Int) -> Int { sampleCount * layout.unpaddedSize / layout.sampleSize }
  /// Whether a block of `sampleCount` can be read: libiio asks for a rest that is less than a sample of the kernel's
  /// size, which the kernel refuses.
  func isReadable(_ sampleCount: Int) -> Bool {
    blockCount(sampleCount) * layout.sampleSize == sampleCount * layout.unpaddedSize
  }

  /// Appends the bytes of one sample, of which `words` are the values of all channels and the time.
  func encode(_ words: ArraySlice<Int64>, into block: inout [UInt8]) {
    let start = block.count
    block.append(contentsOf: repeatElement(0, count: layout.sampleSize))
    for element in elements {
      guard let first = element.firstValue else {
        element.format.encode(words[words.endIndex - 1], into: &block, at: start + element.offset)
        continue
      }
      for index in 0..<element.format.repeatCount {
        element.format.encode(
          words[words.startIndex + first + index], into: &block,
          at: start + element.offset + index * element.format.storageBits / 8)
      }
    }
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
