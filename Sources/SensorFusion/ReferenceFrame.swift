/// The earth frame of an attitude: z up, right-handed. With a north, x points there and y west (Core Motion's frame).
@frozen
public enum ReferenceFrame: Hashable, Sendable {
  /// x is horizontal and fixed when the filter starts (yaw starts at 0); the magnetometer is not used; yaw drifts.
  case arbitrary
  /// As `arbitrary`, with the drift of yaw corrected by the magnetometer where there is one.
  case arbitraryCorrected
  /// x points to magnetic north.
  case magneticNorth
  /// x points to true north; `declination` is the angle from true to magnetic north in radians, positive east.
  case trueNorth(declination: Double)

  /// Whether yaw refers to a north.
  @inlinable public var hasNorth: Bool {
    switch self {
    case .arbitrary, .arbitraryCorrected: false
    case .magneticNorth, .trueNorth: true
    }
  }
}
