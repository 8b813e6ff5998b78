import SensorFusion

/// A channel as a context shows it.
struct ChannelModel: Hashable, Sendable {
  /// libiio's id, such as `accel_x`, `pressure` or `timestamp`.
  var id: String
  /// Place in a sample; nil where the channel is in no buffer.
  var scanIndex: Int?
  /// How it lies in a sample.
  var format: ScanFormat?
  /// Attribute names with the files behind them.
  var files: [String: String]
}

/// A device as a context shows it, with the attributes that matter already read: a plain value.
struct DeviceModel: Hashable, Sendable {
  /// `iio:deviceN`; the number may change whenever the system starts.
  var id: String
  /// The part, such as `bmi160`; may occur twice.
  var name: String
  /// What the firmware calls it, such as `accel-display`; mostly empty.
  var label = ""
  /// The sysfs path below /sys/devices; empty for remote devices.
  var path = ""
  /// The kernel driver; empty where not known.
  var driver = ""
  var channels: [ChannelModel] = []
  /// Names of the device's own attributes.
  var attributes: Set<String> = []
  /// Attribute files that were read, with their text.
  var texts: [String: String] = [:]
  /// The trigger that is set; empty for none.
  var trigger = ""
  /// Whether it can have a trigger.
  var supportsTrigger = false
  /// Whether another device has the same label. One chip with two devices has one label for both.
  var sharesLabel = false

  /// The channel of that id.
  func channel(_ id: String) -> ChannelModel? { channels.first { $0.id == id } }

  /// An attribute of a channel, of its type (which libiio shows on the channel too) or of the device, in that order:
  /// its file and text.
  func lookUp(_ attribute: String, of channel: ChannelModel) -> (file: String, text: String)? {
    if let file = channel.files[attribute], let text = texts[file] { return (file, text) }
    if attributes.contains(attribute), let text = texts[attribute] { return (attribute, text) }
    return nil
  }

  /// How a person is told which device is meant.
  var title: String { label.isEmpty ? "\(name) (\(id))" : "\(label) (\(name), \(id))" }

  /// What stays the same over restarts: the label where no other device has it, else the path, else the name and id.
  var identity: String {
    !label.isEmpty && !sharesLabel ? label : !path.isEmpty ? path : "\(name) \(id)"
  }
}

/// A trigger as a context shows it.
struct TriggerModel: Hashable, Sendable {
  var id: String
  var name: String
  /// Whether its rate can be set: it is a timer.
  var hasFrequency: Bool
}

/// From a raw count to the unit of `SensorSample`: `(raw + offset) * scale * unit`.
struct Conversion: Hashable, Sendable {
  var offset: Double
  var scale: Double
  /// From the IIO ABI's unit to ours: 100 from gauss to µT, 0.001 from milli-°C to °C, else 1.
  var unit: Double

  @inline(__always)
  func value(_ raw: Double) -> Double { (raw + offset) * scale * unit }
}

/// One value of a sensor.
struct ChannelPlan: Hashable, Sendable {
  var id: String
  /// For raw counts; nil where only a processed value is to be had.
  var conversion: Conversion?
  /// Whether `input` gives a processed value, in the ABI's unit.
  var hasInput: Bool
  var hasRaw: Bool
  var unit: Double
  var scanIndex: Int?
  var format: ScanFormat?
}

/// A sensor that can be read: one kind of one device.
struct SensorModel: Hashable, Sendable {
  var kind: SensorKind
  /// x, y, z; or pressure and, where the device has it, temperature.
  var channels: [ChannelPlan]
  /// Nil where the device shows none.
  var matrix: MountMatrix?
  /// Where the sampling rate is set: channel (nil for the device's own attribute); nil where nowhere.
  var rateAttribute: (channel: String?, name: String)? {
    rateFile.map { (rateChannel, $0) }
  }
  var rateChannel: String?
  var rateFile: String?
  var rate: Double
  var available: AvailableValues?
  var notes: [String] = []
  /// More to record: (name, value).
  var details: [[String]] = []

  /// Whether all its values can be read from a buffer.
  var isBuffered: Bool { channels.allSatisfy { $0.scanIndex != nil && $0.format != nil && $0.conversion != nil } }
}

extension DeviceModel {
  /// The attributes that discovery looks at, of channels and of devices.
  static let channelAttributes: Set<String> = [
    "scale", "offset", "mount_matrix", "matrix", "sampling_frequency", "sampling_frequency_available",
    "scale_available", "oversampling_ratio", "filter_low_pass_3db_frequency", "calibbias",
  ]
  static let deviceAttributes: Set<String> = [
    "scale", "offset", "mount_matrix", "in_mount_matrix", "in_accel_matrix", "in_anglvel_matrix", "in_magn_matrix",
    "sampling_frequency", "sampling_frequency_available", "scale_available", "current_timestamp_clock",
    "oversampling_ratio", "filter_low_pass_3db_frequency",
  ]

  /// Sensors of one kind that are looked for in one device.
  private static let numberedSensors = 4

  /// What the kernel calls the quantities.
  private static let threeAxis: [(kind: SensorKind, type: String, unit: Double)] = [
    (.accelerometer, "accel", 1), (.gyroscope, "anglvel", 1), (.magnetometer, "magn", 100),
  ]

  /// The sensors of this device, and why one that it seems to have is left out.
  func sensors() -> (sensors: [SensorModel], refused: [String]) {
    var sensors: [SensorModel] = []
    var refused: [String] = []
    for (kind, type, unit) in Self.threeAxis {
      // A device with two of a kind numbers them: accel0_x, accel1_x.
      for type in [type] + (0..<Self.numberedSensors).map({ "\(type)\($0)" }) {
        let axes = ["x", "y", "z"].compactMap { channel("\(type)_\($0)") }
        guard axes.count == 3 else {
          if !axes.isEmpty { refused.append("\(title): \(type) has only \(axes.count) of 3 axes; left out") }
          continue
        }
        add(kind, type, axes.map { ($0, unit) }, to: &sensors, &refused)
      }
    }
    if let pressure = channel("pressure") ?? channel("pressure0") {
      var values = [(pressure, 1.0)]
      // A pressure that is buffered is not held up by a temperature that is not.
      if let temperature = channel("temp") ?? channel("temp0"),
        (temperature.scanIndex == nil) == (pressure.scanIndex == nil)
      {
        values.append((temperature, 0.001))
      }
      add(.barometer, "pressure", values, to: &sensors, &refused)
    }
    if let counter = stepCounter() { sensors.append(counter) }
    return (sensors, refused)
  }

  private func add(
    _ kind: SensorKind, _ type: String, _ values: [(channel: ChannelModel, unit: Double)],
    to sensors: inout [SensorModel], _ refused: inout [String]
  ) {
    var plans: [ChannelPlan] = []
    var notes: [String] = []
    for (index, value) in values.enumerated() {
      switch plan(kind, value.channel, unit: value.unit) {
      case .success(let (plan, note)):
        plans.append(plan)
        if let note, !notes.contains(note) { notes.append(note) }
      case .failure(let reason):
        // A barometer goes without its thermometer, never without its pressure.
        if kind == .barometer, index > 0 {
          notes.append(reason.text)
          continue
        }
        refused.append("\(title): \(reason.text); the \(kind) is left out")
        return
      }
    }
    if kind != .barometer, let doubt = Quirk.doubt(path: path) { notes.append(doubt) }
    let first = values[0].channel
    var sensor = SensorModel(kind: kind, channels: plans, rate: 0, notes: notes)
    if kind != .barometer {
      let (matrix, matrixNotes) = MountMatrix.choose(matrixCandidates(type: type, first))
      sensor.matrix = matrix
      sensor.notes += matrixNotes
    }
    if first.files["sampling_frequency"] != nil {
      (sensor.rateChannel, sensor.rateFile) = (first.id, "sampling_frequency")
    } else if attributes.contains("sampling_frequency") {
      (sensor.rateChannel, sensor.rateFile) = (nil, "sampling_frequency")
    }
    sensor.rate = lookUp("sampling_frequency", of: first).flatMap { Double(iioText: $0.text) } ?? 0
    sensor.available = lookUp("sampling_frequency_available", of: first).flatMap { AvailableValues($0.text) }
    for name in ["oversampling_ratio", "filter_low_pass_3db_frequency", "scale_available", "calibbias"] {
      if let found = lookUp(name, of: first) { sensor.details.append([name, found.text]) }
    }
    sensors.append(sensor)
  }

  private struct Refusal: Error { var text: String }

  private func plan(
    _ kind: SensorKind, _ channel: ChannelModel, unit: Double
  ) -> Result<(ChannelPlan, String?), Refusal> {
    let hasInput = channel.files["input"] != nil
    let hasRaw = channel.files["raw"] != nil
    var plan = ChannelPlan(
      id: channel.id, conversion: nil, hasInput: hasInput, hasRaw: hasRaw, unit: unit, scanIndex: channel.scanIndex,
      format: channel.format)
    var note: String?
    let scale = lookUp("scale", of: channel)
    let offset = lookUp("offset", of: channel).flatMap { Double(iioText: $0.text) } ?? 0
    if let scale, let value = Double(iioText: scale.text), value > 0 {
      let quirk = Quirk.find(part: name, kind: kind, scale: value)
      note = quirk?.note
      plan.conversion = Conversion(offset: offset, scale: value * (quirk?.factor ?? 1), unit: unit)
    } else if !hasInput {
      let reason = scale.map { "\($0.file)=\($0.text) is not a scale" } ?? "\(channel.id) shows no scale"
      return .failure(Refusal(text: reason))
    }
    if plan.conversion == nil || plan.format == nil { plan.scanIndex = nil }
    if plan.scanIndex == nil, !hasInput, !hasRaw || plan.conversion == nil {
      return .failure(Refusal(text: "\(channel.id) can neither be buffered nor read"))
    }
    return .success((plan, note))
  }

  private func matrixCandidates(
    type: String, _ first: ChannelModel
  ) -> [(name: String, text: String, isLegacy: Bool)] {
    var candidates: [(name: String, text: String, isLegacy: Bool)] = []
    func add(_ file: String?, isLegacy: Bool) {
      guard let file, let text = texts[file] else { return }
      candidates.append((file, text, isLegacy))
    }
    add(first.files["mount_matrix"], isLegacy: false)
    add("in_mount_matrix", isLegacy: false)
    add("mount_matrix", isLegacy: false)
    // libiio takes `in_mount_matrix` for the attribute `matrix` of a channel `mount`.
    add(channel("mount")?.files["matrix"], isLegacy: false)
    add(first.files["matrix"], isLegacy: true)
    add("in_\(type)_matrix", isLegacy: true)
    return candidates
  }
}
