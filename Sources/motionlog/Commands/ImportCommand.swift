import MotionKitLinux
import SensorFusion

/// `motionlog import`: another program's log as a recording.
enum ImportCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    guard !arguments.operands.isEmpty else { throw UsageError.missingOperand("the log's file", command: "import") }
    guard let directory = arguments[.to], !directory.isEmpty else {
      throw UsageError.conflict("import needs --to DIR, the recording to make")
    }
    let report = try importLog(arguments.operands, to: directory, options: options(arguments))
    for sensor in report.sensors {
      context.console.note(
        "\(sensor.kind.name): \(Format.count(sensor.timing.count, "sample")) at "
          + "\(Format.fixed(sensor.timing.rate, 2)) Hz from \(sensor.columns)")
      let spoilt: [(Int64, String)] = [
        (sensor.blank, "blank"), (sensor.nonFinite, "not finite"), (sensor.duplicates, "with the time before"),
      ]
      for (count, what) in spoilt where count > 0 {
        context.console.warning("\(sensor.kind.name): \(Format.count(count, "row")) \(what)")
      }
    }
    if !report.format.isEmpty { context.console.detail("written by \(report.format)") }
    for jump in report.discontinuities {
      context.console.warning("\(jump.file):\(jump.line): the time jumps by \(Format.short(jump.step)) s; closed")
    }
    for line in report.warnings + report.readReport.notes { context.console.warning(line) }
    for line in report.ignored { context.console.note("not used: \(line)") }
    try context.output.line(directory)
    try context.output.flush()
    return .done
  }

  private static func options(_ arguments: ParsedArguments) throws(UsageError) -> ImportOptions {
    var options = ImportOptions()
    options.accelerationUnit = arguments[.accelUnit]
    options.rotationUnit = arguments[.gyroUnit]
    options.fieldUnit = arguments[.magUnit]
    options.pressureUnit = arguments[.pressureUnit]
    options.timeUnit = arguments[.timeUnit]
    if let text = arguments[.accelSign] {
      guard let sign = AccelerationSign(rawValue: text) else {
        throw .badValue(option: Option.accelSign.long, value: text, expected: "specific-force or core-motion")
      }
      options.accelerationSign = sign
    }
    if let text = arguments[.rate] {
      let rates = try OptionValues.rates(text, option: .rate)
      guard let rate = rates.common, rates.each.isEmpty else {
        throw .badValue(option: Option.rate.long, value: text, expected: "one rate for the whole log")
      }
      options.rate = rate
    }
    if arguments.has(.assumeRate) {
      guard options.rate != nil else { throw .conflict("option --assume-rate also needs --rate HZ") }
      options.ratesReplaceTimes = true
    }
    if let text = arguments[.missingAxes] {
      guard text == "zero" else { throw .badValue(option: Option.missingAxes.long, value: text, expected: "zero") }
      options.missingAxesAreZero = true
    }
    options.columns = try OptionValues.labels(arguments[.columns] ?? "", option: .columns)
    options.labels = try OptionValues.labels(arguments[.label] ?? "", option: .label)
    return options
  }
}
