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
      "Of an option given twice the last counts; --sensors, --rate, --device, --label and --columns gather.",
      "",
      "environment:",
      "  MOTIONKIT_SOURCE        where samples come from without --source",
      "  MOTIONKIT_HEIGHT_M      the walker's height in metres (0.5 to 2.8): distances are estimated with it while",
      "                          steps are counted; a recording keeps the height that it was made with",
      "  MOTIONKIT_HISTORY       the file for steps and climbs; none: no history",
      "  MOTIONKIT_HISTORY_DAYS  how many days it keeps (default: 7)",
      "  MOTIONKIT_CALIBRATION   the file of the calibrations",
      "  MOTIONKIT_LOCATION      LATITUDE,LONGITUDE[,ALTITUDE] in degrees and metres, for --frame true; or",
      "  MOTIONKIT_DECLINATION   degrees from true to magnetic north, east positive",
      "",
      "exit codes: 0 done, 1 failed while running (no sample came, a sensor was lost and not back at the end, …),",
      "  2 bad usage, 3 no such device, sensor, scene or recording, 4 not permitted, 5 bad input file,",
      "  6 finished, but samples were lost (gaps, overruns, late ones), 128 and more cut short by a signal",
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
