import SensorFusion

/// What stands behind a `SessionWriter`: the buffer that the source's thread fills and the thread that empties it.
final class RecordingEngine: @unchecked Sendable {
  typealias Options = SessionWriter.Options
  typealias Progress = SessionWriter.Progress

  private struct Shared {
    var pending = ProcessedBatch()
    var pendingBytes = 0
    /// Bytes that are being written now.
    var writingBytes = 0
    var isEnding = false
    /// When the thread last took what was there, and whether it is to look again now.
    var lastLook: Int64 = 0
    var isWanted = false
    var failure: MotionKitError?
    var produced: [Int64] = Array(repeating: 0, count: SensorKind.allCases.count)
    var producedDerived: [SessionFile: Int64] = [:]
    var newest: Timestamp?
    var lostSamples: Int64 = 0
    var overflow: Overflow?
    var progress = Progress()
  }

  /// A stretch of dropped batches.
  private struct Overflow {
    var from: Timestamp
    var to: Timestamp
    var samples: Int64 = 0
  }

  private let directory: String
  private let options: Options
  private let clock: any SessionClock
  private let shared = Locked(Shared())
  private let thread: Locked<SystemThread?> = Locked(nil)
  // The rest belongs to the writing thread, or to the caller of `drain` where there is none.
  private let layer: any FileLayer
  private var files: SessionFiles
  /// What the parts before this one hold.
  private var done: [ClosingSummary] = []
  private var doneBytes: Int64 = 0
  private var lateByKind: [SensorKind: Int64] = [:]
  private var info: SessionInfo
  private var spare = ProcessedBatch()
  private var nextSync: Int64
  private var clockWatch: ClockWatch?

  init(
    directory: String, info: SessionInfo, options: Options, layer: any FileLayer, clock: any SessionClock
  ) throws(MotionKitError) {
    self.directory = directory
    self.options = options
    self.clock = clock
    var info = info
    info.part = options.rotation == nil ? nil : 1
    info.closing = nil
    self.info = info
    nextSync = clock.monotonic() + Int64(options.syncInterval * 1e9)
    let isNew = try Self.prepare(directory, layer: layer)
    self.layer = layer
    files = try Self.files(directory, info, options, layer)
    if options.watchesClocks ?? (info.isLive && !info.source.hasPrefix("ip:")) {
      let anchor = clock.anchor()
      self.info.anchors.append(anchor)
      clockWatch = ClockWatch(anchor: anchor, slept: clock.slept())
    }
    do throws(MotionKitError) {
      try files.begin(self.info)
    } catch {
      // What holds nothing is no recording.
      files.discard()
      if files.directory != directory { layer.remove(files.directory) }
      if isNew { layer.remove(directory) }
      throw error
    }
  }

  /// The files of the part that `info` names, in a directory of their own where there are parts.
  private static func files(
    _ directory: String, _ info: SessionInfo, _ options: Options, _ layer: any FileLayer,
    after newest: (time: Timestamp, kind: SensorKind)? = nil, rowsBefore: [SessionFile: Int64] = [:]
  ) throws(MotionKitError) -> SessionFiles {
    var place = directory
    if let part = info.part {
      place += "/" + SessionDirectory.partName(Int(part))
      do throws(FileFault) {
        try layer.createDirectory(place)
        try layer.syncDirectory(directory)
      } catch { throw .file(place, error) }
    }
    return SessionFiles(
      directory: place, layer: layer, info: info, writesDerived: options.writesDerivedFiles,
      compresses: options.compresses, after: newest, rowsBefore: rowsBefore)
  }

  func startThread() throws(MotionKitError) {
    let started = try SystemThread(name: "recording") { self.run() }
    thread.withLock { $0 = started }
  }

  private var hasThread: Bool { thread.withLock { $0 != nil } }

  /// Makes the directory, or takes an empty one; whether it was made.
  private static func prepare(_ directory: String, layer: any FileLayer) throws(MotionKitError) -> Bool {
    do {
      try layer.createDirectory(directory)
      return true
    } catch  where error == FileFault(errno: 17 /* EEXIST */) {
      let names: [String]
      do { names = try layer.list(directory) } catch { throw .file(directory, error) }
      guard names.isEmpty else {
        throw .fileSystem(
          path: directory, errno: 17,
          hint: "the directory exists and is not empty: choose a new one; a recording is never overwritten")
      }
      return false
    } catch { throw .file(directory, error) }
  }

  // MARK: The source's side

  func consume(_ batch: ProcessedBatch) throws(MotionKitError) {
    let size = Self.size(of: batch)
    let limit = options.bufferLimit
    let mayWait = options.whenFull == .wait && hasThread
    let now = clock.monotonic()
    func fits(_ state: Shared) -> Bool {
      let held = state.pendingBytes + state.writingBytes
      return held == 0 || held + size <= limit
    }
    if mayWait { wakeIfFull { !fits($0) } }
    let (failure, isLong) = shared.wait(
      seconds: mayWait ? nil : 0, until: { fits($0) || !mayWait || $0.failure != nil || $0.isEnding },
      then: { state -> (MotionKitError?, Bool) in
        Self.count(batch, in: &state)
        if state.failure != nil { return (state.failure, false) }
        guard fits(state) else {
          Self.drop(batch, in: &state)
          return (nil, false)
        }
        if let overflow = state.overflow {
          state.pending.input.events.append(Self.endEvent(overflow))
          state.overflow = nil
        }
        state.pending.append(batch)
        state.pendingBytes += size
        // Woken by what comes, not by a timer of its own, the thread never sits on a batch that just missed it.
        let isDue = state.pendingBytes >= Self.wakeSize || now &- state.lastLook >= leastLookInterval
        guard isDue, !state.isWanted, !state.pending.isEmpty else { return (nil, false) }
        state.isWanted = true
        return (nil, true)
      })
    if isLong { shared.signal() }
    if let failure { throw failure }
  }

  /// Lets the thread make room at once.
  private func wakeIfFull(_ isFull: (Shared) -> Bool) {
    let isWaking = shared.withLock { state in
      guard isFull(state), !state.isWanted else { return false }
      state.isWanted = true
      return true
    }
    if isWaking { shared.signal() }
  }

  func mark(_ detail: String, name: String) {
    shared.withLock { state in
      let time = state.newest ?? clock.anchor().time
      state.pending.input.events.append(SourceEvent(time: time, name: name, detail: detail))
    }
  }

  var progress: Progress {
    shared.withLock { state in
      var progress = state.progress
      progress.lostSamples = state.lostSamples
      progress.waitingBytes = state.pendingBytes + state.writingBytes
      return progress
    }
  }

  func finish(ended: String, counters: PipelineCounters) throws(MotionKitError) -> ClosingSummary {
    join()
    // The thread is gone; what has come since, or without a thread, is written here.
    while drain() {}
    var failure = shared.withLock { $0.failure }
    do throws(MotionKitError) {
      try finishFiles()
    } catch { failure = failure ?? error }
    // The parts before say what they hold; what was lost is told at the end.
    var summary = files.summary(failure.map { "stopped: \($0)" } ?? ended)
    summary.pipelineCounters = counters
    summary.lost = lostRows()
    info.closing = summary
    do throws(MotionKitError) {
      try files.write(info)
    } catch { failure = failure ?? error }
    files.closeAll()
    let (rows, bytes) = (whole.rows, doneBytes + files.bytes)
    shared.withLock { ($0.progress.rows, $0.progress.bytes) = (rows, bytes) }
    if let failure { throw failure }
    return ClosingSummary(joining: done + [summary])
  }

  /// Lets the thread write what waits, and waits for its end.
  func join() {
    shared.withLock { $0.isEnding = true }
    shared.signal()
    thread.withLock { running in
      running?.join()
      running = nil
    }
  }

  // MARK: The writing thread's side

  /// The producer wakes the thread when this many bytes wait, or so long after it has last looked, seconds; without
  /// anything to write the thread looks by itself now and then.
  private static let wakeSize = 128 * 1024
  private static let lookInterval = (least: 0.4, longest: 1.0)

  private var leastLookInterval: Int64 { Int64(min(Self.lookInterval.least, 0.4 * options.syncInterval) * 1e9) }

  private func run() {
    var isEnding = false
    while !isEnding {
      isEnding = shared.wait(
        seconds: min(Self.lookInterval.longest, max(0.05, options.syncInterval)),
        until: { $0.isEnding || $0.isWanted },
        then: { $0.isEnding })
      while drain() {}
    }
  }

  /// Writes what waits now, and syncs when it is time. Returns whether there was something to write.
  @discardableResult
  func drain() -> Bool {
    let hasRows = shared.withLock { state in
      state.lastLook = clock.monotonic()
      state.isWanted = false
      swap(&state.pending, &spare)
      state.writingBytes = state.pendingBytes
      state.pendingBytes = 0
      return !spare.isEmpty
    }
    defer { spare.removeAll() }
    do throws(MotionKitError) {
      if shared.withLock({ $0.failure == nil }) {
        if hasRows { try writeSpare() }
        try watchClock()
        try syncIfDue()
      }
    } catch { fail(error) }
    guard hasRows else { return false }
    let (rows, bytes) = (whole.rows, doneBytes + files.bytes)
    shared.withLock { state in
      state.progress.rows = rows
      state.progress.bytes = bytes
      state.writingBytes = 0
    }
    shared.signal()
    return true
  }

  /// What all parts hold.
  private var whole: ClosingSummary { ClosingSummary(joining: done + [files.summary("")]) }

  /// Samples written between two looks at the size of a part or at the room on the disk.
  private static let sizeStep = 512

  /// Writes `spare`, in parts where they are asked for.
  private func writeSpare() throws(MotionKitError) {
    while let first = spare.input.samples.first, let last = spare.input.samples.last {
      var cut = Timestamp(nanoseconds: .max)
      if case .seconds(let length) = options.rotation {
        if let begin = files.firstTime, first.time >= begin.advanced(bySeconds: length) { try beginPart() }
        cut = (files.firstTime ?? first.time).advanced(bySeconds: length)
      }
      var looksAtSize = options.minimumFreeBytes > 0
      if case .bytes(let limit) = options.rotation {
        looksAtSize = true
        if files.firstTime != nil, files.bytes >= limit { try beginPart() }
      }
      if looksAtSize, spare.input.samples.count > Self.sizeStep {
        cut = min(cut, spare.input.samples[Self.sizeStep].time)
      }
      guard cut > first.time, cut <= last.time else { break }
      try write(spare.removeHead(before: cut))
    }
    try write(spare)
  }

  private func write(_ batch: ProcessedBatch) throws(MotionKitError) {
    if options.minimumFreeBytes > 0 { try checkFreeBytes(for: Self.textSize(of: batch)) }
    try files.write(batch)
  }

  /// Begins the next part and ends this one. The next one is made first: where it cannot be, this one still tells how
  /// the recording ended.
  private func beginPart() throws(MotionKitError) {
    let next = (info.part ?? 0) + 1
    var nextInfo = info
    nextInfo.part = next
    let nextFiles = try Self.files(
      directory, nextInfo, options, layer, after: files.newest, rowsBefore: whole.rows)
    do throws(MotionKitError) {
      try nextFiles.begin(nextInfo)
      try files.finish()
      let summary = files.summary(ClosingSummary.continued + SessionDirectory.partName(Int(next)))
      var ended = info
      ended.closing = summary
      try files.write(ended)
      done.append(summary)
    } catch {
      nextFiles.discard()
      layer.remove(nextFiles.directory)
      throw error
    }
    doneBytes += files.bytes
    lateByKind.merge(files.late, uniquingKeysWith: +)
    files.closeAll()
    files = nextFiles
    info = nextInfo
  }

  /// Share of the time between syncs by which one may be early.
  private static let syncTolerance = 0.25

  private func syncIfDue() throws(MotionKitError) {
    let now = clock.monotonic()
    // The thread comes by with the batches: a little too early is better than half a batch too late.
    guard now >= nextSync - Int64(Self.syncTolerance * options.syncInterval * 1e9) else { return }
    // From one to the next by the interval, so that those that are early are no more than were asked for.
    nextSync = max(nextSync, now) + Int64(options.syncInterval * 1e9)
    try files.sync()
    if options.minimumFreeBytes > 0 { try checkFreeBytes(for: 0) }
  }

  /// Looks whether so many bytes more leave the minimum free.
  private func checkFreeBytes(for size: Int64) throws(MotionKitError) {
    guard let free = files.freeBytes, free - size < options.minimumFreeBytes else { return }
    throw .fileSystem(
      path: directory, errno: 28,
      hint: "\(free) bytes are free, and the minimum is \(options.minimumFreeBytes): the recording stopped before the"
        + " disk is full")
  }

  private func watchClock() throws(MotionKitError) {
    guard let news = clockWatch?.check(clock: clock) else { return }
    info.anchors.append(news.anchor)
    if let event = news.event { try files.write(event) }
    try files.flush(.events)
  }

  /// Stops the recording; rows of other files that can still be written are.
  private func fail(_ error: MotionKitError) {
    for file in SessionFile.allCases { try? files.flush(file) }
    try? files.sync()
    shared.withLock { $0.failure = $0.failure ?? error }
    shared.signal()
  }

  private func finishFiles() throws(MotionKitError) {
    let overflow = shared.withLock { $0.overflow }
    if let overflow { try files.write(Self.endEvent(overflow)) }
    if clockWatch != nil { info.anchors.append(clock.anchor()) }
    try files.finish()
  }

  /// Rows that were produced and are in no part.
  private func lostRows() -> [SessionFile: Int64] {
    let written = whole.rows
    let late = lateByKind.merging(files.late, uniquingKeysWith: +)
    let state = shared.withLock { $0 }
    var lost: [SessionFile: Int64] = [:]
    for kind in SensorKind.allCases {
      let file = SessionFile(kind)
      lost[file] = state.produced[Int(kind.rawValue)] - (written[file] ?? 0) - (late[kind] ?? 0)
    }
    if options.writesDerivedFiles {
      for (file, produced) in state.producedDerived { lost[file] = produced - (written[file] ?? 0) }
    }
    return lost.filter { $0.value > 0 }
  }

  // MARK: Counting

  private static func size(of batch: ProcessedBatch) -> Int {
    batch.input.samples.count * MemoryLayout<SensorSample>.stride
      + batch.motions.count * MemoryLayout<MotionState>.stride
      + batch.steps.count * MemoryLayout<Step>.stride
      + batch.altitudes.count * MemoryLayout<AltitudeState>.stride
      + batch.activities.count * MemoryLayout<ActivityState>.stride
      + batch.input.events.reduce(0) { $0 + MemoryLayout<SourceEvent>.stride + $1.detail.utf8.count }
  }

  /// Longest usual text of a cell with what separates it: seventeen digits, a sign, a point and an exponent.
  private static let longestText: Int64 = 25

  /// Bytes that a batch's rows may take, at most.
  private static func textSize(of batch: ProcessedBatch) -> Int64 {
    func size(_ rows: Int, _ file: SessionFile) -> Int64 {
      Int64(rows) * Int64(file.columns.count) * longestText
    }
    let events = batch.input.events
    return size(batch.input.samples.count, .accelerometer) + size(batch.motions.count, .deviceMotion)
      + size(batch.steps.count, .steps) + size(batch.altitudes.count, .altitude)
      + size(batch.activities.count, .activity) + size(events.count, .events)
      + events.reduce(0) { $0 + Int64($1.detail.utf8.count) }
  }

  private static func count(_ batch: ProcessedBatch, in state: inout Shared) {
    var counts = SIMD8<Int64>.zero
    for sample in batch.input.samples { counts[Int(sample.kind.rawValue)] += 1 }
    for index in state.produced.indices { state.produced[index] += counts[index] }
    func add(_ count: Int, to file: SessionFile) {
      if count > 0 { state.producedDerived[file, default: 0] += Int64(count) }
    }
    add(batch.motions.count, to: .deviceMotion)
    add(batch.steps.count, to: .steps)
    add(batch.altitudes.count, to: .altitude)
    add(batch.activities.count, to: .activity)
    if let last = batch.input.samples.last { state.newest = max(state.newest ?? last.time, last.time) }
  }

  private static func drop(_ batch: ProcessedBatch, in state: inout Shared) {
    // Events are few and say what happened: they always go in.
    state.pending.input.events.append(contentsOf: batch.input.events)
    guard let first = batch.input.samples.first, let last = batch.input.samples.last else { return }
    var overflow = state.overflow ?? Overflow(from: first.time, to: last.time)
    if state.overflow == nil {
      state.pending.input.events.append(
        SourceEvent(
          time: first.time, name: "overflow", detail: "samples are being lost because the disk does not keep up"))
    }
    overflow.to = last.time
    overflow.samples += Int64(batch.input.samples.count)
    state.overflow = overflow
    state.lostSamples += Int64(batch.input.samples.count)
  }

  private static func endEvent(_ overflow: Overflow) -> SourceEvent {
    SourceEvent(
      time: overflow.to, name: "overflow_end",
      detail: "\(overflow.samples) samples from \(overflow.from.seconds) s on were lost")
  }
}
