/// Numbers and times as text, without Foundation.
enum Format {
  /// Powers of ten for `fixed`.
  private static let powers: [Double] = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

  /// A number with `decimals` (0 to 9) places, right-aligned in `width`; `sign` also marks positive ones.
  static func fixed(_ value: Double, _ decimals: Int, sign: Bool = false, width: Int = 0) -> String {
    let text: String
    if value.isFinite {
      let places = max(0, min(powers.count - 1, decimals))
      let scaled = (value.magnitude * powers[places]).rounded()
      if let whole = UInt64(exactly: scaled) {
        var digits = String(whole)
        if places > 0 {
          if digits.count <= places { digits = String(repeating: "0", count: places + 1 - digits.count) + digits }
          digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -places))
        }
        // "-0.00" says less than "0.00".
        text = (value < 0 && whole != 0 ? "-" : sign ? "+" : "") + digits
      } else {
        text = "\(value)"
      }
    } else {
      text = value.isNaN ? "–" : value < 0 ? "-∞" : "∞"
    }
    return left(pad: width, text)
  }

  /// A number in as few digits as say it: `100`, `12.5`, `0.00059855` (five significant digits at most).
  static func short(_ value: Double) -> String {
    guard value.isFinite, value != 0 else { return fixed(value, 0) }
    var decimals = 0
    var bound = 10_000.0
    while decimals < 9, value.magnitude < bound {
      decimals += 1
      bound /= 10
    }
    var text = fixed(value, decimals)
    if text.contains(".") {
      while text.hasSuffix("0") { text.removeLast() }
      if text.hasSuffix(".") { text.removeLast() }
    }
    return text
  }

  /// Text without characters that would steer a terminal: names of files and devices are anybody's. Line ends stay.
  static func printable(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool {
      scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
    }
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      result += isControl(scalar) ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }
  }

  /// Text right-aligned in `width`.
  static func left(pad width: Int, _ text: String) -> String {
    let missing = width - text.count
    return missing > 0 ? String(repeating: " ", count: missing) + text : text
  }

  /// Text left-aligned in `width`.
  static func right(pad width: Int, _ text: String) -> String {
    let missing = width - text.count
    return missing > 0 ? text + String(repeating: " ", count: missing) : text
  }

  /// Nanoseconds as seconds with all nine decimals: exact.
  static func exactSeconds(_ nanoseconds: Int64) -> String {
    let magnitude = nanoseconds.magnitude
    let fraction = String(magnitude % 1_000_000_000)
    let zeros = String(repeating: "0", count: 9 - fraction.count)
    return "\(nanoseconds < 0 ? "-" : "")\(magnitude / 1_000_000_000).\(zeros)\(fraction)"
  }

  /// Seconds as `1:02:03` or `02:03`.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e9)))
    func two(_ n: Int) -> String { n < 10 ? "0\(n)" : "\(n)" }
    let minutes = "\(two(whole / 60 % 60)):\(two(whole % 60))"
    return whole >= 3600 ? "\(whole / 3600):\(minutes)" : minutes
  }

  /// A number of bytes as `812 B`, `3.4 kB`, `12.0 MB`.
  static func bytes(_ count: Int64) -> String {
    var value = Double(count)
    for unit in ["B", "kB", "MB"] {
      if value < 1000 { return unit == "B" ? "\(count) B" : "\(fixed(value, 1)) \(unit)" }
      value /= 1000
    }
    return "\(fixed(value, 2)) GB"
  }

  /// A count with its noun: `1 gap`, `2 gaps`.
  static func count(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
