import Foundation
import Glibc
import Testing

/// What a user sees of each thing that can go wrong: the line on standard error and the exit code.
@Suite struct ErrorTests {
  /// Runs, and expects a code, these words on standard error, and nothing on standard output.
  private func expect(
    _ arguments: [String], _ status: Int32, _ words: String..., location: SourceLocation = #_sourceLocation
  ) throws {
    let outcome = try BuiltProgram.run(arguments)
    #expect(outcome.status == status, "\(arguments): \(outcome.error)", sourceLocation: location)
    #expect(outcome.output == "", sourceLocation: location)
    #expect(outcome.error.hasPrefix("motionlog: error: "), sourceLocation: location)
    for word in words {
      #expect(outcome.error.contains(word), "\(arguments): \(outcome.error)", sourceLocation: location)
    }
  }

  @Test func badUsageIsExplained() throws {
    try expect([], 2, "no command given", "motionlog live -u sim:walk", "motionlog --help")
    try expect(["lvie"], 2, "there is no command 'lvie'; did you mean 'live'?")
    try expect(["frobnicate"], 2, "there is no command 'frobnicate'\n")
    try expect(["--frob"], 2, "there is no option '--frob'", "motionlog --help lists the commands")
    try expect(["live", "--rat", "3"], 2, "live: there is no option '--rat'; did you mean '--rate'?", "live --help")
    try expect(["live", "--rate"], 2, "option --rate needs a value: --rate HZ")
    try expect(["live", "--rate", "fast"], 2, "option --rate: 'fast' is not samples per second")
    try expect(
      ["live", "--sensors", "accel,nose"], 2, "option --sensors: 'nose' is not accel, gyro, mag, baro or steps")
    try expect(["live", "--duration", "soon"], 2, "option --duration: 'soon' is not a time such as 10s")
    try expect(["live", "--frame", "true"], 2, "option --frame true also needs --declination DEG")
    for command in ["info", "check", "export", "replay"] {
      try expect([command, ""], 2, "\(command): the recording's directory is missing")
    }
    try expect(["check", "x", "--repair="], 2, "option --repair: '' is not a new directory")
    try expect(["export", "x", "-o", ""], 2, "option --output: '' is not a file")
    try expect(["emulate", "walk", "-u", "sim:still"], 2, "emulate takes one source: 'walk' or --source")
    try expect(["emulate", "walk", "--host="], 2, "option --host: '' is not an address")
    try expect(["calibrate", "foo"], 2, "calibrate takes gyro, accel, mag or list, not 'foo'\n")
    try expect(["calibrate", "list", "--dry-run"], 2, "--dry-run does not go with calibrate list")
    try expect(["calibrate", "list", "--to="], 2, "option --to: '' is not a file")
    try expect(["doctor", "-u", "sim:still", "--sensors", "steps"], 2, "'steps' is not accel, gyro, mag or baro")
    for size in ["1B", "9kB", "10ms", "0.5"] {
      try expect(["record", "x", "--rotate", size], 2, "option --rotate: '\(size)' is not at least 10kB or 1s")
    }
    try expect(["live", "-u", "sim:walk?seed=1&seed=2"], 2, "seed is given twice")
    try expect(["live", "-u", "sim:walk", "--device", "accel=x"], 2, "--device chooses among devices; sim:walk has")
    try expect(["live", "-u", "sim:walk", "--trigger", "x"], 2, "--trigger is for devices")
    try expect(
      ["live", "--device", "accel=a", "--device", "accel=b"], 2, "option --device: accelerometer is given twice")
    try expect(["live", "--rate", "100,200"], 2, "option --rate: the rate of all sensors is given twice")
    try expect(["live", "--rate", "mag=1,mag=2"], 2, "option --rate: magnetometer is given twice")
    try expect(["record", "x", "--label", "a=1", "--label", "a=2"], 2, "option --label: 'a' is given twice")
    try expect(
      ["import", "x", "--to", "y", "--columns", "time=a,time=b"], 2, "option --columns: 'time' is given twice")
    try expect(["import", "x", "--to", "y", "--columns="], 2, "option --columns: '' is not role=column")
    try expect(["live", "-u", "ip:127.0.0.1:1", "--speed", "max"], 2, "option --speed is for recordings and scenes")
    try expect(["live", "now"], 2, "live: unexpected argument 'now'")
    try expect(["replay"], 2, "replay: the recording's directory is missing")
    try expect(["replay", "x", "--speed", "0"], 2, "option --speed: '0' is not a factor")
    try expect(["replay", "x", "--verify", "--to", "json"], 2, "--to does not go with --verify")
    try expect(["info", "a", "b"], 2, "info: unexpected argument 'b'")
    try expect(["import", "--to", "x"], 2, "import: the file to import is missing")
    try expect(["import", "log.csv"], 2, "import needs a new directory to write to: --to DIR")
    try expect(["emulate"], 2, "emulate: the recording's directory or the scene's name is missing")
    try expect(["emulate", "walk", "--port", "99999"], 2, "option --port: '99999'")
  }

  @Test(arguments: [("MOTIONKIT_LOCATION", "95,200"), ("MOTIONKIT_DECLINATION", "north")])
  func aPlaceThatCannotBeIsNamed(name: String, value: String) throws {
    let outcome = try BuiltProgram.run(
      ["live", "-u", "sim:walk", "-d", "1s", "--frame", "true"], environment: [name: value])
    #expect(outcome.status == 2 && outcome.error.contains("\(name)=\(value)"), "\(outcome.error)")
  }

  @Test(.timeLimit(.minutes(1))) func extremeValuesAreRefused() throws {
    for (option, values) in [
      ("--speed", ["1e-300", "1e300", "-1"]), ("--interval", ["1e-9s", "-1s"]), ("--duration", ["-1s", "1e300h"]),
      ("--rate", ["1e-300", "1e300", "-5", "mag=1e-9"]),
    ] {
      for value in values {
        try expect(["live", "-u", "sim:still", option, value], 2, "option \(option): '", "' is not ")
      }
    }
    for rate in ["1e-300", "1e300"] {
      try expect(["export", "x", "--rate", rate], 2, "option --rate: '\(rate)' is not rows per second")
      try expect(["import", "x", "--to", "y", "--rate", rate, "--assume-rate"], 2, "option --rate: '\(rate)'")
    }
    try expect(["live", "-u", "sim:still?accel_drop=1"], 2, "accel_drop=1", "0.99")
  }

  @Test func aColumnsRoleAndAUnitThatCannotBeAreRefused() throws {
    let directory = try TemporaryDirectory()
    let table = directory("t.csv")
    try "t_s,ax,ay,az\n0,0,0,1\n0.01,0,0,1\n".write(toFile: table, atomically: true, encoding: .utf8)
    for role in [".", "..", "accel.w", "x.accel", "foo"] {
      try expect(["import", table, "--to", directory("s"), "--columns", "\(role)=ax"], 1, "the column role '\(role)'")
    }
    for unit in ["0 g", "1e400 g", "- g", ". g"] {
      try expect(
        ["import", table, "--to", directory("s"), "--accel-unit=\(unit)"], 2, "--accel-unit: '\(unit)' is not")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["t.csv"])
  }

  @Test(.timeLimit(.minutes(1))) func aPipeInPlaceOfAFileIsRefused() throws {
    let directory = try TemporaryDirectory()
    #expect(mkfifo(directory("log.csv"), 0o600) == 0)
    try expect(["import", directory("log.csv"), "--to", directory("walk")], 5, "log.csv: it is a pipe or a device")
    let walk = try directory.recording(seconds: 1)
    unlink(walk + "/gyroscope.csv")
    #expect(mkfifo(walk + "/gyroscope.csv", 0o600) == 0)
    try expect(["info", walk], 5, "gyroscope.csv: it is a pipe or a device")
  }

  @Test func anExportIsWholeOrNotThere() throws {
    let directory = try TemporaryDirectory()
    let table = directory("table.csv")
    try expect(["export", "/no/such/recording", "-o", table], 3, "/no/such/recording")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    let walk = try directory.recording(seconds: 1)
    #expect(try BuiltProgram.run(["export", walk, "-o", table]).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["table.csv", "walk"])
    let before = try String(contentsOfFile: table, encoding: .utf8)
    try expect(["export", walk, "-o", table], 1, table, "File exists", "nothing is overwritten")
    #expect(try String(contentsOfFile: table, encoding: .utf8) == before)
    #expect(try BuiltProgram.run(["export", walk, "-o", "/dev/null"]).status == 0)
    let piped = try BuiltProgram.shell("$MOTIONLOG export \(walk) -q -o /dev/fd/3 3>&1 | cat")
    #expect(piped.output == before)
  }

  @Test func whatAPathIsCalledDoesNotSteerTheTerminal() throws {
    try expect(["info", "/no/such\u{1B}]0;x\u{7}/recording"], 3, "/no/such\\u{1b}]0;x\\u{7}/recording")
  }

  @Test func anUnreadableSourceIsBadUsage() throws {
    try expect(["live", "-u", "walk"], 2, "'walk' is not a source", "sim:SCENE")
    try expect(["live", "-u", "foo:bar"], 2, "unknown scheme 'foo:'", "ip:HOST")
    try expect(["devices", "-u", "ip:"], 2, "the host is missing")
    try expect(["devices", "-u", "local:foo"], 2, "nothing follows local:")
  }

  @Test func whatIsNotThereIsNotFound() throws {
    try expect(["live", "-u", "sim:wlak"], 3, "'wlak'", "sim:walk")
    try expect(["replay", "/no/such/recording"], 3, "/no/such/recording")
    try expect(["info", "/no/such/recording"], 3, "/no/such/recording")
    try expect(["live", "-u", "file:/no/such/recording"], 3, "/no/such/recording")
    try expect(["record", "/no/such/parent/walk", "-u", "sim:walk"], 3, "/no/such/parent/walk", "No such file")
  }

  @Test(.timeLimit(.minutes(1))) func aHostThatIsNotThereIsNotFound() throws {
    try expect(["live", "-u", "ip:no-such-host.invalid"], 3, "no-such-host.invalid")
    try expect(["devices", "-u", "ip:127.0.0.1:1"], 3, "127.0.0.1")
  }

  @Test func aDirectoryWithoutARecordingIsNotFound() throws {
    let directory = try TemporaryDirectory()
    try expect(["info", directory.path], 3, directory.path)
  }

  @Test func aRecordingIsNeverOverwritten() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 1)
    let before = try String(contentsOfFile: walk + "/accelerometer.csv", encoding: .utf8)
    try expect(["record", walk, "-u", "sim:walk", "-d", "1s"], 1, walk, "File exists", "choose a new one")
    #expect(try String(contentsOfFile: walk + "/accelerometer.csv", encoding: .utf8) == before)
  }

  @Test func whereNobodyMayWriteIsNotPermitted() throws {
    let directory = try TemporaryDirectory()
    chmod(directory.path, 0o500)
    defer { chmod(directory.path, 0o700) }
    // Without its capabilities root obeys permissions too.
    let drop = geteuid() == 0 ? "setpriv --bounding-set=-all --inh-caps=-all " : ""
    let outcome = try BuiltProgram.shell("\(drop)$MOTIONLOG record \(directory("walk")) -u sim:walk -d 1s")
    #expect(outcome.status == 4, "\(outcome.error)")
    #expect(outcome.error.contains(directory("walk") + ": Permission denied"))
  }

  @Test func aBadNumberIsNamedByFileLineAndColumn() throws {
    let directory = try TemporaryDirectory()
    let walk = try directory.recording(seconds: 1)
    let file = walk + "/gyroscope.csv"
    var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    var cells = lines[40].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let column = cells[0].count + 1 + cells[1].count + 2
    cells[2] = "abc"
    lines[40] = cells.joined(separator: ",")
    try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)

    let place = "gyroscope.csv:41:\(column):"
    let outcome = try BuiltProgram.run(["replay", walk, "--speed", "max"])
    #expect(outcome.status == 5)
    #expect(outcome.error.contains(place), "\(outcome.error)")
    #expect(outcome.error.contains("abc"))

    // What came before the fault is still told.
    let info = try BuiltProgram.run(["info", walk])
    #expect(info.status == 5)
    #expect(info.error.contains(place))
    #expect(info.output.contains("gyroscope"))
  }

  @Test func errorsAreColouredOnlyOnATerminal() throws {
    #expect(try !BuiltProgram.run(["lvie"]).error.contains("\u{1B}"))
  }
}
