import SensorFusion
import Testing

@testable import MotionKitLinux

/// Recordings with a file that was cut or destroyed after they were closed: the whole of it, or any part, is named.
@Suite struct DamageTests {
  private let directory = TemporaryDirectory()
  private var walk: String { directory.file("walk") }

  /// Files by name: the first nine seconds of recordings/walk, recorded anew. Every file has rows in them. Checked
  /// once, here, for all tests.
  private static let original = Result { () throws -> [String: [UInt8]] in
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let directory = TemporaryDirectory()
    let info = try SessionReader(directory: "/" + root + "/recordings/walk").info
    let samples = try replay("/" + root + "/recordings/walk").samples
    let begin = try #require(samples.first?.time)
    var pipeline = MotionPipeline(configuration: info.pipeline)
    var processed = batch(samples.filter { $0.time.seconds(since: begin) < 9 })
    processed.process(with: &pipeline)
    let writer = try SessionWriter.manual(directory.file("walk"), info: info)
    try writer.consume(processed)
    try writer.finish(counters: pipeline.counters)
    let check = try checkSession(directory.file("walk"))
    #expect(check.isSound, "\(check.problems)")
    #expect(SessionFile.derived.allSatisfy { check.info.closing?.rows[$0] ?? 0 > 0 })
    let names = try SystemFileLayer().list(directory.file("walk"))
    return Dictionary(uniqueKeysWithValues: names.map { ($0, readFile(directory.file("walk/" + $0))) })
  }

  init() throws {
    try SystemFileLayer().createDirectory(directory.file("walk"))
    for (name, bytes) in try Self.original.get() { writeFile(directory.file("walk/" + name), bytes) }
  }

  private func damage(_ file: SessionFile, _ change: (inout [UInt8]) -> Void) {
    let path = walk + "/" + file.fileName
    var bytes = readFile(path)
    change(&bytes)
    writeFile(path, bytes)
  }

  /// How a file is damaged.
  enum Damage: CaseIterable {
    case cutInALine, cutAfterALine, header, empty, overwritten

    func apply(_ bytes: inout [UInt8]) {
      switch self {
      case .cutInALine:
        bytes.removeLast(bytes.count / 2)
        if bytes.last == 0x0A { bytes.removeLast() }
      case .cutAfterALine:
        bytes.removeLast()
        while bytes.last != 0x0A { bytes.removeLast() }
      case .header: bytes.removeLast(bytes.count - 1 - (bytes.firstIndex(of: 0x0A) ?? 0))
      case .empty: bytes.removeAll()
      case .overwritten: bytes = Array(repeating: 0, count: bytes.count)
      }
    }
  }

  @Test(arguments: SessionFile.derived, Damage.allCases)
  func rowsMissingFromAComputedFileAreAFault(file: SessionFile, damage kind: Damage) throws {
    let told = try #require(try SessionReader(directory: walk).info.closing?.rows[file])
    damage(file, kind.apply)
    let check = try checkSession(walk)
    let note = check.report.entries.first { $0.finding == .fewerRows && $0.file == file.fileName }
    #expect(note?.detail.contains(" of \(told),") == true, "\(check.problems)")
    #expect(!check.isSound)
    // A cut within the first rows leaves nothing, or what is left is compared and found short.
    #expect(check.verification?.isIdentical == false)
    // A crash leaves a recording like this.
    var info = readText(walk + "/session.json")
    let closing = try #require(info.range(of: ",\n  \"closing\""))
    info = info[..<closing.lowerBound] + "\n}\n"
    writeFile(walk + "/session.json", info)
    let cut = try checkSession(walk)
    #expect(cut.verification?.isIdentical == true)
    #expect(cut.report.count(.fewerRows) == 0)
  }

  @Test func aComputedFileThatIsGoneIsNamed() throws {
    for file in SessionFile.derived { TemporaryDirectory.remove(walk + "/" + file.fileName) }
    let check = try checkSession(walk)
    #expect(check.report.count(.missingFile) == 4 && !check.isSound)
  }

  @Test(arguments: SessionFile.raw.dropLast(), Damage.allCases)
  func rowsMissingFromASensorsFileAreAFault(file: SessionFile, damage kind: Damage) throws {
    damage(file, kind.apply)
    let check = try checkSession(walk)
    #expect(check.report.entries.contains { $0.finding == .fewerRows && $0.file == file.fileName })
    #expect(!check.isSound)
  }

  @Test(arguments: [
    (SessionFile.magnetometer, "foo,bar\n1,2\n"), (.barometer, "\u{1}\u{FFFD}\u{7F},\u{1B}[2J\n\u{2}\n"),
    (.gyroscope, String(repeating: "\0", count: 4096) + "1,2,3\n1000.5,1,2,3\n"),
    (.magnetometer, "timestamp_s,x_uT,y_uT,z_uT\n1,2\n"), (.events, "foo,bar\n"),
    (.events, "timestamp_s,event,detail\n\0,mark,x\nabc,mark,x\n"),
  ])
  func aRepairLeavesOutAFileThatCannotBeReadAndCopiesTheOthers(file: SessionFile, text: String) throws {
    let told = try #require(try SessionReader(directory: walk).info.closing?.rows)
    damage(file) { $0 = Array(text.utf8) }
    let problems = try checkSession(walk).problems
    let named = try #require(problems.first { $0.contains(file.fileName) })
    for line in problems {
      #expect(line.count < 300 && !line.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
    #expect(named.hasPrefix(file.fileName))
    try repairSession(walk, to: directory.file("copy"))
    let copy = try checkSession(directory.file("copy"))
    for kind in [SensorKind.accelerometer, .gyroscope, .magnetometer, .barometer] {
      #expect((copy.rows[kind] ?? 0) == (SessionFile(kind) == file ? 0 : told[SessionFile(kind)]), "\(kind)")
    }
    #expect(copy.verification?.isIdentical == true, "\(copy.problems)")
  }

  @Test func whatAMessageQuotesIsShortAndPrintable() {
    #expect(CSVText.shown("a b,ö") == "a b,ö")
    #expect(CSVText.shown("a\0\u{1B}[b") == "a\u{FFFD}\u{FFFD}[b")
    #expect(CSVText.shown(String(repeating: "x", count: 5000)) == String(repeating: "x", count: 60) + "…")
  }
}
