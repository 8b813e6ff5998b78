// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
import CoreMotion
import Foundation

public final class Recorder {
  let recorder = CMSensorRecorder()
  public init() {}

  public func begin() {
    guard CMSensorRecorder.isAccelerometerRecordingAvailable(), CMSensorRecorder.authorizationStatus() == .authorized
    else { return }
    recorder.recordAccelerometer(forDuration: 20 * 60)
  }

  public func readings(from: Date, to: Date) -> [(UInt64, Date, Double)] {
    guard let list = recorder.accelerometerData(from: from, to: to) else { return [] }
    var rows: [(UInt64, Date, Double)] = []
    for element in list {
      if let data = element as? CMRecordedAccelerometerData {
        rows.append((data.identifier, data.startDate, data.acceleration.x))
      }
    }
    return rows
  }
}

public final class Workout {
  let manager = CMBatchedSensorManager()
  public init() {}

  public var isSupported: Bool {
    CMBatchedSensorManager.isAccelerometerSupported && CMBatchedSensorManager.isDeviceMotionSupported
      && CMBatchedSensorManager.authorizationStatus == .authorized
  }

  public func countSamples(batches: Int) async throws -> (accelerometer: Int, motion: Int) {
    var total = (0, 0)
    var seen = 0
    for try await batch in manager.accelerometerUpdates() {
      batch.forEach { (sample: CMAccelerometerData) in total.0 += sample.timestamp > 0 ? 1 : 0 }
      seen += 1
      if seen == batches { break }
    }
    for try await batch in manager.deviceMotionUpdates() {
      total.1 += batch.count
      break
    }
    return total
  }

  public func classic() {
    manager.startAccelerometerUpdates { batch, error in _ = batch?.first?.acceleration.x }
    manager.startDeviceMotionUpdates { batch, error in _ = batch?.last?.attitude.pitch }
    manager.startAccelerometerUpdates()
    manager.startDeviceMotionUpdates()
    _ = manager.accelerometerBatch?.count
    _ = manager.deviceMotionBatch?.count
    _ = manager.isAccelerometerActive || manager.isDeviceMotionActive
    _ = manager.accelerometerDataFrequency + manager.deviceMotionDataFrequency
    manager.stopAccelerometerUpdates()
    manager.stopDeviceMotionUpdates()
  }
}

public final class Headphones: CMHeadphoneMotionManagerDelegate {
  let manager = CMHeadphoneMotionManager()
  public init() { manager.delegate = self }
  public func start() {
    guard manager.isDeviceMotionAvailable else { return }
    manager.startDeviceMotionUpdates(to: .main) { motion, error in
      _ = motion?.sensorLocation == .headphoneLeft
    }
  }
  public func headphoneMotionManagerDidConnect(_ manager: CMHeadphoneMotionManager) {}
}

@available(*, deprecated)
public func oldSteps() -> CMStepCounter {
  let counter = CMStepCounter()
  if CMStepCounter.isStepCountingAvailable() {
    counter.startStepCountingUpdates(to: .main, updateOn: 5) { steps, date, error in print(steps, date) }
    counter.queryStepCountStarting(from: Date(), to: Date(), to: .main) { steps, error in print(steps) }
    counter.stopStepCountingUpdates()
  }
  return counter
}
