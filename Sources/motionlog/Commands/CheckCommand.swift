import MotionKitLinux
import SensorFusion

/// `motionlog check`: what is wrong with a recording, and a clean copy of it.
enum CheckCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    guard let directory = arguments.operands.first else {
      throw UsageError.missingOperand("the recording's directory", command: "check")
    }
    if arguments.operands.count > 1 { throw UsageError.unexpectedOperand(arguments.operands[1], command: "check") }
    if let copy = arguments[.repair] {
      let report = try repairSession(directory, to: copy)
      for note in report.notes { context.console.note(note) }
      try context.output.line(copy)
      try context.output.flush()
      return .done
    }
    let check = try checkSession(directory)
    for problem in check.problems { try context.output.line(problem) }
    let rows = check.rows.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key.name)" }.joined(separator: ", ")
    try context.output.line("\(directory): \(check.isSound ? "sound" : "not sound"); good rows: \(rows)")
    try context.output.flush()
    if !check.isSound { context.console.note("a clean copy: motionlog check \(directory) --repair NEW-DIR") }
    return check.isSound ? .done : .badInput
  }
}
