import Glibc
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
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else {
      throw MotionKitError.fileSystem(
        path: path, errno: errno, hint: errno == EEXIST ? "choose a new file; nothing is overwritten" : "check the path"
      )
    }
    defer { close(file) }
    let rows = try exportSession(directory, options: options) { try write($0, to: file, path) }
    context.console.note("wrote \(Format.count(rows, "row")) to \(path)")
    return .done
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, _ path: String) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(file, rest.baseAddress, rest.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw MotionKitError.fileSystem(path: path, errno: errno, hint: "the file ends where it could not be written")
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  private static func options(_ arguments: ParsedArguments) throws(UsageError) -> ExportOptions {
    var options = ExportOptions()
    if let text = arguments[.rate] {
      guard let rate = OptionValues.decimal(text[...]), rate > 0, rate <= 1e6 else {
        throw .badValue(option: Option.rate.long, value: text, expected: "rows per second, such as 100")
      }
      options.rate = rate
    }
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
