import SensorFusion

/// A client's hold on the buffer of a device. What it has still to get is its own: what other clients open, close or
/// read changes nothing of it but the channels that its samples hold.
struct IIODStream {
  /// The connection that opened it.
  var connection: Int
  /// Samples of a block.
  var sampleCount: Int
  var mask: [UInt32]
  /// Samples that the kernel's buffer was asked to hold.
  var length: Int
  var queue: SampleQueue
  /// False once the capture has failed: reading says EBADF until the client closes and opens again.
  var isAlive = true
  /// When the block that the client waits for was begun; nil while it does not wait.
  var waitingSince: Int64?
}

/// An emulated device as it is at the moment.
struct EmulatedDeviceState {
  let device: EmulatedDevice
  let kinds: [SensorKind]
  /// Place of each channel's first value in `values`.
  let firstValues: [Int]
  /// The latest raw counts of all channels, repeated ones one after another.
  var values: [Int64]
  /// The latest values in IIO units, by channel; for processed attributes.
  var processed: [Double]
  /// Texts that clients have written, by attribute's file name.
  var writtenTexts: [String: String] = [:]
  /// Newest first, as iiod searches them.
  var streams: [IIODStream] = []
  /// What samples hold; nil while the buffer is off.
  var capture: EmulatedCapture?
  var buffersCount: UInt32 = 4
  /// What `length` and `watermark` show while the buffer is off; kfifo's own defaults at first.
  var length = 2
  var watermark = 1
  var trigger: String?
  var clock = IIODClock.realtime
  /// Every how many samples one is taken.
  var divider = 1
  private var phase = 0
  /// Whether no samples come, though the device is there.
  var isMuted = false
  /// Whether the device is gone. Clients still see it listed.
  var isUnplugged = false
  /// The sensors that have delivered for the sample being put together, and its time.
  private var gathered: Set<SensorKind> = []
  private var gatheredTime = Timestamp(nanoseconds: 0)
  /// Values that lay outside the format's range, and those that are no whole count.
  var clipped = 0
  var inexact = 0

  /// A device at rest.
  init(_ device: EmulatedDevice) {
    self.device = device
    kinds = device.kinds
    var next = 0
    firstValues = device.channels.map { channel in
      defer { next += channel.format.repeatCount }
      return next
    }
    values = Array(repeating: 0, count: next)
    processed = Array(repeating: 0, count: device.channels.count)
    trigger = device.trigger
  }

  /// The channels of all clients together, and those of `mask`.
  func union(with mask: [UInt32]) -> [UInt32] {
    var result = mask
    for stream in streams where stream.isAlive {
      while result.count < stream.mask.count { result.append(0) }
      for (index, word) in stream.mask.enumerated() { result[index] |= word }
    }
    return result
  }

  /// Samples that wait, for the client that has most.
  var available: Int { streams.lazy.filter(\.isAlive).map(\.queue.count).max() ?? 0 }

  /// The rate that is set, samples per second.
  var rate: Double { device.rate / Double(divider) }

  /// Takes a sample of a sensor that feeds the device. Returns the times at which samples of the device are complete,
  /// at most two: one that a missing sensor had kept waiting, to be captured with the values of before, and this one,
  /// to be captured after `apply`.
  mutating func take(_ sample: SensorSample) -> (late: Timestamp?, now: Timestamp?) {
    guard !isMuted, !isUnplugged else { return (nil, nil) }
    var late: Timestamp?
    if !gathered.isEmpty, gatheredTime != sample.time {
      late = isDue() ? gatheredTime : nil
      gathered.removeAll(keepingCapacity: true)
    }
    if kinds.count == 1 { return (nil, isDue() ? sample.time : nil) }
    gatheredTime = sample.time
    gathered.insert(sample.kind)
    guard gathered.count == kinds.count else { return (late, nil) }
    gathered.removeAll(keepingCapacity: true)
    return (late, isDue() ? sample.time : nil)
  }

  /// Sets the raw counts of the channels that a sample feeds.
  mutating func apply(_ sample: SensorSample) {
    guard !isMuted, !isUnplugged else { return }
    for (index, channel) in device.channels.enumerated() {
      guard let reading = channel.reading, reading.kind == sample.kind else { continue }
      let count = reading.count(of: sample)
      guard !count.isNaN else { continue }
      processed[index] = (count + reading.offset) * reading.scale
      let rounded = count.rounded()
      if abs(count - rounded) > Self.exactness { inexact += 1 }
      let range = channel.scanIndex == nil ? Int64.min...Int64.max : channel.format.range
      if let value = Int64(exactly: rounded), range.contains(value) {
        values[firstValues[index]] = value
      } else {
        clipped += 1
        values[firstValues[index]] = rounded > 0 ? range.upperBound : range.lowerBound
      }
    }
  }

  /// How far a value may be from a whole count: what rounding to 32-bit floats moves it by, with room to spare.
  private static let exactness = 0.1

  private mutating func isDue() -> Bool {
    phase += 1
    guard phase >= divider else { return false }
    phase = 0
    return true
  }

  /// Captures the present values as one sample.
  mutating func capture(at time: Timestamp, offsets: IIODClockOffsets) {
    guard capture != nil else { return }
    let stamp = time.nanoseconds.addingReportingOverflow(offsets[clock]).partialValue
    for index in streams.indices where streams[index].isAlive { streams[index].queue.append(values, time: stamp) }
  }
}

/// The kernel clocks that a device can stamp with, in the order of the kernel's list.
public enum IIODClock: String, CaseIterable, Hashable, Sendable {
  /// The wall clock, the kernel's default.
  case realtime
  /// Since start, without time asleep.
  case monotonic
  /// The same, not steered by NTP.
  case monotonicRaw = "monotonic_raw"
  /// The wall clock at the last tick.
  case realtimeCoarse = "realtime_coarse"
  /// The monotonic clock at the last tick.
  case monotonicCoarse = "monotonic_coarse"
  /// Since start, time asleep included.
  case boottime
  /// International atomic time.
  case tai
}

/// What to add to the time of a sample to get the reading of another clock, nanoseconds.
public struct IIODClockOffsets: Hashable, Sendable {
  /// Added for the wall clock.
  public var realtime: Int64
  /// Added for the monotonic clock.
  public var monotonic: Int64
  /// Added for atomic time.
  public var tai: Int64

  /// Offsets; with none, samples are stamped with their own times whatever clock a client chooses.
  public init(realtime: Int64 = 0, monotonic: Int64 = 0, tai: Int64 = 0) {
    self.realtime = realtime
    self.monotonic = monotonic
    self.tai = tai
  }

  subscript(clock: IIODClock) -> Int64 {
    switch clock {
    case .realtime, .realtimeCoarse: return realtime
    case .monotonic, .monotonicRaw, .monotonicCoarse: return monotonic
    case .boottime: return 0
    case .tai: return tai
    }
  }
}
