import Foundation
import MotionKitLinux

/// Told when headphones with motion sensors come and go; never on Linux.
public protocol CMHeadphoneMotionManagerDelegate: AnyObject {
  /// Headphones were connected.
  func headphoneMotionManagerDidConnect(_ manager: CMHeadphoneMotionManager)
  /// Headphones were disconnected.
  func headphoneMotionManagerDidDisconnect(_ manager: CMHeadphoneMotionManager)
}

extension CMHeadphoneMotionManagerDelegate {
  /// Does nothing: the method is optional.
  public func headphoneMotionManagerDidConnect(_ manager: CMHeadphoneMotionManager) {}
  /// Does nothing: the method is optional.
  public func headphoneMotionManagerDidDisconnect(_ manager: CMHeadphoneMotionManager) {}
}

/// Motion of headphones. Here so that code which offers it compiles: on Linux there is none, and it says so.
open class CMHeadphoneMotionManager: NSObject {
  /// Gets device motion, or an error.
  public typealias DeviceMotionHandler = (CMDeviceMotion?, (any Error)?) -> Void

  /// Told when headphones come and go; never called on Linux.
  open weak var delegate: (any CMHeadphoneMotionManagerDelegate)?

  /// A manager without headphones.
  public override init() { super.init() }

  /// Whether this process may use the sensors.
  open class func authorizationStatus() -> CMAuthorizationStatus { .current }
  /// False: no headphones are known on Linux.
  open var isDeviceMotionAvailable: Bool { false }
  /// False.
  open var isDeviceMotionActive: Bool { false }
  /// False.
  open var isConnectionStatusActive: Bool { false }
  /// Nil.
  open var deviceMotion: CMDeviceMotion? { nil }

  /// Does nothing.
  open func startDeviceMotionUpdates() {}

  /// Tells the handler once that there are no headphones.
  open func startDeviceMotionUpdates(to queue: OperationQueue, withHandler handler: @escaping DeviceMotionHandler) {
    let error = CMErrorNotAvailable.error("headphones with motion sensors are not supported on Linux")
    SharedSource.current.refuse(to: queue, because: error) { handler(nil, $0) }
  }

  /// Does nothing.
  open func stopDeviceMotionUpdates() {}
  /// Does nothing.
  open func startConnectionStatusUpdates() {}
  /// Does nothing.
  open func stopConnectionStatusUpdates() {}
}
