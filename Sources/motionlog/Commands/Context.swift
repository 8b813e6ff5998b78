import Glibc
import MotionKitLinux
import SensorFusion

/// What a command works with: where it says things, and how.
struct Context {
  /// Standard error.
  var console = Console()
  /// Standard output.
  var output = Output()
  /// The looks of standard output.
  var style: Style

  /// Reads `-q`, `-v` and `--no-color`; colour needs a terminal, and `NO_COLOR` (no-color.org) forbids it.
  init(_ arguments: ParsedArguments) {
    let noColor = Terminal.environment("NO_COLOR").map { !$0.isEmpty } ?? false
    let mayColor = !arguments.has(.noColor) && !noColor && Terminal.environment("TERM") != "dumb"
    style = Style(hasColor: mayColor && isatty(STDOUT_FILENO) == 1, isUnicode: Terminal.isUTF8)
    console.hasColor = mayColor && isatty(STDERR_FILENO) == 1
    console.isQuiet = arguments.has(.quiet)
    console.isVerbose = arguments.has(.verbose)
  }

  /// Opens and starts a source, with what the user should know about it said.
  mutating func start(_ settings: RunSettings, pacing: Pacing = .speed(1)) throws -> StartedSource {
    if !settings.isRaw, let problem = Walker.problem { throw problem }
    let source: any SensorSource =
      if case .recording(let directory) = try SourceURI(settings.source) {
        try RecordingSource(directory: directory, pacing: pacing, range: settings.range)
      } else {
        try openSource(settings.source, pacing: pacing)
      }
    if let recording = source as? RecordingSource { try settings.range.check(in: recording) }
    var description = try source.start(settings.request)
    for used in try description.calibrate(settings.calibration) {
      console.detail("\(used.kind.name) \(used.identity): calibrated \(used.date)")
    }
    let history: HistoryFilling?
    do {
      history = try settings.history.filling(for: description, &console)
    } catch {
      source.stop()
      throw error
    }
    let started = StartedSource(source: source, description: description, settings: settings, history: history)
    for note in description.notes { console.detail(note) }
    if description.sensor(.accelerometer) == nil, description.sensor(.gyroscope) != nil {
      console.note("no attitude: it takes an accelerometer, to know where down is, and none is read")
    }
    let hasAttitude = description.sensor(.accelerometer) != nil
    if hasAttitude, started.frame != .arbitrary, description.sensor(.magnetometer) == nil {
      console.warning("frame '\(started.frame.word)' without a magnetometer: yaw starts at 0 and drifts")
    }
    return started
  }

  /// The exit code of a run: failed, and said in words, where sensors were lost and did not come back or no sample came
  /// at all; failed where a history that was named could not be written; else whether samples went missing.
  mutating func exitCode(
    of end: RunEnd, of run: MotionRun, _ started: StartedSource, losses: LossWatch, hasLost: Bool,
    isHistoryBroken: Bool
  ) throws -> ExitCode {
    if let failure = losses.failure {
      console.error(failure.message)
      for line in failure.advice { console.more(line) }
      return .failed
    }
    // Who ends a run early may not have waited for the first.
    if !run.hasSamples, end == .endOfSource || end == .duration {
      try started.checkRange()
      console.error("no sample came from '\(started.description.uri)'")
      return .failed
    }
    if isHistoryBroken { return .failed }
    let code = Self.exitCode(of: end, duration: started.duration)
    return code == .done && hasLost ? .samplesLost : code
  }

  /// The exit code of a run that `duration` may have limited.
  static func exitCode(of end: RunEnd, duration: Double?) -> ExitCode {
    // Without a limit a signal is the way to end a run; with one, it cuts short what was asked for.
    if case .signal(let signal) = end, duration != nil { return .interrupted(signal: signal) }
    return .done
  }
}

/// A source that was opened and started, with what its samples are to be computed by.
struct StartedSource {
  /// The source.
  let source: any SensorSource
  /// What was really started.
  let description: SourceDescription
  /// The pipeline's settings: those of the recording where the source is one, so that the outputs are the same.
  let configuration: MotionPipeline.Configuration
  /// Where steps and climbs go; nil for nowhere.
  let history: HistoryFilling?
  /// The walker's height that a recording was made with.
  private let recordedHeight: Double?
  /// Seconds to run; nil without limit.
  let duration: Double?
  private let range: ReplayRange
  private let isRaw: Bool

  fileprivate init(
    source: any SensorSource, description: SourceDescription, settings: RunSettings, history: HistoryFilling?
  ) {
    self.source = source
    self.history = history
    self.description = description
    duration = settings.duration
    range = settings.range
    isRaw = settings.isRaw
    if let recording = source as? RecordingSource {
      var recorded = recording.info.pipeline
      if case .chosen(let frame) = settings.frame { recorded.filter.referenceFrame = frame }
      recorded.calibration = description.calibrations
      if settings.calibration != .automatic { recorded.calibratesMagnetometer = description.learnsHardIron }
      // Only distances, which no file holds, follow from it.
      recordedHeight = recorded.stepCounter.height
      recorded.stepCounter.height = recordedHeight ?? Walker.current.height
      configuration = recorded
    } else {
      recordedHeight = nil
      configuration = MotionPipeline.Configuration(
        for: description, frame: settings.referenceFrame(for: description))
    }
  }

  /// The earth frame of the attitude.
  var frame: ReferenceFrame { configuration.filter.referenceFrame }

  /// Throws for a part of a recording in which there is no sample.
  func checkRange() throws(UsageError) {
    guard let recording = source as? RecordingSource else { return }
    try range.check(in: recording)
    guard range.from > 0 else { return }
    let end = range.to.map { " and before --until \(Format.short($0))s" } ?? ""
    throw .conflict(
      "\(recording.description.uri.dropFirst(5)) has no sample behind --from \(Format.short(range.from))s\(end)")
  }

  /// What session.json of a new recording says: what the old one said where the source is one.
  var sessionInfo: SessionInfo {
    guard let recording = source as? RecordingSource else {
      return SessionInfo(source: description, pipeline: configuration)
    }
    var info = recording.info
    info.software = SessionInfo.currentSoftware
    info.sensors = recording.info.sensors.filter { description.sensor($0.kind) != nil }
    info.pipeline = configuration
    info.pipeline.stepCounter.height = recordedHeight
    info.isSmoothed = false
    return info
  }

  /// The run over it.
  var run: MotionRun {
    MotionRun(
      source: source, pipeline: isRaw ? nil : MotionPipeline(configuration: configuration), isLive: description.isLive,
      duration: duration, history: history?.recorder)
  }
}

extension ReplayRange {
  /// Throws where it begins behind the end of a recording that says how long it is.
  fileprivate func check(in recording: RecordingSource) throws(UsageError) {
    guard from > 0, let length = recording.info.closing?.duration, from > length else { return }
    throw .conflict(
      "option --from \(Format.short(from))s lies behind the end of \(recording.description.uri.dropFirst(5)), "
        + "which is \(Format.short(length)) s long")
  }
}
