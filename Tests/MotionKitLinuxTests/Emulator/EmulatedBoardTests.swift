@testable import MotionKitLinux
import SensorFusion
import Testing

@Suite struct EmulatedBoardTests {
  /// Asks for `raw` and `scale` of a channel after a sample, and gives the value in IIO's unit.
  private func value(
    _ sample: SensorSample, _ device: String, _ channel: String, of description: SensorDescription
  ) throws -> Double {
    let source = SourceDescription(uri: "test:", sensors: [description], isLive: false)
    var engine = IIODEngine(board: EmulatedBoard(describing: source))
    let client = EngineClient(&engine)
    engine.deliver(sample, at: 0)
    func number(_ name: String) throws -> Double {
      let answer = client.ask("READ \(device) INPUT \(channel) \(name)\r\n", &engine)
      let text = try #require(answer.split(separator: "\n").last?.dropLast())
      return try #require(Double(text))
    }
    let (raw, offset, scale) = (try number("raw"), try number("offset"), try number("scale"))
    return (raw + offset) * scale
  }

  private func sample(_ kind: SensorKind, _ x: Float, _ y: Float = 0, _ z: Float = 0) -> SensorSample {
    SensorSample(time: Timestamp(nanoseconds: 1), kind: kind, x: x, y: y, z: z)
  }

  @Test func recordedCountsComeBackExactly() throws {
    // Counts of a chip: what a driver makes of them in 32-bit floats has to come back as the same count, and the same
    // float, for all of the range.
    let chips = [(0.000598, 19.6), (0.009806, 20), (0.000980665, 1e6), (9.80665 * 16 / 32768, 156.9064)]
    for (resolution, range) in chips {
      var sensor = SensorDescription(kind: .accelerometer, name: "chip", identity: "a", rate: 100)
      sensor.resolution = resolution
      sensor.range = range
      for count in [0, 1, -1, 17, -4096, 16384, 32000, -32000] where abs(Double(count) * resolution) <= range {
        let recorded = Float(Double(count) * resolution)
        let read = try value(sample(.accelerometer, 0, 0, recorded), "chip", "accel_z", of: sensor)
        #expect(Float(read) == recorded, "\(count) at \(resolution)")
      }
    }
  }

  @Test func microteslaBecomeGauss() throws {
    var sensor = SensorDescription(kind: .magnetometer, name: "magn_3d", identity: "m", rate: 100)
    sensor.resolution = 0.01
    let read = try value(sample(.magnetometer, 48.12, -3.5, 20), "magn_3d", "magn_x", of: sensor)
    #expect(abs(read - 0.4812) < 1e-9)
  }

  @Test func withoutAResolutionValuesAreFineEnough() throws {
    let sensor = SensorDescription(kind: .barometer, name: "press", identity: "p", rate: 25)
    #expect(Float(try value(sample(.barometer, 101.32517, 21.5), "press", "pressure", of: sensor)) == 101.32517)
    #expect(try value(sample(.barometer, 101.3, 21.5), "press", "temp", of: sensor) == 21500)
    let accelerometer = SensorDescription(kind: .accelerometer, name: "a", identity: "p", rate: 25)
    #expect(abs(try value(sample(.accelerometer, 9.80665), "a", "accel_x", of: accelerometer) - 9.80665) < 1e-6)
    #expect(abs(try value(sample(.accelerometer, -1500), "a", "accel_x", of: accelerometer) + 1500) < 1e-3)
  }

  @Test func whatDoesNotFitIsCutOffAndCounted() {
    var sensor = SensorDescription(kind: .accelerometer, name: "chip", identity: "a", rate: 100)
    sensor.resolution = 0.001
    sensor.range = 20
    var engine = IIODEngine(
      board: EmulatedBoard(describing: SourceDescription(uri: "", sensors: [sensor], isLive: false)))
    engine.deliver(sample(.accelerometer, 100, -100, .nan), at: 0)
    #expect(engine.statistics.clipped == 2)
    engine.deliver(sample(.accelerometer, 0.0105, 0.010, 0), at: 0)
    #expect(engine.statistics.inexact == 1)
    let client = EngineClient(&engine)
    engine.deliver(sample(.accelerometer, .infinity, -.infinity, 0), at: 0)
    #expect(client.ask("READ chip INPUT accel_x raw\r\n", &engine) == "6\n32767\0\n")
    #expect(client.ask("READ chip INPUT accel_y raw\r\n", &engine) == "7\n-32768\0\n")
  }

  @Test func theMountMatrixIsTakenOffAgain() throws {
    var sensor = SensorDescription(kind: .accelerometer, name: "chip", identity: "a", rate: 100)
    sensor.mountMatrix = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    var engine = IIODEngine(
      board: EmulatedBoard(describing: SourceDescription(uri: "", sensors: [sensor], isLive: false)))
    engine.deliver(sample(.accelerometer, 1, 2, 3), at: 0)
    let client = EngineClient(&engine)
    let matrix = client.ask("READ chip INPUT accel_x mount_matrix\r\n", &engine)
    #expect(matrix == "27\n0, 1, 0; -1, 0, 0; 0, 0, 1\0\n")
    // sensor = transposed(M) * device = (-2, 1, 3)
    let counts = try ["x", "y", "z"].map { axis in
      let answer = client.ask("READ chip INPUT accel_\(axis) raw\r\n", &engine)
      let text = try #require(answer.split(separator: "\n").last)
      return try #require(Double(text.dropLast()))
    }
    #expect(counts[0] == -2 * counts[1])
    #expect(counts[2] == 3 * counts[1])
    #expect(counts[1] > 0)
  }

  @Test func sensorsOfOneChipShareADevice() throws {
    var accelerometer = SensorDescription(kind: .accelerometer, name: "bmi160", identity: "i2c-1/68", rate: 100)
    accelerometer.resolution = 0.001
    accelerometer.range = 19
    var gyroscope = accelerometer
    gyroscope.kind = .gyroscope
    let board = EmulatedBoard(
      describing: SourceDescription(uri: "", sensors: [accelerometer, gyroscope], isLive: false))
    #expect(board.devices.map(\.name) == ["bmi160", "bmi160-dev0"])
    var engine = IIODEngine(board: board)
    let client = EngineClient(&engine)
    #expect(client.ask("OPEN bmi160 3 0000007f\r\n", &engine) == "0\n")
    let command = Array("READBUF bmi160 72\r\n".utf8)
    #expect(client.ask(bytes: command, &engine).isEmpty)
    func deliver(_ kind: SensorKind, _ time: Int64) {
      let value = Float(time) * 0.001
      engine.deliver(
        SensorSample(time: Timestamp(nanoseconds: time), kind: kind, x: value, y: 0, z: value), at: 0)
    }
    // One sample when both have come; one whose other half never comes keeps the other's last values.
    deliver(.accelerometer, 1)
    deliver(.gyroscope, 1)
    deliver(.gyroscope, 2)
    deliver(.accelerometer, 3)
    deliver(.gyroscope, 3)
    let answer = client.take(&engine).dropFirst("72\n0000007f\n".utf8.count)
    let rows = (0..<3).map { row in
      let bytes = answer.dropFirst(24 * row)
      return [Int64(bytes.int32(at: 0) & 0xFFFF), Int64(bytes.int32(at: 6) & 0xFFFF), bytes.int64(at: 16)]
    }
    #expect(rows == [[1, 1, 1], [1, 2, 2], [3, 3, 3]])
  }

  @Test func twoOfOneNameAndPolledOnes() {
    var barometer = SensorDescription(kind: .barometer, name: "bmp280", identity: "b", rate: 10)
    barometer.capture = "polled"
    let accelerometer = SensorDescription(kind: .accelerometer, name: "chip", identity: "base", rate: 100)
    let magnetometer = SensorDescription(kind: .magnetometer, name: "chip", identity: "display", rate: 100)
    let board = EmulatedBoard(
      describing: SourceDescription(uri: "", sensors: [accelerometer, magnetometer, barometer], isLive: false))
    #expect(board.devices.filter { !$0.isTrigger }.map(\.label) == ["base", "display", "b"])
    #expect(board.devices[2].channels.map(\.id) == ["pressure", "temp"])
    #expect(!board.devices[2].hasBuffer)
    var engine = IIODEngine(board: board)
    engine.deliver(sample(.barometer, 101.25, 20), at: 0)
    let client = EngineClient(&engine)
    #expect(client.ask("READ bmp280 INPUT pressure input\r\n", &engine) == "14\n101.250000000\0\n")
    #expect(client.ask("READ bmp280 INPUT temp input\r\n", &engine) == "16\n20000.000000000\0\n")
    #expect(client.ask("OPEN bmp280 8 00000003\r\n", &engine) == "-22\n")
    #expect(client.ask("GETTRIG bmp280\r\n", &engine) == "-2\n")
  }

  @Test func formatsOfEveryKindAreEncoded() throws {
    // The vectors of case 38, written instead of read: type, value, bytes.
    let vectors: [(String, [Int64], [UInt8])] = [
      ("le:s12/16>>4", [-1], [0xF0, 0xFF]), ("le:s12/16>>4", [-2048], [0x00, 0x80]),
      ("be:s16/16>>0", [-200], [0xFF, 0x38]), ("be:u24/32>>8", [1_193_046], [0x12, 0x34, 0x56, 0x00]),
      ("le:s32/32X4>>0", [0, 0, 0, 2_147_483_647], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F]),
    ]
    for (text, values, bytes) in vectors {
      let format = try #require(EmulatedFormat(text))
      let board = EmulatedBoard(
        summary: "",
        devices: [
          EmulatedDevice(
            id: "iio:device0", name: "x", channels: [EmulatedChannel(id: "voltage0", scanIndex: 0, format: format)],
            trigger: "trigger0"), EmulatedDevice(id: "trigger0", name: "t"),
        ])
      var engine = IIODEngine(board: board)
      let client = EngineClient(&engine)
      #expect(client.ask("OPEN x 1 00000001\r\n", &engine) == "0\n")
      engine.deliver(raw: values, to: "x", time: Timestamp(nanoseconds: 0), at: 0)
      let answer = client.ask(bytes: Array("READBUF x \(bytes.count)\r\n".utf8), &engine)
      #expect(Array(answer.suffix(bytes.count)) == bytes, "\(text)")
    }
  }

  @Test func paddingAtTheEndOfASampleIsTheKernels() {
    // Pressure and temperature without the time: 8 bytes a sample from the kernel, of which libiio counts 6. A block of
    // 4 by libiio's count is 3 of the kernel's; one of 2 cannot be filled.
    let board = EmulatedBoard(
      summary: "",
      devices: [
        EmulatedDevice(
          id: "iio:device0", name: "lps22hb",
          channels: [
            EmulatedChannel(
              id: "pressure", scanIndex: 0, format: EmulatedFormat(bits: 24, storageBits: 32, unusedBits: .max)),
            EmulatedChannel(id: "temp", scanIndex: 1, format: EmulatedFormat(bits: 16, storageBits: 16)),
          ], trigger: "trigger0"), EmulatedDevice(id: "trigger0", name: "t"),
      ])
    var engine = IIODEngine(board: board)
    let client = EngineClient(&engine)
    #expect(client.ask("OPEN lps22hb 4 00000003\r\n", &engine) == "0\n")
    _ = client.ask("READBUF lps22hb 24\r\n", &engine)
    for i in 1...3 { engine.deliver(raw: [Int64(i), -1], to: "lps22hb", time: Timestamp(nanoseconds: 0), at: 0) }
    let sample: [UInt8] = [0, 0, 0xFF, 0xFF, 0xFF, 0, 0]
    let expected = (1...3).flatMap { [UInt8($0)] + sample }
    #expect(client.take(&engine) == Array("24\n00000003\n".utf8) + expected)
    #expect(client.ask("CLOSE lps22hb\r\nOPEN lps22hb 2 00000003\r\n", &engine) == "0\n0\n")
    _ = client.ask("READBUF lps22hb 12\r\n", &engine)
    engine.deliver(raw: [1, 1], to: "lps22hb", time: Timestamp(nanoseconds: 0), at: 0)
    #expect(client.take(&engine) == Array("-22\n".utf8))
  }
}

@Suite struct DecimalTextTests {
  @Test func numbersAreWrittenWithoutExponents() {
    let numbers: [(Double, String)] = [
      (0, "0"), (1, "1"), (-2.5, "-2.5"), (100, "100"), (0.000980665, "0.000980665"), (1e-7, "0.0000001"),
      (-1.25e-9, "-0.00000000125"), (1e21, "1000000000000000000000"), (123456.789, "123456.789"), (.nan, "0"),
    ]
    for (number, text) in numbers { #expect(DecimalText.plain(number) == text) }
    #expect(DecimalText.fixed(0.000980665, decimals: 6) == "0.000981")
    #expect(DecimalText.fixed(-0.0000001, decimals: 6) == "0.000000")
    #expect(DecimalText.fixed(99.9999999, decimals: 6) == "100.000000")
    #expect(DecimalText.fixed(-12.5, decimals: 0) == "-13")
    var random = TestRandom(state: 7)
    for _ in 0..<2000 {
      let number = Double.random(in: -1e6...1e6, using: &random) * [1e-12, 1e-3, 1, 1e9].randomElement(using: &random)!
      #expect(Double(DecimalText.plain(number)) == number)
    }
  }

  @Test func conversionsOfUnitsLeaveNoTrace() {
    for digits in 1...2000 {
      let resolution = Double(digits) / 10000
      #expect(DecimalText.snapped(resolution * 100 * 0.01) == resolution)
    }
    #expect(DecimalText.snapped(9.80665 * 16 / 32768) == 9.80665 * 16 / 32768)
    #expect(DecimalText.snapped(0) == 0)
  }
}
