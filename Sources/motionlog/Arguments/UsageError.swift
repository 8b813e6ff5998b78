/// A command line that cannot be understood. `ErrorReport` puts it into words.
enum UsageError: Error, Equatable {
  /// No command was given.
  case noCommand
  /// There is no such command; `suggestion` is the nearest that there is.
  case unknownCommand(String, suggestion: String?)
  /// The command has no such option.
  case unknownOption(String, command: String, suggestion: String?)
  /// The option needs a value and none follows.
  case missingValue(option: String, placeholder: String)
  /// The option takes no value and one was given with `=`.
  case unexpectedValue(option: String, value: String)
  /// The value is not what the option takes.
  case badValue(option: String, value: String, expected: String)
  /// The command needs an operand that is not there.
  case missingOperand(String, command: String)
  /// The command takes no such operand.
  case unexpectedOperand(String, command: String)
  /// Options that exclude or need each other.
  case conflict(String)
}

/// The candidate nearest to `word` by edits, if it is near enough to be what was meant.
func nearest(to word: String, among candidates: [String]) -> String? {
  var best: (candidate: String, distance: Int)?
  for candidate in candidates {
    let distance = editDistance(word, candidate)
    // Two edits, but never most of the word: "--xy" is not a misspelt "--to".
    guard distance <= 2, distance * 2 < max(word.count, candidate.count) else { continue }
    if distance < (best?.distance ?? .max) { best = (candidate, distance) }
  }
  return best?.candidate
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string alignment).
func editDistance(_ a: String, _ b: String) -> Int {
  let a = Array(a)
  let b = Array(b)
  var beforeLast = [Int](repeating: 0, count: b.count + 1)
  var last = Array(0...b.count)
  for i in 0..<a.count {
    var row = [i + 1]
    for j in 0..<b.count {
      var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
      row.append(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.count]
}
