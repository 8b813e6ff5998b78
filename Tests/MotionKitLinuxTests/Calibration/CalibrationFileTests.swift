import Dispatch
import Foundation
import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite final class CalibrationFileTests {
  private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
    "motionkit-calibration-\(UUID().uuidString)"
  ).path

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  private func sensor(_ kind: SensorKind, identity: String = "board", name: String = "bmi160") -> SensorDescription {
    SensorDescription(kind: kind, name: name, identity: identity, rate: 100)
  }

  private func calibration(_ kind: SensorKind, x: Double) -> StoredCalibration {
    StoredCalibration(
      sensor: sensor(kind),
      calibration: AxisCalibration(
        offset: Vector3(x, 1.0 / 3, -2), x: Vector3(1.1, 0.1, 0), y: Vector3(0, 0.9, 0), z: Vector3(0, 0, 1)),
      residual: 0.01, qualityPercent: 80, temperature: kind == .gyroscope ? 31.5 : nil, date: "2026-11-30T12:00:00Z")
  }

  @Test func whatIsKeptIsReadBackExactly() throws {
    let path = directory + "/deep/er/calibration.json"
    var file = try CalibrationFile(path: path)
    #expect(file.calibrations.isEmpty)
    file.keep(calibration(.gyroscope, x: 1))
    file.keep(calibration(.magnetometer, x: 2))
    file.keep(calibration(.gyroscope, x: 3))
    try file.write()
    let read = try CalibrationFile(path: path)
    #expect(read.calibrations == [calibration(.gyroscope, x: 3), calibration(.magnetometer, x: 2)])
    #expect(read.calibration(of: sensor(.gyroscope))?.calibration.offset.x == 3)
    #expect(read.calibration(of: sensor(.accelerometer)) == nil)
    #expect(read.calibration(of: sensor(.gyroscope, identity: "other")) == nil)
    #expect(read.calibration(of: sensor(.gyroscope, name: "icm20948")) == nil)
  }

  /// A gyroscope's rests and a magnetometer's alignment come back too, and the rests tell how the bias changes.
  @Test func restsAndAlignmentAreReadBackAndUsed() throws {
    let path = directory + "/calibration.json"
    var file = try CalibrationFile(path: path)
    var gyroscope = calibration(.gyroscope, x: 0.01)
    gyroscope.rests = [(10.0, 0.008), (35.0, 0.013), (20.0, 0.01)].map {
      GyroscopeRest(bias: Vector3($0.1, 0, 1.0 / 3), temperature: $0.0, duration: 10, noise: 0.001)
    }
    var magnetometer = calibration(.magnetometer, x: 2)
    magnetometer.alignment = MagnetometerAlignment(rotation: Vector3(0.1, -0.2, 1.0 / 3), residual: 0.01, sigma: 0.002)
    file.keep(gyroscope)
    file.keep(magnetometer)
    try file.write()
    #expect(try CalibrationFile(path: path).calibrations == [gyroscope, magnetometer])

    var description = SourceDescription(
      uri: "test:", sensors: [sensor(.gyroscope), sensor(.magnetometer)], isLive: false)
    try description.calibrate(.file(path))
    let dependence = try #require(description.calibrations.gyroscopeTemperature)
    #expect(dependence == GyroscopeTemperature(gyroscope.rests))
    #expect(abs(dependence.slope.x - 0.0002) < 1e-9 && dependence.reference == 20)
    // session.json keeps it, so that a replay computes the same.
    let pipeline = MotionPipeline.Configuration(for: description, frame: .magneticNorth)
    var missing: [String] = []
    let text = pipeline.json.text()
    let read = try Array(text.utf8).withUnsafeBytes { try JSONValue(parsing: $0, path: "session.json") }
    #expect(MotionPipeline.Configuration(json: read, missing: &missing) == pipeline)
    #expect(missing.isEmpty)
    try description.calibrate(.none)
    #expect(description.calibrations.gyroscopeTemperature == nil)
  }

  /// Sensors that cannot be told apart must not share a calibration.
  @Test func aSensorWithoutIdentityHasNone() throws {
    var file = try CalibrationFile(path: directory + "/none.json")
    file.keep(
      StoredCalibration(
        sensor: sensor(.gyroscope, identity: ""), calibration: .identity, residual: 0, qualityPercent: 1, date: ""))
    #expect(file.calibration(of: sensor(.gyroscope, identity: "")) == nil)
  }

  @Test(arguments: [
    "", "[]", "{}", "{\"format\":1}", "{\"format\":2,\"sensors\":[]}", "{\"format\":1,\"sensors\":[{}]}",
    "{\"format\":1,\"sensors\":[{\"kind\":\"gyroscope\",\"identity\":\"a\",\"offset\":[1,2],\"matrix\":[]}]}",
    """
    {"format":1,"sensors":[{"kind":"gyroscope","identity":"a","offset":[1,2,3],"matrix":[[1,0,0],[0,1,0],[0,"x",1]]}]}
    """,
  ])
  func otherFilesAreRefused(text: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/bad.json"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    #expect {
      try CalibrationFile(path: path)
    } throws: {
      if case .invalidFile(path, _, _, _) = $0 as? MotionKitError { true } else { false }
    }
  }

  @Test(arguments: [
    (#""offset":[1e30,0,0],"matrix":[[1,0,0],[0,1,0],[0,0,1]]"#, "offset"),
    (#""offset":[0,0,0],"matrix":[[0,0,0],[0,0,0],[0,0,0]]"#, "matrix"),
    (#""offset":[0,0,0],"matrix":[[1,0,0],[2,0,0],[0,0,1]]"#, "matrix"),
    (#""offset":[0,0,0],"matrix":[[1e9,0,0],[0,1,0],[0,0,1]]"#, "matrix"),
    (#""offset":[0,0,0],"matrix":[[1,0,0],[0,1,0],[0,0,1]],"quality_percent":-5000000000"#, "quality_percent"),
    (#""offset":[0,0,0],"matrix":[[1,0,0],[0,1,0],[0,0,1]],"residual":-1"#, "residual"),
    (#""offset":[0,0,0],"matrix":[[1,0,0],[0,1,0],[0,0,1]],"temperature_c":1e300"#, "temperature_c"),
    (
      #""offset":[0,0,0],"matrix":[[1,0,0],[0,1,0],[0,0,1]],"rests":[{"bias":[1e9,0,0],"temperature_c":20}]"#, "rests"
    ),
    (
      #""offset":[0,0,0],"matrix":[[1,0,0],[0,1,0],[0,0,1]]},{"kind":"gyroscope","identity":"a","#
        + #""offset":[0,0,0],"matrix":[[1,0,0],[0,1,0],[0,0,1]]"#, "same as sensor 1"
    ),
  ])
  func whatNoSensorCanHaveIsRefusedWithTheEntryAndTheReason(entry: String, word: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/impossible.json"
    try #"{"format":1,"sensors":[{"kind":"gyroscope","identity":"a",\#(entry)}]}"#.write(
      toFile: path, atomically: true, encoding: .utf8)
    #expect {
      try CalibrationFile(path: path)
    } throws: {
      guard case .invalidFile(path, _, _, let reason)? = $0 as? MotionKitError else { return false }
      return reason.contains("sensor ") && reason.contains("(gyroscope 'a')") && reason.contains(word)
    }
  }

  @Test func aDirectoryThatCannotBeMadeIsAnError() throws {
    var file = try CalibrationFile(path: "/proc/none/calibration.json")
    file.keep(calibration(.gyroscope, x: 1))
    #expect(throws: MotionKitError.self) { try file.write() }
  }

  @Test func aNamedFileCalibratesTheSensorsItKnows() throws {
    let path = directory + "/calibration.json"
    var file = try CalibrationFile(path: path)
    file.keep(calibration(.gyroscope, x: 0.5))
    try file.write()
    var description = SourceDescription(
      uri: "test:", sensors: [sensor(.accelerometer), sensor(.gyroscope)], isLive: false)
    #expect(try description.calibrate(.file(path)).map(\.kind) == [.gyroscope])
    #expect(description.calibrations.gyroscope?.offset.x == 0.5)
    #expect(description.calibrations.accelerometer == nil)
    // Only devices are looked up by themselves.
    let before = description.calibrations
    try description.calibrate(.automatic)
    #expect(description.calibrations == before)
    try description.calibrate(.none)
    #expect(description.calibrations.isEmpty)
    #expect(throws: MotionKitError.self) { try description.calibrate(.file(directory + "/gone.json")) }
  }

  @Test func hardIronIsLearntWhereItIsAskedForAndNotCalibrated() throws {
    let path = directory + "/calibration.json"
    var file = try CalibrationFile(path: path)
    file.keep(
      StoredCalibration(
        sensor: sensor(.magnetometer), calibration: .identity, residual: 0, qualityPercent: 100,
        date: "2026-11-30T12:00:00Z"))
    try file.write()
    func learns(_ kinds: [SensorKind], _ choices: CalibrationChoice...) throws -> Bool {
      var description = SourceDescription(uri: "test:", sensors: kinds.map { sensor($0) }, isLive: false)
      for choice in choices { try description.calibrate(choice) }
      return MotionPipeline.Configuration(for: description, frame: .magneticNorth).calibratesMagnetometer
    }
    #expect(try learns([.magnetometer], .learning))
    #expect(try !learns([.accelerometer], .learning))
    #expect(try !learns([.magnetometer], .automatic))
    #expect(try !learns([.magnetometer], .file(path), .learning))
    #expect(try !learns([.magnetometer], .learning, .none))
  }

  @Test func theManagersMotionIsCalibratedAndItsRawValuesAreNot() throws {
    let path = directory + "/calibration.json"
    var file = try CalibrationFile(path: path)
    var bias = AxisCalibration.identity
    bias.offset = Vector3(0, 0, 0.25)
    file.keep(
      StoredCalibration(
        sensor: sensor(.gyroscope, identity: "scripted-gyroscope", name: "scripted"), calibration: bias, residual: 0,
        qualityPercent: 100, date: "2026-11-30T12:00:00Z"))
    try file.write()
    let samples = (0..<200).flatMap { i -> [SensorSample] in
      let time = Timestamp(nanoseconds: Int64(i) * 10_000_000)
      return [
        SensorSample(time: time, kind: .accelerometer, x: 0, y: 0, z: Float(standardGravity)),
        SensorSample(time: time, kind: .gyroscope, x: 0, y: 0, z: 0.75),
      ]
    }
    func rates(_ choice: CalibrationChoice) throws -> (raw: Double, motion: Double) {
      let scripted = ScriptedSource(isLive: false, samples: samples)
      let source = SharedSource(scripted, stepping: .lockstep, calibration: choice)
      let manager = MotionManager(source: source)
      let (raw, motion) = (Collector<GyroscopeData>(), Collector<DeviceMotion>())
      source.hold()
      manager.startGyroUpdates(to: DispatchQueue(label: "raw")) { raw.add($0) }
      manager.startDeviceMotionUpdates(to: DispatchQueue(label: "motion")) { motion.add($0) }
      source.release()
      try source.waitUntilEnd()
      return (
        try #require(raw.values.last).rotationRate.z, try #require(motion.values.first).rotationRate.z
      )
    }
    let calibrated = try rates(.file(path))
    let plain = try rates(.none)
    #expect(calibrated.raw == 0.75 && plain.raw == 0.75)
    #expect(abs(calibrated.motion - 0.5) < 0.01)
    #expect(abs(plain.motion - 0.75) < 0.01)
  }

  /// Only where the gyroscope's bias has a slope does an app's motion switch on the barometer, for its temperature.
  @Test func aSlopeOverTemperatureAsksForTheTemperatureAndFollowsIt() throws {
    let path = directory + "/calibration.json"
    var file = try CalibrationFile(path: path)
    var gyroscope = StoredCalibration(
      sensor: sensor(.gyroscope, identity: "scripted-gyroscope", name: "scripted"), calibration: .identity, residual: 0,
      qualityPercent: 100, date: "2026-11-30T12:00:00Z")
    gyroscope.rests = [(40.0, 0.25), (30, 0.125), (20, 0)].map {
      GyroscopeRest(bias: Vector3(0, 0, $0.1), temperature: $0.0, duration: 10, noise: 0)
    }
    func motion(_ temperature: Float, _ rests: Int) throws -> (rates: [SensorKind: Double]?, rate: Double) {
      var part = gyroscope
      part.rests = Array(gyroscope.rests.suffix(rests))
      file.keep(part)
      try file.write()
      let scripted = ScriptedSource()
      let manager = MotionManager(source: SharedSource(scripted, calibration: .file(path)))
      let values = Collector<DeviceMotion>()
      manager.startDeviceMotionUpdates(to: .global()) { values.add($0) }
      scripted.push([
        SensorSample(time: Timestamp(nanoseconds: 0), pressureKilopascals: 100, temperatureCelsius: temperature)
      ])
      scripted.push(
        (1..<10).flatMap { i -> [SensorSample] in
          let time = Timestamp(nanoseconds: Int64(i) * 10_000_000)
          return [
            SensorSample(time: time, kind: .accelerometer, x: 0, y: 0, z: Float(standardGravity)),
            SensorSample(time: time, kind: .gyroscope, x: 0, y: 0, z: 0.75),
          ]
        })
      values.wait(values: 5)
      return (scripted.requests.first?.rates, try #require(values.values.first).rotationRate.z)
    }
    let following = try motion(30, 3)
    #expect(following.rates == [.accelerometer: 100, .gyroscope: 100, .barometer: 1])
    #expect(abs(following.rate - 0.625) < 0.01)
    #expect(abs(try motion(20, 3).rate - 0.75) < 0.01)
    let constant = try motion(30, 2)
    #expect(constant.rates == [.accelerometer: 100, .gyroscope: 100])
    #expect(abs(constant.rate - 0.75) < 0.01)
  }
}
