import Foundation
import Glibc
import Testing

/// Options of `motionlog record` about the disk, and the ways a recording ends.
@Suite struct RecordOptionsTests {
  private func rows(_ path: String) throws -> Int {
    try String(contentsOfFile: path, encoding: .utf8).filter { $0 == "\n" }.count - 1
  }

  private func hasWholeLines(_ path: String) throws -> Bool {
    try String(contentsOfFile: path, encoding: .utf8).hasSuffix("\n")
  }

  @Test(arguments: ["2s", "100kB", "0.1mb", "98KiB"]) func aRecordingInPartsIsOneRecording(rotation: String) throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.run(
      ["record", directory("trip"), "-u", "sim:walk", "--speed", "max", "-d", "7s", "--rotate", rotation])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output == directory("trip") + "\n")
    let parts = try FileManager.default.contentsOfDirectory(atPath: directory("trip")).sorted()
    #expect(parts.count > 2 && parts.first == "part-0001")
    let verified = try BuiltProgram.run(["replay", directory("trip"), "--verify"])
    #expect(verified.status == 0 && verified.output.hasPrefix("identical: "), "\(verified)")
    #expect(try BuiltProgram.run(["check", directory("trip")]).status == 0)
    #expect(try BuiltProgram.run(["info", directory("trip")]).status == 0)
  }

  @Test func fastSensorsGiveTwoHundredOutputsASecondUnlessMoreIsAskedFor() throws {
    let directory = try TemporaryDirectory()
    let run = ["-u", "sim:rotate", "--rate", "1000", "--speed", "max", "-d", "2s", "-q"]
    for (name, more) in [("usual", []), ("all", ["--motion-rate", "all"]), ("slow", ["--motion-rate", "50"])] {
      let outcome = try BuiltProgram.run(["record", directory(name)] + run + more)
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(try BuiltProgram.run(["replay", directory(name), "--verify"]).status == 0, "\(name)")
    }
    let gyroscope = try rows(directory("usual/gyroscope.csv"))
    #expect((1900...2001).contains(gyroscope))
    #expect((300...401).contains(try rows(directory("usual/device_motion.csv"))))
    #expect(try rows(directory("all/device_motion.csv")) > 1500)
    #expect((75...101).contains(try rows(directory("slow/device_motion.csv"))))
    // What was left out can be computed from the raw files.
    let more = ["replay", directory("slow"), "--speed", "max", "--to", directory("again"), "--motion-rate", "all"]
    #expect(try BuiltProgram.run(more).status == 0)
    #expect(
      FileManager.default.contentsEqual(
        atPath: directory("again/device_motion.csv"), andPath: directory("all/device_motion.csv")))
    let bad = try BuiltProgram.run(["record", directory("x"), "-u", "sim:walk", "--motion-rate", "often"])
    #expect(bad.status == 2 && bad.error.contains("rows per second"))
  }

  @Test(arguments: ["100", "1000"]) func aRawRecordingIsComputedLaterToTheSameBytes(rate: String) throws {
    let directory = try TemporaryDirectory()
    for (name, more) in [("raw", ["--raw"]), ("whole", [])] {
      let outcome = try BuiltProgram.run(
        ["record", directory(name), "-u", "sim:walk", "--rate", rate, "--speed", "max", "-d", "7s", "-q"] + more)
      #expect(outcome.status == 0, "\(outcome.error)")
    }
    let raw = try FileManager.default.contentsOfDirectory(atPath: directory("raw")).sorted()
    #expect(
      raw == ["accelerometer.csv", "barometer.csv", "events.csv", "gyroscope.csv", "magnetometer.csv", "session.json"])
    #expect(try BuiltProgram.run(["check", directory("raw")]).status == 0)
    let replayed = try BuiltProgram.run(["replay", directory("raw"), "--speed", "max", "--to", directory("later")])
    #expect(replayed.status == 0, "\(replayed.error)")
    for file in try FileManager.default.contentsOfDirectory(atPath: directory("whole")) where file.hasSuffix(".csv") {
      #expect(
        FileManager.default.contentsEqual(atPath: directory("whole/" + file), andPath: directory("later/" + file)),
        "\(file)")
    }
    let verified = try BuiltProgram.run(["replay", directory("whole"), "--verify"])
    #expect(verified.status == 0 && verified.output.hasPrefix("identical: "), "\(verified)")
    let conflict = try BuiltProgram.run(
      ["record", directory("x"), "-u", "sim:walk", "--raw", "--history", directory("h.sqlite")])
    #expect(conflict.status == 2 && conflict.error.contains("--raw"))
  }

  @Test(arguments: [
    ["--rotate", "10M"], ["--rotate", "0s"], ["--rotate", "0MB"], ["--min-free", "5"],
    ["--sync-interval", "0s"],
  ]) func badSizesAreBadUsage(options: [String]) throws {
    let outcome = try BuiltProgram.run(["record", "/nowhere/x", "-u", "sim:walk"] + options)
    #expect(outcome.status == 2, "\(outcome)")
    #expect(outcome.error.contains("such as"))
  }

  /// A part has a session.json of its own: one for every few rows is a slip of the keyboard.
  @Test(arguments: ["1B", "1KB", "9kB", "500ms", "1ms"]) func partsThatHoldNextToNothingAreRefused(size: String) throws
  {
    let outcome = try BuiltProgram.run(["record", "/nowhere/x", "-u", "sim:walk", "--rotate", size])
    #expect(outcome.status == 2 && outcome.error.contains("at least "), "\(outcome)")
  }

  @Test func aDiskWithTooLittleRoomEndsTheRecordingBeforeItIsFull() throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.run(
      [
        "record", directory("s"), "-u", "sim:walk", "--speed", "20", "-d", "10s", "--min-free", "900000TB",
        "--sync-interval", "50ms",
      ])
    #expect(outcome.status == 1)
    #expect(outcome.error.contains("the minimum is"), "\(outcome.error)")
    #expect(try BuiltProgram.run(["info", directory("s")]).status == 0)
  }

  /// Case 31: what was captured when a signal ends a short recording.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGKILL]) func case31InterruptLosesBuffer(signal: Int32) throws {
    let directory = try TemporaryDirectory()
    let process = BuiltProgram.process(["record", directory("s"), "-u", "sim:walk", "--speed", "4", "-q"])
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    // The recorder hands its rows on while it runs: wait until three seconds are there, however slow the machine is.
    let file = directory("s/accelerometer.csv")
    var patience = 2000
    while patience > 0, ((try? rows(file)) ?? 0) < 300 {
      usleep(10_000)
      patience -= 1
    }
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(try rows(file) >= 300)
    #expect(try hasWholeLines(file))
    let info = try String(contentsOfFile: directory("s/session.json"), encoding: .utf8)
    if signal == SIGKILL {
      #expect(!info.contains("\"closing\""))
    } else {
      // Without --duration a signal is the way to end a recording.
      #expect(process.terminationReason == .exit && process.terminationStatus == 0)
      #expect(info.contains("interrupted by SIG\([SIGINT: "INT", SIGTERM: "TERM", SIGHUP: "HUP"][signal] ?? "")"))
    }
    let verified = try BuiltProgram.run(["replay", directory("s"), "--verify"])
    #expect(verified.status == 0, "\(verified)")
    let head = try BuiltProgram.shell("\"$MOTIONLOG\" replay \(directory("s")) --speed max --to json | head -n 5")
    #expect(head.lines.count == 5 && head.error.isEmpty, "\(head.error)")
  }

  /// Case 32: the disk takes no more. The shell's limit on the size of files stands for the card.
  @Test func case32DiskFull() throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.shell(
      "ulimit -f 64; \"$MOTIONLOG\" record \(directory("s")) -u sim:walk --speed max -d 60s -q")
    #expect(outcome.status == 1)
    #expect(outcome.error.contains("device_motion.csv") && outcome.error.contains("File too large"), "\(outcome.error)")
    #expect(outcome.error.contains("rows kept"))
    try expectWholeRows(directory("s"))
  }

  /// Case 32 on a real full file system of 256 KiB.
  @Test(.enabled(if: canMount)) func case32DiskFullOnASmallFileSystem() throws {
    let directory = try TemporaryDirectory()
    let card = directory("card")
    let outcome = try BuiltProgram.shell(
      """
      mkdir \(card) && mount -t tmpfs -o size=256k none \(card) || exit 99
      "$MOTIONLOG" record \(card)/s -u sim:walk --speed max -d 60s -q
      status=$?
      cp -r \(card)/s \(directory("s")); umount \(card); exit $status
      """)
    #expect(outcome.status == 1)
    #expect(outcome.error.contains("No space left"), "\(outcome.error)")
    try expectWholeRows(directory("s"))
  }

  /// Whether this process may mount file systems.
  private static let canMount: Bool = {
    let command = "d=$(mktemp -d) && mount -t tmpfs -o size=256k none $d && umount $d; s=$?; rmdir $d; exit $s"
    return (try? BuiltProgram.shell(command).status) == 0
  }()

  private func expectWholeRows(_ session: String) throws {
    for file in ["accelerometer", "gyroscope", "magnetometer", "barometer", "device_motion"] {
      #expect(try hasWholeLines("\(session)/\(file).csv"))
    }
    #expect(try rows(session + "/accelerometer.csv") > 100)
    let replayed = try BuiltProgram.run(["replay", session, "--verify"])
    #expect(replayed.status == 0, "\(replayed)")
  }
}
