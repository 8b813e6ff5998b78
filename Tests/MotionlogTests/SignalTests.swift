import Foundation
import Glibc
import Testing

/// What ends a recording from outside: signals, a second signal, and a reader that has gone away.
@Suite struct SignalTests {
  /// A recording of a simulated walk that has written rows; its words go to `DIR.error`.
  private func start(_ directory: String, _ arguments: [String] = []) throws -> Process {
    let process = BuiltProgram.process(["record", directory, "-u", "sim:walk"] + arguments)
    _ = FileManager.default.createFile(atPath: directory + ".error", contents: nil)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle(forWritingAtPath: directory + ".error")
    try process.run()
    try waitFor(process) { rows(directory + "/accelerometer.csv") >= 50 }
    return process
  }

  /// Waits until something is so; the test fails where the process ends before, or after a minute.
  private func waitFor(_ process: Process, _ condition: () -> Bool) throws {
    for _ in 0..<6000 {
      if condition() { return }
      try #require(process.isRunning)
      usleep(10_000)
    }
    Issue.record("it did not come about")
  }

  private func rows(_ path: String) -> Int {
    ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").filter { $0 == "\n" }.count - 1
  }

  private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

  @Test(arguments: [
    (SIGINT, "INT"), (SIGTERM, "TERM"), (SIGHUP, "HUP"), (SIGQUIT, "QUIT"), (SIGPWR, "PWR"), (SIGXCPU, "XCPU"),
  ])
  func endsTheRecordingInOrder(number: Int32, name: String) throws {
    let directory = try TemporaryDirectory()
    let process = try start(directory("s"))
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    #expect(text(directory("s/session.json")).contains("\"interrupted by SIG\(name)\""))
    #expect(try BuiltProgram.run(["check", directory("s")]).output.hasPrefix("sound: "))
  }

  @Test(arguments: [(SIGUSR1, 1), (SIGUSR2, 0), (SIGPIPE, 0), (SIGWINCH, 0)])
  func doesNotEndTheRecording(number: Int32, marks: Int) throws {
    let directory = try TemporaryDirectory()
    let process = try start(directory("s"))
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    kill(process.processIdentifier, number)
    let before = rows(directory("s/accelerometer.csv"))
    try waitFor(process) { rows(directory("s/accelerometer.csv")) > before + 20 }
    #expect(process.isRunning)
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(text(directory("s/events.csv")).components(separatedBy: ",mark,").count - 1 == marks)
  }

  /// The disk does not take the end (a pipe that nobody reads stands where the new session.json begins): the wait is
  /// told, and a second signal ends it. What was written is there.
  @Test(arguments: [SIGINT, SIGTERM]) func aSecondSignalEndsAStalledCloseAtOnce(second: Int32) throws {
    let directory = try TemporaryDirectory()
    let process = try start(directory("s"))
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    try #require(mkfifo(directory("s/session.json.new"), 0o600) == 0)
    kill(process.processIdentifier, SIGINT)
    try waitFor(process) { text(directory("s.error")).contains("again ends at once") }
    #expect(process.isRunning)
    kill(process.processIdentifier, second)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 128 + second)
    unlink(directory("s/session.json.new"))
    let check = try BuiltProgram.run(["check", directory("s")])
    #expect(check.lines.contains { $0.contains("was cut") })
    #expect(check.lines.last?.hasPrefix("good: ") == true, "\(check)")
    #expect(try BuiltProgram.run(["replay", directory("s"), "--verify"]).status == 0)
  }

  // MARK: Readers that go away

  /// `true` reads nothing: standard output is a closed pipe when the name is written to it.
  @Test func aRecordingWhoseNameNobodyReadsIsClosedInOrder() throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.shell(
      """
      set -o pipefail
      { sleep 0.2; "$MOTIONLOG" record \(directory("s")) -u sim:walk -d 3s --speed max; } | true
      """)
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.error.contains("300 accelerometer"))
    #expect(try BuiltProgram.run(["check", directory("s")]).output.hasPrefix("sound: "))
  }

  /// With both ends of its talk closed while it runs.
  @Test func aRecordingOutlivesTheTerminalItWasStartedFrom() throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.shell(
      """
      ( "$MOTIONLOG" record \(directory("s")) -u sim:walk -d 5s --speed 5 -v; echo $? > \(directory("status")) ) 2>&1 \
        | head -c 1 >/dev/null
      """)
    #expect(outcome.status == 0)
    #expect(text(directory("status")) == "0\n")
    #expect(try BuiltProgram.run(["check", directory("s")]).output.hasPrefix("sound: "))
  }

  @Test(arguments: ["live -u sim:walk --speed max", "live -u sim:walk --json", "replay WALK --to json --speed max"])
  func headEndsTheReadoutWithoutAWord(command: String) throws {
    let directory = try TemporaryDirectory()
    let line = command.replacing("WALK", with: try directory.recording(seconds: 60))
    let outcome = try BuiltProgram.shell("set -o pipefail; timeout 60 \"$MOTIONLOG\" \(line) | head -n 1")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.lines.count == 1)
    #expect(outcome.error.isEmpty, "\(outcome.error)")
  }

  /// A full disk behind standard output is an error, and the recording is whole all the same.
  @Test func outputThatCannotBeWrittenIsAnErrorAndTheRecordingIsWhole() throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.shell(
      "\"$MOTIONLOG\" record \(directory("s")) -u sim:walk -d 3s --speed max >/dev/full")
    #expect(outcome.status == 1 && outcome.error.contains("cannot write to standard output"))
    #expect(try BuiltProgram.run(["check", directory("s")]).output.hasPrefix("sound: "))
  }
}

/// The disk of a recording goes away while it runs, for real. Skipped where this process may not mount file systems.
@Suite struct ReadOnlyDiskTests {
  private static let canMount: Bool = {
    let command = """
      d=$(mktemp -d) && dd if=/dev/zero of=$d/img bs=1M count=8 2>/dev/null && mkfs.ext4 -q -F $d/img && mkdir $d/m \
        && PATH=$PATH:/sbin:/usr/sbin unshare -m sh -c "mount -o loop,errors=remount-ro $d/img $d/m \
        && test -w /sys/fs/ext4/\\$(basename \\$(findmnt -no SOURCE $d/m))/trigger_fs_error; s=\\$?; umount $d/m; exit \\$s"
      s=$?; rm -rf $d; exit $s
      """
    return (try? BuiltProgram.shell("PATH=$PATH:/sbin:/usr/sbin; " + command).status) == 0
  }()

  /// ext4 takes its own fault for a reason to go read-only, as a worn card makes it do.
  @Test(.enabled(if: canMount, "needs the right to mount a file system"), arguments: ["", "--compress --rotate 1s"])
  func aFileSystemThatGoesReadOnlyEndsTheRecording(options: String) throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.shell(
      """
      PATH=$PATH:/sbin:/usr/sbin
      cd \(directory.path); mkdir card
      dd if=/dev/zero of=img bs=1M count=8 2>/dev/null && mkfs.ext4 -q -F img || exit 99
      export MOTIONLOG
      unshare -m bash -c '
        mount -o loop,errors=remount-ro img card || exit 99
        "$MOTIONLOG" record card/s -u sim:walk --sync-interval 100ms \(options) 2>error & record=$!
        for i in $(seq 600); do
          [ $(du -sb card/s 2>/dev/null | cut -f1 || echo 0) -gt 60000 ] 2>/dev/null && break; sleep 0.05
        done
        echo test > /sys/fs/ext4/$(basename $(findmnt -no SOURCE card))/trigger_fs_error
        wait $record; status=$?
        cp -r card/s s; umount card; exit $status'
      status=$?; cat error >&2; exit $status
      """)
    // A sync that is under way at that instant fails with EIO, everything behind it with EROFS.
    let isReadOnly = outcome.status == 4 && outcome.error.contains("Read-only file system")
    let isCutSync = outcome.status == 1 && outcome.error.contains("Input/output error")
    #expect(isReadOnly || isCutSync, "\(outcome)")
    #expect(outcome.error.contains("kept in card/s: "))
    let check = try BuiltProgram.run(["check", directory("s")])
    #expect(check.lines.last?.hasPrefix("good: ") == true, "\(check)")
    #expect(try BuiltProgram.run(["replay", directory("s"), "--verify"]).status == 0)
  }
}
