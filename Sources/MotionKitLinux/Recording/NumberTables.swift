/// Powers that the text of numbers is read and written with.
///
/// Plain pointers, fetched once by whoever works through many numbers: a table behind a global is looked at again, and its
/// initialisation asked about, for every number.
struct NumberTables: @unchecked Sendable {
  /// 10^0 … 10^22: the powers of ten that a double holds exactly.
  let exactTens: UnsafePointer<Double>
  /// 10^0 … 10^19.
  let tens: UnsafePointer<UInt64>
  /// 5^0 … 5^27.
  let fives: UnsafePointer<UInt64>

  /// Never changed and never freed: there is one for the whole process.
  static let shared = NumberTables()

  private init() {
    func powers<T: Numeric>(of base: T, upTo last: Int) -> UnsafePointer<T> {
      let powers = UnsafeMutablePointer<T>.allocate(capacity: last + 1)
      powers.initialize(to: 1)
      for exponent in 1...last { (powers + exponent).initialize(to: powers[exponent - 1] * base) }
      return UnsafePointer(powers)
    }
    exactTens = powers(of: 10, upTo: 22)
    tens = powers(of: 10, upTo: 19)
    fives = powers(of: 5, upTo: 27)
  }
}
