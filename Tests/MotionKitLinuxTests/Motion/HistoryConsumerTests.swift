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
