/// What a column's name says about it.
struct ImportColumn: Equatable {
  enum Role: Equatable {
    /// A component of a quantity: axis 0, 1, 2, or 0 for a scalar.
    case value(ImportQuantity, axis: Int, isUncalibrated: Bool)
    /// A time; a smaller rank is a better clock (see `timeRank`).
    case time(rank: Int)
    /// The number of a row.
    case index
    /// The place of a row in a batch that has one time.
    case batchIndex
    /// Text that a person wrote.
    case note
    /// An axis without a quantity: the file's name or the user must tell it.
    case bareAxis(Int)
    case unknown
  }

  /// How good a time column is for the order and distance of samples.
  enum TimeRank {
    static let monotonic = 0
    static let interrupt = 1
    static let plain = 2
    static let elapsed = 3
    static let wall = 4
  }

  var name: String
  var role: Role
  /// The unit as the header has it; nil where it has none.
  var unit: String?

  /// Reads a column's name. `unit` is that of a row of units below the names; empty where there is none.
  init(name: String, unit below: String = "") {
    self.name = name
    let (title, bracketed) = Self.splitUnit(name)
    var words = Self.words(title)
    var unit = bracketed
    if unit == nil { unit = Self.takeUnit(from: &words) }
    if !below.isEmpty { unit = below }
    // `millis`, `us`: a clock's name is its unit.
    if unit == nil, words.count == 1, ImportUnit.timeDecimals(words[0]) != nil, words[0].count > 1 {
      unit = words[0]
      words = ["time"]
    }
    role = Self.role(words, hasDateText: unit.map { Self.isDateText($0) } ?? false)
    self.unit = unit.flatMap { Self.isDateText($0) ? nil : $0 }
  }

  /// `Title (unit)`, `Title [unit]`, `title(unit)`, `Title in unit`.
  private static func splitUnit(_ name: String) -> (title: String, unit: String?) {
    var text = Substring(name)
    while text.last?.isWhitespace == true { text.removeLast() }
    if let last = text.last, last == ")" || last == "]",
      let open = text.lastIndex(where: { $0 == (last == ")" ? "(" : "[") })
    {
      let unit = text[text.index(after: open)..<text.index(before: text.endIndex)]
      // AndroSensor writes `( m)` and `(pitch °)`.
      return (String(text[..<open]), unit.isEmpty ? nil : String(unit))
    }
    let lower = text.lowercased()
    for unit in ["ms", "s", "us", "ns", "seconds"] where lower.hasSuffix(" in " + unit) {
      return (String(text.dropLast(unit.count + 4)), unit)
    }
    return (String(text), nil)
  }

  /// Lower-case words: split at what is no letter or digit, and at capitals after small letters.
  static func words(_ title: String) -> [String] {
    var words: [String] = []
    var word = ""
    var previousIsSmall = false
    for character in title {
      let isWordPart = character.isLetter || character.isNumber
      if !isWordPart || (character.isUppercase && previousIsSmall) {
        if !word.isEmpty { words.append(word) }
        word = ""
      }
      if isWordPart { word += character.lowercased() }
      previousIsSmall = character.isLowercase || character.isNumber
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  /// Words of the longest unit that is spelled out, `meters per second squared`.
  private static let longestUnit = 5

  /// Takes a unit off the end of names such as `raw_angular_rate_x_deg_per_s` and `x_m_s2`.
  private static func takeUnit(from words: inout [String]) -> String? {
    for length in stride(from: min(Self.longestUnit, words.count - 1), through: 1, by: -1) {
      func isKnown(_ unit: String) -> Bool {
        ImportUnit.timeDecimals(unit) != nil || ImportQuantity.allCases.contains { ImportUnit.table($0)[unit] != nil }
      }
      var unit = words.suffix(length).joined(separator: "_")
      // `nT` and `inHg` have a capital inside, which begins a word.
      if length == 2, !isKnown(unit) { unit = words.suffix(length).joined() }
      // A last `f` or `k` is a unit of temperatures only.
      if unit == "f" || unit == "k", Set(words).isDisjoint(with: ["temp", "temperature"]) { continue }
      // A last `g` or `t` after an axis is a unit, alone it is a name; a last `s` may be a plural.
      guard isKnown(unit) else { continue }
      words.removeLast(length)
      return unit
    }
    return nil
  }

  private static func isDateText(_ unit: String) -> Bool { ["txt", "text", "date"].contains(unit.lowercased()) }

  private static let ignoredWords: Set<String> = [
    "est", "estimated", "predicted", "orientation", "absolute", "norm", "total", "magnitude", "location", "attitude",
    "quaternion", "velocity", "position", "accuracy", "bias", "std", "altitude", "azimuth", "pitch", "roll", "yaw",
    "heading", "speed", "latitude", "longitude", "light", "sound", "proximity", "sea",
  ]

  private static func role(_ words: [String], hasDateText: Bool) -> Role {
    guard let last = words.last else { return .unknown }
    let all = Set(words)
    if let time = timeRole(words, all, hasDateText: hasDateText) { return time }
    if all.isSubset(of: ["note", "notes", "annotation", "comment", "text", "label", "mark", "marker"]) { return .note }
    if words == ["index", "in", "batch"] || words == ["batch", "index"] { return .batchIndex }
    if ["sample", "samples", "index", "packet", "counter", "row"].contains(last), words.count <= 2 { return .index }
    // An angular velocity is a rotation rate, any other velocity is not for us.
    let isAngularVelocity = all.isSuperset(of: ["angular", "velocity"])
    if !all.subtracting(isAngularVelocity ? ["velocity"] : []).isDisjoint(with: ignoredWords) { return .unknown }
    if all.contains("pressure") || all.contains("baro") || all.contains("barometer") || words == ["p"] {
      return .value(.pressure, axis: 0, isUncalibrated: false)
    }
    if all.contains("temperature") || all.contains("temp") {
      return .value(.temperature, axis: 0, isUncalibrated: false)
    }
    return axisRole(words, all)
  }

  private static func timeRole(_ words: [String], _ all: Set<String>, hasDateText: Bool) -> Role? {
    let isTime =
      !all.isDisjoint(with: ["time", "timestamp", "t", "times", "datetime", "date"]) || words == ["seconds", "elapsed"]
      || words == ["mono"] || words == ["wall"] || words == ["irq"] || words == ["epoch"]
      || words.first == "yyyy"
    guard isTime else { return nil }
    if hasDateText || words.first == "yyyy" || all.contains("wall") || all.contains("1970") || all.contains("update") {
      return .time(rank: TimeRank.wall)
    }
    if all.contains("mono") || all.contains("monotonic") || all.contains("reboot") || all.contains("boot") {
      // SensorLog has one for each sensor; the accelerometer's stands for the row.
      let isOther = !all.isDisjoint(with: ["motion", "gyro", "magnetometer", "location", "heading", "altimeter"])
      return .time(rank: isOther ? TimeRank.wall : TimeRank.monotonic)
    }
    if all.contains("irq") { return .time(rank: TimeRank.interrupt) }
    if all.contains("elapsed") || (all.contains("location") || all.contains("activity")) {
      return .time(rank: all.contains("elapsed") ? TimeRank.elapsed : TimeRank.wall)
    }
    return .time(rank: TimeRank.plain)
  }

  /// The quantity that a column's name speaks of, with an axis, though the name as a whole is not understood (`gyro_x_foo`);
  /// nil for other columns.
  var resemblance: ImportQuantity? {
    guard role == .unknown else { return nil }
    var words = Self.words(Self.splitUnit(name).title)
    guard Set(words).isDisjoint(with: Self.ignoredWords) else { return nil }
    while words.count > 1 {
      words.removeLast()
      if case .value(let quantity, _, _) = Self.axisRole(words, Set(words)) { return quantity }
    }
    return nil
  }

  private static func axisRole(_ words: [String], _ all: Set<String>) -> Role {
    // `X-axis`, `X_value`, `X_CAL`.
    if words.count > 1, let last = words.last, ["axis", "value", "cal", "calibrated", "filtered"].contains(last) {
      return axisRole(words.dropLast(), all.subtracting([last]))
    }
    guard let last = words.last, let letter = last.last, let axis = ["x": 0, "y": 1, "z": 2][letter] else {
      return .unknown
    }
    var stem = all
    stem.remove(last)
    let prefix = String(last.dropLast())
    if prefix.isEmpty, stem.isEmpty { return .bareAxis(axis) }
    if !prefix.isEmpty { stem.insert(prefix) }
    let isUncalibrated = stem.contains("uncalibrated")
    func has(_ names: String...) -> Bool { names.contains { stem.contains($0) } }
    let quantity: ImportQuantity?
    if has("linear", "lin", "user") {
      quantity = .linearAcceleration
    } else if has("gravity", "grav") {
      quantity = .gravity
    } else if has("gyroscope", "gyro", "gyr", "angular", "rotation", "w", "omega") || stem == ["g"] {
      quantity = .rotation
    } else if has("magnetometer", "magnetic", "mag", "field", "b") || stem == ["m"] {
      quantity = .field
    } else if has("accelerometer", "acceleration", "accel", "acc", "gf") || stem == ["a"] {
      quantity = .acceleration
    } else {
      quantity = nil
    }
    return quantity.map { .value($0, axis: axis, isUncalibrated: isUncalibrated) } ?? .unknown
  }
}
