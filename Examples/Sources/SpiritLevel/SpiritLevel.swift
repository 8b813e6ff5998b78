import CoreMotion

/// A spirit level: how far the device is from lying flat, and how often it was tipped over.
public final class SpiritLevel {
  /// Degrees between the device's face and straight up.
  public private(set) var tilt = 0.0
  /// How often the tilt went beyond 45°.
  public private(set) var tips = 0
  /// Called after each change.
  public var onChange: (() -> Void)?
  /// Why there is no level, if there is none.
  public private(set) var problem: String?

  private let manager = CMMotionManager()
  private var isTipped = false

  /// A level that has not been started.
  public init() {}

  /// Starts the level; handlers run on `queue`.
  public func start(on queue: OperationQueue = .main) {
    manager.deviceMotionUpdateInterval = 1.0 / 50
    manager.startDeviceMotionUpdates(to: queue) { [weak self] motion, error in
      guard let self = self else { return }
      if let error = error { self.problem = error.localizedDescription }
      guard let gravity = motion?.gravity else { return }
      self.tilt = acos(max(-1, min(1, -gravity.z))) * 180 / .pi
      if self.tilt > 45, !self.isTipped { self.tips += 1 }
      self.isTipped = self.tilt > 45
      self.onChange?()
    }
  }

  /// Stops the level.
  public func stop() { manager.stopDeviceMotionUpdates() }
}
