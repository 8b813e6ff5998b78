import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// The folder of other programs' logs, which is not part of the project; the tests are skipped without it.
private let logs: String? = {
  var candidates: [String] = []
  if let shared = getenv("MOTIONKIT_SHARED") { candidates.append(String(cString: shared) + "/rawlogs") }
  var parts = #filePath.split(separator: "/")
  parts.removeLast(4)
  candidates.append("/" + parts.joined(separator: "/") + "/../shared/rawlogs")
  return candidates.first { access($0, R_OK) == 0 }
}()

private struct Log: CustomTestStringConvertible, Sendable {
  var path: String
  var format = ""
  var sensors: [SensorKind]
  /// Samples per second of the first sensor.
  var rate: ClosedRange<Double>
  var change: @Sendable (inout ImportOptions) -> Void = { _ in }
  var testDescription: String { path }
}

private let known: [Log] = [
  Log(
    path: "androsensor/Downstairs1.csv", format: "AndroSensor",
    sensors: [.accelerometer, .gyroscope, .magnetometer, .barometer], rate: 1.9...2.1),
  Log(
    path: "androsensor/Upstairs1.csv", format: "AndroSensor",
    sensors: [.accelerometer, .gyroscope, .magnetometer, .barometer], rate: 1.9...2.1),
  Log(path: "mobgap/TimeMeasure1_Test5_Trial1.csv", sensors: [.accelerometer, .gyroscope], rate: 99.9...100.1) {
    $0.rate = 100
    $0.accelerationUnit = "g"
    $0.rotationUnit = "deg/s"
  },
  Log(path: "mpu6050_pms67/imu_data.csv", sensors: [.accelerometer, .gyroscope], rate: 45...60) {
    $0.accelerationUnit = "g"
    $0.rotationUnit = "deg/s"
  },
  Log(path: "phyphox_misc/Acceleration_With_G.csv", format: "phyphox", sensors: [.accelerometer], rate: 480...520),
  Log(path: "phyphox_misc/Gyroscope_Rotation_Rate.csv", sensors: [.gyroscope], rate: 480...520),
  Log(path: "phyphox_misc/Magnetic_Field.csv", sensors: [.magnetometer], rate: 95...105),
  Log(path: "phyphox_misc/Pressure.csv", sensors: [.barometer], rate: 20...30),
  Log(
    path: "phyphox_misc", format: "phyphox", sensors: [.accelerometer, .gyroscope, .magnetometer, .barometer],
    rate: 480...520),
  Log(path: "phyphox_steps/test1-84step", format: "phyphox", sensors: [.accelerometer], rate: 95...105),
  Log(path: "phyphox_steps/test2-100steps", format: "phyphox", sensors: [.accelerometer], rate: 95...105),
  Log(path: "rocket_firm", sensors: [.accelerometer, .gyroscope, .magnetometer, .barometer], rate: 50...1000),
  Log(
    path: "senslogs_android", format: "senslogs", sensors: [.accelerometer, .gyroscope, .magnetometer], rate: 190...205),
  Log(
    path: "sensorlogger_android", format: "Sensor Logger (android)",
    sensors: [.accelerometer, .gyroscope, .magnetometer, .barometer], rate: 48...52),
  Log(
    path: "sensorlogger_ios", format: "Sensor Logger (ios)", sensors: [.accelerometer, .gyroscope, .barometer],
    rate: 98...102),
  Log(path: "stm32_baro_serial", sensors: [.barometer], rate: 9.9...10.1) {
    $0.rate = 10
    $0.columns = ["pressure": "BMP180_Pressure"]
    $0.pressureUnit = "0.1 Pa"
  },
  Log(path: "xio/fusion_sensor_data.csv", sensors: [.accelerometer, .gyroscope, .magnetometer], rate: 95...105),
  Log(path: "xio/gait_short_walk.csv", sensors: [.accelerometer, .gyroscope], rate: 300...500),
]

@Suite(.enabled(if: logs != nil, "the folder shared/rawlogs is not beside the checkout"))
struct RawLogTests {
  @Test(arguments: known) fileprivate func importsByNamesAndUnits(log: Log) throws {
    let directory = TemporaryDirectory()
    var options = ImportOptions()
    log.change(&options)
    let report = try importLog([try #require(logs) + "/" + log.path], to: directory.file("s"), options: options)
    #expect(report.sensors.map(\.kind) == log.sensors)
    if !log.format.isEmpty { #expect(report.format == log.format) }
    let rate = try #require(report.sensors.first?.timing.rate)
    #expect(log.rate.contains(rate), "\(rate) Hz")
    let samples = try replay(directory.file("s")).samples
    func mean(_ kind: SensorKind) -> Double {
      let lengths = samples.filter { $0.kind == kind }.map { $0.kind == .barometer ? Double($0.x) : $0.vector.norm }
      return lengths.reduce(0, +) / Double(max(lengths.count, 1))
    }
    for kind in log.sensors {
      switch kind {
      case .accelerometer where !log.path.hasPrefix("phyphox_steps"): #expect((8.0...20).contains(mean(kind)))
      case .accelerometer: #expect(mean(kind) < 5)
      case .gyroscope: #expect((0.001...6).contains(mean(kind)))
      case .magnetometer: #expect((5...100).contains(mean(kind)))
      case .barometer: #expect((65...105).contains(mean(kind)))
      case .stepCounter: break
      }
    }
    // One long log of a kind is enough to be computed twice.
    if samples.count < 6000 { #expect(try verifySession(directory.file("s")).isIdentical) }
  }

  @Test(arguments: [
    ("mobgap/TimeMeasure1_Test5_Trial1.csv", "--rate"), ("mpu6050_pms67/imu_data.csv", "--accel-unit"),
    ("stm32_baro_serial", "--rate"), ("xio", "one by one"), ("phyphox_steps", "one by one"),
  ])
  func asksWhereTheLogDoesNotTell(path: String, word: String) throws {
    let directory = TemporaryDirectory()
    #expect {
      try importLog([try #require(logs) + "/" + path], to: directory.file("s"))
    } throws: { "\($0)".contains(word) }
    #expect(access(directory.file("s"), F_OK) != 0)
  }

  /// The same hand-held phone, once with its own fused gravity: total acceleration is what gravity and the rest give.
  @Test func appleSignsAndGravityAgree() throws {
    let directory = TemporaryDirectory()
    let root = try #require(logs) + "/sensorlogger_ios/"
    let whole = try importLog([root], to: directory.file("a"))
    #expect(whole.warnings.contains { $0.contains("Core Motion") })
    let sum = try importLog(
      ["Accelerometer.csv", "Gravity.csv", "Metadata.csv"].map { root + $0 }, to: directory.file("b"))
    #expect(sum.sensors.map(\.kind) == [.accelerometer])
    func mean(_ path: String) throws -> Vector3 {
      let samples = try replay(path).samples.filter { $0.kind == .accelerometer }
      return samples.reduce(Vector3.zero) { $0 + $1.vector } * (1 / Double(samples.count))
    }
    let (a, b) = (try mean(directory.file("a")), try mean(directory.file("b")))
    #expect((a - b).norm < 1)
    #expect(a.norm > 3)
  }
}
