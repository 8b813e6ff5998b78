// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
// Mocks by subclassing, as test suites have them.
import CoreMotion
import Foundation

public protocol MotionProviding: AnyObject {
  var isAccelerometerAvailable: Bool { get }
  var accelerometerUpdateInterval: TimeInterval { get set }
  func startAccelerometerUpdates(to queue: OperationQueue, withHandler handler: @escaping CMAccelerometerHandler)
  func stopAccelerometerUpdates()
}

extension CMMotionManager: MotionProviding {}

public class MockAccelerometerData: CMAccelerometerData {
  private var mockAcceleration: CMAcceleration
  public init(x: Double, y: Double, z: Double) {
    mockAcceleration = CMAcceleration(x: x, y: y, z: z)
    super.init()
  }
  required init?(coder: NSCoder) {
    mockAcceleration = CMAcceleration()
    super.init(coder: coder)
  }
  public override var acceleration: CMAcceleration {
    get { mockAcceleration }
    set { mockAcceleration = newValue }
  }
  public override var timestamp: TimeInterval { 42 }
}

public class MockAttitude: CMAttitude {
  public override var pitch: Double { 0.5 }
  public override var roll: Double { 0.25 }
  public override var yaw: Double { -1 }
}

public class MockDeviceMotion: CMDeviceMotion {
  public override var attitude: CMAttitude { MockAttitude() }
  public override var gravity: CMAcceleration { CMAcceleration(x: 0, y: -1, z: 0) }
  public override var userAcceleration: CMAcceleration { CMAcceleration() }
  public override var rotationRate: CMRotationRate { CMRotationRate(x: 1, y: 2, z: 3) }
  public override var magneticField: CMCalibratedMagneticField {
    CMCalibratedMagneticField(field: CMMagneticField(x: 1, y: 2, z: 3), accuracy: .high)
  }
  public override var heading: Double { 90 }
}

public class MockMotionManager: CMMotionManager {
  public var handler: CMAccelerometerHandler?
  var mockMotion: CMDeviceMotion?
  var active = false
  public override var isAccelerometerAvailable: Bool { true }
  public override var isAccelerometerActive: Bool { active }
  public override var isDeviceMotionAvailable: Bool { return true }
  public override var deviceMotion: CMDeviceMotion? {
    get { mockMotion }
    set { mockMotion = newValue }
  }
  public override func startAccelerometerUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMAccelerometerHandler
  ) {
    active = true
    self.handler = handler
  }
  public override func stopAccelerometerUpdates() {
    active = false
    handler = nil
  }
  public func send(x: Double, y: Double, z: Double) {
    handler?(MockAccelerometerData(x: x, y: y, z: z), nil)
  }
  public func fail(_ code: CMError) {
    handler?(nil, NSError(domain: CMErrorDomain, code: Int(code.rawValue), userInfo: nil))
  }
}

public class MockPedometerData: CMPedometerData {
  public override var numberOfSteps: NSNumber { 1234 }
  public override var distance: NSNumber? { 900.5 }
}

public class MockPedometer: CMPedometer {
  public override class func isStepCountingAvailable() -> Bool { true }
  public override func startUpdates(from start: Date, withHandler handler: @escaping CMPedometerHandler) {
    handler(MockPedometerData(), nil)
  }
}

public class MockActivity: CMMotionActivity {
  public override var walking: Bool { true }
  public override var confidence: CMMotionActivityConfidence { .high }
}
