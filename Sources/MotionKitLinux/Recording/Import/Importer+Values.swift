import SensorFusion

// From the columns of a quantity to samples: units, signs, and what does not look right.
extension Importer {
  /// A quantity's columns in one table.
  struct Group {
    var table: ImportTable
    var quantity: ImportQuantity
    var axes: [Int?]
    var isUncalibrated: Bool

    /// Better sources of a sensor come first: whole before partial, calibrated by the system before not.
    var rank: Int { (axes.contains(nil) ? 2 : 0) + (isUncalibrated ? 1 : 0) }
    var unit: String? { axes.compactMap { $0 }.first.flatMap { table.columns[$0].unit } }
    var names: String {
      let names = axes.compactMap { $0.map { table.columns[$0].name } }
      return "\(table.fileName): \(names.joined(separator: ", "))"
    }
  }

  private func unitOption(_ quantity: ImportQuantity) -> (text: String?, flag: String) {
    switch quantity {
    case .acceleration, .linearAcceleration, .gravity: (options.accelerationUnit, "--accel-unit")
    case .rotation: (options.rotationUnit, "--gyro-unit")
    case .field: (options.fieldUnit, "--mag-unit")
    case .pressure: (options.pressureUnit, "--pressure-unit")
    case .temperature: (nil, "")
    }
  }

  private static func example(_ quantity: ImportQuantity) -> String {
    switch quantity {
    case .acceleration, .linearAcceleration, .gravity: "0.000061 g"
    case .rotation: "0.0175 deg/s"
    case .field: "48 uT"
    case .pressure: "0.1 Pa"
    case .temperature: "1 C"
    }
  }

  /// The factor to the unit of recordings; nil where nobody tells the unit.
  private func factor(_ group: Group) throws(MotionKitError) -> (factor: Double, unit: String, isTold: Bool)? {
    let option = unitOption(group.quantity)
    if let text = option.text {
      guard let factor = ImportUnit.factor(text, group.quantity) else {
        throw .unsupported(
          what: "the unit '\(text)'",
          hint: "for \(group.quantity.rawValue) use one of "
            + ImportUnit.table(group.quantity).keys.sorted().joined(separator: ", "))
      }
      return (factor, text, true)
    }
    if let text = group.unit, let factor = ImportUnit.factor(text, group.quantity) { return (factor, text, false) }
    // The plain form may carry Pa in its name.
    if let text = group.table.format.units[group.quantity], let factor = ImportUnit.factor(text, group.quantity) {
      return (factor, text, false)
    }
    return nil
  }

  mutating func add(
    _ group: Group, _ kind: SensorKind, _ stamps: [Timestamp], temperature: Group?, _ problems: inout [String]
  ) throws(MotionKitError) {
    var sensor = ImportReport.Sensor(kind: kind, columns: group.names)
    let rows = cells(group, &sensor, adding: group.quantity == .acceleration ? gravity(for: group) : nil)
    guard !rows.isEmpty else {
      report.ignored.append("\(group.names): no value in it")
      return
    }
    let lengths = rows.map { row in (row.x * row.x + row.y * row.y + row.z * row.z).squareRoot() }
    let median = ImportChecks.median(lengths) ?? 0
    for stamp in rows.map({ stamps[$0.row] }) { sensor.timing.add(stamp) }
    if kind == .accelerometer, sensor.timing.rate > 0, sensor.timing.rate < ImportChecks.slowestForSteps {
      let text =
        "\(oneDecimal(sensor.timing.rate)) Hz is too slow to count steps: steps are not available, nor are attitude and"
        + " activity"
      report.warnings.append(text)
      withheld.formUnion([.motion, .steps, .activity])
      slowNote = text
    }
    guard let (factor, unit, isTold) = try factor(group) else {
      let name = group.quantity.rawValue
      // A unit that stands there is not guessed away.
      if let unit = group.unit {
        let flag = unitOption(group.quantity).flag
        problems.append(
          "\(group.names): unit '\(unit)' is not known for \(name); convert the values, or say a unit with its scale"
            + " such as '\(Self.example(group.quantity))' (\(flag))" + (slowNote.isEmpty ? "" : "; \(slowNote)"))
        return
      }
      let guess =
        switch group.quantity {
        case .acceleration, .linearAcceleration, .gravity: ImportChecks.guess(force: median)
        case .rotation: ImportChecks.guess(rotation: median)
        case .pressure: ImportChecks.guess(pressure: median)
        default: "has a median of \(median)"
        }
      problems.append(
        "\(group.names): no unit is known for \(name); a median length of \(median) \(guess)"
          + " (\(unitOption(group.quantity).flag))" + (slowNote.isEmpty ? "" : "; \(slowNote)"))
      return
    }
    try checkPlausible(group, median * factor, unit, isTold: isTold, &problems)
    let sign = kind == .accelerometer ? accelerationSign(group) : 1
    let thermometer = kind == .barometer ? temperatures(temperature, group) : [:]
    for row in rows {
      let scale = factor * sign
      var sample = SensorSample(
        time: stamps[row.row], kind: kind, x: Float(row.x * scale), y: Float(row.y * scale), z: Float(row.z * scale))
      if kind == .barometer { sample.y = Float(thermometer[row.row] ?? .nan) }
      samples.append(sample)
    }
    sensor.columns += " (\(unit))"
    sensor.duplicates = duplicates[ObjectIdentifier(group.table)] ?? 0
    report.sensors.append(sensor)
    if kind == .accelerometer { warnIfFaceDown(group, rows.map { $0.z * factor * sign }) }
  }

  private typealias Row = (row: Int, x: Double, y: Double, z: Double)

  /// The rows in which all axes have a finite value.
  private func cells(_ group: Group, _ sensor: inout ImportReport.Sensor, adding gravity: Group?) -> [Row] {
    let axes = group.axes.map { $0.flatMap { group.table.values[$0] } }
    let more = gravity?.axes.map { $0.flatMap { gravity?.table.values[$0] } }
    var rows: [Row] = []
    rows.reserveCapacity(group.table.lines.count)
    for row in group.table.lines.indices {
      var v = [0.0, 0.0, 0.0]
      var blanks = 0
      var isFinite = true
      for axis in axes.indices {
        guard let column = axes[axis] else { continue }
        switch column.cells[row] {
        case .value: v[axis] = column.numbers[row] + (more?[axis]?.numbers[row] ?? 0)
        case .blank: blanks += 1
        case .notFinite: isFinite = false
        }
      }
      if blanks > 0 {
        sensor.blank += 1
      } else if !isFinite || !v.allSatisfy(\.isFinite) {
        sensor.nonFinite += 1
      } else {
        rows.append((row, v[0], v[1], v[2]))
      }
    }
    return rows
  }

  /// The gravity that has to be added to a log's acceleration without it; nil where the log has the whole.
  private func gravity(for group: Group) -> Group? {
    guard let index = group.axes.first.flatMap({ $0 }),
      case .value(.linearAcceleration, _, _) = group.table.columns[index].role
    else { return nil }
    return gravityGroup
  }

  private func temperatures(_ group: Group?, _ pressure: Group) -> [Int: Double] {
    guard let group, group.table === pressure.table, let index = group.axes[0], let column = group.table.values[index]
    else { return [:] }
    let unit = group.unit ?? "C"
    let (zero, factor) = (ImportUnit.zeroCelsius(in: unit), ImportUnit.factor(unit, .temperature) ?? 1)
    var result: [Int: Double] = [:]
    for (row, number) in column.numbers.enumerated() where column.cells[row] == .value {
      let value = (number - zero) * factor
      // Temperatures that no chip measures are in another unit than the one that is told: left out.
      if abs(value) < 150 { result[row] = value }
    }
    return result
  }

  private func checkPlausible(
    _ group: Group, _ median: Double, _ unit: String, isTold: Bool, _ problems: inout [String]
  ) throws(MotionKitError) {
    guard !isTold else { return }
    let flag = unitOption(group.quantity).flag
    switch group.quantity {
    case .acceleration where !ImportChecks.possibleForce.contains(median):
      problems.append(
        "\(group.names): read as \(unit) its median length is \(median) m/s^2, which gravity does not fit; say the unit"
          + " (\(flag))")
    case .rotation where median > ImportChecks.largestRotation:
      problems.append(
        "\(group.names): read as \(unit) its median is \(median) rad/s, which nothing carried turns with; say the unit"
          + " (\(flag))")
    case .pressure where !ImportChecks.possiblePressure.contains(median):
      problems.append("\(group.names): read as \(unit) its median is \(median) kPa; say the unit (\(flag))")
    default: break
    }
  }

  private mutating func accelerationSign(_ group: Group) -> Double {
    let told = options.accelerationSign
    guard (told ?? group.table.format.sign) == .coreMotion else { return 1 }
    if told == nil {
      report.warnings.append(
        "\(group.names): read with Core Motion's signs (flat and face up reads -1 g), as \(group.table.format.name) writes"
      )
    }
    return -1
  }

  /// A device that mostly lies face down may be a log with Core Motion's signs: the user decides.
  private mutating func warnIfFaceDown(_ group: Group, _ z: [Double]) {
    guard options.accelerationSign == nil, group.table.format.sign == nil, let median = ImportChecks.median(z),
      median < -0.7 * standardGravity
    else { return }
    report.warnings.append(
      "\(group.names): the still sample points down (z = \(oneDecimal(median)) m/s^2): the device lay on its face, or the"
        + " log has Core Motion's signs (--accel-sign core-motion)")
  }

  func oneDecimal(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
  }
}
