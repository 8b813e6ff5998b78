import Dispatch
import SensorFusion

/// Accelerometer readings and device motion at the sensors' highest useful rates, a second of them at a time: the least
/// work for each value.
public final class BatchedSensorManager: Sendable {
  /// Where the samples come from: the source it was given, else the process's (`SharedSource.current`), which is looked
  /// up anew at each start while nothing of this manager runs.
  public var source: SharedSource { binding.source }
  /// How batches wait for a slow handler: few are needed, each holds a second.
  public var delivery: Delivery {
    source.resolve(.automatic).isLossless ? .lossless : .newest(capacity: Self.waitingBatches)
  }

  /// The highest rates asked for, Hz, as on a watch.
  public static let highestAccelerometerRate = 800.0
  /// For device motion, Hz.
  public static let highestDeviceMotionRate = 200.0
  private static let waitingBatches = 8

  private let binding: SourceBinding
  private let accelerometer: UpdateChannel<BatchStage<RawStage<AccelerometerData>>>
  private let motion: UpdateChannel<BatchStage<DeviceMotionStage>>

  /// A manager of a source; nil, the default, for the process's.
  public init(source: SharedSource? = nil) {
    let binding = SourceBinding(source)
    self.binding = binding
    accelerometer = UpdateChannel(binding: binding, purpose: "accelerometer batches", interval: 0)
    motion = UpdateChannel(binding: binding, purpose: "device motion batches", interval: 0)
  }

  /// Accelerometer readings a second, Hz: the sensor's highest rate up to `highestAccelerometerRate`; 0 without one.
  public var accelerometerRate: Double { rate(of: [.accelerometer], highest: Self.highestAccelerometerRate) }
  /// Motions a second, Hz: the slower sensor's highest rate up to `highestDeviceMotionRate`; 0 where there is none.
  public var deviceMotionRate: Double { rate(of: [.accelerometer, .gyroscope], highest: Self.highestDeviceMotionRate) }

  private func rate(of kinds: [SensorKind], highest: Double) -> Double {
    guard let description = try? source.describe() else { return 0 }
    return kinds.map { kind in
      guard let sensor = description.sensor(kind) else { return 0 }
      return sensor.availableRates.last { $0 <= highest } ?? (sensor.rate > 0 ? min(sensor.rate, highest) : highest)
    }.min() ?? 0
  }

  /// Whether accelerometer batches were started since the last stop and have not failed.
  public var isAccelerometerActive: Bool { accelerometer.isActive }
  /// The newest batch; nil before the first and after stop.
  public var accelerometerBatch: [AccelerometerData]? { accelerometer.latest?.values }
  /// Whether device motion batches were started since the last stop and have not failed.
  public var isDeviceMotionActive: Bool { motion.isActive }
  /// The newest batch; nil before the first and after stop.
  public var deviceMotionBatch: [DeviceMotion]? { motion.latest?.values }

  private var accelerometerStage: BatchStage<RawStage<AccelerometerData>> {
    BatchStage(MotionManager.accelerometerStage, rate: max(1, accelerometerRate))
  }

  private var motionStage: BatchStage<DeviceMotionStage> {
    BatchStage(DeviceMotionStage(frame: .arbitrary), rate: max(1, deviceMotionRate))
  }

  /// Starts accelerometer batches to be read from `accelerometerBatch`.
  public func startAccelerometerUpdates() {
    accelerometer.start(accelerometerStage, delivery: delivery, executor: nil, handler: nil)
  }

  /// Starts accelerometer batches that call `handler` on `queue`.
  public func startAccelerometerUpdates(
    to queue: DispatchQueue, withHandler handler: @escaping MotionManager.Handler<Batch<AccelerometerData>>
  ) {
    accelerometer.start(accelerometerStage, delivery: delivery, executor: .queue(queue), handler: handler)
  }

  /// Stops accelerometer batches.
  public func stopAccelerometerUpdates() { accelerometer.stop() }

  /// Accelerometer batches as a sequence.
  public func accelerometerUpdates() -> MotionUpdates<Batch<AccelerometerData>> {
    let stage = accelerometerStage
    return accelerometer.updates(delivery: delivery) { stage }
  }

  /// Starts device motion batches to be read from `deviceMotionBatch`.
  public func startDeviceMotionUpdates() {
    motion.start(motionStage, delivery: delivery, executor: nil, handler: nil)
  }

  /// Starts device motion batches that call `handler` on `queue`.
  public func startDeviceMotionUpdates(
    to queue: DispatchQueue, withHandler handler: @escaping MotionManager.Handler<Batch<DeviceMotion>>
  ) {
    motion.start(motionStage, delivery: delivery, executor: .queue(queue), handler: handler)
  }

  /// Stops device motion batches.
  public func stopDeviceMotionUpdates() { motion.stop() }

  /// Device motion batches as a sequence.
  public func deviceMotionUpdates() -> MotionUpdates<Batch<DeviceMotion>> {
    let stage = motionStage
    return motion.updates(delivery: delivery) { stage }
  }
}
