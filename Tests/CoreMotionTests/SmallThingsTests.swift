import CoreMotion
import MotionKitLinux
import MotionTestSupport
import SensorFusion
import Testing

@Suite struct SmallThingsTests {
  @Test func aFrameThatCannotBeIsNotRemembered() {
    SharedSource.$override.withValue(silent([.accelerometer, .gyroscope, .magnetometer])) {
      let manager = CMMotionManager()
      manager.startDeviceMotionUpdates(using: .xMagneticNorthZVertical)
      for wrong in [CMAttitudeReferenceFrame(), CMAttitudeReferenceFrame(rawValue: 9)] {
        manager.startDeviceMotionUpdates(using: wrong)
        #expect(manager.attitudeReferenceFrame == .xMagneticNorthZVertical)
        #expect(!manager.isDeviceMotionActive)
      }
      manager.startDeviceMotionUpdates()
      #expect(manager.isDeviceMotionActive)
    }
  }

  @Test func stepsBeforeAStartInTheFutureDoNotCount() async throws {
    let now = Log<CMPedometerData>()
    let later = Log<CMPedometerData>()
    let start = Date(timeIntervalSinceNow: 15)
    try await MotionReplay.run("sim:walk?steps=60") {
      let (first, second) = (CMPedometer(), CMPedometer())
      first.startUpdates(from: Date()) { now.add($0, $1) }
      second.startUpdates(from: start) { later.add($0, $1) }
      return (first, second)
    }
    let (all, part) = (try #require(now.values.last), try #require(later.values.last))
    #expect(part.numberOfSteps.intValue < all.numberOfSteps.intValue - 10)
    #expect(part.numberOfSteps.intValue > 5)
    #expect(later.values.allSatisfy { $0.startDate == start && $0.endDate >= start })
    #expect(part.floorsAscended == 0)
  }

  private struct Walks: MotionHistory {
    func pedometerTotals(from: Int64, to: Int64) throws(MotionKitError) -> PedometerTotals { PedometerTotals() }
    func activities(from start: Int64, to end: Int64) throws(MotionKitError) -> [ActivityRecord] {
      [start, start + 21_000_000_000].map {
        ActivityRecord(
          utcNanoseconds: $0,
          state: ActivityState(time: Timestamp(nanoseconds: 3_167_685_000_000), activity: .walking, confidence: .high))
      }
    }
  }

  @Test func theTimestampOfAPastActivityIsItsStart() async throws {
    let list = await first { (tell: @escaping ([CMMotionActivity]?) -> Void) in
      SharedSource.$override.withValue(silent([.accelerometer])) {
        MotionHistories.$override.withValue(Walks()) {
          CMMotionActivityManager().queryActivityStarting(
            from: Date(timeIntervalSinceNow: -60), to: Date(), to: OperationQueue()
          ) { list, _ in tell(list) }
        }
      }
    }
    let activities = try #require(list)
    #expect(activities.count == 2)
    #expect(abs(activities[1].timestamp - activities[0].timestamp - 21) < 0.5)
    for activity in activities {
      let age = Date().timeIntervalSince(activity.startDate)
      var boot = timespec()
      clock_gettime(CLOCK_BOOTTIME, &boot)
      #expect(abs(Double(boot.tv_sec) - activity.timestamp - age) < 2)
    }
  }

  @Test func aSessionThatStillRunsDoesNotEndInTheUnknown() throws {
    struct Running: MotionHistory {
      let last: Int64
      func pedometerTotals(from: Int64, to: Int64) throws(MotionKitError) -> PedometerTotals { PedometerTotals() }
      func activities(from: Int64, to: Int64) throws(MotionKitError) -> [ActivityRecord] {
        [(last - 60_000_000_000, Activity.walking), (last, .unknown)].map {
          ActivityRecord(
            utcNanoseconds: $0.0,
            state: ActivityState(time: Timestamp(nanoseconds: 0), activity: $0.1, confidence: .low))
        }
      }
    }
    let now: Int64 = 1_800_000_000_000_000_000
    let recent = try Running(last: now - 100_000_000).activitiesUpToNow(from: 0, to: now, now: now)
    #expect(recent.map(\.state.activity) == [.walking])
    let ended = try Running(last: now - 6_000_000_000).activitiesUpToNow(from: 0, to: now, now: now)
    #expect(ended.map(\.state.activity) == [.walking, .unknown])
  }

  @Test func testsCanMakeDataOfEveryKind() throws {
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    let steps = CMPedometerData(
      startDate: start, endDate: start + 60, numberOfSteps: 100, distance: 70, floorsAscended: 2, currentCadence: 1.8,
      averageActivePace: 0.8)
    #expect(steps.numberOfSteps == 100 && steps.distance == 70 && steps.floorsAscended == 2)
    #expect(steps.floorsDescended == nil && steps.currentPace == nil)
    #expect(abs(try #require(steps.averageActivePace).doubleValue - 0.8) < 1e-12)
    let car = CMMotionActivity(
      timestamp: 5, startDate: start, confidence: .medium, stationary: true, automotive: true)
    #expect(car.automotive && car.stationary && !car.unknown && !car.walking && car.confidence == .medium)
    let archived = try NSKeyedArchiver.archivedData(withRootObject: car, requiringSecureCoding: true)
    let again = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CMMotionActivity.self, from: archived))
    #expect(again.automotive && again.stationary && again.startDate == start)
    let reading = CMRecordedAccelerometerData(
      timestamp: 3, acceleration: CMAcceleration(x: 0, y: 0, z: -1), identifier: 7, startDate: start)
    let list = CMSensorDataList([reading])
    #expect(list.data.count == 1 && list.data[0].identifier == 7 && list.data[0].acceleration.z == -1)
    var iterator = NSFastEnumerationIterator(list)
    #expect(iterator.next() as? CMRecordedAccelerometerData === reading)
    #expect(iterator.next() == nil)
  }

  @Test func aHeadingOfNorthIsPlusZero() {
    #expect(Attitude(quaternion: .identity).headingOfXAxis.sign == .plus)
  }

  @Test func messagesAreSentences() async throws {
    let log = Log<CMGyroData>()
    try await MotionReplay.run("sim:still?duration=1&sensors=accel") {
      let manager = CMMotionManager()
      manager.startGyroUpdates(to: .main) { log.add($0, $1) }
      return manager
    }
    #expect(log.errors.first?.localizedDescription.contains("updates needs") == false)
  }

  @Test func theEndWaitsForTheHandlerOfWhatTheSourceHasNot() throws {
    let log = Log<CMGyroData>()
    let shared = SharedSource(
      try openSource("sim:still?duration=0.1&sensors=accel", pacing: .unpaced), stepping: .lockstep)
    let queue = OperationQueue()
    queue.isSuspended = true
    let manager = SharedSource.$override.withValue(shared) { CMMotionManager() }
    manager.startGyroUpdates(to: queue) { log.add($0, $1) }
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? shared.waitUntilEnd()
      end.signal()
    }
    // Time enough for it to end, if it did not wait for this handler.
    for _ in 0..<20_000 { sched_yield() }
    let hasEnded = end.wait(timeout: .now()) == .success
    #expect(!hasEnded)
    queue.isSuspended = false
    if !hasEnded { end.wait() }
    #expect(log.errors.count == 1)
  }
}
