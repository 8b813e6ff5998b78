import Glibc
import SensorFusion

/// Why a file operation failed.
struct FileFault: Error, Equatable {
  var errno: Int32
}

/// The file operations of a recorder, so that tests can put a full, failing, slow or vanishing disk in their place.
protocol FileLayer: Sendable {
  /// The names in a directory, without `.` and `..`.
  func list(_ directory: String) throws(FileFault) -> [String]
  func createDirectory(_ path: String) throws(FileFault)
  /// Opens a file for writing; `isNew`: it must not exist, else what it holds is dropped.
  func create(_ path: String, isNew: Bool) throws(FileFault) -> Int32
  /// Appends; may write less than it was given.
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int
  func truncate(_ file: Int32, to length: Int64) throws(FileFault)
  /// Waits until the file's data are on the disk.
  func sync(_ file: Int32) throws(FileFault)
  /// Waits until the directory's names are on the disk.
  func syncDirectory(_ path: String) throws(FileFault)
  func rename(_ path: String, to newPath: String) throws(FileFault)
  /// Takes the name away, if it is there: a file's or an empty directory's.
  func remove(_ path: String)
  /// Holds space on the disk without a name that anybody sees, until the file is closed; nil where that cannot be
  /// done. Throws where there is no such space.
  func reserve(_ bytes: Int64, in directory: String) throws(FileFault) -> Int32?
  func close(_ file: Int32)
  /// Whether the open file still has a name; one that was removed goes on taking data that nobody will see.
  func isLinked(_ file: Int32) -> Bool
  /// Bytes that an unprivileged process may still write; nil where it cannot be told.
  func freeBytes(_ path: String) -> Int64?
}

/// The kernel's files.
struct SystemFileLayer: FileLayer {
  /// Calls until it is not interrupted; -1 becomes the error.
  private func check<T: SignedInteger>(_ call: () -> T) throws(FileFault) -> T {
    while true {
      let result = call()
      if result >= 0 { return result }
      let code = errno
      if code != EINTR { throw FileFault(errno: code) }
    }
  }

  func list(_ directory: String) throws(FileFault) -> [String] {
    guard let stream = opendir(directory) else { throw FileFault(errno: errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func createDirectory(_ path: String) throws(FileFault) { _ = try check { mkdir(path, 0o777) } }

  func create(_ path: String, isNew: Bool) throws(FileFault) -> Int32 {
    try check { open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (isNew ? O_EXCL : O_TRUNC), 0o666) }
  }

  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int {
    try check { Glibc.write(file, bytes.baseAddress, bytes.count) }
  }

  func truncate(_ file: Int32, to length: Int64) throws(FileFault) {
    _ = try check { ftruncate(file, off_t(length)) }
    _ = try check { lseek(file, off_t(length), SEEK_SET) }
  }

  func sync(_ file: Int32) throws(FileFault) {
    do {
      _ = try check { fdatasync(file) }
    } catch  where error.errno == EINVAL {
      // A special file that cannot be synced. EROFS is no such thing: ext4 gives it when it has shut itself down.
    }
  }

  func syncDirectory(_ path: String) throws(FileFault) {
    let directory = try check { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    defer { Glibc.close(directory) }
    do {
      _ = try check { fsync(directory) }
    } catch  where error.errno == EINVAL {
      // Some network file systems cannot sync a directory.
    }
  }

  func rename(_ path: String, to newPath: String) throws(FileFault) { _ = try check { Glibc.rename(path, newPath) } }

  func remove(_ path: String) { if unlink(path) != 0 { rmdir(path) } }

  func reserve(_ bytes: Int64, in directory: String) throws(FileFault) -> Int32? {
    let path = directory + "/.reserve"
    guard let file = try? create(path, isNew: false) else { return nil }
    remove(path)
    // On file systems that cannot, the C library writes zeros.
    let code = posix_fallocate(file, 0, off_t(bytes))
    if code == 0 { return file }
    close(file)
    if code == ENOSPC || code == EDQUOT { throw FileFault(errno: code) }
    return nil
  }

  func close(_ file: Int32) { _ = Glibc.close(file) }

  func isLinked(_ file: Int32) -> Bool {
    var status = stat()
    return fstat(file, &status) == 0 && status.st_nlink > 0
  }

  func freeBytes(_ path: String) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
  }
}

extension FileLayer {
  /// Writes a whole file anew: beside it first, synced, then renamed over it, so that either version is always whole.
  func replace(_ name: String, in directory: String, with text: String) throws(FileFault) {
    let path = directory + "/" + name
    let temporary = path + ".new"
    let file = try create(temporary, isNew: false)
    do throws(FileFault) {
      try writeAll(file, Array(text.utf8))
      try sync(file)
    } catch {
      close(file)
      remove(temporary)
      throw error
    }
    close(file)
    do { try rename(temporary, to: path) } catch {
      remove(temporary)
      throw error
    }
    try syncDirectory(directory)
  }

  private func writeAll(_ file: Int32, _ bytes: [UInt8]) throws(FileFault) {
    var written = 0
    while written < bytes.count {
      let result: Result<Int, FileFault> = bytes.withUnsafeBytes { all in
        do throws(FileFault) {
          return .success(try write(file, UnsafeRawBufferPointer(rebasing: all[written...])))
        } catch { return .failure(error) }
      }
      written += try result.get()
    }
  }
}

/// The clocks of a recorder.
protocol SessionClock: Sendable {
  /// Nanoseconds of a clock that only goes forward, for intervals.
  func monotonic() -> Int64
  /// The samples' clock and UTC, read together.
  func anchor() -> ClockAnchor
  /// How long the machine has slept since it was started, nanoseconds: the samples' clock goes on, `monotonic` stands.
  func slept() -> Int64
}

/// The kernel's clocks.
struct SystemSessionClock: SessionClock {
  func monotonic() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

  func anchor() -> ClockAnchor {
    // Both offsets come from readings that nothing came between.
    let offset = KernelClockOffsets.measure().realtime
    let time = nanoseconds(of: CLOCK_BOOTTIME)
    return ClockAnchor(time: Timestamp(nanoseconds: time), utcNanoseconds: time - offset)
  }

  func slept() -> Int64 { KernelClockOffsets.measure().monotonic }
}

/// The system's words for an error number.
func errorText(_ code: Int32) -> String {
  String(cString: strerror(code))
}

extension MotionKitError {
  /// A failed file operation, with what to do about it.
  static func file(_ path: String, _ fault: FileFault, doing what: String = "") -> MotionKitError {
    if fault.errno == ESPIPE {
      let reason = "it is a pipe or a device, not a file; copy what it gives into a file first"
      return .invalidFile(path: path, line: 0, column: 0, reason: reason)
    }
    let hint =
      switch fault.errno {
      case ENOSPC, EDQUOT: "free some space or record to another disk"
      case EFBIG: "the file has reached the largest size allowed: record in parts or raise the limit (ulimit -f)"
      case EIO: "the disk or card failed: check it and its cable, then copy what is there"
      case EROFS: "the file system is read-only: remount it or record elsewhere"
      case EACCES, EPERM: "the directory is not writable for this user: choose another one"
      case ENOENT: "the directory does not exist or has gone: create it or choose another one"
      case ENOTDIR: "a part of the path is a file, not a directory"
      case EEXIST: "it exists already: choose a new directory"
      case EMFILE, ENFILE: "too many files are open: raise the limit (ulimit -n)"
      default: "check the path and the disk"
      }
    return .fileSystem(path: path, errno: fault.errno, hint: (what.isEmpty ? "" : what + "; ") + hint)
  }
}
