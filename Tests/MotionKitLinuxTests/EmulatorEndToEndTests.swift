import Foundation
import MotionKitLinux
import SensorFusion
import Testing

/// A source, the emulator, libiio's network client and the project's own IIO source, in one line: what goes in comes out.
@Suite struct EmulatorEndToEndTests {
  @Test func theIIOSourceReadsWhatTheEmulatorPlays() throws {
    var settings = Emulator.Settings(speed: 5)
    settings.loops = true
    let emulator = try Emulator(settings: settings) { ScriptedBoardSource.ramp(1000) }
    let player = Thread { try? emulator.run() }
    player.start()
    defer { emulator.stop() }

    let source = try openSource("ip:127.0.0.1:\(emulator.server.port)")
    let sensors = source.description.sensors
    #expect(sensors.map(\.name) == ["accel_3d", "gyro_3d", "press"])
    #expect(sensors.map(\.resolution) == [0.000980665, 0.000017453, 0.00001])
    _ = try source.start(SensorRequest(rates: [.accelerometer: 100], required: [.accelerometer]))
    defer { source.stop() }
    var batch = SampleBatch()
    var samples: [SensorSample] = []
    while samples.count < 200, try source.read(into: &batch, timeout: 5) == .data { samples += batch.samples }
    try #require(samples.count >= 200)
    let unit = 0.000980665
    for (sample, next) in zip(samples, samples.dropFirst()) {
      let count = Int((Double(sample.x) / unit).rounded())
      let expected = EmulatorSupport.accelerometer(count, -count, 2 * count, milliseconds: 0)
      // The same floats to the bit.
      #expect([sample.x, sample.y, sample.z] == [expected.x, expected.y, expected.z])
      let nextCount = Int((Double(next.x) / unit).rounded())
      #expect(nextCount == (count + 1) % 1000)
      #expect(next.time.nanoseconds - sample.time.nanoseconds == 10_000_000)
    }
  }
}
