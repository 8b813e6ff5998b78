import MotionKitLinux

/// `motionlog import`: another program's log into a recording.
enum ImportCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    guard !arguments.operands.isEmpty else { throw UsageError.missingOperand("the file to import", command: "import") }
    guard let directory = arguments[.to], !directory.isEmpty else {
      throw UsageError.conflict("import needs a new directory to write to: --to DIR")
    }
    let options = try options(arguments)
    var bar = ProgressBar("importing")
    let report = try importLog(arguments.operands, to: directory, options: options) { bar.show($0, &context.console) }
    context.console.clearProgress()
    for warning in report.warnings + report.readReport.notes { context.console.note(warning) }
    for jump in report.discontinuities.prefix(mostJumps) {
      context.console.note(
        "\(jump.file):\(jump.line): the time jumps by \(Format.fixed(jump.step, 3, sign: true)) s; closed")
    }
    if report.discontinuities.count > mostJumps {
      let steps = report.discontinuities.map { abs($0.step) }
      context.console.note(
        "the time jumps \(report.discontinuities.count) times in all, by up to \(Format.fixed(steps.max() ?? 0, 3)) s; closed"
      )
    }
    if context.console.isVerbose {
      for line in report.ignored { context.console.note("not used: \(line)") }
    }
    for sensor in report.sensors {
      var line = "\(sensor.kind.name): \(Format.count(sensor.timing.count, "sample")) at "
      line += "\(Format.fixed(sensor.timing.rate, 2)) Hz"
      if sensor.timing.gapCount > 0 { line += ", \(Format.count(sensor.timing.gapCount, "gap"))" }
      if sensor.blank > 0 { line += ", \(sensor.blank) blank" }
      if sensor.nonFinite > 0 { line += ", \(sensor.nonFinite) not finite" }
      if sensor.duplicates > 0 { line += ", \(sensor.duplicates) spread" }
      try context.output.line(line + ", from \(sensor.columns)")
    }
    try context.output.line(path: directory)
    try context.output.flush()
    return .done
  }

  /// Jumps of the times that are told one by one.
  private static let mostJumps = 5

  private static func options(_ arguments: ParsedArguments) throws(UsageError) -> ImportOptions {
    var options = ImportOptions()
    options.accelerationUnit = arguments[.accelUnit]
    options.rotationUnit = arguments[.gyroUnit]
    options.fieldUnit = arguments[.magUnit]
    options.pressureUnit = arguments[.pressureUnit]
    options.timeUnit = arguments[.timeUnit]
    if let (option, unit, known) = options.unknownUnit {
      throw .badValue(option: option, value: unit, expected: "one of " + known.joined(separator: ", "))
    }
    if let text = arguments[.accelSign] {
      guard let sign = AccelerationSign(rawValue: text) else {
        throw .badValue(option: Option.accelSign.long, value: text, expected: "specific-force or core-motion")
      }
      options.accelerationSign = sign
    }
    if let text = arguments[.rate] { options.rate = try OptionValues.rate(text[...], option: .rate) }
    options.ratesReplaceTimes = arguments.has(.assumeRate)
    if options.ratesReplaceTimes, options.rate == nil { throw .conflict("--assume-rate needs --rate HZ") }
    for pair in (arguments[.columns] ?? "").split(separator: ",", omittingEmptySubsequences: !arguments.has(.columns)) {
      let sides = pair.split(separator: "=", maxSplits: 1)
      guard sides.count == 2 else {
        throw .badValue(option: Option.columns.long, value: String(pair), expected: "role=column, such as accel.x=Ax")
      }
      guard options.columns.updateValue(String(sides[1]), forKey: String(sides[0])) == nil else {
        throw OptionValues.twice("'\(sides[0])'", .columns)
      }
    }
    if let text = arguments[.missingAxes] {
      guard text == "zero" else {
        throw .badValue(option: Option.missingAxes.long, value: text, expected: "zero")
      }
      options.missingAxesAreZero = true
    }
    return options
  }
}
