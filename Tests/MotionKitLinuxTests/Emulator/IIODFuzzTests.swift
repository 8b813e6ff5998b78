import MotionKitLinux
import SensorFusion
import Testing

/// Whatever clients send, the engine goes on, answers others, and holds a bounded amount.
@Suite struct IIODFuzzTests {
  /// Unsent bytes that a connection may have: the limit at which commands wait, and the largest answer to one.
  private static let outputBound = (64 << 10) + (1 << 20)

  /// Bytes to send: whole commands, changed ones, numbers at the edges, and noise.
  private static func message(_ random: inout TestRandom, corpus: [[UInt8]]) -> [UInt8] {
    var bytes = corpus.randomElement(using: &random) ?? []
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: return bytes
    case 2:
      for _ in 0...Int.random(in: 0..<4, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
    case 3: bytes.removeSubrange(Int.random(in: 0...bytes.count, using: &random)...)
    case 4:
      bytes.insert(
        contentsOf: corpus.randomElement(using: &random) ?? [], at: Int.random(in: 0...bytes.count, using: &random))
    case 5:
      let edges = [
        "0", "-1", "4294967295", "4294967296", "9223372036854775807", "-9223372036854775808", "99999999999999999999",
        "1e9", "",
      ]
      let devices = ["iio:device0", "iio:device1", "trigger0", "press", ""]
      let commands = ["READBUF", "OPEN", "WRITE", "SET", "TIMEOUT", "WRITEBUF"]
      var text = (commands.randomElement(using: &random) ?? "") + " " + (devices.randomElement(using: &random) ?? "")
      for _ in 0..<Int.random(in: 0..<3, using: &random) { text += " " + (edges.randomElement(using: &random) ?? "") }
      if Bool.random(using: &random) { text += " 0000000f" }
      bytes = Array((text + "\r\n").utf8)
    case 6:
      bytes = (0..<Int.random(in: 0..<300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    default:
      bytes = Array(
        repeating: UInt8.random(in: 32..<127, using: &random), count: Int.random(in: 0..<9000, using: &random))
    }
    return bytes
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func nothingThatClientsSendStopsIt(seed: UInt64) {
    var random = TestRandom(state: seed)
    let corpus =
      IIODScript.all.flatMap { $0.steps.map { Array($0.send.utf8) } }
      + [
        "OPEN iio:device0 8 0000000f\r\n", "OPEN iio:device1 3 00000001\r\n", "READBUF iio:device0 192\r\n",
        "READBUF iio:device1 9\r\n",
        "WRITE iio:device0  16\r\n\0\0\0\u{8}boottime\0\0\0\0", "TIMEOUT 1\r\n", "EXIT\r\n",
      ].map { Array($0.utf8) }
    var engine = IIODEngine(board: EmulatorSupport.board())
    var clients: [Int] = []
    var now: Int64 = 0
    var pieces = 0
    var largest = 0
    for round in 0..<2500 {
      now += Int64.random(in: 0..<20_000_000, using: &random)
      if clients.isEmpty || (clients.count < 6 && Int.random(in: 0..<20, using: &random) == 0) {
        clients.append(engine.connect())
      }
      let place = Int.random(in: 0..<clients.count, using: &random)
      let client = clients[place]
      switch Int.random(in: 0..<12, using: &random) {
      case 0: engine.advance(to: now)
      case 1:
        for _ in 0..<Int.random(in: 0..<40, using: &random) {
          engine.deliver(EmulatorSupport.accelerometer(round, -round, round, milliseconds: round), at: now)
        }
        let odd = [Float.nan, .infinity, -.infinity, 3e38, 0].randomElement(using: &random) ?? 0
        engine.deliver(
          SensorSample(time: Timestamp(nanoseconds: .max), kind: .gyroscope, x: odd, y: 1, z: -odd), at: now)
      case 2: _ = engine.takeOutput(of: client, at: now)
      case 3 where Int.random(in: 0..<10, using: &random) == 0:
        engine.disconnect(client, at: now)
        clients.remove(at: place)
      default:
        // As the server does, a client is listened to only while it may send.
        if engine.wantsInput(from: client) {
          engine.receive(Self.message(&random, corpus: corpus), from: client, at: now)
          pieces += 1
        } else if engine.isEnded(client) {
          engine.disconnect(client, at: now)
          clients.remove(at: place)
        }
      }
      largest = max(largest, clients.map { engine.pendingOutput(of: $0) }.max() ?? 0)
    }
    #expect(pieces > 1000)
    #expect(largest <= Self.outputBound)
    // A newcomer is served as if nothing had been.
    let newcomer = EngineClient(&engine)
    #expect(
      newcomer.ask("VERSION\r\nREAD iio:device0 INPUT accel_x scale\r\n", &engine) == IIODScript.version
        + "12\n0.000980665\0\n")
  }

  @Test func anEndlessLineIsNotKept() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    for _ in 0..<1000 {
      #expect(client.ask(bytes: Array(repeating: UInt8(ascii: "x"), count: 4000), &engine).isEmpty)
      #expect(engine.wantsInput(from: client.id))
    }
    #expect(client.ask("\nVERSION\n", &engine) == "-22\n" + IIODScript.version)
  }

  @Test func aHugeValueIsPassedOver() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    _ = client.ask("WRITE iio:device0 INPUT accel_x sampling_frequency 1000000\r\n", &engine)
    for _ in 0..<10 { #expect(client.ask(bytes: Array(repeating: 0x31, count: 100_000), &engine).isEmpty || true) }
    #expect(client.ask("VERSION\n", &engine) == IIODScript.version)
  }

  @Test func commandsThatWaitAreBounded() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    let burst = Array(String(repeating: "PRINT\r\n", count: 1000).utf8)
    var taken = 0
    while engine.wantsInput(from: client.id), taken < 100 {
      engine.receive(burst, from: client.id, at: 0)
      taken += 1
      #expect(engine.pendingOutput(of: client.id) <= Self.outputBound)
    }
    // About ten answers fill the output; the commands behind them fill the input.
    #expect((2...20).contains(taken))
    let answers = engine.takeOutput(of: client.id).count
    #expect(answers > 1000 * taken * 3000)
  }

  @Test func onlySoManyHoldsOfABuffer() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    let answers = (0..<300).map { _ in client.ask("OPEN iio:device0 1 0000000f\r\n", &engine) }
    #expect(answers.last == "-12\n")
    #expect(answers.first == "0\n")
    engine.disconnect(client.id, at: 0)
    #expect(EngineClient(&engine).ask("READ iio:device0 BUFFER enable\r\n", &engine) == "2\n0\0\n")
  }
}
