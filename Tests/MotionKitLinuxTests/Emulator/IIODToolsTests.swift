import Foundation
@testable import MotionKitLinux
import SensorFusion
import Testing

/// Debian's own programs, which are libiio's, against the emulator.
@Suite(.enabled(if: TestProgram.path("iio_info") != nil, "needs libiio-utils"))
struct IIODToolsTests {
  private func run(_ program: String, _ server: IIODServer, _ arguments: [String]) throws -> (Int32, Data) {
    let result = try #require(TestProgram.run(program, ["-u", "ip:127.0.0.1:\(server.port)"] + arguments))
    return (result.status, result.output)
  }

  private func text(_ program: String, _ server: IIODServer, _ arguments: [String]) throws -> String {
    let (status, output) = try run(program, server, arguments)
    #expect(status == 0)
    return String(decoding: output, as: UTF8.self)
  }

  @Test func infoListsTheBoard() throws {
    let server = try IIODServer(board: EmulatorSupport.board())
    defer { server.stop() }
    server.deliver([EmulatorSupport.accelerometer(1020, -56, 9800, milliseconds: 10)])
    let text = try text("iio_info", server, [])
    for line in [
      "Backend version: 0.24 (git tag: v0.24", "IIO context has 6 devices:",
      "iio:device0: accel_3d (label: accel-base) (buffer capable)",
      "accel_x:  (input, index: 0, format: le:S32/32>>0)", "raw value: 1020", "scale value: 0.000980665",
      "sampling_frequency_available value: 10 20 25 50 100", "mount_matrix value: 1, 0, 0; 0, 1, 0; 0, 0, 1",
      "timestamp:  (input, index: 3, format: le:S64/64>>0)", "current_timestamp_clock value: realtime",
      "Current trigger: trigger0(accel_3d-dev0)", "iio:device2: press", "pressure:  (input, index: 0",
      "trigger2: press-dev2",
    ] {
      #expect(text.contains(line), "\(line)")
    }
    #expect(!text.contains("ERROR"))
  }

  @Test func attributesAreReadAndWritten() throws {
    let server = try IIODServer(board: EmulatorSupport.board())
    defer { server.stop() }
    server.deliver([EmulatorSupport.accelerometer(1020, -56, 9800, milliseconds: 10)])
    #expect(try text("iio_attr", server, ["-c", "accel_3d", "accel_z", "raw"]) == "9800\n")
    #expect(try text("iio_attr", server, ["-c", "gyro_3d", "anglvel_x", "scale"]) == "0.000017453\n")
    _ = try text("iio_attr", server, ["-c", "accel_3d", "accel_x", "sampling_frequency", "20"])
    #expect(try text("iio_attr", server, ["-c", "accel_3d", "accel_y", "sampling_frequency"]) == "20.000000\n")
    _ = try text("iio_attr", server, ["-d", "accel_3d", "current_timestamp_clock", "boottime"])
    #expect(try text("iio_attr", server, ["-d", "accel_3d", "current_timestamp_clock"]).hasPrefix("boottime"))
    #expect(try text("iio_attr", server, ["-B", "accel_3d", "direction"]).contains("in"))
    // Refused: the program says so and the value stays.
    _ = try run("iio_attr", server, ["-c", "accel_3d", "accel_x", "scale", "2"])
    #expect(try text("iio_attr", server, ["-c", "accel_3d", "accel_x", "scale"]) == "0.000980665\n")
  }

  /// Plays ramps of the accelerometer while `body` runs.
  private func playing(_ body: (IIODServer) throws -> Void) throws {
    var settings = Emulator.Settings(speed: 20)
    settings.timeBase = .source
    let emulator = try Emulator(settings: settings) { ScriptedBoardSource.ramp(1000) }
    let player = Thread { try? emulator.run() }
    player.start()
    defer { emulator.stop() }
    try body(emulator.server)
  }

  @Test func samplesStream() throws {
    try playing { server in
      let (status, data) = try run("iio_readdev", server, ["-b", "16", "-s", "64", "accel_3d"])
      #expect(status == 0)
      try #require(data.count == 64 * 24)
      let first = data.int32(at: 0)
      for i in 0..<64 {
        let count = (first + Int32(i)) % 1000
        let values = [data.int32(at: 24 * i), data.int32(at: 24 * i + 4), data.int32(at: 24 * i + 8)]
        #expect(values == [count, -count, 2 * count])
        if i > 0 { #expect(data.int64(at: 24 * i + 16) - data.int64(at: 24 * i - 8) == 10_000_000) }
      }
    }
  }

  @Test func aSourceThatIsPlayedOnceIsReadToItsLastSample() throws {
    // Twenty seconds of a source in one second of ours: a block of 64 is never full at its end.
    var settings = Emulator.Settings(speed: 20)
    settings.timeBase = .source
    settings.loops = false
    let emulator = try Emulator(settings: settings) { ScriptedBoardSource.ramp(2000) }
    let isOver = Locked(false)
    let player = Thread {
      // A buffer is read through a connection of its own.
      while emulator.server.statistics.connections < 2, !isOver.withLock({ $0 }) { sched_yield() }
      try? emulator.run { !isOver.withLock { $0 } }
      emulator.stop()
    }
    player.start()
    defer { isOver.withLock { $0 = true } }
    let (_, data) = try run("iio_readdev", emulator.server, ["-b", "64", "accel_3d"])
    #expect(data.count % 24 == 0 && data.count > 24 * 64)
    #expect(data.int32(at: data.count - 24) == 1999, "the last sample is the source's last")
    // A client that is too slow for this speed loses samples, but never their order.
    for i in 1..<data.count / 24 { #expect(data.int32(at: 24 * i) > data.int32(at: 24 * i - 24)) }
  }

  @Test func someChannelsStreamToSeveralClientsAtOnce() throws {
    try playing { server in
      // The same channels: with others, both programs would get the union, which they do not expect.
      let results = Locked<[Data]>([])
      let threads = (0..<3).map { _ in
        Thread {
          let result = TestProgram.run(
            "iio_readdev",
            ["-u", "ip:127.0.0.1:\(server.port)", "-b", "16", "-s", "64", "accel_3d", "accel_x", "accel_z"])
          results.withLockNotifying { $0.append(result?.output ?? Data()) }
        }
      }
      threads.forEach { $0.start() }
      let all = results.wait { $0.count == 3 ? $0 : nil }
      for data in all {
        try #require(data.count == 64 * 8)
        // Whoever joins or leaves, nobody misses a sample.
        for i in 0..<64 { #expect(data.int32(at: 8 * i + 4) == 2 * data.int32(at: 8 * i)) }
        for i in 1..<64 {
          #expect(data.int32(at: 8 * i) == (data.int32(at: 8 * i - 8) + 1) % 1000)
        }
      }
    }
  }
}
