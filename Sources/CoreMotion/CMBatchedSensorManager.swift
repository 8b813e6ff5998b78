import Foundation
import MotionKitLinux
import SensorFusion

/// Accelerometer readings and device motion at the sensors' highest useful rates, a second of them at a time.
open class CMBatchedSensorManager: NSObject {
  private let manager = BatchedSensorManager()
  private let queue = DispatchQueue(label: "CMBatchedSensorManager")

  /// A manager of the process's source.
  public override init() { super.init() }

  /// Whether this process may use the sensors.
  open class var authorizationStatus: CMAuthorizationStatus { .current }
  /// Whether there is an accelerometer.
  open class var isAccelerometerSupported: Bool { MotionManager().isAccelerometerAvailable }
  /// Whether there are an accelerometer and a gyroscope.
  open class var isDeviceMotionSupported: Bool { MotionManager().isDeviceMotionAvailable }

  /// Accelerometer readings a second, Hz; 0 without an accelerometer.
  open var accelerometerDataFrequency: Int { Int(manager.accelerometerRate.rounded()) }
  /// Motions a second, Hz; 0 where there is no device motion.
  open var deviceMotionDataFrequency: Int { Int(manager.deviceMotionRate.rounded()) }

  /// Whether accelerometer batches were started since the last stop.
  open var isAccelerometerActive: Bool { manager.isAccelerometerActive }
  /// Whether device motion batches were started since the last stop.
  open var isDeviceMotionActive: Bool { manager.isDeviceMotionActive }
  /// The newest batch; nil before the first and after stop.
  open var accelerometerBatch: [CMAccelerometerData]? {
    manager.accelerometerBatch?.map { CMAccelerometerData($0) }
  }
  /// The newest batch; nil before the first and after stop.
  open var deviceMotionBatch: [CMDeviceMotion]? { manager.deviceMotionBatch?.map { CMDeviceMotion($0) } }

  /// Starts accelerometer batches to be read from `accelerometerBatch`.
  open func startAccelerometerUpdates() { manager.startAccelerometerUpdates() }

  /// Starts accelerometer batches that call `handler` on a serial queue of the framework's own.
  open func startAccelerometerUpdates(handler: @escaping ([CMAccelerometerData]?, (any Error)?) -> Void) {
    manager.startAccelerometerUpdates(
      to: queue, withHandler: adapt(handler) { batch in batch.values.map { CMAccelerometerData($0) } })
  }

  /// Stops accelerometer batches.
  open func stopAccelerometerUpdates() { manager.stopAccelerometerUpdates() }

  /// Starts device motion batches to be read from `deviceMotionBatch`.
  open func startDeviceMotionUpdates() { manager.startDeviceMotionUpdates() }

  /// Starts device motion batches that call `handler` on a serial queue of the framework's own.
  open func startDeviceMotionUpdates(handler: @escaping ([CMDeviceMotion]?, (any Error)?) -> Void) {
    manager.startDeviceMotionUpdates(
      to: queue, withHandler: adapt(handler) { batch in batch.values.map { CMDeviceMotion($0) } })
  }

  /// Stops device motion batches.
  open func stopDeviceMotionUpdates() { manager.stopDeviceMotionUpdates() }

  /// Accelerometer batches as a sequence; each iteration is a service of its own.
  open func accelerometerUpdates() -> AccelerometerUpdates {
    AccelerometerUpdates(base: manager.accelerometerUpdates())
  }

  /// Device motion batches as a sequence; each iteration is a service of its own.
  open func deviceMotionUpdates() -> DeviceMotionUpdates { DeviceMotionUpdates(base: manager.deviceMotionUpdates()) }

  /// Accelerometer batches as they come.
  public struct AccelerometerUpdates: AsyncSequence {
    /// A second of readings.
    public typealias Element = [CMAccelerometerData]
    let base: MotionUpdates<Batch<AccelerometerData>>

    /// Starts the service.
    public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    /// One running iteration.
    public struct Iterator: AsyncIteratorProtocol {
      var base: MotionUpdates<Batch<AccelerometerData>>.Iterator

      /// The next batch; nil at the end of the source.
      public mutating func next() async throws -> [CMAccelerometerData]? {
        try await nextBatch(&base)?.values.map { CMAccelerometerData($0) }
      }
    }
  }

  /// Device motion batches as they come.
  public struct DeviceMotionUpdates: AsyncSequence {
    /// A second of motions.
    public typealias Element = [CMDeviceMotion]
    let base: MotionUpdates<Batch<DeviceMotion>>

    /// Starts the service.
    public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    /// One running iteration.
    public struct Iterator: AsyncIteratorProtocol {
      var base: MotionUpdates<Batch<DeviceMotion>>.Iterator

      /// The next batch; nil at the end of the source.
      public mutating func next() async throws -> [CMDeviceMotion]? {
        try await nextBatch(&base)?.values.map { CMDeviceMotion($0) }
      }
    }
  }
}

/// The next batch, with errors as Core Motion reports them.
private func nextBatch<Value>(_ iterator: inout MotionUpdates<Batch<Value>>.Iterator) async throws -> Batch<Value>? {
  do {
    return try await iterator.next()
  } catch let error as MotionKitError {
    throw error.coreMotionError
  }
}
