/// Numbers as IIO attributes show them.
extension Double {
  /// Reads a sysfs number: optional white space, NUL and a trailing unit-less newline around a decimal number; nil
  /// for anything else, infinities and NaN included.
  init?(iioText text: String) {
    var rest = Substring(text)
    while let last = rest.last, last.isWhitespace || last == "\0" { rest = rest.dropLast() }
    while let first = rest.first, first.isWhitespace { rest = rest.dropFirst() }
    guard let value = Double(rest), value.isFinite else { return nil }
    self = value
  }
}

/// The rates or scales that a driver offers: a list `1 10 25 50`, or a range `[1 1 400]`.
enum AvailableValues: Hashable, Sendable {
  /// These, ascending.
  case list([Double])
  /// From `minimum` to `maximum` in steps of `step`; 0 where any value goes.
  case range(minimum: Double, step: Double, maximum: Double)

  /// Reads an `_available` attribute; nil where it is neither.
  init?(_ text: String) {
    var body = Substring(text)
    while let last = body.last, last.isWhitespace || last == "\0" { body = body.dropLast() }
    let isRange = body.hasPrefix("[") && body.hasSuffix("]")
    if isRange { body = body.dropFirst().dropLast() }
    let values = body.split(whereSeparator: \.isWhitespace).map { Double(iioText: String($0)) }
    let numbers = values.compactMap { $0 }
    guard !numbers.isEmpty, numbers.count == values.count else { return nil }
    if isRange {
      guard numbers.count == 3, numbers[0] <= numbers[2], numbers[1] >= 0 else { return nil }
      self = .range(minimum: numbers[0], step: numbers[1], maximum: numbers[2])
    } else {
      self = .list(numbers.sorted())
    }
  }

  /// The smallest value offered that is not below `wanted`, else the largest.
  func nearest(atOrAbove wanted: Double) -> Double {
    // A rate of 12.5 may be printed as 12.499999: what misses by a millionth is met.
    let least = wanted * (1 - 1e-6)
    switch self {
    case .list(let values):
      return values.first { $0 >= least } ?? values.last ?? wanted
    case .range(let minimum, let step, let maximum):
      if least <= minimum { return minimum }
      if least >= maximum { return maximum }
      guard step > 0 else { return wanted }
      return min(maximum, minimum + ((least - minimum) / step).rounded(.up) * step)
    }
  }

  /// All values, where they are few; empty for a range.
  var values: [Double] {
    if case .list(let values) = self { return values }
    return []
  }
}
