import CoreMotion
import MotionKitLinux
import MotionTestSupport
import SensorFusion
import Testing

/// Collects what handlers get; all calls come one at a time in lockstep.
final class Log<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: [Value] = []
  private var storedErrors: [NSError] = []
  var values: [Value] { lock.withLock { stored } }
  var errors: [NSError] { lock.withLock { storedErrors } }
  func add(_ value: Value?, _ error: (any Error)?) {
    lock.withLock {
      if let value { stored.append(value) }
      if let error { storedErrors.append(error as NSError) }
    }
  }
}

@Suite struct ReplayTests {
  @Test func accelerationIsGravityPlusUserAccelerationOnEverySample() async throws {
    let raw = Log<CMAccelerometerData>()
    let motion = Log<CMDeviceMotion>()
    try await MotionReplay.run("sim:walk?steps=40") {
      let manager = CMMotionManager()
      manager.startAccelerometerUpdates(to: OperationQueue()) { raw.add($0, $1) }
      manager.startDeviceMotionUpdates(to: OperationQueue()) { motion.add($0, $1) }
      return manager
    }
    #expect(raw.values.count > 1000)
    #expect(motion.values.count > 900)
    let byTime = Dictionary(uniqueKeysWithValues: raw.values.map { ($0.timestamp, $0.acceleration) })
    var compared = 0
    for sample in motion.values {
      guard let a = byTime[sample.timestamp] else { continue }
      compared += 1
      #expect(abs(a.x - sample.gravity.x - sample.userAcceleration.x) < 1e-6)
      #expect(abs(a.y - sample.gravity.y - sample.userAcceleration.y) < 1e-6)
      #expect(abs(a.z - sample.gravity.z - sample.userAcceleration.z) < 1e-6)
    }
    #expect(compared == motion.values.count)
  }

  @Test func aReplayIsTheSameEveryTime() async throws {
    var runs: [[Double]] = []
    for _ in 0..<2 {
      let log = Log<CMDeviceMotion>()
      try await MotionReplay.run("sim:walk?steps=10") {
        let manager = CMMotionManager()
        manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical, to: .main) { log.add($0, $1) }
        return manager
      }
      runs.append(log.values.flatMap { [$0.timestamp, $0.heading, $0.attitude.quaternion.x, $0.userAcceleration.z] })
    }
    #expect(!runs[0].isEmpty)
    #expect(runs[0] == runs[1])
  }

  @Test func stepsAreCountedWithDatesAfterTheStart() async throws {
    let log = Log<CMPedometerData>()
    let start = Date()
    try await MotionReplay.run("sim:walk?steps=60") {
      let pedometer = CMPedometer()
      pedometer.startUpdates(from: start) { log.add($0, $1) }
      return pedometer
    }
    let last = try #require(log.values.last)
    #expect(abs(last.numberOfSteps.intValue - 60) <= 1)
    #expect(last.startDate == start)
    #expect(last.endDate > start)
    #expect(last.floorsAscended == 0)
    #expect(last.distance == nil)
    #expect(try #require(log.values.first?.currentCadence).doubleValue > 1)
  }

  @Test func aLiftOfThreeMetresIsSeen() async throws {
    let log = Log<CMAltitudeData>()
    try await MotionReplay.run("sim:elevator?height=3") {
      let altimeter = CMAltimeter()
      altimeter.startRelativeAltitudeUpdates(to: .main) { log.add($0, $1) }
      return altimeter
    }
    #expect(log.values.first?.relativeAltitude == 0)
    let last = try #require(log.values.last)
    #expect(abs(last.relativeAltitude.doubleValue - 3) < 0.3)
    #expect((90..<110).contains(last.pressure.doubleValue))
  }

  @Test func anEndlessSceneIsRefusedWithAWayOut() async {
    await #expect(throws: MotionKitError.self) { try await MotionReplay.run("sim:still") {} }
  }

  @Test func aHandlerThatStopsItselfIsNotCalledAgain() async throws {
    let log = Log<CMGyroData>()
    try await MotionReplay.run("sim:still?duration=3") {
      let manager = CMMotionManager()
      manager.startGyroUpdates(to: OperationQueue()) { data, error in
        log.add(data, error)
        if log.values.count == 10 { manager.stopGyroUpdates() }
      }
    }
    #expect(log.values.count == 10)
  }

  @Test func aQueueThatDoesNotRunIsReported() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    await #expect(throws: MotionKitError.self) {
      try await MotionReplay.run("sim:still?duration=3", patience: 0.2) {
        let manager = CMMotionManager()
        manager.startGyroUpdates(to: queue) { _, _ in }
        return manager
      }
    }
  }

  @Test func batchesSpanASecondAndMissNothing() async throws {
    let log = Log<[CMDeviceMotion]>()
    let raw = Log<CMDeviceMotion>()
    try await MotionReplay.run("sim:rotate?duration=5") {
      let batched = CMBatchedSensorManager()
      batched.startDeviceMotionUpdates { log.add($0, $1) }
      let manager = CMMotionManager()
      manager.startDeviceMotionUpdates(to: .main) { raw.add($0, $1) }
      return (batched, manager)
    }
    #expect(log.values.count == 5)
    #expect(log.values.flatMap { $0 }.map(\.timestamp) == raw.values.map(\.timestamp))
  }

  @Test func batchesAsASequence() async throws {
    let source = try openSource("sim:rotate?duration=3", pacing: .unpaced)
    let shared = SharedSource(source)
    let sequence = SharedSource.$override.withValue(shared) { CMBatchedSensorManager().accelerometerUpdates() }
    var count = 0
    for try await batch in sequence { count += batch.count }
    #expect(count == 300)
  }
}
