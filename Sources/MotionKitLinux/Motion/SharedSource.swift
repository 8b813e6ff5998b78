import Glibc
import SensorFusion
import Synchronization

/// One open source that any number of managers use at the same time.
///
/// A device can be captured once only, so managers do not open sources: they share this. It runs one reading thread,
/// asks the source for the union of what its users want, starts it again when the union changes, and switches it off
/// when the last user is gone.
///
///     let manager = MotionManager()                                  // MOTIONKIT_SOURCE, else this machine's sensors
///     let remote = MotionManager(source: .named("ip:board.local"))
///     let test = MotionManager(source: SharedSource(scriptedSource))
public final class SharedSource: Sendable {
  /// How samples and handlers keep step.
  public enum Stepping: Hashable, Sendable {
    /// The source runs; handlers follow on their queues.
    case free
    /// After each sample the source waits until every handler has finished, so that whatever a handler does (stop,
    /// start, change an interval) takes effect before the next sample: the same run every time. For tests.
    case lockstep
  }

  /// The name by which it was opened, or what the injected source calls itself.
  public let uri: String
  let stepping: Stepping
  /// Which calibrations motion is computed with.
  public let calibration: CalibrationChoice
  /// Whether starting again with other settings continues where it was (a device), or goes back to the beginning.
  let isDevice: Bool
  let isUnpaced: Bool
  /// Opens the history that is written while services count steps; nil for recordings, scenes and injected sources,
  /// whose steps nobody walked.
  let history: (@Sendable () throws(MotionKitError) -> StepHistory)?
  private let opener: @Sendable () throws(MotionKitError) -> any SensorSource
  private let opened = Locked(Opened())
  let state = Locked(State())
  /// The one classifier of all who ask for activities.
  let activity = ActivityTracker()
  /// Values and errors that somebody was given.
  private let deliveries = Atomic<Int>(0)
  /// Samples given out in lockstep.
  let samples = Atomic<Int>(0)

  private struct Opened {
    var source: (any SensorSource)?
    var description: SourceDescription?
    var failure: MotionKitError?
    var failureTime = Timestamp(nanoseconds: .min)
  }

  /// What the reading thread and the users share.
  struct State {
    var consumers: [any SampleConsumer] = []
    /// Grows whenever the users or their wishes change.
    var generation = 0
    var isThreadRunning = false
    var holds = 0
    var started: SourceDescription?
    var anchor: ClockAnchor?
    var runs = 0
    var endedRuns = 0
    var failure: MotionKitError?
    var eventCounts: [String: Int64] = [:]
    /// The replay that it was made for is over.
    var isRetired = false
    /// Why nothing is started any more.
    var cancellation: MotionKitError?
    /// In lockstep, whoever was told that it cannot be served: no user, but the end waits for its handler too.
    var refused: [any HandlerRun] = []
  }

  private init(
    uri: String, stepping: Stepping, calibration: CalibrationChoice, isDevice: Bool, isUnpaced: Bool,
    history: (@Sendable () throws(MotionKitError) -> StepHistory)?,
    opener: @escaping @Sendable () throws(MotionKitError) -> any SensorSource
  ) {
    self.uri = uri
    self.stepping = stepping
    self.calibration = calibration
    self.isDevice = isDevice
    self.isUnpaced = isUnpaced
    self.history = history
    self.opener = opener
  }

  /// Shares a source of the caller's own making: a scripted one in a test, a new kind of sensor.
  public convenience init(
    _ source: any SensorSource, stepping: Stepping = .free, calibration: CalibrationChoice = .automatic
  ) {
    self.init(source, stepping: stepping, calibration: calibration, history: nil)
  }

  /// Shares a source whose steps go into a history.
  convenience init(
    _ source: any SensorSource, stepping: Stepping, calibration: CalibrationChoice = .automatic,
    history: (@Sendable () throws(MotionKitError) -> StepHistory)?
  ) {
    let description = source.description
    // A paced recording or scene counts as live, but does not go on where it was when it is started again.
    let isDevice =
      switch try? SourceURI(description.uri) {
      case .recording, .simulation: false
      case .iio, nil: description.isLive
      }
    self.init(
      uri: description.uri, stepping: stepping, calibration: calibration, isDevice: isDevice,
      isUnpaced: !description.isLive, history: history,
      opener: { () throws(MotionKitError) in source })
  }

  /// A source that cannot be opened, with the reason.
  convenience init(uri: String, failure: MotionKitError) {
    self.init(
      uri: uri, stepping: .free, calibration: .none, isDevice: false, isUnpaced: false, history: nil,
      opener: { () throws(MotionKitError) in throw failure })
  }

  /// A source by its URI, not shared with anybody who opens the same name: each run of a test has its own.
  public convenience init(
    opening uri: String, pacing: Pacing = .speed(1), stepping: Stepping = .free,
    calibration: CalibrationChoice = .automatic
  ) {
    var isDevice = false
    var history: (@Sendable () throws(MotionKitError) -> StepHistory)?
    if let parsed = try? SourceURI(uri), case .iio = parsed {
      isDevice = true
      if MotionHistories.path != nil || !StepHistory.isSwitchedOff {
        history = { () throws(MotionKitError) in try MotionHistories.forWriting() }
      }
    }
    self.init(
      uri: uri, stepping: stepping, calibration: calibration, isDevice: isDevice,
      isUnpaced: !isDevice && pacing == .unpaced,
      history: history, opener: { () throws(MotionKitError) in try openSource(uri, pacing: pacing) })
  }

  // MARK: What is there

  /// What the source has, found when it was opened; nothing is switched on for it.
  ///
  /// Throws `MotionKitError` that says what to do next. On a machine without sensors it names `sim:walk`.
  public func describe() throws(MotionKitError) -> SourceDescription {
    try opened.withLock { (opened) throws(MotionKitError) in
      if opened.source == nil, let known = opened.description { return known }
      _ = try open(&opened)
      guard let description = opened.description else {
        throw .notFound(what: uri, hint: "the source gave no description")
      }
      return description
    }
  }

  /// Whether the source can be opened and has a sensor of this kind.
  public func has(_ kind: SensorKind) -> Bool {
    guard let description = try? describe() else { return false }
    return description.sensor(kind) != nil
  }

  /// Throws unless the source has all of `kinds`; the error says which one is missing and how to try without.
  package func require(_ kinds: Set<SensorKind>, for purpose: String) throws(MotionKitError) {
    let description = try describe()
    let missing = kinds.filter { description.sensor($0) == nil }.sorted()
    guard let first = missing.first else { return }
    throw .noSensors(
      uri: uri,
      hint:
        "for \(purpose) a sensor of the kind '\(first)' is needed; MOTIONKIT_SOURCE=sim:walk tries it without hardware")
  }

  /// After a failed opening, how long the same answer is given without trying again, seconds.
  private static let retryInterval = 1.0

  private func open(_ opened: inout Opened) throws(MotionKitError) -> any SensorSource {
    if let source = opened.source { return source }
    let now = bootTime()
    if let failure = opened.failure, now.seconds(since: opened.failureTime) < Self.retryInterval { throw failure }
    do {
      let source = try opener()
      opened.source = source
      opened.description = source.description
      opened.failure = nil
      return source
    } catch {
      let failure = Self.withWayOut(error, uri: uri)
      opened.failure = failure
      opened.failureTime = now
      throw failure
    }
  }

  /// An application has no --source option: where this machine has no sensors, it is the environment that helps.
  private static func withWayOut(_ error: MotionKitError, uri: String) -> MotionKitError {
    guard uri.hasPrefix("local:"), case .notFound(let what, _) = error else { return error }
    return .notFound(
      what: what,
      hint:
        "load the sensor's kernel module or device-tree overlay; MOTIONKIT_SOURCE=sim:walk tries it without hardware")
  }

  /// The open source, for the reading thread.
  func openForReading() throws(MotionKitError) -> any SensorSource {
    try opened.withLock { (opened) throws(MotionKitError) in try open(&opened) }
  }

  /// Lets go of the source, so that its descriptors are free; its description is remembered.
  func closeAfterReading() { opened.withLock { $0.source = nil } }

  // MARK: Users

  package func add(_ consumer: any SampleConsumer) {
    if let cancellation = state.withLock({ $0.cancellation }) { return consumer.finish(cancellation) }
    state.withLock {
      // Before whom it serves: it sees each sample first.
      if consumer.tellsActivity, !$0.consumers.contains(where: { $0 === activity }) { $0.consumers.append(activity) }
      $0.consumers.append(consumer)
      if consumer.feedsHistory, let history, !$0.consumers.contains(where: { $0 is HistoryConsumer }) {
        let usesHardwareCounter = consumer.demand.required.contains(.stepCounter)
        $0.consumers.append(HistoryConsumer(uri: uri, usesHardwareCounter: usesHardwareCounter, open: history))
      }
      $0.generation += 1
    }
    startReadingIfNeeded()
  }

  func remove(_ consumer: any SampleConsumer) {
    state.withLockNotifying {
      $0.consumers.removeAll { $0 === consumer }
      if !$0.consumers.contains(where: \.tellsActivity) { $0.consumers.removeAll { $0 === activity } }
      if !$0.consumers.contains(where: \.feedsHistory) { $0.consumers.removeAll { $0 is HistoryConsumer } }
      $0.generation += 1
    }
  }

  /// A consumer wants something else now.
  func demandChanged() { state.withLock { $0.generation += 1 } }

  private func startReadingIfNeeded() {
    let starts = state.withLock { state -> Bool in
      guard !state.isThreadRunning, state.holds == 0, !state.consumers.isEmpty else { return false }
      state.isThreadRunning = true
      state.runs += 1
      state.failure = nil
      return true
    }
    guard starts else { return }
    do {
      try SystemThread.detach(name: uri) { self.read() }
    } catch {
      failAll(error)
    }
  }

  /// Ends all consumers with an error and marks the thread as gone.
  func failAll(_ error: MotionKitError?) {
    let consumers = state.withLock { state -> [any SampleConsumer] in
      defer { state.consumers = [] }
      return state.consumers
    }
    for consumer in consumers { consumer.finish(error) }
    if stepping == .lockstep { for consumer in consumers { consumer.waitUntilIdle() } }
    state.withLockNotifying {
      $0.failure = error
      $0.endedRuns = $0.runs
      $0.isThreadRunning = false
      $0.started = nil
    }
    startReadingIfNeeded()  // for whoever came meanwhile
  }

  // MARK: Control

  /// Keeps the source from starting until `release()`: start all that shall see the first sample, then release.
  public func hold() { state.withLock { $0.holds += 1 } }

  /// Undoes one `hold()`.
  public func release() {
    state.withLock { $0.holds = max(0, $0.holds - 1) }
    startReadingIfNeeded()
  }

  /// What a handler is told at the end of a recording or a scene.
  var endError: MotionKitError {
    .ended(uri: uri, hint: "start updates again to begin anew; a live source (local:, ip:) has no end")
  }

  /// Tells somebody who cannot be served why.
  package func refuse(_ mailbox: some HandlerRun, because error: MotionKitError) {
    noteDelivery()
    mailbox.end(error)
    if stepping == .lockstep { state.withLock { $0.refused.append(mailbox) } }
  }

  /// Takes note that somebody was given a value or an error.
  func noteDelivery() { deliveries.wrappingAdd(1, ordering: .relaxed) }

  /// How many samples were given out in lockstep so far: whether it goes on.
  package var sampleCount: Int { samples.load(ordering: .relaxed) }

  /// Whether nobody was ever given anything.
  package var hasDeliveredNothing: Bool { deliveries.load(ordering: .relaxed) == 0 }

  /// The replay that this source was made for is over: managers turn to the process's source again.
  package func retire() { state.withLock { $0.isRetired = true } }

  var isRetired: Bool { state.withLock { $0.isRetired } }

  /// Whether samples are being read.
  public var isRunning: Bool { state.withLock { $0.isThreadRunning } }

  /// Waits until the source is at its end or nobody uses it any more, and in lockstep until all handlers have run.
  ///
  /// Blocks the calling thread. Throws the error that ended the source, if one did.
  public func waitUntilEnd() throws(MotionKitError) {
    let failure = state.wait { state -> MotionKitError?? in
      state.isThreadRunning ? nil : .some(state.failure)
    }
    for refused in state.withLock({ $0.refused }) { refused.waitUntilIdle() }
    if let failure { throw failure }
  }

  /// Ends every service of this source for good, without waiting for handlers: no handler call begins after this returns,
  /// and what is started later fails.
  public func cancel() {
    let consumers = state.withLockNotifying { state -> [any SampleConsumer] in
      defer { state.consumers = [] }
      state.generation += 1
      let failure = MotionKitError.unsupported(
        what: "waiting longer for \(uri)",
        hint: "it does not go on: is a handler's queue suspended, or a main queue that nobody serves?")
      state.failure = failure
      state.cancellation = failure
      return state.consumers
    }
    for consumer in consumers { consumer.abandon() }
    for refused in state.withLock({ $0.refused }) { refused.abandonHandler() }
  }

  /// What happened to the stream since it was made, by the events' names (`gap`, `overrun`, `lost`, …).
  public var eventCounts: [String: Int64] { state.withLock { $0.eventCounts } }

  /// UTC at an instant of the samples' clock, nanoseconds since 1970-01-01.
  ///
  /// From the source's own clock anchor (a recording's, a remote board's), else from this machine's clocks.
  public func utcNanoseconds(at time: Timestamp) -> Int64 {
    let anchor = state.withLock { $0.anchor } ?? ClockAnchor.now()
    let (difference, overflow) = time.nanoseconds.subtractingReportingOverflow(anchor.time.nanoseconds)
    return overflow ? anchor.utcNanoseconds : anchor.utcNanoseconds &+ difference
  }

  /// The instant of the samples' clock at a UTC; the inverse of `utcNanoseconds(at:)`.
  public func time(atUTCNanoseconds utc: Int64) -> Timestamp {
    let anchor = state.withLock { $0.anchor } ?? ClockAnchor.now()
    let (difference, overflow) = utc.subtractingReportingOverflow(anchor.utcNanoseconds)
    return Timestamp(nanoseconds: overflow ? anchor.time.nanoseconds : anchor.time.nanoseconds &+ difference)
  }
}

extension ClockAnchor {
  /// This machine's boot clock and wall clock, read together.
  package static var current: ClockAnchor { now() }

  /// This machine's boot clock and wall clock, read together.
  static func now() -> ClockAnchor {
    var utc = timespec()
    let time = bootTime()
    clock_gettime(CLOCK_REALTIME, &utc)
    return ClockAnchor(time: time, utcNanoseconds: Int64(utc.tv_sec) * 1_000_000_000 + Int64(utc.tv_nsec))
  }
}

/// The boot clock now.
package func bootTime() -> Timestamp {
  var now = timespec()
  clock_gettime(CLOCK_BOOTTIME, &now)
  return Timestamp(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
}
