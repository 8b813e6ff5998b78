import Foundation
import MotionKitLinux
import MotionTestSupport
import SensorFusion
import SpiritLevel
import Testing

@Suite struct SpiritLevelTests {
  @Test func aDeviceOnATableIsLevel() async throws {
    let level = try await MotionReplay.run("sim:still?duration=5") {
      let level = SpiritLevel()
      level.start()
      return level
    }
    #expect(level.problem == nil)
    #expect(level.tilt < 1)
    #expect(level.tips == 0)
  }

  @Test func tippingTwiceIsCountedTwice() async throws {
    // Flat; on its right edge from 3 to 4 s and from 6 to 7 s, turning there and back within 0.5 s.
    func angle(_ t: Double) -> Double {
      func ramp(_ start: Double) -> Double { max(0, min(1, (t - start) / 0.5)) }
      return .pi / 2 * (ramp(3) - ramp(4) + ramp(6) - ramp(7))
    }
    let source = ScriptedSource(seconds: 10, rate: 100) { t in
      let roll = angle(t)
      let rate = (angle(t + 0.005) - angle(t - 0.005)) / 0.01
      return [
        .accelerometer: Vector3(-9.80665 * sin(roll), 0, 9.80665 * cos(roll)), .gyroscope: Vector3(0, rate, 0),
      ]
    }
    let level = try await MotionReplay.run(source) {
      let level = SpiritLevel()
      level.start()
      return level
    }
    #expect(level.tips == 2)
    #expect(level.tilt < 2)
  }

  @Test func withoutAGyroscopeItSaysWhy() async throws {
    let level = try await MotionReplay.run("sim:still?duration=1&sensors=accel") {
      let level = SpiritLevel()
      level.start(on: .init())
      return level
    }
    while level.problem == nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(level.problem?.contains("gyroscope") == true)
  }
}
