import SensorFusion

/// A sensor as its source describes it.
public struct SensorDescription: Hashable, Sendable {
  /// What it measures.
  public var kind: SensorKind
  /// The part or device name, such as `bmi160`.
  public var name: String
  /// Where it is, stable over restarts where the source can tell (a label, a bus path, a device id).
  public var identity: String
  /// The kernel driver or what stands for it; empty where not known.
  public var driver: String
  /// Samples per second: before start what the device is set to, after start what was really set; 0 where not known.
  public var rate: Double
  /// The rates that can be chosen, ascending; empty where not known.
  public var availableRates: [Double]
  /// Value of one raw count in the unit of `kind`; 0 where not known.
  public var resolution: Double
  /// Full scale of an axis in the unit of `kind`; infinity where not known.
  public var range: Double
  /// How much older than their time stamps the values are, seconds; nil where not known.
  public var delay: Double?
  /// Rows of the mount matrix that was applied (device = M * sensor); nil where the source gives none.
  public var mountMatrix: [[Double]]?
  /// How samples are taken: `trigger NAME`, `own trigger`, `polled`, `hardware FIFO`, `replayed`, `simulated`.
  public var capture: String
  /// The kernel clock of the time stamps: `boottime`, `monotonic`, `realtime`, …; empty where there is none.
  public var clock: String
  /// More that is worth recording, as (name, value): filter bandwidths, oversampling, quirks applied.
  public var attributes: [(name: String, value: String)] {
    get { zip(attributeNames, attributeValues).map { ($0, $1) } }
    set {
      attributeNames = newValue.map(\.name)
      attributeValues = newValue.map(\.value)
    }
  }
  private var attributeNames: [String] = []
  private var attributeValues: [String] = []

  /// A description with what every source knows; the rest starts out as "not known".
  public init(kind: SensorKind, name: String, identity: String, rate: Double) {
    self.kind = kind
    self.name = name
    self.identity = identity
    self.rate = rate
    driver = ""
    availableRates = []
    resolution = 0
    range = .infinity
    delay = nil
    mountMatrix = nil
    capture = ""
    clock = ""
  }
}

/// A pair of readings taken together: the boot clock of the samples and the wall clock.
public struct ClockAnchor: Hashable, Sendable {
  /// The boot clock.
  public var time: Timestamp
  /// UTC, nanoseconds since 1970-01-01.
  public var utcNanoseconds: Int64

  /// A pair.
  public init(time: Timestamp, utcNanoseconds: Int64) {
    self.time = time
    self.utcNanoseconds = utcNanoseconds
  }
}

/// A source as a whole.
public struct SourceDescription: Hashable, Sendable {
  /// The URI it was opened by.
  public var uri: String
  /// The sensors, at most one of a kind once started; `devices` lists all before.
  public var sensors: [SensorDescription]
  /// The host that the sensors are on, as far as known.
  public var host: String
  /// Why something that one would expect is missing, a line each.
  public var notes: [String]
  /// Whether time passes by itself (a device) or as fast as one reads (an unpaced recording or simulation).
  public var isLive: Bool
  /// Pairs of sample clock and UTC known at start.
  public var anchors: [ClockAnchor]
  /// What a pipeline shall apply to the samples, which are before calibration: those that a recording was made with;
  /// `calibrate` sets others.
  public var calibrations = SensorCalibrations()
  /// Whether a pipeline shall learn the magnetometer's hard iron while the device is used.
  public var learnsHardIron = false

  /// A description.
  public init(
    uri: String, sensors: [SensorDescription], host: String = "", notes: [String] = [], isLive: Bool,
    anchors: [ClockAnchor] = []
  ) {
    self.uri = uri
    self.sensors = sensors
    self.host = host
    self.notes = notes
    self.isLive = isLive
    self.anchors = anchors
  }

  /// Whether steps can only come from a chip's own counter: there is one, and no accelerometer to count better with.
  public var countsStepsInHardwareOnly: Bool { sensor(.stepCounter) != nil && sensor(.accelerometer) == nil }

  /// The sensor of a kind, if there is one.
  public func sensor(_ kind: SensorKind) -> SensorDescription? { sensors.first { $0.kind == kind } }
}

/// What a consumer wants from a source. Only what is asked for is switched on.
public struct SensorRequest: Hashable, Sendable {
  /// The rates wanted, samples per second, by sensor; 0 means the device's own setting.
  public var rates: [SensorKind: Double]
  /// Sensors that must be there; others are left out silently where they are missing.
  public var required: Set<SensorKind>
  /// Chooses between several devices of a kind: a label, name, id or path; empty for the best.
  public var devices: [SensorKind: String]
  /// The name of a trigger to use for devices that have none of their own; empty for the source's choice.
  public var trigger: String
  /// How long a device may gather samples before it hands them over, seconds. A recorder saves wake-ups by it; 0, the
  /// default, is the source's own choice, which suits handlers and screens. Sources that do not gather ignore it.
  public var reportLatency: Double

  /// A request for sensors at their rates.
  public init(
    rates: [SensorKind: Double], required: Set<SensorKind> = [], devices: [SensorKind: String] = [:],
    trigger: String = "", reportLatency: Double = 0
  ) {
    self.rates = rates
    self.required = required
    self.devices = devices
    self.trigger = trigger
    self.reportLatency = reportLatency
  }
}

/// Something that happened to the stream itself: a gap, an overrun, a lost or found sensor, a clock step, a mark.
public struct SourceEvent: Hashable, Sendable {
  /// When, on the samples' clock.
  public var time: Timestamp
  /// A short fixed word, such as `gap`, `overrun`, `late`, `lost`, `found`, `clock_step`, `rate`, `mark`.
  public var name: String
  /// For a person: which sensor, how much, why.
  public var detail: String

  /// An event.
  public init(time: Timestamp, name: String, detail: String) {
    self.time = time
    self.name = name
    self.detail = detail
  }
}

/// What one `read` brought. The caller keeps it and passes it again, so that its storage is used again.
public struct SampleBatch: Sendable {
  /// Samples in order of time, those of one instant in order of kind.
  public var samples: [SensorSample] = []
  /// Events since the last batch, in order of time.
  public var events: [SourceEvent] = []

  /// An empty batch.
  public init() {}

  /// Forgets the contents, keeps the storage.
  public mutating func removeAll() {
    samples.removeAll(keepingCapacity: true)
    events.removeAll(keepingCapacity: true)
  }
}

/// How a `read` ended.
public enum ReadStatus: Hashable, Sendable {
  /// The batch holds something.
  case data
  /// Nothing came in time; try again.
  case timeout
  /// The source is at its end or was stopped; the batch may hold a last rest.
  case end
}

/// Where samples come from: IIO devices, a recording or a simulated scene. Anything that runs on one runs on all.
///
/// One consumer: `start`, then `read` until `.end`, from one thread. `stop` may be called from any thread and ends a
/// waiting `read` at once.
///
///     let source = try openSource("sim:walk")
///     let description = try source.start(SensorRequest(rates: [.accelerometer: 100, .gyroscope: 100]))
///     var batch = SampleBatch()
///     while try source.read(into: &batch, timeout: 1) != .end { … }
public protocol SensorSource: AnyObject, Sendable {
  /// What is there, found when the source was opened; nothing is switched on for it.
  var description: SourceDescription { get }

  /// Switches on what is asked for, and says what was really set: one sensor of a kind, rates, triggers and clocks.
  func start(_ request: SensorRequest) throws(MotionKitError) -> SourceDescription

  /// Clears `batch`, waits for samples or events for at most `timeout` seconds, and fills it.
  func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus

  /// Switches off what was switched on. Safe to call twice and from any thread.
  func stop()
}
