import MotionKitLinux

/// The program from its arguments to its exit code.
enum Program {
  /// The program's name and version.
  static let version = "motionlog 0.1.0"

  /// Runs the command that the arguments name. Every error ends here, in words.
  static func run(_ arguments: [String]) -> ExitCode {
    do {
      return try dispatch(arguments.dropFirst())
    } catch OutputError.closed {
      // `| head` has read enough.
      return .done
    } catch {
      Terminal.restore()
      let report = ErrorReport(error)
      // The options may be what is wrong: this one is looked for without reading them.
      let isPlain = arguments.contains(Option.noColor.long)
      var console = Context(ParsedArguments(flags: isPlain ? [.noColor] : [])).console
      console.error(report.message)
      for line in report.advice { console.more(line) }
      return report.code
    }
  }

  private static func dispatch(_ arguments: ArraySlice<String>) throws -> ExitCode {
    guard let first = arguments.first else { throw UsageError.noCommand }
    let rest = arguments.dropFirst()
    switch first {
    case "--help", "-h":
      return try say(Help.overview)
    case "help":
      return try say(rest.first.map { Help.of(try Command.named($0)) } ?? Help.overview)
    case "--version":
      return try say(version + "\n")
    case _ where first.hasPrefix("-"):
      throw UsageError.unknownOption(first, command: "motionlog", suggestion: nil)
    default:
      let command = try Command.named(first)
      let options = command.options + Command.common
      // Help is given even beside options that are wrong.
      let ownWords = rest.prefix { $0 != "--" }
      if ownWords.contains("--help") || ownWords.contains("-h") { return try say(Help.of(command)) }
      let parsed = try ParsedArguments.parse(rest, options: options, command: command.name)
      var context = Context(parsed)
      return try command.run(parsed, &context)
    }
  }

  private static func say(_ text: String) throws -> ExitCode {
    var output = Output()
    try output.write(text)
    try output.flush()
    return .done
  }
}
