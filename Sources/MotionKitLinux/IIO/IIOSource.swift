import Glibc
import SensorFusion

/// The sensors of an IIO context: this machine's (`local:`), a board's on the network (`ip:HOST[:PORT]`) or on USB.
///
/// Discovery looks at all devices and lists every sensor, several of a kind included. `start` takes the best of a kind
/// (by its own trigger before another's before polling) unless `SensorRequest.devices` names one, and reads each device
/// on a thread of its own. Samples carry this machine's boot clock (see `ClockMapper`); those of all devices come in one
/// order (see `StreamMerger`). A device that is lost is reported as an event `lost`, tried again with growing pauses, and
/// reported as `found` when it delivers again; the others go on meanwhile.
///
/// From the first source on, SIGPIPE is ignored, since libiio would end the process when a server dies, and libiio's
/// messages are kept off the standard error (see `LibIIOMessages`).
public final class IIOSource: SensorSource {
  /// Longest wait of a sample for those of other devices, seconds: on this machine, and over the network, where one
  /// connection may lag behind another.
  static let localWatermark = 0.2
  static let networkWatermark = 1.0
  /// How long the devices may take to start, seconds.
  static let startTime = 15.0
  /// How long `stop` waits for threads, seconds; one that hangs in the kernel or in a connection ends by itself later.
  static let stopTime = 0.4
  /// A stream is silent after this many periods, and after this many seconds at least and at most.
  static let silentPeriods: Int64 = 20
  static let silenceLimits: ClosedRange<Int64> = 1_200_000_000...10_000_000_000

  /// What is there: all sensors, those of one kind best first.
  public let description: SourceDescription

  private let uri: String
  private let inventory: IIOInventory
  private let timers: TimerTriggers
  /// For `stop`: what runs.
  private let running: Locked<Running?>
  /// For `read`: what is still to be delivered, also after `stop`.
  private let consumer: Locked<Consumer?>

  /// What a start made.
  private struct Running: Sendable {
    var captures: [DeviceCapture]
    var mailbox: Locked<CaptureMailbox>
    /// Triggers that were made for it.
    var triggers: [String]
  }
  private struct Consumer: Sendable {
    var running: Running
    var assembler: StreamAssembler
  }

  /// Opens a context and looks at its devices; nothing is switched on.
  ///
  /// - Parameter uri: `local:`, `ip:HOST[:PORT]` or `usb:[BUS.DEVICE.INTERFACE]`, as libiio takes it.
  /// - Throws: `notFound` within 5 seconds for a host that does not answer or a machine without IIO devices,
  ///   `invalidSource` for a URI that libiio cannot read, `notPermitted` and `device` as the system answers.
  public convenience init(uri: String) throws(MotionKitError) {
    try self.init(uri: uri, timers: TimerTriggers())
  }

  init(uri: String, timers: TimerTriggers) throws(MotionKitError) {
    ignoreBrokenPipes()
    self.uri = uri
    self.timers = timers
    if uri.hasPrefix("local") { timers.removeLeftovers() }
    try probeNetwork(uri: uri, seconds: DeviceCapture.connectTime)
    DeviceCapture.waitForPuttingBack(uri)
    let inventory = try Self.takeInventory(uri)
    self.inventory = inventory
    var notes = inventory.notes
    if inventory.candidates.isEmpty { notes.append("no motion sensor among \(inventory.devices.count) IIO devices") }
    description = SourceDescription(
      uri: uri, sensors: inventory.ranked().map { inventory.describe($0) }, host: inventory.host, notes: notes,
      isLive: true, anchors: [currentAnchor()])
    running = Locked(nil)
    consumer = Locked(nil)
  }

  deinit { stop() }

  /// Starts what is asked for; see `SensorSource.start`.
  ///
  /// A device that is there but does not start is an error if its sensor is required or no other starts; otherwise it
  /// is noted, reported as `lost` and tried again.
  public func start(_ request: SensorRequest) throws(MotionKitError) -> SourceDescription {
    stop()
    DeviceCapture.waitForPuttingBack(uri)
    let (plans, planNotes, triggers) = try planWithTriggers(request)
    var isRunning = false
    defer { if !isRunning { timers.remove(triggers) } }
    let planned = Set(plans.flatMap { $0.sensors.map(\.kind) })
    for kind in request.required.sorted() where !planned.contains(kind) {
      throw .noSensors(uri: uri, hint: "it has no \(kind); `motionlog devices -u \(uri)` lists what it has")
    }
    guard !plans.isEmpty else {
      throw .noSensors(uri: uri, hint: "none of what was asked for is there; without sensors try --source sim:walk")
    }
    let latency = min(max(request.reportLatency, 0), DeviceCapture.longestFillTime)
    let mailbox = Locked(
      CaptureMailbox(deviceCount: plans.count, now: nanoseconds(of: CLOCK_BOOTTIME), gathers: latency > 0))
    let captures = plans.enumerated().map { index, plan in
      DeviceCapture(plan: plan, number: index, uri: uri, mailbox: mailbox, reportLatency: latency)
    }
    let isRemote = !uri.hasPrefix("local")
    let made = Running(captures: captures, mailbox: mailbox, triggers: triggers)
    isRunning = true
    running.withLock { $0 = made }
    let watermark = isRemote ? Self.networkWatermark : Self.localWatermark
    let assembler = StreamAssembler(plans: plans, isRemote: isRemote, watermark: watermark, reportLatency: latency)
    consumer.withLock { $0 = Consumer(running: made, assembler: assembler) }
    do {
      let (sensors, notes) = try startAll(captures, required: request.required)
      return SourceDescription(
        uri: uri, sensors: sensors.sorted { $0.kind < $1.kind }, host: inventory.host,
        notes: inventory.notes + planNotes + notes, isLive: true, anchors: [currentAnchor()])
    } catch {
      stop()
      throw error
    }
  }

  /// Waits for samples or events and gives them in order; see `SensorSource.read`.
  public func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus {
    batch.removeAll()
    let limit = timeout.isFinite ? min(max(timeout, 0), 1e6) : 1e6
    let deadline = nanoseconds(of: CLOCK_MONOTONIC) + Int64(limit * 1e9)
    // Held while it works: `stop` does not need it, and taken out it would be copied.
    return consumer.withLock { consumer in
      guard let running = consumer?.running else { return .end }
      while true {
        let now = nanoseconds(of: CLOCK_MONOTONIC)
        let patience = consumer?.assembler.timeToSilence(now: nanoseconds(of: CLOCK_BOOTTIME)) ?? 0
        let wake = min(deadline, now + patience)
        if consumer?.assembler.collect(from: running.mailbox, until: wake, into: &batch) ?? true {
          consumer = nil
          return .end
        }
        for index in consumer?.assembler.silentDevices(now: nanoseconds(of: CLOCK_BOOTTIME)) ?? [] {
          running.captures[index].cancel()
        }
        if !batch.samples.isEmpty || !batch.events.isEmpty { return .data }
        if nanoseconds(of: CLOCK_MONOTONIC) >= deadline { return .timeout }
      }
    }
  }

  /// Switches everything off again and puts attributes back; returns within half a second in every state.
  public func stop() {
    guard
      let running = running.withLock({ value in
        defer { value = nil }
        return value
      })
    else { return }
    for capture in running.captures { capture.requestStop() }
    let deadline = nanoseconds(of: CLOCK_MONOTONIC) + Int64(Self.stopTime * 1e9)
    for capture in running.captures { _ = capture.waitUntilFinished(by: deadline) }
    running.mailbox.withLockNotifying { $0.isStopped = true }
    timers.remove(running.triggers)
  }

  private static func takeInventory(_ uri: String) throws(MotionKitError) -> IIOInventory {
    try LibIIOMessages.silenced { () throws(MotionKitError) -> IIOInventory in
      try IIOContext(uri: uri).inventory(isLocal: uri.hasPrefix("local"))
    }
  }

  /// Plans the capture; where local devices would have to be polled for want of a trigger, makes timers for them first.
  private func planWithTriggers(
    _ request: SensorRequest
  ) throws(MotionKitError) -> (plans: [CapturePlan], notes: [String], triggers: [String]) {
    let (plans, notes) = try inventory.plan(request)
    let wanting = plans.count { $0.mode == .polled && $0.sensors.allSatisfy(\.isBuffered) }
    guard uri.hasPrefix("local"), wanting > 0, request.trigger != "none" else { return (plans, notes, []) }
    let perTrigger = IIOInventory.consumersPerTrigger
    let triggers = timers.create((wanting + perTrigger - 1) / perTrigger)
    guard !triggers.isEmpty else { return (plans, notes, []) }
    do {
      let (better, betterNotes) = try Self.takeInventory(uri).plan(request)
      return (better, betterNotes, triggers)
    } catch {
      timers.remove(triggers)
      throw error
    }
  }

  /// Starts all captures and waits for each to deliver or fail.
  private func startAll(
    _ captures: [DeviceCapture], required: Set<SensorKind>
  ) throws(MotionKitError) -> ([SensorDescription], [String]) {
    for capture in captures { try capture.start() }
    let deadline = nanoseconds(of: CLOCK_MONOTONIC) + Int64(Self.startTime * 1e9)
    var sensors: [SensorDescription] = []
    var notes: [String] = []
    var delayed: [SensorDescription] = []
    var firstError: MotionKitError?
    for capture in captures {
      let late = MotionKitError.iio(
        .createBuffer, device: capture.plan.device.title, errno: ETIMEDOUT)
      switch capture.waitForFirst(until: deadline) ?? .failure(late) {
      case .success(let outcome):
        sensors += outcome.descriptions
        notes += outcome.notes
      case .failure(let error):
        if capture.plan.sensors.contains(where: { required.contains($0.kind) }) { throw error }
        firstError = firstError ?? error
        notes.append("\(error.summary); it is tried again")
        delayed += capture.plan.describeUnstarted()
      }
    }
    if sensors.isEmpty, let firstError { throw firstError }
    return (sensors + delayed, notes)
  }
}

/// The boot clock and UTC, read together.
func currentAnchor() -> ClockAnchor {
  let offset = KernelClockOffsets.measure().realtime
  let now = nanoseconds(of: CLOCK_BOOTTIME)
  return ClockAnchor(time: Timestamp(nanoseconds: now), utcNanoseconds: now - offset)
}

/// libiio writes to sockets whose other end may be gone. A handler that the program has set is left alone.
func ignoreBrokenPipes() {
  var action = sigaction()
  guard sigaction(SIGPIPE, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil else { return }
  action.__sigaction_handler.sa_handler = SIG_IGN
  sigaction(SIGPIPE, &action, nil)
}
