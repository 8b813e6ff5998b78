import MotionKitLinux
import SensorFusion
import Testing

@Suite struct IIODEngineTests {
  @Test(arguments: IIODScript.all.map(\.name))
  func answersAsIIOD(script name: String) throws {
    let script = try #require(IIODScript.all.first { $0.name == name })
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    for step in script.steps {
      let answer = client.ask(step.send, &engine)
      if let expected = step.answer { #expect(answer == expected, "to \(step.send.debugDescription)") }
    }
  }

  @Test func answersDoNotDependOnHowBytesArrive() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    for script in IIODScript.all {
      let whole = EngineClient(&engine)
      let bytes = script.steps.flatMap { Array($0.send.utf8) }
      let expected = whole.ask(bytes: bytes, &engine)
      let pieces = EngineClient(&engine)
      var answer: [UInt8] = []
      for byte in bytes { answer += pieces.ask(bytes: [byte], &engine) }
      #expect(answer == expected, "\(script.name)")
      engine.disconnect(whole.id, at: 0)
      engine.disconnect(pieces.id, at: 0)
    }
  }

  /// `8 samples, mask` opened on the accelerometer.
  private func opened(
    _ engine: inout IIODEngine, mask: String = "0000000f", count: Int = 8
  ) -> EngineClient {
    let client = EngineClient(&engine)
    #expect(client.ask("OPEN iio:device0 \(count) \(mask)\r\n", &engine) == "0\n")
    return client
  }

  private func deliver(_ range: Range<Int>, to engine: inout IIODEngine) {
    for i in range {
      engine.deliver(EmulatorSupport.accelerometer(i, -i, 2 * i, milliseconds: 10 * i), at: Int64(i) * 10_000_000)
    }
  }

  @Test func theLastSamplesComeInAShorterBlock() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = opened(&engine)
    deliver(1..<12, to: &engine)
    #expect(client.ask("READBUF iio:device0 192\r\n", &engine).hasPrefix("192\n0000000f\n"))
    engine.finish(at: 0)
    #expect(!engine.isDrained, "three samples are still to be fetched")
    let answer = client.ask(bytes: Array("READBUF iio:device0 192\r\n".utf8), &engine)
    let head = Array("72\n0000000f\n".utf8)
    #expect(answer.starts(with: head))
    // The zero ends a read that gets less than it asked for.
    #expect(answer.count == head.count + 72 + 2 && answer.suffix(2).elementsEqual(Array("0\n".utf8)))
    #expect(answer.dropFirst(head.count + 48).int32(at: 0) == 11)
    #expect(engine.isDrained)
    #expect(client.ask("READBUF iio:device0 192\r\n", &engine) == "-19\n")
    // One that waits gets what there is at once.
    var other = IIODEngine(board: EmulatorSupport.board())
    let waiting = opened(&other)
    _ = waiting.ask("READBUF iio:device0 192\r\n", &other)
    deliver(1..<3, to: &other)
    #expect(waiting.take(&other).isEmpty)
    other.finish(at: 0)
    #expect(waiting.take(&other).starts(with: Array("48\n0000000f\n".utf8)))
  }

  @Test func samplesComeInTheKernelsLayout() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = opened(&engine)
    #expect(client.ask("READBUF iio:device0 192\r\n", &engine) == "")
    deliver(1..<8, to: &engine)
    #expect(client.take(&engine).isEmpty)
    deliver(8..<9, to: &engine)
    let answer = client.take(&engine)
    let head = Array("192\n0000000f\n".utf8)
    #expect(answer.count == head.count + 192)
    #expect(answer.starts(with: head))
    let data = answer.dropFirst(head.count)
    for i in 1...8 {
      let sample = data.dropFirst(24 * (i - 1))
      #expect(sample.int32(at: 0) == Int32(i))
      #expect(sample.int32(at: 4) == Int32(-i))
      #expect(sample.int32(at: 8) == Int32(2 * i))
      #expect(sample.int64(at: 16) == Int64(i) * 10_000_000)
    }
  }

  @Test func longReadsComeInBlocksAndRestsOfSamplesAreCutOff() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = opened(&engine, mask: "00000004")
    deliver(0..<40, to: &engine)
    // 32 samples were kept: four blocks.
    let answer = client.ask(bytes: Array("READBUF iio:device0 100\r\n".utf8), &engine)
    var rest = answer[...]
    func line() -> String {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      defer { rest = rest[min(end + 1, rest.endIndex)...] }
      return String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
    }
    #expect(line() == "32")
    #expect(line() == "00000004")
    for block in 0..<4 {
      if block > 0 { #expect(line() == (block < 3 ? "32" : "4")) }
      for i in 0..<(block < 3 ? 8 : 1) {
        #expect(rest.int32(at: 0) == Int32(2 * (8 * block + i)))
        rest = rest.dropFirst(4)
      }
    }
    #expect(rest.isEmpty)
    // The block of which four bytes were read is gone.
    deliver(40..<48, to: &engine)
    let next = client.ask(bytes: Array("READBUF iio:device0 35\r\n".utf8), &engine)
    #expect(next.starts(with: Array("32\n00000004\n".utf8)))
    #expect(next.dropFirst(12).int32(at: 0) == 80)
    #expect(Array(next.suffix(2)) == Array("0\n".utf8))
  }

  @Test func theOldestSamplesAreKeptWhenNobodyReads() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = opened(&engine, mask: "00000001")
    deliver(0..<100, to: &engine)
    #expect(engine.statistics.refused == 68)
    #expect(client.ask("READ iio:device0 BUFFER data_available\r\n", &engine) == "3\n32\0\n")
    let kept = client.ask(bytes: Array("READBUF iio:device0 128\r\n".utf8), &engine)
    let numbers = stride(from: 0, to: 32, by: 4).map { kept.dropFirst(12).int32(at: $0) }
    #expect(numbers == Array(0..<8))
    // 96 more bytes in three chunks; then new samples after the gap.
    deliver(100..<108, to: &engine)
    let next = client.ask(bytes: Array("READBUF iio:device0 32\r\n".utf8), &engine)
    #expect(next.dropFirst(12).int32(at: 0) == 100)
  }

  @Test func clientsOfOneDeviceGetTheUnionOfTheirMasks() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let first = opened(&engine, mask: "00000001")
    deliver(0..<8, to: &engine)
    #expect(first.ask("READBUF iio:device0 32\r\n", &engine).hasPrefix("32\n00000001\n"))
    let second = opened(&engine, mask: "0000000c", count: 4)
    _ = first.ask("READBUF iio:device0 128\r\n", &engine)
    _ = second.ask("READBUF iio:device0 64\r\n", &engine)
    deliver(8..<16, to: &engine)
    let a = first.take(&engine)
    let b = second.take(&engine)
    // x, z and the time: 16 bytes; each gets blocks of its own count.
    #expect(a.starts(with: Array("128\n0000000d\n".utf8)))
    #expect(b.starts(with: Array("64\n0000000d\n".utf8)))
    let shared = Array(a.dropFirst(13).prefix(64))
    #expect(shared == Array(b.dropFirst(12).prefix(64)))
    #expect(a.dropFirst(13).int32(at: 16) == 9)
    #expect(a.dropFirst(13).int32(at: 20) == 18)
    #expect(second.ask("CLOSE iio:device0\r\n", &engine) == "0\n")
    deliver(16..<24, to: &engine)
    #expect(first.ask("READBUF iio:device0 32\r\n", &engine).hasPrefix("32\n00000001\n"))
    engine.disconnect(first.id, at: 0)
    let third = EngineClient(&engine)
    #expect(third.ask("READ iio:device0 BUFFER enable\r\n", &engine) == "2\n0\0\n")
  }

  @Test func noClientLosesSamplesToAnother() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let first = opened(&engine, count: 8)
    var next = 0
    var seen: [Int32] = []
    let read = Array("READBUF iio:device0 192\r\n".utf8)
    func step(_ count: Int) {
      deliver(next..<next + count, to: &engine)
      next += count
      var answer = first.take(&engine)
      while !answer.isEmpty {
        let head = answer.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 10 } ?? 0
        seen += (0..<8).map { answer.dropFirst(head).int32(at: 24 * $0) }
        answer = first.ask(bytes: read, &engine)
      }
    }
    _ = first.ask(bytes: read, &engine)
    step(11)
    // Another with a larger count, then one with a smaller count and fewer channels; they read, stall, close and go.
    let large = opened(&engine, count: 20)
    step(9)
    _ = large.ask("READBUF iio:device0 480\r\n", &engine)
    step(30)
    #expect(large.take(&engine).count > 480)
    let small = opened(&engine, mask: "00000001", count: 3)
    step(7)
    #expect(large.ask("CLOSE iio:device0\r\n", &engine) == "0\n")
    step(13)
    engine.disconnect(small.id, at: 0)
    step(26)
    #expect(seen == (0..<Int32(next)).map { $0 })
    #expect(engine.statistics.refused == 4, "only those that the small one had no room for")
  }

  @Test func whatWaitsChangesItsLayoutWithTheChannels() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let first = opened(&engine, mask: "00000001", count: 4)
    deliver(0..<4, to: &engine)
    // y comes in while four samples of x wait: they have y too, since values are kept and not bytes.
    let second = opened(&engine, mask: "00000002", count: 4)
    let answer = first.ask(bytes: Array("READBUF iio:device0 32\r\n".utf8), &engine)
    #expect(answer.starts(with: Array("32\n00000003\n".utf8)))
    let numbers = (0..<8).map { answer.dropFirst(12).int32(at: 4 * $0) }
    #expect(numbers == [0, 0, 1, -1, 2, -2, 3, -3])
    // The second has only what came after it.
    deliver(4..<8, to: &engine)
    let other = second.ask(bytes: Array("READBUF iio:device0 32\r\n".utf8), &engine)
    #expect(other.dropFirst(12).int32(at: 0) == 4)
  }

  @Test func oneClientsTimeoutIsNotAnothers() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let quick = opened(&engine, count: 4)
    let slow = opened(&engine, count: 64)
    _ = slow.ask("READBUF iio:device0 1536\r\n", &engine, at: 0)
    deliver(0..<4, to: &engine)
    #expect(engine.deadline == 1_000_000_000)
    engine.advance(to: 1_000_000_000)
    #expect(slow.take(&engine) == Array("-110\n".utf8))
    #expect(quick.ask("READBUF iio:device0 96\r\n", &engine).hasPrefix("96\n0000000f\n"))
    #expect(slow.ask("READBUF iio:device0 1536\r\n", &engine) == "-9\n")
  }

  @Test func allThatWaitsTogetherIsBounded() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    var opened = 0
    for _ in 0..<100 where EngineClient(&engine).ask("OPEN iio:device0 32768 0000000f\r\n", &engine) == "0\n" {
      opened += 1
    }
    // 131072 samples of five 64-bit words each.
    #expect(opened == 12)
  }

  @Test func readsFailAfterTheTimeoutUntilReopened() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = opened(&engine)
    #expect(client.ask("TIMEOUT 1500\r\n", &engine) == "0\n")
    #expect(engine.deadline == nil)
    #expect(client.ask("READBUF iio:device0 192\r\n", &engine, at: 1_000_000_000) == "")
    #expect(engine.deadline == 2_500_000_000)
    engine.advance(to: 2_499_999_999)
    #expect(client.take(&engine).isEmpty)
    engine.advance(to: 2_500_000_000)
    #expect(client.take(&engine) == Array("-110\n".utf8))
    #expect(client.ask("READBUF iio:device0 192\r\n", &engine) == "-9\n")
    #expect(client.ask("CLOSE iio:device0\r\n", &engine) == "0\n")
    #expect(client.ask("OPEN iio:device0 8 0000000f\r\n", &engine) == "0\n")
    deliver(0..<8, to: &engine)
    #expect(client.ask("READBUF iio:device0 24\r\n", &engine).hasPrefix("24\n0000000f\n"))
  }

  @Test func aTimeoutOfZeroWaitsForEver() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = opened(&engine)
    _ = client.ask("TIMEOUT 0\r\nREADBUF iio:device0 192\r\n", &engine)
    #expect(engine.deadline == nil)
    engine.advance(to: .max)
    #expect(client.take(&engine).isEmpty)
  }

  @Test func settingsAreRefusedWhileTheBufferIsOn() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = opened(&engine)
    #expect(client.ask("SETTRIG iio:device0 trigger0\r\n", &engine) == "-16\n")
    let change = "WRITE iio:device0 current_timestamp_clock 10\r\nmonotonic\0"
    #expect(client.ask(change, &engine) == "-16\n")
    #expect(client.ask("WRITE iio:device0 INPUT accel_x sampling_frequency 3\r\n50\0", &engine) == "3\n")
    #expect(client.ask("CLOSE iio:device0\r\n", &engine) == "0\n")
    #expect(client.ask(change, &engine) == "10\n")
    #expect(client.ask("READ iio:device0 current_timestamp_clock\r\n", &engine) == "11\nmonotonic\n\0\n")
    #expect(client.ask("WRITE iio:device0 current_timestamp_clock 5\r\nsolar", &engine) == "-22\n")
  }

  @Test func buffersAreAsLargeAsTheKernelAllocates() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    // Four times the count, rounded up to a power of two, in 24 bytes each: at most 4 MiB.
    for (count, answer) in [(32768, "0\n"), (32769, "-12\n"), (100_000_000, "-22\n")] {
      #expect(client.ask("OPEN iio:device0 \(count) 0000000f\r\n", &engine) == answer)
      _ = client.ask("CLOSE iio:device0\r\n", &engine)
    }
  }

  @Test func openingNeedsATriggerAndMoreThanTheTime() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    #expect(client.ask("OPEN iio:device0 8 00000008\r\n", &engine) == "-22\n")
    #expect(client.ask("SETTRIG iio:device0\r\n", &engine) == "0\n")
    #expect(client.ask("GETTRIG iio:device0\r\n", &engine) == "-5\n")
    #expect(client.ask("OPEN iio:device0 8 0000000f\r\n", &engine) == "-22\n")
  }

  @Test func timeStampsAreOfTheClockThatIsChosen() {
    var engine = IIODEngine(
      board: EmulatorSupport.board(), clockOffsets: IIODClockOffsets(realtime: 1000, monotonic: -7, tai: 5000))
    let client = EngineClient(&engine)
    for (clock, offset) in [("realtime", 1000), ("monotonic", -7), ("boottime", 0), ("tai", 5000)] as [(String, Int64)]
    {
      let count = clock.utf8.count
      #expect(client.ask("WRITE iio:device0 current_timestamp_clock \(count)\r\n\(clock)", &engine) == "\(count)\n")
      #expect(client.ask("OPEN iio:device0 1 00000009\r\n", &engine) == "0\n")
      deliver(3..<4, to: &engine)
      let answer = client.ask(bytes: Array("READBUF iio:device0 16\r\n".utf8), &engine)
      let stamp = answer.suffix(8).int64(at: 0)
      #expect(stamp == 30_000_000 + offset)
      #expect(client.ask("CLOSE iio:device0\r\n", &engine) == "0\n")
    }
  }

  @Test func aLowerRateTakesEverySoManySamples() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    #expect(
      client.ask("READ iio:device0 INPUT accel_x sampling_frequency_available\r\n", &engine)
        == "16\n10 20 25 50 100\0\n")
    #expect(client.ask("WRITE iio:device0 INPUT accel_x sampling_frequency 3\r\n24\0", &engine) == "3\n")
    #expect(client.ask("READ iio:device0 INPUT accel_z sampling_frequency\r\n", &engine) == "10\n25.000000\0\n")
    #expect(client.ask("WRITE iio:device0 INPUT accel_x sampling_frequency 2\r\n0\0", &engine) == "-22\n")
    #expect(client.ask("WRITE iio:device0 INPUT accel_x sampling_frequency 4\r\nnan\0", &engine) == "-22\n")
    #expect(client.ask("OPEN iio:device0 2 00000001\r\n", &engine) == "0\n")
    deliver(0..<8, to: &engine)
    let answer = client.ask(bytes: Array("READBUF iio:device0 8\r\n".utf8), &engine)
    let values = [answer.suffix(8).int32(at: 0), answer.suffix(4).int32(at: 0)]
    #expect(values[1] - values[0] == 4)
  }

  @Test func rawIsTheLatestSampleAndReadOnly() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    deliver(1..<31, to: &engine)
    #expect(client.ask("READ iio:device0 INPUT accel_y raw\r\n", &engine) == "4\n-30\0\n")
    #expect(client.ask("READ iio:device0 in_accel_y_raw\r\n", &engine) == "4\n-30\0\n")
    #expect(client.ask("WRITE iio:device0 INPUT accel_y raw 2\r\n5\0", &engine) == "-22\n")
    #expect(client.ask("WRITE iio:device0 INPUT accel_y mount_matrix 2\r\n5\0", &engine) == "-13\n")
    #expect(client.ask("WRITE iio:device0 INPUT accel_y nosuch 2\r\n5\0", &engine) == "-13\n")
  }

  @Test func attributesOfTheBufferCanBeSetWhereTheKernelAllowsIt() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    let writes = [
      ("length", "16", 2), ("enable", "1", -22), ("enable", "0", 1), ("watermark", "99", -22), ("watermark", "4", 1),
      ("nosuch", "1", -13), ("direction", "1", -13), ("length", "ab", -22),
    ]
    for (name, value, answer) in writes {
      #expect(
        client.ask("WRITE iio:device0 BUFFER \(name) \(value.count)\r\n\(value)", &engine) == "\(answer)\n", "\(name)")
    }
    #expect(client.ask("READ iio:device0 BUFFER length\r\n", &engine) == "3\n16\0\n")
    _ = client.ask("OPEN iio:device0 8 0000000f\r\n", &engine)
    #expect(client.ask("WRITE iio:device0 BUFFER length 2\r\n64", &engine) == "-16\n")
  }

  @Test func faultsLookLikeThoseOfHardware() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = opened(&engine)
    engine.inject(.mute("accel_3d"), at: 0)
    _ = client.ask("READBUF iio:device0 192\r\n", &engine)
    deliver(0..<20, to: &engine)
    #expect(client.take(&engine).isEmpty)
    engine.inject(.unmute("accel_3d"), at: 0)
    deliver(20..<28, to: &engine)
    #expect(client.take(&engine).dropFirst(13).int32(at: 0) == 20)

    engine.inject(.unplug("iio:device0"), at: 0)
    let other = EngineClient(&engine)
    #expect(other.ask("READ iio:device0 INPUT accel_x raw\r\n", &engine) == "-2\n")
    #expect(other.ask("READ iio:device1 INPUT anglvel_x raw\r\n", &engine) == "2\n0\0\n")
    _ = client.ask("READBUF iio:device0 192\r\n", &engine, at: 0)
    deliver(28..<36, to: &engine)
    #expect(client.take(&engine).isEmpty)
    engine.advance(to: 1_000_000_000)
    #expect(client.take(&engine) == Array("-110\n".utf8))
    #expect(client.ask("CLOSE iio:device0\r\n", &engine) == "0\n")
    #expect(client.ask("OPEN iio:device0 8 0000000f\r\n", &engine) == "-2\n")
    engine.inject(.plug("iio:device0"), at: 0)
    #expect(client.ask("OPEN iio:device0 8 0000000f\r\n", &engine) == "0\n")

    engine.inject(.stall, at: 0)
    #expect(client.ask("VERSION\r\n", &engine) == "")
    #expect(engine.deadline == nil)
    engine.inject(.resume, at: 0)
    #expect(client.take(&engine) == Array(IIODScript.version.utf8))
    engine.inject(.cut, at: 0)
    #expect(!engine.isConnected(client.id))
  }

  @Test func aSlowClientDoesNotHoldUpAnother() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let slow = opened(&engine, count: 2048)
    let quick = opened(&engine, count: 2048)
    engine.receive(Array("READBUF iio:device0 4000000000\r\n".utf8), from: slow.id, at: 0)
    var blocks = 0
    for block in 0..<20 {
      engine.receive(Array("READBUF iio:device0 49152\r\n".utf8), from: quick.id, at: 0)
      deliver(block * 2048..<(block + 1) * 2048, to: &engine)
      let answer = quick.take(&engine)
      if answer.dropFirst(15).int32(at: 0) == Int32(block * 2048) { blocks += 1 }
    }
    #expect(blocks == 20)
    #expect(engine.statistics.refused > 0, "what the slow one has missed is counted")
    // What waits for the slow one is bounded: the limit and one block.
    #expect(engine.pendingOutput(of: slow.id) <= (64 << 10) + 49152 + 32)
  }

  @Test func exitEndsASession() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let client = EngineClient(&engine)
    #expect(client.ask("VERSION\r\n\r\nEXIT\r\nVERSION\r\n", &engine) == IIODScript.version)
    #expect(engine.isEnded(client.id))
    #expect(client.ask("VERSION\r\n", &engine) == "")
  }

  @Test func helpNamesEveryCommand() {
    var engine = IIODEngine(board: EmulatorSupport.board())
    let text = EngineClient(&engine).ask("HELP\r\n", &engine)
    for word in "HELP EXIT PRINT VERSION TIMEOUT OPEN CLOSE READ WRITE READBUF GETTRIG SETTRIG SET".split(
      separator: " ")
    {
      #expect(text.contains(word))
    }
  }
}
