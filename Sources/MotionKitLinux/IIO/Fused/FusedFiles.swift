import Glibc
import SensorFusion

/// The files that a chip's own fusion is recorded in: `fused_attitude.csv`, `fused_gravity.csv` and
/// `fused_linear_acceleration.csv` beside the session's own, which do not depend on them.
///
/// A row is written whole, and the data reach the disk at least once a second.
public final class FusedFiles {
  /// Rows written, a file each.
  public private(set) var rows: [FusedKind: Int] = [:]

  private let directory: String
  private var files: [FusedKind: Int32] = [:]
  private let row = RowBuffer()
  private var syncedAt = nanoseconds(of: CLOCK_MONOTONIC)

  /// Between syncs, nanoseconds.
  private static let syncInterval: Int64 = 1_000_000_000

  /// Files in a session's directory, which is there; each is made with its first value.
  public init(directory: String) { self.directory = directory }

  deinit { for file in files.values { close(file) } }

  /// Appends values, those of each kind in order of time.
  ///
  /// - Throws: `fileSystem` with the path.
  public func write(_ samples: [FusedSample]) throws(MotionKitError) {
    for kind in FusedKind.allCases {
      row.removeAll()
      for sample in samples where sample.kind == kind {
        row.append(nanoseconds: sample.time.nanoseconds)
        for index in 0..<kind.count {
          row.comma()
          row.append(sample.values[index])
        }
        row.newline()
        rows[kind, default: 0] += 1
      }
      if row.count > 0 { try append(row.bytes, to: kind) }
    }
    let now = nanoseconds(of: CLOCK_MONOTONIC)
    guard now - syncedAt >= Self.syncInterval else { return }
    syncedAt = now
    for (kind, file) in files where fdatasync(file) != 0 && errno != EINVAL && errno != EROFS {
      throw fault(kind, errno)
    }
  }

  private func append(_ bytes: UnsafeRawBufferPointer, to kind: FusedKind) throws(MotionKitError) {
    let file = try opened(kind)
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(file, rest.baseAddress, rest.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw fault(kind, errno)
      }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  private func opened(_ kind: FusedKind) throws(MotionKitError) -> Int32 {
    if let file = files[kind] { return file }
    let file = open(path(kind), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw fault(kind, errno) }
    files[kind] = file
    let header = kind.columns.joined(separator: ",") + "\n"
    _ = header.withCString { Glibc.write(file, $0, strlen($0)) }
    return file
  }

  private func path(_ kind: FusedKind) -> String { directory + "/" + kind.fileName }

  private func fault(_ kind: FusedKind, _ code: Int32) -> MotionKitError {
    .fileSystem(path: path(kind), errno: code, hint: "is the disk full or gone?")
  }
}
