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
      case "⁻": result += "-"
      case "¹": result += "1"
      case "µ", "μ", "\u{FFFD}": result += "u"
      default: result.append(character)
      }
    }
    return result
  }

  private static let acceleration: [String: Double] = [
    "m/s2": 1, "m/s/s": 1, "ms-2": 1, "ms2": 1, "m_s2": 1, "m_per_s2": 1, "meters_per_s2": 1, "mps2": 1,
    "m/s2s": 1, "m/sec2": 1, "m.s-2": 1, "m_s_2": 1, "ms_2": 1, "m_per_s_squared": 1, "m_per_sec2": 1,
    "meters_per_second_squared": 1, "m_per_s_per_s": 1, "mss": 1, "cm/s2": 0.01, "cm_s2": 0.01,
    "g": standardGravity, "gs": standardGravity, "gee": standardGravity, "gravity": standardGravity,
    "mg": standardGravity / 1000, "milli_g": standardGravity / 1000, "ug": standardGravity / 1_000_000,
  ]

  private static let rotation: [String: Double] = [
    "rad/s": 1, "rad_s": 1, "rads": 1, "rad_per_s": 1, "rads-1": 1, "radians/s": 1, "radians_per_s": 1,
    "deg/s": .pi / 180, "deg_s": .pi / 180, "degs": .pi / 180, "dps": .pi / 180, "°/s": .pi / 180,
    "deg_per_s": .pi / 180, "degrees/s": .pi / 180, "degrees_per_s": .pi / 180, "mdps": .pi / 180_000,
    "degps": .pi / 180, "deg/sec": .pi / 180, "deg_sec": .pi / 180, "deg_per_sec": .pi / 180, "°/sec": .pi / 180,
    "degrees/sec": .pi / 180, "degrees_per_second": .pi / 180, "mdeg/s": .pi / 180_000, "rad/sec": 1, "rad_sec": 1,
    "rad_per_sec": 1, "radps": 1, "rad.s-1": 1, "mrad/s": 0.001, "radians_per_second": 1, "rpm": .pi / 30,
  ]

  private static let field: [String: Double] = [
    "ut": 1, "microteslas": 1, "microtesla": 1, "nt": 0.001, "mt": 1000, "t": 1e6, "gauss": 100, "mgauss": 0.1,
    "milligauss": 0.1, "g": 100, "gs": 100, "mg": 0.1, "nanotesla": 0.001, "micro_tesla": 1, "tesla": 1e6,
  ]

  private static let pressure: [String: Double] = [
    "kpa": 1, "kilopascals": 1, "hpa": 0.1, "mbar": 0.1, "millibar": 0.1, "hectopascals": 0.1, "pa": 0.001,
    "pascals": 0.001, "pascal": 0.001, "bar": 100, "atm": 101.325, "millibars": 0.1, "mb": 0.1,
    // A millimetre and an inch of mercury, a pound-force on a square inch.
    "mmhg": 0.133_322_387_415, "mm_hg": 0.133_322_387_415, "torr": 0.133_322_368_421, "inhg": 3.386_388_640,
    "in_hg": 3.386_388_640, "psi": 6.894_757_293,
  ]

  private static let temperature: [String: Double] = [
    "c": 1, "°c": 1, "degc": 1, "celsius": 1, "k": 1, "kelvin": 1, "f": 5 / 9, "°f": 5 / 9, "degf": 5 / 9,
    "fahrenheit": 5 / 9,
  ]

  /// What a temperature in a unit reads at 0 °C: 273.15 K, 32 °F.
  static func zeroCelsius(in unit: String) -> Double {
    switch normalized(unit) {
    case "k", "kelvin": 273.15
    case "f", "°f", "degf", "fahrenheit": 32
    default: 0
    }
  }

  /// Whether a line below the names holds their units: those that are known, others of sensors' logs, or nothing.
  static func isRowOfUnits(_ cells: [String]) -> Bool {
    func isKnown(_ cell: String) -> Bool {
      timeDecimals(cell) != nil || ImportQuantity.allCases.contains { factor(cell, $0) != nil }
    }
    let others: Set<String> = [
      "", "-", "n/a", "na", "none", "txt", "text", "hz", "deg", "°", "rad", "%", "m", "v", "mv", "lux",
    ]
    return cells.contains { isKnown($0) } && cells.allSatisfy { isKnown($0) || others.contains(normalized($0)) }
  }

  /// Decimal places of a time unit above the nanosecond.
  private static let time: [String: Int] = [
    "s": 9, "sec": 9, "secs": 9, "second": 9, "seconds": 9, "ms": 6, "msec": 6, "milliseconds": 6, "us": 3, "usec": 3,
    "microseconds": 3, "ns": 0, "nsec": 0, "nanoseconds": 0, "millis": 6, "msecs": 6, "millisecond": 6, "micros": 3,
    "usecs": 3, "microsecond": 3, "nanos": 0, "nsecs": 0, "nanosecond": 0, "0.1ms": 5,
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
