import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite("doctor: whole examinations") struct ExaminationTests {
  private let short = Diagnosis.Settings(seconds: 0.5)

  @Test("a simulated board at rest is in order, and a badly calibrated one is not")
  func simulated() throws {
    let good = try Diagnosis.examine(uri: "sim:still")
    #expect(good.level == .good, "\(good.findings)")
    #expect(good.sensorCount == 4 && good.measurements.count == 4)
    #expect(good.measurements.allSatisfy { abs($0.timing.rate / $0.wantedRate - 1) < 0.01 })
    #expect(throws: MotionKitError.self) { try Diagnosis.examine(uri: "sim:nosuchscene") }
    #expect(throws: MotionKitError.self) { try Diagnosis.examine(uri: "nonsense") }
  }

  @Test("a host that does not answer is a finding with its remedy, and no sensor")
  func noHost() throws {
    let diagnosis = try Diagnosis.examine(uri: "ip:127.0.0.1:1")
    #expect(diagnosis.sensorCount == 0)
    #expect(diagnosis.findings.map(\.topic) == [.connection] && diagnosis.level == .fault)
    #expect(diagnosis.findings.allSatisfy { !$0.fixes.isEmpty })
  }

  @Test("the emulator: every sensor measured, over the network, at its rate")
  func emulated() throws {
    let emulator = try Emulator(uri: "sim:still", settings: Emulator.Settings(port: 0))
    let isOver = Locked(false)
    let hasEnded = Locked(false)
    try SystemThread.detach(name: "emulator") {
      try? emulator.run { !isOver.withLock { $0 } }
      hasEnded.withLockNotifying { $0 = true }
    }
    defer {
      isOver.withLock { $0 = true }
      emulator.stop()
      _ = hasEnded.wait(until: nanoseconds(of: CLOCK_MONOTONIC) + 5_000_000_000) { $0 ? true : nil }
    }
    let diagnosis = try Diagnosis.examine(uri: "ip:127.0.0.1:\(emulator.server.port)", settings: short)
    #expect(diagnosis.measurements.map(\.sensor.kind) == [.accelerometer, .gyroscope, .magnetometer, .barometer])
    #expect(diagnosis.findings.allSatisfy { $0.level != .fault }, "\(diagnosis.findings)")
    #expect(diagnosis.findings.contains { $0.topic == .clocks }, "a board's clock is told")
    #expect(diagnosis.findings.allSatisfy { $0.level == .good || !$0.fixes.isEmpty }, "\(diagnosis.findings)")
    #expect(diagnosis.host.contains("sim:still"))
    let asked = try Diagnosis.examine(uri: "ip:127.0.0.1:\(emulator.server.port)", settings: short) { false }
    #expect(asked.measurements.isEmpty, "asked to end at once, it measures nothing")
  }

  @Test("findings are in the order of their topics, and what is found twice is said once")
  func order() {
    var diagnosis = Diagnosis(uri: "test:")
    diagnosis.findings = [
      Finding(.fault, .values, "a", "wrong"), Finding(.note, .kernel, "", "old"),
      Finding(.fault, .values, "a", "wrong"),
      Finding(.good, .values, "b", "right"),
    ]
    diagnosis.sortByTopic()
    #expect(diagnosis.findings.map(\.topic) == [.kernel, .values, .values])
    #expect(diagnosis.level == .fault)
    #expect(diagnosis.count(.fault) == 1)
  }
}
