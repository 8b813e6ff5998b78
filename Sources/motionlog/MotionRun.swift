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
  private var pipeline: MotionPipeline
  private let duration: Double?
  private let isLive: Bool
  private var firstTime: Timestamp?
  private var lastTime: Timestamp?
  private var markCount = 0

  /// How long one read may wait, seconds: the longest that a signal or a key waits.
  private static let patience = 0.05
  /// How long after the time asked for a silent live source is waited for, seconds.
  private static let grace = 0.5

  /// A run over a source that has been started.
  init(source: any SensorSource, pipeline: MotionPipeline, isLive: Bool, duration: Double?) {
    self.source = source
    self.pipeline = pipeline
    self.isLive = isLive
    self.duration = duration
  }

  /// Samples that the pipeline did not use.
  var counters: PipelineCounters { pipeline.counters }

  /// Runs until the end. `body` gets every batch, empty ones too (at least every `patience`), and returns whether to
  /// go on.
  mutating func run(_ body: (ProcessedBatch) throws -> Bool) throws -> RunEnd {
    var batch = ProcessedBatch()
    let start = Self.monotonicSeconds()
    defer { source.stop() }
    while true {
      if let signal = Signals.shared.stop {
        source.stop()
        try drain(&batch, body)
        return .signal(signal)
      }
      let status = try source.read(into: &batch.input, timeout: Self.patience)
      let isOver = limit(&batch.input)
      addMarks(to: &batch.input)
      batch.process(with: &pipeline)
      guard try body(batch) else { return .user }
      if isOver { return .duration }
      if status == .end { return Signals.shared.stop.map { .signal($0) } ?? .endOfSource }
      if isLive, let duration, Self.monotonicSeconds() - start > duration + Self.grace { return .duration }
    }
  }

  /// Takes what the source still holds after it was stopped.
  private mutating func drain(_ batch: inout ProcessedBatch, _ body: (ProcessedBatch) throws -> Bool) throws {
    // A stopped source ends after its rest; the bound is against one that does not.
    let deadline = Self.monotonicSeconds() + Self.grace
    while Self.monotonicSeconds() < deadline {
      let status = try source.read(into: &batch.input, timeout: 0)
      let isOver = limit(&batch.input)
      batch.process(with: &pipeline)
      guard try body(batch), !isOver, status == .data else { return }
    }
  }

  /// Cuts off what lies behind the time asked for; returns whether anything did.
  private mutating func limit(_ input: inout SampleBatch) -> Bool {
    guard let first = input.samples.first else { return false }
    let begin = firstTime ?? first.time
    firstTime = begin
    defer { lastTime = input.samples.last?.time ?? lastTime }
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
