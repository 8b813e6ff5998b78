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
