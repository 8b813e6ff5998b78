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
}
