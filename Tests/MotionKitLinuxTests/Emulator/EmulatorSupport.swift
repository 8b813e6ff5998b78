import Foundation
import MotionKitLinux
import SensorFusion

/// Boards and samples that the emulator's tests share.
enum EmulatorSupport {
  /// A HID sensor hub with known counts: the accelerometer and the barometer of the lab.
  static func description() -> SourceDescription {
    var accelerometer = SensorDescription(kind: .accelerometer, name: "accel_3d", identity: "accel-base", rate: 100)
    accelerometer.resolution = 0.000980665
    accelerometer.range = 2_000_000
    var gyroscope = SensorDescription(kind: .gyroscope, name: "gyro_3d", identity: "hub/gyro", rate: 100)
    gyroscope.resolution = 0.000017453
    var barometer = SensorDescription(kind: .barometer, name: "press", identity: "hub/press", rate: 50)
    barometer.resolution = 0.00001
    return SourceDescription(
      uri: "test:hub", sensors: [accelerometer, gyroscope, barometer], host: "bench", isLive: false)
  }

  static func board() -> EmulatedBoard { EmulatedBoard(describing: description(), hasTemperature: false) }

  /// An accelerometer sample of `x`, `y`, `z` counts at `milliseconds`.
  static func accelerometer(_ x: Int, _ y: Int, _ z: Int, milliseconds: Int) -> SensorSample {
    let unit = 0.000980665
    return SensorSample(
      time: Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000), kind: .accelerometer, x: Float(Double(x) * unit),
      y: Float(Double(y) * unit), z: Float(Double(z) * unit))
  }
}

/// One client of an engine, for tests that need no sockets.
struct EngineClient {
  let id: Int

  init(_ engine: inout IIODEngine) { id = engine.connect() }

  /// Sends a text and takes the answer, as text in which bytes stand for themselves.
  func ask(_ text: String, _ engine: inout IIODEngine, at now: Int64 = 0) -> String {
    String(decoding: ask(bytes: Array(text.utf8), &engine, at: now), as: UTF8.self)
  }

  func ask(bytes: [UInt8], _ engine: inout IIODEngine, at now: Int64 = 0) -> [UInt8] {
    engine.receive(bytes, from: id, at: now)
    return engine.takeOutput(of: id, at: now)
  }

  /// What has come without being asked for now.
  func take(_ engine: inout IIODEngine, at now: Int64 = 0) -> [UInt8] { engine.takeOutput(of: id, at: now) }
}

/// Little-endian integers out of bytes.
extension Collection<UInt8> {
  func int32(at offset: Int) -> Int32 {
    Int32(truncatingIfNeeded: dropFirst(offset).prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
  }
  func int64(at offset: Int) -> Int64 {
    Int64(truncatingIfNeeded: dropFirst(offset).prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}

/// Programs that tests run beside the code.
enum TestProgram {
  /// Where a program is, in the usual places; nil where it is not installed.
  static func path(_ name: String) -> String? {
    ["/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"].map { $0 + name }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  /// A program of this package, which lies beside the test bundle that this process has mapped (`Bundle.allBundles`
  /// crashes in Swift 6.0.3); nil where it was not built.
  static func built(_ name: String) -> String? {
    let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
    guard let line = maps.split(separator: "\n").first(where: { $0.hasSuffix(".xctest") }),
      let start = line.firstIndex(of: "/")
    else { return nil }
    let path = (String(line[start...]) as NSString).deletingLastPathComponent + "/" + name
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }

  /// Runs a program to its end and gives its output, or nil where it cannot be run.
  static func run(_ name: String, _ arguments: [String]) -> (status: Int32, output: Data, errors: String)? {
    guard let path = path(name) else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, data, text)
  }
}
