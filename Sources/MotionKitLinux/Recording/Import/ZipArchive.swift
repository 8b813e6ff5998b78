import CMiniZip
import Glibc

/// Zip files as phones send them: their text files are read as if they lay in a directory of the archive's name.
enum ZipArchive {
  /// A file in an archive.
  struct Entry {
    /// `log.zip/Accelerometer.csv`: what `openText` takes and errors name.
    var path: String
    /// Without directories.
    var name: String
    /// Unpacked, bytes.
    var size: Int64
  }

  /// Whether it is a file that begins as zip archives do.
  static func isArchive(_ path: String) -> Bool {
    guard let file = try? FileBytes(path: path) else { return false }
    var first = [UInt8](repeating: 0, count: 4)
    let count = (try? first.withTypedUnsafeMutableBytes { (room) throws(FileFault) in try file.read(into: room) }) ?? 0
    // "PK", then a file's header or the end of an empty archive.
    return count == 4 && (first == [0x50, 0x4B, 3, 4] || first == [0x50, 0x4B, 5, 6])
  }

  /// The files of an archive.
  ///
  /// - Throws: `MotionKitError.invalidFile` where it is damaged, `.unsupported` where it is locked with a password.
  static func entries(_ path: String) throws(MotionKitError) -> [Entry] {
    guard let archive = unzOpen64(path) else { throw damaged(path) }
    defer { unzClose(archive) }
    var entries: [Entry] = []
    var status = unzGoToFirstFile(archive)
    while status == UNZ_OK {
      var info = unz_file_info64()
      var name = [CChar](repeating: 0, count: 1024)
      guard unzGetCurrentFileInfo64(archive, &info, &name, UInt(name.count - 1), nil, 0, nil, 0) == UNZ_OK else {
        throw damaged(path)
      }
      let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if let last = text.split(separator: "/").last, !text.hasSuffix("/"), !text.hasPrefix("__MACOSX/"),
        !last.hasPrefix(".")
      {
        if info.flag & 1 != 0 {
          throw .unsupported(
            what: "\(path): '\(text)' is locked with a password", hint: "unpack it and import the folder")
        }
        let size = Int64(clamping: info.uncompressed_size)
        entries.append(Entry(path: path + "/" + text, name: String(last), size: size))
      }
      status = unzGoToNextFile(archive)
    }
    guard status == UNZ_END_OF_LIST_OF_FILE || entries.isEmpty else { throw damaged(path) }
    return entries
  }

  /// The archive and the name in it of a path that goes through an archive; nil for any other.
  static func split(_ path: String) -> (archive: String, name: String)? {
    // Where a directory has such a name too, the file is the archive.
    for slash in path.indices where path[slash] == "/" {
      let archive = String(path[..<slash])
      if archive.lowercased().hasSuffix(".zip"), isArchive(archive) {
        return (archive, String(path[path.index(after: slash)...]))
      }
    }
    return nil
  }

  private static func damaged(_ path: String) -> MotionKitError {
    .invalidFile(
      path: path, line: 0, column: 0,
      reason: "the zip file is damaged or was cut short; unpack what there is and import that")
  }
}

/// The text of a file in a zip archive.
final class ZipBytes: ByteSource {
  private let archive: unzFile
  private var isOpen = false
  private(set) var progress = WorkProgress()
  private(set) var isDamaged = false

  init(archive path: String, name: String) throws(FileFault) {
    guard let archive = unzOpen64(path) else { throw FileFault(errno: EIO) }
    var info = unz_file_info64()
    guard unzLocateFile(archive, name, 1) == UNZ_OK,
      unzGetCurrentFileInfo64(archive, &info, nil, 0, nil, 0, nil, 0) == UNZ_OK
    else {
      unzClose(archive)
      throw FileFault(errno: ENOENT)
    }
    self.archive = archive
    progress.total = Int64(clamping: info.uncompressed_size)
    // Fails where the file's own header says something else than the list of files.
    isOpen = unzOpenCurrentFile(archive) == UNZ_OK
    isDamaged = !isOpen
  }

  deinit {
    if isOpen { unzCloseCurrentFile(archive) }
    unzClose(archive)
  }

  func read(into room: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    guard isOpen else { return 0 }
    let count = unzReadCurrentFile(archive, room.baseAddress, UInt32(clamping: room.count))
    if count > 0 {
      progress.done += Int64(count)
      return Int(count)
    }
    isOpen = false
    // The check sum is compared when the file is closed.
    isDamaged = unzCloseCurrentFile(archive) != UNZ_OK || count < 0
    return 0
  }
}
