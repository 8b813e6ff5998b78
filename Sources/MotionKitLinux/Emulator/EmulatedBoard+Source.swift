import SensorFusion

extension EmulatedBoard {
  /// The board that a source's sensors were on, as far as the source tells.
  ///
  /// Sensors that were on one device (the same name and identity, and the same rate) are one device again, others have
  /// one each; simulated ones are named as a HID sensor hub's are. Where the size of one count was recorded, raw counts
  /// are the chip's own; otherwise a count is a power of ten fine enough for 32 bits over the sensor's range.
  ///
  /// - Parameters:
  ///   - source: What the source says of itself, after `start`.
  ///   - hasTemperature: Whether the barometer's samples carry a temperature.
  public init(describing source: SourceDescription, hasTemperature: Bool = true) {
    var notes: [String] = []
    var groups: [[SensorDescription]] = []
    for sensor in source.sensors.sorted(by: { $0.kind < $1.kind }) {
      let place = groups.firstIndex { group in
        group.contains {
          $0.name == sensor.name && $0.identity == sensor.identity && !sensor.identity.isEmpty && $0.rate == sensor.rate
            && $0.kind != sensor.kind && !$0.isPolledBarometer && !sensor.isPolledBarometer
        }
      }
      if let place { groups[place].append(sensor) } else { groups.append([sensor]) }
    }
    var devices: [EmulatedDevice] = []
    var triggers: [EmulatedDevice] = []
    for (number, group) in groups.enumerated() {
      var device = Self.device(number: number, of: group, hasTemperature: hasTemperature, notes: &notes)
      if device.hasBuffer {
        let trigger = EmulatedDevice(id: "trigger\(triggers.count)", name: "\(device.name)-dev\(number)")
        device.trigger = trigger.id
        triggers.append(trigger)
      }
      devices.append(device)
    }
    self.init(
      summary: "motionlog emulate \(source.uri)",
      attributes: [
        EmulatedAttribute("motionkit,source", .text(source.uri)),
        EmulatedAttribute("motionkit,host", .text(source.host)),
      ],
      devices: devices + triggers, notes: notes)
  }

  private static func device(
    number: Int, of sensors: [SensorDescription], hasTemperature: Bool, notes: inout [String]
  ) -> EmulatedDevice {
    let first = sensors[0]
    var device = EmulatedDevice(
      id: "iio:device\(number)", name: sensors.map(\.deviceName).first { !$0.isEmpty } ?? "sensor",
      label: first.isSimulated ? "" : first.identity.filter { $0.isASCII && !$0.isWhitespace && $0 != "\"" },
      rate: first.rate)
    if device.label == device.name { device.label = "" }
    device.availableRates = [10, 5, 4, 2, 1].map { first.rate / $0 }.filter { $0 > 0 && $0.isFinite }
    if device.availableRates.isEmpty { device.availableRates = first.rate > 0 ? [first.rate] : [] }
    var scanned: [EmulatedChannel] = []
    var rest: [EmulatedChannel] = []
    for sensor in sensors {
      let signs = sensor.mountSigns
      if sensor.mountMatrix != nil, signs == nil {
        notes.append("\(device.name): samples are served in device axes; the mount matrix shown is the identity")
      }
      for channel in channels(of: sensor, signs: signs, hasTemperature: hasTemperature) {
        if channel.scanIndex != nil { scanned.append(channel) } else { rest.append(channel) }
      }
    }
    for index in scanned.indices { scanned[index].scanIndex = index }
    if !scanned.isEmpty {
      scanned.append(.timestamp(scanIndex: scanned.count))
      device.attributes = [EmulatedAttribute("current_timestamp_clock", .timestampClock, isWritable: true)]
    }
    device.channels = scanned + rest
    return device
  }

  /// The channels of a sensor; those of the buffer have some scan index.
  private static func channels(
    of sensor: SensorDescription, signs: [(component: Int, sign: Double)]?, hasTemperature: Bool
  ) -> [EmulatedChannel] {
    switch sensor.kind {
    case .accelerometer, .gyroscope, .magnetometer:
      let (type, unit, range) =
        sensor.kind == .accelerometer
        ? ("accel", 1.0, 2000.0) : sensor.kind == .gyroscope ? ("anglvel", 1, 200) : ("magn", 0.01, 200)
      let count = Count(sensor, unit: unit, usualRange: range)
      let axes = signs ?? [(0, 1), (1, 1), (2, 1)]
      return ["x", "y", "z"].enumerated().map { index, axis in
        let shared =
          shared(type, of: sensor, scale: count.scaleText) + [
            EmulatedAttribute("mount_matrix", fileName: "in_\(type)_mount_matrix", .text(matrixText(axes)))
          ]
        return EmulatedChannel(
          id: "\(type)_\(axis)", scanIndex: index, format: count.format,
          reading: EmulatedReading(
            kind: sensor.kind, component: axes[index].component, sign: axes[index].sign, unit: unit, scale: count.scale),
          attributes: sorted(shared + [EmulatedAttribute("raw", fileName: "in_\(type)_\(axis)_raw", .raw)]))
      }
    case .barometer:
      let temperature = Count(scale: 0.1, bits: 32)
      let pressure = Count(sensor, unit: 1, usualRange: 200)
      let parts = [("pressure", 0, 1.0, pressure), ("temp", 1, 1000.0, temperature)].prefix(hasTemperature ? 2 : 1)
      return parts.map { type, component, unit, count in
        let reading = EmulatedReading(
          kind: .barometer, component: component, unit: unit, scale: count.scale)
        if sensor.isPolledBarometer {
          return EmulatedChannel(
            id: type, reading: reading,
            attributes: [EmulatedAttribute("input", fileName: "in_\(type)_input", .processed)]
          )
        }
        let raw = EmulatedAttribute("raw", fileName: "in_\(type)_raw", .raw)
        return EmulatedChannel(
          id: type, scanIndex: component, format: count.format, reading: reading,
          attributes: sorted(shared(type, of: sensor, scale: count.scaleText) + [raw]))
      }
    case .stepCounter:
      let reading = EmulatedReading(kind: .stepCounter, component: 0, scale: 1)
      return [
        EmulatedChannel(
          id: "steps", reading: reading,
          attributes: [
            EmulatedAttribute("en", fileName: "in_steps_en", .text("1"), isWritable: true),
            EmulatedAttribute("input", fileName: "in_steps_input", .raw),
          ])
      ]
    }
  }

  /// The attributes that channels of a type have in common.
  private static func shared(_ type: String, of sensor: SensorDescription, scale: String) -> [EmulatedAttribute] {
    var result = [
      EmulatedAttribute("offset", fileName: "in_\(type)_offset", .text("0")),
      EmulatedAttribute("scale", fileName: "in_\(type)_scale", .text(scale)),
    ]
    if sensor.rate > 0 {
      result.append(
        EmulatedAttribute(
          "sampling_frequency", fileName: "in_\(type)_sampling_frequency", .samplingFrequency, isWritable: true))
      result.append(
        EmulatedAttribute(
          "sampling_frequency_available", fileName: "in_\(type)_sampling_frequency_available", .availableFrequencies))
    }
    return result
  }

  private static func sorted(_ attributes: [EmulatedAttribute]) -> [EmulatedAttribute] {
    attributes.sorted { $0.name < $1.name }
  }

  /// The matrix that takes sensor axes to device axes, as the kernel prints it.
  private static func matrixText(_ axes: [(component: Int, sign: Double)]) -> String {
    (0..<3).map { row in
      (0..<3).map { column in
        axes[column].component == row ? (axes[column].sign < 0 ? "-1" : "1") : "0"
      }.joined(separator: ", ")
    }.joined(separator: "; ")
  }
}

/// How a channel counts.
private struct Count {
  /// Value of one count in IIO's unit.
  var scale: Double
  var bits: Int

  /// A count of this size in this many bits.
  init(scale: Double, bits: Int) {
    self.scale = scale
    self.bits = bits
  }

  /// The chip's own count where it is known, otherwise the finest power of ten that covers the range in 32 bits.
  ///
  /// `unit` is IIO's unit for one of the sensor's; `usualRange`, in IIO's unit, covers sensors that do not tell theirs.
  init(_ sensor: SensorDescription, unit: Double, usualRange: Double) {
    let range = sensor.range.isFinite && sensor.range > 0 ? sensor.range * unit : usualRange
    let resolution = DecimalText.snapped(sensor.resolution * unit)
    guard resolution > 0, resolution.isFinite, resolution < range else {
      scale = 1
      for power in -12...3 {
        scale = Double("1e\(power)") ?? 1
        // Some room: chips go a little beyond their nominal range.
        if range * 1.05 < scale * Double(Int32.max) { break }
      }
      bits = 32
      return
    }
    scale = resolution
    // A full scale of 2^15 counts is what 16-bit chips have; rounding of the scale must not push it over.
    bits = sensor.range.isFinite && range / resolution <= 32768 * 1.001 ? 16 : 32
  }

  var scaleText: String { DecimalText.plain(scale) }
  var format: EmulatedFormat { EmulatedFormat(bits: bits, storageBits: bits) }
}

extension SensorDescription {
  fileprivate var isSimulated: Bool { capture == "simulated" || driver == "simulation" }

  /// Whether it gives a processed value and has no buffer.
  fileprivate var isPolledBarometer: Bool { kind == .barometer && capture.hasPrefix("polled") && resolution == 0 }

  /// The IIO device's name: what was recorded, or what a HID sensor hub calls it.
  fileprivate var deviceName: String {
    let recorded = name.filter { $0.isASCII && !$0.isWhitespace && $0 != "\"" && $0 != "/" }
    if !isSimulated, recorded == name, !name.isEmpty { return name }
    switch kind {
    case .accelerometer: return "accel_3d"
    case .gyroscope: return "gyro_3d"
    case .magnetometer: return "magn_3d"
    case .barometer: return "press"
    case .stepCounter: return "step_counter"
    }
  }

  /// For each axis of the sensor the device axis that it lies on, and whether along or against it; nil where the mount
  /// matrix is none or turns by anything but right angles, so that taking it off again would not be exact.
  fileprivate var mountSigns: [(component: Int, sign: Double)]? {
    guard let matrix = mountMatrix, matrix.count == 3, matrix.allSatisfy({ $0.count == 3 }) else { return nil }
    var result: [(component: Int, sign: Double)] = []
    for column in 0..<3 {
      let rows = (0..<3).filter { matrix[$0][column] != 0 }
      guard rows.count == 1, abs(matrix[rows[0]][column]) == 1 else { return nil }
      result.append((rows[0], matrix[rows[0]][column]))
    }
    return Set(result.map(\.component)).count == 3 ? result : nil
  }
}
