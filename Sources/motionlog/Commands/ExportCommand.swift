import MotionKitLinux

/// `motionlog export`: a recording as one table at a fixed rate.
enum ExportCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    guard let directory = arguments.operands.first else {
      throw UsageError.missingOperand("the recording's directory", command: "export")
    }
    if arguments.operands.count > 1 { throw UsageError.unexpectedOperand(arguments.operands[1], command: "export") }
    let options = try options(arguments)
    guard let path = arguments[.output], path != "-" else {
      try exportSession(directory, options: options) { try context.output.write(String(decoding: $0, as: UTF8.self)) }
      try context.output.flush()
      return .done
    }
    let rows = try NewFile.write(path) { file in
      try exportSession(directory, options: options) { try file.write($0) }
    }
    context.console.note("wrote \(Format.count(rows, "row")) to \(path)")
    return .done
  }

  private static func options(_ arguments: ParsedArguments) throws(UsageError) -> ExportOptions {
    var options = ExportOptions()
    if let text = arguments[.rate] { options.rate = try OptionValues.rate(text[...], of: "rows", option: .rate) }
    if let text = arguments[.method] {
      guard let method = ExportOptions.Method(rawValue: text) else {
        throw .badValue(option: Option.method.long, value: text, expected: "linear, nearest or hold")
      }
      options.method = method
    }
    if let text = arguments[.format] {
      guard let format = ExportOptions.Format(rawValue: text) else {
        throw .badValue(option: Option.format.long, value: text, expected: "csv or json")
      }
      options.format = format
    }
    return options
  }
}
