import SensorFusion

/// Reads the `key=value` settings of a simulated scene, and remembers which keys there are: an unknown one is answered
/// with the list.
struct SimulationSettings {
  private let uri: String
  private var unread: [String: String]
  /// The keys that have been asked for, with a line each.
  private(set) var known: [(key: String, summary: String)] = []

  init(uri: String, settings: [String: String]) {
    self.uri = uri
    unread = settings
  }

  /// The text of a key, or nil where it is not set.
  mutating func text(_ key: String, _ summary: String) -> String? {
    known.append((key, summary))
    return unread.removeValue(forKey: key)
  }

  /// A number within `range`.
  mutating func number(
    _ key: String, _ summary: String, default value: Double, in range: ClosedRange<Double> = -1e9...1e9
  ) throws(MotionKitError) -> Double {
    guard let text = text(key, summary) else { return value }
    return try parse(text, key: key, range: range)
  }

  /// A whole number within `range`.
  mutating func integer(
    _ key: String, _ summary: String, default value: Int, in range: ClosedRange<Int>
  ) throws(MotionKitError) -> Int {
    guard let text = text(key, summary) else { return value }
    guard let number = Int(text), range.contains(number) else {
      throw invalid(key, text, "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Three numbers `x,y,z`; a single one stands for all three axes.
  mutating func vector(
    _ key: String, _ summary: String, default value: Vector3, in range: ClosedRange<Double> = -1e9...1e9
  ) throws(MotionKitError) -> Vector3 {
    guard let text = text(key, summary) else { return value }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    if parts.count == 1 {
      let number = try parse(text, key: key, range: range)
      return Vector3(number, number, number)
    }
    guard parts.count == 3 else { throw invalid(key, text, "one number or three, x,y,z") }
    let x = try parse(String(parts[0]), key: key, range: range)
    let y = try parse(String(parts[1]), key: key, range: range)
    return Vector3(x, y, try parse(String(parts[2]), key: key, range: range))
  }

  /// One of several words.
  mutating func choice(
    _ key: String, _ summary: String, default value: String, of words: [String]
  ) throws(MotionKitError) -> String {
    guard let text = text(key, summary) else { return value }
    guard words.contains(text) else { throw invalid(key, text, words.joined(separator: ", ")) }
    return text
  }

  /// Throws for keys that nobody has asked for.
  func finish() throws(MotionKitError) {
    guard let stray = unread.keys.min() else { return }
    let width = known.reduce(0) { max($0, $1.key.utf8.count) }
    let lines = known.map { "  \($0.key)\(String(repeating: " ", count: width - $0.key.utf8.count))  \($0.summary)" }
    throw .notFound(
      what: "the setting '\(stray)' in \(uri)",
      hint: "the settings of this scene are:\n" + lines.joined(separator: "\n"))
  }

  private func parse(
    _ text: String, key: String, range: ClosedRange<Double>
  ) throws(MotionKitError) -> Double {
    guard let number = Double(text), range.contains(number) else {
      throw invalid(key, text, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func invalid(_ key: String, _ text: String, _ wanted: String) -> MotionKitError {
    .invalidSource(uri: uri, reason: "\(key)=\(text) is not possible; it takes \(wanted)")
  }
}
