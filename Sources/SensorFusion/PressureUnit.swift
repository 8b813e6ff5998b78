/// Units that pressures come in. Inside, a pressure is always in kPa, as in the Linux IIO ABI and Core Motion.
@frozen
public enum PressureUnit: String, Hashable, Sendable, CaseIterable {
  /// Kilopascal.
  case kilopascal = "kPa"
  /// Hectopascal.
  case hectopascal = "hPa"
  /// Millibar, the same as a hectopascal.
  case millibar = "mbar"
  /// Pascal.
  case pascal = "Pa"

  /// The pressure in kPa.
  @inlinable
  public func kilopascals(_ value: Double) -> Double {
    // Division is exact where the decimal is; 0.1 is not.
    switch self {
    case .kilopascal: value
    case .hectopascal, .millibar: value / 10
    case .pascal: value / 1000
    }
  }

  /// Air pressures that can be, kPa.
  public static let plausible = 30.0...110.0

  /// The units in which a number without one would be an air pressure: for a hint to the user, never to convert by.
  public static func candidates(for value: Double) -> [PressureUnit] {
    allCases.filter { plausible.contains($0.kilopascals(value)) }
  }
}
