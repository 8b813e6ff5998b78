import Foundation
import Testing

@testable import motionlog

/// `motionlog replay --smooth`.
@Suite struct SmoothTests {
  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func theSmoothedRecordingDiffersInItsMotionOnly() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 8)
    let smooth = directory("smooth")
    let outcome = try BuiltProgram.run(["replay", walk, "--smooth", "--to", smooth])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output == smooth + "\n")
    #expect(outcome.error.contains("smoothed"))
    let names = try FileManager.default.contentsOfDirectory(atPath: walk).filter { $0.hasSuffix(".csv") }
    #expect(names.count >= 8)
    for name in names where !["events.csv", "device_motion.csv"].contains(name) {
      #expect(try text("\(walk)/\(name)") == text("\(smooth)/\(name)"), "\(name)")
    }
    let (live, best) = (try text(walk + "/device_motion.csv"), try text(smooth + "/device_motion.csv"))
    #expect(live != best)
    // The live pipeline waits for its first heading; the smoother knows it from the start.
    #expect(live.split(separator: "\n").count <= best.split(separator: "\n").count)
    #expect(try text(smooth + "/session.json").contains("\"smoothed\": true"))
    #expect(try !text(walk + "/session.json").contains("smoothed"))
  }

  /// Whoever reads the recording later sees the smoothed motion and can make it again to the bit.
  @Test func aSmoothedRecordingIsSoundAndStaysSmoothed() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 8)
    let smooth = directory("smooth")
    #expect(try BuiltProgram.run(["replay", walk, "--smooth", "--to", smooth, "-q"]).status == 0)
    let verify = try BuiltProgram.run(["replay", smooth, "--verify"])
    #expect(verify.status == 0, "\(verify.output)")
    #expect(verify.output.contains("rows of device_motion.csv"))
    #expect(try BuiltProgram.run(["check", smooth]).status == 0)
    let (live, best) = (
      try BuiltProgram.run(["export", walk]).output, try BuiltProgram.run(["export", smooth]).output
    )
    #expect(live != best)
    #expect(live.split(separator: "\n").count == best.split(separator: "\n").count)

    // A repaired copy is smoothed again; an ordinary replay of it is the live pipeline's.
    let repaired = directory("repaired")
    #expect(try BuiltProgram.run(["check", smooth, "--repair", repaired]).status == 0)
    #expect(try text(repaired + "/device_motion.csv") == text(smooth + "/device_motion.csv"))
    let again = directory("again")
    #expect(try BuiltProgram.run(["replay", smooth, "--speed", "max", "--to", again, "-q"]).status == 0)
    #expect(try text(again + "/device_motion.csv") == text(walk + "/device_motion.csv"))
    #expect(try BuiltProgram.run(["replay", again, "--verify"]).status == 0)
  }

  @Test func aChangedBitOfASmoothedRecordingIsFound() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 3)
    let smooth = directory("smooth")
    #expect(try BuiltProgram.run(["replay", walk, "--smooth", "--to", smooth, "-q"]).status == 0)
    let file = smooth + "/device_motion.csv"
    var lines = try text(file).split(separator: "\n").map(String.init)
    var cells = lines[50].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    cells[3] += "1"
    lines[50] = cells.joined(separator: ",")
    try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let verify = try BuiltProgram.run(["replay", smooth, "--verify"])
    #expect(verify.status == 1)
    #expect(verify.output.contains("device_motion.csv:51"))
  }

  @Test func itIsGivenAsJSONToo() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 4)
    let outcome = try BuiltProgram.run(["replay", walk, "--smooth", "--to", "json", "-d", "2s"])
    #expect(outcome.status == 0)
    #expect(outcome.lines.first?.contains("\"type\":\"source\"") == true)
    let motions = outcome.lines.count { $0.contains("\"type\":\"motion\"") }
    #expect((190...200).contains(motions), "\(motions)")
  }

  @Test func theDefaultNameIsTheRecordingsOwn() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 3)
    let outcome = try BuiltProgram.shell("cd \(directory.path) && $MOTIONLOG replay \(walk)/ --smooth -q")
    #expect(outcome.output == "walk-smooth\n", "\(outcome.error)")
    // A recording is never overwritten.
    let again = try BuiltProgram.shell("cd \(directory.path) && $MOTIONLOG replay \(walk) --smooth")
    #expect(again.status == 1)
    #expect(again.error.contains("not empty"))
  }

  @Test func whatDoesNotGoWithItIsSaid() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 3)
    for extra in [["--speed", "2"], ["--to", "live"], ["--verify"]] {
      let outcome = try BuiltProgram.run(["replay", walk, "--smooth"] + extra)
      #expect(outcome.status == 2, "\(extra)")
      #expect(outcome.error.contains("--smooth") || outcome.error.contains("--verify"))
    }
    let noForce = try BuiltProgram.run(["replay", walk, "--smooth", "--sensors", "gyro", "--to", directory("none")])
    #expect(noForce.status == 3, "\(noForce.error)")
    #expect(noForce.error.contains("accelerometer"))
    #expect(!FileManager.default.fileExists(atPath: directory("none")))
  }
}
