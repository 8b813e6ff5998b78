import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite("what chips compute by themselves") struct FusedTests {
  /// A hub with a rotation sensor as the kernel's driver shows it, and one without a buffer.
  private static func board() -> EmulatedBoard {
    let quaternion = EmulatedChannel(
      id: "rot_quaternion", scanIndex: 0,
      format: EmulatedFormat(bits: 16, storageBits: 32, repeatCount: 4, unusedBits: 0xABCD_0000),
      attributes: [
        EmulatedAttribute("raw", fileName: "in_rot_quaternion_raw", .raw),
        EmulatedAttribute("sampling_frequency", fileName: "in_rot_sampling_frequency", .text("100"), isWritable: true),
        EmulatedAttribute("scale", fileName: "in_rot_quaternion_scale", .text("0.0001")),
      ])
    let gravity = ["x", "y", "z"].enumerated().map { index, axis in
      EmulatedChannel(
        id: "gravity_\(axis)",
        attributes: [
          EmulatedAttribute("raw", fileName: "in_gravity_\(axis)_raw", .text("\([1, -2, 980][index])")),
          EmulatedAttribute("scale", fileName: "in_gravity_scale", .text("0.01")),
        ])
    }
    return EmulatedBoard(
      summary: "hub",
      devices: [
        EmulatedDevice(
          id: "iio:device0", name: "dev_rotation", channels: [quaternion, .timestamp(scanIndex: 1)],
          attributes: [EmulatedAttribute("current_timestamp_clock", .timestampClock, isWritable: true)],
          trigger: "trigger0", rate: 100),
        EmulatedDevice(id: "iio:device1", name: "gravity", channels: gravity),
        EmulatedDevice(id: "trigger0", name: "dev_rotation-dev0"),
      ])
  }

  /// A thousand samples a second, by the clock.
  private struct Pace {
    private let begin = nanoseconds(of: CLOCK_MONOTONIC)
    private var given: Int64 = 0

    /// How many more are due.
    mutating func due() -> Int64 {
      let all = (nanoseconds(of: CLOCK_MONOTONIC) - begin) / 1_000_000
      defer { given = all }
      return all - given
    }
  }

  @Test("found by their channels, beside the sensors and never among them")
  func found() throws {
    let server = try IIODServer(board: Self.board())
    defer { server.stop() }
    let uri = "ip:127.0.0.1:\(server.port)"
    let capture = try FusedCapture(uri: uri, rate: 0)
    #expect(capture.devices.map(\.kind) == [.attitude, .gravity])
    let source = try openSource(uri)
    #expect(source.description.sensors.isEmpty)
    #expect(source.description.notes.contains { $0.contains("dev_rotation") && $0.contains("--fused") })
  }

  @Test("a quaternion of the kernel's 32-byte samples, garbage above its 16 bits, w first, on the boot clock")
  func attitude() throws {
    let server = try IIODServer(board: Self.board())
    defer { server.stop() }
    let capture = try FusedCapture(uri: "ip:127.0.0.1:\(server.port)", rate: 0)
    try capture.start()
    defer { capture.stop() }
    var samples: [FusedSample] = []
    var number: Int64 = 0
    var pace = Pace()
    let begin = nanoseconds(of: CLOCK_BOOTTIME)
    let end = nanoseconds(of: CLOCK_MONOTONIC) + 20_000_000_000
    while samples.count(where: { $0.kind == .attitude }) < 50 || !samples.contains(where: { $0.kind == .gravity }),
      nanoseconds(of: CLOCK_MONOTONIC) < end
    {
      for _ in 0..<pace.due() {
        number += 1
        server.deliver(
          raw: [number, -2000, 3000, 9000], to: "dev_rotation", time: Timestamp(nanoseconds: number * 1_000_000))
      }
      samples += capture.take().samples
      sched_yield()
    }
    let attitudes = samples.filter { $0.kind == .attitude }
    try #require(attitudes.count >= 50)
    for (a, b) in zip(attitudes, attitudes.dropFirst()) {
      #expect(b.time.nanoseconds - a.time.nanoseconds == 1_000_000 * Int64((b.values.y - a.values.y) / 0.0001 + 0.5))
    }
    let first = attitudes[0].values
    #expect(first.x == 0.9 && first.z == -0.2 && first.w == 0.3, "\(first)")
    #expect(abs(attitudes[0].time.nanoseconds - begin) < 20_000_000_000)
    let gravity = try #require(samples.first { $0.kind == .gravity }).values
    #expect(gravity.x == 0.01 && gravity.y == -0.02 && gravity.z == 9.8)
  }

  @Test("a device that goes away is said once and read again when it is back")
  func loss() throws {
    let server = try IIODServer(board: Self.board())
    defer { server.stop() }
    let capture = try FusedCapture(uri: "ip:127.0.0.1:\(server.port)", rate: 0)
    try capture.start()
    defer { capture.stop() }
    var losses: [String] = []
    func run(until isDone: (Int) -> Bool) -> Bool {
      let end = nanoseconds(of: CLOCK_MONOTONIC) + 20_000_000_000
      var count = 0
      var pace = Pace()
      while !isDone(count), nanoseconds(of: CLOCK_MONOTONIC) < end {
        for _ in 0..<pace.due() {
          let now = Timestamp(nanoseconds: nanoseconds(of: CLOCK_BOOTTIME))
          server.deliver(raw: [0, 0, 0, 10_000], to: "dev_rotation", time: now)
        }
        let taken = capture.take()
        losses += taken.losses
        count += taken.samples.count { $0.kind == .attitude }
        sched_yield()
      }
      return isDone(count)
    }
    #expect(run { $0 > 20 })
    server.inject(.cut)
    #expect(run { _ in losses.contains { $0.contains("dev_rotation") } })
    #expect(run { $0 > 20 })
    #expect(losses.count { $0.contains("dev_rotation") } == 1, "\(losses)")
  }

  @Test("rows in files of their own, whole and exact")
  func files() throws {
    let directory = "/tmp/motionkit-fused-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    mkdir(directory, 0o755)
    defer { _ = spawnAndWait(["rm", "-rf", directory]) }
    let files = FusedFiles(directory: directory)
    let time = Timestamp(nanoseconds: 12_345_000_000_001)
    try files.write([
      FusedSample(time: time, kind: .attitude, values: [0.9, 0.1, -0.2, 0.3]),
      FusedSample(time: time, kind: .gravity, values: [0.01, -0.02, 9.8, 0]),
    ])
    try files.write([FusedSample(time: time, kind: .gravity, values: [0, 0, 9.81, 0])])
    let lines = SystemFiles(root: directory).lines("/fused_gravity.csv")
    #expect(
      lines == ["timestamp_s,x_m_s2,y_m_s2,z_m_s2", "12345.000000001,0.01,-0.02,9.8", "12345.000000001,0,0,9.81"])
    let attitude = SystemFiles(root: directory).lines("/fused_attitude.csv")
    #expect(attitude.last == "12345.000000001,0.9,0.1,-0.2,0.3")
    #expect(files.rows == [.attitude: 1, .gravity: 2])
    #expect(throws: MotionKitError.self) {
      try FusedFiles(directory: directory + "/nowhere").write([FusedSample(time: time, kind: .gravity, values: .zero)])
    }
  }

  @Test("texts of attributes: four numbers in one, or one each; anything else is refused")
  func texts() throws {
    let (models, _) = FusedModel.find(in: [
      DeviceModel(
        id: "iio:device0", name: "bno055",
        channels: [
          ChannelModel(id: "rot_quaternion", files: ["scale": "s", "raw": "r"]),
          ChannelModel(id: "gravity_x", files: ["scale": "g"]), ChannelModel(id: "gravity_y", files: ["scale": "g"]),
        ], texts: ["s": "0.00006103515625", "g": "0.01"])
    ])
    let model = try #require(models.first)
    #expect(models.count == 1, "gravity has only two axes")
    #expect(!model.isBuffered)
    #expect(model.value(of: ["0 0 0 16384"]) == [1, 0, 0, 0])
    #expect(model.value(of: ["0 0 16384"]) == nil)
    #expect(model.value(of: ["0 x 0 1"]) == nil)
  }
}
