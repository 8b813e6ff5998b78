import Foundation
import Glibc
import Testing

@testable import motionlog

/// The program at work on simulated scenes: what it prints, writes and answers.
@Suite struct RunTests {
  private func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map { line in
      try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }

  @Test func devicesAreListedWithWhatIsKnown() throws {
    let outcome = try BuiltProgram.run(["devices", "-u", "sim:walk"])
    #expect(outcome.status == 0)
    for word in ["accelerometer", "gyroscope", "magnetometer", "barometer", "range", "resolution", "clock"] {
      #expect(outcome.output.contains(word))
    }
    let json = try objects(BuiltProgram.run(["devices", "-u", "sim:walk", "--json"]).output)
    #expect(json.count == 1)
    #expect((json[0]["sensors"] as? [Any])?.count == 4)
  }

  @Test func pipedLinesShowEverythingThatMoves() throws {
    let outcome = try BuiltProgram.run(["live", "-u", "sim:walk", "--speed", "max", "-d", "12s"])
    #expect(outcome.status == 0)
    #expect(!outcome.output.contains("\u{1B}"))
    #expect((11...13).contains(outcome.lines.count))
    let last = try #require(outcome.lines.last)
    for word in ["pitch", "roll", "yaw", "heading", "gravity", "user", "altitude", "steps", "walking"] {
      #expect(last.contains(word), "\(last)")
    }
    let steps = try #require(last.split(separator: " ").drop { $0 != "steps" }.dropFirst().first.flatMap { Int($0) })
    #expect(steps > 5)
  }

  @Test func everyLineOfJSONIsAnObject() throws {
    let outcome = try BuiltProgram.run(["live", "-u", "sim:walk", "--speed", "max", "-d", "8s", "--json"])
    #expect(outcome.status == 0)
    let objects = try objects(outcome.output)
    let types = Dictionary(grouping: objects) { $0["type"] as? String ?? "" }.mapValues(\.count)
    #expect(objects.first?["type"] as? String == "source")
    #expect(types["source"] == 1)
    #expect((700...800).contains(types["motion"] ?? 0))
    #expect((195...200).contains(types["altitude"] ?? 0))
    #expect((types["step"] ?? 0) > 3)
    #expect((types["activity"] ?? 0) > 0)
    let motion = try #require(objects.last { $0["type"] as? String == "motion" })
    #expect((motion["quaternion_wxyz"] as? [Double])?.count == 4)
    #expect(motion["pitch_rad"] is Double && motion["heading_rad"] is Double)
    for (type, member, norm) in [
      ("accelerometer", "measured_m_s2", 1.0...40), ("gyroscope", "measured_rad_s", 0.0...20),
      ("magnetometer", "measured_uT", 20.0...80),
    ] {
      #expect(types[type] ?? 0 >= 400, "\(type)")
      let sample = try #require(objects.last { $0["type"] as? String == type })
      let value = try #require(sample[member] as? [Double])
      #expect(norm.contains(value.reduce(0) { $0 + $1 * $1 }.squareRoot()))
    }
  }

  @Test func anIntervalThinsOutMotionButNotSteps() throws {
    let all = try objects(
      BuiltProgram.run(["live", "-u", "sim:walk", "--speed", "max", "-d", "8s", "--json"]).output)
    let thin = try objects(
      BuiltProgram.run(["live", "-u", "sim:walk", "--speed", "max", "-d", "8s", "--json", "--interval", "1s"]).output)
    func count(_ objects: [[String: Any]], _ type: String) -> Int { objects.count { $0["type"] as? String == type } }
    for type in ["motion", "accelerometer", "gyroscope", "magnetometer"] {
      #expect((7...9).contains(count(thin, type)), "\(type)")
    }
    #expect(count(thin, "step") == count(all, "step"))
  }

  @Test func onlyNamedSensorsAreStarted() throws {
    let outcome = try BuiltProgram.run(
      ["live", "-u", "sim:walk", "--speed", "max", "-d", "1s", "--json", "--sensors", "accel,gyro", "--rate", "50"])
    let header = try #require(objects(outcome.output).first)
    let sensors = try #require(header["sensors"] as? [[String: Any]])
    #expect(sensors.compactMap { $0["kind"] as? String } == ["accelerometer", "gyroscope"])
    #expect(sensors.allSatisfy { $0["rate_hz"] as? Double == 50 })
    #expect(header["frame"] as? String == "arbitrary")
  }

  @Test func theEnvironmentNamesTheSource() throws {
    let outcome = try BuiltProgram.run(["devices"], environment: ["MOTIONKIT_SOURCE": "sim:still"])
    #expect(outcome.status == 0)
    #expect(outcome.output.hasPrefix("sim:still"))
  }

  @Test func aClosedPipeEndsQuietly() throws {
    let outcome = try BuiltProgram.shell(
      #"$MOTIONLOG live -u sim:walk --speed max --json | head -n 3; echo ${PIPESTATUS[0]}"#)
    #expect(outcome.lines.count == 4)
    #expect(outcome.lines.last == "0")
    #expect(outcome.error == "")
  }

  @Test func aFullDiskBehindStandardOutputIsSaid() throws {
    let outcome = try BuiltProgram.shell("$MOTIONLOG live -u sim:walk --speed max -d 10s > /dev/full")
    #expect(outcome.status == 1)
    #expect(outcome.error.contains("cannot write to standard output: No space left on device"))
  }

  @Test func closedStandardDescriptorsDoNoHarm() throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.shell(
      "$MOTIONLOG record \(directory("walk")) -u sim:walk --speed max -d 2s <&- >&- 2>&-")
    #expect(outcome.status == 0)
    #expect(try BuiltProgram.run(["replay", directory("walk"), "--verify"]).status == 0)
  }

  // MARK: Recordings

  @Test func aRecordingReplaysToTheSameBits() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 10)
    let verify = try BuiltProgram.run(["replay", walk, "--verify"])
    #expect(verify.status == 0)
    #expect(verify.output.hasPrefix("identical: "))
    #expect(verify.output.contains("device_motion.csv"))

    // Through the pipeline into a new recording, by another path and pace: every file the same.
    let copy = directory("copy")
    let replay = try BuiltProgram.run(["replay", walk, "--speed", "max", "--to", copy])
    #expect(replay.status == 0)
    #expect(replay.output == copy + "\n")
    let names = try FileManager.default.contentsOfDirectory(atPath: walk).filter { $0.hasSuffix(".csv") }
    #expect(names.count >= 8)
    for name in names where name != "events.csv" {
      let (old, new) = ("\(walk)/\(name)", "\(copy)/\(name)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: old)) == Data(contentsOf: URL(fileURLWithPath: new)), "\(name)")
    }
  }

  @Test func theDurationIsExact() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 3)
    let rows = try String(contentsOfFile: walk + "/accelerometer.csv", encoding: .utf8).split(separator: "\n").count
    #expect(rows == 1 + 300)
  }

  @Test func aChangedBitIsFound() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 3)
    let file = walk + "/device_motion.csv"
    var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    var cells = lines[99].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    cells[5] += "1"
    lines[99] = cells.joined(separator: ",")
    try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let outcome = try BuiltProgram.run(["replay", walk, "--verify"])
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("different: \(file):100: pitch_rad"))
  }

  @Test func infoTellsOfARecording() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 20)
    let outcome = try BuiltProgram.run(["info", walk])
    #expect(outcome.status == 0)
    for word in ["sim:walk", "finished", "accelerometer", "steps", "altitude", "walking"] {
      #expect(outcome.output.contains(word), "\(word)")
    }
    let json = try #require(objects(BuiltProgram.run(["info", walk, "--json"]).output).first)
    #expect(json["was_cut"] as? Bool == false)
    #expect((json["steps"] as? Int ?? 0) > 10)
    #expect(abs((json["duration_s"] as? Double ?? 0) - 19.99) < 0.02)
  }

  // MARK: Other programs' logs

  @Test func aLogWithNamesAndUnitsBecomesARecording() throws {
    let directory = try TemporaryDirectory()
    let log = directory("log.csv")
    let rows: [String] = (0..<200).map { "\(Double($0) / 100),0,0,1,0,0,0" }
    let header =
      "Time (s),Accelerometer X (g),Accelerometer Y (g),Accelerometer Z (g),"
      + "Gyroscope X (deg/s),Gyroscope Y (deg/s),Gyroscope Z (deg/s)"
    let text = header + "\n" + rows.joined(separator: "\n") + "\n"
    try text.write(toFile: log, atomically: true, encoding: .utf8)
    let session = directory("session")
    let outcome = try BuiltProgram.run(["import", log, "--to", session, "--accel-sign", "specific-force"])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.lines.last == session)
    #expect(outcome.output.contains("accelerometer: 200 samples at 100.00 Hz"))
    let info = try #require(objects(BuiltProgram.run(["info", directory("session"), "--json"]).output).first)
    let accelerometer = try #require((info["sensors"] as? [[String: Any]])?.first)
    let maximum = try #require(accelerometer["maximum"] as? [Double])
    let distance = abs(maximum[2] - 9.80665)
    #expect(distance < 1e-4)
  }

  @Test(arguments: ["--accel-unit", "--gyro-unit", "--mag-unit", "--pressure-unit", "--time-unit"])
  func aUnitThatIsNoneIsBadUsage(option: String) throws {
    let directory = try TemporaryDirectory()
    let log = directory("log.csv")
    try "time,x,y,z\n0,0,0,1\n0.01,0,0,1\n".write(toFile: log, atomically: true, encoding: .utf8)
    let outcome = try BuiltProgram.run(["import", log, "--to", directory("session"), option, "parsec"])
    #expect(outcome.status == 2)
    #expect(outcome.error.contains("option \(option): 'parsec' is not one of "), "\(outcome.error)")
  }

  @Test(arguments: [
    ("pressure (at)", "1.03", "at"), ("pressure (dyn/cm²)", "1013250", "dyn/cm²"),
    ("gyro_x (rev/s),gyro_y (rev/s),gyro_z (rev/s)", "1,2,3", "rev/s"),
    ("accel_x (ft/s²),accel_y (ft/s²),accel_z (ft/s²)", "0,0,32.2", "ft/s²"),
  ])
  func aHeadersUnknownUnitIsNamedAndNotGuessed(columns: String, values: String, unit: String) throws {
    let directory = try TemporaryDirectory()
    let log = directory("log.csv")
    let rows = (0..<5).map { "0.0\($0),\(values)\n" }.joined()
    try "time (s),\(columns)\n\(rows)".write(toFile: log, atomically: true, encoding: .utf8)
    let outcome = try BuiltProgram.run(["import", log, "--to", directory("session")])
    #expect(outcome.status == 5, "\(outcome.error)")
    #expect(outcome.error.contains("unit '\(unit)' is not known"), "\(outcome.error)")
    #expect(!outcome.error.contains("looks like"))
  }

  @Test func aLogWithoutAUnitIsRefusedWithTheOptionThatHelps() throws {
    let directory = try TemporaryDirectory()
    let log = directory("log.csv")
    try "time,x,y,z\n0,0,0,1\n0.01,0,0,1\n".write(toFile: log, atomically: true, encoding: .utf8)
    let outcome = try BuiltProgram.run(["import", log, "--to", directory("session")])
    #expect(outcome.status == 5)
    #expect(outcome.error.contains("--accel-unit"))
    #expect(!FileManager.default.fileExists(atPath: directory("session")))
  }

  // MARK: Signals

  /// Starts a recording of a simulated walk and waits until rows are in its file.
  private func startRecording(_ directory: String, _ arguments: [String] = []) throws -> Process {
    let process = BuiltProgram.process(["record", directory, "-u", "sim:walk", "--speed", "20"] + arguments)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let file = directory + "/device_motion.csv"  // the last of the files to get rows
    while process.isRunning {
      let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
      if text.utf8.count > 10_000 { break }
      usleep(5_000)
    }
    return process
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func aSignalEndsARecordingInOrder(number: Int32) throws {
    let directory = try TemporaryDirectory()
    let walk = directory("walk")
    let process = try startRecording(walk)
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
    let info = try BuiltProgram.run(["info", walk])
    #expect(info.output.contains("interrupted by SIG"))
    #expect(try BuiltProgram.run(["replay", walk, "--verify"]).status == 0)
  }

  @Test func aSignalThatCutsTheDurationShortIsInTheExitCode() throws {
    let directory = try TemporaryDirectory()
    let process = try startRecording(directory("walk"), ["--duration", "2h"])
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationStatus == 128 + SIGTERM)
  }

  @Test func aSignalMarksAnEvent() throws {
    let directory = try TemporaryDirectory()
    let walk = directory("walk")
    let process = try startRecording(walk)
    kill(process.processIdentifier, SIGUSR1)
    // The mark is in the file before the end: events are not held back.
    kill(process.processIdentifier, SIGINT)
    process.waitUntilExit()
    let events = try String(contentsOfFile: walk + "/events.csv", encoding: .utf8)
    #expect(events.contains(",mark,mark 1"))
  }

  @Test func whatAKilledRecordingWroteIsWhole() throws {
    let directory = try TemporaryDirectory()
    let walk = directory("walk")
    let process = try startRecording(walk)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let info = try BuiltProgram.run(["info", walk])
    #expect(info.status == 0, "\(info.error)")
    #expect(info.output.contains("was cut"))
    let verify = try BuiltProgram.run(["replay", walk, "--verify"])
    #expect(verify.status == 0, "\(verify.output)\(verify.error)")
    #expect(verify.output.hasPrefix("identical: "))
  }
}
