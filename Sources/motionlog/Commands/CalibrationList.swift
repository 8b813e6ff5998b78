import Glibc
import MotionKitLinux
import SensorFusion

/// `motionlog calibrate list`: the calibrations that are kept, how good and how old they are.
enum CalibrationList {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    for option in [Option.source, .rate, .device, .trigger, .duration, .speed, .method, .dryRun]
    where arguments.has(option) {
      throw UsageError.conflict("option \(option.long) does not go with calibrate list, which measures nothing")
    }
    guard let path = try arguments.path(.to, expected: "a file") ?? CalibrationFile.defaultPath else {
      throw UsageError.conflict(
        "there is no place where calibrations are kept (MOTIONKIT_CALIBRATION or HOME): use --to")
    }
    let calibrations = try CalibrationFile(path: path).calibrations
    if calibrations.isEmpty { context.console.note("nothing is kept in \(path)") }
    let now = Int64(time(nil))
    for kept in calibrations {
      let percent = kept.qualityPercent
      let quality = percent.isFinite ? "quality \(Format.fixed(percent, 0)) %" : "quality unknown"
      let isRate = kept.kind == .gyroscope
      let residual =
        isRate ? "\(Format.fixed(kept.residual, 6)) rad/s" : "\(Format.fixed(100 * kept.residual, 2)) %"
      try context.output.line("\(kept.kind.name) \(kept.identity) (\(kept.name))")
      try context.output.line("kept      \(quality), residual \(residual), \(age(of: kept.date, now: now))")
      for line in details(kept) { try context.output.line(line) }
    }
    try context.output.flush()
    return calibrations.isEmpty ? .notFound : .done
  }

  /// The lines on what only some sensors have.
  static func details(_ kept: StoredCalibration) -> [String] { temperature(kept.rests) + axes(kept.alignment) }

  /// How long ago a date was, in the largest unit that fits.
  static func age(of date: String, now: Int64) -> String {
    let numbers = date.split { !$0.isNumber }.compactMap { Int32($0) }
    guard numbers.count == 6, date.count == 20 else { return "age unknown" }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
    let seconds = now - Int64(timegm(&parts))
    guard seconds >= 0 else { return "measured \(date)" }
    let (minute, hour, day): (Int64, Int64, Int64) = (60, 3600, 86400)
    switch seconds {
    case ..<(2 * minute): return "new"
    case ..<(2 * hour): return "\(seconds / minute) minutes old"
    case ..<(2 * day): return "\(seconds / hour) hours old"
    default: return "\(seconds / day) days old"
    }
  }

  /// What a gyroscope's rests tell of its bias over temperature.
  private static func temperature(_ rests: [GyroscopeRest]) -> [String] {
    guard let coldest = rests.map(\.temperature).min(), let warmest = rests.map(\.temperature).max() else { return [] }
    let range = "\(Format.fixed(coldest, 1)) to \(Format.fixed(warmest, 1)) °C"
    let seen = "\(Format.count(Int64(rests.count), "rest")), \(range)"
    guard let dependence = GyroscopeTemperature(rests) else {
      let need = "\(GyroscopeTemperature.leastCount) over \(Format.fixed(GyroscopeTemperature.leastSpread, 0)) °C"
      return ["slope     not known: \(seen) (it takes \(need) that lie on a line)"]
    }
    let s = dependence.slope
    let numbers = [s.x, s.y, s.z].map { Format.fixed($0, 6, sign: true) }.joined(separator: "  ")
    return ["slope     \(numbers) rad/s/°C (\(seen))"]
  }

  /// How a magnetometer's axes lie to the accelerometer's.
  private static func axes(_ alignment: MagnetometerAlignment?) -> [String] {
    guard let alignment else { return [] }
    let r = alignment.rotation
    let angles = [r.x, r.y, r.z].map { Format.fixed(degrees($0), 2, sign: true) }.joined(separator: "  ")
    let use = alignment.isSignificant ? "applied" : "not applied: no more than its uncertainty"
    return [
      "axes      \(angles) ° to the accelerometer's, ±\(Format.fixed(degrees(alignment.sigma), 2)) "
        + "(residual \(Format.fixed(degrees(alignment.residual), 2))°; \(use))"
    ]
  }
}
