// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
import CoreMotion
import Foundation

public enum CompassError: Error {
  case unavailable
  case needsMovement
  case noTrueNorth
  case other(NSError)
}

public class Compass {
  private let manager = CMMotionManager()
  public var onHeading: ((Double) -> Void)?
  public var onError: ((CompassError) -> Void)?
  public private(set) var accuracy: CMMagneticFieldCalibrationAccuracy = .uncalibrated

  public init() {}

  public func start(trueNorth: Bool) throws {
    let available = CMMotionManager.availableAttitudeReferenceFrames()
    let frame: CMAttitudeReferenceFrame = trueNorth ? .xTrueNorthZVertical : .xMagneticNorthZVertical
    guard available.contains(.xMagneticNorthZVertical) else { throw CompassError.unavailable }
    manager.startDeviceMotionUpdates(using: frame, to: OperationQueue.main) {
      (motion: CMDeviceMotion?, error: Error?) in
      if let error = error as NSError? {
        switch error.code {
        case Int(CMErrorDeviceRequiresMovement.rawValue): self.onError?(.needsMovement)
        case Int(CMErrorTrueNorthNotAvailable.rawValue): self.onError?(.noTrueNorth)
        default: self.onError?(.other(error))
        }
        return
      }
      guard let motion = motion else { return }
      self.accuracy = motion.magneticField.accuracy
      switch motion.magneticField.accuracy {
      case .uncalibrated, .low: break
      case .medium, .high: self.onHeading?(motion.heading)
      @unknown default: break
      }
      if #available(iOS 27.0, *) {
        _ = motion.headingAccuracy
      }
    }
  }

  public var isRunningTrueNorth: Bool { manager.attitudeReferenceFrame == .xTrueNorthZVertical }

  public func stop() { manager.stopDeviceMotionUpdates() }
}

extension CMMagneticFieldCalibrationAccuracy: CustomStringConvertible {
  public var description: String {
    switch self {
    case .uncalibrated: return "uncalibrated"
    case .low: return "low"
    case .medium: return "medium"
    case .high: return "high"
    @unknown default: return "unknown"
    }
  }
}
