import Glibc
import SensorFusion

@testable import MotionKitLinux

/// A disk in memory that can be full, fail, stall, vanish and lose what was not synced.
final class FaultyFileLayer: FileLayer, @unchecked Sendable {
  struct File {
    var bytes: [UInt8] = []
    var synced = 0
    var isLinked = true
  }

  struct State {
    var files: [String: File] = [:]
    var paths: [Int32: String] = [:]
    var next: Int32 = 100
    /// Bytes that still fit; nil: no limit.
    var space: Int?
    /// A file whose writes fail once it holds that many bytes.
    var failing: (suffix: String, errno: Int32, after: Int)?
    var syncFault: Int32?
    var isStalled = false
    var writers = 0
    /// At most so many bytes are taken by one write.
    var largestWrite = Int.max
    var syncs = 0
    var free: Int64?
    /// What is told to be free is what fits.
    var freeIsSpace = false
    /// Bytes held by open files without a name.
    var reserved: [Int32: Int] = [:]
  }

  let state = Locked(State())

  private func run<R>(_ body: (inout State) -> Result<R, FileFault>) throws(FileFault) -> R {
    try state.withLock { body(&$0) }.get()
  }

  func list(_ directory: String) throws(FileFault) -> [String] { [] }
  func createDirectory(_ path: String) throws(FileFault) {}

  func create(_ path: String, isNew: Bool) throws(FileFault) -> Int32 {
    try run { state -> Result<Int32, FileFault> in
      if isNew, state.files[path] != nil { return .failure(FileFault(errno: EEXIST)) }
      if let old = state.files[path], let space = state.space { state.space = space + old.bytes.count }
      state.files[path] = File()
      state.next += 1
      state.paths[state.next] = path
      return .success(state.next)
    }
  }

  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int {
    state.withLock { $0.writers += 1 }
    state.signal()
    let result: Result<Int, FileFault> = state.wait(
      seconds: nil, until: { !$0.isStalled },
      then: { state in
        state.writers -= 1
        guard let path = state.paths[file] else { return .failure(FileFault(errno: EBADF)) }
        var room = min(bytes.count, state.largestWrite)
        if let failing = state.failing, path.hasSuffix(failing.suffix) {
          room = min(room, max(0, failing.after - (state.files[path]?.bytes.count ?? 0)))
          if room == 0 { return .failure(FileFault(errno: failing.errno)) }
        }
        if let space = state.space {
          room = min(room, space)
          if room == 0 { return .failure(FileFault(errno: ENOSPC)) }
          state.space = space - room
        }
        state.files[path]?.bytes += bytes[..<room]
        return .success(room)
      })
    return try result.get()
  }

  func truncate(_ file: Int32, to length: Int64) throws(FileFault) {
    try run { state -> Result<Void, FileFault> in
      let path = state.paths[file] ?? ""
      let old = state.files[path]?.bytes ?? []
      let whole = old.prefix(Int(length))
      if let space = state.space { state.space = space + old.count - whole.count }
      state.files[path]?.bytes = Array(whole)
      return .success(())
    }
  }

  func sync(_ file: Int32) throws(FileFault) {
    try run { state -> Result<Void, FileFault> in
      if let fault = state.syncFault { return .failure(FileFault(errno: fault)) }
      state.syncs += 1
      let path = state.paths[file] ?? ""
      let count = state.files[path]?.bytes.count ?? 0
      state.files[path]?.synced = count
      return .success(())
    }
  }

  func syncDirectory(_ path: String) throws(FileFault) {}

  func rename(_ path: String, to newPath: String) throws(FileFault) {
    try run { state -> Result<Void, FileFault> in
      let moved = state.files.removeValue(forKey: path)
      if let old = state.files[newPath], let space = state.space { state.space = space + old.bytes.count }
      state.files[newPath] = moved
      for (descriptor, name) in state.paths where name == path { state.paths[descriptor] = newPath }
      return .success(())
    }
  }

  func remove(_ path: String) {
    state.withLock { state in
      guard let file = state.files.removeValue(forKey: path), let space = state.space else { return }
      state.space = space + file.bytes.count
    }
  }
  func reserve(_ bytes: Int64, in directory: String) throws(FileFault) -> Int32? {
    try run { state -> Result<Int32?, FileFault> in
      state.next += 1
      guard let space = state.space else { return .success(state.next) }
      guard space >= Int(bytes) else { return .failure(FileFault(errno: ENOSPC)) }
      state.space = space - Int(bytes)
      state.reserved[state.next] = Int(bytes)
      return .success(state.next)
    }
  }
  func close(_ file: Int32) {
    state.withLock { state in
      if let bytes = state.reserved.removeValue(forKey: file), let space = state.space { state.space = space + bytes }
    }
  }
  func isLinked(_ file: Int32) -> Bool {
    state.withLock { state in state.files[state.paths[file] ?? ""]?.isLinked ?? false }
  }
  func freeBytes(_ path: String) -> Int64? {
    state.withLock { $0.freeIsSpace ? $0.space.map { Int64($0) } : $0.free }
  }

  func stall() { state.withLock { $0.isStalled = true } }
  func goOn() {
    state.withLock { $0.isStalled = false }
    state.signal()
  }
  /// Waits until the writing thread hangs in a write.
  func waitForWriter() { state.wait(seconds: nil, until: { $0.writers > 0 }, then: { _ in }) }

  func bytes(_ name: String) -> [UInt8] {
    state.withLock { state in state.files.first { $0.key.hasSuffix("/" + name) }?.value.bytes ?? [] }
  }

  /// Rows in a CSV file, without its header.
  func rows(_ file: SessionFile) -> Int64 {
    max(0, Int64(bytes(file.fileName).count { $0 == 0x0A }) - 1)
  }

  /// Puts the files into a real directory. After a loss of power only what was synced is sure; of the rest any part
  /// may be there, and what is missing inside may read as NUL.
  func materialize(in directory: String, afterPowerLoss generator: inout SeededGenerator) {
    mkdir(directory, 0o755)
    let files = state.withLock { $0.files }
    for (path, file) in files.sorted(by: { $0.key < $1.key }) {
      var bytes = Array(file.bytes[..<file.synced])
      var rest = Array(file.bytes[file.synced...].prefix(Int.random(in: 0...file.bytes.count, using: &generator)))
      if Bool.random(using: &generator), !rest.isEmpty {
        let from = Int.random(in: 0..<rest.count, using: &generator)
        for index in from..<min(rest.count, from + 512) { rest[index] = 0 }
      }
      bytes += rest
      writeFile(directory + "/" + (path.split(separator: "/").last.map(String.init) ?? ""), bytes)
    }
  }

  func materialize(in directory: String) {
    mkdir(directory, 0o755)
    for (path, file) in state.withLock({ $0.files }) {
      writeFile(directory + "/" + (path.split(separator: "/").last.map(String.init) ?? ""), file.bytes)
    }
  }

  /// The same with the directories below `root`.
  func materialize(_ root: String, in directory: String) {
    mkdir(directory, 0o755)
    for (path, file) in state.withLock({ $0.files }).sorted(by: { $0.key < $1.key }) {
      let names = path.dropFirst(root.count + 1).split(separator: "/").map(String.init)
      if names.count > 1 { mkdir(directory + "/" + names[0], 0o755) }
      writeFile(directory + "/" + names.joined(separator: "/"), file.bytes)
    }
  }
}
