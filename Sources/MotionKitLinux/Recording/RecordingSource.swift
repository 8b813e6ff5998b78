import SensorFusion

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
  private let clock: any PacingClock
  private let stopped = Monitor(false)
  // One consumer.
  private let directory: String
  private var reader: SessionReader?
  private var isOpen = false
  /// The instant of the replay clock and of the samples' clock that belong together.
  private var origin: (clock: Int64, time: Timestamp)?
  private var newest = Timestamp(nanoseconds: 0)
  private var hasReported = false

  /// Opens a session.
  ///
  /// - Parameters:
  ///   - directory: The session's directory.
  ///   - pacing: How fast it plays; a speed must be above 0.
  /// - Throws: As `SessionReader`.
  public convenience init(directory: String, pacing: Pacing = .speed(1)) throws(MotionKitError) {
    try self.init(directory: directory, pacing: pacing, clock: SystemPacingClock())
  }

  init(directory: String, pacing: Pacing, clock: any PacingClock) throws(MotionKitError) {
    if case .speed(let factor) = pacing, !(factor > 0 && factor.isFinite) {
      throw .unsupported(what: "a replay speed of \(factor)", hint: "give a number above 0, or replay unpaced")
    }
    self.directory = directory
    self.pacing = pacing
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
    reader = try SessionReader(directory: directory, sensors: Set(started.sensors.map(\.kind)))
    isOpen = true
    return started
  }

  /// Clears `batch` and fills it with what is due; unpaced, with as much as fits.
  public func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus {
    batch.removeAll()
    guard let reader, isOpen else { return .end }
    if stopped.withLock({ $0 }) {
      isOpen = false
      return .end
    }
    var due: Timestamp?
    if case .speed(let factor) = pacing {
      guard let next = reader.nextTime else { return try finish(reader, &batch) }
      let now = clock.nanoseconds
      let origin = self.origin ?? (now, next)
      self.origin = origin
      let nextDue = origin.clock + Self.scaled(next.nanoseconds &- origin.time.nanoseconds, by: 1 / factor)
      if nextDue > now {
        let deadline = now + Int64(max(0, min(timeout, 1e9)) * 1e9)
        clock.wait(until: min(nextDue, deadline))
        if stopped.withLock({ $0 }) {
          isOpen = false
          return .end
        }
        if deadline < nextDue { return .timeout }
      }
      let elapsed = Self.scaled(max(clock.nanoseconds, nextDue) &- origin.clock, by: factor)
      due = max(next, Timestamp(nanoseconds: origin.time.nanoseconds &+ elapsed))
    }
    fill(&batch, from: reader, until: due)
    if batch.samples.isEmpty { return try finish(reader, &batch) }
    return .data
  }

  private func fill(_ batch: inout SampleBatch, from reader: SessionReader, until due: Timestamp?) {
    while batch.samples.count < Self.batchSize, let sample = reader.takeSample(before: due) {
      batch.samples.append(sample)
    }
    guard let last = batch.samples.last else { return }
    newest = last.time
    while let event = reader.takeEvent(before: last.time) { batch.events.append(event) }
  }

  /// The end of the samples, or the fault that stands there.
  private func finish(_ reader: SessionReader, _ batch: inout SampleBatch) throws(MotionKitError) -> ReadStatus {
    isOpen = false
    let fault = reader.takeFault()
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
