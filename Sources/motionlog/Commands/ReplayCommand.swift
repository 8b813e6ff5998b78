import MotionKitLinux
import SensorFusion

/// `motionlog replay`: a recording through the same pipeline.
enum ReplayCommand {
  /// Reads `--speed`.
  static func pacing(_ arguments: ParsedArguments) throws(UsageError) -> Pacing {
    guard let text = arguments[.speed] else { return .speed(1) }
    if text == "max" { return .unpaced }
    guard let speed = OptionValues.decimal(text[...]), speed > 0, speed <= 1e6 else {
      throw .badValue(option: Option.speed.long, value: text, expected: "a factor such as 1, 10 or 0.5, or max")
    }
    return .speed(speed)
  }
}
