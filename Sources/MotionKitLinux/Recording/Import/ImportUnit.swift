import SensorFusion

/// Units of foreign logs, as factors to the units of `SensorKind`.
enum ImportUnit {
  /// A unit's text in one spelling: lower case but for what matters, no spaces, one kind of µ, ² as 2.
  static func normalized(_ text: String) -> String {
    var result = ""
    for character in text.lowercased() {
      switch character {
      case " ", "^", "[", "]", "(", ")", "*", "·": continue
      case "²": result += "2"
      case "µ", "μ", "\u{FFFD}": result += "u"
      default: result.append(character)
      }
    }
    return result
  }

  private static let acceleration: [String: Double] = [
    "m/s2": 1, "m/s/s": 1, "ms-2": 1, "ms2": 1, "m_s2": 1, "m_per_s2": 1, "meters_per_s2": 1, "mps2": 1,
    "g": standardGravity, "gs": standardGravity, "gee": standardGravity, "mg": standardGravity / 1000,
  ]

  private static let rotation: [String: Double] = [
    "rad/s": 1, "rad_s": 1, "rads": 1, "rad_per_s": 1, "rads-1": 1, "radians/s": 1, "radians_per_s": 1,
    "deg/s": .pi / 180, "deg_s": .pi / 180, "degs": .pi / 180, "dps": .pi / 180, "°/s": .pi / 180,
    "deg_per_s": .pi / 180, "degrees/s": .pi / 180, "degrees_per_s": .pi / 180, "mdps": .pi / 180_000,
  ]

  private static let field: [String: Double] = [
    "ut": 1, "microteslas": 1, "microtesla": 1, "nt": 0.001, "mt": 1000, "t": 1e6, "gauss": 100, "mgauss": 0.1,
  ]

  private static let pressure: [String: Double] = [
    "kpa": 1, "kilopascals": 1, "hpa": 0.1, "mbar": 0.1, "millibar": 0.1, "hectopascals": 0.1, "pa": 0.001,
    "pascals": 0.001, "pascal": 0.001, "bar": 100, "atm": 101.325,
  ]

  private static let temperature: [String: Double] = ["c": 1, "°c": 1, "degc": 1, "celsius": 1]

  /// Decimal places of a time unit above the nanosecond.
  private static let time: [String: Int] = [
    "s": 9, "sec": 9, "secs": 9, "second": 9, "seconds": 9, "ms": 6, "msec": 6, "milliseconds": 6, "us": 3, "usec": 3,
    "microseconds": 3, "ns": 0, "nsec": 0, "nanoseconds": 0,
  ]

  static func table(_ quantity: ImportQuantity) -> [String: Double] {
    switch quantity {
    case .acceleration, .linearAcceleration, .gravity: acceleration
    case .rotation: rotation
    case .field: field
    case .pressure: pressure
    case .temperature: temperature
    }
  }

  /// The factor of a unit, with an optional number in front; nil if it is no unit of the quantity.
  static func factor(_ text: String, _ quantity: ImportQuantity) -> Double? {
    let unit = normalized(text)
    if let factor = table(quantity)[unit] { return factor }
    let number = unit.prefix { $0.isNumber || $0 == "." || $0 == "-" || $0 == "+" }
    // An exponent: the "e" must stand between digits.
    guard !number.isEmpty, let scale = Double(number), scale.isFinite, scale != 0,
      let factor = table(quantity)[String(unit.dropFirst(number.count))]
    else { return nil }
    return scale * factor
  }

  /// Decimal places of a time unit above the nanosecond; nil if it is none.
  static func timeDecimals(_ text: String) -> Int? { time[normalized(text)] }
}

/// What a column can measure.
enum ImportQuantity: String, Hashable, CaseIterable {
  case acceleration = "accel"
  case linearAcceleration = "linear acceleration"
  case gravity
  case rotation = "gyro"
  case field = "mag"
  case pressure
  case temperature
}
