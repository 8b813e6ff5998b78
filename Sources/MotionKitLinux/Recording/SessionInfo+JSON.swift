import SensorFusion

extension SessionInfo {
  /// The text of session.json.
  func jsonText() -> String { json.text() }

  private var json: JSONValue {
    var members: [(key: String, value: JSONValue)] = [
      ("format", .integer(format)), ("software", .string(software)), ("host", .string(host)),
      ("source", .string(source)), ("live", .bool(isLive)), ("origin", .string(origin)),
      ("labels", .strings(labels)), ("sensors", .array(sensors.map(\.json))),
      (
        "clock_anchors",
        .array(
          anchors.map {
            .object([("boot_ns", .integer($0.time.nanoseconds)), ("utc_ns", .integer($0.utcNanoseconds))])
          }
        )
      ), ("notes", .array(notes.map { .string($0) })),
      ("pipeline", pipeline.json),
    ]
    if let part { members.append(("part", .integer(part))) }
    if isSmoothed { members.append(("smoothed", .bool(true))) }
    if let closing { members.append(("closing", closing.json)) }
    return .object(members)
  }

  /// Reads session.json. Unknown members are ignored; missing ones keep their default and are named in `missing`.
  init(json text: UnsafeRawBufferPointer, path: String, missing: inout [String]) throws(MotionKitError) {
    let json = try JSONValue(parsing: text, path: path)
    func fault(_ reason: String) -> MotionKitError { .invalidFile(path: path, line: 0, column: 0, reason: reason) }
    guard case .object = json else { throw fault("it holds no JSON object") }
    guard let format = json["format"]?.integer else { throw fault("it has no format version") }
    guard format >= 1, format <= Self.currentFormat else {
      throw fault("its format version is \(format); this software reads 1 to \(Self.currentFormat): use a newer one")
    }
    self.init(
      source: SourceDescription(uri: json["source"]?.string ?? "", sensors: [], isLive: json["live"]?.bool ?? false),
      pipeline: .init())
    self.format = format
    software = json["software"]?.string ?? ""
    host = json["host"]?.string ?? ""
    origin = json["origin"]?.string ?? ""
    for (key, value) in json["labels"]?.members ?? [] { labels[key] = value.string ?? "" }
    notes = json["notes"]?.elements.compactMap(\.string) ?? []
    for sensor in json["sensors"]?.elements ?? [] {
      guard let description = SensorDescription(json: sensor) else {
        throw fault("a sensor's kind is '\(sensor["kind"]?.string ?? "")', which this software does not know")
      }
      sensors.append(description)
    }
    for anchor in json["clock_anchors"]?.elements ?? [] {
      guard let boot = anchor["boot_ns"]?.integer, let utc = anchor["utc_ns"]?.integer else { continue }
      anchors.append(ClockAnchor(time: Timestamp(nanoseconds: boot), utcNanoseconds: utc))
    }
    if let settings = json["pipeline"] {
      pipeline = MotionPipeline.Configuration(json: settings, missing: &missing)
    } else {
      missing.append("pipeline")
    }
    part = json["part"]?.integer
    isSmoothed = json["smoothed"]?.bool ?? false
    closing = json["closing"].map { ClosingSummary(json: $0) }
  }
}

extension JSONValue {
  static func strings(_ values: [String: String]) -> JSONValue {
    .object(values.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
  }

  static func counts(_ values: [String: Int64]) -> JSONValue {
    .object(values.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })
  }

  /// Non-negative numbers by name.
  var counts: [String: Int64] {
    var counts: [String: Int64] = [:]
    for (key, value) in members { counts[key] = value.integer ?? 0 }
    return counts
  }
}

extension SensorDescription {
  fileprivate var json: JSONValue {
    var members: [(key: String, value: JSONValue)] = [
      ("kind", .string(kind.name)), ("name", .string(name)), ("identity", .string(identity)),
      ("driver", .string(driver)), ("rate_hz", .real(rate)),
      ("available_rates_hz", .array(availableRates.map { .real($0) })), ("resolution", .real(resolution)),
      // null: not known.
      ("range", .real(range)),
    ]
    if let mountMatrix {
      members.append(("mount_matrix", .array(mountMatrix.map { .array($0.map { .real($0) }) })))
    }
    members.append(("capture", .string(capture)))
    members.append(("clock", .string(clock)))
    members.append(("attributes", .object(attributes.map { ($0.name, .string($0.value)) })))
    return .object(members)
  }

  fileprivate init?(json: JSONValue) {
    guard let kind = json["kind"]?.string.flatMap({ SensorKind(name: $0) }) else { return nil }
    self.init(
      kind: kind, name: json["name"]?.string ?? "", identity: json["identity"]?.string ?? "",
      rate: json["rate_hz"]?.double ?? 0)
    driver = json["driver"]?.string ?? ""
    availableRates = json["available_rates_hz"]?.elements.compactMap(\.double) ?? []
    resolution = json["resolution"]?.double ?? 0
    range = json["range"]?.double ?? .infinity
    if let rows = json["mount_matrix"]?.elements {
      mountMatrix = rows.map { $0.elements.compactMap(\.double) }
    }
    capture = json["capture"]?.string ?? ""
    clock = json["clock"]?.string ?? ""
    attributes = (json["attributes"]?.members ?? []).map { ($0.key, $0.value.string ?? "") }
  }
}

extension ClosingSummary {
  fileprivate var json: JSONValue {
    func byFile(_ counts: [SessionFile: Int64]) -> JSONValue {
      .object(SessionFile.allCases.compactMap { file in counts[file].map { (file.rawValue, .integer($0)) } })
    }
    var members: [(key: String, value: JSONValue)] = [("ended", .string(ended)), ("duration_s", .real(duration))]
    if let timeSpan {
      members.append(("first_ns", .integer(timeSpan.lowerBound.nanoseconds)))
      members.append(("last_ns", .integer(timeSpan.upperBound.nanoseconds)))
    }
    members += [
      ("rows", byFile(rows)), ("lost", byFile(lost)), ("late_samples", .integer(lateSamples)),
      (
        "not_used_by_pipeline",
        .counts([
          "late": pipelineCounters.late, "duplicate": pipelineCounters.duplicate,
          "non_finite": pipelineCounters.nonFinite,
        ])
      ), ("events", .counts(events)),
    ]
    return .object(members)
  }

  fileprivate init(json: JSONValue) {
    self.init(ended: json["ended"]?.string ?? "")
    func byFile(_ value: JSONValue?) -> [SessionFile: Int64] {
      var counts: [SessionFile: Int64] = [:]
      for (name, count) in value?.counts ?? [:] {
        if let file = SessionFile(rawValue: name) { counts[file] = count }
      }
      return counts
    }
    if let first = json["first_ns"]?.integer, let last = json["last_ns"]?.integer, first <= last {
      timeSpan = Timestamp(nanoseconds: first)...Timestamp(nanoseconds: last)
    }
    rows = byFile(json["rows"])
    lost = byFile(json["lost"])
    lateSamples = json["late_samples"]?.integer ?? 0
    let unused = json["not_used_by_pipeline"]?.counts ?? [:]
    pipelineCounters.late = unused["late"] ?? 0
    pipelineCounters.duplicate = unused["duplicate"] ?? 0
    pipelineCounters.nonFinite = unused["non_finite"] ?? 0
    events = json["events"]?.counts ?? [:]
  }
}

// The pipeline's settings. A test compares these members with the stored properties, so that a setting added to the
// pipeline cannot be forgotten here.
extension MotionPipeline.Configuration {
  var json: JSONValue {
    let filterSettings: [(key: String, value: JSONValue)] = [
      ("referenceFrame", filter.referenceFrame.json), ("accelerometerRange", .real(filter.accelerometerRange)),
      ("gyroscopeRange", .real(filter.gyroscopeRange)), ("hasGyroscope", .bool(filter.hasGyroscope)),
      ("gains", filter.gains.json), ("initialBiasSigma", .real(filter.initialBiasSigma)),
      ("outputLatency", .real(filter.outputLatency)), ("magnetometerDelay", .real(filter.magnetometerDelay)),
      ("spreadsCorrections", .bool(filter.spreadsCorrections)),
      ("accelerometerOffsetSigma", .real(filter.accelerometerOffsetSigma)),
    ]
    let stepSettings: [(key: String, value: JSONValue)] = [
      ("isStrict", .bool(stepCounter.isStrict)), ("height", .optional(stepCounter.height)),
      ("stepLengthFactor", .optional(stepCounter.stepLengthFactor)),
      ("usesHardware", .bool(stepCounter.usesHardware)),
    ]
    let altimeterSettings: [(key: String, value: JSONValue)] = [
      ("seaLevelPressure", .optional(altimeter.seaLevelPressure)), ("startHeight", .optional(altimeter.startHeight)),
      ("temperatureCoefficient", .real(altimeter.temperatureCoefficient)),
    ]
    let calibrationSettings: [(key: String, value: JSONValue)] = [
      ("accelerometer", calibration.accelerometer?.json ?? .null),
      ("gyroscope", calibration.gyroscope?.json ?? .null),
      ("gyroscopeTemperature", calibration.gyroscopeTemperature?.json ?? .null),
      ("magnetometer", calibration.magnetometer?.json ?? .null),
    ]
    var settings: [(key: String, value: JSONValue)] = [
      ("filter", .object(filterSettings)), ("stepCounter", .object(stepSettings)),
      ("altimeter", .object(altimeterSettings)), ("calibration", .object(calibrationSettings)),
      ("calibratesMagnetometer", .bool(calibratesMagnetometer)), ("motionRate", .real(motionRate)),
    ]
    let names = Self.withheldNames.filter { withheld.contains($0.output) }.map { JSONValue.string($0.name) }
    if !names.isEmpty { settings.append(("withheld", .array(names))) }
    return .object(settings)
  }

  private static let withheldNames: [(name: String, output: PipelineOutputs)] = [
    ("motion", .motion), ("steps", .steps), ("activity", .activity),
  ]

  init(json: JSONValue, missing: inout [String]) {
    self.init()
    func read<T>(_ group: String, _ key: String, _ value: (JSONValue) -> T?, into setting: inout T) {
      if let found = json[group]?[key].flatMap(value) { setting = found } else { missing.append("\(group).\(key)") }
    }
    // An infinite range (not known) and a setting that is not given are null in JSON.
    let range: (JSONValue) -> Double? = { $0 == .null ? .infinity : $0.double }
    let optional: (JSONValue) -> Double?? = { $0 == .null ? .some(nil) : $0.double }
    read("filter", "referenceFrame", { ReferenceFrame(json: $0) }, into: &filter.referenceFrame)
    read("filter", "accelerometerRange", range, into: &filter.accelerometerRange)
    read("filter", "gyroscopeRange", range, into: &filter.gyroscopeRange)
    read("filter", "hasGyroscope", \.bool, into: &filter.hasGyroscope)
    read("filter", "gains", { ComplementaryFilter.Gains(json: $0) }, into: &filter.gains)
    read("filter", "initialBiasSigma", \.double, into: &filter.initialBiasSigma)
    read("filter", "outputLatency", \.double, into: &filter.outputLatency)
    read("filter", "magnetometerDelay", \.double, into: &filter.magnetometerDelay)
    read("filter", "spreadsCorrections", \.bool, into: &filter.spreadsCorrections)
    // Settings that older recordings do not have: they were made as if these were so.
    filter.accelerometerOffsetSigma = json["filter"]?["accelerometerOffsetSigma"]?.double ?? 0
    calibratesMagnetometer = json["calibratesMagnetometer"]?.bool ?? false
    motionRate = json["motionRate"]?.double ?? 0
    let names = json["withheld"]?.elements.compactMap { $0.string } ?? []
    for (name, output) in Self.withheldNames where names.contains(name) { withheld.insert(output) }
    read("stepCounter", "isStrict", \.bool, into: &stepCounter.isStrict)
    read("stepCounter", "height", optional, into: &stepCounter.height)
    read("stepCounter", "stepLengthFactor", optional, into: &stepCounter.stepLengthFactor)
    // Recordings from before there was a choice do not have it, and counted by the accelerometer.
    if let choice = json["stepCounter"]?["usesHardware"]?.bool { stepCounter.usesHardware = choice }
    read("altimeter", "seaLevelPressure", optional, into: &altimeter.seaLevelPressure)
    read("altimeter", "startHeight", optional, into: &altimeter.startHeight)
    read("altimeter", "temperatureCoefficient", \.double, into: &altimeter.temperatureCoefficient)
    // Recordings from before there were calibrations have none.
    guard json["calibration"] != nil else { return }
    let axes: (JSONValue) -> AxisCalibration?? = { $0 == .null ? .some(nil) : AxisCalibration(json: $0) }
    read("calibration", "accelerometer", axes, into: &calibration.accelerometer)
    read("calibration", "gyroscope", axes, into: &calibration.gyroscope)
    read("calibration", "magnetometer", axes, into: &calibration.magnetometer)
    // Recordings from before the bias followed the temperature do not have it.
    calibration.gyroscopeTemperature = json["calibration"]?["gyroscopeTemperature"].flatMap {
      GyroscopeTemperature(json: $0)
    }
  }
}

extension JSONValue {
  /// A number, or null where there is none.
  static func optional(_ value: Double?) -> JSONValue { value.map { .real($0) } ?? .null }
}

extension ComplementaryFilter.Gains {
  var json: JSONValue {
    switch self {
    case .adaptive: .string("adaptive")
    case .fixed(let accelerometer, let magnetometer):
      .object([
        ("name", .string("fixed")), ("accelerometer_s", .real(accelerometer)), ("magnetometer_s", .real(magnetometer)),
      ])
    }
  }

  init?(json: JSONValue) {
    switch json.string ?? json["name"]?.string {
    case "adaptive": self = .adaptive
    case "fixed":
      guard let accelerometer = json["accelerometer_s"]?.double, let magnetometer = json["magnetometer_s"]?.double
      else { return nil }
      self = .fixed(accelerometer: accelerometer, magnetometer: magnetometer)
    default: return nil
    }
  }
}

extension ReferenceFrame {
  var json: JSONValue {
    switch self {
    case .arbitrary: .string("arbitrary")
    case .arbitraryCorrected: .string("arbitrary corrected")
    case .magneticNorth: .string("magnetic north")
    case .trueNorth(let declination):
      .object([("name", .string("true north")), ("declination_rad", .real(declination))])
    }
  }

  init?(json: JSONValue) {
    switch json.string ?? json["name"]?.string {
    case "arbitrary": self = .arbitrary
    case "arbitrary corrected": self = .arbitraryCorrected
    case "magnetic north": self = .magneticNorth
    case "true north": self = .trueNorth(declination: json["declination_rad"]?.double ?? 0)
    default: return nil
    }
  }
}
