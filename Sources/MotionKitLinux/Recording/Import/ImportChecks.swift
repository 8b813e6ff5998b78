import SensorFusion

/// Judges whether values can be what their unit says. It never changes a value: it asks.
enum ImportChecks {
  /// The specific force of a body near rest, m/s²: what the median of a log that people make lies in.
  static let possibleForce = 6.0...14.0
  /// A median rotation rate above this, rad/s, no hand and no vehicle keeps up.
  static let largestRotation = 35.0
  /// Air pressure from the deepest mine to 10 km, kPa.
  static let possiblePressure = 25.0...120.0
  /// Samples per second below which steps cannot be counted.
  static let slowestForSteps = 10.0

  static func median(_ values: [Double]) -> Double? {
    let sorted = values.filter(\.isFinite).sorted()
    return sorted.isEmpty ? nil : sorted[sorted.count / 2]
  }

  /// What a median length of acceleration looks like, for the question to the user.
  static func guess(force: Double) -> String {
    switch force {
    case 0.6...1.4: "looks like g"
    case possibleForce: "looks like m/s^2"
    case 600...1400: "looks like mg"
    default: "looks like raw counts; give a scale such as '0.000061 g'"
    }
  }

  static func guess(rotation: Double) -> String {
    rotation > largestRotation ? "looks like raw counts or deg/s" : "may be rad/s or deg/s"
  }

  static func guess(pressure: Double) -> String {
    for (unit, factor) in [("kPa", 1.0), ("hPa", 0.1), ("Pa", 0.001), ("0.1Pa", 0.0001)]
    where possiblePressure.contains(pressure * factor) {
      return "looks like \(unit)"
    }
    return "is no air pressure in any unit known"
  }
}
