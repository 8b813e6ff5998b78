import Foundation
import Testing

/// Inputs that fuzzing began with, and all that ever went wrong.
@Suite struct CorpusTests {
  @Test(arguments: FuzzTarget.allCases) func everyInputOfTheCorpusHoldsItsPromises(target: FuzzTarget) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let folder = tests.appendingPathComponent("Corpus/\(target.rawValue)")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      #expect(throws: Never.self, "\(file.lastPathComponent)") { try target.feed(bytes) }
    }
  }
}
