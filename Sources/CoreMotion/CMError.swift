// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Core Motion's.
import Foundation
import MotionKitLinux

/// The domain of the errors that handlers get.
public let CMErrorDomain: String = "CMErrorDomain"

/// A Core Motion error code. Not itself an `Error`: handlers get an `NSError` with `CMErrorDomain` and this as code.
///
///     if (error as NSError).code == Int(CMErrorNotAuthorized.rawValue) { … }
public struct CMError: RawRepresentable, Equatable, Hashable, Sendable {
  /// The code.
  public var rawValue: UInt32
  /// An error from its code.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  /// An error from its code.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// No error.
public let CMErrorNULL = CMError(100)
/// The device must be moved before its motion can be told.
public let CMErrorDeviceRequiresMovement = CMError(101)
/// True north needs a location (or a declination), and none is known.
public let CMErrorTrueNorthNotAvailable = CMError(102)
/// Something else went wrong; the description says what.
public let CMErrorUnknown = CMError(103)
/// There is no hardware for activities or steps.
public let CMErrorMotionActivityNotAvailable = CMError(104)
/// Activities and steps are forbidden to this process.
public let CMErrorMotionActivityNotAuthorized = CMError(105)
/// Never used on Linux: there are no entitlements.
public let CMErrorMotionActivityNotEntitled = CMError(106)
/// A parameter makes no sense, such as an end before its start.
public let CMErrorInvalidParameter = CMError(107)
/// Something was asked for at the wrong time.
public let CMErrorInvalidAction = CMError(108)
/// There is no hardware for this.
public let CMErrorNotAvailable = CMError(109)
/// Never used on Linux: there are no entitlements.
public let CMErrorNotEntitled = CMError(110)
/// This process may not open the device.
public let CMErrorNotAuthorized = CMError(111)
/// There are no data: a recording or a scene is at its end.
public let CMErrorNilData = CMError(112)
/// Data have the wrong size.
public let CMErrorSize = CMError(113)

extension CMError {
  /// The `NSError` that handlers get.
  func error(_ description: String, underlying: (any Error)? = nil) -> NSError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
    if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
    return NSError(domain: CMErrorDomain, code: Int(rawValue), userInfo: userInfo)
  }
}

extension MotionKitError {
  /// This error as Core Motion's handlers get it; the original is its underlying error.
  var coreMotionError: NSError { code.error("\(self)", underlying: self) }

  private var code: CMError {
    switch self {
    case .noSensors, .notFound, .busy, .unsupported: CMErrorNotAvailable
    case .notPermitted: CMErrorNotAuthorized
    case .invalidSource: CMErrorInvalidParameter
    case .ended: CMErrorNilData
    case .device, .invalidFile, .fileSystem: CMErrorUnknown
    }
  }
}
