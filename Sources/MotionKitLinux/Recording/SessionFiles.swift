import SensorFusion

/// The open files of a session that is being written. Used by one thread at a time.
final class SessionFiles {
  private final class OpenFile {
    let descriptor: Int32
    let rows = RowBuffer(capacity: 32 * 1024)
    /// Rows in the buffer.
    var pendingRows: Int64 = 0
    /// Bytes in the file, all of them whole rows.
    var length: Int64 = 0
    var hasUnsynced = false
    /// nil: rows are written as they are.
    let packer: ZstdPacker?

    init(_ descriptor: Int32, packer: ZstdPacker?) {
      self.descriptor = descriptor
      self.packer = packer
    }
  }

  /// Rows are handed to the kernel when this many bytes have gathered, and at the end of each batch.
  private static let flushSize = 256 * 1024
  /// Bytes of disk that are kept for session.json, so that a recording on a full disk can still say how it ended:
  /// some kilobytes and, after days, some hundred clock anchors.
  private static let reservedSize: Int64 = 64 * 1024

  let directory: String
  private let layer: any FileLayer
  private let frame: ReferenceFrame
  private let writesDerived: Bool
  private let compresses: Bool
  private let packed = RowBuffer()
  private var files: [OpenFile?] = Array(repeating: nil, count: SessionFile.allCases.count)
  private var hasNewNames = false
  private var reserve: Int32?
  /// Rows of the parts before this one, for messages.
  private let rowsBefore: [SessionFile: Int64]
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
    after newest: (time: Timestamp, kind: SensorKind)? = nil, rowsBefore: [SessionFile: Int64] = [:]
  ) {
    self.directory = directory
    self.rowsBefore = rowsBefore
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
    let present = info.sensors.filter { $0.capture != SensorDescription.fileIsGone }
    for sensor in present { _ = try opened(SessionFile(sensor.kind)) }
    _ = try opened(.events)
    if writesDerived {
      let withheld = info.pipeline.withheld
      for file in SessionFile.derived
      where !withheld.contains(file.output)
        && present.contains(where: { $0.kind == (file == .altitude ? .barometer : .accelerometer) })
      {
        _ = try opened(file)
      }
    }
    for file in SessionFile.allCases { try flush(file) }
    try sync()
    do { reserve = try layer.reserve(Self.reservedSize, in: directory) } catch { throw .file(directory, error) }
  }

  /// Takes away what `begin` has made, where nothing has been written since.
  func discard() {
    closeAll()
    for file in SessionFile.allCases { layer.remove(path(file)) }
    layer.remove(directory + "/session.json")
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

  /// Creates the file with its header.
  private func open(_ file: SessionFile) throws(MotionKitError) -> OpenFile {
    do throws(FileFault) {
      let descriptor = try layer.create(path(file), isNew: true)
      let packer = compresses ? ZstdPacker() : nil
      if compresses, packer == nil {
        layer.close(descriptor)
        throw FileFault(errno: 12 /* ENOMEM */)
      }
      let open = OpenFile(descriptor, packer: packer)
      for byte in file.header.utf8 { open.rows.append(byte: byte) }
      open.rows.newline()
      files[Self.slot(file)] = open
      hasNewNames = true
      rows[file] = 0
      return open
    } catch { throw .file(path(file), error) }
  }

  /// Writes a batch: raw rows first, then what was made of them, so that no derived row is on the disk without its
  /// samples.
  func write(_ batch: ProcessedBatch) throws(MotionKitError) {
    try write(batch.input.samples)
    for event in batch.input.events { try write(event) }
    for file in SessionFile.raw + [.events] { try flush(file) }
    guard writesDerived else { return }
    let frame = frame
    try write(batch.motions, to: .deviceMotion) { $0.append(row: $1, frame: frame) }
    try write(batch.steps, to: .steps) { $0.append(row: $1) }
    try write(batch.altitudes, to: .altitude) { $0.append(row: $1) }
    try write(batch.activities, to: .activity) { $0.append(row: $1) }
    for file in SessionFile.derived { try flush(file) }
  }

  @inline(__always)
  private func write<Row>(
    _ all: [Row], to file: SessionFile, _ append: (RowBuffer, Row) -> Void
  ) throws(MotionKitError) {
    guard !all.isEmpty else { return }
    let target = try opened(file)
    let rows = target.rows
    for row in all {
      append(rows, row)
      target.pendingRows += 1
      if rows.count >= Self.flushSize { try flush(file) }
    }
  }

  /// Samples in their order; one that is older than the one before is an event.
  private func write(_ samples: [SensorSample]) throws(MotionKitError) {
    guard let first = samples.first, let last = samples.last else { return }
    var before = newest ?? (first.time, first.kind)
    var present: UInt8 = 0
    for sample in samples {
      guard (sample.time, sample.kind) >= before else {
        for sample in samples { try write(sample) }
        return
      }
      before = (sample.time, sample.kind)
      present |= 1 << sample.kind.rawValue
    }
    newest = before
    if firstTime == nil { firstTime = first.time }
    lastTime = last.time
    // None is late: each file's rows in one go, and those of other files even if one can take no more.
    var failure: MotionKitError?
    for kind in SensorKind.allCases where present & 1 << kind.rawValue != 0 {
      do throws(MotionKitError) { try write(samples, of: kind) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  private func write(_ samples: [SensorSample], of kind: SensorKind) throws(MotionKitError) {
    let file = SessionFile(kind)
    let target = try opened(file)
    let rows = target.rows
    for sample in samples where sample.kind == kind {
      rows.append(row: sample)
      target.pendingRows += 1
      if rows.count >= Self.flushSize { try flush(file) }
    }
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
    try write([sample], to: SessionFile(sample.kind)) { $0.append(row: $1) }
  }

  func write(_ event: SourceEvent) throws(MotionKitError) {
    events[event.name, default: 0] += 1
    try write([event], to: .events) { $0.append(row: $1) }
  }

  /// The file, created with its header if it is not there yet.
  private func opened(_ file: SessionFile) throws(MotionKitError) -> OpenFile {
    if let open = files[Self.slot(file)] { return open }
    return try open(file)
  }

  /// Hands a file's rows to the kernel.
  ///
  /// Compressed rows are handed on at a sync only, or when enough have gathered: small pieces compress badly.
  func flush(_ file: SessionFile) throws(MotionKitError) {
    if compresses {
      guard (files[Self.slot(file)]?.rows.count ?? 0) >= Self.flushSize else { return }
      // No derived row without its samples, whatever the disk takes.
      if SessionFile.derived.contains(file) {
        for raw in SessionFile.raw { try handOn(raw, isLast: false) }
      }
    }
    try handOn(file, isLast: false)
  }

  private func handOn(_ file: SessionFile, isLast: Bool) throws(MotionKitError) {
    guard let open = files[Self.slot(file)] else { return }
    if let packer = open.packer { return try handOnPacked(file, open, packer, isLast: isLast) }
    guard open.rows.count > 0 else { return }
    var written = 0
    do throws(FileFault) {
      let bytes = open.rows.bytes
      while written < bytes.count {
        written += try layer.write(open.descriptor, UnsafeRawBufferPointer(rebasing: bytes[written...]))
      }
    } catch {
      keepWholeRows(file, open, of: written)
      throw .file(path(file), error, doing: "\(kept(file)) rows kept")
    }
    handedOn(file, open, written)
  }

  private func handOnPacked(
    _ file: SessionFile, _ open: OpenFile, _ packer: ZstdPacker, isLast: Bool
  ) throws(MotionKitError) {
    guard !packer.isBroken else { return }
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
      throw .file(path(file), error, doing: "\(kept(file)) rows kept")
    }
    handedOn(file, open, written)
  }

  /// Rows that are in this file and in those of the parts before.
  private func kept(_ file: SessionFile) -> Int64 { (rowsBefore[file] ?? 0) + (rows[file] ?? 0) }

  /// All rows that waited are in the file, in so many bytes.
  private func handedOn(_ file: SessionFile, _ open: OpenFile, _ written: Int) {
    open.length += Int64(written)
    open.hasUnsynced = true
    rows[file, default: 0] += open.pendingRows
    bytes += Int64(written)
    open.pendingRows = 0
    open.rows.removeAll()
  }

  /// After a failed write of which `written` bytes arrived: cuts a torn row off, and counts the whole ones.
  private func keepWholeRows(_ file: SessionFile, _ open: OpenFile, of written: Int) {
    let arrived = UnsafeRawBufferPointer(rebasing: open.rows.bytes[..<written])
    let whole = (arrived.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
    if written > whole { try? layer.truncate(open.descriptor, to: open.length + Int64(whole)) }
    // The first line of a file is its header.
    let lines = Int64(arrived[..<whole].count { $0 == UInt8(ascii: "\n") })
    let header: Int64 = open.length == 0 && lines > 0 ? 1 : 0
    rows[file, default: 0] += lines - header
    bytes += Int64(whole)
    open.length += Int64(whole)
    open.pendingRows -= lines - header
    open.rows.removeFirst(whole)
  }

  /// Waits until everything written is on the disk, raw files first.
  func sync(isLast: Bool = false) throws(MotionKitError) {
    for file in SessionFile.allCases {
      if compresses { try handOn(file, isLast: isLast) }
      guard let open = files[Self.slot(file)], open.hasUnsynced else { continue }
      guard layer.isLinked(open.descriptor) else { throw .file(path(file), FileFault(errno: 2 /* ENOENT */)) }
      do { try layer.sync(open.descriptor) } catch { throw .file(path(file), error) }
      open.hasUnsynced = false
    }
    if hasNewNames {
      do { try layer.syncDirectory(directory) } catch { throw .file(directory, error) }
      hasNewNames = false
    }
  }

  /// Writes session.json anew.
  func write(_ info: SessionInfo) throws(MotionKitError) {
    if info.closing != nil { release() }
    do {
      try layer.replace("session.json", in: directory, with: info.jsonText())
    } catch { throw .file(directory + "/session.json", error) }
  }

  /// Bytes left on the disk when all rows that wait have been written; nil where it cannot be told.
  var freeBytes: Int64? {
    layer.freeBytes(directory).map { free in free - files.reduce(0) { $0 + Int64($1?.rows.count ?? 0) } }
  }

  private func release() {
    if let reserve { layer.close(reserve) }
    reserve = nil
  }

  func closeAll() {
    release()
    for slot in files.indices {
      if let open = files[slot] { layer.close(open.descriptor) }
      files[slot] = nil
    }
  }
}

extension SessionFile {
  /// The output of the pipeline that a derived file holds; none for the others.
  fileprivate var output: PipelineOutputs {
    switch self {
    case .deviceMotion: .motion
    case .steps: .steps
    case .activity: .activity
    case .altitude: .altitude
    default: []
    }
  }
}
