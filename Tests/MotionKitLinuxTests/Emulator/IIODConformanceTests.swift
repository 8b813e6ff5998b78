import Foundation
import Glibc
import MotionKitLinux
import SensorFusion
import Testing

/// The same scripts against Debian's iiod, over a file tree made from the same board, and against the emulator.
///
/// iiod runs in a mount namespace of its own, where the tree takes the place of /sys/bus and FIFOs that of the devices.
@Suite(.enabled(if: RealIIOD.isAvailable, "needs iiod 0.24 and the right to make a mount namespace"), .serialized)
struct IIODConformanceTests {
  @Test func scriptsGetTheSameAnswers() throws {
    let board = EmulatorSupport.board()
    let real = try RealIIOD(board: board)
    defer { real.stop() }
    let server = try IIODServer(board: board)
    defer { server.stop() }
    var compared = 0
    for script in IIODScript.all {
      let ours = try TestConnection(port: server.port)
      let theirs = try TestConnection(port: real.port)
      for step in script.steps {
        // The end of an answer is known by the answer to one more command.
        let sync =
          step.send.hasSuffix("\n") || step.send.contains("\0") || step.send.contains("\r\n")
          ? "READ iio:device1 name\r\n" : ""
        let expected = try ours.ask(step.send + sync, until: sync.isEmpty ? "" : "8\ngyro_3d\0\n")
        // Several answers are told apart from the last by their length.
        let count = step.send.split(separator: "\n").count > 1 ? expected.count : 0
        func askReal() throws -> [UInt8] {
          try theirs.ask(step.send + sync, until: sync.isEmpty ? "" : "8\ngyro_3d\0\n", count: count)
        }
        var answer = try askReal()
        // iiod changes the buffer's files some time after its answer to OPEN and CLOSE, and they are empty in between.
        for _ in 0..<400 where step.send.contains(" BUFFER ") && answer != expected {
          usleep(5000)
          answer = try askReal()
        }
        let real = Self.comparable(answer, to: step.send)
        let own = Self.comparable(expected, to: step.send)
        // From where the two differ on.
        let place = max(0, zip(real, own).prefix { $0 == $1 }.count - 20)
        #expect(
          real == own,
          """
          \(script.name): to \(step.send.debugDescription) iiod answers …\(text(Array(real.dropFirst(place)))), \
          we …\(text(Array(own.dropFirst(place))))
          """)
        compared += 1
      }
    }
    #expect(compared > 140)
  }

  @Test func buffersGiveTheSameBytes() throws {
    let board = EmulatorSupport.board()
    let real = try RealIIOD(board: board)
    defer { real.stop() }
    let server = try IIODServer(board: board)
    defer { server.stop() }
    let ours = try TestConnection(port: server.port)
    let theirs = try TestConnection(port: real.port)
    for connection in [ours, theirs] {
      #expect(try connection.ask("TIMEOUT 5000\r\n", count: 2) == Array("0\n".utf8))
      #expect(try connection.ask("OPEN iio:device0 8 0000000f\r\n", count: 2) == Array("0\n".utf8))
    }
    var next = 0
    for command in [
      "READBUF iio:device0 192", "READBUF iio:device0 24", "READBUF iio:device0 195", "READBUF iio:device0 400",
    ] {
      // Enough for three blocks, and no more than the pipe of the FIFO takes at once.
      let samples = (next..<next + 24).map { EmulatorSupport.accelerometer($0, -$0, 3 * $0, milliseconds: 10 * $0) }
      next += 24
      try real.feed(samples.flatMap(Self.bytes))
      server.deliver(samples)
      let expected = try ours.ask(command + "\r\nVERSION\r\n", until: IIODScript.version)
      let answer = try theirs.ask(command + "\r\nVERSION\r\n", until: IIODScript.version, count: expected.count)
      #expect(answer == expected, "\(command)")
      // What is left is dropped by closing, so that both begin the next round with nothing.
      for connection in [ours, theirs] {
        #expect(try connection.ask("CLOSE iio:device0\r\n", count: 2) == Array("0\n".utf8))
      }
      real.drain()
      for connection in [ours, theirs] {
        #expect(try connection.ask("OPEN iio:device0 8 0000000f\r\n", count: 2) == Array("0\n".utf8))
      }
    }
  }

  /// The whole sample of the accelerometer as the kernel lays it out.
  private static func bytes(of sample: SensorSample) -> [UInt8] {
    var result: [UInt8] = []
    for value in [sample.x, sample.y, sample.z] {
      let count = Int32((Double(value) / 0.000980665).rounded())
      withUnsafeBytes(of: count.littleEndian) { result.append(contentsOf: $0) }
    }
    result.append(contentsOf: [0, 0, 0, 0])
    withUnsafeBytes(of: sample.time.nanoseconds.littleEndian) { result.append(contentsOf: $0) }
    return result
  }

  /// What has to be equal in an answer: of the XML the devices, of group reads all but what fills them up to four bytes.
  private static func comparable(_ answer: [UInt8], to command: String) -> [UInt8] {
    if command == "PRINT\r\n" {
      let text = String(decoding: answer, as: UTF8.self)
      guard let start = text.range(of: "<device id"), let type = text.range(of: "<!DOCTYPE") else { return answer }
      let head = text[type.lowerBound...].prefix { $0 != "]" }
      return Array((head + text[start.lowerBound...]).utf8)
    }
    let words = command.split(whereSeparator: { " \r\n".contains($0) })
    let isGroup =
      words.first == "READ" && (words.count == 2 || words.last == "BUFFER" || (words.count == 4 && words[2] == "INPUT"))
    guard isGroup, answer.count > 5, let end = answer.firstIndex(of: 10) else { return answer }
    var bytes = answer
    var place = end + 1
    while place + 4 <= bytes.count, let length = Optional(bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }),
      length > 0, length < 4096
    {
      place += 4 + length
      while (place - end - 1) % 4 != 0, place < bytes.count {
        bytes[place] = 0
        place += 1
      }
    }
    return bytes
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(200), as: UTF8.self).debugDescription }
}
