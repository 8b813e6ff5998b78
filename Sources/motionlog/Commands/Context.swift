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
  mutating func start(
    _ settings: RunSettings, pacing: Pacing = .speed(1)
  ) throws -> (source: any SensorSource, description: SourceDescription) {
    let source = try openSource(settings.source, pacing: pacing)
    let description = try source.start(settings.request)
    for note in description.notes { console.detail(note) }
    let frame = settings.referenceFrame(for: description)
    if frame != .arbitrary, description.sensor(.magnetometer) == nil {
      console.warning("frame '\(frame.word)' without a magnetometer: yaw starts at 0 and drifts")
    }
    return (source, description)
  }

  /// The pipeline for a started source.
  func pipeline(_ description: SourceDescription, frame: ReferenceFrame) -> MotionPipeline {
    var configuration = MotionPipeline.Configuration()
    configuration.filter.referenceFrame = frame
    configuration.filter.hasGyroscope = description.sensor(.gyroscope) != nil
    configuration.filter.accelerometerRange = description.sensor(.accelerometer)?.range ?? .infinity
    configuration.filter.gyroscopeRange = description.sensor(.gyroscope)?.range ?? .infinity
    return MotionPipeline(configuration: configuration)
  }

  /// The exit code of a run that `duration` may have limited.
  static func exitCode(of end: RunEnd, duration: Double?) -> ExitCode {
    switch end {
    // Without a limit a signal is the way to end it; with one, it cuts short what was asked for.
    case .signal(let signal) where duration != nil || signal != SIGINT: .interrupted(signal: signal)
    case .signal, .endOfSource, .duration, .user: .done
    }
  }
}
