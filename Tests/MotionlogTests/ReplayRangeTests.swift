import Foundation
import Testing

@testable import MotionKitLinux
@testable import motionlog

/// Parts of a recording, loops, pauses and the bar that shows how far long work is.
@Suite struct ReplayRangeTests {
  /// Times of the samples in a recording, seconds.
  private func times(_ directory: String, _ file: String = "accelerometer.csv") throws -> [Double] {
    let text = try String(contentsOfFile: directory + "/" + file, encoding: .utf8)
    return text.split(separator: "\n").dropFirst().compactMap { line in
      line.split(separator: ",").first.flatMap { Double($0) }
    }
  }

  @Test func aPartOfARecordingIsReplayed() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 4)
    let all = try times(walk)
    let outcome = try BuiltProgram.run(
      ["replay", walk, "--speed", "max", "--from", "1s", "--until", "2500ms", "--to", directory("part")])
    #expect(outcome.status == 0, "\(outcome.error)")
    let part = try times(directory("part"))
    #expect(part == all.filter { $0 >= all[0] + 1 - 1e-6 && $0 <= all[0] + 2.5 + 1e-6 })
    #expect(part.count > 140)
  }

  @Test func aLoopGoesOnInTime() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 2)
    let outcome = try BuiltProgram.run(
      ["replay", walk, "--speed", "max", "--loop", "-d", "7s", "--to", directory("long")])
    #expect(outcome.status == 0, "\(outcome.error)")
    let long = try times(directory("long"))
    #expect((695...705).contains(long.count))
    #expect(zip(long, long.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 < 0.1 })
  }

  @Test(arguments: [
    ["--loop", "--to", "x", "--speed", "max"], ["--from", "3s", "--until", "2s"], ["--verify", "--loop"],
    ["--smooth", "--loop"],
    ["--from", "-1s"], ["--until", "0s"],
  ]) func whatDoesNotGoTogetherIsBadUsage(options: [String]) throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 1)
    let outcome = try BuiltProgram.run(["replay", walk] + options)
    #expect(outcome.status == 2)
    #expect(outcome.error.contains("error:"))
  }

  @Test func aReplayBehindTheEndIsSaid() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 1)
    for more in [[], ["--to", directory("part")], ["--smooth", "--to", directory("smooth")], ["--to", "json"]] {
      let outcome = try BuiltProgram.run(["replay", walk, "--from", "90s"] + more)
      #expect(outcome.status == 2 && outcome.output == "")
      #expect(outcome.error.contains("--from 90s lies behind the end of \(walk), which is 0.99 s long"))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["walk"])
    let gap = try BuiltProgram.run(["replay", walk, "--from", "501ms", "--until", "502ms", "--speed", "max"])
    #expect(gap.status == 2 && gap.error.contains("no sample behind --from 0.501s and before --until 0.502s"))
  }

  @Test func aRecordingWithoutASampleIsAFailure() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 1)
    for name in ["accelerometer", "gyroscope", "magnetometer", "barometer"] {
      let path = walk + "/\(name).csv"
      let header = try String(contentsOfFile: path, encoding: .utf8).prefix { $0 != "\n" }
      try (header + "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }
    for more in [[], ["--to", "json"], ["--to", directory("again")]] {
      let outcome = try BuiltProgram.run(["replay", walk, "--speed", "max"] + more)
      #expect(outcome.status == 1, "\(more): \(outcome.error)")
      #expect(outcome.error.contains("no sample came from 'file:\(walk)'"), "\(outcome.error)")
    }
  }

  @Test(.enabled(if: PseudoTerminal.isAvailable)) func aKeyPausesAReplay() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 3)
    let terminal = try PseudoTerminal(["replay", walk, "--loop"])
    #expect(terminal.wait(for: "quit"))
    terminal.type("p")
    #expect(terminal.wait(for: "paused"))
    terminal.type("pq")
    terminal.process.waitUntilExit()
    #expect(terminal.process.terminationStatus == 0)
    #expect(terminal.isRestored)
  }

  @Test func theBarShowsRateAndTimeLeftForLongWorkOnly() {
    func progress(_ done: Int64) -> WorkProgress { WorkProgress(done: done, total: 1_000_000) }
    var bar = ProgressBar("checking", isTerminal: true, now: 100)
    #expect(bar.line(progress(100_000), now: 100.1) == nil)
    let line = bar.line(progress(250_000), now: 101)
    #expect(line == "checking  [######------------------]  25 %  250.0 kB/s  00:03 left")
    // Not oftener than the eye can follow.
    #expect(bar.line(progress(260_000), now: 101.1) == nil)
    // Work that is over within two seconds shows none.
    var short = ProgressBar("checking", isTerminal: true, now: 100)
    #expect(short.line(progress(600_000), now: 101) == nil)
  }
}
