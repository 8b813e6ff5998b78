import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// Boards that are unlike others, over the network from end to end.
@Suite("odd boards") struct OddBoardTests {
  /// Three axes in 16 bits with what is wanted of attributes.
  private static func axes(
    _ type: String, scale: String, format: EmulatedFormat = EmulatedFormat(bits: 16, storageBits: 16),
    from index: Int = 0,
    more: [EmulatedAttribute] = []
  ) -> [EmulatedChannel] {
    ["x", "y", "z"].enumerated().map { place, axis in
      EmulatedChannel(
        id: "\(type)_\(axis)", scanIndex: index + place, format: format,
        attributes: (more + [
          EmulatedAttribute("raw", fileName: "in_\(type)_\(axis)_raw", .raw),
          EmulatedAttribute("scale", fileName: "in_\(type)_scale", .text(scale)),
        ]).sorted { $0.name < $1.name })
    }
  }

  /// Serves a board whose devices get `values` at 1 kHz, and reads it until `isDone`.
  private func read(
    _ devices: [EmulatedDevice], values: [String: [Int64]], request: SensorRequest, isBoottime: Bool = true,
    until isDone: (Session) -> Bool
  ) throws -> (session: Session, description: SourceDescription) {
    let server = try IIODServer(board: EmulatedBoard(summary: "odd", devices: devices))
    defer { server.stop() }
    let source = try openSource("ip:127.0.0.1:\(server.port)")
    let isOver = Locked(false)
    try SystemThread.detach(name: "feeder") {
      var given = nanoseconds(of: CLOCK_BOOTTIME)
      while !isOver.withLock({ $0 }) {
        while given < nanoseconds(of: CLOCK_BOOTTIME) {
          for (device, numbers) in values {
            server.deliver(raw: numbers, to: device, time: Timestamp(nanoseconds: given))
          }
          given += 1_000_000
        }
        usleep(2000)
      }
    }
    defer { isOver.withLock { $0 = true } }
    let description = try source.start(request)
    defer { source.stop() }
    var session = Session(source)
    let hasEnough = try session.read(limit: 20, until: isDone)
    #expect(hasEnough, "\(session.events)")
    return (session, description)
  }

  private static let trigger = EmulatedDevice(id: "trigger0", name: "timer")

  @Test("one chip with two devices of one label: each sensor is read from its own device")
  func oneLabel() throws {
    let devices = [
      EmulatedDevice(
        id: "iio:device0", name: "lsm6dsr_gyro", label: "imu",
        channels: Self.axes("anglvel", scale: "0.001") + [.timestamp(scanIndex: 3)], trigger: "trigger0", rate: 1000),
      EmulatedDevice(
        id: "iio:device1", name: "lsm6dsr_accel", label: "imu",
        channels: Self.axes("accel", scale: "0.01") + [.timestamp(scanIndex: 3)], trigger: "trigger0", rate: 1000),
      Self.trigger,
    ]
    let (session, description) = try read(
      devices, values: ["iio:device0": [1, 2, 3], "iio:device1": [10, 20, 981]],
      request: SensorRequest(rates: [.accelerometer: 1000, .gyroscope: 1000], required: [.accelerometer, .gyroscope])
    ) { $0.count(.accelerometer) > 50 && $0.count(.gyroscope) > 50 }
    #expect(description.sensors.map(\.name) == ["lsm6dsr_accel", "lsm6dsr_gyro"])
    #expect(session.samples.allSatisfy { $0.kind == .accelerometer ? $0.z == 9.81 : $0.z == 0.003 })
  }

  @Test(
    "the temperature of a gyroscope's chip when it was started is recorded, by raw counts or as a value",
    arguments: [
      (["offset": "12420", "raw": "-1000", "scale": "2.941176"], "33.588"), (["input": "-3500"], "-3.5"),
      (["raw": "7"], nil), (["raw": "warm", "scale": "1"], nil),
    ] as [([String: String], String?)])
  func temperature(texts: [String: String], expected: String?) throws {
    let thermometer = EmulatedChannel(
      id: "temp",
      attributes: texts.keys.sorted().map { EmulatedAttribute($0, fileName: "in_temp_\($0)", .text(texts[$0] ?? "")) })
    let devices = [
      EmulatedDevice(
        id: "iio:device0", name: "mpu6050",
        channels: Self.axes("anglvel", scale: "0.001") + [.timestamp(scanIndex: 3), thermometer], trigger: "trigger0",
        rate: 1000), Self.trigger,
    ]
    let (_, description) = try read(
      devices, values: ["iio:device0": [1, 2, 3]],
      request: SensorRequest(rates: [.gyroscope: 1000], required: [.gyroscope])
    ) { $0.count(.gyroscope) > 5 }
    #expect(description.sensors[0].attributes.first { $0.name == DeviceCapture.temperatureName }?.value == expected)
  }

  @Test(
    "a remote device that comes back is known by label and name, whatever its number",
    arguments: [
      (["iio:device1 accel chip", "iio:device0 gyro chip"], 0),
      (["iio:device7 gyro chip", "iio:device8 accel chip"], 1),
      (["iio:device7 gyro chip"], nil), (["iio:device7 accel other"], nil),
      // Two that may be it: none is taken, unless one has the old number.
      (["iio:device7 accel chip", "iio:device8 accel chip"], nil),
      (["iio:device7 accel chip", "iio:device1 accel chip"], 1),
    ] as [([String], Int?)])
  func numbers(now: [String], place: Int?) {
    var wanted = deviceModel(id: "iio:device1", name: "accel", channels: [], supportsTrigger: false)
    wanted.label = "chip"
    let devices = now.map { line in
      let words = line.split(separator: " ").map(String.init)
      return (id: words[0], name: words[1], label: words[2])
    }
    #expect(DeviceCapture.place(of: wanted, among: devices) == place)
  }

  @Test("a device that can only be polled, far away: (raw + offset) * scale, stamped in the middle of its reading")
  func polled() throws {
    let channels = ["x", "y", "z"].enumerated().map { index, axis in
      EmulatedChannel(
        id: "magn_\(axis)",
        attributes: [
          EmulatedAttribute("offset", fileName: "in_magn_offset", .text("-100")),
          EmulatedAttribute("raw", fileName: "in_magn_\(axis)_raw", .text("\(300 + 10 * index)")),
          EmulatedAttribute("scale", fileName: "in_magn_scale", .text("0.001")),
        ])
    }
    let server = try IIODServer(
      board: EmulatedBoard(
        summary: "odd", devices: [EmulatedDevice(id: "iio:device0", name: "ak09911", channels: channels)]))
    defer { server.stop() }
    let network = try SlowNetwork(to: server.port, delaySeconds: 0.05)
    defer { network.stop() }
    let source = try openSource("ip:127.0.0.1:\(network.port)")
    let description = try source.start(SensorRequest(rates: [.magnetometer: 10], required: [.magnetometer]))
    defer { source.stop() }
    #expect(description.sensors[0].capture == "polled")
    var session = Session(source)
    var least = Int64.max
    let hasEnough = try session.read(limit: 20) {
      if let last = $0.samples.last { least = min(least, nanoseconds(of: CLOCK_BOOTTIME) - last.time.nanoseconds) }
      return $0.count(.magnetometer) >= 5
    }
    #expect(hasEnough)
    // 0.2, 0.21 and 0.22 gauss.
    #expect(session.samples.allSatisfy { ($0.x, $0.y, $0.z) == (20, 21, 22) })
    // Three values at a tenth of a second each: its middle lies that much before its end.
    #expect(least >= 150_000_000)
  }

  @Test("a big-endian stamp, a shifted value, garbage around it and a turned chip")
  func bigEndian() throws {
    var stamp = EmulatedChannel.timestamp(scanIndex: 3)
    stamp.format = EmulatedFormat(isBigEndian: true, bits: 64, storageBits: 64)
    let format = EmulatedFormat(isBigEndian: true, bits: 12, storageBits: 16, shift: 4, unusedBits: 0xF)
    let matrix = EmulatedAttribute(
      "mount_matrix", fileName: "in_accel_mount_matrix", .text("0, 1, 0; -1, 0, 0; 0, 0, 1"))
    let devices = [
      EmulatedDevice(
        id: "iio:device0", name: "odd",
        channels: Self.axes("accel", scale: "0.01", format: format, more: [matrix]) + [stamp],
        trigger: "trigger0", rate: 1000),
      Self.trigger,
    ]
    let (session, description) = try read(
      devices, values: ["iio:device0": [100, -200, 981]],
      request: SensorRequest(rates: [.accelerometer: 1000], required: [.accelerometer])
    ) { $0.count(.accelerometer) > 50 }
    #expect(description.sensors[0].mountMatrix == [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    #expect(session.samples.allSatisfy { ($0.x, $0.y, $0.z) == (-2, -1, 9.81) })
    let times = session.samples.map(\.time.nanoseconds)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 1_000_000 }, "\(times) \(session.events)")
  }

  @Test("no stamps, no name, no rate: it is read all the same, stamped by arrivals")
  func bare() throws {
    let devices = [
      EmulatedDevice(
        id: "iio:device0", name: "", channels: Self.axes("accel", scale: "0.01"), trigger: "trigger0"), Self.trigger,
    ]
    let (session, description) = try read(
      devices, values: ["iio:device0": [1, 2, 981]],
      request: SensorRequest(rates: [.accelerometer: 100], required: [.accelerometer])
    ) { $0.count(.accelerometer) > 200 }
    #expect(description.sensors[0].name == "iio:device0")
    #expect(session.samples.allSatisfy { $0.z == 9.81 })
    #expect(zip(session.samples, session.samples.dropFirst()).allSatisfy { $0.time <= $1.time })
    let now = nanoseconds(of: CLOCK_BOOTTIME)
    #expect(session.samples.allSatisfy { $0.time.nanoseconds > now - 30_000_000_000 && $0.time.nanoseconds <= now })
  }

  @Test("two accelerometers in one device: the better is read, rates come as a range")
  func twoInOne() throws {
    let rate = [
      EmulatedAttribute("sampling_frequency", .text("1000"), isWritable: true),
      EmulatedAttribute("sampling_frequency_available", .text("[10 10 1000]")),
    ]
    let wide = EmulatedFormat(bits: 20, storageBits: 32)
    let devices = [
      EmulatedDevice(
        id: "iio:device0", name: "dual",
        channels: Self.axes("accel0", scale: "0.01") + Self.axes("accel1", scale: "0.001", format: wide, from: 3)
          + [.timestamp(scanIndex: 6)], attributes: rate, trigger: "trigger0", rate: 1000),
      Self.trigger,
    ]
    let (session, description) = try read(
      devices, values: ["iio:device0": [1, 2, 3, 4, 5, 9810]],
      request: SensorRequest(rates: [.accelerometer: 995], required: [.accelerometer])
    ) { $0.count(.accelerometer) > 50 }
    #expect(description.sensors.count == 1 && description.sensors[0].rate == 1000)
    #expect(session.samples.allSatisfy { $0.z == 9.81 })
  }
}
