import SensorFusion

/// The open files of a session that is being written. Used by one thread at a time.
final class SessionFiles {
  private struct OpenFile {
    var descriptor: Int32
    var rows = RowBuffer(capacity: 32 * 1024)
    /// Rows in the buffer.
    var pendingRows: Int64 = 0
    /// Bytes in the file, all of them whole rows.
    var length: Int64 = 0
    var hasUnsynced = false
    /// nil: rows are written as they are.
    var packer: ZstdPacker?
  }

  /// Rows are handed to the kernel when this many bytes have gathered, and at the end of each batch.
  private static let flushSize = 256 * 1024

  let directory: String
  private let layer: any FileLayer
  private let frame: ReferenceFrame
  private let writesDerived: Bool
  private let compresses: Bool
  private let packed = RowBuffer()
  private var files: [OpenFile?] = Array(repeating: nil, count: SessionFile.allCases.count)
  private var hasNewNames = false
  /// Rows handed to the kernel, by file.
  private(set) var rows: [SessionFile: Int64] = [:]
  /// Bytes handed to the kernel.
  private(set) var bytes: Int64 = 0
  /// Samples that came behind a newer one, by kind: events, not rows.
  private(set) var late: [SensorKind: Int64] = [:]
  private(set) var events: [String: Int64] = [:]
  private(set) var firstTime: Timestamp?
  private(set) var lastTime: Timestamp?
  /// The newest sample written; a later one must not be smaller.
  private(set) var newest: (time: Timestamp, kind: SensorKind)?

  init(
    directory: String, layer: any FileLayer, info: SessionInfo, writesDerived: Bool, compresses: Bool = false,
    after newest: (time: Timestamp, kind: SensorKind)? = nil
  ) {
    self.directory = directory
    self.layer = layer
    self.writesDerived = writesDerived
    self.compresses = compresses
    self.newest = newest
    frame = info.pipeline.filter.referenceFrame
  }

  deinit { closeAll() }

  private static func slot(_ file: SessionFile) -> Int {
    switch file {
    case .accelerometer: 0
    case .gyroscope: 1
    case .magnetometer: 2
    case .barometer: 3
    case .stepCounter: 4
    case .events: 5
    case .deviceMotion: 6
    case .steps: 7
    case .altitude: 8
    case .activity: 9
    }
  }

  func path(_ file: SessionFile) -> String {
    directory + "/" + (compresses ? file.packedName : file.fileName)
  }

  /// Creates what every session of these sensors has, and waits until it is on the disk.
  func begin(_ info: SessionInfo) throws(MotionKitError) {
    try write(info)
    // Readers find every file of the sensors that were started, even if nothing ever happens.
    for sensor in info.sensors { try open(SessionFile(sensor.kind)) }
    try open(.events)
    if writesDerived {
      for file in SessionFile.derived where info.sensor(file == .altitude ? .barometer : .accelerometer) != nil {
        try open(file)
      }
    }
    for file in SessionFile.allCases { try flush(file) }
    try sync()
  }

  /// Hands everything to the kernel, waits until it is on the disk, and tells what there is.
  func end(_ ended: String) throws(MotionKitError) -> ClosingSummary {
    try finish()
    return summary(ended)
  }

  /// Hands everything to the kernel and waits until it is on the disk.
  func finish() throws(MotionKitError) {
    for file in SessionFile.allCases { try flush(file) }
    try sync(isLast: true)
  }

  /// What there is.
  func summary(_ ended: String) -> ClosingSummary {
    var summary = ClosingSummary(ended: ended)
    summary.rows = rows
    summary.events = events
    summary.lateSamples = late.values.reduce(0, +)
    if let firstTime, let lastTime { summary.timeSpan = firstTime...lastTime }
    return summary
  }

  /// Creates the file with its header, if it is not there yet.
  func open(_ file: SessionFile) throws(MotionKitError) {
    let slot = Self.slot(file)
    guard files[slot] == nil else { return }
    do throws(FileFault) {
      let descriptor = try layer.create(path(file), isNew: true)
      var open = OpenFile(descriptor: descriptor)
      if compresses {
        guard let packer = ZstdPacker() else { throw FileFault(errno: 12 /* ENOMEM */) }
        open.packer = packer
      }
      for byte in file.header.utf8 { open.rows.append(byte: byte) }
      open.rows.newline()
      files[slot] = open
      hasNewNames = true
      rows[file] = 0
    } catch { throw .file(path(file), error) }
  }

  /// Writes a batch: raw rows first, then what was made of them, so that no derived row is on the disk without its
  /// samples.
  func write(_ batch: ProcessedBatch) throws(MotionKitError) {
    for sample in batch.input.samples { try write(sample) }
    for event in batch.input.events { try write(event) }
    for file in SessionFile.raw + [.events] { try flush(file) }
    guard writesDerived else { return }
    for motion in batch.motions {
      let rows = try begin(.deviceMotion)
      rows.append(row: motion, frame: frame)
      try end(.deviceMotion)
    }
    for step in batch.steps {
      try begin(.steps).append(row: step)
      try end(.steps)
    }
    for altitude in batch.altitudes {
      try begin(.altitude).append(row: altitude)
      try end(.altitude)
    }
    for activity in batch.activities {
      try begin(.activity).append(row: activity)
      try end(.activity)
    }
    for file in SessionFile.derived { try flush(file) }
  }

  private func write(_ sample: SensorSample) throws(MotionKitError) {
    if let newest, (sample.time, sample.kind) < newest {
      late[sample.kind, default: 0] += 1
      let behind = newest.time.seconds(since: sample.time)
      return try write(
        SourceEvent(
          time: newest.time, name: "late",
          detail: "\(sample.kind.name) \(sample.time.seconds) s, \(behind) s behind: "
            + "\(sample.x) \(sample.y) \(sample.z)"))
    }
    newest = (sample.time, sample.kind)
    if firstTime == nil { firstTime = sample.time }
    lastTime = sample.time
    let file = SessionFile(sample.kind)
    try begin(file).append(row: sample)
    try end(file)
  }

  func write(_ event: SourceEvent) throws(MotionKitError) {
    events[event.name, default: 0] += 1
    try begin(.events).append(row: event)
    try end(.events)
  }

  private func begin(_ file: SessionFile) throws(MotionKitError) -> RowBuffer {
    if files[Self.slot(file)] == nil { try open(file) }
    return files[Self.slot(file)]?.rows ?? RowBuffer()
  }

  private func end(_ file: SessionFile) throws(MotionKitError) {
    let slot = Self.slot(file)
    files[slot]?.pendingRows += 1
    if (files[slot]?.rows.count ?? 0) >= Self.flushSize { try flush(file) }
  }

  /// Hands a file's rows to the kernel.
  ///
  /// Compressed rows are handed on at a sync only, or when enough have gathered: small pieces compress badly.
  func flush(_ file: SessionFile) throws(MotionKitError) {
    if compresses, (files[Self.slot(file)]?.rows.count ?? 0) < Self.flushSize { return }
    try handOn(file, isLast: false)
  }

  private func handOn(_ file: SessionFile, isLast: Bool) throws(MotionKitError) {
    if let packer = files[Self.slot(file)]?.packer { return try handOnPacked(file, packer, isLast: isLast) }
    let slot = Self.slot(file)
    guard let open = files[slot], open.rows.count > 0 else { return }
    var written = 0
    do throws(FileFault) {
      let bytes = open.rows.bytes
      while written < bytes.count {
        written += try layer.write(open.descriptor, UnsafeRawBufferPointer(rebasing: bytes[written...]))
      }
    } catch {
      keepWholeRows(file, of: written)
      throw .file(path(file), error, doing: "\(rows[file] ?? 0) rows kept")
    }
    files[slot]?.length += Int64(written)
    files[slot]?.hasUnsynced = true
    rows[file, default: 0] += open.pendingRows
    bytes += Int64(written)
    files[slot]?.pendingRows = 0
    open.rows.removeAll()
  }

  private func handOnPacked(_ file: SessionFile, _ packer: ZstdPacker, isLast: Bool) throws(MotionKitError) {
    let slot = Self.slot(file)
    guard let open = files[slot], !packer.isBroken else { return }
    packed.removeAll()
    packer.pack(open.rows.bytes, into: packed, isLast: isLast)
    guard packed.count > 0 else { return }
    var written = 0
    do throws(FileFault) {
      while written < packed.count {
        written += try layer.write(open.descriptor, UnsafeRawBufferPointer(rebasing: packed.bytes[written...]))
      }
    } catch {
      // A piece that is not whole is no use, nor is what comes behind it.
      packer.isBroken = true
      try? layer.truncate(open.descriptor, to: open.length)
      throw .file(path(file), error, doing: "\(rows[file] ?? 0) rows kept")
    }
    files[slot]?.length += Int64(written)
    files[slot]?.hasUnsynced = true
    rows[file, default: 0] += open.pendingRows
    bytes += Int64(written)
    files[slot]?.pendingRows = 0
    open.rows.removeAll()
  }

  /// After a failed write of which `written` bytes arrived: cuts a torn row off, and counts the whole ones.
  private func keepWholeRows(_ file: SessionFile, of written: Int) {
    let slot = Self.slot(file)
    guard let open = files[slot] else { return }
    let arrived = UnsafeRawBufferPointer(rebasing: open.rows.bytes[..<written])
    let whole = (arrived.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
    if written > whole { try? layer.truncate(open.descriptor, to: open.length + Int64(whole)) }
    // The first line of a file is its header.
    let lines = Int64(arrived[..<whole].count { $0 == UInt8(ascii: "\n") })
    let header: Int64 = open.length == 0 && lines > 0 ? 1 : 0
    rows[file, default: 0] += lines - header
    bytes += Int64(whole)
    files[slot]?.length += Int64(whole)
    files[slot]?.pendingRows -= lines - header
    open.rows.removeFirst(whole)
  }

  /// Waits until everything written is on the disk, raw files first.
  func sync(isLast: Bool = false) throws(MotionKitError) {
    for file in SessionFile.allCases {
      let slot = Self.slot(file)
      if compresses { try handOn(file, isLast: isLast) }
      guard let open = files[slot], open.hasUnsynced else { continue }
      guard layer.isLinked(open.descriptor) else { throw .file(path(file), FileFault(errno: 2 /* ENOENT */)) }
      do { try layer.sync(open.descriptor) } catch { throw .file(path(file), error) }
      files[slot]?.hasUnsynced = false
    }
    if hasNewNames {
      do { try layer.syncDirectory(directory) } catch { throw .file(directory, error) }
      hasNewNames = false
    }
  }

  /// Writes session.json anew.
  func write(_ info: SessionInfo) throws(MotionKitError) {
    do {
      try layer.replace("session.json", in: directory, with: info.jsonText())
    } catch { throw .file(directory + "/session.json", error) }
  }

  /// Bytes left on the disk; nil where it cannot be told.
  var freeBytes: Int64? { layer.freeBytes(directory) }

  func closeAll() {
    for slot in files.indices {
      if let open = files[slot] { layer.close(open.descriptor) }
      files[slot] = nil
    }
  }
}
