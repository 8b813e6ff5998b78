import Glibc

/// A variable of the environment, by its name; nil if unset or empty.
func environment(_ name: String) -> String? {
  guard let value = getenv(name) else { return nil }
  let text = String(cString: value)
  return text.isEmpty ? nil : text
}

/// A number that the environment may give.
struct EnvironmentNumber: Sendable {
  /// The variable.
  let name: String
  /// What can be.
  let range: ClosedRange<Double>
  /// What it is, its unit, and what can be; for a message.
  let meaning: String

  /// The number; nil where it is not set or makes no sense.
  func value(_ variable: (String) -> String?) -> Double? {
    variable(name).flatMap { Double($0) }.flatMap { range.contains($0) ? $0 : nil }
  }

  /// What is wrong with what is set; nil where it is right or not set.
  func problem(_ variable: (String) -> String?) -> MotionKitError? {
    guard let text = variable(name), value(variable) == nil else { return nil }
    return environmentProblem(name, text, meaning)
  }
}

/// The error for a variable of the environment that cannot be used.
func environmentProblem(_ name: String, _ text: String, _ meaning: String) -> MotionKitError {
  .unsupported(what: "using the environment's \(name)=\(text)", hint: "it must be \(meaning)")
}
