/// What is known about the programs that write logs: what their files and columns hold where the header does not say.
struct ImportFormat {
  /// The program, for people.
  var name = ""
  /// Units by quantity where a column has none.
  var units: [ImportQuantity: String] = [:]
  /// The unit of a time column without one.
  var timeUnit: String?
  /// The signs of the accelerometer; nil where the program does not tell.
  var sign: AccelerationSign?
  /// The columns, with what is known about them.
  var columns: [ImportColumn]

  /// What Sensor Logger's Metadata.csv says.
  struct SensorLoggerMetadata {
    var platform = ""
    var isStandardised = true

    init() {}

    init(_ layout: ImportLayout) {
      guard let row = layout.preview.first else { return }
      for (name, value) in zip(layout.names, row) {
        if name == "platform" { platform = value.lowercased() }
        if name == "standardisation" { isStandardised = value.lowercased() != "false" }
      }
    }
  }

  /// Recognises a file by its name and header.
  init(fileName: String, layout: ImportLayout, metadata: SensorLoggerMetadata) {
    columns = layout.names.enumerated().map { index, name in
      ImportColumn(name: name, unit: layout.units.indices.contains(index) ? layout.units[index] : "")
    }
    let base = Self.baseName(fileName)
    let names = layout.names
    if names.isEmpty {
      // Without names a column is known by its number.
      columns = (layout.preview.first ?? []).indices.map { ImportColumn(name: "\($0 + 1)") }
      senslogs(base, width: layout.preview.first?.count ?? 0)
    } else if names.prefix(2) == ["time", "seconds_elapsed"] {
      sensorLogger(base, metadata)
    } else if names.contains(where: { $0.hasPrefix("accelerometerAcceleration") && $0.lowercased().hasSuffix("(g)") }) {
      name = "SensorLog (iOS)"
      sign = .coreMotion
    } else if names.contains(where: { $0.lowercased() == "gfx" }) || Self.isPhysicsToolbox(names) {
      physicsToolbox()
    } else if names.contains(where: { $0.hasSuffix("angular_velocity.x") }) {
      ros()
    } else if names.contains("SampleTimeFine") {
      // Xsens counts tenths of a millisecond.
      name = "Xsens"
      sign = .specificForce
      units = [.acceleration: "m/s2"]
      timeUnit = "0.1ms"
    } else if names.contains(where: { $0.hasPrefix("Time since start in ms") }) {
      name = "AndroSensor"
      sign = .specificForce
    } else if names.first == "Time (s)", names.contains(where: { $0.contains("cceleration x (m/s^2)") }) {
      name = "phyphox"
      sign = .specificForce
    } else if names.contains(where: { ["t_ns", "t_us", "t_ms", "t_s", "mono_ns", "irq_ns"].contains($0) }) {
      // This project's own plain form: the time's unit is in its name, values are in the units of recordings.
      name = "plain SI columns"
      sign = .specificForce
      units = [.acceleration: "m/s2", .rotation: "rad/s", .field: "uT", .pressure: "kPa", .temperature: "C"]
    }
  }

  /// Lower-case letters and digits of the name without its ending.
  static func baseName(_ fileName: String) -> String {
    let stem = fileName.split(separator: ".").dropLast().joined(separator: ".")
    return (stem.isEmpty ? fileName : stem).lowercased().filter { $0.isLetter || $0.isNumber }
  }

  private mutating func setAxes(_ quantity: ImportQuantity, isUncalibrated: Bool) {
    for index in columns.indices {
      if case .bareAxis(let axis) = columns[index].role {
        columns[index].role = .value(quantity, axis: axis, isUncalibrated: isUncalibrated)
      }
    }
  }

  /// Sensor Logger: a file a sensor, the axes named x, y, z in any order. `Accelerometer` is without gravity.
  private mutating func sensorLogger(_ base: String, _ metadata: SensorLoggerMetadata) {
    name = "Sensor Logger"
    if !metadata.platform.isEmpty { name += " (\(metadata.platform))" }
    timeUnit = "ns"
    units = [
      .acceleration: "m/s2", .linearAcceleration: "m/s2", .gravity: "m/s2", .rotation: "rad/s", .field: "uT",
      .pressure: "hPa",
    ]
    sign = .specificForce
    let isApple = metadata.platform == "ios" && !metadata.isStandardised
    if isApple { sign = .coreMotion }
    switch base {
    case "accelerometer": setAxes(.linearAcceleration, isUncalibrated: false)
    case "gravity": setAxes(.gravity, isUncalibrated: false)
    case "totalacceleration": setAxes(.acceleration, isUncalibrated: false)
    case "accelerometeruncalibrated":
      setAxes(.acceleration, isUncalibrated: true)
      if isApple { units[.acceleration] = "g" }
    case "gyroscope": setAxes(.rotation, isUncalibrated: false)
    case "gyroscopeuncalibrated": setAxes(.rotation, isUncalibrated: true)
    case "magnetometer": setAxes(.field, isUncalibrated: false)
    case "magnetometeruncalibrated": setAxes(.field, isUncalibrated: true)
    case "barometer": break
    default: setAxes(.acceleration, isUncalibrated: false)
    }
    // The nanoseconds are exact; the seconds are the same in floating point.
    for index in columns.indices where columns[index].name == "time" {
      columns[index].role = .time(rank: ImportColumn.TimeRank.plain)
    }
  }

  /// ROS, sensor_msgs/Imu as a table: linear_acceleration has gravity in it (REP 145).
  private mutating func ros() {
    name = "ROS"
    sign = .specificForce
    units = [.acceleration: "m/s2", .rotation: "rad/s"]
    for index in columns.indices {
      if case .value(.linearAcceleration, let axis, _) = columns[index].role {
        columns[index].role = .value(.acceleration, axis: axis, isUncalibrated: false)
      }
    }
  }

  /// Physics Toolbox's files of one sensor have these columns and no others.
  private static func isPhysicsToolbox(_ names: [String]) -> Bool {
    let lower = names.map { $0.lowercased() }.filter { !$0.isEmpty }
    return [
      ["time", "wx", "wy", "wz"], ["time", "wx", "wy", "wz", "wt"], ["time", "ax", "ay", "az", "at"],
      ["time", "bx", "by", "bz", "bt"],
    ].contains(lower)
  }

  /// Physics Toolbox: gF with gravity in g, a without in m/s².
  private mutating func physicsToolbox() {
    name = "Physics Toolbox"
    sign = .specificForce
    units = [
      .acceleration: "g", .linearAcceleration: "m/s2", .rotation: "rad/s", .field: "uT", .pressure: "hPa",
    ]
    for index in columns.indices {
      let lower = columns[index].name.lowercased()
      if let axis = ["ax": 0, "ay": 1, "az": 2][lower] {
        columns[index].role = .value(.linearAcceleration, axis: axis, isUncalibrated: false)
      } else if let axis = ["gfx": 0, "gfy": 1, "gfz": 2][lower] {
        columns[index].role = .value(.acceleration, axis: axis, isUncalibrated: false)
      }
    }
  }

  /// senslogs: a file a sensor, no header, blanks between; the time in seconds comes first.
  private mutating func senslogs(_ base: String, width: Int) {
    let known: [String: (ImportQuantity, Bool)] = [
      "accelerometer": (.acceleration, false), "gyroscopecalibrated": (.rotation, false),
      "gyroscope": (.rotation, width >= 7), "magnetometercalibrated": (.field, false),
      "magnetometer": (.field, width >= 7), "linearacceleration": (.linearAcceleration, false),
      "gravity": (.gravity, false), "pressure": (.pressure, false), "barometer": (.pressure, false),
    ]
    guard let (quantity, isUncalibrated) = known[base], width >= 2 else { return }
    name = "senslogs"
    sign = .specificForce
    timeUnit = "s"
    units = [
      .acceleration: "m/s2", .linearAcceleration: "m/s2", .gravity: "m/s2", .rotation: "rad/s", .field: "uT",
      .pressure: "hPa",
    ]
    columns = (0..<width).map { ImportColumn(name: "column \($0 + 1)") }
    columns[0].role = .time(rank: ImportColumn.TimeRank.monotonic)
    let axes = quantity == .pressure ? 1 : 3
    guard width > axes else { return }
    for axis in 0..<axes {
      columns[axis + 1].role = .value(quantity, axis: axis, isUncalibrated: isUncalibrated)
    }
  }
}
