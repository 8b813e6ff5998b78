/// What a client says in a session, and what iiod 0.24 answered to it over a file tree made from the same board
/// (`EmulatorSupport.board()`), with a kernel's behaviour where the tree has none.
///
/// The answers are checked against the engine in every run, and against the real iiod where one can be started.
struct IIODScript: Sendable {
  var name: String
  /// What is sent, and the answer; `\0` and `\n` stand as they are sent. A nil answer is only compared with iiod's.
  var steps: [(send: String, answer: String?)]

  static let version = "0.24.v0.24  \n"

  static let all: [IIODScript] = [
    IIODScript(
      name: "versions, blanks and endings",
      steps: [
        ("VERSION\r\n", version), ("VERSION\n", version), ("version\r\n", version), ("VERSION \r\n", version),
        ("\r\n", ""), ("\n\r\n", ""), (" \r\n", ""), ("VERSION x\r\n", "-22\n"), (" VERSION\r\n", "-22\n"),
        ("VERSION\r\r\n", version), ("VERSION\r\n\r\nVERSION\n\nVERSION\n", version + version + version),
        ("BOGUS\r\n", "-22\n"), ("ZPRINT\r\n", "-22\n"), ("VERSION;VERSION\r\n", "-22\n"),
        ("VERSION\rVERSION\n", "-22\n"), ("VERS", ""), ("ION\r\n", version),
      ]),
    IIODScript(
      name: "timeouts",
      steps: [
        ("TIMEOUT 1000\r\n", "0\n"), ("TIMEOUT abc\r\n", "0\n"), ("TIMEOUT -1\r\n", "0\n"),
        ("TIMEOUT 99999999999999999999\r\n", "0\n"), ("TIMEOUT\r\n", "-22\n"), ("TIMEOUT 1 2\r\n", "-22\n"),
        ("TIMEOUT 1000\r\n", "0\n"),
      ]),
    IIODScript(name: "the context", steps: [("PRINT\r\n", nil), ("PRINT x\r\n", "-22\n")]),
    IIODScript(
      name: "reading attributes",
      steps: [
        ("READ iio:device0 INPUT accel_x scale\r\n", "12\n0.000980665\0\n"),
        ("READ accel_3d INPUT accel_x scale\r\n", "12\n0.000980665\0\n"),
        ("READ accel-base INPUT accel_x scale\r\n", "12\n0.000980665\0\n"),
        ("read iio:device0 input accel_y sampling_frequency\r\n", "11\n100.000000\0\n"),
        ("READ  iio:device0  INPUT accel_x scale\r\n", "12\n0.000980665\0\n"),
        ("READ iio:device0 current_timestamp_clock\r\n", "10\nrealtime\n\0\n"),
        ("READ iio:device0 name\r\n", "9\naccel_3d\0\n"), ("READ iio:device0 label\r\n", "11\naccel-base\0\n"),
        ("READ iio:device2 INPUT pressure scale\r\n", "8\n0.00001\0\n"),
        ("READ iio:device0 nosuch\r\n", "-2\n"), ("READ iio:device99 x\r\n", "-19\n"), ("READ ACCEL_3D x\r\n", "-19\n"),
        ("READ iio:device0 OUTPUT accel_x scale\r\n", "-6\n"), ("READ iio:device0 OUTPUT accel_x\r\n", "-6\n"),
        ("READ iio:device0 INPUT nosuch scale\r\n", "-6\n"), ("READ iio:device0 INPUT in_accel_x raw\r\n", "-6\n"),
        ("READ iio:device0 INPUT accel_x nosuch\r\n", "-2\n"), ("READ iio:device0 INPUT accel_x SCALE\r\n", "-2\n"),
        ("READ iio:device0 INPUT timestamp raw\r\n", "-2\n"), ("READ iio:device0 BUFFER nosuch\r\n", "-2\n"),
        ("READ iio:device0 DEBUG x\r\n", "-2\n"), ("READ trigger0 name\r\n", "14\naccel_3d-dev0\0\n"),
        ("READ\r\n", "-22\n"), ("READ \r\n", "-22\n"), ("READ iio:device0 INPUT\r\n", "-22\n"),
        ("READ iio:device0 INPUT accel_x scale extra\r\n", "-22\n"),
      ]),
    IIODScript(
      name: "reading all attributes of a group",
      steps: [
        ("READ iio:device0 BUFFER\r\n", nil), ("READ iio:device0 INPUT timestamp\r\n", "0\n\n"),
        ("READ iio:device0 DEBUG\r\n", "0\n\n"), ("READ trigger0\r\n", "0\n\n"), ("READ trigger0 BUFFER\r\n", "0\n\n"),
        ("READ iio:device0\r\n", nil), ("READ iio:device0 INPUT accel_x\r\n", nil),
        ("READ iio:device2 INPUT pressure\r\n", nil),
      ]),
    IIODScript(
      name: "writing attributes",
      steps: [
        ("WRITE iio:device0 INPUT accel_x sampling_frequency 10\r\n100.000000", "10\n"), ("VERSION\r\n", version),
        ("WRITE iio:device0 INPUT accel_x sampling_frequency 0\r\n", "-5\n"), ("VERSION\r\n", version),
        ("WRITE iio:device0 INPUT accel_x sampling_frequency abc\r\n", "-5\n"),
        ("WRITE iio:device0 INPUT accel_x sampling_frequency -3\r\n", "-12\n"),
        ("WRITE iio:device0 INPUT nosuch scale 3\r\n33\0", "-6\n"), ("VERSION\r\n", version),
        ("WRITE iio:device99 x 3\r\n33\n", "-19\n-22\n"), ("VERSION\r\n", version),
        ("WRITE iio:device0 DEBUG x 2\r\n1\0", "-2\n"), ("VERSION\r\n", version), ("WRITE\r\n", "-22\n"),
        ("WRITE iio:device0\r\n", "-22\n"), ("WRITE iio:device0 x\r\n", "-22\n"),
        ("WRITE iio:device0 INPUT\r\n", "-22\n"),
        ("WRITE iio:device0 INPUT accel_x sampling_frequency\r\n", "-22\n"),
      ]),
    IIODScript(
      name: "triggers",
      steps: [
        ("GETTRIG iio:device0\r\n", "13\naccel_3d-dev0\n"), ("SETTRIG iio:device0 trigger0\r\n", "0\n"),
        ("SETTRIG iio:device0 accel_3d-dev0\r\n", "0\n"), ("GETTRIG iio:device0\r\n", "13\naccel_3d-dev0\n"),
        ("SETTRIG iio:device0\r\n", "0\n"), ("SETTRIG iio:device0 \r\n", "0\n"),
        ("SETTRIG iio:device0 trigger0\r\n", "0\n"), ("SETTRIG iio:device0 nosuch\r\n", "-2\n"),
        ("SETTRIG iio:device0 iio:device1\r\n", "-22\n"), ("GETTRIG iio:device99\r\n", "-19\n"),
        ("GETTRIG trigger0\r\n", "-2\n"), ("SETTRIG trigger0 trigger0\r\n", "-2\n"),
        ("SETTRIG iio:device99 trigger0\r\n", "-19\n"), ("GETTRIG\r\n", "-22\n"), ("SETTRIG\r\n", "-22\n"),
        ("SETTRIG iio:device0 trigger0 x\r\n", "-22\n"), ("GETTRIG iio:device0 x\r\n", "-22\n"),
      ]),
    IIODScript(
      name: "opening and closing",
      steps: [
        ("READBUF iio:device0 24\r\n", "-9\n"), ("WRITEBUF iio:device0 24\r\n", "-9\n"),
        ("CLOSE iio:device0\r\n", "-6\n"), ("CLOSE iio:device99\r\n", "-19\n"), ("CLOSE\r\n", "-22\n"),
        ("OPEN iio:device0 16 00000000\r\n", "-22\n"), ("OPEN iio:device0 16 000000f0\r\n", "-22\n"),
        ("OPEN iio:device0 16 f\r\n", "-22\n"), ("OPEN iio:device0 16 0xf\r\n", "-22\n"),
        ("OPEN iio:device0 16 0000000g\r\n", "-22\n"), ("OPEN iio:device0 16 000000000000000f\r\n", "-22\n"),
        ("OPEN iio:device0 0 0000000f\r\n", "-22\n"), ("OPEN iio:device0 abc 0000000f\r\n", "-22\n"),
        ("OPEN iio:device0 -5 0000000f\r\n", "-12\n"), ("OPEN iio:device0 4294967296 0000000f\r\n", "-22\n"),
        ("OPEN iio:device0\r\n", "-22\n"), ("OPEN iio:device0 16\r\n", "-22\n"),
        ("OPEN iio:device99 16 00000001\r\n", "-19\n"), ("OPEN trigger0 8 00000003\r\n", "-22\n"),
        ("OPEN iio:device0 8 0000000f CYCLIC\r\n", "-1\n"), ("OPEN iio:device0 8 0000000f cyclic x\r\n", "-22\n"),
        ("CLOSE iio:device0\r\n", "-6\n"), ("OPEN iio:device0 8 0000000F \r\n", "0\n"),
        ("READ iio:device0 BUFFER length\r\n", "3\n32\0\n"), ("READ iio:device0 BUFFER watermark\r\n", "2\n8\0\n"),
        ("READ iio:device0 BUFFER enable\r\n", "2\n1\0\n"), ("READBUF iio:device0 23\r\n", "0\n"),
        ("READBUF iio:device0 0\r\n", "0\n"), ("READBUF iio:device0 abc\r\n", "0\n"),
        ("READBUF iio:device0 24 x\r\n", "-22\n"), ("READBUF iio:device0\r\n", "-22\n"), ("READBUF\r\n", "-22\n"),
        ("CLOSE iio:device0 \r\n", "0\n"), ("READ iio:device0 BUFFER enable\r\n", "2\n0\0\n"),
        ("CLOSE iio:device0\r\n", "-6\n"),
      ]),
    IIODScript(
      name: "opening twice",
      steps: [
        ("OPEN iio:device0 8 00000001\r\n", "0\n"), ("OPEN iio:device0 4 00000004\r\n", "0\n"),
        ("CLOSE iio:device0\r\n", "0\n"), ("READ iio:device0 BUFFER enable\r\n", "2\n1\0\n"),
        ("CLOSE iio:device0\r\n", "0\n"), ("READ iio:device0 BUFFER enable\r\n", "2\n0\0\n"),
        ("CLOSE iio:device0\r\n", "-6\n"),
      ]),
    IIODScript(
      name: "kernel buffers",
      steps: [
        ("SET iio:device0 BUFFERS_COUNT 2\r\n", "0\n"), ("OPEN iio:device0 8 0000000f\r\n", "0\n"),
        ("READ iio:device0 BUFFER length\r\n", "3\n16\0\n"), ("CLOSE iio:device0\r\n", "0\n"),
        ("SET iio:device0 BUFFERS_COUNT 4\r\n", "0\n"), ("SET iio:device0 BUFFERS_COUNT 0\r\n", "-22\n"),
        ("SET iio:device0 BUFFERS_COUNT abc\r\n", "-22\n"), ("SET iio:device0 BUFFERS_COUNT\r\n", "-22\n"),
        ("SET iio:device99 BUFFERS_COUNT 4\r\n", "-19\n"), ("SET iio:device0 FOO 4\r\n", "-22\n"),
        ("SET\r\n", "-22\n"),
      ]),
  ]
}
