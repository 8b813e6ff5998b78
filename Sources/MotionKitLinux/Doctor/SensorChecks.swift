import SensorFusion

/// What a few seconds of samples mean: the rates that are reached, and whether what is measured can be.
struct SensorChecks {
  /// A rate this far below the one that was set is reported, as a share.
  static let rateTolerance = 0.05
  /// Intervals that scatter by this share of the period are reported.
  static let jitterTolerance = 0.2
  /// Gravity at rest, m/s²: what a part may be off by from the factory (0.05 g), and what is left after that for one
  /// that is only badly calibrated (0.15 g).
  static let goodGravity = 9.31...10.30
  static let poorGravity = 8.33...11.28
  /// A rotation rate at rest, rad/s: 1 °/s is usual; 20 °/s is the worst that data sheets allow.
  static let goodBias = 0.02
  static let poorBias = 0.35
  /// The earth's field is 22 to 67 µT (World Magnetic Model 2025).
  static let goodField = 20.0...70.0
  /// With iron or a magnet near; beyond that the scale is wrong.
  static let poorField = 5.0...500.0
  /// Air pressure from Everest to the lowest mines, kPa.
  static let goodPressure = 30.0...110.0
  /// What electronics stand, °C.
  static let goodTemperature = -40.0...85.0
  /// Standard deviations above which the board is being moved: m/s² and rad/s.
  static let stillAcceleration = 0.35
  static let stillRotation = 0.05
  /// So many samples without the smallest change are no accident.
  static let frozenCount = 20

  /// Sensors that were measured together.
  var measurements: [SensorMeasurement]

  /// Whether the board lay still meanwhile; nil where neither accelerometer nor gyroscope can tell.
  var isStill: Bool? {
    var answer: Bool?
    for measurement in measurements where measurement.count > 1 {
      let deviation = measurement.deviation.norm
      switch measurement.sensor.kind {
      case .accelerometer: answer = (answer ?? true) && deviation < Self.stillAcceleration
      case .gyroscope: answer = (answer ?? true) && deviation < Self.stillRotation
      default: break
      }
    }
    return answer
  }

  /// Everything that is to be said of these sensors.
  func findings() -> [Finding] { measurements.flatMap { rateFindings($0) + valueFindings($0) + noteFindings($0) } }

  // MARK: - Rates

  private func rateFindings(_ m: SensorMeasurement) -> [Finding] {
    guard m.count > 1 else {
      return [
        Finding(
          .fault, .rates, m.title, m.count == 0 ? "brings no sample" : "brought one sample and no more",
          fixes: silenceFixes(m.sensor))
      ]
    }
    var findings: [Finding] = []
    let rate = m.timing.rate
    let set = m.sensor.rate
    let capture = m.sensor.capture.isEmpty ? "" : ", \(m.sensor.capture)"
    let jitter = m.timing.jitter
    let reached = "delivers \(shortNumber(rate)) samples a second\(capture)"
    if set > 0, rate < set * (1 - Self.rateTolerance) {
      findings.append(
        Finding(.warning, .rates, m.title, "\(reached), where \(shortNumber(set)) are set", fixes: slowFixes(m.sensor)))
    } else if m.wantedRate > 0, rate < m.wantedRate * (1 - Self.rateTolerance) {
      let offered = m.sensor.availableRates.map { shortNumber($0) }.joined(separator: " ")
      findings.append(
        Finding(
          .note, .rates, m.title, "\(reached); \(shortNumber(m.wantedRate)) were asked for",
          fixes: offered.isEmpty ? [] : ["it offers \(offered) Hz"]))
    } else {
      findings.append(Finding(.good, .rates, m.title, reached))
    }
    if m.missing > 0 {
      findings.append(
        Finding(
          .warning, .rates, m.title, "\(m.missing) of \(m.count + m.missing) samples are missing",
          fixes: [
            "a slower rate, fewer programs that read the same device, a less busy machine;",
            "over the network: read on the board itself",
          ]))
    }
    if rate > 0, jitter * rate > Self.jitterTolerance {
      findings.append(
        Finding(
          .note, .rates, m.title,
          "intervals scatter by \(shortNumber(jitter * 1000)) ms around \(shortNumber(1000 / rate)) ms",
          fixes: m.sensor.capture == "polled" ? ["a trigger stamps more evenly than polling (docs/IIO.md)"] : []))
    }
    return findings
  }

  private func silenceFixes(_ sensor: SensorDescription) -> [String] {
    sensor.capture.hasPrefix("trigger ")
      ? ["does \(sensor.capture) fire, and does it serve others? try --trigger none", "dmesg may say more"]
      : ["dmesg may say more; unplug and plug the sensor, or unload and load its module"]
  }

  private func slowFixes(_ sensor: SensorDescription) -> [String] {
    if sensor.capture == "polled" {
      return [
        "reading takes longer than a period: ask for less with --rate, or give the device a trigger (docs/IIO.md)"
      ]
    }
    if sensor.capture.hasPrefix("trigger ") {
      return ["the timer or the bus cannot keep up: a lower --rate, a faster bus (clock-frequency in the device tree)"]
    }
    return ["the chip runs slower than it admits; what it really delivers is recorded"]
  }

  // MARK: - Values

  private func valueFindings(_ m: SensorMeasurement) -> [Finding] {
    guard m.count > 0 else { return [] }
    var findings: [Finding]
    switch m.sensor.kind {
    case .accelerometer: findings = [gravity(m)]
    case .gyroscope: findings = [rotation(m)]
    case .magnetometer: findings = [field(m)]
    case .barometer: findings = air(m)
    default: return []
    }
    if m.clipped > 0 {
      findings.append(
        Finding(
          .warning, .values, m.title,
          "\(m.clipped) samples lie at the end of its range, ±\(shortNumber(m.sensor.range)) \(m.sensor.kind.symbol)",
          fixes: ["a larger range: write one of scale_available into the sensor's scale (motionlog devices -v)"]))
    }
    if m.count >= Int64(Self.frozenCount), m.deviation.norm == 0 {
      findings.append(
        Finding(
          .note, .values, m.title,
          "\(m.count) samples without the smallest change: it sleeps, is simulated, or counts coarsely"
        ))
    }
    return findings
  }

  private func gravity(_ m: SensorMeasurement) -> Finding {
    let isStill = isStill ?? false
    let value = isStill ? m.mean.norm : m.meanMagnitude
    let reads = "reads \(shortNumber(value)) m/s²"
    if Self.goodGravity.contains(value) {
      return Finding(.good, .values, m.title, "\(reads)\(isStill ? " at rest" : " while it is moved")")
    }
    if !isStill {
      // Walking and shaking leave the mean near gravity; a wrong scale does not.
      guard value < 0.6 * 9.81 || value > 2 * 9.81 else {
        return Finding(
          .note, .values, m.title, "\(reads), but the board was moved", fixes: ["lay it down and examine it again"])
      }
    } else if Self.poorGravity.contains(value) {
      return Finding(
        .warning, .values, m.title, "\(reads) at rest, where gravity is 9.81",
        fixes: ["motionlog calibrate accel"])
    }
    return Finding(
      .fault, .values, m.title, "\(reads) \(isStill ? "at rest" : "on the whole"), where gravity is 9.81",
      fixes: [Self.guess(value / 9.80665, zero: m.mean.norm == 0), scaleFix(m)])
  }

  private func rotation(_ m: SensorMeasurement) -> Finding {
    let value = m.mean.norm
    let reads = "reads \(shortNumber(value)) rad/s"
    guard isStill ?? false else {
      return Finding(
        .note, .values, m.title, "\(reads), but the board was moved", fixes: ["lay it down and examine it again"])
    }
    if value <= Self.goodBias { return Finding(.good, .values, m.title, "\(reads) at rest") }
    if value <= Self.poorBias {
      return Finding(
        .warning, .values, m.title, "\(reads) at rest; heading drifts until that is known",
        fixes: ["motionlog calibrate gyro"])
    }
    return Finding(
      .fault, .values, m.title, "\(reads) at rest, more than any part is off by",
      fixes: ["its scale may be in °/s, or the part is damaged", scaleFix(m)])
  }

  private func field(_ m: SensorMeasurement) -> Finding {
    let value = isStill ?? false ? m.mean.norm : m.meanMagnitude
    let reads = "reads \(shortNumber(value)) µT"
    if Self.goodField.contains(value) { return Finding(.good, .values, m.title, reads) }
    if Self.poorField.contains(value) {
      return Finding(
        .warning, .values, m.title,
        "\(reads), where the earth's field is 20 to 70: iron, a magnet or a current is near",
        fixes: ["move it away from iron and cables, then: motionlog calibrate mag"])
    }
    return Finding(
      .fault, .values, m.title, "\(reads), where the earth's field is 20 to 70",
      fixes: [Self.guess(value / 45, zero: value == 0), scaleFix(m)])
  }

  private func air(_ m: SensorMeasurement) -> [Finding] {
    var findings: [Finding] = []
    let value = m.mean.x
    let reads = "reads \(shortNumber(value * 10)) hPa"
    if Self.goodPressure.contains(value) {
      findings.append(Finding(.good, .values, m.title, reads))
    } else {
      findings.append(
        Finding(
          .fault, .values, m.title, "\(reads), where air has 300 to 1100",
          fixes: [Self.guess(value / 100, zero: value == 0), scaleFix(m)]))
    }
    // 0 stands for a temperature that is not measured.
    if m.mean.y != 0, !Self.goodTemperature.contains(m.mean.y) {
      findings.append(
        Finding(.warning, .values, m.title, "its thermometer reads \(shortNumber(m.mean.y)) °C", fixes: [scaleFix(m)]))
    }
    return findings
  }

  /// What a value that is so many times too large may come from.
  static func guess(_ ratio: Double, zero: Bool) -> String {
    if zero { return "it reads exactly zero: it sleeps, or its driver does not get at it; dmesg may say more" }
    let known: [(factor: Double, tolerance: Double, text: String)] = [
      (0.1, 0.06, "a tenth: the driver counts in g, or loses a digit as amd_sfh does"),
      (10, 0.06, "ten times: a wrong power of ten in the driver"),
      (0.01, 0.5, "a hundredth: the driver prints gauss for µT, or milligauss for gauss, as hmc5843 does"),
      (100, 0.5, "a hundred times: a wrong power of ten in the driver"),
      (1000, 0.5, "a thousand times: a driver in thousandths of the unit"),
      (0.001, 0.5, "a thousandth: a driver in thousands of the unit"),
      (2, 0.15, "twice: another range is set in the chip than the scale says"),
      (0.5, 0.15, "half: another range is set in the chip than the scale says"),
      (4, 0.15, "four times: another range is set in the chip than the scale says"),
      (0.25, 0.15, "a quarter: another range is set in the chip than the scale says"),
      (8, 0.1, "eight times: another range is set in the chip than the scale says"),
      (0.125, 0.1, "an eighth: another range is set in the chip than the scale says"),
    ]
    let match = known.first { abs(ratio / $0.factor - 1) <= $0.tolerance }
    return match.map { "this is about " + $0.text } ?? "its scale, offset or range is wrong"
  }

  private func scaleFix(_ m: SensorMeasurement) -> String {
    let scale = m.sensor.attributes.first { $0.name == "scale" }.map { " (\($0.value))" } ?? ""
    let driver = m.sensor.driver.isEmpty ? "its driver" : m.sensor.driver
    return "compare the scale\(scale) with the data sheet and report it to the maintainers of \(driver)"
  }

  /// What was noticed when the sensor was found: quirks that were put right, matrices that were refused.
  private func noteFindings(_ m: SensorMeasurement) -> [Finding] {
    m.sensor.attributes.filter { $0.name == "note" }.map { note in
      let isMatrix = note.value.contains("is not a rotation")
      return Finding(isMatrix ? .warning : .note, .values, m.title, note.value)
    }
  }
}

/// A number in at most four significant digits, without an exponent where it is neither tiny nor huge.
func shortNumber(_ value: Double) -> String {
  guard value.isFinite, value != 0 else { return value == 0 ? "0" : "\(value)" }
  let magnitude = abs(value)
  guard magnitude >= 1e-6, magnitude < 1e9 else { return "\(value)" }
  var step = 1.0
  while magnitude / step >= 10_000 { step *= 10 }
  var digits = 1.0
  while magnitude * digits < 1000, digits < 1e9 { digits *= 10 }
  if step > 1 { return plainNumber((value / step).rounded() * step) }
  let rounded = (value * digits).rounded() / digits
  return plainNumber(rounded)
}

extension SensorKind {
  /// The unit's symbol.
  var symbol: String {
    switch self {
    case .accelerometer: "m/s²"
    case .gyroscope: "rad/s"
    case .magnetometer: "µT"
    case .barometer: "kPa"
    default: ""
    }
  }
}
