import MotionKitLinux
import SensorFusion

/// Reads the values of options; every failure names the option and what it takes.
enum OptionValues {
  /// A time such as `10s`, `1.5m`, `2h`, `250ms` or `90` (seconds), in seconds.
  static func duration(
    _ text: String, option: Option, mayBeZero: Bool = false
  ) throws(UsageError) -> Double {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
    var number = text[...]
    var factor = 1.0
    if let unit = units.first(where: { text.hasSuffix($0.suffix) }) {
      number = text.dropLast(unit.suffix.count)
      factor = unit.seconds
    }
    guard let value = decimal(number), times.contains(value * factor) || (mayBeZero && value == 0) else {
      throw .badValue(
        option: option.long, value: text, expected: "a time such as 10s, 5m or 2h, from 1ms to 8784h (a year)")
    }
    return value * factor
  }

  /// A size such as `100MB`, `64kB` or `1GiB`, in bytes, in small or capital letters. The B is needed: `10m` is ten
  /// minutes.
  static func size(_ text: String, option: Option, orTime: Bool = false) throws(UsageError) -> Int64 {
    let units: [(suffix: String, bytes: Double)] = [
      ("kib", 1024), ("mib", 1_048_576), ("gib", 1_073_741_824), ("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12),
      ("b", 1),
    ]
    let lower = text.lowercased()
    guard let unit = units.first(where: { lower.hasSuffix($0.suffix) }),
      let value = decimal(text.dropLast(unit.suffix.count)), value > 0, value * unit.bytes < 1e18
    else {
      let time = orTime ? ", or a time such as 10m or 1h" : ""
      throw .badValue(option: option.long, value: text, expected: "a size such as 500kB, 100MB or 2GB" + time)
    }
    return Int64(value * unit.bytes)
  }

  /// The size or the length of the parts of a recording. A number alone is seconds, as everywhere.
  static func rotation(_ text: String, option: Option) throws(UsageError) -> SessionWriter.Rotation {
    if text.lowercased().hasSuffix("b") {
      let bytes = try size(text, option: option, orTime: true)
      guard bytes >= leastPartSize else {
        throw .badValue(option: option.long, value: text, expected: "at least 10kB or 1s")
      }
      return .bytes(bytes)
    }
    guard let seconds = try? duration(text, option: option) else {
      throw .badValue(option: option.long, value: text, expected: "a time such as 10m or 1h, or a size such as 100MB")
    }
    guard seconds >= leastPartTime else {
      throw .badValue(option: option.long, value: text, expected: "at least 10kB or 1s")
    }
    return .seconds(seconds)
  }

  /// Each part has a session.json and ten files with a header: some kilobytes.
  private static let leastPartSize: Int64 = 10_000
  /// Seconds.
  private static let leastPartTime = 1.0

  /// What is not within these is a slip of the keyboard; all that is lies far within 64-bit nanoseconds.
  ///
  /// Durations and intervals, seconds: a millisecond to a year.
  private static let times = 0.001...(366.0 * 86400)
  /// Samples or rows per second: one in a quarter of an hour to more than any IIO motion sensor gives.
  private static let rates = 0.001...100_000.0

  /// Samples or rows per second.
  static func rate(_ text: Substring, of what: String = "samples", option: Option) throws(UsageError) -> Double {
    guard let value = decimal(text), rates.contains(value) else {
      throw .badValue(
        option: option.long, value: String(text), expected: "\(what) per second, such as 100 (from 0.001 to 100000)")
    }
    return value
  }

  /// A factor of a source's own speed, or `max`.
  static func pacing(_ text: String, option: Option) throws(UsageError) -> Pacing {
    if text == "max" { return .unpaced }
    guard let speed = decimal(text[...]), Pacing.speeds.contains(speed) else {
      throw .badValue(
        option: option.long, value: text, expected: "a factor such as 1, 10 or 0.5 (from 0.001 to 1000000), or max")
    }
    return .speed(speed)
  }

  /// An angle in degrees.
  static func degrees(
    _ text: String, within range: ClosedRange<Double>, option: Option
  ) throws(UsageError) -> Double {
    guard let value = decimal(text[...]), range.contains(value) else {
      throw .badValue(
        option: option.long, value: text,
        expected: "degrees from \(Format.short(range.lowerBound)) to \(Format.short(range.upperBound))")
    }
    return value
  }

  /// A finite decimal number. Not `Double(_:)` alone, which also takes `0x10`, `nan` and `infinity`.
  static func decimal(_ text: Substring) -> Double? {
    let allowed = text.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
    }
    guard allowed, let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// A sensor by any of its usual names.
  static func sensor(_ text: Substring, option: Option) throws(UsageError) -> SensorKind {
    switch text {
    case "accel", "accelerometer", "acc": return .accelerometer
    case "gyro", "gyroscope": return .gyroscope
    case "mag", "magn", "magnetometer": return .magnetometer
    case "baro", "barometer", "press", "pressure": return .barometer
    case "steps", "stepcounter": return .stepCounter
    default:
      throw .badValue(option: option.long, value: String(text), expected: "accel, gyro, mag, baro or steps")
    }
  }

  /// A list of sensors.
  static func sensors(_ text: String, option: Option) throws(UsageError) -> Set<SensorKind> {
    var kinds: Set<SensorKind> = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      kinds.insert(try sensor(word, option: option))
    }
    return kinds
  }

  /// Two values for one thing: which of them was meant is not to be guessed.
  static func twice(_ what: String, _ option: Option) -> UsageError {
    .conflict("option \(option.long): \(what) is given twice")
  }

  /// A list `sensor=value,…`.
  static func pairs(_ text: String, option: Option) throws(UsageError) -> [SensorKind: String] {
    var pairs: [SensorKind: String] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[1].isEmpty else {
        throw .badValue(option: option.long, value: String(part), expected: "SENSOR=VALUE, for example accel=bmi160")
      }
      let kind = try sensor(sides[0], option: option)
      guard pairs.updateValue(String(sides[1]), forKey: kind) == nil else { throw twice(kind.name, option) }
    }
    return pairs
  }

  /// A list `name=text,…`. A comma in a text is one where no name stands behind it: `note=left pocket, upside down`.
  static func labels(_ text: String, option: Option) throws(UsageError) -> [String: String] {
    var labels: [String: String] = [:]
    var newest: String?
    for part in text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if let name = newest, sides.count == 1 || sides[0].isEmpty || sides[0].contains(where: \.isWhitespace) {
        labels[name, default: ""] += "," + part
        continue
      }
      guard sides.count == 2, !sides[0].isEmpty else {
        throw .badValue(option: option.long, value: String(part), expected: "NAME=TEXT, for example place=pocket")
      }
      newest = String(sides[0])
      guard labels.updateValue(String(sides[1]), forKey: String(sides[0])) == nil else {
        throw twice("'\(sides[0])'", option)
      }
    }
    return labels
  }

  /// Rates: `200`, `mag=100,baro=25`, or both as `200,mag=100`.
  static func rates(
    _ text: String, option: Option
  ) throws(UsageError) -> (common: Double?, each: [SensorKind: Double]) {
    var common: Double?
    var each: [SensorKind: Double] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      if part.contains("=") {
        for (kind, value) in try pairs(String(part), option: option) {
          guard each.updateValue(try rate(value[...], option: option), forKey: kind) == nil else {
            throw twice(kind.name, option)
          }
        }
      } else {
        guard common == nil else { throw twice("the rate of all sensors", option) }
        common = try rate(part, option: option)
      }
    }
    return (common, each)
  }
}
