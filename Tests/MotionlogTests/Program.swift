import Foundation
import Glibc
import Testing

/// The built program, run as a user runs it.
enum BuiltProgram {
  /// How one run ended.
  struct Outcome {
    var status: Int32
    var output: String
    var error: String

    /// The lines of standard output.
    var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) }
  }

  /// The program beside the test bundle, which this process has mapped: how tests are started differs between
  /// toolchains.
  static let path: String = {
    let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
    let bundle = maps.split(separator: "\n").first { $0.hasSuffix(".xctest") }
    let file = bundle.flatMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } } ?? ""
    return URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("motionlog").path
  }()

  /// A process that will run the program, in an environment that nothing of this machine leaks into.
  static func process(_ arguments: [String], environment: [String: String] = [:]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    var all = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "MOTIONLOG": path]
    all.merge(environment) { $1 }
    process.environment = all
    process.standardInput = FileHandle.nullDevice
    return process
  }

  /// Runs the program to its end.
  static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
    try finish(process(arguments, environment: environment))
  }

  /// Runs a shell command, in which `$MOTIONLOG` is the program.
  static func shell(_ command: String) throws -> Outcome {
    let process = process(["-c", command])
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    return try finish(process)
  }

  private static func finish(_ process: Process) throws -> Outcome {
    // Files take any amount without somebody to read them meanwhile.
    let directory = try TemporaryDirectory()
    let (output, error) = (directory.path + "/output", directory.path + "/error")
    for path in [output, error] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: error)
    try process.run()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
      output: try String(contentsOfFile: output, encoding: .utf8),
      error: try String(contentsOfFile: error, encoding: .utf8))
  }
}

/// A directory that goes away with the test.
final class TemporaryDirectory {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("motionlog-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A path in the directory.
  func callAsFunction(_ name: String) -> String { path + "/" + name }
}

extension TemporaryDirectory {
  /// A short recording of a simulated walk.
  func recording(_ name: String = "walk", seconds: Int = 3) throws -> String {
    let outcome = try BuiltProgram.run(
      ["record", self(name), "-u", "sim:walk", "--speed", "max", "-d", "\(seconds)s", "-q"])
    try #require(outcome.status == 0, "\(outcome.error)")
    return self(name)
  }
}
