import Glibc
import MotionKitLinux
import SensorFusion

/// `motionlog calibrate`: measures a sensor's errors while the user turns the device, and keeps them.
enum CalibrateCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    guard let word = arguments.operands.first else {
      throw UsageError.missingOperand("gyro, accel, mag or list", command: "calibrate")
    }
    if arguments.operands.count > 1 { throw UsageError.unexpectedOperand(arguments.operands[1], command: "calibrate") }
    if word == "list" { return try CalibrationList.run(arguments, &context) }
    let method = try method(word, arguments)
    let kind = CalibrationGuide(method).kind
    let settings = try RunSettings(arguments)
    let source = try openSource(settings.source, pacing: try ReplayCommand.pacing(arguments))
    let target = try target(arguments, uri: source.description.uri)
    // Before the measuring, which would be in vain.
    if case .file(let path) = target { try CalibrationFile(path: path).checkWritable() }

    var request = settings.request
    request.required = [kind]
    // A barometer tells the board's temperature; force and field tell a turn from rest, force and rate how the field
    // lies to gravity.
    let helpers: Set<SensorKind> =
      switch kind {
      case .gyroscope: [.barometer, .accelerometer, .magnetometer]
      case .magnetometer: [.accelerometer, .gyroscope]
      case .accelerometer, .barometer, .stepCounter: []
      }
    request.rates = request.rates.filter { $0.key == kind || helpers.contains($0.key) }
    var description = try source.start(request)
    defer { source.stop() }
    try description.calibrate(calibrations(target))
    var guide = CalibrationGuide(method, calibrations: description.calibrations)
    guard let sensor = description.sensor(kind) else {
      throw MotionKitError.noSensors(uri: description.uri, hint: "there is no \(kind.name) to calibrate")
    }
    if case .file = target, sensor.identity.isEmpty {
      throw MotionKitError.unsupported(
        what: "keeping a calibration of a \(kind.name) without an identity",
        hint: "the source does not say which sensor it is; --dry-run shows the calibration")
    }

    context.console.note("calibrating \(sensor.name) (\(sensor.identity)): \(guide.instruction)")
    var run = MotionRun(
      source: source, pipeline: nil, isLive: description.isLive,
      duration: settings.duration ?? defaultDuration(of: kind))
    var progress = CalibrationProgress()
    // In slices, so that an unpaced source ends where a live one would.
    let end = try run.run(slice: 0.5) { batch in
      for sample in batch.input.samples { guide.add(sample) }
      progress.show(guide, &context.console)
      return !guide.isComplete
    }
    context.console.endProgress()
    if case .signal(let signal) = end {
      context.console.note("interrupted; no calibration was made")
      return .interrupted(signal: signal)
    }
    let result: CalibrationResult
    do throws(CalibrationFailure) {
      result = try guide.result()
    } catch {
      context.console.error("no calibration of the \(kind.name) '\(sensor.identity)': \(error)")
      return .failed
    }
    return try finish(result, of: sensor, target, &context)
  }

  /// Where a calibration goes.
  private enum Target {
    case file(String)
    case nowhere(reason: String)
  }

  /// The calibrations of the other sensors: those beside which the new one will stand.
  private static func calibrations(_ target: Target) -> CalibrationChoice {
    guard case .file(let path) = target, access(path, F_OK) == 0 else { return .automatic }
    return .file(path)
  }

  private static func method(_ word: String, _ arguments: ParsedArguments) throws(UsageError) -> CalibrationMethod {
    let chosen = arguments[.method]
    let method: CalibrationMethod
    switch word {
    case "gyro": method = .rest
    case "mag": method = .turning
    case "accel":
      switch chosen ?? "six" {
      case "six": return .sixPositions
      case "free": return .freePoses
      case let other: throw .badValue(option: Option.method.long, value: other, expected: "six or free")
      }
    default: throw .conflict("calibrate takes gyro, accel, mag or list, not '\(word)'")
    }
    if chosen != nil { throw .conflict("option --method only goes with calibrate accel") }
    return method
  }

  private static func target(_ arguments: ParsedArguments, uri: String) throws(UsageError) -> Target {
    if arguments.has(.dryRun) { return .nowhere(reason: "--dry-run") }
    if let path = arguments[.to] {
      guard !path.isEmpty else { throw .badValue(option: Option.to.long, value: path, expected: "a file") }
      return .file(path)
    }
    if case .simulation? = try? SourceURI(uri) { return .nowhere(reason: "a simulated sensor; --to FILE keeps it") }
    guard let path = CalibrationFile.defaultPath else {
      throw .conflict("there is no place to keep a calibration (MOTIONKIT_CALIBRATION or HOME): use --to or --dry-run")
    }
    return .file(path)
  }

  /// Larger than most gyroscopes' bias, rad/s.
  private static let unusualBias = 5 * Double.pi / 180

  /// Seconds after which a measurement ends with what it has.
  private static func defaultDuration(of kind: SensorKind) -> Double {
    switch kind {
    case .gyroscope: 60
    case .accelerometer: 300
    case .magnetometer, .barometer, .stepCounter: 120
    }
  }

  private static func finish(
    _ result: CalibrationResult, of sensor: SensorDescription, _ target: Target, _ context: inout Context
  ) throws -> ExitCode {
    func numbers(_ v: Vector3, _ decimals: Int) -> String {
      [v.x, v.y, v.z].map { Format.fixed($0, decimals, sign: true) }.joined(separator: "  ")
    }
    let calibration = result.calibration
    var lines = ["\(sensor.kind.name) \(sensor.identity)"]
    lines.append("offset    \(numbers(calibration.offset, sensor.kind == .gyroscope ? 5 : 3)) \(sensor.kind.unit)")
    if sensor.kind == .gyroscope {
      lines.append("residual  \(Format.fixed(result.residual, 6)) \(sensor.kind.unit)")
    } else {
      for (row, name) in zip(
        [calibration.x, calibration.y, calibration.z], ["matrix    ", "          ", "          "])
      {
        lines.append(name + numbers(row, 4))
      }
      lines.append("residual  \(Format.fixed(100 * result.residual, 2)) %")
    }
    lines.append("quality   \(Format.fixed(result.qualityPercent, 0)) %")
    if let temperature = result.temperature { lines.append("at        \(Format.fixed(temperature, 1)) °C") }
    var kept = StoredCalibration(
      sensor: sensor, calibration: calibration, residual: result.residual, qualityPercent: result.qualityPercent,
      temperature: result.temperature, date: now())
    kept.alignment = result.alignment
    var file: CalibrationFile?
    if case .file(let path) = target { file = try CalibrationFile(path: path) }
    if let rest = result.rest {
      kept.rests = GyroscopeTemperature.adding(rest, to: file?.calibration(of: sensor)?.rests ?? [])
    }
    lines += CalibrationList.details(kept)
    for line in lines { try context.output.line(line) }
    try context.output.flush()
    if let failure = result.alignmentFailure {
      context.console.warning("the axes of magnetometer and accelerometer were not compared: \(failure)")
    }
    if sensor.kind == .gyroscope, calibration.offset.norm > Self.unusualBias {
      context.console.warning(
        "a bias of \(Format.fixed(degrees(calibration.offset.norm), 1))°/s is unusual: if the device turned steadily "
          + "(a turntable, a robot), measure again at rest; about the vertical, without a magnetometer, it does not show"
      )
    }
    switch target {
    case .nowhere(let reason): context.console.note("not kept: \(reason)")
    case .file(let path):
      file?.keep(kept)
      try file?.write()
      context.console.note("kept in \(path)")
    }
    return .done
  }

  /// UTC as `2026-11-30T15:04:05Z`.
  private static func now() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
      + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
  }
}

/// How far a calibration is: one line in place on a terminal, elsewhere a line when something has changed.
private struct CalibrationProgress {
  private let isTerminal = Terminal.isInteractive(STDERR_FILENO)
  private var shown = (tenths: 0, instruction: "", disturbance: "")

  mutating func show(_ guide: CalibrationGuide, _ console: inout Console) {
    // A line for each reason: what turns steadily begins anew every second.
    if let disturbance = guide.disturbance, disturbance.sign != shown.disturbance {
      shown.disturbance = disturbance.sign
      console.note("beginning anew: \(disturbance)")
    }
    let tenths = Int(guide.coveragePercent / 10)
    let hasNews = tenths > shown.tenths || guide.instruction != shown.instruction
    guard isTerminal || hasNews else { return }
    shown.tenths = max(shown.tenths, tenths)
    shown.instruction = guide.instruction
    var parts = ["coverage \(Format.fixed(guide.coveragePercent, 0)) %"]
    if let residual = guide.residual { parts.append("residual \(Format.fixed(100 * residual, 1)) %") }
    if !guide.isComplete { parts.append(guide.instruction) }
    let text = parts.joined(separator: "  ")
    if isTerminal { console.progress(text) } else { console.note(text) }
  }
}

extension CalibrationFailure {
  /// What a reason is told apart by, without its numbers.
  fileprivate var sign: String {
    switch self {
    case .turning(.rate): "rate"
    case .turning(.gravity): "gravity"
    case .turning(.field): "field"
    default: "\(self)"
    }
  }
}
