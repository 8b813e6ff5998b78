// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
import CoreMotion
import Foundation

public protocol ShakeDetectorDelegate: AnyObject {
  func shakeDetectorDidDetectShake(_ detector: ShakeDetector)
}

public class ShakeDetector {
  public weak var delegate: ShakeDetectorDelegate?
  public var threshold = 1.5
  public private(set) var count = 0
  private let manager: CMMotionManager
  private let queue = OperationQueue()
  private var lastShake: TimeInterval = 0

  public init(manager: CMMotionManager = CMMotionManager()) {
    self.manager = manager
    queue.name = "shake"
    queue.maxConcurrentOperationCount = 1
    queue.qualityOfService = .userInteractive
  }

  public func beginDetecting() {
    manager.accelerometerUpdateInterval = 0.02
    manager.startAccelerometerUpdates(to: queue) { data, error in
      guard error == nil, let acceleration = data?.acceleration, let time = data?.timestamp else { return }
      let magnitude = sqrt(pow(acceleration.x, 2) + pow(acceleration.y, 2) + pow(acceleration.z, 2))
      if abs(magnitude - 1) > self.threshold, time - self.lastShake > 0.5 {
        self.lastShake = time
        self.count += 1
        self.delegate?.shakeDetectorDidDetectShake(self)
      }
    }
  }

  public func endDetecting() {
    if manager.isAccelerometerActive {
      manager.stopAccelerometerUpdates()
    }
  }
}
