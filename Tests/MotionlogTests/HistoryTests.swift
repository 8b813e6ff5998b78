import Foundation
import Glibc
import MotionKitLinux
import SensorFusion
import Testing

@testable import motionlog

/// `motionlog steps` and `altitude`, and what `live` and `record` write for them.
@Suite struct HistoryTests {
  /// A time zone in which it is about noon, so that no run crosses midnight.
  private static let noon: String = {
    let hour = Int(time(nil)) / 3600 % 24
    // POSIX counts west of Greenwich as positive.
    let west = hour - 12
    return "TST\(west)"
  }()

  private func run(_ arguments: [String], _ more: [String: String] = [:]) throws -> BuiltProgram.Outcome {
    try BuiltProgram.run(arguments, environment: ["TZ": Self.noon].merging(more) { $1 })
  }

  private func object(_ outcome: BuiltProgram.Outcome) throws -> [String: Any] {
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.lines.count == 1)
    return try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
  }

  @Test func anEmptyHistoryIsZeroAndSaysHowToFillIt() throws {
    let directory = try TemporaryDirectory()
    for command in ["steps", "altitude"] {
      for options in [[], ["--week"], ["--json"]] {
        let outcome = try run([command] + options, ["HOME": directory.path])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("0"))
        #expect(outcome.error.contains(directory(".local/state/motionkit/history.sqlite")))
        #expect(outcome.error.contains("motionlog live"))
      }
      #expect(try run([command, "-q"], ["HOME": directory.path]).error == "")
    }
    // Asking begins no history.
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    let steps = try object(run(["steps", "--json", "--history", directory("none.sqlite")]))
    #expect(steps["steps"] as? Int == 0)
    #expect(steps["distance_m"] is NSNull && steps["floors_up"] is NSNull)
    #expect((steps["hours"] as? [Any])?.count == 24)
  }

  @Test func stepsOfARunAreThereByHourAndByDay() throws {
    let directory = try TemporaryDirectory()
    let file = directory("history.sqlite")
    let walk = "sim:walk?steps=100&seed=3"
    let height = ["MOTIONKIT_HEIGHT_M": "1.8"]
    let live = try run(["live", "-u", walk, "--speed", "max", "--json", "--history", file], height)
    #expect(live.status == 0)
    let shown = live.lines.count { $0.contains(#""type":"step""#) }
    #expect((95...105).contains(shown))

    let today = try object(run(["steps", "--json", "--history", file]))
    #expect(today["steps"] as? Int == shown)
    #expect(abs((today["distance_m"] as? Double ?? 0) - 0.7 * Double(shown)) < 10)
    let hours = try #require(today["hours"] as? [[String: Any]])
    #expect(hours.compactMap { $0["steps"] as? Int }.reduce(0, +) == shown)
    let week = try object(run(["steps", "--week", "--json", "--history", file]))
    let days = try #require(week["days"] as? [[String: Any]])
    #expect(days.map { $0["steps"] as? Int } == [0, 0, 0, 0, 0, 0, shown])

    let text = try run(["steps", "--history", file])
    #expect(text.error == "")
    #expect(text.lines.first?.hasPrefix("today: \(shown) steps, 0.0") == true)
    #expect(text.output.contains("█"))
    let chart = try run(["steps", "--week", "--history", file])
    #expect(chart.lines.count == 8)
    #expect(chart.lines.last?.hasSuffix("  " + String(repeating: "█", count: 40)) == true)
    let plain = try run(["steps", "--week", "--history", file], ["LANG": "C", "LC_ALL": "C"])
    #expect(plain.lines.last?.hasSuffix(String(repeating: "#", count: 40)) == true)
  }

  @Test func climbsOfARecordedRunAreThere() throws {
    let directory = try TemporaryDirectory()
    let file = directory("history.sqlite")
    let record = try run(
      ["record", directory("up"), "-u", "sim:stairs?floors=3", "--speed", "max", "--history", file, "-q"])
    #expect(record.status == 0, "\(record.error)")
    let summary = try SessionSummary(directory: directory("up"))
    let altitude = try object(run(["altitude", "--json", "--history", file]))
    let today = try #require(altitude["today"] as? [String: Any])
    #expect(abs((today["ascent_m"] as? Double ?? 0) - summary.ascent) < 0.01)
    #expect(summary.ascent > 5)
    #expect((today["floors_up"] as? Int ?? 0) > 0)
    let climbs = try #require(altitude["climbs"] as? [[String: Any]])
    let up = climbs.compactMap { $0["height_m"] as? Double }.filter { $0 > 0 }.reduce(0, +)
    #expect(abs(up - summary.ascent) < 0.01)
    let text = try run(["altitude", "--week", "--history", file])
    #expect(text.lines.count == 2 + climbs.count)
    #expect(text.lines[0].hasPrefix("today: ") && text.lines[1].hasPrefix("last seven days: up "))
  }

  @Test func scenesGoIntoNoHistoryUnasked() throws {
    let directory = try TemporaryDirectory()
    for options in [[], ["--history", "none"]] {
      let outcome = try run(
        ["live", "-u", "sim:walk", "--speed", "max", "-d", "8s"] + options, ["HOME": directory.path])
      #expect(outcome.status == 0)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  /// A board with live sensors until it is stopped.
  private final class Board: @unchecked Sendable {
    let emulator: Emulator
    var source: String { "ip:127.0.0.1:\(emulator.server.port)" }

    init() throws {
      let emulator = try Emulator(uri: "sim:walk", settings: Emulator.Settings())
      self.emulator = emulator
      Thread.detachNewThread { try? emulator.run() }
    }

    func stop() { emulator.stop() }
  }

  @Test func aDeviceGoesIntoTheUsersHistoryUnlessToldNotTo() throws {
    let directory = try TemporaryDirectory()
    let board = try Board()
    defer { board.stop() }
    let source = board.source
    let without = try run(["live", "-u", source, "-d", "2s", "--history", "none"], ["HOME": directory.path])
    // A machine under load may lose samples.
    #expect([0, 6].contains(without.status), "\(without.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    let outcome = try run(["live", "-u", source, "-d", "2s"], ["HOME": directory.path])
    #expect([0, 6].contains(outcome.status), "\(outcome.error)")
    let file = directory(".local/state/motionkit/history.sqlite")
    #expect(FileManager.default.fileExists(atPath: file))
    // One that cannot be begun is said, and the run goes on.
    let nowhere = try run(["live", "-u", source, "-d", "2s"], ["MOTIONKIT_HISTORY": "/proc/none/history.sqlite"])
    #expect([0, 6].contains(nowhere.status))
    #expect(nowhere.error.contains("/proc/none"))
  }

  @Test func aHistoryThatIsSwitchedOffIsSaidAndNotBegun() throws {
    let directory = try TemporaryDirectory()
    let off = ["MOTIONKIT_HISTORY": "none", "HOME": directory.path]
    for command in ["steps", "altitude"] {
      let outcome = try run([command], off)
      #expect(outcome.status == 2)
      #expect(outcome.error.contains("the history is switched off (MOTIONKIT_HISTORY=none)"), "\(outcome.error)")
      #expect(!(try run([command, "--help"]).output.contains("PATH|none")))
    }
    let board = try Board()
    defer { board.stop() }
    let process = BuiltProgram.process(
      ["live", "-u", board.source, "-d", "2s", "-q"], environment: off)
    process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect([0, 6].contains(process.terminationStatus))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  /// A history with ten steps of three days ago.
  private func oldHistory(_ path: String) throws {
    let then = Int64(time(nil) - 3 * 86_400) * 1_000_000_000
    let history = try StepHistory(path: path, keepingDays: .infinity)
    let writer = try StepHistoryWriter(
      history: history, source: "old", anchor: ClockAnchor(time: Timestamp(seconds: 0), utcNanoseconds: then))
    let steps = (1...10).map {
      Step(time: Timestamp(seconds: Double($0)), number: Int64($0), cadence: 0, isInterpolated: false)
    }
    writer.add(steps: steps, distance: nil)
    try writer.finish()
  }

  /// A history whose first page is whole and whose others are not: it opens, and cannot be written.
  private func malformedHistory(_ path: String) throws {
    do {
      let history = try StepHistory(path: path, keepingDays: .infinity)
      #expect(try history.checkIntegrity() == "ok")
    }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes.replaceSubrange(4096..., with: Data(repeating: 0x41, count: bytes.count - 4096))
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  @Test func aHistoryThatCannotBeWrittenIsNeverPassedOver() throws {
    let directory = try TemporaryDirectory()
    let file = directory("bad.sqlite")
    try malformedHistory(file)
    // One that was named must work.
    for command in [["live"], ["record", directory("walk")]] {
      let outcome = try run(command + ["-q", "-u", "sim:walk", "--speed", "max", "-d", "12s", "--history", file])
      #expect(outcome.status == 1, "\(outcome.error)")
      #expect(outcome.error.contains("steps are not in the history: \(file): "), "\(outcome.error)")
    }
    #expect(try BuiltProgram.run(["check", directory("walk")]).status == 0)
    // The user's own is told as well, and the run goes on.
    let board = try Board()
    defer { board.stop() }
    let device = ["live", "-q", "-u", board.source, "-d", "2s"]
    let outcome = try run(device, ["MOTIONKIT_HISTORY": file])
    #expect([0, 6].contains(outcome.status), "\(outcome.error)")
    #expect(outcome.error.contains("steps are not in the history: \(file): "), "\(outcome.error)")
  }

  @Test func aHistoryThatMayOnlyBeReadIsRefusedAtOnceAndAnswers() throws {
    let directory = try TemporaryDirectory()
    let file = directory("history.sqlite")
    try oldHistory(file)
    chmod(file, 0o444)
    // Without its capabilities root obeys permissions too.
    let drop = geteuid() == 0 ? "setpriv --bounding-set=-all --inh-caps=-all " : ""
    let live = "\(drop)$MOTIONLOG live -q -u sim:walk --speed max -d 12s --history \(file)"
    let outcome = try BuiltProgram.shell(live)
    #expect(outcome.status == 4 && outcome.output == "", "\(outcome.error)")
    #expect(outcome.error.contains("not permitted: writing the history \(file)"), "\(outcome.error)")
    let steps = try BuiltProgram.shell("\(drop)$MOTIONLOG steps --week --history \(file)")
    #expect(steps.status == 0 && steps.output.contains("10 steps"), "\(steps.error)")
  }

  @Test(arguments: ["0", "-1", "abc", "300", "1,8"]) func aHeightThatMakesNoSenseIsNamed(height: String) throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 1)
    for arguments in [
      ["live", "-u", "sim:walk", "-d", "1s"], ["record", directory("x"), "-u", "sim:walk", "-d", "1s"],
      ["replay", walk],
    ] {
      let outcome = try run(arguments + ["--speed", "max"], ["MOTIONKIT_HEIGHT_M": height])
      #expect(outcome.status == 1 && outcome.output == "")
      #expect(outcome.error.contains("MOTIONKIT_HEIGHT_M=\(height)") && outcome.error.contains("0.5 to 2.8"))
    }
  }

  @Test func distancesAreShownWhereTheHeightIsKnownAndARecordingKeepsItsOwn() throws {
    let directory = try TemporaryDirectory()
    let height = ["MOTIONKIT_HEIGHT_M": "1.8"]
    func metres(_ outcome: BuiltProgram.Outcome) throws -> Double? {
      #expect(outcome.status == 0, "\(outcome.error)")
      let step = try #require(outcome.lines.last { $0.contains(#""type":"step""#) })
      let object = try JSONSerialization.jsonObject(with: Data(step.utf8)) as? [String: Any]
      return object?["distance_m"] as? Double
    }
    let json = ["-u", "sim:walk", "--speed", "max", "-d", "15s", "--json"]
    let live = try metres(run(["live"] + json, height))
    #expect(try metres(run(["live"] + json)) == nil)
    #expect(try #require(live) > 5)
    let lines = try run(["live", "-u", "sim:walk", "--speed", "max", "-d", "15s"], height)
    #expect(lines.output.contains("  walked "))

    let record = ["-u", "sim:walk", "--speed", "max", "-d", "15s", "-q"]
    #expect(try run(["record", directory("with")] + record, height).status == 0)
    #expect(try run(["record", directory("without")] + record).status == 0)
    let replay = ["--speed", "max", "--to", "json"]
    #expect(try metres(run(["replay", directory("without")] + replay)) == nil)
    #expect(try metres(run(["replay", directory("without")] + replay, height)) == live)
    #expect(try metres(run(["replay", directory("with")] + replay, ["MOTIONKIT_HEIGHT_M": "1.2"])) == live)
    // What is recorded anew is what it was, to the byte.
    let again = try run(["replay", directory("without"), "--speed", "max", "--to", directory("again"), "-q"], height)
    #expect(again.status == 0, "\(again.error)")
    for name in try FileManager.default.contentsOfDirectory(atPath: directory("without")) {
      let same = FileManager.default.contentsEqual(
        atPath: directory("without/" + name), andPath: directory("again/" + name))
      #expect(same, "\(name)")
    }
  }

  @Test func aSceneDeletesWhatIsOlderThanTheDaysToKeep() throws {
    let directory = try TemporaryDirectory()
    let file = directory("history.sqlite")
    try oldHistory(file)
    let live = ["live", "-u", "sim:walk", "--speed", "max", "-d", "20s", "-q", "--history", file]
    func week() throws -> [Int] {
      let week = try object(run(["steps", "--week", "--json", "--history", file]))
      return try #require(week["days"] as? [[String: Any]]).compactMap { $0["steps"] as? Int }
    }
    // Unasked, a scene deletes nothing.
    #expect(try run(live).status == 0)
    #expect(try week()[3] == 10)
    #expect(try run(live, ["MOTIONKIT_HISTORY_DAYS": "1"]).status == 0)
    let left = try week()
    #expect(left[3] == 0 && left[6] > 0)
  }

  @Test(arguments: ["0", "-1", "abc", "2d"])
  func daysThatMakeNoSenseAreNamed(days: String) throws {
    let directory = try TemporaryDirectory()
    let file = directory("history.sqlite")
    try oldHistory(file)
    for arguments in [["live", "-u", "sim:walk", "--speed", "max", "-d", "2s"], ["steps"]] {
      let outcome = try run(arguments + ["--history", file], ["MOTIONKIT_HISTORY_DAYS": days])
      #expect(outcome.status != 0)
      #expect(outcome.error.contains("MOTIONKIT_HISTORY_DAYS=\(days)"), "\(outcome.error)")
    }
  }

  @Test func whatCannotBeIsSaid() throws {
    let directory = try TemporaryDirectory()
    try Data(repeating: 65, count: 4096).write(to: URL(fileURLWithPath: directory("text")))
    let cases: [(arguments: [String], status: Int32, word: String)] = [
      (["steps", "today"], 2, "today"), (["altitude", "x"], 2, "'x'"), (["steps", "--history", "none"], 2, "none"),
      (["steps", "--history="], 2, "--history"), (["steps", "--history", directory("text")], 5, directory("text")),
      (["live", "-u", "sim:walk", "--speed", "max", "-d", "1s", "--history", "/proc/none/h"], 3, "/proc/none"),
    ]
    for (arguments, status, word) in cases {
      let outcome = try run(arguments)
      #expect(outcome.status == status, "\(arguments): \(outcome.error)")
      #expect(outcome.error.contains(word), "\(arguments): \(outcome.error)")
      #expect(outcome.output == "")
    }
  }

  /// The zone of `noon` with the clock set forward, or back, this very night.
  @Test(arguments: [(isForward: true, hours: 23), (isForward: false, hours: 25)])
  func aDayHasAsManyHoursAsTheLocalClockGivesIt(isForward: Bool, hours: Int) throws {
    let directory = try TemporaryDirectory()
    let west = Int(time(nil)) / 3600 % 24 - 12
    var local = time(nil) - 3600 * west
    var parts = tm()
    gmtime_r(&local, &parts)
    let (today, other) = (Int(parts.tm_yday), (Int(parts.tm_yday) + 180) % 365)
    let (forward, back) = isForward ? (today, other) : (other, today)
    let zone = ["TZ": "TST\(west)DST,\(forward)/2,\(back)/3"]
    let steps = try object(run(["steps", "--json", "--history", directory("none.sqlite")], zone))
    let starts = try #require(steps["hours"] as? [[String: Any]]).compactMap { $0["start"] as? String }
    #expect(starts.count == hours)
    let clocks = starts.map { String($0.dropFirst(11).prefix(5)) }
    #expect(clocks.first == "00:00" && clocks.last == "23:00")
    #expect(Set(starts).count == hours)
    #expect(clocks.contains("02:00") != isForward)
  }
}
