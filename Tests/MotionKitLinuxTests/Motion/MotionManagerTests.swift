import Dispatch
import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

private func accelerometer(_ range: Range<Int>, rate: Double = 100) -> [SensorSample] {
  range.map { .numbered(.accelerometer, $0, rate: rate) }
}

@Suite struct MotionManagerTests {
  @Test func handlersGetEverySampleInOrderInCoreMotionsUnits() {
    let scripted = ScriptedSource()
    let manager = MotionManager(source: SharedSource(scripted))
    let collector = Collector<AccelerometerData>()
    manager.startAccelerometerUpdates(to: DispatchQueue(label: "test")) { collector.add($0) }
    #expect(manager.isAccelerometerActive)
    scripted.push(accelerometer(0..<100))
    collector.wait(values: 100)
    #expect(collector.values.map(\.time.nanoseconds) == (0..<100).map { Int64($0) * 10_000_000 })
    #expect(abs(collector.values[50].acceleration.x + 50 / standardGravity) < 1e-12)
    #expect(manager.accelerometerData == collector.values.last)
    #expect(manager.droppedSampleCount == 0)
    #expect(abs(manager.accelerometerStatistics.actualUpdateInterval - 0.01) < 1e-9)
    manager.stopAccelerometerUpdates()
    #expect(!manager.isAccelerometerActive)
    #expect(manager.accelerometerData == nil)
    #expect(collector.errors.isEmpty)
  }

  @Test func aBlockedHandlerDropsTheOldestAndCountsThem() {
    let scripted = ScriptedSource()
    let manager = MotionManager(source: SharedSource(scripted), delivery: .newest(capacity: 5))
    let collector = Collector<AccelerometerData>()
    let queue = DispatchQueue(label: "blocked")
    let gate = DispatchSemaphore(value: 0)
    queue.async { gate.wait() }
    manager.startAccelerometerUpdates(to: queue) { collector.add($0) }
    // The other manager's handler tells when all samples have been read.
    let witness = MotionManager(source: manager.source, delivery: .lossless)
    let seen = Collector<AccelerometerData>()
    witness.startAccelerometerUpdates(to: .global()) { seen.add($0) }
    waitForUsers(2, of: scripted)
    scripted.push(accelerometer(0..<100))
    seen.wait(values: 100)
    gate.signal()
    collector.wait(values: 5)
    #expect(collector.values.map { Int($0.time.nanoseconds / 10_000_000) } == [95, 96, 97, 98, 99])
    #expect(manager.droppedSampleCount == 95)
    #expect(witness.droppedSampleCount == 0)
  }

  /// Waits until the reading thread has taken note of so many users: samples pushed after that reach all.
  private func waitForUsers(_ count: Int, of scripted: ScriptedSource) {
    while !scripted.isStarted { usleep(200) }
    // A read that was under way when the last user came ends within its timeout; the next one serves everybody.
    usleep(120_000)
  }

  @Test func theIntervalCanBeChangedWhileUpdatesRun() {
    let scripted = ScriptedSource()
    let manager = MotionManager(source: SharedSource(scripted, stepping: .lockstep))
    let collector = Collector<AccelerometerData>()
    manager.accelerometerUpdateInterval = 0.01
    manager.startAccelerometerUpdates(to: .global()) { result in
      collector.add(result)
      if (try? result.get())?.time.nanoseconds == 490_000_000 { manager.accelerometerUpdateInterval = 0.05 }
    }
    scripted.push(accelerometer(0..<150))
    collector.wait(values: 70)
    let times = collector.values.map { Int($0.time.nanoseconds / 10_000_000) }
    #expect(times == Array(0..<50) + stride(from: 50, to: 150, by: 5))
    #expect(manager.accelerometerUpdateInterval == 0.05)
    manager.stopAccelerometerUpdates()
  }

  @Test func eachManagerGetsItsOwnRateFromOneCapture() {
    let scripted = ScriptedSource(rate: 100)
    let source = SharedSource(scripted)
    source.hold()
    let fast = MotionManager(source: source)
    let slow = MotionManager(source: source)
    slow.accelerometerUpdateInterval = 0.1
    let fastValues = Collector<AccelerometerData>()
    let slowValues = Collector<AccelerometerData>()
    fast.startAccelerometerUpdates(to: .global()) { fastValues.add($0) }
    slow.startAccelerometerUpdates(to: .global()) { slowValues.add($0) }
    source.release()
    scripted.push(accelerometer(0..<200))
    fastValues.wait(values: 200)
    slowValues.wait(values: 20)
    #expect(slowValues.values.map { Int($0.time.nanoseconds / 10_000_000) } == Array(stride(from: 0, to: 200, by: 10)))
    #expect(scripted.requests.count == 1)
    #expect(scripted.requests[0].rates == [.accelerometer: 100])
  }

  @Test func onlyWhatSomebodyWantsIsSwitchedOnAndTheRestIsSwitchedOffAgain() {
    let scripted = ScriptedSource()
    let manager = MotionManager(source: SharedSource(scripted))
    manager.startAccelerometerUpdates()
    waitUntil { scripted.requests.last?.rates == [.accelerometer: 100] }
    manager.gyroUpdateInterval = 0.005
    manager.startGyroUpdates()
    waitUntil { scripted.requests.last?.rates == [.accelerometer: 100, .gyroscope: 200] }
    manager.stopGyroUpdates()
    waitUntil { scripted.requests.last?.rates == [.accelerometer: 100] }
    #expect(scripted.isStarted)
    manager.stopAccelerometerUpdates()
    waitUntil { !scripted.isStarted && !manager.source.isRunning }
  }

  private func waitUntil(_ condition: () -> Bool) { while !condition() { usleep(500) } }

  @Test func nothingIsDeliveredAfterStopHasReturned() {
    let scripted = ScriptedSource()
    let manager = MotionManager(source: SharedSource(scripted))
    for _ in 0..<50 {
      let isStopped = Locked(false)
      let late = Locked(0)
      let first = DispatchSemaphore(value: 0)
      manager.startAccelerometerUpdates(to: .global()) { _ in
        // The lock orders this against the stop: a call that began before it may still finish.
        if isStopped.withLock({ $0 }) { late.withLock { $0 += 1 } }
        first.signal()
      }
      scripted.push(accelerometer(0..<200))
      first.wait()
      manager.stopAccelerometerUpdates()
      usleep(100)
      isStopped.withLock { $0 = true }
      #expect(late.withLock { $0 } == 0)
    }
  }

  @Test func aSecondStartReplacesTheHandler() {
    let scripted = ScriptedSource()
    let source = SharedSource(scripted)
    let manager = MotionManager(source: source)
    let old = Collector<AccelerometerData>()
    let new = Collector<AccelerometerData>()
    source.hold()
    manager.startAccelerometerUpdates(to: .global()) { old.add($0) }
    manager.startAccelerometerUpdates(to: .global()) { new.add($0) }
    source.release()
    scripted.push(accelerometer(0..<10))
    new.wait(values: 10)
    #expect(old.values.isEmpty)
  }

  @Test func aMissingSensorIsReportedOnceWithAWayOut() {
    let manager = MotionManager(source: SharedSource(ScriptedSource(kinds: [.accelerometer])))
    let collector = Collector<DeviceMotion>()
    #expect(!manager.isDeviceMotionAvailable)
    #expect(!manager.isGyroAvailable)
    manager.startDeviceMotionUpdates(to: .global()) { collector.add($0) }
    collector.wait(errors: 1)
    guard case .noSensors(_, let hint) = collector.errors[0] else {
      Issue.record("unexpected \(collector.errors[0])")
      return
    }
    #expect(hint.contains("gyroscope") && hint.contains("sim:walk"))
    #expect(!manager.isDeviceMotionActive)
    #expect(manager.deviceMotionError == collector.errors[0])
  }

  @Test func aSourceThatFailsEndsEveryServiceWithTheReason() {
    let scripted = ScriptedSource()
    let source = SharedSource(scripted)
    let first = MotionManager(source: source)
    let second = MotionManager(source: source)
    let firstValues = Collector<AccelerometerData>()
    let secondValues = Collector<GyroscopeData>()
    source.hold()
    first.startAccelerometerUpdates(to: .global()) { firstValues.add($0) }
    second.startGyroUpdates(to: .global()) { secondValues.add($0) }
    source.release()
    let failure = MotionKitError.device(what: "iio:device0", errno: 5, hint: "look at dmesg")
    scripted.push(accelerometer(0..<3))
    scripted.fail(failure)
    firstValues.wait(values: 3, errors: 1)
    secondValues.wait(errors: 1)
    #expect(firstValues.errors == [failure])
    #expect(secondValues.errors == [failure])
    #expect(!first.isAccelerometerActive && first.accelerometerData == nil)
    #expect(throws: failure) { try source.waitUntilEnd() }
  }

  @Test func aNewcomersImpossibleWishDoesNotEndTheOthers() {
    let scripted = ScriptedSource()
    let source = SharedSource(scripted)
    let manager = MotionManager(source: source)
    let values = Collector<AccelerometerData>()
    manager.startAccelerometerUpdates(to: .global()) { values.add($0) }
    scripted.push(accelerometer(0..<5))
    values.wait(values: 5)
    let failure = MotionKitError.busy(what: "gyro", hint: "stop the other")
    // Fails once, for the request with the gyroscope.
    scripted.failNextStart(failure)
    let newcomer = Collector<GyroscopeData>()
    let second = MotionManager(source: source)
    second.startGyroUpdates(to: .global()) { newcomer.add($0) }
    newcomer.wait(errors: 1)
    #expect(newcomer.errors == [failure])
    scripted.push(accelerometer(5..<10))
    values.wait(values: 10)
    #expect(values.errors.isEmpty)
  }

  @Test func lettingGoOfAManagerStopsItAndTheSource() {
    let scripted = ScriptedSource()
    weak var released: MotionManager?
    do {
      let manager = MotionManager(source: SharedSource(scripted))
      released = manager
      manager.startAccelerometerUpdates()
      manager.startDeviceMotionUpdates(to: .global()) { _ in }
      waitUntil { scripted.isStarted }
    }
    #expect(released == nil)
    waitUntil { !scripted.isStarted }
  }

  @Test func aThousandStartsAndStopsLeaveNoThread() {
    let scripted = ScriptedSource()
    let manager = MotionManager(source: SharedSource(scripted))
    let before = threadCount()
    for _ in 0..<1000 {
      manager.startAccelerometerUpdates(to: .global()) { _ in }
      manager.stopAccelerometerUpdates()
    }
    waitUntil { !manager.source.isRunning }
    // Dispatch's own workers may have come; our reading threads must all be gone.
    #expect(threadCount() <= before + 70)
    #expect(manager.source.state.withLock { $0.consumers.isEmpty })
  }

  private func threadCount() -> Int {
    guard let directory = opendir("/proc/self/task") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
  }

  @Test func aLoopSeesEverySampleAndEndsWithTheSource() async throws {
    let scripted = ScriptedSource(isLive: false, samples: accelerometer(0..<500))
    let manager = MotionManager(source: SharedSource(scripted))
    var times: [Int] = []
    for try await value in manager.accelerometerUpdates() { times.append(Int(value.time.nanoseconds / 10_000_000)) }
    #expect(times == Array(0..<500))
  }

  @Test func aLoopOnAMissingSensorThrows() async {
    let manager = MotionManager(source: SharedSource(ScriptedSource(kinds: [.gyroscope])))
    await #expect(throws: MotionKitError.self) {
      for try await _ in manager.accelerometerUpdates() {}
    }
  }

  @Test func breakingOutOfALoopSwitchesTheSensorOff() async throws {
    let scripted = ScriptedSource()
    let manager = MotionManager(source: SharedSource(scripted))
    scripted.push(accelerometer(0..<10))
    for try await _ in manager.accelerometerUpdates() { break }
    waitUntil { !scripted.isStarted && !manager.source.isRunning }
  }

  @Test func lockstepGivesTheSameInterleavingEveryTime() throws {
    var runs: [[String]] = []
    for _ in 0..<3 {
      let samples = (0..<50).flatMap { [SensorSample.numbered(.accelerometer, $0), .numbered(.gyroscope, $0)] }
      let source = SharedSource(ScriptedSource(isLive: false, samples: samples), stepping: .lockstep)
      let log = Locked<[String]>([])
      let manager = MotionManager(source: source)
      source.hold()
      manager.startAccelerometerUpdates(to: DispatchQueue(label: "a")) { result in
        guard let value = try? result.get() else { return }
        log.withLock { $0.append("a\(value.time.nanoseconds)") }
        // Starting another service from within a handler takes effect with the next sample.
        if value.time.nanoseconds == 200_000_000 {
          manager.startGyroUpdates(to: DispatchQueue(label: "g")) { result in
            guard let value = try? result.get() else { return }
            log.withLock { $0.append("g\(value.time.nanoseconds)") }
          }
        }
      }
      source.release()
      try source.waitUntilEnd()
      runs.append(log.withLock { $0 })
    }
    #expect(runs[0] == runs[1] && runs[1] == runs[2])
    #expect(runs[0].count == 50 + 30)
    #expect(runs[0][21] == "g200000000")
  }

  @Test func theNewestFrameIsUsedAgain() {
    let manager = MotionManager(source: SharedSource(ScriptedSource()))
    #expect(manager.referenceFrame == .arbitrary)
    manager.startDeviceMotionUpdates(using: .magneticNorth)
    manager.stopDeviceMotionUpdates()
    #expect(manager.referenceFrame == .magneticNorth)
    manager.startDeviceMotionUpdates()
    #expect(manager.referenceFrame == .magneticNorth)
  }

  @Test func theWallClockOfASampleComesFromTheSourcesAnchor() {
    let scripted = ScriptedSource(isLive: false, samples: accelerometer(0..<1))
    let source = SharedSource(scripted)
    let manager = MotionManager(source: source)
    manager.startAccelerometerUpdates()
    try? source.waitUntilEnd()
    let time = Timestamp(nanoseconds: 2_500_000_000)
    #expect(source.utcNanoseconds(at: time) == 1_800_000_002_500_000_000)
    #expect(source.time(atUTCNanoseconds: 1_800_000_002_500_000_000) == time)
  }
}

@Suite struct UpdateGateTests {
  private func passed(interval: Double, rate: Double, count: Int) -> [Int] {
    var gate = UpdateGate(interval: interval)
    return (0..<count).filter {
      gate.passes(Timestamp(seconds: Double($0) / rate), sensorInterval: 1 / rate)
    }
  }

  @Test func anExactFractionIsEven() { #expect(passed(interval: 0.04, rate: 100, count: 12) == [0, 4, 8]) }
  @Test func aSlightlyFasterSensorPassesWhole() { #expect(passed(interval: 0.01, rate: 104, count: 50).count == 50) }
  @Test func aSlowerSensorPassesWhole() { #expect(passed(interval: 0.001, rate: 100, count: 50).count == 50) }
  @Test func zeroMeansEverything() { #expect(passed(interval: 0, rate: 100, count: 50).count == 50) }
  @Test func aSensorThatBecomesFasterKeepsTheGrid() {
    var gate = UpdateGate(interval: 0.5)
    let slow = stride(from: 0, through: 1000, by: 500).filter {
      gate.passes(Timestamp(nanoseconds: Int64($0) * 1_000_000), sensorInterval: 0.5)
    }
    let fast = stride(from: 1010, through: 2100, by: 10).filter {
      gate.passes(Timestamp(nanoseconds: Int64($0) * 1_000_000), sensorInterval: 0.01)
    }
    #expect(slow + fast == [0, 500, 1000, 1500, 2000])
  }

  @Test func anOddRatioKeepsTheMeanRate() {
    #expect(abs(passed(interval: 1 / 60, rate: 100, count: 1000).count - 600) <= 1)
  }
  @Test func aGapDoesNotLetABurstThrough() {
    var gate = UpdateGate(interval: 0.1)
    let times = [0.0, 0.1, 0.2, 5.0, 5.01, 5.02, 5.1]
    let passed = times.filter { gate.passes(Timestamp(seconds: $0), sensorInterval: 0.01) }
    #expect(passed == [0, 0.1, 0.2, 5.0, 5.1])
  }
}
