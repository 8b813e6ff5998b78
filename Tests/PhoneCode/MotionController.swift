// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
// Push on the main queue, as most apps do it.
#if canImport(CoreMotion)
  import CoreMotion
#endif

public final class MotionController {
  private let motionManager = CMMotionManager()
  public private(set) var pitch: Double = 0
  public private(set) var roll: Double = 0
  public private(set) var yaw: Double = 0
  public private(set) var updates = 0
  public private(set) var lastError: Error?

  public init() {}

  public func start() {
    guard motionManager.isDeviceMotionAvailable, !motionManager.isDeviceMotionActive else { return }
    motionManager.deviceMotionUpdateInterval = 1.0 / 60.0
    motionManager.startDeviceMotionUpdates(to: .main) { [weak self] motion, error in
      guard let self = self else { return }
      if let error = error {
        self.lastError = error
        return
      }
      guard let attitude = motion?.attitude else { return }
      self.pitch = attitude.pitch * 180 / .pi
      self.roll = attitude.roll * 180 / .pi
      self.yaw = attitude.yaw * 180 / .pi
      self.updates += 1
    }
  }

  public func stop() {
    motionManager.stopDeviceMotionUpdates()
  }

  deinit {
    stop()
  }
}
