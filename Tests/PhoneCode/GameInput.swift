// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
// Pull in a game loop.
import CoreMotion

public final class GameInput {
  let motion = CMMotionManager()
  var referenceAttitude: CMAttitude?
  var timer: Timer?

  public init() {
    motion.showsDeviceMovementDisplay = true
  }

  public func startSensors() {
    if motion.isAccelerometerAvailable {
      motion.accelerometerUpdateInterval = 1.0 / 60.0
      motion.startAccelerometerUpdates()
    }
    if motion.isGyroAvailable {
      motion.gyroUpdateInterval = 1.0 / 60.0
      motion.startGyroUpdates()
    }
    if motion.isMagnetometerAvailable {
      motion.magnetometerUpdateInterval = 0.1
      motion.startMagnetometerUpdates()
    }
    motion.startDeviceMotionUpdates(using: .xArbitraryZVertical)
    timer = Timer(
      fire: Date(), interval: 1.0 / 60.0, repeats: true,
      block: { (timer) in
        if let data = self.motion.accelerometerData {
          let x = data.acceleration.x
          let y = data.acceleration.y
          _ = (x, y)
        }
      })
    RunLoop.current.add(timer!, forMode: .default)
  }

  public func calibrate() {
    referenceAttitude = motion.deviceMotion?.attitude.copy() as? CMAttitude
  }

  public var steering: (pitch: Double, roll: Double)? {
    guard let motion = motion.deviceMotion else { return nil }
    let attitude = motion.attitude
    if let reference = referenceAttitude {
      attitude.multiply(byInverseOf: reference)
    }
    return (attitude.pitch, attitude.roll)
  }

  public var snapshot: [String: Double] {
    var result: [String: Double] = [:]
    if let rate = motion.gyroData?.rotationRate { result["spin"] = rate.z }
    if let field = motion.magnetometerData?.magneticField { result["field"] = field.x }
    if let acceleration = motion.accelerometerData?.acceleration { result["z"] = acceleration.z }
    return result
  }

  public func stopSensors() {
    timer?.invalidate()
    timer = nil
    motion.stopAccelerometerUpdates()
    motion.stopGyroUpdates()
    motion.stopMagnetometerUpdates()
    motion.stopDeviceMotionUpdates()
  }
}
