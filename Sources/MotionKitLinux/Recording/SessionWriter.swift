import SensorFusion

/// Records a session: a directory of CSV files with session.json beside them.
///
/// `consume` never waits for the disk: it copies the batch into a bounded buffer, which a thread of its own writes
/// out. A buffer that is full because the disk stalls drops whole batches; what was dropped is counted and becomes an
/// event in the recording. A disk that fails stops the recording: the next `consume` throws, and the rows written so
/// far stay valid.
///
///     let writer = try SessionWriter(directory: "walk", info: SessionInfo(source: description, pipeline: settings))
///     while try source.read(into: &batch.input, timeout: 1) != .end {
///       batch.process(with: &pipeline)
///       try writer.consume(batch)
///     }
///     try writer.finish(counters: pipeline.counters)
public final class SessionWriter: MotionSink, @unchecked Sendable {
  /// What to do with a batch when the buffer is full.
  public enum FullBufferPolicy: Hashable, Sendable {
    /// Drop it and count it: a live source does not wait.
    case drop
    /// Wait for the disk: for sources that can wait, such as a replay.
    case wait
  }

  /// When the next part of a recording begins.
  public enum Rotation: Hashable, Sendable {
    /// When the files of the part have about so many bytes together.
    case bytes(Int64)
    /// When the samples of the part span so many seconds.
    case seconds(Double)
  }

  /// How to record.
  public struct Options: Hashable, Sendable {
    /// Seconds after which data are on the disk at the latest, while the disk keeps up.
    public var syncInterval = 1.0
    /// Bytes of samples and outputs that may wait for the disk. 8 MiB hold about 25 s of three sensors at 1 kHz.
    public var bufferLimit = 8 * 1024 * 1024
    /// What happens when they do not fit.
    public var whenFull: FullBufferPolicy = .drop
    /// The recording stops before the disk has less than this many bytes left.
    public var minimumFreeBytes: Int64 = 0
    /// Whether the recording is made in parts, each a session of its own in a directory of its own (`part-0001`, …);
    /// the directory over them is read as one session.
    public var rotation: Rotation?
    /// Whether the CSV files are compressed with zstd, each row at the latest at the next sync.
    public var compresses = false
    /// Whether the pipeline's outputs are written beside the samples.
    public var writesDerivedFiles = true
    /// Whether to watch the wall clock against the boot clock and record its steps; nil: for this machine's own
    /// devices only.
    public var watchesClocks: Bool?

    /// The defaults.
    public init() {}
  }

  /// How far a recording is.
  public struct Progress: Hashable, Sendable {
    /// Rows handed to the kernel, by file.
    public var rows: [SessionFile: Int64] = [:]
    /// Bytes handed to the kernel.
    public var bytes: Int64 = 0
    /// Samples dropped because the buffer was full.
    public var lostSamples: Int64 = 0
    /// Bytes that wait for the disk.
    public var waitingBytes = 0
  }

  /// The session's directory.
  public let directory: String
  private let engine: RecordingEngine

  /// Creates the directory with session.json and a file for each known sensor, and starts the writing thread.
  ///
  /// - Parameters:
  ///   - directory: Must not exist or be empty; its parent must exist.
  ///   - info: What session.json is to say.
  ///   - options: See `Options`.
  /// - Throws: `MotionKitError.fileSystem` with the path and what to do.
  public convenience init(directory: String, info: SessionInfo, options: Options = Options()) throws(MotionKitError) {
    try self.init(
      directory: directory, info: info, options: options, layer: SystemFileLayer(), clock: SystemSessionClock(),
      hasThread: true)
  }

  /// `hasThread` false: nothing is written before `drain`.
  init(
    directory: String, info: SessionInfo, options: Options, layer: any FileLayer, clock: any SessionClock,
    hasThread: Bool
  ) throws(MotionKitError) {
    self.directory = directory
    engine = try RecordingEngine(directory: directory, info: info, options: options, layer: layer, clock: clock)
    if hasThread { try engine.startThread() }
  }

  deinit { engine.join() }

  /// Takes one batch without waiting for the disk (unless `Options.whenFull` says so). Throws what stopped the
  /// recording, if something did.
  public func consume(_ batch: ProcessedBatch) throws(MotionKitError) { try engine.consume(batch) }

  /// Puts an event of the user's own into the recording, at the time of the newest sample. From any thread.
  public func mark(_ detail: String, name: String = "mark") { engine.mark(detail, name: name) }

  /// How far the recording is. From any thread.
  public var progress: Progress { engine.progress }

  /// Writes what is held, syncs, and writes the closing summary. Once only.
  ///
  /// - Parameters:
  ///   - ended: How the recording ended, in words, such as `interrupted by SIGINT`.
  ///   - counters: Samples that the pipeline did not use.
  /// - Returns: The summary.
  /// - Throws: What stopped the recording, if something did; the summary is then written where that is possible.
  @discardableResult
  public func finish(
    ended: String = "finished", counters: PipelineCounters = PipelineCounters()
  ) throws(MotionKitError) -> ClosingSummary {
    try engine.finish(ended: ended, counters: counters)
  }

  /// Writes what waits, where there is no thread that does.
  func drain() { engine.drain() }
}
