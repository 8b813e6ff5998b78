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
    if let closing = check.info.closing {
      // No fault of the files: they hold what was kept.
      for file in SessionFile.allCases {
        guard let lost = closing.lost[file], lost > 0 else { continue }
        try context.output.line(
          "\(file.fileName): \(Format.count(lost, "row")) \(lost == 1 ? "was" : "were") lost while it was recorded (\(closing.ended))"
        )
      }
    }
    let rows = check.rows.sorted { $0.key < $1.key }.map { "\($0.value) rows of \($0.key.name)" }
    try context.output.line((check.isSound ? "sound: " : "good: ") + rows.joined(separator: ", "))
    try context.output.flush()
    if let copy {
      try repairSession(directory, to: copy)
      context.console.note("made a clean copy in \(copy)")
      let kept = try SessionReader(directory: copy).info.closing?.rows ?? [:]
      for (kind, count) in check.rows.sorted(by: { $0.key < $1.key }) {
        let left = count - (kept[SessionFile(kind)] ?? 0)
        guard left > 0 else { continue }
        context.console.note(
          "\(kind.name): \(Format.count(left, "readable row")) of \(count) left out of the copy, whose events.csv says why"
        )
      }
      return .done
    }
    return check.isSound ? .done : .badInput
  }
}
