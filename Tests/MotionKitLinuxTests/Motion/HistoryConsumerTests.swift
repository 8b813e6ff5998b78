import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite struct HistoryConsumerTests {
  @Test func stepsCountedOnADeviceAreInTheHistoryAfterwards() throws {
    var template = Array("/tmp/history-XXXXXX".utf8CString)
    let directory = String(cString: try #require(mkdtemp(&template)))
    defer {
      for name in (try? SystemFileLayer().list(directory)) ?? [] { unlink(directory + "/" + name) }
      rmdir(directory)
    }
    let path = directory + "/history.sqlite"
    // A walk, its samples handed over as a device's.
    let scene = try SimulationSource(uri: "sim:walk?steps=40", pacing: .unpaced)
    _ = try scene.start(SensorRequest(rates: [.accelerometer: 100, .gyroscope: 100, .barometer: 10]))
    var samples: [SensorSample] = []
    var batch = SampleBatch()
    while try scene.read(into: &batch, timeout: 1) == .data { samples += batch.samples }
    let device = ScriptedSource(samples: samples)
    let source = SharedSource(
      device, stepping: .free, history: { () throws(MotionKitError) in try StepHistory(path: path) })
    let pedometer = Pedometer(source: source)
    let collector = Collector<PedometerData>()
    pedometer.startUpdates(to: .global()) { collector.add($0) }
    device.end()
    try source.waitUntilEnd()
    let live = try #require(pedometer.data).numberOfSteps
    #expect(abs(live - 40) <= 1)
    let history = try StepHistory(path: path)
    let epoch: Int64 = 1_800_000_000_000_000_000
    let totals = try history.pedometerTotals(from: epoch, to: epoch + 3600 * 1_000_000_000 * 24)
    #expect(totals.numberOfSteps == live)
    #expect(
      try history.activities(from: epoch, to: epoch + 3600 * 1_000_000_000 * 24).contains {
        $0.state.activity == .walking
      })
  }

  @Test func aBoardWithNothingButAChipThatCountsIsEnough() throws {
    let readings: [Float] = [700, 700, 702, 704, 704, 706]
    let samples = readings.enumerated().map { index, steps in
      SensorSample(time: Timestamp(seconds: Double(index)), kind: .stepCounter, x: steps, y: 0, z: 0)
    }
    let device = ScriptedSource(kinds: [.stepCounter], samples: samples)
    let source = SharedSource(device, stepping: .free, history: nil)
    let pedometer = Pedometer(source: source)
    #expect(pedometer.isStepCountingAvailable)
    pedometer.startUpdates()
    device.end()
    try source.waitUntilEnd()
    #expect(device.requests.first?.required == [.stepCounter])
    #expect(pedometer.data?.numberOfSteps == 6)
  }

  @Test("a chip's late lumps and its reset give every step once, in order, and none in the future")
  func lumpsAndResets() throws {
    // Read once a second: nothing for 20 s, then 30 steps at once; two more; the chip starts anew and has counted 4 since.
    let readings: [Float] = Array(repeating: 700, count: 21) + [730, 732, 4, 5]
    let samples = readings.enumerated().map { index, steps in
      SensorSample(time: Timestamp(seconds: Double(index)), kind: .stepCounter, x: steps, y: 0, z: 0)
    }
    let device = ScriptedSource(kinds: [.stepCounter], samples: samples)
    let source = SharedSource(device, stepping: .free, history: nil)
    let pedometer = Pedometer(source: source)
    let collector = Collector<PedometerData>()
    pedometer.startUpdates(to: .global()) { collector.add($0) }
    device.end()
    try source.waitUntilEnd()
    collector.wait(values: 4)
    #expect(collector.values.map(\.numberOfSteps) == [30, 32, 36, 37])
    let ends = collector.values.map(\.end.seconds)
    #expect(ends == ends.sorted())
    for (end, read) in zip(ends, [21.0, 22, 23, 24]) { #expect(end > read - 1.5 && end <= read) }
    #expect(collector.values.allSatisfy { $0.start.seconds == 0 })
  }

  @Test("beside an accelerometer that lies still a chip counts only when asked for", arguments: [false, true])
  func besideAnAccelerometer(isAsked: Bool) throws {
    var samples: [SensorSample] = []
    for i in 0..<1000 {
      let time = Timestamp(nanoseconds: Int64(i) * 10_000_000)
      samples.append(SensorSample(time: time, kind: .accelerometer, x: 0, y: 0, z: 9.81))
      guard i % 100 == 0 else { continue }
      samples.append(SensorSample(time: time, kind: .stepCounter, x: Float(2 * i / 100), y: 0, z: 0))
    }
    let device = ScriptedSource(kinds: [.accelerometer, .stepCounter], samples: samples)
    let source = SharedSource(device, stepping: .free, history: nil)
    var walker = Walker()
    walker.usesHardwareCounter = isAsked
    let pedometer = Pedometer(source: source, walker: walker)
    pedometer.startUpdates()
    device.end()
    try source.waitUntilEnd()
    #expect((device.requests.first?.rates[.stepCounter] != nil) == isAsked)
    #expect((pedometer.data?.numberOfSteps ?? 0) == (isAsked ? 18 : 0))
  }

  @Test func aChipThatCountsIsUsedBesideAnAccelerometerOnlyWhenAskedFor() {
    let device = ScriptedSource(kinds: [.accelerometer, .stepCounter])
    let source = SharedSource(device, stepping: .free, history: nil)
    var walker = Walker()
    #expect(PedometerStage(walker: walker).demand(interval: 0).rates[.stepCounter] == nil)
    walker.usesHardwareCounter = true
    #expect(PedometerStage(walker: walker).demand(interval: 0).required == [.stepCounter])
    #expect(Pedometer(source: source, walker: walker).isStepCountingAvailable)
  }

  @Test func theWriterComesAndGoesWithTheServicesThatCount() {
    let source = SharedSource(
      ScriptedSource(), stepping: .free,
      history: { () throws(MotionKitError) in throw .unsupported(what: "writing here", hint: "") })
    func writers() -> Int { source.state.withLock { $0.consumers.filter { $0 is HistoryConsumer }.count } }
    let pedometer = Pedometer(source: source)
    let activities = MotionActivityManager(source: source)
    let motion = MotionManager(source: source)
    motion.startAccelerometerUpdates()
    #expect(writers() == 0)
    pedometer.startUpdates()
    activities.startActivityUpdates()
    #expect(writers() == 1)
    pedometer.stopUpdates()
    #expect(writers() == 1)
    activities.stopActivityUpdates()
    #expect(writers() == 0)
    #expect(motion.isAccelerometerActive)
  }
}
