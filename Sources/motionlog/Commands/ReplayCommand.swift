import MotionKitLinux
import SensorFusion

/// `motionlog replay`: a recording through the same pipeline, to a screen, to JSON, into a new recording, or against
/// what the live session computed.
enum ReplayCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    let directory = try arguments.directory(for: "replay")
    if arguments.has(.verify) {
      for option in [
        Option.to, .speed, .from, .until, .loop, .frame, .declination, .latitude, .longitude, .duration, .sensors,
        .smooth, .calibration,
      ]
      where arguments.has(option) {
        throw UsageError.conflict("option \(option.long) does not go with --verify, which computes the whole session")
      }
      return try verify(directory, &context)
    }
    var settings = try RunSettings(arguments, recording: directory)
    if arguments[.to] == "" {
      throw UsageError.badValue(option: Option.to.long, value: "", expected: "live, json or a directory")
    }
    if arguments.has(.smooth) {
      if arguments.has(.speed) {
        throw UsageError.conflict("option --speed does not go with --smooth, which needs the whole recording first")
      }
      if arguments.has(.loop) {
        throw UsageError.conflict("option --loop does not go with --smooth, which needs the recording's end")
      }
      return try SmoothedReplay.run(directory, settings, to: arguments[.to], &context)
    }
    let pacing = try pacing(arguments)
    switch arguments[.to] ?? "live" {
    case "live": return try LiveCommand.show(settings, pacing: pacing, &context)
    case "json":
      settings.isJSON = true
      return try LiveCommand.show(settings, pacing: pacing, &context)
    case let target:
      if settings.range.loops, settings.duration == nil {
        throw UsageError.conflict("a recording made with --loop has no end: give --duration TIME as well")
      }
      let started = try context.start(settings, pacing: pacing)
      defer { started.source.stop() }
      var options = SessionWriter.Options()
      options.syncInterval = syncInterval
      return try RecordCommand.record(
        started, started.sessionInfo, to: target, options: options, &context)
    }
  }

  /// Seconds. What a loss of power takes can be made again, and a replay has much to write.
  private static let syncInterval = 10.0

  private static func verify(_ directory: String, _ context: inout Context) throws -> ExitCode {
    var bar = ProgressBar("comparing")
    let verification = try verifySession(directory) { bar.show($0, &context.console) }
    context.console.clearProgress()
    for note in verification.notes { context.console.note(note) }
    if let difference = verification.difference {
      let column = difference.column.isEmpty ? "" : " \(difference.column)"
      try context.output.line(path: "different: \(difference.path):\(difference.line):\(column)")
      try context.output.line("  recorded   \(difference.recorded.isEmpty ? "no such row" : difference.recorded)")
      try context.output.line("  recomputed \(difference.recomputed.isEmpty ? "no such row" : difference.recomputed)")
      try context.output.flush()
      return .failed
    }
    let rows = SessionFile.derived.compactMap { file in
      verification.rows[file].map { "\($0) rows of \(file.fileName)" }
    }
    guard !rows.isEmpty else {
      context.console.error("\(directory): there are no computed rows to compare with")
      return .failed
    }
    try context.output.line("identical: " + rows.joined(separator: ", "))
    try context.output.flush()
    return .done
  }

  /// Reads `--speed`.
  static func pacing(_ arguments: ParsedArguments) throws(UsageError) -> Pacing {
    guard let text = arguments[.speed] else { return .speed(1) }
    return try OptionValues.pacing(text, option: .speed)
  }
}
