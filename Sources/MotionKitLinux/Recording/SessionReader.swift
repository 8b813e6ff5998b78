import Glibc
import SensorFusion

/// Reads a recorded session: its samples, merged by time as the live session had them, and its events.
///
/// Memory is bounded whatever the size of the files. What is not as it should be is tolerated where nothing has to be
/// guessed, and counted in `report`; a cell that is no number is an error with file, line and column.
public final class SessionReader {
  /// The session's directory.
  public let directory: String
  let files: SessionDirectory
  /// What session.json says, or what can be told from the files where it is missing.
  public let info: SessionInfo
  /// The raw files that are there.
  public let sensors: [SensorKind]

  private var headerReport = ReadReport()
  private let streams: [SampleStream]
  /// Where the streams that have a next sample stand, in the order of their kinds.
  private let cursors: UnsafeMutablePointer<Cursor>
  /// How many they are.
  private var liveCount = 0
  private let events: EventFileReader?
  private var eventHead: SourceEvent?
  /// A fault met while looking ahead: reported when everything before it has been given out.
  private var pendingFault: MotionKitError?
  private var hasFault = false

  /// The samples of a stream that have been read, from the next one on. Plain pointers: the merging looks at all of them
  /// for each sample.
  private struct Cursor {
    var next: UnsafePointer<SensorSample>
    var end: UnsafePointer<SensorSample>
    var stream: Int
  }

  /// Opens a session.
  ///
  /// - Parameters:
  ///   - directory: The session's directory.
  ///   - wanted: The sensors to read; nil for all.
  /// - Throws: `MotionKitError.notFound` if there is no such directory or no raw file in it; `.invalidFile` for a
  ///   header that is not a session's.
  public convenience init(directory: String, sensors wanted: Set<SensorKind>? = nil) throws(MotionKitError) {
    try self.init(directory: directory, sensors: wanted, skipsBadRows: false)
  }

  /// `skipsBadRows`: rows with a cell that is no number are dropped and counted instead of being an error.
  init(directory: String, sensors wanted: Set<SensorKind>?, skipsBadRows: Bool) throws(MotionKitError) {
    self.directory = directory
    files = try SessionDirectory(directory)
    let files = files
    let found = SensorKind.allCases.filter { files.has(SessionFile($0)) }
    info = try Self.readInfo(files, sensors: found, report: &headerReport)
    for sensor in info.sensors where !found.contains(sensor.kind) {
      headerReport.add(.missingFile, file: SessionFile(sensor.kind).fileName)
    }
    var streams: [SampleStream] = []
    var firstFault: MotionKitError?
    for kind in found where wanted?.contains(kind) ?? true {
      do throws(MotionKitError) {
        let lines = try files.lines(SessionFile(kind))
        streams.append(SampleStream(try SampleFileReader(kind, lines: lines, skipsBadRows: skipsBadRows)))
      } catch {
        guard skipsBadRows else { throw error }
        headerReport.add(leftOut: SessionFile(kind), error)
        firstFault = firstFault ?? error
      }
    }
    if streams.isEmpty, let firstFault { throw firstFault }
    sensors = streams.map { $0.kind }
    var events: EventFileReader?
    if files.has(.events) {
      do throws(MotionKitError) {
        events = try EventFileReader(lines: try files.lines(.events), skipsBadRows: skipsBadRows)
      } catch {
        guard skipsBadRows else { throw error }
        headerReport.add(leftOut: .events, error)
      }
    }
    self.events = events
    self.streams = streams
    cursors = .allocate(capacity: max(1, streams.count))
    for stream in streams.indices {
      guard let cursor = filled(stream) else { continue }
      (cursors + liveCount).initialize(to: cursor)
      liveCount += 1
    }
    advanceEvents()
    firstTime = nextTime
  }

  /// How much of the raw files has been read.
  public var progress: WorkProgress { streams.reduce(WorkProgress()) { $0 + $1.progress } }

  deinit { cursors.deallocate() }

  /// The time of the first sample; nil without samples.
  public private(set) var firstTime: Timestamp?

  private static func readInfo(
    _ files: SessionDirectory, sensors: [SensorKind], report: inout ReadReport
  ) throws(MotionKitError) -> SessionInfo {
    var info: SessionInfo?
    var closings: [ClosingSummary?] = []
    for file in files.infoFiles {
      guard let part = try readInfo(file.path, name: file.name, report: &report) else { continue }
      closings.append(part.closing)
      guard var whole = info else {
        info = part
        continue
      }
      whole.anchors += part.anchors.filter { !whole.anchors.contains($0) }
      whole.sensors += part.sensors.filter { whole.sensor($0.kind) == nil }
      info = whole
    }
    var missing = files.missingParts
    if files.isRotated, let last = closings.last, let next = last?.continuesIn, !missing.contains(next),
      !files.parts.contains(files.path + "/" + next)
    {
      missing.append(next)
    }
    for part in missing { report.add(.missingPart, file: part) }
    if files.infoFiles.count < files.parts.count { report.add(.missingInfo, file: "session.json") }
    guard var info else {
      var fallback = SessionInfo(
        source: SourceDescription(uri: "file:" + files.path, sensors: [], isLive: false), pipeline: .init())
      fallback.sensors = sensors.map { SensorDescription(kind: $0, name: $0.name, identity: "", rate: 0) }
      fallback.pipeline.filter.hasGyroscope = sensors.contains(.gyroscope)
      return fallback
    }
    if files.isRotated {
      info.part = nil
      let all = closings.compactMap { $0 }
      info.closing = all.count == files.parts.count ? ClosingSummary(joining: all) : nil
    }
    return info
  }

  /// One session.json; nil where it cannot be read.
  private static func readInfo(
    _ path: String, name: String, report: inout ReadReport
  ) throws(MotionKitError) -> SessionInfo? {
    do throws(MotionKitError) {
      var missing: [String] = []
      let bytes = try readWhole(path)
      let info: SessionInfo = try bytes.withTypedUnsafeBytes { (text) throws(MotionKitError) in
        try SessionInfo(json: text, path: path, missing: &missing)
      }
      for setting in missing { report.add(.missingSetting, file: name, detail: setting) }
      if info.closing == nil { report.add(.missingClosing, file: name) }
      return info
    } catch {
      // A newer format may mean something else by the same rows; anything else leaves the rows readable.
      if case .invalidFile(_, _, _, let reason) = error, reason.contains("format version is") { throw error }
      report.add(.badInfo, file: name, detail: "\(error)")
      return nil
    }
  }

  /// Reads a small file whole.
  /// All of a small file.
  static func readWhole(_ path: String) throws(MotionKitError) -> [UInt8] {
    /// No session.json and no calibration file is longer.
    let limit = 64 << 20
    do throws(FileFault) {
      let file = try FileBytes(path: path)
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = try chunk.withTypedUnsafeMutableBytes { (room) throws(FileFault) in try file.read(into: room) }
        if count == 0 { return bytes }
        bytes += chunk[..<count]
        guard bytes.count <= limit else { throw FileFault(errno: EFBIG) }
      }
    } catch { throw .file(path, error) }
  }

  /// What was tolerated so far; complete once `next` has returned nil.
  public var report: ReadReport {
    var report = headerReport
    for stream in streams {
      report.add(stream.report)
      if stream.isAtEnd, let told = info.closing?.rows[stream.file], told > stream.rows {
        report.add(
          .fewerRows, file: stream.file.fileName, detail: "\(stream.rows) of \(told), the rest is lost or was dropped")
      }
    }
    if let events { report.add(events.report) }
    return report
  }

  /// The newest sample's successor in (time, kind) order; nil at the end. Throws at a cell that is no number, after
  /// everything before it has been given out.
  public func next() throws(MotionKitError) -> SensorSample? {
    if let sample = takeSample(before: nil) { return sample }
    if let fault = takeFault() { throw fault }
    return nil
  }

  /// Appends the next samples in (time, kind) order, at most `count`: quicker than one by one.
  ///
  /// - Returns: Whether there was one; false at the end.
  /// - Throws: As `next()`, after everything before the fault has been given out.
  public func read(into samples: inout [SensorSample], atMost count: Int) throws(MotionKitError) -> Bool {
    if takeSamples(into: &samples, atMost: count, before: nil) { return true }
    if let fault = takeFault() { throw fault }
    return false
  }

  /// Appends samples that are not younger than `limit`; whether there was one.
  func takeSamples(into samples: inout [SensorSample], atMost count: Int, before limit: Timestamp?) -> Bool {
    let limit = limit ?? Timestamp(nanoseconds: .max)
    let begin = samples.count
    samples.reserveCapacity(begin + count)
    while samples.count < begin + count, liveCount > 0, !hasFault {
      let index = minimum
      let sample = cursors[index].next.pointee
      guard sample.time <= limit else { break }
      samples.append(sample)
      advance(index)
    }
    return samples.count > begin
  }

  /// Skips samples and events that lie before `elapsed` seconds from the first sample; the first one at or behind that
  /// instant is next. Forward only.
  public func seek(toElapsed elapsed: Double) throws(MotionKitError) {
    guard let first = firstTime ?? nextTime else { return }
    let target = first.advanced(bySeconds: elapsed)
    while let next = nextTime, next < target { _ = try self.next() }
    while let event = eventHead, event.time < target { advanceEvents() }
  }

  /// The time of the next sample; nil at the end or before a fault.
  var nextTime: Timestamp? { liveCount > 0 && !hasFault ? cursors[minimum].next.pointee.time : nil }

  /// The cursor at the next sample, where there is one. They are in the order of their kinds: of equal times the first
  /// stands.
  @inline(__always) private var minimum: Int {
    var best = 0
    var time = cursors[0].next.pointee.time
    var index = 1
    while index < liveCount {
      let other = cursors[index].next.pointee.time
      if other < time { (best, time) = (index, other) }
      index &+= 1
    }
    return best
  }

  /// The next sample if it is not younger than `limit`; nil otherwise, at the end and before a fault.
  @inline(__always)
  func takeSample(before limit: Timestamp?) -> SensorSample? {
    guard liveCount > 0, !hasFault else { return nil }
    let index = minimum
    let sample = cursors[index].next.pointee
    if let limit, sample.time > limit { return nil }
    advance(index)
    return sample
  }

  /// The next event if it is not younger than `limit`.
  func takeEvent(before limit: Timestamp?) -> SourceEvent? {
    guard let event = eventHead else { return nil }
    if let limit, event.time > limit { return nil }
    advanceEvents()
    return event
  }

  /// A fault that stands where the next sample would be; given once.
  func takeFault() -> MotionKitError? {
    guard let fault = pendingFault else { return nil }
    pendingFault = nil
    hasFault = false
    liveCount = 0
    return fault
  }

  @inline(__always)
  private func advance(_ index: Int) {
    cursors[index].next += 1
    if cursors[index].next == cursors[index].end { refill(index) }
  }

  /// Gets the next samples behind a cursor; where there are none, it goes.
  @inline(never)
  private func refill(_ index: Int) {
    if let cursor = filled(cursors[index].stream) {
      cursors[index] = cursor
      return
    }
    liveCount -= 1
    (cursors + index).update(from: cursors + (index + 1), count: liveCount - index)
  }

  /// A cursor at a stream's next samples.
  private func filled(_ stream: Int) -> Cursor? {
    do throws(MotionKitError) {
      let rows = try streams[stream].next()
      guard let first = rows.baseAddress, !rows.isEmpty else { return nil }
      return Cursor(next: first, end: first + rows.count, stream: stream)
    } catch {
      fail(error)
      return nil
    }
  }

  private func fail(_ fault: MotionKitError) {
    pendingFault = pendingFault ?? fault
    hasFault = true
  }

  private func advanceEvents() {
    do throws(MotionKitError) {
      eventHead = try events?.next()
    } catch {
      eventHead = nil
      fail(error)
    }
  }
}

extension ClosingSummary {
  /// The name of the part that a full one says it goes on in; nil where it was the last.
  fileprivate var continuesIn: String? {
    ended.hasPrefix(Self.continued) ? String(ended.dropFirst(Self.continued.count)) : nil
  }

  /// How a full part ended.
  static let continued = "continued in "
}

extension ReadReport {
  /// Adds a file that cannot be read as a session's.
  fileprivate mutating func add(leftOut file: SessionFile, _ fault: MotionKitError) {
    if case .invalidFile(_, let line, _, let reason) = fault {
      add(.badHeader, file: file.fileName, line: line, detail: reason)
    } else {
      add(.badHeader, file: file.fileName, detail: "\(fault)")
    }
  }
}

extension Array where Element == UInt8 {
  /// `withUnsafeBytes` that keeps the type of what `body` throws.
  func withTypedUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result: Result<R, E> = withUnsafeBytes { bytes in
      do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// `withUnsafeMutableBytes` that keeps the type of what `body` throws.
  mutating func withTypedUnsafeMutableBytes<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let result: Result<R, E> = withUnsafeMutableBytes { bytes in
      do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
