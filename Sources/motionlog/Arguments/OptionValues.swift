import SensorFusion

/// Reads the values of options; every failure names the option and what it takes.
enum OptionValues {
  /// A time such as `10s`, `1.5m`, `2h`, `250ms` or `90` (seconds), in seconds.
  static func duration(_ text: String, option: Option) throws(UsageError) -> Double {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
    var number = text[...]
    var factor = 1.0
    if let unit = units.first(where: { text.hasSuffix($0.suffix) }) {
      number = text.dropLast(unit.suffix.count)
      factor = unit.seconds
    }
    // A year: longer is a slip of the keyboard, and far from the limits of 64-bit nanoseconds.
    let longest = 366.0 * 86400
    guard let value = decimal(number), value > 0, value * factor <= longest else {
      throw .badValue(option: option.long, value: text, expected: "a time such as 10s, 5m or 2h")
    }
    return value * factor
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

  /// A list `sensor=value,…`.
  static func pairs(_ text: String, option: Option) throws(UsageError) -> [SensorKind: String] {
    var pairs: [SensorKind: String] = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[1].isEmpty else {
        throw .badValue(option: option.long, value: String(part), expected: "SENSOR=VALUE, for example accel=bmi160")
      }
      pairs[try sensor(sides[0], option: option)] = String(sides[1])
    }
    return pairs
  }

  /// A list `name=text,…`.
  static func labels(_ text: String, option: Option) throws(UsageError) -> [String: String] {
    var labels: [String: String] = [:]
    for part in text.split(separator: ",") {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[0].isEmpty else {
        throw .badValue(option: option.long, value: String(part), expected: "NAME=TEXT, for example place=pocket")
      }
      labels[String(sides[0])] = String(sides[1])
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
          each[kind] = try rate(value[...], option: option)
        }
      } else {
        common = try rate(part, option: option)
      }
    }
    return (common, each)
  }

  private static func rate(_ text: Substring, option: Option) throws(UsageError) -> Double {
    // No IIO motion sensor samples faster than some ten kilohertz.
    guard let value = decimal(text), value > 0, value <= 100_000 else {
      throw .badValue(option: option.long, value: String(text), expected: "samples per second, above 0")
    }
    return value
  }
}
