import Glibc

/// Where the files of a session are: in its directory, or in the directories of its parts.
struct SessionDirectory {
  let path: String
  /// The directories that hold the files, in order.
  let parts: [String]
  /// The names in each of them.
  private let names: [Set<String>]

  /// The names of the directories of parts that are not there though a later one is.
  let missingParts: [String]

  /// Whether the session was recorded in parts and this is all of them.
  var isRotated: Bool { parts != [path] }

  /// - Throws: `MotionKitError.notFound` if there is no such directory or no session in it.
  init(_ path: String) throws(MotionKitError) {
    self.path = path
    let own: [String]
    do { own = try SystemFileLayer().list(path) } catch {
      if error.errno == ENOENT || error.errno == ENOTDIR {
        throw .notFound(
          what: "the session '\(path)'",
          hint: error.errno == ENOTDIR
            ? "it is a file; a session is a directory with session.json and CSV files (import reads other files)"
            : "check the path; record makes sessions")
      }
      throw .file(path, error)
    }
    if Self.isSession(own) {
      (parts, names) = ([path], [Set(own)])
      missingParts = []
      return
    }
    let numbered = own.compactMap { name in Self.number(name).map { (number: $0, name: name) } }
    let found = numbered.sorted { $0.number < $1.number }.compactMap { part in
      let directory = path + "/" + part.name
      return (try? SystemFileLayer().list(directory)).map { (directory, Set($0)) }
    }.filter { Self.isSession($0.1) }
    guard !found.isEmpty else {
      throw .notFound(
        what: "a session in '\(path)'",
        hint: "it has neither session.json nor a raw file such as accelerometer.csv; import reads other programs' logs")
    }
    (parts, names) = (found.map { $0.0 }, found.map { $0.1 })
    let there = Set(found.map { $0.0 })
    // A number of many digits is nobody's part: what is named stays short.
    let last = min(numbered.map { $0.number }.max() ?? 0, found.count + Self.mostMissing)
    missingParts = last > 0 ? (1...last).map(Self.partName).filter { !there.contains(path + "/" + $0) } : []
  }

  /// Missing parts that are named at most.
  private static let mostMissing = 100

  private static func isSession(_ names: some Sequence<String>) -> Bool {
    let own = Set(["session.json"] + SessionFile.raw.flatMap { [$0.fileName, $0.packedName] })
    return names.contains { own.contains($0) }
  }

  /// The name of the directory of a part, from 1.
  static func partName(_ number: Int) -> String {
    let digits = String(number)
    return "part-" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static func number(_ name: String) -> Int? {
    guard name.hasPrefix("part-"), let number = Int(name.dropFirst(5)), partName(number) == name else { return nil }
    return number
  }

  /// Whether there is such a file.
  func has(_ file: SessionFile) -> Bool { !paths(file).isEmpty }

  /// The paths of a file, packed or not, in all parts that have it.
  private func paths(_ file: SessionFile) -> [String] {
    zip(parts, names).compactMap { part, names in
      [file.fileName, file.packedName].first { names.contains($0) }.map { part + "/" + $0 }
    }
  }

  /// The lines of a file, over all parts.
  func lines(_ file: SessionFile) throws(MotionKitError) -> LineReader {
    let there = paths(file)
    guard isRotated else { return try LineReader(path: there.first ?? path + "/" + file.fileName) }
    return LineReader(path: path + "/" + file.fileName, source: ChainedBytes(there, below: path))
  }

  /// The paths of the session.json files that are there, with their names below the session's directory.
  var infoFiles: [(path: String, name: String)] {
    zip(parts, names).filter { $0.1.contains("session.json") }.map { part, _ in
      let file = part + "/session.json"
      return (file, String(file.dropFirst(path.count + 1)))
    }
  }
}

/// The bytes of one CSV file that was recorded in parts: the header of each part but the first is left out, a last
/// line without an end is marked as damaged.
final class ChainedBytes: ByteSource {
  /// What one part has given.
  private struct Piece {
    var path: String
    /// Lines given out before its first one.
    var before = 0
    /// Lines left out at its beginning.
    var skipped = 0
  }

  private var rest: ArraySlice<String>
  private let directory: String
  private var current: (any ByteSource)?
  private var pieces: [Piece] = []
  private var isSkipping = false
  private var linesGiven = 0
  private var lastByte = UInt8(ascii: "\n")
  /// Bytes to give before the next part.
  private var mark: [UInt8] = []
  private var finished = WorkProgress()

  init(_ paths: [String], below directory: String) {
    rest = paths[...]
    self.directory = directory
    for path in paths {
      var status = stat()
      if stat(path, &status) == 0 { size += Int64(status.st_size) }
    }
  }

  private var size: Int64 = 0
  private(set) var isDamaged = false

  var progress: WorkProgress { WorkProgress(done: finished.done + (current?.progress.done ?? 0), total: size) }

  func read(into room: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    while true {
      if let byte = mark.first, let first = room.first {
        _ = first
        room[0] = byte
        mark.removeFirst()
        return given(room, 1)
      }
      guard let source = current else {
        guard let path = rest.popFirst() else { return 0 }
        current = try openText(path)
        isSkipping = !pieces.isEmpty
        pieces.append(Piece(path: path, before: linesGiven, skipped: isSkipping ? 1 : 0))
        continue
      }
      var count = try source.read(into: room)
      if count == 0 {
        finished = finished + source.progress
        isDamaged = isDamaged || source.isDamaged
        current = nil
        // A last line without an end: a NUL tells the reader not to trust it.
        if lastByte != UInt8(ascii: "\n"), !rest.isEmpty { mark = [0, UInt8(ascii: "\n")] }
        continue
      }
      if isSkipping {
        guard let end = room[..<count].firstIndex(of: UInt8(ascii: "\n")) else { continue }
        isSkipping = false
        count -= end + 1
        if count == 0 { continue }
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: room[(end + 1)..<(end + 1 + count)]))
      }
      return given(room, count)
    }
  }

  private func given(_ room: UnsafeMutableRawBufferPointer, _ count: Int) -> Int {
    linesGiven += room[..<count].count { $0 == UInt8(ascii: "\n") }
    lastByte = room[count - 1]
    return count
  }

  func place(ofLine line: Int) -> TextPlace? {
    guard let piece = pieces.last(where: { $0.before < line }) else { return nil }
    return TextPlace(
      path: piece.path, name: String(piece.path.dropFirst(directory.count + 1)),
      line: line - piece.before + piece.skipped)
  }
}
