import Foundation
import Testing

@testable import motionlog

/// `motionlog calibrate`, and `--calibration` of the commands that compute with it.
@Suite struct CalibrateTests {
  /// Turned at random, with a known hard iron beside the small errors of a telephone's sensors.
  private static let turned = "sim:motion?errors=phone&mag_bias=40,-25,10"

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  private func sensors(_ path: String) throws -> [[String: Any]] {
    let json = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
    return try #require((json as? [String: Any])?["sensors"] as? [[String: Any]])
  }

  private func calibrate(_ arguments: [String]) throws -> BuiltProgram.Outcome {
    try BuiltProgram.run(["calibrate"] + arguments + ["--speed", "max"])
  }

  @Test func aTurnedMagnetometerIsCalibratedAndKept() throws {
    let directory = try TemporaryDirectory()
    let file = directory("calibration.json")
    let outcome = try calibrate(["mag", "-u", Self.turned, "--to", file])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.error.contains("coverage 100 %") && outcome.error.contains("kept in \(file)"))
    #expect(outcome.output.hasPrefix("magnetometer sim/magnetometer\noffset "))
    #expect(outcome.output.contains("residual") && outcome.output.contains("quality"))
    let kept = try #require(sensors(file).first)
    let offset = try #require(kept["offset"] as? [Double])
    // 1 µT of each axis' bias is drawn from the seed.
    for (value, truth) in zip(offset, [40.0, -25, 10]) { #expect(abs(value - truth) < 4, "\(offset)") }
    #expect(kept["kind"] as? String == "magnetometer" && kept["identity"] as? String == "sim/magnetometer")
    #expect((kept["date"] as? String)?.count == 20)
    #expect((kept["residual"] as? Double ?? 1) < 0.03)

    // Another sensor goes beside it, the same one in its place.
    #expect(try calibrate(["gyro", "-u", "sim:still", "--to", file, "-q"]).status == 0)
    #expect(try calibrate(["mag", "-u", Self.turned, "--to", file, "-q"]).status == 0)
    #expect(try sensors(file).map { $0["kind"] as? String } == ["magnetometer", "gyroscope"])
  }

  @Test func aStillGyroscopeIsCalibratedWithItsTemperature() throws {
    let directory = try TemporaryDirectory()
    let file = directory("calibration.json")
    let scene = "sim:still?errors=none&gyro_bias=1,-2,0.5"
    #expect(try calibrate(["gyro", "-u", scene, "--to", file]).status == 0)
    let kept = try #require(sensors(file).first)
    let offset = try #require(kept["offset"] as? [Double])
    for (value, truth) in zip(offset, [1.0, -2, 0.5]) { #expect(abs(value - truth * .pi / 180) < 1e-4) }
    #expect(kept["temperature_c"] is Double)
  }

  @Test func stillPosesOfAnyKindCalibrateAnAccelerometer() throws {
    let directory = try TemporaryDirectory()
    let file = directory("calibration.json")
    let scene = "sim:motion?errors=none&accel_bias=0.3,-0.2,0.1&accel_noise=0.002&length=290&pauses=40"
    let outcome = try calibrate(["accel", "--method", "free", "-u", scene, "--to", file])
    #expect(outcome.status == 0, "\(outcome.error)")
    let offset = try #require(sensors(file).first?["offset"] as? [Double])
    for (value, truth) in zip(offset, [0.3, -0.2, 0.1]) { #expect(abs(value - truth) < 0.03, "\(offset)") }
  }

  @Test(arguments: [
    (["mag", "-u", "sim:still"], "turned too little"), (["accel", "-u", "sim:still"], "turned too little"),
    (["gyro", "-u", "sim:motion"], "the device moved"), (["gyro", "-u", "sim:still", "-d", "200ms"], "measure longer"),
  ])
  func aBadMeasurementIsRefusedWithTheReason(arguments: [String], reason: String) throws {
    let directory = try TemporaryDirectory()
    let file = directory("calibration.json")
    let outcome = try calibrate(arguments + ["--to", file])
    #expect(outcome.status == 1)
    #expect(outcome.error.contains(reason), "\(outcome.error)")
    #expect(outcome.output == "")
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func aDryRunAndASimulatedSensorKeepNothing() throws {
    let directory = try TemporaryDirectory()
    let home = ["HOME": directory.path]
    for extra in [["--dry-run"], []] {
      let outcome = try BuiltProgram.run(
        ["calibrate", "gyro", "-u", "sim:still", "--speed", "max"] + extra, environment: home)
      #expect(outcome.status == 0)
      #expect(outcome.output.contains("offset"))
      #expect(outcome.error.contains("not kept"))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  /// A recording names its sensors, so it calibrates them, in the user's own file.
  @Test func aRecordingsSensorIsKeptInTheUsersFile() throws {
    let directory = try TemporaryDirectory()
    let recording = directory("turned")
    #expect(
      try BuiltProgram.run(["record", recording, "-u", Self.turned, "--speed", "max", "-d", "60s", "-q"]).status == 0)
    for (environment, file) in [
      (["HOME": directory.path], ".config/motionkit/calibration.json"),
      (["HOME": "/", "XDG_CONFIG_HOME": directory("xdg")], "xdg/motionkit/calibration.json"),
      (["XDG_CONFIG_HOME": "/", "MOTIONKIT_CALIBRATION": directory("own.json")], "own.json"),
    ] {
      let outcome = try BuiltProgram.run(
        ["calibrate", "mag", "-u", "file:" + recording, "--speed", "max"], environment: environment)
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(try sensors(directory(file)).count == 1)
    }
    let nowhere = try BuiltProgram.run(["calibrate", "mag", "-u", "file:" + recording, "--speed", "max"])
    #expect(nowhere.status == 2)
    #expect(nowhere.error.contains("--to"))
  }

  @Test func theCommandLineIsChecked() throws {
    for (arguments, word) in [
      ([], "gyro, accel or mag"), (["baro"], "baro"), (["mag", "gyro"], "gyro"),
      (["mag", "--method", "six"], "--method"), (["accel", "--method", "eight"], "six or free"),
    ] {
      let outcome = try calibrate(arguments + ["-u", "sim:still"])
      #expect(outcome.status == 2, "\(arguments)")
      #expect(outcome.error.contains(word), "\(outcome.error)")
    }
    #expect(try calibrate(["mag", "-u", "sim:still?sensors=accel"]).status == 3)
  }

  // MARK: Computing with it

  /// Raw files stay as the sensors gave them; what is computed is calibrated, says so, and is the same again.
  @Test func aCalibratedRecordingIsRawOnDiskAndTheSameBitsAgain() throws {
    let directory = try TemporaryDirectory()
    let file = directory("calibration.json")
    #expect(try calibrate(["mag", "-u", Self.turned, "--to", file, "-q"]).status == 0)
    let record = ["record", "-u", Self.turned, "--speed", "max", "-d", "20s", "-q"]
    let (plain, calibrated) = (directory("plain"), directory("calibrated"))
    #expect(try BuiltProgram.run(record + [plain]).status == 0)
    #expect(try BuiltProgram.run(record + [calibrated, "--calibration", file]).status == 0)
    #expect(try text(plain + "/magnetometer.csv") == text(calibrated + "/magnetometer.csv"))
    #expect(try text(plain + "/device_motion.csv") != text(calibrated + "/device_motion.csv"))
    #expect(try text(calibrated + "/session.json").contains("\"matrix\""))
    #expect(try BuiltProgram.run(["replay", calibrated, "--verify"]).status == 0)
    #expect(try BuiltProgram.run(["check", calibrated]).status == 0)

    // A replay keeps the recording's calibration; options take it off, or put it on later.
    func replay(_ from: String, _ name: String, _ extra: [String]) throws -> String {
      let outcome = try BuiltProgram.run(
        ["replay", from, "--speed", "max", "--to", directory(name), "-q"] + extra)
      #expect(outcome.status == 0, "\(outcome.error)")
      return try text(directory(name) + "/device_motion.csv")
    }
    #expect(try replay(calibrated, "same", []) == text(calibrated + "/device_motion.csv"))
    #expect(try replay(calibrated, "off", ["--calibration", "none"]) == text(plain + "/device_motion.csv"))
    #expect(try replay(plain, "on", ["--calibration", file]) == text(calibrated + "/device_motion.csv"))
    #expect(try BuiltProgram.run(["replay", directory("on"), "--verify"]).status == 0)

    // The smoother calibrates too.
    let smooth = ["replay", calibrated, "--smooth", "-q", "--to"]
    #expect(try BuiltProgram.run(smooth + [directory("smooth")]).status == 0)
    #expect(try BuiltProgram.run(smooth + [directory("bare"), "--calibration", "none"]).status == 0)
    #expect(try text(directory("smooth") + "/device_motion.csv") != text(directory("bare") + "/device_motion.csv"))
    #expect(try BuiltProgram.run(["replay", directory("smooth"), "--verify"]).status == 0)
  }

  @Test func aBrokenOrMissingFileIsAnErrorWithItsName() throws {
    let directory = try TemporaryDirectory()
    let file = directory("broken.json")
    try "{\n oops".write(toFile: file, atomically: true, encoding: .utf8)
    let broken = try BuiltProgram.run(["live", "-u", "sim:walk", "--calibration", file, "-d", "1s"])
    #expect(broken.status == 5)
    #expect(broken.error.contains("broken.json:2"))
    let missing = try BuiltProgram.run(["live", "-u", "sim:walk", "--calibration", directory("gone"), "-d", "1s"])
    #expect(missing.status == 3)
    #expect(missing.error.contains("calibrate"))
  }
}
