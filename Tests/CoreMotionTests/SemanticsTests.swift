import CoreMotion
import MotionKitLinux
import MotionTestSupport
import SensorFusion
import Testing

/// A source in which nothing ever comes, with some sensors or none.
func silent(_ kinds: [SensorKind]) -> SharedSource {
  let samples = kinds.sorted().map { SensorSample(time: Timestamp(nanoseconds: 0), kind: $0, x: 0, y: 0, z: 9.8) }
  return SharedSource(ScriptedSource(samples: samples, rate: 100))
}

/// Runs `body` where nothing is known of the past: the step history of whoever runs the tests is none of theirs.
func withoutHistory<Result>(_ body: () async -> Result) async -> Result {
  await MotionHistories.$path.withValue("/nonexistent/history.sqlite") { await body() }
}

/// Waits for a handler's first call.
func first<T>(_ start: (@escaping (T) -> Void) -> Void) async -> T {
  await withCheckedContinuation { continuation in
    let box = NSMutableArray()
    let lock = NSLock()
    start { value in
      lock.withLock {
        guard box.count == 0 else { return }
        box.add(1)
        nonisolated(unsafe) let value = value
        continuation.resume(returning: value)
      }
    }
  }
}

@Suite struct SemanticsTests {
  @Test func defaultsAreCoreMotions() {
    SharedSource.$override.withValue(silent([])) {
      let manager = CMMotionManager()
      #expect(manager.accelerometerUpdateInterval == 0.01)
      #expect(manager.gyroUpdateInterval == 0.01)
      #expect(manager.magnetometerUpdateInterval == 0.04)
      #expect(manager.deviceMotionUpdateInterval == 0.01)
      #expect(manager.attitudeReferenceFrame == .xArbitraryZVertical)
      #expect(!manager.showsDeviceMovementDisplay)
      manager.accelerometerUpdateInterval = 0.05
      #expect(manager.accelerometerUpdateInterval == 0.05)
      #expect(CMAttitudeReferenceFrame.xTrueNorthZVertical.rawValue == 8)
      #expect(CMCalibratedMagneticField().accuracy == .low)
      #expect(CMQuaternion().w == 0)
      #expect(CMErrorDomain == "CMErrorDomain")
      #expect(CMErrorNULL.rawValue == 100 && CMErrorSize.rawValue == 113)
    }
  }

  @Test func withoutHardwareNothingIsActiveAndTheHandlerIsToldOnce() async throws {
    let source = silent([.barometer])
    let error = await first { (tell: @escaping ((any Error)?) -> Void) in
      SharedSource.$override.withValue(source) {
        let manager = CMMotionManager()
        #expect(!manager.isAccelerometerAvailable && !manager.isGyroAvailable && !manager.isMagnetometerAvailable)
        #expect(!manager.isDeviceMotionAvailable)
        #expect(CMMotionManager.availableAttitudeReferenceFrames() == [])
        manager.startAccelerometerUpdates()
        #expect(!manager.isAccelerometerActive && manager.accelerometerData == nil)
        manager.startAccelerometerUpdates(to: .main) { data, error in
          #expect(data == nil)
          tell(error)
        }
      }
    }
    let told = try #require(error as NSError?)
    #expect(told.domain == CMErrorDomain)
    #expect(told.code == Int(CMErrorNotAvailable.rawValue))
    #expect(told.localizedDescription.contains("MOTIONKIT_SOURCE=sim:walk"))
  }

  @Test func framesFollowTheSensors() {
    func frames(_ kinds: [SensorKind]) -> CMAttitudeReferenceFrame {
      SharedSource.$override.withValue(silent(kinds)) { CMMotionManager.availableAttitudeReferenceFrames() }
    }
    #expect(frames([.accelerometer, .gyroscope]) == .xArbitraryZVertical)
    #expect(
      frames([.accelerometer, .gyroscope, .magnetometer]).isSuperset(of: [
        .xArbitraryZVertical, .xArbitraryCorrectedZVertical, .xMagneticNorthZVertical,
      ]))
    #expect(frames([.accelerometer, .magnetometer]) == [])
  }

  @Test func stepsWithoutAnAccelerometer() async throws {
    let source = silent([.barometer])
    let (pedometer, available) = SharedSource.$override.withValue(source) {
      (CMPedometer(), CMPedometer.isStepCountingAvailable() || CMPedometer.isPedometerEventTrackingAvailable())
    }
    #expect(!available)
    let query = await withoutHistory {
      await first { (tell: @escaping (NSError?) -> Void) in
        pedometer.queryPedometerData(from: Date(timeIntervalSinceNow: -60), to: Date()) { _, error in
          tell(error as NSError?)
        }
      }
    }
    #expect(query?.code == Int(CMErrorMotionActivityNotAvailable.rawValue))
    let event = await first { (tell: @escaping (NSError?) -> Void) in
      pedometer.startEventUpdates { _, error in tell(error as NSError?) }
    }
    #expect(event?.code == Int(CMErrorNotAvailable.rawValue))
    let backwards = await first { (tell: @escaping (NSError?) -> Void) in
      pedometer.queryPedometerData(from: Date(), to: Date(timeIntervalSinceNow: -60)) { _, error in
        tell(error as NSError?)
      }
    }
    #expect(backwards?.code == Int(CMErrorInvalidParameter.rawValue))
  }

  @Test func stopCancelsNothingElseOnTheCallersQueue() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let mine = Log<Int>()
    try await MotionReplay.run("sim:still?duration=2") {
      let manager = CMMotionManager()
      manager.startGyroUpdates(to: queue) { data, _ in
        if mine.values.isEmpty {
          queue.addOperation { mine.add(2, nil) }
          mine.add(1, nil)
          manager.stopGyroUpdates()
        }
      }
    }
    queue.waitUntilAllOperationsAreFinishedFromTest()
    #expect(mine.values == [1, 2])
  }

  @Test func theCallersCancelAllDoesNotEndUpdates() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let log = Log<CMGyroData>()
    try await MotionReplay.run("sim:still?duration=2") {
      let manager = CMMotionManager()
      manager.startGyroUpdates(to: queue) { data, error in
        log.add(data, error)
        if log.values.count == 5 { queue.cancelAllOperations() }
      }
      return manager
    }
    #expect(log.values.count > 100)
  }

  @Test func handlersOfAConcurrentQueueNeverOverlapAndKeepOrder() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 8
    let running = Log<Int>()
    let log = Log<CMAccelerometerData>()
    let shared = SharedSource(try openSource("sim:still?duration=20", pacing: .unpaced))
    SharedSource.$override.withValue(shared) {
      let manager = CMMotionManager()
      let inside = NSLock()
      manager.startAccelerometerUpdates(to: queue) { data, error in
        guard inside.try() else { return running.add(1, nil) }
        log.add(data, error)
        inside.unlock()
        withExtendedLifetime(manager) {}
      }
    }
    try shared.waitUntilEnd()
    queue.waitUntilAllOperationsAreFinishedFromTest()
    #expect(running.values.isEmpty)
    #expect(log.values.count == 2000)
    #expect(zip(log.values, log.values.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
  }

  @Test func startingAgainReplacesFrameAndHandler() async throws {
    let old = Log<CMDeviceMotion>()
    let new = Log<CMDeviceMotion>()
    try await MotionReplay.run("sim:rotate?duration=5") {
      let manager = CMMotionManager()
      manager.startDeviceMotionUpdates(to: .main) { old.add($0, $1) }
      manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical, to: .main) { new.add($0, $1) }
      return manager
    }
    #expect(old.values.isEmpty)
    #expect(try #require(new.values.last).heading >= 0)
  }

  @Test func theFieldIsOnlyThereInFramesThatUseIt() async throws {
    func last(_ frame: CMAttitudeReferenceFrame) async throws -> CMCalibratedMagneticField {
      let log = Log<CMDeviceMotion>()
      try await MotionReplay.run("sim:rotate?duration=5") {
        let manager = CMMotionManager()
        manager.startDeviceMotionUpdates(using: frame, to: .main) { log.add($0, $1) }
        return manager
      }
      return try #require(log.values.last).magneticField
    }
    let arbitrary = try await last(.xArbitraryZVertical)
    #expect(arbitrary.accuracy == .uncalibrated && arbitrary.field.x == 0 && arbitrary.field.z == 0)
    let north = try await last(.xMagneticNorthZVertical)
    #expect(north.accuracy != .uncalibrated)
    #expect(abs(north.field.x) + abs(north.field.y) + abs(north.field.z) > 20)
  }

  @Test func activityBeginsWithTheOneAtTheStartAndChangesToWalking() async throws {
    let log = Log<CMMotionActivity>()
    try await MotionReplay.run("sim:walk?steps=60") {
      let manager = CMMotionActivityManager()
      manager.startActivityUpdates(to: .main) { log.add($0, nil) }
      return manager
    }
    #expect(try #require(log.values.first).unknown)
    #expect(log.values.contains { $0.walking })
    #expect(!log.values.contains { $0.automotive || $0.cycling })
  }

  /// What two hours looked like.
  private struct Yesterday: MotionHistory {
    func pedometerTotals(from start: Int64, to end: Int64) throws(MotionKitError) -> PedometerTotals {
      var totals = PedometerTotals()
      totals.numberOfSteps = Int((end - start) / 1_000_000_000)
      totals.distance = 70
      totals.activeSeconds = 50
      return totals
    }
    func activities(from start: Int64, to end: Int64) throws(MotionKitError) -> [ActivityRecord] {
      [
        ActivityRecord(
          utcNanoseconds: start,
          state: ActivityState(time: Timestamp(nanoseconds: 5), activity: .running, confidence: .high))
      ]
    }
  }

  @Test func queriesAnswerFromTheHistory() async throws {
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    let end = start + 100
    let source = silent([.barometer])
    let data = await first { (tell: @escaping (CMPedometerData?) -> Void) in
      SharedSource.$override.withValue(source) {
        MotionHistories.$override.withValue(Yesterday()) {
          CMPedometer().queryPedometerData(from: start, to: end) { data, _ in tell(data) }
        }
      }
    }
    let steps = try #require(data)
    #expect(steps.numberOfSteps == 100 && steps.startDate == start && steps.endDate == end)
    #expect(steps.averageActivePace?.doubleValue == 50.0 / 70 && steps.distance == 70)
    #expect(steps.currentPace == nil && steps.currentCadence == nil && steps.floorsAscended == nil)
    let activities = await first { (tell: @escaping ([CMMotionActivity]?) -> Void) in
      SharedSource.$override.withValue(source) {
        MotionHistories.$override.withValue(Yesterday()) {
          CMMotionActivityManager().queryActivityStarting(from: start, to: end, to: OperationQueue()) { list, _ in
            tell(list)
          }
        }
      }
    }
    #expect(try #require(activities?.first).running)
    #expect(activities?.first?.startDate == start)
  }

  /// What was walked is not 0 because it cannot be read.
  @Test func aHistoryThatCannotBeReadIsAnErrorAndNot0Steps() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)").path
    try Data(repeating: 65, count: 4096).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let yesterday = Date(timeIntervalSinceNow: -86400)
    func text(_ error: (any Error)?) -> String { error?.localizedDescription ?? "no error" }
    let (query, activity, live): (String, String, String) = await MotionHistories.$path.withValue(path) {
      await SharedSource.$override.withValue(silent([.accelerometer])) {
        let query = await first { (tell: @escaping (String) -> Void) in
          CMPedometer().queryPedometerData(from: yesterday, to: Date()) { tell("\($0 == nil) " + text($1)) }
        }
        let activity = await first { (tell: @escaping (String) -> Void) in
          CMMotionActivityManager().queryActivityStarting(from: yesterday, to: Date(), to: OperationQueue()) {
            tell("\($0 == nil) " + text($1))
          }
        }
        let pedometer = CMPedometer()
        let live = await first { (tell: @escaping (String) -> Void) in
          pedometer.startUpdates(from: yesterday) { tell("\($0 == nil) " + text($1)) }
        }
        pedometer.stopUpdates()
        return (query, activity, live)
      }
    }
    for text in [query, activity, live] { #expect(text.hasPrefix("true \(path): file is not a database")) }
  }

  @Test func anAccelerometerWithoutAHistoryHasNoStepsYet() async {
    let pedometer = SharedSource.$override.withValue(silent([.accelerometer])) { CMPedometer() }
    let data = await withoutHistory {
      await first { (tell: @escaping (CMPedometerData?) -> Void) in
        pedometer.queryPedometerData(from: Date(timeIntervalSinceNow: -60), to: Date()) { data, _ in tell(data) }
      }
    }
    #expect(data?.numberOfSteps == 0)
  }

  @Test func queriedActivitiesWithoutAnyAreAnError() async {
    let manager = SharedSource.$override.withValue(silent([.accelerometer])) { CMMotionActivityManager() }
    let error = await withoutHistory {
      await first { (tell: @escaping (NSError?) -> Void) in
        manager.queryActivityStarting(from: Date(timeIntervalSinceNow: -60), to: Date(), to: .main) {
          tell($1 as NSError?)
        }
      }
    }
    #expect(error?.code == Int(CMErrorUnknown.rawValue))
  }

  @Test func absoluteAltitudeNeedsAReference() async throws {
    let log = Log<CMAbsoluteAltitudeData>()
    try await MotionReplay.run("sim:still?duration=3") {
      #expect(!CMAltimeter.isAbsoluteAltitudeAvailable())
      let altimeter = CMAltimeter()
      altimeter.startAbsoluteAltitudeUpdates(to: .main) { log.add($0, $1) }
      return altimeter
    }
    #expect(log.values.isEmpty)
    try await AltitudeReference.$override.withValue(.startAltitude(metres: 440)) {
      _ = try await MotionReplay.run("sim:elevator?height=3") {
        #expect(CMAltimeter.isAbsoluteAltitudeAvailable())
        let altimeter = CMAltimeter()
        altimeter.startAbsoluteAltitudeUpdates(to: .main) { log.add($0, $1) }
        return altimeter
      }
    }
    #expect(log.errors.count == 1)
    #expect(log.errors.first?.localizedDescription.contains("MOTIONKIT_SEA_LEVEL_KPA") == true)
    #expect(abs(try #require(log.values.last).altitude - 443) < 0.5)
  }

  @Test func dataSurvivesAnArchive() throws {
    func archived<T: NSObject & NSSecureCoding>(_ value: T) throws -> T {
      let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
      return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data))
    }
    let attitude = CMAttitude(quaternion: CMQuaternion(x: 0.5, y: 0.5, z: -0.5, w: 0.5))
    #expect(try archived(attitude) == attitude)
    let acceleration = CMAcceleration(x: 0.1, y: -0.2, z: -0.97)
    let data = try archived(CMAccelerometerData(timestamp: 12.25, acceleration: acceleration))
    #expect(data.timestamp == 12.25 && data.acceleration.z == -0.97)
    let motion = CMDeviceMotion(
      timestamp: 3, attitude: attitude, rotationRate: CMRotationRate(x: 1, y: 2, z: 3), gravity: acceleration,
      userAcceleration: acceleration,
      magneticField: CMCalibratedMagneticField(field: CMMagneticField(x: 4, y: 5, z: 6), accuracy: .high),
      heading: 271, headingAccuracy: 4)
    let again = try archived(motion)
    #expect(again.heading == 271 && again.headingAccuracy == 4 && again.magneticField.accuracy == .high)
    #expect(again.attitude == attitude && again.rotationRate.y == 2)
    let copy = try #require(motion.copy() as? CMDeviceMotion)
    copy.attitude.multiply(byInverseOf: attitude)
    #expect(motion.attitude == attitude)
    let event = try archived(CMPedometerEvent(date: Date(timeIntervalSince1970: 5), type: .resume))
    #expect(event.type == .resume && event.date == Date(timeIntervalSince1970: 5))
  }
}

extension OperationQueue {
  /// Waiting is not allowed in asynchronous code; here the queues are short.
  fileprivate func waitUntilAllOperationsAreFinishedFromTest() {
    let wait: () -> Void = waitUntilAllOperationsAreFinished
    wait()
  }
}
