import CoreMotion
import MotionKitLinux
import MotionTestSupport
import SensorFusion
import Testing

/// As people write it: one manager for the whole app.
private final class Hub: @unchecked Sendable {
  static let shared = Hub()
  let motion = CMMotionManager()
  let altimeter = CMAltimeter()

  func start(_ log: Log<CMDeviceMotion>) {
    guard !motion.isDeviceMotionActive else { return }
    motion.startDeviceMotionUpdates(to: .main) { log.add($0, $1) }
  }
}

@Suite(.serialized) struct LifetimeTests {
  @Test func aSharedManagerWorksInOneReplayAfterAnother() async throws {
    for seconds in 1...3 {
      let log = Log<CMDeviceMotion>()
      try await MotionReplay.run("sim:rotate?duration=\(seconds)") { Hub.shared.start(log) }
      #expect(log.errors.isEmpty)
      #expect(log.values.count > seconds * 90)
      #expect(!Hub.shared.motion.isDeviceMotionActive)
    }
  }

  @Test func aManagerThatWasMadeEarlierFollowsTheProcessesSource() throws {
    let manager = CMMotionManager()
    let scene = try openSource("sim:still?duration=1&sensors=gyro", pacing: .unpaced)
    let shared = SharedSource(scene, stepping: .lockstep)
    SharedSource.$override.withValue(shared) {
      #expect(manager.isGyroAvailable && !manager.isAccelerometerAvailable)
      manager.startGyroUpdates()
    }
    #expect(manager.underlying.source === shared)
    try shared.waitUntilEnd()
    #expect(manager.gyroData != nil && !manager.isGyroActive)
  }

  @Test func aManagerKeepsItsReplayWhereAHandlerStopsAndStartsIt() async throws {
    let log = Log<CMGyroData>()
    let again = Log<CMGyroData>()
    try await MotionReplay.run("sim:still?duration=2") {
      let manager = CMMotionManager()
      manager.startGyroUpdates(to: OperationQueue()) { data, error in
        log.add(data, error)
        guard log.values.count == 50 else { return }
        manager.stopGyroUpdates()
        // Time enough for the source to find that nobody uses it, if it did not wait for this handler.
        for _ in 0..<10_000 { sched_yield() }
        manager.startGyroUpdates(to: OperationQueue()) { again.add($0, $1) }
      }
      return manager
    }
    #expect(log.values.count == 50)
    #expect(again.errors.isEmpty && again.values.count == 150)
  }

  @Test func aReplayEndsQuietlyWithTheNewestValuesReadable() async throws {
    let log = Log<CMDeviceMotion>()
    let manager = try await MotionReplay.run("sim:rotate?duration=1") {
      let manager = CMMotionManager()
      manager.startDeviceMotionUpdates(to: .main) { log.add($0, $1) }
      return manager
    }
    #expect(log.errors.isEmpty)
    #expect(!manager.isDeviceMotionActive)
    #expect(manager.deviceMotion?.timestamp == log.values.last?.timestamp)
    // What comes now is no business of the replay any more.
    #expect(manager.underlying.source.uri == SharedSource.current.uri)
  }

  @Test func aSceneAtItsEndIsToldOnceAndNothingIsActiveThen() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let log = Log<CMDeviceMotion>()
    let shared = SharedSource(try openSource("sim:rotate?duration=1", pacing: .unpaced))
    let (manager, pulled, activities) = SharedSource.$override.withValue(shared) {
      (CMMotionManager(), CMMotionManager(), CMMotionActivityManager())
    }
    shared.hold()
    let (told, tell) = AsyncStream<Void>.makeStream()
    manager.startDeviceMotionUpdates(to: queue) { motion, error in
      log.add(motion, error)
      if error != nil { tell.yield() }
    }
    pulled.startAccelerometerUpdates()
    activities.startActivityUpdates(to: queue) { #expect($0 != nil) }
    shared.release()
    try shared.waitUntilEnd()
    for await _ in told { break }
    await withCheckedContinuation { done in queue.addBarrierBlock { done.resume() } }
    #expect(log.errors.map(\.code) == [Int(CMErrorNilData.rawValue)])
    #expect(log.errors.first?.localizedDescription.contains("at its end") == true)
    #expect(!manager.isDeviceMotionActive && manager.deviceMotion?.timestamp == log.values.last?.timestamp)
    #expect(!pulled.isAccelerometerActive && pulled.accelerometerData != nil)
    guard case .ended = pulled.underlying.accelerometerError else {
      Issue.record("\(String(describing: pulled.underlying.accelerometerError))")
      return
    }
    #expect(activities.underlying.error != nil && !activities.underlying.isActive)
  }

  @Test func whoAsksForActivitiesLaterIsToldWhatIsKnownAtOnce() async throws {
    let first = Log<CMMotionActivity>()
    let second = Log<CMMotionActivity>()
    try await MotionReplay.run("sim:still?duration=12") {
      let (early, late) = (CMMotionActivityManager(), CMMotionActivityManager())
      let clock = CMMotionManager()
      early.startActivityUpdates(to: .main) { first.add($0, nil) }
      clock.startAccelerometerUpdates(to: .main) { data, _ in
        guard let data, abs(data.timestamp - 1008) < 1e-6 else { return }
        late.startActivityUpdates(to: .main) { second.add($0, nil) }
      }
      return (early, late, clock)
    }
    #expect(try #require(first.values.first).unknown)
    let known = try #require(first.values.last { $0.timestamp < 1008 })
    #expect(known.stationary)
    let told = try #require(second.values.first)
    #expect(told.stationary && told.startDate == known.startDate && told.timestamp == known.timestamp)
    #expect(second.values.count == 1 + first.values.filter { $0.timestamp > 1008 }.count)
  }
}

@Suite struct PullTests {
  /// As a game polls: a timer reads the newest values.
  private final class Game {
    let manager = CMMotionManager()
    var seen: [Double] = []
    func start() { manager.startDeviceMotionUpdates() }
    func update() { if let motion = manager.deviceMotion { seen.append(motion.timestamp) } }
  }

  @Test func aTickSeesWhatWasMeasuredUpToIt() async throws {
    let game = try await MotionReplay.run(
      "sim:rotate?duration=2", every: 0.25, patience: 600, tick: { (game: Game) in game.update() }
    ) {
      let game = Game()
      game.start()
      return game
    }
    let times = game.seen.map { Int((($0 - 1000) * 1000).rounded()) }
    #expect(times == [250, 500, 750, 1000, 1250, 1500, 1750])
  }

  @Test func whatATickChangesHoldsForTheNextSample() async throws {
    let log = Log<CMGyroData>()
    var ticks = 0
    _ = try await MotionReplay.run(
      "sim:still?duration=2", every: 0.5, patience: 600,
      tick: { (manager: CMMotionManager) in
        ticks += 1
        if ticks == 1 { manager.startGyroUpdates(to: .main) { log.add($0, $1) } }
        if ticks == 3 { manager.stopGyroUpdates() }
      },
      { CMMotionManager() })
    #expect(ticks == 3)
    #expect(log.values.map { Int((($0.timestamp - 1000) * 100).rounded()) } == Array(51...150))
  }

  @Test func aTicksErrorEndsTheReplay() async {
    struct Enough: Error {}
    await #expect(throws: Enough.self) {
      try await MotionReplay.run("sim:still?duration=2", every: 0.1, tick: { (_: CMMotionManager) in throw Enough() }) {
        CMMotionManager()
      }
    }
    await #expect(throws: MotionKitError.self) {
      try await MotionReplay.run("sim:still?duration=2", every: 0, tick: { (_: Int) in }) { 0 }
    }
  }

  @Test func aReplayThatGivesNobodyAnythingIsAnErrorWithAdvice() async {
    do {
      try await MotionReplay.run("sim:still?duration=1") {
        let manager = CMMotionManager()
        manager.startAccelerometerUpdates()
        return manager
      }
      Issue.record("it passed")
    } catch {
      #expect("\(error)".contains("every:tick:"))
    }
  }

  @Test func anErrorIsSomethingToo() async throws {
    let log = Log<CMDeviceMotion>()
    try await MotionReplay.run("sim:still?duration=1&sensors=accel") {
      let manager = CMMotionManager()
      manager.startDeviceMotionUpdates(using: .xTrueNorthZVertical, to: .main) { log.add($0, $1) }
      return manager
    }
    // What is missing first is the gyroscope, not the location.
    #expect(log.errors.map(\.code) == [Int(CMErrorNotAvailable.rawValue)])
    #expect(log.errors.first?.localizedDescription.contains("gyroscope") == true)
  }
}
