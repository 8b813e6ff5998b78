import SensorFusion

/// What an emulated attribute shows, and what a write to it does.
public enum EmulatedValue: Hashable, Sendable {
  /// A text; a write replaces it where the attribute is writable.
  case text(String)
  /// The channel's latest raw count.
  case raw
  /// The channel's latest value in the IIO unit, as drivers without a buffer give it.
  case processed
  /// The rate of the device; a write chooses the nearest rate there is.
  case samplingFrequency
  /// The rates there are.
  case availableFrequencies
  /// The clock of the time stamps; a write chooses another while the buffer is off.
  case timestampClock
}

/// One attribute of an emulated device or channel.
public struct EmulatedAttribute: Hashable, Sendable {
  /// The name that clients ask for, such as `scale`.
  public var name: String
  /// The name of the file in sysfs, such as `in_accel_scale`.
  public var fileName: String
  /// What it shows.
  public var value: EmulatedValue
  /// Whether it may be written; a write to another is refused, as a driver (EINVAL) or sysfs (EACCES) does.
  public var isWritable: Bool

  /// An attribute; `fileName` is the name where none is given.
  public init(_ name: String, fileName: String? = nil, _ value: EmulatedValue, isWritable: Bool = false) {
    self.name = name
    self.fileName = fileName ?? name
    self.value = value
    self.isWritable = isWritable
  }
}

/// Which part of a sample feeds a channel, and how it becomes a raw count:
/// `raw = sign * component * unit / scale - offset`, rounded.
public struct EmulatedReading: Hashable, Sendable {
  /// The sensor.
  public var kind: SensorKind
  /// 0 for x, 1 for y, 2 for z.
  public var component: Int
  /// 1 or -1, from the mount matrix that is taken off again.
  public var sign: Double
  /// IIO's unit of the channel for one unit of the sample: 0.01 for µT to gauss, 1000 for °C to m°C.
  public var unit: Double
  /// Value of one count in IIO's unit.
  public var scale: Double
  /// Counts to add to the raw value before scaling.
  public var offset: Double

  /// A reading.
  public init(
    kind: SensorKind, component: Int, sign: Double = 1, unit: Double = 1, scale: Double, offset: Double = 0
  ) {
    self.kind = kind
    self.component = component
    self.sign = sign
    self.unit = unit
    self.scale = scale
    self.offset = offset
  }

  /// The count for a sample, not rounded; NaN where the sample has no such value.
  func count(of sample: SensorSample) -> Double {
    let component = component == 0 ? sample.x : component == 1 ? sample.y : sample.z
    return Double(component) * sign * unit / scale - offset
  }
}

/// One channel of an emulated device.
public struct EmulatedChannel: Hashable, Sendable {
  /// The id, such as `accel_x`; `timestamp` is filled with the time of the sample.
  public var id: String
  /// The scan index, unique and ascending within a device; nil where the channel is not in the buffer.
  public var scanIndex: Int?
  /// How the element lies in the buffer.
  public var format: EmulatedFormat
  /// What feeds it; nil for `timestamp` and for channels that a test fills.
  public var reading: EmulatedReading?
  /// Its attributes, ascending by name.
  public var attributes: [EmulatedAttribute]

  /// A channel.
  public init(
    id: String, scanIndex: Int? = nil, format: EmulatedFormat = EmulatedFormat(bits: 32, storageBits: 32),
    reading: EmulatedReading? = nil, attributes: [EmulatedAttribute] = []
  ) {
    self.id = id
    self.scanIndex = scanIndex
    self.format = format
    self.reading = reading
    self.attributes = attributes
  }

  /// The channel that carries the time of a sample, nanoseconds of the device's clock.
  public static func timestamp(scanIndex: Int) -> EmulatedChannel {
    EmulatedChannel(id: "timestamp", scanIndex: scanIndex, format: EmulatedFormat(bits: 64, storageBits: 64))
  }

  var isTimestamp: Bool { id == "timestamp" }
}

/// One IIO device of an emulated board.
public struct EmulatedDevice: Hashable, Sendable {
  /// The id, such as `iio:device0` or `trigger0`; unique.
  public var id: String
  /// The part or driver name; need not be unique.
  public var name: String
  /// What tells devices of one name apart; empty for none.
  public var label: String
  /// Channels in the order of libiio's XML: those in the buffer by scan index, then the rest.
  public var channels: [EmulatedChannel]
  /// Attributes of the device as a whole, ascending by name.
  public var attributes: [EmulatedAttribute]
  /// The id of the trigger that is set at first; nil for none.
  public var trigger: String?
  /// Samples per second that feed it; 0 where not known.
  public var rate: Double
  /// The rates that can be chosen, ascending: `rate` divided by whole numbers.
  public var availableRates: [Double]

  /// A device.
  public init(
    id: String, name: String, label: String = "", channels: [EmulatedChannel] = [],
    attributes: [EmulatedAttribute] = [], trigger: String? = nil, rate: Double = 0, availableRates: [Double] = []
  ) {
    self.id = id
    self.name = name
    self.label = label
    self.channels = channels
    self.attributes = attributes
    self.trigger = trigger
    self.rate = rate
    self.availableRates = availableRates
  }

  /// Whether samples can be captured.
  public var hasBuffer: Bool { channels.contains { $0.scanIndex != nil } }

  /// Whether it is a trigger, not a sensor.
  public var isTrigger: Bool { id.hasPrefix("trigger") }

  /// The sensors that feed it, ascending.
  public var kinds: [SensorKind] { Set(channels.compactMap { $0.reading?.kind }).sorted() }
}

/// A board as an IIO context: what `PRINT` describes and clients read.
public struct EmulatedBoard: Hashable, Sendable {
  /// What the board is, for a person; shown as the context's description.
  public var summary: String
  /// Attributes of the context, such as where the samples come from.
  public var attributes: [EmulatedAttribute]
  /// Devices and triggers.
  public var devices: [EmulatedDevice]
  /// Why something of the source is not served as it was, a line each.
  public var notes: [String]

  /// A board.
  public init(summary: String, attributes: [EmulatedAttribute] = [], devices: [EmulatedDevice], notes: [String] = []) {
    self.summary = summary
    self.attributes = attributes
    self.devices = devices
    self.notes = notes
  }
}
