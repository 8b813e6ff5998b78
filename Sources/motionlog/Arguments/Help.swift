/// The help texts.
enum Help {
  /// `motionlog --help`.
  static var overview: String {
    var lines = [
      "motionlog: motion sensors of Linux boards at the command line",
      "",
      "usage: motionlog COMMAND [options]",
      "",
      "commands:",
    ]
    lines += Command.all.map { "  " + Format.right(pad: 12, $0.name) + $0.summary }
    lines += [
      "",
      "motionlog COMMAND --help explains a command; motionlog --version names the version.",
      "",
      "Without sensors at hand: motionlog live -u sim:walk",
      "",
      "exit codes: 0 done, 1 failed while running, 2 bad usage, 3 no such device, sensor, scene or recording,",
      "  4 not permitted, 5 bad input file, 6 finished but samples were lost, 128 and more cut short by a signal",
      "",
    ]
    return lines.joined(separator: "\n")
  }

  /// `motionlog COMMAND --help`.
  static func of(_ command: Command) -> String {
    let operands = command.operands.isEmpty ? "" : " " + command.operands
    var lines = ["motionlog \(command.name): \(command.summary)", ""]
    lines.append("usage: motionlog \(command.name)\(operands) [options]")
    lines.append("")
    lines += command.text
    lines += ["", "options:"]
    for option in command.options + Command.common {
      let placeholder = command.optionPlaceholder[option] ?? option.placeholder
      lines += self.lines(of: option, placeholder, command.optionHelp[option] ?? option.help)
    }
    lines += ["", "examples:"]
    let width = command.examples.map(\.line.count).max() ?? 0
    for example in command.examples {
      lines.append("  " + Format.right(pad: width, example.line) + "   # " + example.comment)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let optionWidth = 26

  private static func lines(of option: Option, _ placeholder: String?, _ help: [String]) -> [String] {
    let short = option.short.map { "-\($0), " } ?? "    "
    let name = short + option.long + (placeholder.map { " " + $0 } ?? "")
    let left = "  " + Format.right(pad: optionWidth, name)
    let indent = String(repeating: " ", count: 2 + optionWidth)
    // A name that leaves no room has a line of its own.
    guard name.count < optionWidth else { return [left] + help.map { indent + $0 } }
    return help.enumerated().map { index, text in (index == 0 ? left : indent) + text }
  }
}
