import Dispatch
import SensorFusion

/// The device's accelerometer, gyroscope, magnetometer and the motion computed from them.
///
/// Push: `start…Updates(to:withHandler:)` calls the handler on your queue, in order, one call at a time; it gets one
/// failure, with the reason, where the service cannot run or stops running. Pull: `start…Updates()` and read the
/// property. Loop: `for try await motion in manager.deviceMotionUpdates()`. Values are in Core Motion's units and signs.
///
///     let manager = MotionManager()
///     manager.startDeviceMotionUpdates(to: .main) { result in
///       if let motion = try? result.get() { print(motion.attitude.pitch) }
///     }
///
/// Managers without a source of their own use `SharedSource.current`; any number of them share it. Letting go of a
/// manager stops it.
///
/// Where a recording or a scene ends, each handler gets one failure (`MotionKitError.ended`), loops end, and the
/// services are no longer active. A device that was lost is waited for instead: its services stay active and go on when it
/// is back; `SharedSource.eventCounts` has `lost` and `found`.
public final class MotionManager: Sendable {
  /// Where the samples come from: the source it was given, else the process's (`SharedSource.current`), which is looked
  /// up anew at each start while nothing of this manager runs.
  public var source: SharedSource { binding.source }
  /// How values wait for a slow handler.
  public let delivery: Delivery

  private let binding: SourceBinding
  private let accelerometer: UpdateChannel<RawStage<AccelerometerData>>
  private let gyroscope: UpdateChannel<RawStage<GyroscopeData>>
  private let magnetometer: UpdateChannel<RawStage<MagnetometerData>>
  private let motion: UpdateChannel<DeviceMotionStage>
  private let frame = Locked(ReferenceFrame.arbitrary)

  /// A handler of a stream of values: each value, or one failure.
  public typealias Handler<Value> = @Sendable (Result<Value, MotionKitError>) -> Void

  /// Update intervals before any is set, seconds: Core Motion's own.
  public static let defaultUpdateInterval = 0.01
  /// The magnetometer's, seconds.
  public static let defaultMagnetometerUpdateInterval = 0.04

  /// A manager of a source; nil, the default, for the process's.
  public init(source: SharedSource? = nil, delivery: Delivery = .automatic) {
    let binding = SourceBinding(source)
    self.binding = binding
    self.delivery = delivery
    accelerometer = UpdateChannel(
      binding: binding, purpose: "accelerometer updates", interval: Self.defaultUpdateInterval)
    gyroscope = UpdateChannel(binding: binding, purpose: "gyroscope updates", interval: Self.defaultUpdateInterval)
    magnetometer = UpdateChannel(
      binding: binding, purpose: "magnetometer updates", interval: Self.defaultMagnetometerUpdateInterval)
    motion = UpdateChannel(binding: binding, purpose: "device motion", interval: Self.defaultUpdateInterval)
  }

  /// Values dropped so far because handlers or loops were too slow, all services together.
  public var droppedSampleCount: Int64 {
    accelerometerStatistics.droppedSampleCount + gyroStatistics.droppedSampleCount
      + magnetometerStatistics.droppedSampleCount + deviceMotionStatistics.droppedSampleCount
  }

  // MARK: Accelerometer

  static let accelerometerStage = RawStage<AccelerometerData>(pacingSensor: .accelerometer) {
    AccelerometerData($0)
  }

  /// Whether there is an accelerometer.
  public var isAccelerometerAvailable: Bool { source.has(.accelerometer) }
  /// Whether accelerometer updates were started since the last stop and have not failed.
  public var isAccelerometerActive: Bool { accelerometer.isActive }
  /// Seconds between accelerometer updates that are asked for; may be changed while they run.
  public var accelerometerUpdateInterval: Double {
    get { accelerometer.interval }
    set { accelerometer.interval = newValue }
  }
  /// The newest reading; nil before the first and after stop.
  public var accelerometerData: AccelerometerData? { accelerometer.latest }
  /// Why accelerometer updates failed; nil while all is well.
  public var accelerometerError: MotionKitError? { accelerometer.error }
  /// The interval really reached, its jitter, and what was dropped.
  public var accelerometerStatistics: UpdateStatistics { accelerometer.statistics }

  /// Starts accelerometer updates to be read from `accelerometerData`.
  public func startAccelerometerUpdates() {
    accelerometer.start(Self.accelerometerStage, delivery: delivery, executor: nil, handler: nil)
  }

  /// Starts accelerometer updates that call `handler` on `queue`; replaces the handler of a service that runs.
  public func startAccelerometerUpdates(
    to queue: DispatchQueue, withHandler handler: @escaping Handler<AccelerometerData>
  ) {
    startAccelerometerUpdates(on: .queue(queue), handler: handler)
  }

  package func startAccelerometerUpdates(
    on executor: HandlerExecutor, handler: @escaping Handler<AccelerometerData>
  ) {
    accelerometer.start(Self.accelerometerStage, delivery: delivery, executor: executor, handler: handler)
  }

  /// Stops accelerometer updates; no handler call begins after this returns.
  public func stopAccelerometerUpdates() { accelerometer.stop() }

  /// Accelerometer updates as a sequence, at `accelerometerUpdateInterval`.
  public func accelerometerUpdates() -> MotionUpdates<AccelerometerData> {
    accelerometer.updates(delivery: delivery) { Self.accelerometerStage }
  }

  // MARK: Gyroscope

  private static let gyroStage = RawStage<GyroscopeData>(pacingSensor: .gyroscope) { GyroscopeData($0) }

  /// Whether there is a gyroscope.
  public var isGyroAvailable: Bool { source.has(.gyroscope) }
  /// Whether gyroscope updates were started since the last stop and have not failed.
  public var isGyroActive: Bool { gyroscope.isActive }
  /// Seconds between gyroscope updates that are asked for; may be changed while they run.
  public var gyroUpdateInterval: Double {
    get { gyroscope.interval }
    set { gyroscope.interval = newValue }
  }
  /// The newest reading; nil before the first and after stop.
  public var gyroData: GyroscopeData? { gyroscope.latest }
  /// Why gyroscope updates failed; nil while all is well.
  public var gyroError: MotionKitError? { gyroscope.error }
  /// The interval really reached, its jitter, and what was dropped.
  public var gyroStatistics: UpdateStatistics { gyroscope.statistics }

  /// Starts gyroscope updates to be read from `gyroData`.
  public func startGyroUpdates() {
    gyroscope.start(Self.gyroStage, delivery: delivery, executor: nil, handler: nil)
  }

  /// Starts gyroscope updates that call `handler` on `queue`; replaces the handler of a service that runs.
  public func startGyroUpdates(to queue: DispatchQueue, withHandler handler: @escaping Handler<GyroscopeData>) {
    startGyroUpdates(on: .queue(queue), handler: handler)
  }

  package func startGyroUpdates(on executor: HandlerExecutor, handler: @escaping Handler<GyroscopeData>) {
    gyroscope.start(Self.gyroStage, delivery: delivery, executor: executor, handler: handler)
  }

  /// Stops gyroscope updates; no handler call begins after this returns.
  public func stopGyroUpdates() { gyroscope.stop() }

  /// Gyroscope updates as a sequence, at `gyroUpdateInterval`.
  public func gyroUpdates() -> MotionUpdates<GyroscopeData> {
    gyroscope.updates(delivery: delivery) { Self.gyroStage }
  }

  // MARK: Magnetometer

  private static let magnetometerStage = RawStage<MagnetometerData>(pacingSensor: .magnetometer) {
    MagnetometerData($0)
  }

  /// Whether there is a magnetometer.
  public var isMagnetometerAvailable: Bool { source.has(.magnetometer) }
  /// Whether magnetometer updates were started since the last stop and have not failed.
  public var isMagnetometerActive: Bool { magnetometer.isActive }
  /// Seconds between magnetometer updates that are asked for; may be changed while they run.
  public var magnetometerUpdateInterval: Double {
    get { magnetometer.interval }
    set { magnetometer.interval = newValue }
  }
  /// The newest reading; nil before the first and after stop.
  public var magnetometerData: MagnetometerData? { magnetometer.latest }
  /// Why magnetometer updates failed; nil while all is well.
  public var magnetometerError: MotionKitError? { magnetometer.error }
  /// The interval really reached, its jitter, and what was dropped.
  public var magnetometerStatistics: UpdateStatistics { magnetometer.statistics }

  /// Starts magnetometer updates to be read from `magnetometerData`.
  public func startMagnetometerUpdates() {
    magnetometer.start(Self.magnetometerStage, delivery: delivery, executor: nil, handler: nil)
  }

  /// Starts magnetometer updates that call `handler` on `queue`; replaces the handler of a service that runs.
  public func startMagnetometerUpdates(
    to queue: DispatchQueue, withHandler handler: @escaping Handler<MagnetometerData>
  ) {
    startMagnetometerUpdates(on: .queue(queue), handler: handler)
  }

  package func startMagnetometerUpdates(on executor: HandlerExecutor, handler: @escaping Handler<MagnetometerData>) {
    magnetometer.start(Self.magnetometerStage, delivery: delivery, executor: executor, handler: handler)
  }

  /// Stops magnetometer updates; no handler call begins after this returns.
  public func stopMagnetometerUpdates() { magnetometer.stop() }

  /// Magnetometer updates as a sequence, at `magnetometerUpdateInterval`.
  public func magnetometerUpdates() -> MotionUpdates<MagnetometerData> {
    magnetometer.updates(delivery: delivery) { Self.magnetometerStage }
  }

  // MARK: Device motion

  /// Whether there are an accelerometer and a gyroscope, which device motion needs.
  public var isDeviceMotionAvailable: Bool { source.has(.accelerometer) && source.has(.gyroscope) }
  /// Whether device motion was started since the last stop and has not failed.
  public var isDeviceMotionActive: Bool { motion.isActive }
  /// Seconds between device motion updates that are asked for; may be changed while they run.
  public var deviceMotionUpdateInterval: Double {
    get { motion.interval }
    set { motion.interval = newValue }
  }
  /// The newest motion; nil before the first and after stop.
  public var deviceMotion: DeviceMotion? { motion.latest }
  /// Why device motion failed; nil while all is well.
  public var deviceMotionError: MotionKitError? { motion.error }
  /// The interval really reached, its jitter, and what was dropped.
  public var deviceMotionStatistics: UpdateStatistics { motion.statistics }

  /// The frame of the attitudes: the one in use or used last, `arbitrary` before that.
  public var referenceFrame: ReferenceFrame { frame.withLock { $0 } }

  /// Starts device motion in `frame` (without one: the frame used last) to be read from `deviceMotion`.
  public func startDeviceMotionUpdates(using frame: ReferenceFrame? = nil) {
    startDeviceMotion(using: frame, on: nil, handler: nil)
  }

  /// Starts device motion in `frame` (without one: the frame used last) and calls `handler` on `queue`; replaces
  /// frame and handler of a service that runs.
  public func startDeviceMotionUpdates(
    using frame: ReferenceFrame? = nil, to queue: DispatchQueue, withHandler handler: @escaping Handler<DeviceMotion>
  ) {
    startDeviceMotion(using: frame, on: .queue(queue), handler: handler)
  }

  package func startDeviceMotion(
    using frame: ReferenceFrame?, on executor: HandlerExecutor?, handler: Handler<DeviceMotion>?
  ) {
    let used = self.frame.withLock { current -> ReferenceFrame in
      if let frame { current = frame }
      return current
    }
    motion.start(DeviceMotionStage(frame: used), delivery: delivery, executor: executor, handler: handler)
  }

  /// Stops device motion; no handler call begins after this returns.
  public func stopDeviceMotionUpdates() { motion.stop() }

  /// Device motion as a sequence, in `frame` (without one: the frame used last), at `deviceMotionUpdateInterval`.
  public func deviceMotionUpdates(using frame: ReferenceFrame? = nil) -> MotionUpdates<DeviceMotion> {
    let used = frame ?? referenceFrame
    return motion.updates(delivery: delivery) { DeviceMotionStage(frame: used) }
  }
}
