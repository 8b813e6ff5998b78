import SensorFusion
import Testing

@testable import MotionKitLinux

/// Long files are read ahead by threads of their own: what comes out is what one thread reads.
@Suite struct SampleStreamTests {
  /// Enough rows that most of them are read ahead.
  private static let rows = 20_000

  private func rows(of kind: SensorKind, count: Int, seed: UInt64) -> String {
    var generator = SeededGenerator(seed)
    let buffer = RowBuffer()
    var time: Int64 = 0
    for _ in 0..<count {
      time += Int64.random(in: 0...2_000_000, using: &generator)
      func value() -> Float { Float.random(in: -20...20, using: &generator) }
      buffer.append(
        row: SensorSample(time: Timestamp(nanoseconds: time), kind: kind, x: value(), y: value(), z: value()))
    }
    return SessionFile(kind).header + "\n" + String(decoding: buffer.bytes, as: UTF8.self)
  }

  private func read(_ text: String, _ kind: SensorKind) throws -> ([SensorSample], ReadReport) {
    let reader = try SampleFileReader(kind, lines: LineReader(path: "x.csv", source: MemoryBytes(Array(text.utf8))))
    var samples: [SensorSample] = []
    while let sample = try reader.next() { samples.append(sample) }
    return (samples, reader.report)
  }

  /// A session of two long files, in which some rows are torn, blank or far ahead.
  private func session(_ directory: TemporaryDirectory) -> [SensorKind: String] {
    var texts: [SensorKind: String] = [:]
    for (kind, count) in [(SensorKind.accelerometer, Self.rows), (.gyroscope, Self.rows / 3)] {
      var lines = rows(of: kind, count: count, seed: UInt64(kind.rawValue) + 1)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      for index in stride(from: 1000, to: lines.count - 10, by: 1777) {
        lines[index] = ["", "1,2", "\"99999.5\",1,2,3", "+" + lines[index]][index / 1777 % 4]
      }
      texts[kind] = lines.joined(separator: "\n")
      writeFile(directory.file(SessionFile(kind).fileName), texts[kind] ?? "")
    }
    return texts
  }

  @Test func longFilesReadTheSameAheadAsAlone() throws {
    let directory = TemporaryDirectory()
    let texts = session(directory)
    let reader = try SessionReader(directory: directory.path)
    var samples: [SensorSample] = []
    while try reader.read(into: &samples, atMost: 700) {}
    #expect(samples.count > Self.rows)
    for (earlier, later) in zip(samples, samples.dropFirst()) {
      #expect((earlier.time, earlier.kind) <= (later.time, later.kind))
    }
    for (kind, text) in texts {
      let (alone, report) = try read(text, kind)
      #expect(sameBits(samples.filter { $0.kind == kind }, alone))
      for entry in report.entries {
        let ahead = reader.report.entries.first {
          $0.file == SessionFile(kind).fileName && $0.finding == entry.finding
        }
        #expect(ahead?.count == entry.count && ahead?.firstLine == entry.firstLine, "\(entry)")
      }
      #expect(!report.entries.isEmpty)
    }
    #expect(try !reader.read(into: &samples, atMost: 1))
    let progress = reader.progress
    #expect(progress.done == progress.total)
  }

  @Test func aFaultReadAheadComesBehindEveryRowBeforeIt() throws {
    let directory = TemporaryDirectory()
    let texts = session(directory)
    let place = Self.rows * 3 / 4
    var lines = (texts[.accelerometer] ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines[place] = "x,1,2,3"
    writeFile(directory.file("accelerometer.csv"), lines.joined(separator: "\n"))
    let (expected, _) = try read(lines[..<place].joined(separator: "\n") + "\n", .accelerometer)
    let reader = try SessionReader(directory: directory.path)
    var samples: [SensorSample] = []
    #expect {
      while try reader.read(into: &samples, atMost: 512) {}
    } throws: { error in
      guard case .invalidFile(_, place + 1, 1, _) = error as? MotionKitError else { return false }
      return true
    }
    #expect(sameBits(samples.filter { $0.kind == .accelerometer }, expected))
  }

  /// A reader that is let go in the middle ends its threads; one that waits for nobody would hang here.
  @Test func aReaderMayBeLetGoAnywhere() throws {
    let directory = TemporaryDirectory()
    _ = session(directory)
    for count in [0, 1, 4 * 1024, 5 * 1024, 9 * 1024, 15_000] {
      let reader = try SessionReader(directory: directory.path)
      var samples: [SensorSample] = []
      for _ in 0..<count where !(try reader.read(into: &samples, atMost: 1)) { break }
      #expect(samples.count == count)
    }
  }
}
