import Foundation
import Glibc
import Testing

@testable import motionlog

/// Help is part of the product: whole texts are compared with Golden/. To accept a change on purpose, run the tests
/// with MOTIONLOG_GOLDEN=write and look at the difference.
@Suite struct HelpTests {
  private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Golden")

  private func expectGolden(_ text: String, _ name: String) throws {
    let file = Self.golden.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["MOTIONLOG_GOLDEN"] == "write" {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try text == String(contentsOf: file, encoding: .utf8), "\(name) differs")
  }

  @Test func theOverviewIsAsApproved() throws {
    let outcome = try BuiltProgram.run(["--help"])
    #expect(outcome.status == 0)
    #expect(outcome.error == "")
    try expectGolden(outcome.output, "help.txt")
    #expect(try BuiltProgram.run(["help"]).output == outcome.output)
    #expect(try BuiltProgram.run(["-h"]).output == outcome.output)
  }

  @Test(arguments: Command.all.map(\.name))
  func theHelpOfEachCommandIsAsApproved(name: String) throws {
    let outcome = try BuiltProgram.run([name, "--help"])
    #expect(outcome.status == 0)
    #expect(outcome.error == "")
    try expectGolden(outcome.output, "help-\(name).txt")
    #expect(try BuiltProgram.run(["help", name]).output == outcome.output)
  }

  @Test func helpFitsATerminal() {
    for text in [Help.overview] + Command.all.map(Help.of) {
      for line in text.split(separator: "\n") { #expect(line.count <= 110, "\(line)") }
    }
  }

  /// What an example is run with beside its own words: none plays for long, none needs a port or a board.
  private static let more = [
    "live": "-d 2s --speed max", "record": "-d 2s --speed max", "replay": "--speed max", "calibrate": "--speed max",
    "emulate": "-d 200ms --port 0", "doctor": "-d 200ms",
  ]
  /// Examples that end otherwise than well where nothing is kept yet, and what lies still is not turned.
  private static let statuses: [String: Int32] = [
    "motionlog calibrate list": 3, "motionlog calibrate accel --method free --dry-run": 1,
  ]

  @Test(arguments: Command.all.map(\.name)) func everyExampleRuns(name: String) throws {
    let directory = try TemporaryDirectory()
    let root = Self.golden.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let files = FileManager.default
    try files.createSymbolicLink(
      atPath: directory("recordings"), withDestinationPath: root.appendingPathComponent("recordings").path)
    // The files that examples speak of.
    let rows = (0..<200).map { "\(Double($0) / 100),0,0.1,1,1,2,3\n" }.joined()
    try ("t_s,ax,ay,az,gx,gy,gz\n" + rows).write(toFile: directory("imu.csv"), atomically: true, encoding: .utf8)
    try files.createDirectory(atPath: directory("phone"), withIntermediateDirectories: true)
    let head = ["Time (s)"] + ["x", "y", "z"].map { "Acceleration \($0) (m/s^2)" }
    let force = (0..<200).map { "\(Double($0) / 100),0,0.1,9.8\n" }.joined()
    try (head.map { "\"\($0)\"" }.joined(separator: ",") + "\n" + force)
      .write(toFile: directory("phone/Accelerometer.csv"), atomically: true, encoding: .utf8)
    try files.copyItem(atPath: directory("recordings/walk"), toPath: directory("field"))
    #expect(truncate(directory("field/gyroscope.csv"), 20_000) == 0)

    let command = try Command.named(name)
    #expect(!command.examples.isEmpty)
    for example in command.examples where example.line.hasPrefix("motionlog ") {
      var words = example.line.replacing("motionlog ", with: "$MOTIONLOG ").replacing(
        "ip:board.local", with: "sim:walk")
      let end = words.range(of: " | ")?.lowerBound ?? words.endIndex
      // These have no pace.
      if !["--verify", "--smooth", "list"].contains(where: words.contains) {
        words.insert(contentsOf: " " + (Self.more[name] ?? ""), at: end)
      }
      let outcome = try BuiltProgram.shell(
        "cd '\(directory.path)' && export HOME=$PWD MOTIONKIT_SOURCE=sim:still && set -o pipefail && \(words)")
      #expect(outcome.status == Self.statuses[example.line] ?? 0, "\(words): \(outcome.error)")
    }
  }

  @Test func theVersionIsOneLine() throws {
    let outcome = try BuiltProgram.run(["--version"])
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 1)
    #expect(outcome.output.hasPrefix("motionlog "))
  }
}
