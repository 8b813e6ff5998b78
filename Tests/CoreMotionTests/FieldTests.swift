import CoreMotion
import MotionKitLinux
import MotionTestSupport
import SensorFusion
import Testing

@Suite struct FieldTests {
  private func motions(_ scene: String) async throws -> Log<CMDeviceMotion> {
    let log = Log<CMDeviceMotion>()
    try await MotionReplay.run(scene) {
      let manager = CMMotionManager()
      manager.deviceMotionUpdateInterval = 0.1
      manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical, to: .main) { log.add($0, $1) }
      return manager
    }
    return log
  }

  @Test(arguments: ["mag_bias=150,0,0&yaw=90", "field=200", "field=12"])
  func aFieldThatIsNotTheEarthsIsNeverTrusted(setting: String) async throws {
    let log = try await motions("sim:still?duration=20&\(setting)")
    #expect(!log.values.isEmpty)
    for motion in log.values {
      #expect(motion.magneticField.accuracy.rawValue <= CMMagneticFieldCalibrationAccuracy.low.rawValue)
      if motion.heading >= 0 { #expect(motion.headingAccuracy > 90) }
    }
    // And movement is asked for, once.
    #expect(log.errors.map(\.code) == [Int(CMErrorDeviceRequiresMovement.rawValue)])
  }

  @Test(arguments: [25.0, 48, 65])
  func theEarthsFieldIsTrusted(strength: Double) async throws {
    let log = try await motions("sim:still?duration=20&field=\(strength)")
    #expect(try #require(log.values.last).magneticField.accuracy.rawValue > 0)
    #expect(try #require(log.values.last).headingAccuracy < 15)
    #expect(log.errors.isEmpty)
  }
}
