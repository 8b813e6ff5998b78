import Foundation
import MotionKitLinux
import SensorFusion

/// The device's accelerometer, gyroscope, magnetometer and device motion.
///
/// Behaves as Core Motion's, and where Core Motion is silent says why: a handler whose sensor or frame is not there
/// gets one error, and so does each handler at the end of a recording or a scene (`CMErrorNilData`; nothing is active then).
/// Samples come from the source named by MOTIONKIT_SOURCE, else from this machine's IIO devices.
/// `OperationQueue.main` needs a main run loop: `RunLoop.main.run()`, `dispatchMain()` or an async `main`.
open class CMMotionManager: NSObject {
  private let manager: MotionManager
  private let frame = Locked(CMAttitudeReferenceFrame.xArbitraryZVertical)

  /// A manager of the process's source.
  public override init() {
    manager = MotionManager()
    super.init()
  }

  /// The manager underneath, which tells what Core Motion keeps to itself: why nothing comes (`deviceMotionError` and its
  /// siblings), the interval really reached, what was dropped, the gyroscope's bias. Not in Apple's framework; its type
  /// needs `import MotionKitLinux`.
  public var underlying: MotionManager { manager }

  // MARK: Accelerometer

  /// Seconds between accelerometer updates that are asked for; may be changed while they run.
  open var accelerometerUpdateInterval: TimeInterval {
    get { manager.accelerometerUpdateInterval }
    set { manager.accelerometerUpdateInterval = newValue }
  }
  /// Whether there is an accelerometer.
  open var isAccelerometerAvailable: Bool { manager.isAccelerometerAvailable }
  /// Whether accelerometer updates were started since the last stop.
  open var isAccelerometerActive: Bool { manager.isAccelerometerActive }
  /// The newest reading; nil before the first and after stop.
  open var accelerometerData: CMAccelerometerData? { manager.accelerometerData.map { CMAccelerometerData($0) } }

  /// Starts accelerometer updates to be read from `accelerometerData`.
  open func startAccelerometerUpdates() { manager.startAccelerometerUpdates() }

  /// Starts accelerometer updates that call `handler` on `queue`.
  open func startAccelerometerUpdates(to queue: OperationQueue, withHandler handler: @escaping CMAccelerometerHandler) {
    manager.startAccelerometerUpdates(on: .operations(of: queue), handler: adapt(handler) { CMAccelerometerData($0) })
  }

  /// Stops accelerometer updates; no handler call begins after this returns, and no other operation is cancelled.
  open func stopAccelerometerUpdates() { manager.stopAccelerometerUpdates() }

  // MARK: Gyroscope

  /// Seconds between gyroscope updates that are asked for; may be changed while they run.
  open var gyroUpdateInterval: TimeInterval {
    get { manager.gyroUpdateInterval }
    set { manager.gyroUpdateInterval = newValue }
  }
  /// Whether there is a gyroscope.
  open var isGyroAvailable: Bool { manager.isGyroAvailable }
  /// Whether gyroscope updates were started since the last stop.
  open var isGyroActive: Bool { manager.isGyroActive }
  /// The newest reading; nil before the first and after stop.
  open var gyroData: CMGyroData? { manager.gyroData.map { CMGyroData($0) } }

  /// Starts gyroscope updates to be read from `gyroData`.
  open func startGyroUpdates() { manager.startGyroUpdates() }

  /// Starts gyroscope updates that call `handler` on `queue`.
  open func startGyroUpdates(to queue: OperationQueue, withHandler handler: @escaping CMGyroHandler) {
    manager.startGyroUpdates(on: .operations(of: queue), handler: adapt(handler) { CMGyroData($0) })
  }

  /// Stops gyroscope updates; no handler call begins after this returns.
  open func stopGyroUpdates() { manager.stopGyroUpdates() }

  // MARK: Magnetometer

  /// Seconds between magnetometer updates that are asked for; may be changed while they run.
  open var magnetometerUpdateInterval: TimeInterval {
    get { manager.magnetometerUpdateInterval }
    set { manager.magnetometerUpdateInterval = newValue }
  }
  /// Whether there is a magnetometer.
  open var isMagnetometerAvailable: Bool { manager.isMagnetometerAvailable }
  /// Whether magnetometer updates were started since the last stop.
  open var isMagnetometerActive: Bool { manager.isMagnetometerActive }
  /// The newest reading; nil before the first and after stop.
  open var magnetometerData: CMMagnetometerData? { manager.magnetometerData.map { CMMagnetometerData($0) } }

  /// Starts magnetometer updates to be read from `magnetometerData`.
  open func startMagnetometerUpdates() { manager.startMagnetometerUpdates() }

  /// Starts magnetometer updates that call `handler` on `queue`.
  open func startMagnetometerUpdates(to queue: OperationQueue, withHandler handler: @escaping CMMagnetometerHandler) {
    manager.startMagnetometerUpdates(on: .operations(of: queue), handler: adapt(handler) { CMMagnetometerData($0) })
  }

  /// Stops magnetometer updates; no handler call begins after this returns.
  open func stopMagnetometerUpdates() { manager.stopMagnetometerUpdates() }

  // MARK: Device motion

  /// Seconds between device motion updates that are asked for; may be changed while they run.
  open var deviceMotionUpdateInterval: TimeInterval {
    get { manager.deviceMotionUpdateInterval }
    set { manager.deviceMotionUpdateInterval = newValue }
  }
  /// Whether there are an accelerometer and a gyroscope.
  open var isDeviceMotionAvailable: Bool { manager.isDeviceMotionAvailable }
  /// Whether device motion was started since the last stop.
  open var isDeviceMotionActive: Bool { manager.isDeviceMotionActive }
  /// The newest motion; nil before the first and after stop.
  open var deviceMotion: CMDeviceMotion? { manager.deviceMotion.map { CMDeviceMotion($0) } }

  /// The frames that can be had here; empty without device motion. True north needs a known location.
  open class func availableAttitudeReferenceFrames() -> CMAttitudeReferenceFrame {
    let manager = MotionManager()
    guard manager.isDeviceMotionAvailable else { return [] }
    var frames: CMAttitudeReferenceFrame = .xArbitraryZVertical
    guard manager.isMagnetometerAvailable else { return frames }
    frames.formUnion([.xArbitraryCorrectedZVertical, .xMagneticNorthZVertical])
    if MagneticDeclination.current != nil { frames.insert(.xTrueNorthZVertical) }
    return frames
  }

  /// The frame in use or used last; `xArbitraryZVertical` before any.
  open var attitudeReferenceFrame: CMAttitudeReferenceFrame { frame.withLock { $0 } }

  /// Kept for source compatibility: Linux has no calibration display. The handler gets
  /// `CMErrorDeviceRequiresMovement` once where the device must be moved.
  open var showsDeviceMovementDisplay = false

  /// Starts device motion in the frame used last, to be read from `deviceMotion`.
  open func startDeviceMotionUpdates() { start(using: attitudeReferenceFrame, to: nil, handler: nil) }

  /// Starts device motion in the frame used last and calls `handler` on `queue`.
  open func startDeviceMotionUpdates(to queue: OperationQueue, withHandler handler: @escaping CMDeviceMotionHandler) {
    start(using: attitudeReferenceFrame, to: queue, handler: handler)
  }

  /// Starts device motion in a frame, to be read from `deviceMotion`.
  open func startDeviceMotionUpdates(using referenceFrame: CMAttitudeReferenceFrame) {
    start(using: referenceFrame, to: nil, handler: nil)
  }

  /// Starts device motion in a frame and calls `handler` on `queue`.
  open func startDeviceMotionUpdates(
    using referenceFrame: CMAttitudeReferenceFrame, to queue: OperationQueue,
    withHandler handler: @escaping CMDeviceMotionHandler
  ) {
    start(using: referenceFrame, to: queue, handler: handler)
  }

  /// Stops device motion; no handler call begins after this returns, and no other operation is cancelled.
  open func stopDeviceMotionUpdates() { manager.stopDeviceMotionUpdates() }

  private func start(
    using referenceFrame: CMAttitudeReferenceFrame, to queue: OperationQueue?, handler: CMDeviceMotionHandler?
  ) {
    let used: ReferenceFrame
    switch referenceFrame {
    case .xArbitraryZVertical: used = .arbitrary
    case .xArbitraryCorrectedZVertical: used = .arbitraryCorrected
    case .xMagneticNorthZVertical: used = .magneticNorth
    case .xTrueNorthZVertical:
      frame.withLock { $0 = referenceFrame }
      if let declination = MagneticDeclination.current {
        used = .trueNorth(declination: declination)
      } else if availableSensorsGiveNorth {
        manager.stopDeviceMotionUpdates()
        report(CMErrorTrueNorthNotAvailable.error(MagneticDeclination.problem), to: queue, handler)
        return
      } else {
        // What is missing first is a sensor, and the start says which.
        used = .trueNorth(declination: 0)
      }
    default:
      manager.stopDeviceMotionUpdates()
      let message = "the reference frame must be exactly one of the four; got the bits \(referenceFrame.rawValue)"
      report(CMErrorInvalidParameter.error(message), to: queue, handler)
      return
    }
    frame.withLock { $0 = referenceFrame }
    guard let queue, let handler else { return manager.startDeviceMotionUpdates(using: used) }
    let deliver: MotionManager.Handler<DeviceMotion> = adapt(handler) { CMDeviceMotion($0) }
    guard used.hasNorth else {
      return manager.startDeviceMotion(using: used, on: .operations(of: queue), handler: deliver)
    }
    let watch = Unchecked(MovementWatch())
    let unchecked = Unchecked(handler)
    manager.startDeviceMotion(using: used, on: .operations(of: queue)) { result in
      if let motion = try? result.get(), watch.value.requiresMovement(motion) {
        unchecked.value(nil, CMErrorDeviceRequiresMovement.error(MovementWatch.message))
      }
      deliver(result)
    }
  }

  private var availableSensorsGiveNorth: Bool { manager.isDeviceMotionAvailable && manager.isMagnetometerAvailable }

  private func report(_ error: NSError, to queue: OperationQueue?, _ handler: CMDeviceMotionHandler?) {
    guard let queue, let handler else { return }
    manager.source.refuse(to: queue, because: error) { handler(nil, $0) }
  }
}

/// Decides when to ask for movement: once, when for some seconds there is no heading or the field is not the earth's, so
/// that the magnetometer must be calibrated.
private final class MovementWatch {
  /// So long the filter may take to find north by itself, and so long one may pass a magnet, seconds of samples.
  private static let patience = 3.0
  static let message =
    "there is no usable heading: move the device in a figure of eight, away from iron and magnets, or run"
    + " 'motionlog calibrate mag'"

  private var start: Double?
  private var hasAsked = false

  /// Called for each motion, one at a time.
  func requiresMovement(_ motion: DeviceMotion) -> Bool {
    if hasAsked { return false }
    guard motion.magneticFieldAccuracy == .uncalibrated || !motion.hasPlausibleField else {
      start = nil
      return false
    }
    let start = self.start ?? motion.timestamp
    self.start = start
    hasAsked = motion.timestamp - start >= Self.patience
    return hasAsked
  }
}
