import Glibc
import MotionKitLinux

/// `motionlog export`: a recording as one table at a fixed rate.
enum ExportCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    let directory = try arguments.directory(for: "export")
    let options = try options(arguments)
    var bar = ProgressBar("exporting")
    var report = ReadReport()
    defer { for note in report.notes { context.console.note(note) } }
    guard let path = try arguments.path(.output, expected: "a file"), path != "-" else {
      // Rows on the same terminal would tear the bar.
      let hasBar = isatty(STDOUT_FILENO) == 0
      try exportSession(
        directory, options: options, progress: { if hasBar { bar.show($0, &context.console) } },
        tolerated: { report = $0 },
        write: { try context.output.write(String(decoding: $0, as: UTF8.self)) })
      context.console.clearProgress()
      try context.output.flush()
      return .done
    }
    let rows = try NewFile.write(path) { file in
      try exportSession(
        directory, options: options, progress: { bar.show($0, &context.console) }, tolerated: { report = $0 },
        write: { try file.write($0) })
    }
    context.console.clearProgress()
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
