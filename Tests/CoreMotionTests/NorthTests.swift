import CoreMotion
import MotionKitLinux
import MotionTestSupport
import Testing

@Suite struct NorthTests {
  @Test func trueNorthWithoutALocationSaysSo() async throws {
    let source = silent([.accelerometer, .gyroscope, .magnetometer])
    let error = await first { (tell: @escaping ((any Error)?) -> Void) in
      SharedSource.$override.withValue(source) {
        let manager = CMMotionManager()
        manager.startDeviceMotionUpdates(using: .xTrueNorthZVertical, to: .main) { _, error in tell(error) }
        #expect(!manager.isDeviceMotionActive && manager.deviceMotion == nil)
        #expect(manager.attitudeReferenceFrame == .xTrueNorthZVertical)
      }
    }
    let told = try #require(error as NSError?)
    #expect(told.code == Int(CMErrorTrueNorthNotAvailable.rawValue))
    #expect(told.localizedDescription.contains("MOTIONKIT_LOCATION"))
  }

  @Test func gravityFollowsFromTheAttitudeAndEveryFrameHasItsHeading() async throws {
    let frames: [(CMAttitudeReferenceFrame, Bool)] = [
      (.xArbitraryZVertical, false), (.xArbitraryCorrectedZVertical, false), (.xMagneticNorthZVertical, true),
      (.xTrueNorthZVertical, true),
    ]
    let declination = 0.1
    var headings: [Double] = []
    for (frame, hasNorth) in frames {
      let log = Log<CMDeviceMotion>()
      try await MagneticDeclination.$override.withValue(.angle(declination)) {
        _ = try await MotionReplay.run("sim:rotate?duration=20&errors=none") {
          let manager = CMMotionManager()
          manager.startDeviceMotionUpdates(using: frame, to: OperationQueue()) { log.add($0, $1) }
          #expect(manager.attitudeReferenceFrame == frame)
          return manager
        }
      }
      #expect(log.errors.isEmpty)
      #expect(log.values.count > 1500)
      for motion in log.values {
        let f = Formulae(q: motion.attitude.quaternion)
        #expect(abs(motion.gravity.x + f.m13) < 1e-6)
        #expect(abs(motion.gravity.y + f.m23) < 1e-6)
        #expect(abs(motion.gravity.z + f.m33) < 1e-6)
        #expect(matches(motion.attitude.rotationMatrix, f, 1e-9))
        if hasNorth {
          // The device's x axis in the reference frame is the matrix's first row; north is x, west is y.
          let expected = (atan2(-f.m12, f.m11) * 180 / .pi + 360).truncatingRemainder(dividingBy: 360)
          #expect(angle(motion.heading * .pi / 180, expected * .pi / 180) < 1e-6)
          #expect((0..<360).contains(motion.heading))
        } else {
          #expect(motion.heading < 0)
        }
      }
      headings.append(try #require(log.values.last).heading)
    }
    // True north is the declination further.
    #expect(angle((headings[3] - headings[2]) * .pi / 180, declination) < 1e-3)
  }
}
