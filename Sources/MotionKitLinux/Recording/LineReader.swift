import Glibc

/// Where bytes come from: a file, an unpacked file, a test.
protocol ByteSource: AnyObject {
  /// Fills `room` as far as it can; 0 at the end.
  func read(into room: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int
  /// Bytes of the medium read so far, and all there are: for a progress bar.
  var progress: WorkProgress { get }
  /// Where a line of the whole text really stands; nil where the text is one file.
  func place(ofLine line: Int) -> TextPlace?
  /// Whether the text ends where its medium could not be understood any more.
  var isDamaged: Bool { get }
  /// Of a damaged medium with checksums: the first line that none of them vouches for; nil where that is not known.
  var firstDoubtfulLine: Int? { get }
}

extension ByteSource {
  func place(ofLine line: Int) -> TextPlace? { nil }
  var isDamaged: Bool { false }
  var firstDoubtfulLine: Int? { nil }
}

/// The text of a file, packed or not, or of one in a zip archive.
func openText(_ path: String) throws(FileFault) -> any ByteSource {
  if path.hasSuffix(".zst") { return try ZstdBytes(path: path) }
  if let (archive, name) = ZipArchive.split(path) { return try ZipBytes(archive: archive, name: name) }
  return try FileBytes(path: path)
}

/// A line of a file.
struct TextPlace {
  var path: String
  /// The file's name below the session's directory.
  var name: String
  /// 1-based.
  var line: Int
}

/// How far a piece of work is.
public struct WorkProgress: Hashable, Sendable {
  /// Bytes of the files that have been worked through; a file that is read twice counts twice.
  public var done: Int64 = 0
  /// Bytes there are to work through.
  public var total: Int64 = 0

  /// Nothing of nothing.
  public init() {}

  init(done: Int64, total: Int64) {
    self.done = done
    self.total = total
  }

  /// Samples from one report to the next.
  static let interval: Int64 = 8192

  /// How far it is, from 0 to 1.
  public var share: Double { total > 0 ? min(1, max(0, Double(done) / Double(total))) : 0 }

  static func + (a: WorkProgress, b: WorkProgress) -> WorkProgress {
    WorkProgress(done: a.done + b.done, total: a.total + b.total)
  }
}

/// The bytes of a file of any size.
final class FileBytes: ByteSource {
  private let descriptor: Int32
  private(set) var progress = WorkProgress()

  init(path: String) throws(FileFault) {
    // Opening a pipe that nobody writes to would otherwise wait for ever.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { throw FileFault(errno: errno) }
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    let type = isKnown ? status.st_mode & S_IFMT : S_IFREG
    if type != S_IFREG {
      // All is initialised: deinit closes it. Only a file can be looked at again and again, and has an end.
      throw FileFault(errno: type == S_IFDIR ? EISDIR : ESPIPE)
    }
    if isKnown { progress.total = Int64(status.st_size) }
    _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    while true {
      let count = Glibc.read(descriptor, room.baseAddress, room.count)
      if count >= 0 {
        progress.done += Int64(count)
        return count
      }
      if errno != EINTR { throw FileFault(errno: errno) }
    }
  }
}

/// Bytes that are in memory.
final class MemoryBytes: ByteSource {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var progress: WorkProgress { WorkProgress(done: Int64(position), total: Int64(bytes.count)) }

  func read(into room: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    let count = min(room.count, bytes.count - position)
    room.copyBytes(from: bytes[position..<(position + count)])
    position += count
    return count
  }
}

/// One line of a text file, without its end. Valid until the next line is read.
struct TextLine {
  var start: UnsafePointer<UInt8>
  /// Behind the last byte (a CR before the line's end is not part of the line). The byte here is a line end.
  var end: UnsafePointer<UInt8>
  /// 1-based.
  var number: Int
  /// Whether the line holds NUL bytes or is longer than any row can be: what is left of it is not to be trusted.
  var isDamaged: Bool

  var count: Int { end - start }
  var text: String { String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }

  /// Whether it holds nothing but spaces.
  var isBlank: Bool {
    UnsafeBufferPointer(start: start, count: count).allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
  }
}

/// Reads a text of any size line by line in bounded memory. A byte order mark is skipped, CR LF is one line end. A last
/// line without an end is never a line: it may have been cut anywhere, even where what is left looks whole.
final class LineReader {

  let path: String
  /// Lines read so far.
  private(set) var lineNumber = 0
  /// Bytes of the last line, where it has no end; known at the end.
  private(set) var tornBytes = 0
  /// Whether a byte order mark was skipped.
  private(set) var hasByteOrderMark = false
  /// Lines that ended with CR LF.
  private(set) var crlfLines = 0

  /// Bytes behind the data that may be looked at; the first one is 0.
  static let padding = 32

  /// Where a line stands.
  func place(ofLine line: Int) -> TextPlace {
    source.place(ofLine: line)
      ?? TextPlace(path: path, name: String(path.split(separator: "/").last ?? ""), line: line)
  }

  /// Whether the text ends where its medium could not be understood any more.
  var isMediumDamaged: Bool { source.isDamaged }

  /// What is to be said of the lines before the damage: they came out, but their frame's checksum does not fit.
  var wordsOfDamage: String {
    source.firstDoubtfulLine.map { "rows from line \($0) on may be wrong" } ?? "rows before it may be wrong"
  }

  /// How much of the medium has been read.
  var progress: WorkProgress { source.progress }

  private let source: any ByteSource
  private let base: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private var position = 0
  private var limit = 0
  private var isAtEnd = false
  /// Whether the beginning of the current line has been thrown away because the line is too long.
  private var isSkipping = false

  init(path: String, source: any ByteSource, capacity: Int = 1 << 18) {
    self.path = path
    self.source = source
    self.capacity = max(capacity, 16)
    // Some bytes more, so that those behind the data can be looked at.
    base = .allocate(capacity: self.capacity + Self.padding)
    // Not `initialize`, which takes byte for byte without the optimiser.
    memset(base, 0, self.capacity + Self.padding)
  }

  convenience init(path: String) throws(MotionKitError) {
    do {
      self.init(path: path, source: try openText(path))
    } catch { throw .file(path, error) }
  }

  deinit { base.deallocate() }

  /// The next whole line; nil at the end.
  func next() throws(MotionKitError) -> TextLine? {
    var searched = position
    while true {
      let found = memchr(base + searched, 0x0A, limit - searched)
      if let found {
        let end = found.assumingMemoryBound(to: UInt8.self) - base
        return line(to: end)
      }
      searched = limit
      if isAtEnd {
        tornBytes = limit - position
        return nil
      }
      if position > 0 {
        let rest = limit - position
        base.update(from: base + position, count: rest)
        searched -= position
        position = 0
        limit = rest
      }
      if limit == capacity {
        // The buffer is full of one line: forget what there is of it.
        isSkipping = true
        limit = 0
        searched = 0
      }
      try fill()
    }
  }

  /// What stands behind the last line end, once `next` has returned nil; nil where there is nothing.
  func rest() -> TextLine? {
    guard isAtEnd, limit > position else { return nil }
    base[limit] = 0x0A
    return TextLine(
      start: UnsafePointer(base + position), end: UnsafePointer(base + limit), number: lineNumber + 1, isDamaged: false)
  }

  private func fill() throws(MotionKitError) {
    let room = UnsafeMutableRawBufferPointer(start: base + limit, count: capacity - limit)
    let count: Int
    do { count = try source.read(into: room) } catch { throw .file(path, error) }
    if count == 0 { isAtEnd = true }
    if lineNumber == 0, position == 0, limit == 0, !isSkipping, count >= 3, base[0] == 0xEF, base[1] == 0xBB,
      base[2] == 0xBF
    {
      hasByteOrderMark = true
      position = 3
    }
    limit += count
    base[limit] = 0
  }

  /// Where the next line begins, as far as it has been read into the buffer; a byte that no number has stands behind
  /// what there is, and `padding` bytes can be looked at.
  @inline(__always) var cursor: UnsafePointer<UInt8> { UnsafePointer(base + position) }

  /// Takes the next `count` lines, which end before `next`, as read.
  func take(_ count: Int, to next: UnsafePointer<UInt8>) {
    position = next - UnsafePointer(base)
    lineNumber += count
  }

  private func line(to end: Int) -> TextLine {
    lineNumber += 1
    let start = UnsafePointer(base + position)
    var last = UnsafePointer(base + end)
    if last > start, last[-1] == 0x0D {
      last -= 1
      crlfLines += 1
    }
    position = end + 1
    let isDamaged = isSkipping || memchr(start, 0, last - start) != nil
    isSkipping = false
    return TextLine(start: start, end: last, number: lineNumber, isDamaged: isDamaged)
  }
}
