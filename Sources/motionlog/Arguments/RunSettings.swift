import Glibc
import MotionKitLinux
import SensorFusion

/// The options that commands share, read once.
struct RunSettings {
  /// How an earth frame was asked for.
  enum Frame {
    /// Magnetic north with a magnetometer, arbitrary without.
    case automatic
    /// This one.
    case chosen(ReferenceFrame)
  }

  /// Where samples come from.
  var source: String
  /// The sensors named; nil for all that are there.
  var sensors: Set<SensorKind>?
  /// The rate of all sensors, where given.
  var commonRate: Double?
  /// Rates of single sensors.
  var rates: [SensorKind: Double] = [:]
  /// Chosen devices.
  var devices: [SensorKind: String] = [:]
  /// The trigger for devices without one.
  var trigger = ""
  /// How long devices may gather samples before they hand them over, seconds; 0 for the source's own choice.
  var reportLatency = 0.0
  /// Whether anything is computed from the samples.
  var isRaw = false
  /// The earth frame.
  var frame: Frame
  /// Seconds to run; nil without limit.
  var duration: Double?
  /// Seconds between lines; nil for the command's default.
  var interval: Double?
  /// The part of a recording to replay.
  var range = ReplayRange()
  /// The calibrations to compute with.
  var calibration = CalibrationChoice.automatic
  /// Whether to print JSON.
  var isJSON: Bool
  /// Where steps and climbs go.
  var history = HistoryChoice.none

  /// Reads the options; a session directory or another source may take the place of `--source`.
  init(
    _ arguments: ParsedArguments, recording directory: String? = nil, source named: String? = nil
  ) throws(UsageError) {
    source = directory.map { "file:" + $0 } ?? named ?? arguments[.source] ?? Self.defaultSource
    if let text = arguments[.sensors] { sensors = try OptionValues.sensors(text, option: .sensors) }
    if let text = arguments[.rate] { (commonRate, rates) = try OptionValues.rates(text, option: .rate) }
    if let text = arguments[.device] { devices = try OptionValues.pairs(text, option: .device) }
    trigger = arguments[.trigger] ?? ""
    if ["file:", "sim:"].contains(where: source.hasPrefix) {
      if arguments.has(.trigger) { throw .conflict("option --trigger is for devices; \(source) has no triggers") }
      if arguments.has(.device) {
        throw .conflict("option --device chooses among devices; \(source) has at most one sensor of a kind")
      }
    }
    if case .iio? = try? SourceURI(source), arguments.has(.speed), arguments[.speed] != "1" {
      throw .conflict("option --speed is for recordings and scenes; \(source) keeps its own time")
    }
    frame = try Self.frame(arguments)
    if let text = arguments[.duration] { duration = try OptionValues.duration(text, option: .duration) }
    if let text = arguments[.interval] { interval = try OptionValues.duration(text, option: .interval) }
    if let text = arguments[.calibration] {
      guard !text.isEmpty else {
        throw .badValue(option: Option.calibration.long, value: text, expected: "none, learn or a file")
      }
      calibration = text == "none" ? .none : text == "learn" ? .learning : .file(text)
    }
    isJSON = arguments.has(.json)
    if let text = arguments[.from] { range.from = try OptionValues.duration(text, option: .from, mayBeZero: true) }
    if let text = arguments[.until] {
      let end = try OptionValues.duration(text, option: .until)
      guard end > range.from else { throw .conflict("option --until must lie behind --from") }
      range.to = end
    }
    range.loops = arguments.has(.loop)
  }

  /// What `MOTIONKIT_SOURCE` says, else the devices of this machine.
  static var defaultSource: String {
    guard let named = Terminal.environment("MOTIONKIT_SOURCE"), !named.isEmpty else { return "local:" }
    return named
  }

  private static func frame(_ arguments: ParsedArguments) throws(UsageError) -> Frame {
    let declination = try declination(arguments)
    let name = arguments[.frame]
    guard declination == nil || name == "true" || name == nil else {
      throw .conflict("options --declination, --latitude and --longitude only go with --frame true")
    }
    switch name {
    case nil:
      return declination.map { .chosen(.trueNorth(declination: $0)) } ?? .automatic
    case "arbitrary": return .chosen(.arbitrary)
    case "corrected": return .chosen(.arbitraryCorrected)
    case "magnetic": return .chosen(.magneticNorth)
    case "true":
      guard let declination = declination ?? MagneticDeclination.current else {
        // A variable of the environment that cannot be used, if that is why.
        let problem = MagneticDeclination.problem
        throw .conflict(
          problem == MagneticDeclination.missing
            ? "option --frame true also needs --declination DEG, or --latitude DEG and --longitude DEG" : problem)
      }
      return .chosen(.trueNorth(declination: declination))
    case .some(let other):
      throw .badValue(option: Option.frame.long, value: other, expected: "arbitrary, corrected, magnetic or true")
    }
  }

  /// Radians from true to magnetic north, as given or computed from the place; nil where neither was given.
  private static func declination(_ arguments: ParsedArguments) throws(UsageError) -> Double? {
    if let text = arguments[.declination] {
      guard !arguments.has(.latitude), !arguments.has(.longitude) else {
        throw .conflict("options --declination and --latitude, --longitude exclude each other")
      }
      return try OptionValues.degrees(text, within: -180...180, option: .declination) * .pi / 180
    }
    switch (arguments[.latitude], arguments[.longitude]) {
    case (nil, nil): return nil
    case (let latitude?, let longitude?):
      let place = GeographicLocation(
        latitude: try OptionValues.degrees(latitude, within: -90...90, option: .latitude),
        longitude: try OptionValues.degrees(longitude, within: -180...360, option: .longitude))
      return place.declination(year: currentYear)
    default: throw .conflict("options --latitude and --longitude go together")
    }
  }

  /// The year with its fraction: magnetic north moves.
  private static var currentYear: Double {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    return Double(parts.tm_year) + 1900 + Double(parts.tm_yday) / 365.25
  }

  // MARK: What they mean

  /// Samples per second where nothing was asked: what a phone's apps commonly use.
  private static let defaultRate = 100.0
  /// Faster than this a magnetometer only brings noise.
  private static let magnetometerLimit = 50.0
  /// Faster than this a barometer only brings noise.
  private static let barometerLimit = 25.0

  /// What to ask the source for.
  var request: SensorRequest {
    var wanted: [SensorKind: Double] = [:]
    for kind in SensorKind.allCases where sensors?.contains(kind) ?? true {
      wanted[kind] = rates[kind] ?? defaultRate(of: kind)
    }
    return SensorRequest(
      rates: wanted, required: sensors ?? [], devices: devices, trigger: trigger, reportLatency: reportLatency)
  }

  private func defaultRate(of kind: SensorKind) -> Double {
    let rate = commonRate ?? Self.defaultRate
    switch kind {
    case .accelerometer, .gyroscope: return rate
    case .magnetometer: return min(rate, Self.magnetometerLimit)
    case .barometer: return min(rate, Self.barometerLimit)
    case .stepCounter: return 0
    }
  }

  /// The earth frame for the sensors that were started.
  func referenceFrame(for description: SourceDescription) -> ReferenceFrame {
    switch frame {
    case .chosen(let frame): frame
    case .automatic: description.sensor(.magnetometer) == nil ? .arbitrary : .magneticNorth
    }
  }
}
