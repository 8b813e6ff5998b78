import SensorFusion

/// Which part of a recording is replayed, and how often.
public struct ReplayRange: Hashable, Sendable {
  /// Seconds from the first sample at which the replay begins.
  public var from = 0.0
  /// Seconds from the first sample behind which it ends; nil for the end of the recording.
  public var to: Double?
  /// Whether it begins again when it has ended; the times of the samples go on.
  public var loops = false

  /// The whole recording, once.
  public init() {}
}

/// A recorded session as a source: at its own speed, at a factor of it, or as fast as it is read.
///
/// Every row is scheduled by its own time stamp against one start, so that the pace has no drift and does not depend
/// on what the first rows look like. The samples are the same at every speed.
public final class RecordingSource: SensorSource, @unchecked Sendable {
  /// Samples in one batch at most.
  private static let batchSize = 4096

  /// What is there, found when the source was opened. `notes` tells what was tolerated in the files.
  public let description: SourceDescription
  /// What session.json says.
  public let info: SessionInfo

  private let pacing: Pacing
  private let range: ReplayRange
  private let paused = Locked(false)
  private let clock: any PacingClock
  private let stopped = Locked(false)
  // One consumer.
  private let directory: String
  private var reader: SessionReader?
  private var isOpen = false
  /// The instant of the replay clock and of the samples' clock that belong together.
  private var origin: (clock: Int64, time: Timestamp)?
  private var newest = Timestamp(nanoseconds: 0)
  /// Behind this instant the range ends.
  private var end: Timestamp?
  /// What is added to the recording's times in the current round of a loop.
  private var offset: Int64 = 0
  /// The distance of the last two instants, to go on with after a round.
  private var step: Int64 = 0
  private var previousOffset: Int64 = 0
  private var pausedSince: Int64?

  /// Opens a session.
  ///
  /// - Parameters:
  ///   - directory: The session's directory.
  ///   - pacing: How fast it plays; a speed must be above 0.
  ///   - range: Which part of it, and whether again and again.
  /// - Throws: As `SessionReader`.
  public convenience init(
    directory: String, pacing: Pacing = .speed(1), range: ReplayRange = ReplayRange()
  ) throws(MotionKitError) {
    try self.init(directory: directory, pacing: pacing, range: range, clock: SystemPacingClock())
  }

  init(
    directory: String, pacing: Pacing, range: ReplayRange = ReplayRange(), clock: any PacingClock
  ) throws(MotionKitError) {
    if case .speed(let factor) = pacing, !Pacing.speeds.contains(factor) {
      throw .unsupported(
        what: "a replay speed of \(factor)", hint: "give a factor from 0.001 to 1000000, or replay unpaced")
    }
    self.directory = directory
    self.pacing = pacing
    self.range = range
    self.clock = clock
    let reader = try SessionReader(directory: directory)
    info = reader.info
    var description = SourceDescription(
      uri: "file:" + directory, sensors: [], host: info.host, notes: info.notes + reader.report.notes, isLive: false,
      anchors: info.anchors)
    for kind in reader.sensors {
      var sensor =
        info.sensor(kind) ?? SensorDescription(kind: kind, name: kind.name, identity: "", rate: 0)
      sensor.capture = "replayed"
      description.sensors.append(sensor)
    }
    description.calibrations = info.pipeline.calibration
    self.description = description
  }

  /// Chooses the sensors that the request names (all, where it names none); rates are those of the recording.
  public func start(_ request: SensorRequest) throws(MotionKitError) -> SourceDescription {
    var started = description
    if !request.rates.isEmpty {
      started.sensors = started.sensors.filter { request.rates[$0.kind] != nil }
    }
    for kind in request.required.sorted() where started.sensor(kind) == nil {
      throw .noSensors(
        uri: description.uri,
        hint:
          "the recording has no \(kind.name); it has \(description.sensors.map(\.kind.name).joined(separator: ", "))")
    }
    guard !started.sensors.isEmpty else {
      throw .noSensors(uri: description.uri, hint: "the recording holds none of the sensors asked for")
    }
    wanted = Set(started.sensors.map(\.kind))
    reader = try openRound()
    isOpen = true
    return started
  }

  private var wanted: Set<SensorKind> = []

  /// The recording at the beginning of the range.
  private func openRound() throws(MotionKitError) -> SessionReader {
    let reader = try SessionReader(directory: directory, sensors: wanted)
    if range.from > 0 { try reader.seek(toElapsed: range.from) }
    end = range.to.flatMap { to in reader.firstTime.map { $0.advanced(bySeconds: to) } }
    return reader
  }

  /// Lets the replay stand still until `resume`; `read` then runs into its timeout. From any thread.
  public func pause() { paused.withLock { $0 = true } }

  /// Lets the replay go on where it stood. From any thread.
  public func resume() { paused.withLock { $0 = false } }

  /// Clears `batch` and fills it with what is due; unpaced, with as much as fits.
  public func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus {
    batch.removeAll()
    guard let reader, isOpen else { return .end }
    if stopped.withLock({ $0 }) {
      isOpen = false
      return .end
    }
    if case .unpaced = pacing, paused.withLock({ $0 }) {
      return standStill(until: clock.nanoseconds + Int64(max(0, min(timeout, 1e9)) * 1e9))
    }
    var due = end
    if case .speed(let factor) = pacing {
      guard let next = nextTime(reader) else { return try finish(reader, &batch) }
      let now = clock.nanoseconds
      let deadline = now + Int64(max(0, min(timeout, 1e9)) * 1e9)
      guard keepPace(now, next) else { return standStill(until: deadline) }
      let origin = self.origin ?? (now, next)
      self.origin = origin
      let nextDue = origin.clock + Self.scaled(next.nanoseconds &- origin.time.nanoseconds, by: 1 / factor)
      if nextDue > now {
        clock.wait(until: min(nextDue, deadline))
        if stopped.withLock({ $0 }) {
          isOpen = false
          return .end
        }
        if deadline < nextDue { return .timeout }
      }
      let elapsed = Self.scaled(max(clock.nanoseconds, nextDue) &- origin.clock, by: factor)
      let reached = max(next, Timestamp(nanoseconds: origin.time.nanoseconds &+ elapsed))
      due = min(reached, end ?? reached)
    }
    fill(&batch, from: reader, until: due)
    if batch.samples.isEmpty { return try finish(reader, &batch) }
    return .data
  }

  /// How far the current round is, from 0 to 1: by time where the recording tells its end, else by bytes. For the
  /// thread that reads.
  public var share: Double {
    guard let reader, let first = reader.firstTime else { return 0 }
    guard let last = end ?? info.closing?.timeSpan?.upperBound else { return reader.progress.share }
    let begin = first.advanced(bySeconds: range.from)
    let length = last.seconds(since: begin)
    return length > 0 ? max(0, min(1, newestRead.seconds(since: begin) / length)) : 1
  }

  /// Whether it begins again when it has ended.
  public var loops: Bool { range.loops }

  /// The time of the next sample within the range; nil behind it.
  private func nextTime(_ reader: SessionReader) -> Timestamp? {
    guard let next = reader.nextTime else { return nil }
    if let end, next > end { return nil }
    return next
  }

  /// Whether time passes; after a pause it goes on where it stood.
  private func keepPace(_ now: Int64, _ next: Timestamp) -> Bool {
    if paused.withLock({ $0 }) {
      pausedSince = pausedSince ?? now
      return false
    }
    if let since = pausedSince, let origin { self.origin = (origin.clock + (now - since), origin.time) }
    pausedSince = nil
    return true
  }

  private func standStill(until deadline: Int64) -> ReadStatus {
    clock.wait(until: deadline)
    guard stopped.withLock({ $0 }) else { return .timeout }
    isOpen = false
    return .end
  }

  private func fill(_ batch: inout SampleBatch, from reader: SessionReader, until due: Timestamp?) {
    guard reader.takeSamples(into: &batch.samples, atMost: Self.batchSize, before: due) else { return }
    for sample in batch.samples where sample.time != newestRead {
      step = sample.time.nanoseconds &- newestRead.nanoseconds
      newestRead = sample.time
    }
    guard let last = batch.samples.last else { return }
    while let event = reader.takeEvent(before: last.time) { batch.events.append(event) }
    if offset != 0 {
      for index in batch.samples.indices { batch.samples[index].time.nanoseconds &+= offset }
      for index in batch.events.indices { batch.events[index].time.nanoseconds &+= offset }
    }
    self.newest = Timestamp(nanoseconds: last.time.nanoseconds &+ offset)
  }

  /// The newest sample's own time in the recording.
  private var newestRead = Timestamp(nanoseconds: 0)

  /// The end of the samples, or the fault that stands there.
  private func finish(_ reader: SessionReader, _ batch: inout SampleBatch) throws(MotionKitError) -> ReadStatus {
    let fault = reader.takeFault()
    if range.loops, fault == nil, reader.firstTime != nil {
      let next = try openRound()
      // A round without a sample would go on for ever.
      if let first = nextTime(next) {
        self.reader = next
        offset = newest.nanoseconds &+ max(step, 1) &- first.nanoseconds
        if let origin {
          // The pace goes on from the last sample.
          self.origin = (origin.clock, Timestamp(nanoseconds: origin.time.nanoseconds &- offset &+ previousOffset))
          previousOffset = offset
        }
        return .data
      }
    }
    isOpen = false
    while let event = reader.takeEvent(before: nil) { batch.events.append(event) }
    for note in reader.report.notes where !description.notes.contains(note) {
      batch.events.append(SourceEvent(time: newest, name: "tolerated", detail: note))
    }
    if let fault { throw fault }
    return .end
  }

  /// Ends a waiting `read` at once. From any thread.
  public func stop() {
    stopped.withLock { $0 = true }
    clock.interrupt()
  }

  /// What was tolerated in the files so far; complete at the end.
  public var report: ReadReport { reader?.report ?? ReadReport() }

  private static func scaled(_ nanoseconds: Int64, by factor: Double) -> Int64 {
    Int64(max(-9e18, min(9e18, Double(nanoseconds) * factor)))
  }
}
