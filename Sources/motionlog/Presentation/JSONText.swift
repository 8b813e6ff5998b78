import SensorFusion

/// Builds one JSON object as text (RFC 8259), keys in the order in which they are added.
struct JSONObject {
  private var text = "{"

  /// The finished object.
  var description: String { text + "}" }

  /// Adds a number in the shortest form that reads back to the same bits; null where it is not finite.
  mutating func add(_ key: String, _ value: Double) { add(key, raw: value.isFinite ? "\(value)" : "null") }

  /// Adds a number that may not be known: null then.
  mutating func add(_ key: String, optional value: Double?) { add(key, value ?? .nan) }

  /// Adds a whole number that may not be known: null then.
  mutating func add(_ key: String, optional value: Int?) { add(key, raw: value.map { "\($0)" } ?? "null") }

  /// Adds a whole number.
  mutating func add(_ key: String, _ value: Int64) { add(key, raw: "\(value)") }

  /// Adds true or false.
  mutating func add(_ key: String, _ value: Bool) { add(key, raw: value ? "true" : "false") }

  /// Adds a string.
  mutating func add(_ key: String, _ value: String) { add(key, raw: Self.quoted(value)) }

  /// Adds an instant in seconds with all its nanoseconds.
  mutating func add(_ key: String, _ time: Timestamp) { add(key, raw: Format.exactSeconds(time.nanoseconds)) }

  /// Adds a vector as an array of three.
  mutating func add(_ key: String, _ v: Vector3) { add(key, [v.x, v.y, v.z]) }

  /// Adds an array of numbers.
  mutating func add(_ key: String, _ values: [Double]) {
    add(key, raw: "[" + values.map { $0.isFinite ? "\($0)" : "null" }.joined(separator: ",") + "]")
  }

  /// Adds an array of strings.
  mutating func add(_ key: String, _ values: [String]) {
    add(key, raw: "[" + values.map(Self.quoted).joined(separator: ",") + "]")
  }

  /// Adds an array of objects.
  mutating func add(_ key: String, _ objects: [JSONObject]) {
    add(key, raw: "[" + objects.map(\.description).joined(separator: ",") + "]")
  }

  /// Adds an object.
  mutating func add(_ key: String, _ object: JSONObject) { add(key, raw: object.description) }

  private mutating func add(_ key: String, raw: String) {
    if text.utf8.count > 1 { text += "," }
    text += Self.quoted(key) + ":" + raw
  }

  private static func quoted(_ string: String) -> String {
    var result = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
