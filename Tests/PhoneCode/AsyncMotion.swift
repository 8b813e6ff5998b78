// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
// Wrappers of the kind that apps with async code carry.
import CoreMotion
import Foundation

extension CMMotionManager {
  public func accelerations() -> AsyncThrowingStream<CMAcceleration, Error> {
    AsyncThrowingStream { continuation in
      startAccelerometerUpdates(to: OperationQueue()) { data, error in
        if let error = error { continuation.finish(throwing: error) }
        if let data = data { continuation.yield(data.acceleration) }
      }
      continuation.onTermination = { _ in self.stopAccelerometerUpdates() }
    }
  }
}

public actor TiltLogger {
  private var rows: [String] = []
  private let manager = CMMotionManager()

  public init() {}

  public func log(count: Int) async throws -> [String] {
    for try await acceleration in manager.accelerations() {
      rows.append("\(acceleration.x),\(acceleration.y),\(acceleration.z)")
      if rows.count == count { break }
    }
    return rows
  }
}

@MainActor public final class BubbleLevel {
  public private(set) var bubble = (x: 0.0, y: 0.0)
  let manager = CMMotionManager()
  nonisolated public init() {}

  public func start() {
    manager.deviceMotionUpdateInterval = 0.02
    manager.startDeviceMotionUpdates(to: .main) { [weak self] motion, _ in
      guard let gravity = motion?.gravity else { return }
      MainActor.assumeIsolated { self?.bubble = (gravity.x, gravity.y) }
    }
  }
}
