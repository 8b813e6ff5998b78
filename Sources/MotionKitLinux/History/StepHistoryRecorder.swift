import Dispatch
import SensorFusion

/// Feeds a running source into the history, without the thread that reads the source ever waiting for the disk.
///
/// A sink: give it each `ProcessedBatch`, and `finish` at the end. A history that cannot be written stops nothing:
/// `error` says why, and what could not be written is tried again with the next second's.
///
///     let recorder = StepHistoryRecorder(history: try StepHistory(), source: description)
public final class StepHistoryRecorder: MotionSink, @unchecked Sendable {
  /// Time between two hand-overs to the disk, s.
  private static let interval = 0.4

  private let uri: String
  private let open: @Sendable () throws(MotionKitError) -> StepHistory
  private let clock: any SessionClock
  /// Whether the samples keep this machine's clock, so that its steps are ours to see.
  private let isDevice: Bool

  // Confined to the thread that gives batches.
  /// Clock anchors that hold from their time on, those still to come.
  private var anchors: ArraySlice<ClockAnchor>
  /// What has come since the last hand-over.
  private var pending = ProcessedBatch()
  private var handedOver: Timestamp?
  private var newest: SensorSample?

  private let queue = DispatchQueue(label: "step history", qos: .utility)
  // Confined to the queue.
  private var writer: StepHistoryWriter?
  private var watch: ClockWatch?

  private struct State {
    var error: MotionKitError?
    var standbySteps = 0
  }
  private let state = Locked(State())

  /// Begins with the first sample.
  ///
  /// - Parameters:
  ///   - history: Where to write.
  ///   - source: The source that was started; its URI is what two programs that read it know each other by.
  public convenience init(history: StepHistory, source: SourceDescription) {
    self.init(source: source) { history }
  }

  /// Opens the history only when the first sample is there, on the queue that writes.
  init(
    source: SourceDescription, uri: String? = nil, clock: any SessionClock = SystemSessionClock(),
    open: @escaping @Sendable () throws(MotionKitError) -> StepHistory
  ) {
    self.uri = uri ?? source.uri
    self.open = open
    self.clock = clock
    anchors = source.anchors[...]
    if case .iio? = try? SourceURI(self.uri) { isDevice = true } else { isDevice = false }
  }

  /// Why steps are not in the history; nil while all that should be written is.
  public var error: MotionKitError? { state.withLock { $0.error } }

  /// Steps that were not written because another program writes for the same source.
  public var standbySteps: Int { state.withLock { $0.standbySteps } }

  /// Takes one batch. Never waits and never fails.
  public func consume(_ batch: ProcessedBatch) {
    guard let first = batch.input.samples.first, let last = batch.input.samples.last else { return }
    // A recording's clock may have been set while it ran: what came before goes by the clock of before.
    while let next = anchors.first, handedOver == nil || next.time <= last.time {
      handOver()
      begin(next)
      anchors.removeFirst()
    }
    if handedOver == nil { begin(clockless(first.time)) }
    pending.steps.append(contentsOf: batch.steps)
    pending.activities.append(contentsOf: batch.activities)
    if let altitude = batch.altitudes.last { pending.altitudes = [altitude] }
    pending.distance = batch.distance
    pending.floorsAscended = batch.floorsAscended
    pending.floorsDescended = batch.floorsDescended
    newest = last
    if let handedOver, last.time.seconds(since: handedOver) >= Self.interval { handOver() }
  }

  /// Writes everything, ends the session and waits for that.
  public func finish() {
    leave()
    queue.sync {}
  }

  /// Ends the session without waiting for the disk.
  func leave() {
    handOver()
    queue.async { [self] in
      attempt { () throws(MotionKitError) in try writer?.finish() }
      writer = nil
    }
  }

  /// Waits until all that was handed over is written, for tests.
  func waitUntilWritten() { queue.sync {} }

  /// The anchor of a source that has none: a device's samples keep the boot clock, a scene begins now.
  private func clockless(_ first: Timestamp) -> ClockAnchor {
    let now = clock.anchor()
    return isDevice ? now : ClockAnchor(time: first, utcNanoseconds: now.utcNanoseconds)
  }

  private func begin(_ anchor: ClockAnchor) {
    handedOver = handedOver ?? anchor.time
    queue.async { [self] in
      attempt { () throws(MotionKitError) in
        if let writer {
          try writer.update(anchor: anchor)
        } else {
          writer = try StepHistoryWriter(history: try open(), source: uri, anchor: anchor)
          if isDevice { watch = ClockWatch(anchor: anchor, slept: clock.slept()) }
        }
      }
    }
  }

  private func handOver() {
    guard let newest else { return }
    handedOver = newest.time
    pending.input.samples = [newest]
    let batch = pending
    pending = ProcessedBatch()
    self.newest = nil
    queue.async { [self] in
      attempt { () throws(MotionKitError) in
        try writer?.consume(batch)
        if let news = watch?.check(clock: clock) { try writer?.update(anchor: news.anchor) }
      }
    }
  }

  private func attempt(_ body: () throws(MotionKitError) -> Void) {
    do {
      try body()
      // What could not be written before has now been.
      guard let writer else { return }
      let standby = writer.standbySteps
      state.withLock {
        $0.standbySteps = max($0.standbySteps, standby)
        $0.error = nil
      }
    } catch {
      state.withLock { $0.error = error }
    }
  }
}
