import MotionKitLinux
import SensorFusion

/// `motionlog doctor`: what is wrong with a source's sensors, and how to mend it.
enum DoctorCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    if let operand = arguments.operands.first { throw UsageError.unexpectedOperand(operand, command: "doctor") }
    let common = try RunSettings(arguments)
    if common.sensors?.contains(.stepCounter) == true {
      // It counts nothing while the board lies.
      throw UsageError.badValue(
        option: Option.sensors.long, value: "steps", expected: "accel, gyro, mag or baro, which doctor can measure")
    }
    var settings = Diagnosis.Settings(trigger: common.trigger)
    settings.rates = common.request.rates.filter { $0.key != .stepCounter }
    if let duration = common.duration { settings.seconds = duration }
    context.console.detail("each sensor is read for \(Format.short(settings.seconds)) s")
    let diagnosis = try Diagnosis.examine(uri: common.source, settings: settings) { Signals.shared.stop == nil }
    if common.isJSON {
      try context.output.line(object(diagnosis).description)
    } else {
      for line in lines(diagnosis, context.style) { try context.output.line(line) }
    }
    try context.output.flush()
    if let signal = Signals.shared.stop { return .interrupted(signal: signal) }
    return exitCode(diagnosis)
  }

  /// What scripts are told.
  static func exitCode(_ diagnosis: Diagnosis) -> ExitCode {
    if diagnosis.lacksPermission { return .notPermitted }
    if diagnosis.sensorCount == 0 { return .notFound }
    return diagnosis.level == .fault ? .failed : .done
  }

  /// The whole report, a finding a line with its remedy below it.
  static func lines(_ diagnosis: Diagnosis, _ style: Style) -> [String] {
    var lines: [String] = []
    for finding in diagnosis.findings {
      let subject = finding.subject.isEmpty ? "" : finding.subject + ": "
      let level = style.paint(look(finding.level), Format.right(pad: 9, word(finding.level)))
      let topic = Format.right(pad: 13, finding.topic.rawValue)
      lines.append(level + style.plain(topic + subject + finding.text))
      for fix in finding.fixes { lines.append(style.plain(Format.right(pad: 22, "") + "→ " + fix)) }
    }
    let counts = [(Finding.Level.fault, "fault"), (.warning, "warning")].filter { diagnosis.count($0.0) > 0 }
      .map { Format.count(Int64(diagnosis.count($0.0)), $0.1) }
    lines.append(
      style.paint(
        look(diagnosis.level), counts.isEmpty ? "Nothing is wrong." : counts.joined(separator: ", ") + "."))
    return lines
  }

  private static func word(_ level: Finding.Level) -> String { level == .good ? "ok" : level.rawValue }

  private static func look(_ level: Finding.Level) -> Style.Look {
    switch level {
    case .good: .good
    case .note: .dim
    case .warning: .warning
    case .fault: .bad
    }
  }

  /// The same for programs.
  static func object(_ diagnosis: Diagnosis) -> JSONObject {
    var object = JSONObject()
    object.add("source", diagnosis.uri)
    object.add("host", diagnosis.host)
    object.add("level", diagnosis.level.rawValue)
    object.add(
      "findings",
      diagnosis.findings.map { finding in
        var member = JSONObject()
        member.add("level", finding.level.rawValue)
        member.add("topic", finding.topic.rawValue)
        member.add("subject", finding.subject)
        member.add("text", finding.text)
        member.add("fixes", finding.fixes)
        return member
      })
    object.add(
      "sensors",
      diagnosis.measurements.map { measurement in
        var member = JSONObject()
        member.add("sensor", measurement.sensor.kind.name)
        member.add("name", measurement.sensor.name)
        member.add("identity", measurement.sensor.identity)
        member.add("capture", measurement.sensor.capture)
        member.add("unit", measurement.sensor.kind.unit)
        member.add("wanted_rate_hz", measurement.wantedRate)
        member.add("set_rate_hz", measurement.sensor.rate)
        member.add("rate_hz", measurement.timing.rate)
        member.add("jitter_s", measurement.timing.jitter)
        member.add("samples", measurement.count)
        member.add("missing", measurement.missing)
        member.add("clipped", measurement.clipped)
        member.add("mean", measurement.mean)
        member.add("deviation", measurement.deviation)
        return member
      })
    return object
  }
}
