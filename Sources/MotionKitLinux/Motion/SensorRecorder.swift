import Glibc
import SensorFusion

/// Records the accelerometer at 50 Hz for a while, and gives back what was recorded in the last three days.
///
/// Each recording is a session (a directory that `motionlog` reads too) below `directory`. It goes on while this
/// process runs: for recordings that outlive a program, run `motionlog record`.
public final class SensorRecorder: Sendable {
  /// One recorded reading.
  public struct Record: Hashable, Sendable {
    /// The recording it belongs to: grows from one recording to the next.
    public var identifier: UInt64
    /// UTC, nanoseconds since 1970-01-01.
    public var utcNanoseconds: Int64
    /// The reading.
    public var data: AccelerometerData
  }

  /// Samples a second, as on a phone.
  public static let rate = 50.0
  /// The longest recording and the longest query, seconds.
  public static let longestDuration = 12 * 3600.0
  /// Recordings older than this are removed, seconds.
  public static let retention = 3 * 86400.0

  /// Where the samples come from: the source it was given, else the process's, looked up at each start.
  public var source: SharedSource { binding.source }
  /// Where the recordings are.
  public let directory: String

  private let binding: SourceBinding
  private static let prefix = "accelerometer-"

  /// A recorder of a source, by default the process's.
  ///
  /// - Parameters:
  ///   - source: Where the samples come from; nil for the process's.
  ///   - directory: Where the recordings are; by default `motionkit/recorder` in the user's state directory
  ///     (XDG_STATE_HOME, else `~/.local/state`).
  public init(source: SharedSource? = nil, directory: String? = nil) {
    binding = SourceBinding(source)
    self.directory = directory ?? Self.defaultDirectory
  }

  /// `motionkit/recorder` in the user's state directory.
  static var defaultDirectory: String {
    let state = environment("XDG_STATE_HOME") ?? (environment("HOME") ?? "/var/tmp") + "/.local/state"
    return state + "/motionkit/recorder"
  }

  /// Whether there is an accelerometer.
  public var isAvailable: Bool { source.has(.accelerometer) }

  /// Starts a recording; several may run. It ends by itself after `duration` seconds of samples (at most 12 hours).
  ///
  /// Throws `MotionKitError` where there is no accelerometer or the directory cannot be made.
  public func record(duration: Double) throws(MotionKitError) {
    guard duration > 0 else {
      throw .unsupported(what: "recording for \(duration) s", hint: "the duration must be above 0")
    }
    let source = binding.sourceForStart()
    try source.require([.accelerometer], for: "recording")
    try makeDirectory()
    removeOld()
    let consumer = RecordingConsumer(
      directory: directory, prefix: Self.prefix, duration: min(duration, Self.longestDuration), source: source)
    source.add(consumer)
  }

  /// What was recorded from `start` to `end` (UTC nanoseconds, both included; at most 12 hours), in order of time.
  ///
  /// - Throws: `MotionKitError.unsupported` where the end is before the start or more than 12 hours after it;
  ///   file errors.
  public func records(from start: Int64, to end: Int64) throws(MotionKitError) -> [Record] {
    let (span, overflow) = end.subtractingReportingOverflow(start)
    guard !overflow, span >= 0, Double(span) <= Self.longestDuration * 1e9 else {
      throw .unsupported(
        what: "a query from \(start) to \(end) (UTC ns)", hint: "the end comes at most 12 hours after the start")
    }
    var records: [Record] = []
    for (name, began) in recordings where began <= end && began >= start - Int64(Self.longestDuration * 1e9) {
      let reader = try SessionReader(directory: directory + "/" + name, sensors: [.accelerometer])
      guard let anchor = reader.info.anchors.first else { continue }
      while let sample = try reader.next() {
        let utc = anchor.utcNanoseconds &+ (sample.time.nanoseconds &- anchor.time.nanoseconds)
        guard utc >= start else { continue }
        guard utc <= end else { break }
        records.append(
          Record(identifier: UInt64(clamping: began), utcNanoseconds: utc, data: AccelerometerData(sample)))
      }
    }
    return records.sorted { $0.utcNanoseconds < $1.utcNanoseconds }
  }

  /// The recordings' directory names with the UTC at which each began, the oldest first.
  private var recordings: [(name: String, began: Int64)] {
    let names = (try? SystemFileLayer().list(directory)) ?? []
    return names.compactMap { name in
      guard name.hasPrefix(Self.prefix), let began = Int64(name.dropFirst(Self.prefix.count)) else { return nil }
      return (name, began)
    }
    .sorted { $0.1 < $1.1 }
  }

  private func makeDirectory() throws(MotionKitError) {
    var path = ""
    for part in directory.split(separator: "/") {
      path += (path.isEmpty && !directory.hasPrefix("/") ? "" : "/") + part
      if mkdir(path, 0o755) != 0, errno != EEXIST, access(path, F_OK) != 0 {
        throw .fileSystem(path: path, errno: errno, hint: "choose another directory, or set XDG_STATE_HOME")
      }
    }
  }

  /// Removes recordings that began before what a query can still reach.
  private func removeOld() {
    let oldest = ClockAnchor.now().utcNanoseconds - Int64((Self.retention + Self.longestDuration) * 1e9)
    for (name, began) in recordings where began < oldest {
      let session = directory + "/" + name
      for file in (try? SystemFileLayer().list(session)) ?? [] { unlink(session + "/" + file) }
      rmdir(session)
    }
  }
}

/// Writes accelerometer samples to a session until its time is up.
private final class RecordingConsumer: SampleConsumer, @unchecked Sendable {
  private static let samplesPerBatch = 50

  let demand = SensorDemand(rates: [.accelerometer: SensorRecorder.rate], required: [.accelerometer])
  private let directory: String
  private let prefix: String
  private let duration: Double
  private let source: SharedSource

  // Confined to the reading thread.
  private var description: SourceDescription?
  private var writer: SessionWriter?
  private var batch = ProcessedBatch()
  private var gate = UpdateGate(interval: 1 / SensorRecorder.rate)
  private var first: Timestamp?
  private var isDone = false

  init(directory: String, prefix: String, duration: Double, source: SharedSource) {
    self.directory = directory
    self.prefix = prefix
    self.duration = duration
    self.source = source
  }

  func begin(_ description: SourceDescription) { self.description = description }

  func take(_ sample: SensorSample) {
    guard !isDone, sample.kind == .accelerometer, gate.passes(sample.time, sensorInterval: 0) else { return }
    let first = self.first ?? sample.time
    self.first = first
    guard sample.time.seconds(since: first) < duration else { return finish(nil) }
    batch.input.samples.append(sample)
    if batch.input.samples.count >= Self.samplesPerBatch { write() }
  }

  func finish(_ error: MotionKitError?) {
    guard !isDone else { return }
    write()
    isDone = true
    _ = try? writer?.finish(ended: error.map { "\($0)" } ?? "finished")
    writer = nil
    source.remove(self)
  }

  func waitUntilIdle() {}

  func close() {}

  private func write() {
    guard let first = batch.input.samples.first else { return }
    source.noteDelivery()
    do {
      let writer = try self.writer ?? open(at: first.time)
      self.writer = writer
      try writer.consume(batch)
    } catch {
      // A disk that fails ends the recording; what was written stays readable.
      isDone = true
      writer = nil
      source.remove(self)
    }
    batch.input.samples.removeAll(keepingCapacity: true)
  }

  private func open(at time: Timestamp) throws(MotionKitError) -> SessionWriter {
    let utc = source.utcNanoseconds(at: time)
    var description = self.description ?? SourceDescription(uri: source.uri, sensors: [], isLive: true)
    description.sensors.removeAll { $0.kind != .accelerometer }
    var info = SessionInfo(source: description, pipeline: MotionPipeline.Configuration())
    info.anchors = [ClockAnchor(time: time, utcNanoseconds: utc)]
    var options = SessionWriter.Options()
    options.writesDerivedFiles = false
    options.watchesClocks = false
    return try SessionWriter(directory: directory + "/" + prefix + String(utc), info: info, options: options)
  }
}
