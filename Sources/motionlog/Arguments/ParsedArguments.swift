/// A command line taken apart by `ParsedArguments.parse`: which options with which values, and what remains.
struct ParsedArguments {
  /// The value of each option given; "" for a flag. The last one wins, but lists gather.
  private(set) var values: [Option: String] = [:]
  /// What is not an option, in order.
  private(set) var operands: [String] = []

  /// A command line with these flags and nothing else.
  init(flags: [Option] = []) {
    for flag in flags { values[flag] = "" }
  }

  /// Whether the option was given.
  func has(_ option: Option) -> Bool { values[option] != nil }

  /// The option's value, if it was given.
  subscript(_ option: Option) -> String? { values[option] }

  /// The one operand of a command that takes a recording.
  func directory(for command: String) throws(UsageError) -> String {
    guard let directory = operands.first, !directory.isEmpty else {
      throw .missingOperand("the recording's directory", command: command)
    }
    if operands.count > 1 { throw .unexpectedOperand(operands[1], command: command) }
    return directory
  }

  /// The value of an option that names a file or a directory, if it was given.
  func path(_ option: Option, expected: String) throws(UsageError) -> String? {
    guard let path = values[option] else { return nil }
    guard !path.isEmpty else { throw .badValue(option: option.long, value: path, expected: expected) }
    return path
  }

  /// Takes apart what follows the command's name.
  ///
  /// Forms: `--long VALUE`, `--long=VALUE`, `-x VALUE`, `-xVALUE`, `-x=VALUE`, flags bundled as `-qv`, `--` before
  /// operands that look like options. A lone `-` is an operand.
  static func parse(
    _ arguments: ArraySlice<String>, options: [Option], command: String
  ) throws(UsageError) -> ParsedArguments {
    var parsed = ParsedArguments()
    var rest = arguments
    while let argument = rest.popFirst() {
      if argument == "--" {
        parsed.operands += rest
        break
      } else if argument.hasPrefix("--") {
        try parsed.takeLong(argument, &rest, options, command)
      } else if argument.hasPrefix("-"), argument.count > 1 {
        try parsed.takeShort(argument, &rest, options, command)
      } else {
        parsed.operands.append(argument)
      }
    }
    return parsed
  }

  private mutating func takeLong(
    _ argument: String, _ rest: inout ArraySlice<String>, _ options: [Option], _ command: String
  ) throws(UsageError) {
    let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(sides[0])
    guard let option = options.first(where: { $0.long == name }) else {
      throw .unknownOption(name, command: command, suggestion: nearest(to: name, among: options.map(\.long)))
    }
    if let placeholder = option.placeholder {
      if sides.count == 2 {
        take(String(sides[1]), for: option)
      } else {
        take(try Self.value(from: &rest, option: name, placeholder: placeholder), for: option)
      }
    } else {
      guard sides.count == 1 else { throw .unexpectedValue(option: name, value: String(sides[1])) }
      values[option] = ""
    }
  }

  private mutating func takeShort(
    _ argument: String, _ rest: inout ArraySlice<String>, _ options: [Option], _ command: String
  ) throws(UsageError) {
    var letters = argument.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = options.first(where: { $0.short == letter }) else {
        throw .unknownOption("-\(letter)", command: command, suggestion: nil)
      }
      guard let placeholder = option.placeholder else {
        values[option] = ""
        continue
      }
      if letters.first == "=" { letters.removeFirst() }
      if letters.isEmpty {
        values[option] = try Self.value(from: &rest, option: "-\(letter)", placeholder: placeholder)
      } else {
        values[option] = String(letters)
      }
      return
    }
  }

  private mutating func take(_ value: String, for option: Option) {
    if option.takesList, let before = values[option] {
      values[option] = before + "," + value
    } else {
      values[option] = value
    }
  }

  /// Whether a number, perhaps with a unit, stands here: `-1s` is a wrong time, not an option.
  private static func startsNumber(_ text: Substring) -> Bool {
    guard let first = text.utf8.first(where: { $0 != UInt8(ascii: ".") }) else { return false }
    return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
  }

  private static func value(
    from rest: inout ArraySlice<String>, option: String, placeholder: String
  ) throws(UsageError) -> String {
    guard let value = rest.first, value != "--" else {
      throw .missingValue(option: option, placeholder: placeholder)
    }
    // An option in place of the value is a forgotten value; a negative number is a value.
    if value.hasPrefix("-"), value.count > 1, !startsNumber(value.dropFirst()) {
      throw .missingValue(option: option, placeholder: placeholder)
    }
    rest.removeFirst()
    return value
  }
}
