import Glibc
import MotionKitLinux
import SensorFusion

/// How a run came to its end.
enum RunEnd: Equatable {
  /// The source has no more.
  case endOfSource
  /// The time asked for is over.
  case duration
  /// The user ended it, with a key.
  case user
  /// A signal.
  case signal(Int32)
}

/// Reads a started source, sends its samples through the pipeline and hands on what comes out, until something ends it.
struct MotionRun {
  private let source: any SensorSource
  private var pipeline: MotionPipeline?
  private let duration: Double?
  private let isLive: Bool
  private let history: StepHistoryRecorder?
  private var firstTime: Timestamp?
  private var lastTime: Timestamp?
  private var markCount = 0
  private var batch = ProcessedBatch()

  /// How long one read may wait, seconds: the longest that a signal or a key waits.
  private static let patience = 0.05
  /// How long after the time asked for a silent live source is waited for, seconds.
  private static let grace = 0.5

  /// A run over a source that has been started; what its carrier does goes into `history` too. Without a pipeline
  /// nothing is computed.
  init(
    source: any SensorSource, pipeline: MotionPipeline?, isLive: Bool, duration: Double?,
    history: StepHistoryRecorder? = nil
  ) {
    self.history = history
    self.source = source
    self.pipeline = pipeline
    self.isLive = isLive
    self.duration = duration
  }

  /// Whether a sample came within the time asked for.
  private(set) var hasSamples = false

  /// Samples that the pipeline did not use.
  var counters: PipelineCounters { pipeline?.counters ?? PipelineCounters() }

  /// Runs until the end. `body` gets every batch, empty ones too (at least every `patience` seconds), and returns whether
  /// to go on. `slice` is the longest stretch of samples, in seconds, that one batch for `body` may hold, since an unpaced
  /// source gives long ones; nil for whatever the source gives.
  mutating func run(slice: Double? = nil, patience: Double = patience, _ body: (ProcessedBatch) throws -> Bool) throws
    -> RunEnd
  {
    var incoming = SampleBatch()
    let start = Self.monotonicSeconds()
    defer { source.stop() }
    while true {
      let signal = Signals.shared.stop
      if signal != nil { source.stop() }
      let status = try source.read(into: &incoming, timeout: signal == nil ? patience : 0)
      let isOver = limit(&incoming)
      addMarks(to: &incoming)
      guard try hand(&incoming, slice, body) else { return .user }
      if isOver { return .duration }
      if status == .end { return signal.map { .signal($0) } ?? .endOfSource }
      // A stopped source ends after its rest; this is against one that does not.
      if let signal, status == .timeout { return .signal(signal) }
      if isLive, let duration, Self.monotonicSeconds() - start > duration + Self.grace { return .duration }
    }
  }

  /// Sends what came through the pipeline and on, in slices.
  private mutating func hand(
    _ incoming: inout SampleBatch, _ slice: Double?, _ body: (ProcessedBatch) throws -> Bool
  ) throws -> Bool {
    guard let slice, let last = incoming.samples.last else {
      // Swapped, not copied: both keep their storage.
      swap(&batch.input, &incoming)
      process()
      return try body(batch)
    }
    var samples = incoming.samples[...]
    var events = incoming.events[...]
    while let first = samples.first {
      let end = first.time.advanced(bySeconds: slice)
      let isLast = last.time < end
      batch.input.removeAll()
      let part = isLast ? samples : samples.prefix { $0.time < end }
      let news = isLast ? events : events.prefix { $0.time < end }
      batch.input.samples.append(contentsOf: part)
      batch.input.events.append(contentsOf: news)
      samples = samples.dropFirst(part.count)
      events = events.dropFirst(news.count)
      process()
      guard try body(batch) else { return false }
    }
    return true
  }

  private mutating func process() {
    // Taken out, so that its arrays stay unshared.
    guard var pipeline = self.pipeline.take() else { return }
    batch.process(with: &pipeline)
    self.pipeline = pipeline
    history?.consume(batch)
  }

  /// Cuts off what lies behind the time asked for; returns whether anything did.
  private mutating func limit(_ input: inout SampleBatch) -> Bool {
    guard let first = input.samples.first else { return false }
    let begin = firstTime ?? first.time
    firstTime = begin
    defer {
      lastTime = input.samples.last?.time ?? lastTime
      hasSamples = hasSamples || !input.samples.isEmpty
    }
    guard let duration else { return false }
    let end = begin.advanced(bySeconds: duration)
    guard let cut = input.samples.firstIndex(where: { $0.time >= end }) else { return false }
    input.samples.removeSubrange(cut...)
    input.events.removeAll { $0.time >= end }
    return true
  }

  /// Marks are events at the newest sample's time.
  private mutating func addMarks(to input: inout SampleBatch) {
    guard let time = input.samples.last?.time ?? lastTime else { return }
    for _ in 0..<Signals.shared.takeMarks() {
      markCount += 1
      input.events.append(SourceEvent(time: time, name: "mark", detail: "mark \(markCount)"))
    }
  }

  /// The monotonic clock, for deadlines of this program only; samples never see it.
  static func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
