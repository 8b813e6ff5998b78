import MotionKitLinux
import SensorFusion

/// `motionlog devices`: what a source has, without switching anything on.
enum DevicesCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    if let operand = arguments.operands.first { throw UsageError.unexpectedOperand(operand, command: "devices") }
    let settings = try RunSettings(arguments)
    let source = try openSource(settings.source)
    defer { source.stop() }
    let description = source.description
    if settings.isJSON {
      var object = JSONObject()
      LiveJSON.addMembers(of: description, to: &object)
      try context.output.line(object.description)
    } else {
      try context.output.line(title(description, context.style))
      for sensor in description.sensors {
        for line in lines(sensor, context.style, isVerbose: context.console.isVerbose) {
          try context.output.line(line)
        }
      }
      for note in description.notes { try context.output.line(context.style.plain("note: " + note)) }
    }
    try context.output.flush()
    return description.sensors.isEmpty ? .notFound : .done
  }

  private static func title(_ description: SourceDescription, _ style: Style) -> String {
    let host = description.host.isEmpty ? "" : " on \(description.host)"
    let count = Format.count(Int64(description.sensors.count), "sensor")
    return style.paint(.title, style.plain("\(description.uri)\(host): \(count)"))
  }

  /// What is known of a sensor; what is not known is left out.
  private static func lines(_ sensor: SensorDescription, _ style: Style, isVerbose: Bool) -> [String] {
    var facts: [(String, String)] = []
    func add(_ name: String, _ value: String) {
      if !value.isEmpty { facts.append((name, value)) }
    }
    add("where", sensor.identity)
    add("driver", sensor.driver)
    if sensor.rate > 0 { add("rate", Format.short(sensor.rate) + " Hz") }
    add("rates", rates(sensor.availableRates))
    let unit = sensor.kind.unit
    if sensor.range.isFinite, sensor.range > 0 { add("range", range(sensor) + " " + unit) }
    if sensor.resolution > 0 { add("resolution", "\(Format.short(sensor.resolution)) \(unit)") }
    add("capture", sensor.capture)
    add("clock", sensor.clock)
    if let matrix = sensor.mountMatrix {
      let rows = matrix.map { $0.map(Format.short).joined(separator: ", ") }
      add("mount matrix", rows.joined(separator: "; "))
    }
    if isVerbose {
      for (name, value) in sensor.attributes { add(name, value) }
    }
    let head = style.paint(.bold, Format.right(pad: 14, sensor.kind.name)) + "  " + sensor.name
    return [head] + facts.map { style.plain("    " + Format.right(pad: 13, $0.0) + $0.1) }
  }

  private static func range(_ sensor: SensorDescription) -> String {
    (sensor.kind == .barometer ? "up to " : "±") + Format.short(sensor.range)
  }

  /// A list of rates; long ones are shortened in the middle.
  private static func rates(_ rates: [Double]) -> String {
    guard !rates.isEmpty else { return "" }
    let most = 12
    var words = rates.map(Format.short)
    if words.count > most { words = words.prefix(most / 2) + ["…"] + words.suffix(most / 2) }
    return words.joined(separator: " ") + " Hz"
  }
}
