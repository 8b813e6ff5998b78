import Foundation
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

  @Test func theVersionIsOneLine() throws {
    let outcome = try BuiltProgram.run(["--version"])
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 1)
    #expect(outcome.output.hasPrefix("motionlog "))
  }
}
