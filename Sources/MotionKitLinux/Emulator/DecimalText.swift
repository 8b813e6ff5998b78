/// Numbers as kernel drivers print them: never with an exponent, never by the locale.
enum DecimalText {
  /// All digits of a finite number, without an exponent: `0.000980665`, `100`, `-0.0000001`.
  static func plain(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let text = Array(value.magnitude.description.utf8)
    let mark = text.firstIndex { $0 == UInt8(ascii: "e") }
    let mantissa = text[..<(mark ?? text.count)]
    let exponent = mark.flatMap { Int(String(decoding: text[($0 + 1)...], as: UTF8.self)) } ?? 0
    var digits = mantissa.filter { $0 != UInt8(ascii: ".") }
    var point = (mantissa.firstIndex(of: UInt8(ascii: ".")) ?? mantissa.endIndex) + exponent
    if point <= 0 {
      digits.insert(contentsOf: Array(repeating: UInt8(ascii: "0"), count: 1 - point), at: 0)
      point = 1
    }
    while digits.count < point { digits.append(UInt8(ascii: "0")) }
    var fraction = digits[point...]
    while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
    let sign = value < 0 ? "-" : ""
    let whole = String(decoding: digits[..<point], as: UTF8.self)
    return sign + whole + (fraction.isEmpty ? "" : "." + String(decoding: fraction, as: UTF8.self))
  }

  /// A number with a fixed count of decimals, as `printf("%.*f")` gives it for values of ordinary size.
  static func fixed(_ value: Double, decimals: Int) -> String {
    var factor = 1.0
    for _ in 0..<decimals { factor *= 10 }
    let scaled = (value.magnitude * factor).rounded()
    guard scaled < 9e18 else { return plain(value) }
    let integer = UInt64(scaled)
    let whole = integer / UInt64(factor)
    let rest = String(integer % UInt64(factor))
    let sign = value < 0 && integer > 0 ? "-" : ""
    if decimals == 0 { return "\(sign)\(whole)" }
    return "\(sign)\(whole)." + String(repeating: "0", count: decimals - rest.count) + rest
  }

  /// The number with the fewest digits within two units in the last place: takes off what unit conversions leave behind,
  /// such as 0.0001 for 0.01 * 0.01.
  static func snapped(_ value: Double) -> Double {
    guard value.isFinite, value != 0 else { return value }
    var scaled = value.magnitude
    var power = 0
    while scaled < 1, power < 40 {
      scaled *= 10
      power += 1
    }
    while scaled >= 10, power > -40 {
      scaled /= 10
      power -= 1
    }
    for _ in 0..<16 {
      // Reading the decimal text is the one correctly rounded way from decimal digits to binary.
      let candidate = Double("\(value < 0 ? "-" : "")\(UInt64(scaled.rounded()))e\(-power)") ?? value
      if abs(candidate - value) <= 2 * value.ulp { return candidate }
      scaled *= 10
      power += 1
    }
    return value
  }
}
