import Foundation
import Testing

@testable import motionlog

/// `motionlog check` on sound and on damaged recordings.
@Suite struct CheckTests {
  @Test func aSoundRecordingIsSaidToBeSound() throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.run(["check", directory.recording(seconds: 2)])
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("sound: 200 rows of accelerometer"))
    #expect(outcome.error == "")
  }

  @Test func damageIsNamedAndRepairedInACopy() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 2)
    let file = walk + "/accelerometer.csv"
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    try bytes.dropLast(10).write(to: URL(fileURLWithPath: file))
    let check = try BuiltProgram.run(["check", walk])
    #expect(check.status == 5)
    #expect(check.output.contains("accelerometer.csv: last line incomplete"))
    #expect(check.output.contains("good: 199 rows of accelerometer"))

    let clean = directory("clean")
    let repair = try BuiltProgram.run(["check", walk, "--repair", clean])
    #expect(repair.status == 0, "\(repair.error)")
    #expect(try BuiltProgram.run(["replay", clean, "--verify"]).status == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes.dropLast(10))
  }

  @Test func whatWasLostWhileRecordingIsTold() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 2)
    let file = URL(fileURLWithPath: walk + "/session.json")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains("\"lost\": {}"))
    try text.replacing("\"lost\": {}", with: "\"lost\": {\"gyroscope\": 298}").write(
      to: file, atomically: true, encoding: .utf8)
    let check = try BuiltProgram.run(["check", walk])
    #expect(check.status == 0)
    #expect(check.output.contains("gyroscope.csv: 298 rows were lost while it was recorded"))
  }

  @Test func readableRowsThatACopyLeavesOutAreCounted() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 2)
    let file = URL(fileURLWithPath: walk + "/accelerometer.csv")
    var lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    // Times in tenths of a second, as a spreadsheet may round them.
    for index in lines.indices.dropFirst() {
      let cells = lines[index].split(separator: ",")
      lines[index] =
        ([String(cells[0].prefix { $0 != "." }) + "." + cells[0].split(separator: ".")[1].prefix(1)]
        + cells.dropFirst().map(String.init)).joined(separator: ",")
    }
    try (lines.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
    let repair = try BuiltProgram.run(["check", walk, "--repair", directory("clean")])
    #expect(repair.status == 0)
    #expect(repair.error.contains("accelerometer: 180 readable rows of 200 left out of the copy"), "\(repair.error)")
  }

  @Test func labelsAndOriginAreInTheSummary() throws {
    let directory = try TemporaryDirectory()
    let walk = directory("walk")
    let record = try BuiltProgram.run([
      "record", walk, "-u", "sim:walk", "--speed", "max", "-d", "1s", "--label", "place=pocket", "--origin", "a test",
    ])
    #expect(record.status == 0)
    let info = try BuiltProgram.run(["info", walk])
    #expect(info.output.contains("pocket"))
    #expect(info.output.contains("a test"))
  }

  @Test(arguments: [
    (["place=pocket,walker=anna"], ["place": "pocket", "walker": "anna"]),
    (["note=left pocket, upside down,walker=anna"], ["note": "left pocket, upside down", "walker": "anna"]),
    (["note=a, b=c,,d"], ["note": "a, b=c,,d"]),
    (["place=pocket", "walker=anna"], ["place": "pocket", "walker": "anna"]),
    (["place="], ["place": ""]),
  ]) func commasInLabelsStay(given: [String], expected: [String: String]) throws {
    let line = given.flatMap { ["--label", $0] }
    let parsed = try ParsedArguments.parse(line[...], options: [.label], command: "record")
    #expect(try OptionValues.labels(parsed[.label] ?? "", option: .label) == expected)
  }

  @Test(arguments: ["pocket", "=pocket", ",place=pocket"]) func aLabelHasAName(text: String) {
    #expect(throws: UsageError.self) { try OptionValues.labels(text, option: .label) }
  }

  /// What cannot be trusted is said by everything that reads it.
  @Test(arguments: [
    "check S", "info S", "replay S --verify", "replay S --to TMP/a --speed max", "replay S --to json --speed max",
    "replay S --smooth --to TMP/b", "export S", "export S -o TMP/c.csv", "check S --repair TMP/d",
  ])
  func doubtfulRowsOfAPackedFrameAreNamed(command: String) throws {
    let directory = try TemporaryDirectory()
    let recorded = try BuiltProgram.run(
      ["record", directory("s"), "-u", "sim:walk", "--speed", "max", "-d", "5s", "-q", "--compress"])
    try #require(recorded.status == 0)
    let file = URL(fileURLWithPath: directory("s/accelerometer.csv.zst"))
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count - 1] ^= 1  // the checksum
    try bytes.write(to: file)
    let words = command.split(separator: " ").map {
      $0 == "S" ? directory("s") : String($0).replacingOccurrences(of: "TMP", with: directory.path)
    }
    let outcome = try BuiltProgram.run(words)
    let said = words[0] == "check" || words[0] == "info" ? outcome.output + outcome.error : outcome.error
    #expect(said.contains("accelerometer.csv.zst") && said.contains("may be wrong"), "\(outcome.error)")
  }

  @Test func aPartWhoseComputedRowsAreCutIsNotIdentical() throws {
    let directory = try TemporaryDirectory()
    let recorded = try BuiltProgram.run(
      ["record", directory("s"), "-u", "sim:walk", "--speed", "max", "-d", "9s", "-q", "--rotate", "3s"])
    try #require(recorded.status == 0)
    for part in ["part-0001", "part-0002"] {
      let file = directory("s/\(part)/device_motion.csv")
      let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      try (lines.prefix(100).joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
      let outcome = try BuiltProgram.run(["replay", directory("s/" + part), "--verify"])
      #expect(outcome.status == 1 && outcome.output.contains("device_motion.csv:101"), "\(outcome)")
    }
  }

  @Test func eventsThatAreGoneAreMissed() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording()
    let info = walk + "/session.json"
    let text = try String(contentsOfFile: info, encoding: .utf8)
    try #require(text.contains("\"events\": 0"))
    try text.replacing("\"events\": 0", with: "\"events\": 3").write(toFile: info, atomically: true, encoding: .utf8)
    let outcome = try BuiltProgram.run(["check", walk])
    #expect(outcome.output.contains("events.csv: fewer good rows than session.json tells: 0 of 3"), "\(outcome)")
    #expect(outcome.status != 0)
  }
}
