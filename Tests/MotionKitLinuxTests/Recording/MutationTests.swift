import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// The directory of the seeds beside this target.
private let tests: String = {
  var parts = #filePath.split(separator: "/")
  parts.removeLast(3)
  return "/" + parts.joined(separator: "/")
}()

/// How many mutants a test reads: few in the quick tests, any number with MOTIONKIT_MUTANTS.
private let mutants = getenv("MOTIONKIT_MUTANTS").flatMap { Int(String(cString: $0)) } ?? 400

/// Changes files as crashes, editors, other programs and malice do.
private struct Mutator {
  var generator: SeededGenerator
  let seeds: [[UInt8]]

  private static let words = [
    "NaN", "Inf", "-", "1e999", "-1e-999", "9223372036854775808", "18446744073709551616", "0x10", "\"", "\"\"\"",
    "\r\n",
    "\n\n", ",", ",,", ";", "\u{FEFF}", "\0", "é", "1e", "1e+", ".", "..", "+-1", "999999999999999999999999.9", "{",
    "}",
    "[", "]", ":", "null", "true", "-0", "\\u0000", "\\ud800",
  ].map { Array($0.utf8) }

  mutating func next() -> [UInt8] {
    var bytes = seeds.randomElement(using: &generator) ?? []
    for _ in 0..<Int.random(in: 1...6, using: &generator) { change(&bytes) }
    return bytes
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = Int.random(in: 0...bytes.count, using: &generator)
    let end = min(bytes.count, place + Int.random(in: 0...40, using: &generator))
    switch Int.random(in: 0..<9, using: &generator) {
    case 0: bytes.removeSubrange(place..<end)
    case 1: bytes.removeSubrange(place...)
    case 2: bytes.insert(contentsOf: Self.words.randomElement(using: &generator) ?? [], at: place)
    case 3: bytes.replaceSubrange(place..<end, with: Self.words.randomElement(using: &generator) ?? [])
    case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 5: for index in place..<end { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
    case 6: if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator) }
    case 7:
      let other = seeds.randomElement(using: &generator) ?? []
      let from = Int.random(in: 0...other.count, using: &generator)
      bytes.replaceSubrange(place..., with: other[from...])
    default:
      // A line to another place.
      let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
      guard let one = lines.randomElement(using: &generator) else { return }
      bytes.insert(contentsOf: one + [0x0A], at: place)
    }
  }
}

private func seeds(_ directory: String) throws -> [[UInt8]] {
  try SystemFileLayer().list(directory).map { readFile(directory + "/" + $0) }
}

/// Whatever stands in a file: no crash, no endless loop, and no row that is neither delivered nor counted.
///
/// The mutants are the same in every run. A mutant that once went wrong becomes a file in Tests/Corpus, where each test
/// reads it as it is, too.
@Suite struct MutationTests {
  private func inputs(_ seeds: [[UInt8]], seed: UInt64) -> [[UInt8]] {
    var mutator = Mutator(generator: SeededGenerator(seed), seeds: seeds)
    return seeds + (0..<mutants).map { _ in mutator.next() }
  }

  @Test(arguments: SensorKind.allCases) func everyRowIsDeliveredOrCounted(kind: SensorKind) throws {
    for bytes in try inputs(seeds(tests + "/Corpus/csv"), seed: UInt64(kind.rawValue) + 1) {
      // The header of this kind, so that rows are read at all.
      let text = Array((SessionFile(kind).header + "\n").utf8) + bytes
      let lines = LineReader(path: "x.csv", source: MemoryBytes(text), capacity: 512)
      let reader = try SampleFileReader(kind, lines: lines, skipsBadRows: true)
      var delivered: Int64 = 0
      var newest = Timestamp(nanoseconds: .min)
      do {
        while let sample = try reader.next() {
          #expect(sample.time >= newest)
          newest = sample.time
          delivered += 1
        }
      } catch {
        // Rows, but none that fits the header.
        #expect(delivered == 0)
        continue
      }
      let dropped = [
        ReadReport.Finding.damagedLine, .wrongWidth, .blankRow, .badRow, .blankCell, .backward, .ahead,
      ].reduce(0) { $0 + reader.report.count($1) }
      let all = Int64(text.count { $0 == 0x0A }) - 1
      #expect(delivered == reader.rows && delivered + dropped == all, "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test func fastAndCarefulReadersAgree() throws {
    for bytes in try inputs(seeds(tests + "/Corpus/csv"), seed: 11) {
      func read(_ header: String, _ capacity: Int) throws -> [SensorSample] {
        let text = Array((header + "\n").utf8) + bytes
        let lines = LineReader(path: "x.csv", source: MemoryBytes(text), capacity: capacity)
        let reader = try SampleFileReader(.gyroscope, lines: lines, skipsBadRows: true)
        var samples: [SensorSample] = []
        while let sample = try? reader.next() { samples.append(sample) }
        return samples
      }
      // CR LF behind the header or a small buffer must not change what is read.
      let header = SessionFile.gyroscope.header
      #expect(sameBits(try read(header, 4096), try read(header, 1 << 18)))
    }
  }

  @Test func aHeaderMayBeAnything() throws {
    for bytes in try inputs(seeds(tests + "/Corpus/csv"), seed: 12) {
      let lines = LineReader(path: "x.csv", source: MemoryBytes(bytes))
      guard let reader = try? SampleFileReader(.accelerometer, lines: lines, skipsBadRows: true) else { continue }
      while (try? reader.next()) != nil {}
    }
  }

  @Test func eventsMayBeAnything() throws {
    for bytes in try inputs(seeds(tests + "/Corpus/events"), seed: 13) {
      let lines = LineReader(path: "events.csv", source: MemoryBytes(bytes))
      guard let reader = try? EventFileReader(lines: lines) else { continue }
      var count = 0
      while (try? reader.next()) != nil { count += 1 }
      #expect(count <= bytes.count)
    }
  }

  @Test func sessionInfoMayBeAnything() throws {
    for bytes in try inputs(seeds(tests + "/Corpus/json"), seed: 14) {
      var missing: [String] = []
      let info = try? bytes.withTypedUnsafeBytes { (text) throws(MotionKitError) in
        try SessionInfo(json: text, path: "session.json", missing: &missing)
      }
      guard let info else { continue }
      // What was read can be written and reads back as the same.
      let again = Array(info.jsonText().utf8)
      let copy = try again.withTypedUnsafeBytes { (text) throws(MotionKitError) in
        try SessionInfo(json: text, path: "session.json", missing: &missing)
      }
      #expect(copy.jsonText() == info.jsonText())
    }
  }

  @Test func logsOfOtherProgramsMayBeAnything() throws {
    let directory = TemporaryDirectory()
    let logs = try seeds(tests + "/Corpus/import")
    var options = ImportOptions()
    options.rate = 100
    for (index, bytes) in inputs(logs, seed: 15).enumerated() {
      let path = directory.file("log.csv")
      writeFile(path, bytes)
      var importer = Importer(options: index % 2 == 0 ? ImportOptions() : options)
      try? importer.read([path])
      #expect(importer.samples.count <= 3 * bytes.count + 1)
    }
  }

  @Test func compressedFilesMayBeAnything() throws {
    let directory = TemporaryDirectory()
    let packer = try #require(ZstdPacker())
    let packed = RowBuffer()
    let text = try seeds(tests + "/Corpus/csv").joined()
    Array(text).withUnsafeBytes { packer.pack($0, into: packed, isLast: false) }
    Array(text).withUnsafeBytes { packer.pack($0, into: packed, isLast: true) }
    for bytes in inputs([Array(packed.bytes)], seed: 16) {
      writeFile(directory.file("x.csv.zst"), bytes)
      let lines = try LineReader(path: directory.file("x.csv.zst"))
      while (try? lines.next()) != nil {}
    }
  }
}
