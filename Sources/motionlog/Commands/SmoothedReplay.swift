import Glibc
import MotionKitLinux
import SensorFusion

/// `motionlog replay --smooth`: the best estimate of a recording's motion, which needs all of it, into a new recording
/// or as JSON.
enum SmoothedReplay {
  static func run(
    _ directory: String, _ settings: RunSettings, to target: String?, _ context: inout Context
  ) throws -> ExitCode {
    if target == "live" {
      throw UsageError.conflict("option --smooth needs the whole recording first: --to takes json or a new directory")
    }
    let started = try context.start(settings, pacing: .unpaced)
    let (input, end) = try read(started, &context)
    if case .signal(let signal) = end { return .interrupted(signal: signal) }
    var watch = LossWatch(started.description)
    for line in watch.take(input.events) { context.console.note(line) }
    let isTerminal = Terminal.isInteractive(STDERR_FILENO)
    if isTerminal { context.console.progress("smoothing \(Format.count(Int64(input.samples.count), "sample"))") }
    var batches = SmoothedBatches(of: input, settings: started.configuration)
    context.console.endProgress()
    guard batches.motionCount > 0 else {
      throw MotionKitError.noSensors(
        uri: started.description.uri, hint: "there is no motion to smooth without samples of an accelerometer")
    }
    if target == "json" {
      try json(&batches, started, settings, &context)
    } else {
      try record(&batches, started, to: target ?? defaultDirectory(directory), &context)
    }
    return .done
  }

  /// Reads the source to its end, or to the end of the time asked for.
  private static func read(
    _ started: StartedSource, _ context: inout Context
  ) throws -> (input: SampleBatch, end: RunEnd) {
    let isTerminal = Terminal.isInteractive(STDERR_FILENO)
    var input = SampleBatch()
    var nextLine = MotionRun.monotonicSeconds() + 0.25
    var run = started.run
    let end = try run.run { batch in
      input.samples += batch.input.samples
      input.events += batch.input.events
      if isTerminal, MotionRun.monotonicSeconds() >= nextLine {
        nextLine = MotionRun.monotonicSeconds() + 0.25
        context.console.progress("reading  \(Format.count(Int64(input.samples.count), "sample"))")
      }
      return true
    }
    context.console.endProgress()
    return (input, end)
  }

  private static func json(
    _ batches: inout SmoothedBatches, _ started: StartedSource, _ settings: RunSettings, _ context: inout Context
  ) throws {
    var writer = LiveJSON(frame: started.frame, interval: settings.interval ?? 0)
    try context.output.line(LiveJSON.header(started.description, frame: started.frame))
    var batch = ProcessedBatch()
    while batches.next(into: &batch) { try writer.write(batch, to: &context.output) }
    try context.output.flush()
  }

  private static func record(
    _ batches: inout SmoothedBatches, _ started: StartedSource, to directory: String, _ context: inout Context
  ) throws {
    var options = SessionWriter.Options()
    options.whenFull = .wait
    options.watchesClocks = false
    var info = started.sessionInfo
    info.isSmoothed = true
    let writer = try SessionWriter(directory: directory, info: info, options: options)
    var batch = ProcessedBatch()
    while batches.next(into: &batch) { try writer.consume(batch) }
    let summary = try writer.finish(counters: batches.counters)
    try context.output.line(directory)
    try context.output.flush()
    context.console.note(
      "\(Format.fixed(summary.duration, 1)) s smoothed: "
        + "\(Format.count(summary.rows[.deviceMotion] ?? 0, "row")) of \(SessionFile.deviceMotion.fileName)")
  }

  /// `walk-smooth` for `recordings/walk`, in the working directory.
  private static func defaultDirectory(_ directory: String) -> String {
    let name = directory.split(separator: "/").last { $0 != "." && $0 != ".." }
    return (name.map(String.init) ?? "motion") + "-smooth"
  }
}
