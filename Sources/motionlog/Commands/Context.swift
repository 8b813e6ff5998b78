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
    let source: any SensorSource =
      if case .recording(let directory) = try SourceURI(settings.source) {
        try RecordingSource(directory: directory, pacing: pacing, range: settings.range)
      } else {
        try openSource(settings.source, pacing: pacing)
      }
    var description = try source.start(settings.request)
    for used in try description.calibrate(settings.calibration) {
      console.detail("\(used.kind.name) \(used.identity): calibrated \(used.date)")
    }
    let history: StepHistoryRecorder?
    do {
      history = try settings.history.recorder(for: description, &console)
    } catch {
      source.stop()
      throw error
    }
    let started = StartedSource(source: source, description: description, settings: settings, history: history)
    for note in description.notes { console.detail(note) }
    if description.sensor(.accelerometer) == nil, description.sensor(.gyroscope) != nil {
      console.note("no attitude: it takes an accelerometer, to know where down is, and none is read")
    }
    if started.frame != .arbitrary, description.sensor(.magnetometer) == nil {
      console.warning("frame '\(started.frame.word)' without a magnetometer: yaw starts at 0 and drifts")
    }
    return started
  }

  /// The exit code of a run of sensors: a failure, said in words, where some were lost and did not come back.
  mutating func exitCode(of end: RunEnd, duration: Double?, losses: LossWatch) -> ExitCode {
    guard let failure = losses.failure else { return Self.exitCode(of: end, duration: duration) }
    console.error(failure.message)
    for line in failure.advice { console.more(line) }
    return .failed
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
  private let duration: Double?
  private let history: StepHistoryRecorder?
  private let isRaw: Bool

  fileprivate init(
    source: any SensorSource, description: SourceDescription, settings: RunSettings, history: StepHistoryRecorder?
  ) {
    self.source = source
    self.history = history
    self.description = description
    duration = settings.duration
    isRaw = settings.isRaw
    if let recording = source as? RecordingSource {
      var recorded = recording.info.pipeline
      if case .chosen(let frame) = settings.frame { recorded.filter.referenceFrame = frame }
      recorded.calibration = description.calibrations
      if settings.calibration != .automatic { recorded.calibratesMagnetometer = description.learnsHardIron }
      if let rate = settings.motionRate { recorded.motionRate = rate }
      configuration = recorded
    } else {
      var settled = MotionPipeline.Configuration(
        for: description, frame: settings.referenceFrame(for: description))
      settled.motionRate = settings.motionRate ?? 0
      configuration = settled
    }
  }

  /// The earth frame of the attitude.
  var frame: ReferenceFrame { configuration.filter.referenceFrame }

  /// What session.json of a new recording says: what the old one said where the source is one.
  var sessionInfo: SessionInfo {
    guard let recording = source as? RecordingSource else {
      return SessionInfo(source: description, pipeline: configuration)
    }
    var info = recording.info
    info.software = SessionInfo.currentSoftware
    info.sensors = recording.info.sensors.filter { description.sensor($0.kind) != nil }
    info.pipeline = configuration
    info.isSmoothed = false
    return info
  }

  /// The run over it.
  var run: MotionRun {
    MotionRun(
      source: source, pipeline: isRaw ? nil : MotionPipeline(configuration: configuration), isLive: description.isLive,
      duration: duration, history: history)
  }

  /// Ends the history's session, if there is one; what could not be written is said.
  func finishHistory(_ console: inout Console) {
    guard let history else { return }
    history.finish()
    if let error = history.error { HistoryChoice.warn(error, &console) }
  }
}
