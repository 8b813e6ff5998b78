import Glibc
import MotionKitLinux
import SensorFusion

/// `motionlog record`: a source to a session directory.
enum RecordCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    if arguments.operands.count > 1 { throw UsageError.unexpectedOperand(arguments.operands[1], command: "record") }
    var settings = try RunSettings(arguments)
    settings.isRaw = arguments.has(.raw)
    if !settings.source.hasPrefix("file:") { settings.motionRate = settings.motionRate ?? motionRate }
    if settings.isRaw, arguments[.history] ?? "none" != "none" {
      throw UsageError.conflict("option --history needs steps, which --raw does not compute")
    }
    settings.history = settings.isRaw ? .none : try HistoryChoice(arguments)
    let directory = arguments.operands.first ?? defaultDirectory()
    guard !directory.isEmpty else { throw UsageError.missingOperand("the directory's name", command: "record") }
    let pacing = try ReplayCommand.pacing(arguments)
    let labels = try OptionValues.labels(arguments[.label] ?? "", option: .label)
    let options = try options(arguments)
    settings.reportLatency = min(longestLatency, options.syncInterval * latencyShare)
    let started = try context.start(settings, pacing: pacing)
    defer { started.source.stop() }
    var info = SessionInfo(source: started.description, pipeline: started.configuration)
    if let recording = started.source as? RecordingSource { info.origin = recording.info.origin }
    if let origin = arguments[.origin] { info.origin = origin }
    info.labels.merge(labels) { $1 }
    let fused = try arguments.has(.fused) ? FusedRecording(settings, to: directory, &context) : nil
    defer { fused?.capture.stop() }
    return try record(
      started, info, to: directory, options: options, fused: fused, &context)
  }

  /// Records a started source until something ends the run.
  static func record(
    _ started: StartedSource, _ info: SessionInfo, to directory: String,
    options: SessionWriter.Options = SessionWriter.Options(), fused: FusedRecording? = nil,
    _ context: inout Context
  ) throws -> ExitCode {
    var options = options
    // A source that keeps its own time does not wait for the disk; any other does.
    options.whenFull = started.description.isLive ? .drop : .wait
    // Only this machine's devices keep this machine's clock.
    let uri = started.description.uri
    options.watchesClocks = uri.hasPrefix("local:") || uri.hasPrefix("usb:")
    let writer = try SessionWriter(directory: directory, info: info, options: options)
    Signals.shared.setHoldsData(true, tells: !context.console.isQuiet)
    defer { Signals.shared.setHoldsData(false) }

    var progress = RecordProgress(started)
    progress.hasKeys = Terminal.takeKeyboard()
    defer { Terminal.restore() }
    let invitation = started.description.isLive || progress.isRecording ? progress.invitation : ""
    context.console.note("recording \(started.description.uri) to \(directory)\(invitation)")
    try fused?.capture.start()
    var run = started.run
    let result = Result {
      try run.run(patience: patience) { batch in
        try writer.consume(batch)
        for line in progress.take(batch) { context.console.note(line) }
        for line in try fused?.keep() ?? [] { context.console.warning(line) }
        started.history?.check(&context.console)
        progress.show(&context.console) { writer.progress }
        return !progress.isQuitAsked()
      }
    }
    context.console.endProgress()
    let isHistoryBroken = started.history?.finish(&context.console) ?? false
    if let fused, case .success = result { for line in try fused.finish() { context.console.note(line) } }
    let summary: ClosingSummary
    do {
      summary = try writer.finish(ended: words(for: result), counters: run.counters)
    } catch {
      let kept = rows(writer.progress.rows)
      context.console.note("kept in \(directory): " + (kept.isEmpty ? "no sample" : kept))
      throw error
    }
    do {
      try context.output.line(path: directory)
      try context.output.flush()
    } catch OutputError.closed {
      // How the recording went counts, not whether anybody reads its name.
    }
    let hasLost = report(summary, progress, bytes: writer.progress.bytes, &context.console)
    return try context.exitCode(
      of: try result.get(), of: run, started, losses: progress.losses, hasLost: hasLost,
      isHistoryBroken: isHistoryBroken)
  }

  /// Rows of device_motion.csv a second where nothing was asked: twice what Core Motion gives at most.
  private static let motionRate = 200.0
  /// The longest that a signal or a key waits, seconds: few wake-ups, and still at once to a person.
  private static let patience = 0.25

  /// How long devices may gather samples, seconds: nobody waits for them, and each hand-over costs wake-ups.
  private static let longestLatency = 0.5
  /// What a loss of power may take is little more than the time between writes to the disk.
  private static let latencyShare = 0.5

  private static func options(_ arguments: ParsedArguments) throws(UsageError) -> SessionWriter.Options {
    var options = SessionWriter.Options()
    if let text = arguments[.syncInterval] {
      options.syncInterval = try OptionValues.duration(text, option: .syncInterval)
    }
    if let text = arguments[.minFree] { options.minimumFreeBytes = try OptionValues.size(text, option: .minFree) }
    options.compresses = arguments.has(.compress)
    options.writesDerivedFiles = !arguments.has(.raw)
    if let text = arguments[.rotate] { options.rotation = try OptionValues.rotation(text, option: .rotate) }
    return options
  }

  /// How a run ended, as the recording says it.
  private static func words(for result: Result<RunEnd, any Error>) -> String {
    switch result {
    case .success(.signal(let number)): "interrupted by \(Signals.name(number))"
    case .success: "finished"
    case .failure(let error): "stopped: \(ErrorReport(error).message)"
    }
  }

  /// How many samples there are of what.
  private static func rows(_ rows: [SessionFile: Int64]) -> String {
    SensorKind.allCases.compactMap { kind in rows[SessionFile(kind)].map { "\($0) \(kind.name)" } }
      .joined(separator: ", ")
  }

  /// Says what was recorded; returns whether samples were lost.
  private static func report(
    _ summary: ClosingSummary, _ progress: RecordProgress, bytes: Int64, _ console: inout Console
  ) -> Bool {
    let rows = rows(summary.rows)
    console.note(
      "\(Format.fixed(summary.duration, 1)) s recorded: "
        + (rows.isEmpty ? "no sample came" : rows) + ", \(Format.bytes(bytes))")
    var losses: [String] = []
    for file in SessionFile.allCases {
      if let lost = summary.lost[file], lost > 0 { losses.append("\(lost) rows of \(file.fileName) not written") }
    }
    // What a recording had lost when it was made is not lost by playing it.
    for name in LossWatch.lossEvents where !progress.isRecording {
      if let count = summary.events[name], count > 0 { losses.append(Format.count(count, "\(name) event")) }
    }
    if summary.lateSamples > 0 { losses.append(Format.count(summary.lateSamples, "late sample")) }
    guard !losses.isEmpty else { return false }
    console.warning("samples were lost: " + losses.joined(separator: ", ") + " (events.csv has the details)")
    return true
  }

  /// `motion-2026-11-30-140312`, by the local clock.
  private static func defaultDirectory() -> String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    return "motion-\(date)-\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))"
  }
}

/// The progress of a recording: one line in place on a terminal, a line now and then elsewhere.
struct RecordProgress {
  /// Whether keys are read.
  var hasKeys = false
  private var monitors: [SensorMonitor]
  private let isTerminal = Terminal.isInteractive(STDERR_FILENO)
  private var first: Timestamp?
  private var last: Timestamp?
  private var marks = 0
  /// What is lost, and what to tell of it.
  private(set) var losses: LossWatch
  private var nextLine: Double

  /// Seconds between lines, on a terminal and elsewhere.
  private static let interval = (terminal: 0.25, log: 60.0)

  /// Where a recording is replayed.
  private let recording: RecordingSource?
  private let begin = MotionRun.monotonicSeconds()
  private var isPaused = false

  init(_ started: StartedSource) {
    recording = started.source as? RecordingSource
    monitors = started.description.sensors.map { SensorMonitor($0) }
    losses = LossWatch(started.description)
    nextLine = MotionRun.monotonicSeconds() + (isTerminal ? 0 : Self.interval.log)
  }

  /// Whether a recording is replayed.
  var isRecording: Bool { recording != nil }

  /// What can be done while it runs.
  var invitation: String {
    if isRecording { return hasKeys ? "; p pauses, Ctrl-C ends" : "" }
    return hasKeys ? "; m marks an event, Ctrl-C ends" : "; SIGUSR1 marks an event, Ctrl-C or SIGTERM ends"
  }

  /// Takes one batch; returns a line for each event that the user should know of at once.
  mutating func take(_ batch: ProcessedBatch) -> [String] {
    if first == nil { first = batch.input.samples.first?.time }
    last = batch.input.samples.last?.time ?? last
    for index in monitors.indices {
      let kind = monitors[index].sensor.kind
      for sample in batch.input.samples where sample.kind == kind { monitors[index].take(sample) }
    }
    marks += batch.input.events.count { $0.name == "mark" }
    return losses.take(batch.input.events)
  }

  /// Whether the user pressed `q`; `m` marks, `p` pauses a replay.
  mutating func isQuitAsked() -> Bool {
    while let key = Terminal.readKey() {
      if key == UInt8(ascii: "q") || key == 4 { return true }  // 4 is Ctrl-D
      if key == UInt8(ascii: "m") { Signals.shared.addMark() }
      if key == UInt8(ascii: "p") || key == UInt8(ascii: " "), let recording {
        isPaused.toggle()
        isPaused ? recording.pause() : recording.resume()
        nextLine = 0
      }
    }
    return false
  }

  /// Shows how far it is, when it is time.
  mutating func show(_ console: inout Console, progress: () -> SessionWriter.Progress) {
    let now = MotionRun.monotonicSeconds()
    guard now >= nextLine else { return }
    nextLine = now + (isTerminal ? Self.interval.terminal : Self.interval.log)
    let text = line(progress())
    if isTerminal { console.progress(text) } else { console.note(text) }
  }

  private func line(_ progress: SessionWriter.Progress) -> String {
    let elapsed = first.flatMap { first in last.map { $0.seconds(since: first) } } ?? 0
    let rows = SessionFile.raw.reduce(0) { $0 + (progress.rows[$1] ?? 0) }
    let rates = monitors.map { Format.short($0.rate.rounded()) }.joined(separator: "/")
    var parts = [
      Format.clock(elapsed), Format.count(rows, "row"), Format.bytes(progress.bytes), "\(rates) Hz",
      "lost \(progress.lostSamples)",
    ]
    // Where a narrow terminal does not cut it off.
    if !losses.lost.isEmpty { parts.insert("LOST: \(losses.names)", at: 1) }
    let gaps = monitors.reduce(0) { $0 + $1.gaps }
    let clipped = monitors.reduce(0) { $0 + $1.clipped }
    if gaps > 0 { parts.append(Format.count(gaps, "gap")) }
    if clipped > 0 { parts.append("\(clipped) clipped") }
    if isPaused {
      parts.append("paused")
    } else if isTerminal, let recording, !recording.loops, recording.share > 0 {
      parts.append(ProgressBar.timeLeft(recording.share, elapsed: MotionRun.monotonicSeconds() - begin))
    }
    if marks > 0 { parts.append(Format.count(Int64(marks), "mark")) }
    return parts.joined(separator: "  ")
  }
}
