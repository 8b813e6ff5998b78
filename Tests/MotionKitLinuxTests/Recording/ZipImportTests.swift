import SensorFusion
import Testing

@testable import MotionKitLinux

/// Logs in zip archives, as phones send them. The archive in the corpus holds the accelerometer and the gyroscope of half a
/// second, packed, in a folder, with notes and a Mac's leftovers beside them.
@Suite struct ZipImportTests {
  private static let archive: String = {
    var parts = #filePath.split(separator: "/")
    parts.removeLast(3)
    return "/" + parts.joined(separator: "/") + "/Corpus/zip/phone.zip"
  }()

  @Test func anArchiveIsReadAsTheFolderInIt() throws {
    let directory = TemporaryDirectory()
    let report = try importLog([Self.archive], to: directory.file("s"))
    #expect(report.sensors.map(\.kind) == [.accelerometer, .gyroscope])
    let samples = try replay(directory.file("s")).samples
    #expect(samples.count == 120)
    let first = try #require(samples.first { $0.kind == .accelerometer })
    #expect(first.z == Float(9.8191) && first.y == Float(0.0084) && first.x == 0)
    #expect(report.ignored.contains { $0.hasPrefix("Notes.txt") })
    #expect(!report.ignored.contains { $0.contains("._") })
  }

  @Test func faultsNameTheFileInTheArchive() throws {
    let entries = try ZipArchive.entries(Self.archive)
    #expect(entries.map(\.name) == ["TotalAcceleration.csv", "Gyroscope.csv", "Notes.txt"])
    let reader = try LineReader(path: entries[1].path)
    #expect(try reader.next()?.text == "time,seconds_elapsed,z,y,x")
    #expect(reader.place(ofLine: 2).path.hasSuffix("phone.zip/2024-01-01_00-00-00/Gyroscope.csv"))
    #expect(throws: MotionKitError.self) { _ = try LineReader(path: Self.archive + "/nothing.csv") }
  }

  /// Cut or changed anywhere: an error or what can be read of it, and never a crash.
  @Test func damagedArchivesAreRefusedOrReadInPart() throws {
    let directory = TemporaryDirectory()
    let whole = readFile(Self.archive)
    var refused = ["cut": 0, "changed": 0]
    var cuts = 0
    for index in stride(from: 0, to: whole.count, by: 7) {
      var changed = whole
      changed[index] ^= 0x55
      // Where it is cut matters less than what is changed.
      for (name, bytes) in [("cut", Array(whole[..<index])), ("changed", changed)].suffix(index % 5 == 0 ? 2 : 1) {
        cuts += name == "cut" ? 1 : 0
        let path = directory.file("\(name)\(index).zip")
        writeFile(path, bytes)
        var importer = Importer(options: ImportOptions())
        do { try importer.read([path]) } catch { refused[name]? += 1 }
        #expect(importer.samples.count <= 120)
      }
    }
    // Its table stands at the end.
    #expect(refused["cut"] == cuts && cuts > 20)
    #expect(refused["changed"] ?? 0 > 5)
  }

  @Test func aDamagedFileInAnArchiveIsTold() throws {
    let directory = TemporaryDirectory()
    let bytes = readFile(Self.archive)
    let list = try #require(bytes.indices.dropLast(3).first { Array(bytes[$0..<($0 + 4)]) == [0x50, 0x4B, 1, 2] })
    // The check sum in the list of files, and a packed byte of the first file.
    for place in [list + 16, 200] {
      var changed = bytes
      changed[place] ^= 1
      writeFile(directory.file("x.zip"), changed)
      let entries = try ZipArchive.entries(directory.file("x.zip"))
      let entry = try #require(entries.first)
      let reader = try LineReader(path: entry.path)
      while try reader.next() != nil {}
      #expect(reader.isMediumDamaged)
    }
  }
}

/// Tables in which a sensor's columns hold nothing.
@Suite struct EmptyColumnTests {
  @Test func aColumnWithoutAnyValueIsLeftOut() throws {
    let directory = TemporaryDirectory()
    let rows = (0..<50).map { "\($0).0,0.1,0.2,9.81,0.01,0.02,0.03,\n" }
    writeFile(directory.file("x.csv"), "t_s,ax,ay,az,gx,gy,gz,p_pa\n" + rows.joined())
    var importer = Importer(options: ImportOptions())
    try importer.read([directory.file("x.csv")])
    #expect(importer.report.sensors.map(\.kind) == [.accelerometer, .gyroscope])
    #expect(importer.report.ignored.contains { $0.contains("p_pa") })
  }
}
