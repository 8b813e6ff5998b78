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

  /// A board that warms from one measurement to the next: from three temperatures on the bias follows them.
  @Test func restsAtThreeTemperaturesGiveASlopeThatIsApplied() throws {
    let directory = try TemporaryDirectory()
    let file = directory("calibration.json")
    func scene(_ temperature: Int, _ kind: String = "still") -> String {
      // The simulated bias changes with the board's own warming; the air's temperature alone leaves it.
      let bias = 1 + 0.05 * Double(temperature - 20)
      return "sim:\(kind)?errors=none&temperature=\(temperature)&gyro_bias=0,0,\(bias)"
    }
    var output = ""
    for (index, temperature) in [20, 40, 30].enumerated() {
      let outcome = try calibrate(["gyro", "-u", scene(temperature), "--to", file, "-q"])
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(outcome.output.contains(index < 2 ? "not known: " : "rad/s/°C (3 rests"), "\(outcome.output)")
      output = outcome.output
    }
    // 0.05 °/s/°C.
    #expect(output.contains("+0.000873 rad/s/°C (3 rests, 20.0 to 40.0 °C)"), "\(output)")
    let kept = try #require(sensors(file).first)
    #expect((kept["rests"] as? [[String: Any]])?.compactMap { $0["temperature_c"] as? Double } == [20, 40, 30])
    let list = try BuiltProgram.run(["calibrate", "list", "--to", file])
    #expect(list.output.contains("quality 100 %") && list.output.contains("(3 rests"), "\(list.output)")

    // At a fourth temperature the bias is right although it was never measured there.
    func firstRate(_ extra: [String]) throws -> Double {
      let outcome = try BuiltProgram.run(
        ["live", "-u", scene(36, "rotate"), "--speed", "max", "--json", "-d", "2s"] + extra)
      let line = try #require(outcome.output.split(separator: "\n").first { $0.contains("\"motion\"") })
      let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      let rate = try #require(json?["rotation_rate_rad_s"] as? [Double])
      return rate[2] * 180 / .pi
    }
    let (plain, calibrated) = (try firstRate([]), try firstRate(["--calibration", file]))
    #expect(abs(plain - calibrated - 1.8) < 0.05, "\(plain) \(calibrated)")
  }

  /// The axes of a magnetometer that was mounted askew; a device without gyroscope is told why they are not compared.
  @Test func aTurnedMagnetometersAxesAreComparedWithGravity() throws {
    let directory = try TemporaryDirectory()
    let file = directory("calibration.json")
    let scene = Self.turned + "&mag_misalignment=4"
    let outcome = try calibrate(["mag", "-u", scene, "--to", file])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.contains("° to the accelerometer's, ±") && outcome.output.contains("applied)"))
    let kept = try #require(sensors(file).first?["alignment"] as? [String: Any])
    let rotation = try #require(kept["rotation_rad"] as? [Double])
    #expect(rotation.map(abs).max() ?? 0 > 0.01)
    #expect(try #require(kept["sigma_rad"] as? Double) < 0.01)
    let bare = try calibrate(["mag", "-u", scene + "&sensors=mag", "--dry-run"])
    #expect(bare.status == 0)
    #expect(!bare.output.contains("to the accelerometer's"))
    #expect(bare.error.contains("were not compared: "), "\(bare.error)")
  }

  @Test func whatIsKeptIsListedWithQualityAndAge() throws {
    let directory = try TemporaryDirectory()
    let file = directory("calibration.json")
    let empty = try BuiltProgram.run(["calibrate", "list", "--to", file])
    #expect(empty.status == 3 && empty.error.contains("nothing is kept"))
    #expect(try calibrate(["mag", "-u", Self.turned, "--to", file, "-q"]).status == 0)
    let list = try BuiltProgram.run(["calibrate", "list"], environment: ["MOTIONKIT_CALIBRATION": file])
    #expect(list.status == 0)
    #expect(list.output.hasPrefix("magnetometer sim/magnetometer ("))
    #expect(list.output.contains("quality ") && list.output.contains(" %, new\n"), "\(list.output)")
  }

  @Test func ageIsToldInTheUnitThatFits() {
    let date = "2026-11-30T12:00:00Z"
    let then: Int64 = 1_796_040_000
    for (later, words) in [
      (0, "new"), (600, "10 minutes old"), (10_800, "3 hours old"), (864_000, "10 days old"),
      (-5, "measured 2026-11-30T12:00:00Z"),
    ] {
      #expect(CalibrationList.age(of: date, now: then + Int64(later)) == words)
    }
    #expect(CalibrationList.age(of: "yesterday", now: then) == "age unknown")
    #expect(CalibrationList.age(of: "", now: then) == "age unknown")
  }

  /// What is learnt in use is shown with its quality and age, in lines and as JSON.
  @Test func hardIronLearntInUseIsShown() throws {
    let source = ["live", "-u", Self.turned, "--calibration", "learn", "--speed", "max"]
    let lines = try BuiltProgram.run(source + ["-d", "60s", "--interval", "1s"])
    let rows = lines.output.split(separator: "\n")
    #expect(rows.first?.contains("hard iron none yet: turn the device about") == true, "\(lines.output)")
    #expect(rows.last?.contains(" %, ") == true && rows.last?.contains(" s old") == true, "\(lines.output)")
    let json = try BuiltProgram.run(source + ["-d", "60s", "--interval", "1s", "--json"])
    let line = try #require(json.output.split(separator: "\n").last { $0.contains("\"hard_iron\"") })
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let offset = try #require(object["hard_iron_uT"] as? [Double])
    for (value, truth) in zip(offset, [40.0, -25, 10]) { #expect(abs(value - truth) < 5, "\(offset)") }
    #expect(try #require(object["quality_percent"] as? Double) > 30)
    #expect(try #require(object["age_s"] as? Double) < 60)
    let without = try BuiltProgram.run(
      ["live", "-u", "sim:motion", "--speed", "max", "-d", "2s", "--json"])
    #expect(!without.output.contains("hard_iron"))
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
    (["gyro", "-u", "sim:motion"], "the device moved"),
    (["gyro", "-u", "sim:rotate?rate=20"], "the magnetic field turned"),
    (["gyro", "-u", "sim:rotate?rate=1,1,0&pitch=20&roll=10"], "gravity turned"),
    (["gyro", "-u", "sim:rotate?rate=150"], "is more than any gyroscope reads at rest"),
    (["gyro", "-u", "sim:still", "-d", "200ms"], "measure longer"),
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

  @Test func aTargetThatCannotBeWrittenIsRefusedBeforeMeasuring() throws {
    let directory = try TemporaryDirectory()
    for file in ["/proc/c.json", "/proc/none/c.json", directory.path] {
      let outcome = try calibrate(["gyro", "-u", "sim:still", "--to", file])
      #expect(outcome.status != 0)
      #expect(outcome.output == "" && !outcome.error.contains("calibrating"), "\(outcome.error)")
      #expect(outcome.error.contains(file), "\(outcome.error)")
    }
    // Looking leaves nothing behind, not even a directory.
    let outcome = try calibrate(["gyro", "-u", "sim:motion", "--to", directory("new/c.json")])
    #expect(outcome.status == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
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
      ([], "gyro, accel, mag or list"), (["baro"], "baro"), (["mag", "gyro"], "gyro"),
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
    let record = ["record", "-u", Self.turned, "--speed", "max", "-d", "8s", "-q"]
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
