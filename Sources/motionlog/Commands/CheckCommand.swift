import MotionKitLinux

/// `motionlog check`: what is wrong with a recording, and a clean copy of it.
enum CheckCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    let directory = try arguments.directory(for: "check")
    let copy = try arguments.path(.repair, expected: "a new directory")
    var bar = ProgressBar("checking")
    let check = try checkSession(directory) { bar.show($0, &context.console) }
    context.console.clearProgress()
    for problem in check.problems { try context.output.line(path: problem) }
    let rows = check.rows.sorted { $0.key < $1.key }.map { "\($0.value) rows of \($0.key.name)" }
    try context.output.line((check.isSound ? "sound: " : "good: ") + rows.joined(separator: ", "))
    try context.output.flush()
    if let copy {
      try repairSession(directory, to: copy)
      context.console.note("made a clean copy in \(copy)")
      return .done
    }
    return check.isSound ? .done : .badInput
  }
}
