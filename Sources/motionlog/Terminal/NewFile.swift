import Glibc
import MotionKitLinux

/// A file that is written as a whole or not at all: under a temporary name first, and given its own at the end.
struct NewFile {
  private let path: String
  private let descriptor: Int32

  /// Writes a new file, which `body` fills. Where a device or a pipe has the name (`/dev/null`), it takes the bytes as
  /// they come; a file that exists is never overwritten.
  static func write<Result>(_ path: String, _ body: (NewFile) throws -> Result) throws -> Result {
    var status = stat()
    if stat(path, &status) == 0 {
      let type = status.st_mode & S_IFMT
      guard type != S_IFREG, type != S_IFDIR else { throw exists(path) }
      let file = NewFile(path: path, descriptor: try check(open(path, O_WRONLY | O_CLOEXEC), path))
      defer { close(file.descriptor) }
      return try body(file)
    }
    // Beside it, so that giving it its name is one step.
    let temporary = "\(path).\(getpid()).part"
    let file = NewFile(
      path: path, descriptor: try check(open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666), path))
    var isOpen = true
    defer {
      if isOpen { close(file.descriptor) }
      // Gone already where all went well.
      unlink(temporary)
    }
    let result = try body(file)
    isOpen = false
    _ = try check(close(file.descriptor), path)
    // Unlike rename(2), a link does not replace what has appeared meanwhile; some file systems have no links.
    if link(temporary, path) != 0 {
      guard errno != EEXIST else { throw exists(path) }
      _ = try check(rename(temporary, path), path)
    }
    return result
  }

  /// Appends.
  func write(_ bytes: UnsafeRawBufferPointer) throws(MotionKitError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      rest = UnsafeRawBufferPointer(rebasing: rest[Int(try Self.check(Int32(clamping: count), path))...])
    }
  }

  private static func exists(_ path: String) -> MotionKitError {
    .fileSystem(path: path, errno: EEXIST, hint: "choose a new file; nothing is overwritten")
  }

  private static func check(_ result: Int32, _ path: String) throws(MotionKitError) -> Int32 {
    guard result >= 0 else { throw .fileSystem(path: path, errno: errno, hint: "check the path and the disk") }
    return result
  }
}
