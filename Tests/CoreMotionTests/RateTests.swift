import CoreMotion
import MotionKitLinux
import MotionTestSupport
import SensorFusion
import Testing

/// Milliseconds since a scene's beginning.
private func milliseconds(_ items: [CMLogItem]) -> [Int] { items.map { Int((($0.timestamp - 1000) * 1000).rounded()) } }

@Suite struct RateTests {
  @Test func aRateRaisedInTheHandlerHoldsFromTheNextSample() async throws {
    let log = Log<CMAccelerometerData>()
    try await MotionReplay.run("sim:rotate?duration=4") {
      let manager = CMMotionManager()
      manager.accelerometerUpdateInterval = 0.1
      manager.startAccelerometerUpdates(to: .main) { data, error in
        log.add(data, error)
        if log.values.count == 10 { manager.accelerometerUpdateInterval = 0.01 }
      }
      return manager
    }
    // Ten at 10 Hz, the last at 0.9 s; then every 10 ms to the end.
    let expected = Array(stride(from: 0, through: 900, by: 100)) + stride(from: 910, to: 4000, by: 10)
    #expect(milliseconds(log.values) == expected)
  }

  @Test func deviceMotionCanBeRaisedAboveTheRateItBeganWith() async throws {
    let log = Log<CMDeviceMotion>()
    try await MotionReplay.run("sim:rotate?duration=4") {
      let manager = CMMotionManager()
      manager.deviceMotionUpdateInterval = 0.1
      manager.startDeviceMotionUpdates(to: .main) { data, error in
        log.add(data, error)
        if log.values.count == 10 { manager.deviceMotionUpdateInterval = 0.005 }
      }
      return manager
    }
    let times = milliseconds(log.values)
    let late = times.drop { $0 < 1200 }
    #expect(zip(late, late.dropFirst()).allSatisfy { $1 - $0 == 5 })
    #expect(try #require(times.last) == 3995)
  }

  @Test func aSecondManagerGetsItsOwnRateWhateverTheFirstAskedFor() async throws {
    let slow = Log<CMAccelerometerData>()
    let fast = Log<CMAccelerometerData>()
    let gyro = Log<CMGyroData>()
    try await MotionReplay.run("sim:rotate?duration=4") {
      let (first, second) = (CMMotionManager(), CMMotionManager())
      first.accelerometerUpdateInterval = 0.5
      second.accelerometerUpdateInterval = 0.01
      second.gyroUpdateInterval = 0.0025
      first.startAccelerometerUpdates(to: .main) { data, error in
        slow.add(data, error)
        guard slow.values.count == 3 else { return }
        second.startAccelerometerUpdates(to: .main) { fast.add($0, $1) }
        second.startGyroUpdates(to: .main) { gyro.add($0, $1) }
      }
      return (first, second)
    }
    #expect(milliseconds(slow.values) == Array(stride(from: 0, to: 4000, by: 500)))
    #expect(milliseconds(fast.values) == Array(stride(from: 1010, to: 4000, by: 10)))
    let spacing = zip(gyro.values.dropFirst(), gyro.values.dropFirst(2)).map { $1.timestamp - $0.timestamp }
    #expect(gyro.values.count > 1190 && spacing.allSatisfy { abs($0 - 0.0025) < 1e-9 })
  }

  @Test func raisingIsTheSameEveryTimeWithEveryErrorOfTheSensors() async throws {
    var runs: [[Double]] = []
    let uri = "sim:walk?steps=8&errors=mems&accel_jitter=0.0004&gyro_drop=0.02&accel_bandwidth=40"
    for _ in 0..<2 {
      let log = Log<CMDeviceMotion>()
      let raw = Log<CMAccelerometerData>()
      try await MotionReplay.run(uri) {
        let manager = CMMotionManager()
        manager.accelerometerUpdateInterval = 0.02
        manager.startAccelerometerUpdates(to: .main) { data, error in
          raw.add(data, error)
          if raw.values.count == 50 { manager.accelerometerUpdateInterval = 1.0 / 333 }
          if raw.values.count == 200 { manager.deviceMotionUpdateInterval = 1.0 / 250 }
        }
        manager.startDeviceMotionUpdates(to: .main) { log.add($0, $1) }
        return manager
      }
      #expect(zip(raw.values, raw.values.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
      runs.append(
        raw.values.flatMap { [$0.timestamp, $0.acceleration.x, $0.acceleration.z] }
          + log.values.flatMap { [$0.timestamp, $0.attitude.quaternion.x, $0.userAcceleration.z] })
    }
    #expect(runs[0].count > 3000)
    #expect(runs[0] == runs[1])
  }

  @Test func anImpossibleRateIsTheFastestThereIs() async throws {
    let log = Log<CMGyroData>()
    try await MotionReplay.run("sim:still?duration=0.02") {
      let manager = CMMotionManager()
      manager.gyroUpdateInterval = 1e-9
      manager.startGyroUpdates(to: .main) { log.add($0, $1) }
      return manager
    }
    #expect(log.errors.isEmpty && log.values.count == 80)
  }
}
