import CJansson

/// A JSON document as a value; libjansson reads and writes the text.
enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object([(key: String, value: JSONValue)])

  static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.integer(let x), .integer(let y)): x == y
    case (.real(let x), .real(let y)): x == y
    case (.string(let x), .string(let y)): x == y
    case (.array(let x), .array(let y)): x == y
    case (.object(let x), .object(let y)):
      x.count == y.count && zip(x, y).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    default: false
    }
  }

  /// Reads a document. Throws `MotionKitError.invalidFile` with the line and column of what is wrong.
  init(parsing bytes: UnsafeRawBufferPointer, path: String) throws(MotionKitError) {
    var error = json_error_t()
    let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let document = json_loadb(text, bytes.count, size_t(JSON_REJECT_DUPLICATES), &error) else {
      let reason = withUnsafeBytes(of: error.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      throw .invalidFile(
        path: path, line: max(Int(error.line), 0), column: max(Int(error.column), 0),
        reason: "it is not valid JSON: \(reason)")
    }
    defer { json_decref(document) }
    self.init(document)
  }

  private init(_ node: UnsafeMutablePointer<json_t>) {
    switch node.pointee.type {
    case JSON_TRUE: self = .bool(true)
    case JSON_FALSE: self = .bool(false)
    case JSON_INTEGER: self = .integer(json_integer_value(node))
    case JSON_REAL: self = .real(json_real_value(node))
    case JSON_STRING:
      let bytes = UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node))
      self = .string(String(decoding: bytes, as: UTF8.self))
    case JSON_ARRAY:
      self = .array((0..<json_array_size(node)).compactMap { json_array_get(node, $0).map { JSONValue($0) } })
    case JSON_OBJECT:
      var members: [(String, JSONValue)] = []
      var iterator = json_object_iter(node)
      while let current = iterator {
        if let key = json_object_iter_key(current), let value = json_object_iter_value(current) {
          members.append((String(cString: key), JSONValue(value)))
        }
        iterator = json_object_iter_next(node, current)
      }
      self = .object(members)
    default: self = .null
    }
  }

  /// The document's text, indented, with a newline at the end. Infinities and NaN, which JSON lacks, become null.
  func text() -> String {
    guard let node = node() else { return "null\n" }
    defer { json_decref(node) }
    // 17 significant digits read back to the same double.
    let flags = size_t(JSON_ENCODE_ANY) | size_t(2) | (size_t(17) << 11)
    guard let text = json_dumps(node, flags) else { return "null\n" }
    defer { free(text) }
    return String(cString: text) + "\n"
  }

  private func node() -> UnsafeMutablePointer<json_t>? {
    switch self {
    case .null: return json_null()
    case .bool(let value): return value ? json_true() : json_false()
    case .integer(let value): return json_integer(value)
    case .real(let value): return value.isFinite ? json_real(value) : json_null()
    case .string(let value):
      var value = value
      return value.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { json_stringn($0.baseAddress, $0.count) }
      }
    case .array(let values):
      let array = json_array()
      for value in values { json_array_append_new(array, value.node()) }
      return array
    case .object(let members):
      let object = json_object()
      for (key, value) in members { json_object_set_new(object, key, value.node()) }
      return object
    }
  }

  /// The member of an object; nil for other values.
  subscript(_ key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The members of an object; empty for other values.
  var members: [(key: String, value: JSONValue)] {
    if case .object(let members) = self { members } else { [] }
  }

  /// The elements of an array; empty for other values.
  var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }

  /// A string; nil for other values.
  var string: String? { if case .string(let value) = self { value } else { nil } }

  /// A whole number; nil for other values.
  var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

  /// A truth value; nil for other values.
  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// A number; nil for other values.
  var double: Double? {
    switch self {
    case .real(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }
}
