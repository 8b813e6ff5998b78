import Dispatch
import Foundation
import MotionKitLinux
import Testing

/// The example of the README, compiled so that it stays right.
private func example() -> Never {
  let manager = MotionManager()  // MOTIONKIT_SOURCE, else this machine's sensors
  manager.deviceMotionUpdateInterval = 1.0 / 50
  manager.startDeviceMotionUpdates(using: .magneticNorth, to: .main) { result in
    switch result {
    case .success(let motion):
      print(motion.attitude.pitch, motion.gravity, motion.userAcceleration, motion.heading)
    case .failure(let error):
      print(error)
    }
  }
  dispatchMain()
}

@Suite struct ReadmeTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func lines(_ path: String) throws -> [String] {
    try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
      .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  @Test func theExampleIsTheOneThatCompiles() throws {
    let readme = try lines("README.md")
    let begin = try #require(readme.firstIndex(of: "```swift"))
    let end = try #require(readme[begin...].firstIndex(of: "```"))
    let shown = readme[(begin + 1)..<end].filter { !$0.isEmpty && !$0.hasPrefix("import ") }
    let source = try lines("Tests/MotionlogTests/ReadmeTests.swift")
    let first = try #require(source.firstIndex(of: shown[0]))
    #expect(Array(source[first..<(first + shown.count)]) == Array(shown))
    #expect(shown.count <= 15)
  }

  @Test func everyFileThatTheReadmePointsToIsThere() throws {
    for line in try lines("README.md") {
      for match in line.matches(of: /\]\(([A-Za-z\/.-]+)\)/) {
        let path = Self.root.appendingPathComponent(String(match.1)).path
        #expect(FileManager.default.fileExists(atPath: path), "\(match.1)")
      }
    }
  }

  @Test func everyCommandOfTheReadmeRunsWithoutSensors() throws {
    let directory = try TemporaryDirectory()
    let root = Self.root.path
    try FileManager.default.createSymbolicLink(
      atPath: directory("recordings"), withDestinationPath: root + "/recordings")
    let commands = try lines("README.md").filter { $0.hasPrefix("motionlog ") && $0.contains("  #") }
    #expect(commands.count >= 8)
    for command in commands {
      var line = String(command.prefix { $0 != "#" }).replacingOccurrences(of: "motionlog ", with: "$MOTIONLOG ")
      // What goes on until it is ended.
      if line.contains(" live ") || line.contains(" emulate ") { line += " -d 200ms" }
      if line.contains(" emulate ") { line += " --port 0" }
      if line.contains(" record ") { line += " --speed max" }
      let outcome = try BuiltProgram.shell("cd '\(directory.path)' && \(line)")
      #expect(outcome.status == 0, "\(command): \(outcome.error)")
    }
  }
}
