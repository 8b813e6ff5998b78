import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// A simulated board behind a bad network.
@Suite("bad network", .serialized) struct SlowNetworkTests {
  private static let period: Int64 = 10_000_000

  /// Runs `body` with a source that reads a simulated board, at 100 Hz, through a slow network.
  private func withBoard(
    delaySeconds: Double, _ body: (any SensorSource, SlowNetwork) throws -> Void
  ) throws {
    var settings = Emulator.Settings()
    settings.rates = [.accelerometer: 100, .gyroscope: 100]
    let emulator = try Emulator(uri: "sim:rotate", settings: settings)
    defer { emulator.stop() }
    try SystemThread.detach(name: "emulator") { try? emulator.run() }
    let network = try SlowNetwork(to: emulator.server.port, delaySeconds: delaySeconds)
    defer { network.stop() }
    let source = try openSource("ip:127.0.0.1:\(network.port)")
    _ = try source.start(
      SensorRequest(rates: [.accelerometer: 100, .gyroscope: 100], required: [.accelerometer, .gyroscope]))
    defer { source.stop() }
    try body(source, network)
  }

  /// Every sample of a kind, whether delivered or kept in an event, is there: all intervals are the period.
  private func missing(_ kind: SensorKind, _ session: Session) -> Int {
    let late = session.events.filter { $0.name == "late" && $0.detail.hasPrefix("\(kind) ") }.map(\.time.nanoseconds)
    let times = (session.samples.filter { $0.kind == kind }.map(\.time.nanoseconds) + late).sorted()
    return zip(times, times.dropFirst()).count { abs($1 - $0 - Self.period) > 1_000_000 }
  }

  @Test("a hundred milliseconds each way lose nothing and report nothing")
  func latency() throws {
    try withBoard(delaySeconds: 0.1) { source, _ in
      var session = Session(source)
      let isEnough = try session.read(limit: 30) { $0.count(.accelerometer) >= 300 && $0.count(.gyroscope) >= 300 }
      #expect(isEnough)
      #expect(missing(.accelerometer, session) == 0 && missing(.gyroscope, session) == 0)
      #expect(session.count("gap") == 0 && session.count("lost") == 0, "\(session.events)")
      let samples = session.samples
      #expect(zip(samples, samples.dropFirst()).allSatisfy { ($0.time, $0.kind) <= ($1.time, $1.kind) })
    }
  }

  @Test("a stall of most of a second loses nothing, since the board's buffer holds two")
  func stall() throws {
    try withBoard(delaySeconds: 0.01) { source, network in
      var session = Session(source)
      let hasBegun = try session.read(limit: 30) { $0.count(.accelerometer) >= 100 }
      #expect(hasBegun)
      network.stall(seconds: 0.7)
      let isEnough = try session.read(limit: 30) { $0.count(.accelerometer) >= 300 && $0.count(.gyroscope) >= 300 }
      #expect(isEnough)
      #expect(missing(.accelerometer, session) == 0 && missing(.gyroscope, session) == 0, "\(session.events)")
      #expect(session.count("lost") == 0 && session.count("clock_step") == 0)
    }
  }

  @Test("connections that are cut: each sensor lost once and found once, and the gap is reported")
  func cut() throws {
    try withBoard(delaySeconds: 0.01) { source, network in
      var session = Session(source)
      let hasBegun = try session.read(limit: 30) { $0.count(.accelerometer) >= 50 && $0.count(.gyroscope) >= 50 }
      #expect(hasBegun)
      network.cut()
      let isBack = try session.read(limit: 30) { $0.count("found") >= 2 }
      #expect(isBack, "\(session.events)")
      let before = session.count(.accelerometer)
      let isEnough = try session.read(limit: 30) { $0.count(.accelerometer) >= before + 50 }
      #expect(isEnough)
      #expect(session.count("lost") == 2 && session.count("found") == 2, "\(session.events)")
      #expect(session.count("clock_step") == 0)
    }
  }
}
