import Testing

@testable import motionlog

/// `motionlog emulate`. That libiio's programs read what it serves is tested with the emulator itself.
@Suite struct EmulateTests {
  @Test func anOperandIsAURIADirectoryOrAScene() throws {
    #expect(try EmulateCommand.sourceURI(of: "walk") == "sim:walk")
    #expect(try EmulateCommand.sourceURI(of: "walk?seed=7") == "sim:walk?seed=7")
    #expect(try EmulateCommand.sourceURI(of: "sim:rotate") == "sim:rotate")
    #expect(try EmulateCommand.sourceURI(of: "recordings/none") == "file:recordings/none")
    #expect(try EmulateCommand.sourceURI(of: "/tmp") == "file:/tmp")
    #expect(try EmulateCommand.sourceURI(of: ".") == "file:.")
    #expect(throws: UsageError.self) { try EmulateCommand.sourceURI(of: "") }
  }

  @Test func theAddressIsTheOnlyOutput() throws {
    let outcome = try BuiltProgram.run(["emulate", "rotate", "--port", "0", "-d", "200ms"])
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 1)
    let port = try #require(outcome.lines.first?.split(separator: ":").last.flatMap { Int($0) })
    #expect(outcome.output == "ip:127.0.0.1:\(port)\n")
    for word in ["accel_3d", "gyro_3d", "magn_3d", "press", "100 Hz", "iio_info -u ip:127.0.0.1:\(port)"] {
      #expect(outcome.error.contains(word), "\(word)")
    }
    let some = try BuiltProgram.run(
      ["emulate", "rotate", "--port=0", "-d", "50ms", "--sensors", "accel", "--rate", "200", "-q"])
    #expect(some.status == 0)
    #expect(some.error == "")
  }

  @Test func theAddressIsOneThatClientsCanUse() throws {
    #expect(EmulateCommand.address(host: "127.0.0.1", port: 7) == "ip:127.0.0.1:7")
    #expect(EmulateCommand.address(host: "0.0.0.0", port: 7) == "ip:127.0.0.1:7")
    #expect(EmulateCommand.address(host: "::", port: 7) == "ip:[::1]:7")
    #expect(EmulateCommand.address(host: "::1", port: 7) == "ip:[::1]:7")
    #expect(EmulateCommand.address(host: "board.local", port: 7) == "ip:board.local:7")
    // Where this machine has IPv6 at all, devices reads what emulate serves there.
    let outcome = try BuiltProgram.shell(
      """
      coproc "$MOTIONLOG" emulate still --host ::1 --port 0 -q 2>/dev/null
      read -r address <&"${COPROC[0]}" || exit 0
      "$MOTIONLOG" devices -u "$address" && kill "$COPROC_PID"
      """)
    #expect(outcome.status == 0, "\(outcome.error)")
    if !outcome.output.isEmpty { #expect(outcome.output.contains("accel_3d"), "\(outcome.output)") }
  }

  @Test func aTriggerThatIsNotThereIsAnError() throws {
    let outcome = try BuiltProgram.shell(
      """
      coproc "$MOTIONLOG" emulate still --port 0 -q
      read -r address <&"${COPROC[0]}"
      "$MOTIONLOG" live -u "$address" --trigger nosuch -d 1s; status=$?
      kill "$COPROC_PID"
      exit $status
      """)
    #expect(outcome.status == 3)
    #expect(outcome.error.contains("there is no trigger 'nosuch'") && outcome.error.contains("accel_3d-dev0"))
    #expect(outcome.output == "")
    let simulated = try BuiltProgram.run(["live", "-u", "sim:walk", "--trigger", "nosuch", "-d", "1s"])
    #expect(simulated.status == 2)
    #expect(simulated.error.contains("has no triggers"))
  }

  @Test func theEndOfTheSourceCanBeTheEnd() throws {
    let outcome = try BuiltProgram.run(["emulate", "sim:rotate?duration=2", "--port", "0", "--once", "--speed", "100"])
    #expect(outcome.status == 0)
  }

  @Test func whatCannotBeIsSaid() throws {
    let cases: [(arguments: [String], status: Int32, word: String)] = [
      ([], 2, "directory or the scene"), (["walk", "run"], 2, "run"), (["walk", "--port", "70000"], 2, "70000"),
      (["walk", "--port", "x"], 2, "--port"), (["walk", "--speed", "max"], 2, "--speed"),
      (["walk", "--port", "0", "--host", "no.such.host.invalid"], 3, "no.such.host.invalid"),
      (["nosuchscene", "--port", "0"], 3, "nosuchscene"),
      (["no/such/directory", "--port", "0"], 3, "no/such/directory"),
    ]
    for (arguments, status, word) in cases {
      let outcome = try BuiltProgram.run(["emulate"] + arguments)
      #expect(outcome.status == status, "\(arguments)")
      #expect(outcome.error.contains(word), "\(arguments): \(outcome.error)")
      #expect(outcome.output == "")
    }
  }
}
