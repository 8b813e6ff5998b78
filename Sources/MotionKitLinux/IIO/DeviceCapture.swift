import Glibc
import SensorFusion

/// Reads one device on a thread of its own, over a libiio context of its own, and takes the device back when it was lost.
///
/// The context of its own is what keeps losses apart: it can be thrown away and made anew without anybody else noticing.
final class DeviceCapture: Sendable {
  /// How long a batch takes to fill, seconds: latency against wake-ups, and over the network against round trips, which
  /// a small board's iiod answers a few hundred a second at most.
  static let localFillTime = 0.02
  static let networkFillTime = 0.05
  /// Every batch costs a round trip: were it filled in less time than this many of them, the stream would fall behind.
  static let roundTripsPerBatch = 2.5
  static let longestFillTime = 1.0
  /// A stream that lags this much more than it did at best is falling behind, seconds; this many batches in a row.
  static let laggingTime = 0.5
  static let laggingBatches = 20
  /// The kernel's buffer holds at least this much, seconds, so that a stall of ours loses nothing.
  static let kernelBufferTime = 2.0
  /// Samples a second for which there is room where a device does not tell its rate.
  static let unknownRate = 1000.0
  /// Waits between attempts to take a lost device back, seconds: doubled from the first to the last.
  static let retryTimes = 0.1...1.0
  /// A device that a foreign trigger has left without a sample this often is polled from then on.
  static let silentStartsBeforePolling = 2
  /// A start waits so long for captures of the same context that still put attributes back, seconds: it would take what
  /// they set for what was there before.
  static let puttingBackTime = 3.0
  /// Over the network another program's large batches may hold a device's samples up: one that brings nothing within the
  /// usual time is given this long from the second time on, seconds, and twice as long each time after.
  static let patience = 3.0...6.0
  /// How long a host may take to be reached, seconds.
  static let connectTime = 4.5

  let plan: CapturePlan
  let number: Int
  let uri: String
  private let retry: ClosedRange<Double>
  let reportLatency: Double
  let mailbox: Locked<CaptureMailbox>
  let state: Locked<State>

  struct Outcome: Sendable {
    var descriptions: [SensorDescription]
    var notes: [String]
  }
  struct State: Sendable {
    var isStopping = false
    var isFinished = false
    /// Whether `puttingBack` counts it.
    var isPuttingBack = false
    var canceller: IIOBufferCanceller?
    /// Batches are so much longer than they need be by the first measurement.
    var fillFactor = 1.0
    /// Samples that a batch holds at least: as many as another program's, which shares the device.
    var leastBatch = 0
    /// How long it may be silent, seconds; 0 for the usual time.
    var patience = 0.0
    /// Whether the last attempt got as far as to wait for samples.
    var wasOpened = false
    /// How the first attempt ended.
    var first: Result<Outcome, MotionKitError>?
  }

  /// A capture of `plan`; `number` is its place in the mailbox, `reportLatency` how long batches may take to fill, seconds,
  /// where that is longer than they need to.
  init(
    plan: CapturePlan, number: Int, uri: String, mailbox: Locked<CaptureMailbox>, reportLatency: Double = 0,
    retry: ClosedRange<Double> = retryTimes
  ) {
    self.retry = retry
    self.reportLatency = reportLatency
    self.plan = plan
    self.number = number
    self.uri = uri
    self.mailbox = mailbox
    state = Locked(State())
  }

  /// Starts the thread.
  func start() throws(MotionKitError) {
    do {
      try SystemThread.detach(name: "iio \(plan.device.name)") {
        self.run()
        self.state.withLockNotifying { state in
          state.isFinished = true
          if state.isPuttingBack { Self.puttingBack.withLockNotifying { $0[self.uri, default: 1] -= 1 } }
        }
      }
    } catch {
      state.withLock { $0.isFinished = true }
      throw error
    }
  }

  /// Waits until the device delivers or its first attempt has failed; nil if neither happens in time.
  func waitForFirst(until deadline: Int64) -> Result<Outcome, MotionKitError>? {
    state.wait(until: deadline) { $0.first }
  }

  /// Wakes the thread out of a refill that brings nothing; it then opens the device anew.
  func cancel() { state.withLockNotifying { $0.canceller?.cancel() } }

  /// Asks the thread to end.
  func requestStop() {
    state.withLockNotifying { state in
      if !state.isStopping, !state.isFinished {
        state.isPuttingBack = true
        Self.puttingBack.withLock { $0[uri, default: 0] += 1 }
      }
      state.isStopping = true
      state.canceller?.cancel()
    }
  }

  /// Captures that were asked to end and have not ended, by the URI of their context.
  private static let puttingBack = Locked<[String: Int]>([:])

  /// Waits until no capture of a context is still putting attributes back, for `puttingBackTime` at most.
  static func waitForPuttingBack(_ uri: String) {
    let deadline = nanoseconds(of: CLOCK_MONOTONIC) + Int64(puttingBackTime * 1e9)
    _ = puttingBack.wait(until: deadline) { $0[uri, default: 0] <= 0 ? () : nil }
  }

  /// Whether the thread has ended by `deadline`.
  func waitUntilFinished(by deadline: Int64) -> Bool {
    state.wait(until: deadline) { $0.isFinished ? true : nil } ?? false
  }

  var isStopping: Bool { state.withLock { $0.isStopping } }

  // MARK: - The thread

  private func run() {
    LibIIOMessages.silenceThread()
    var changes = AttributeChanges()
    var isLost = false
    var pause = retry.lowerBound
    var mode = plan.mode
    var silentStarts = 0
    while !isStopping {
      do throws(MotionKitError) {
        silentStarts += 1
        state.withLock { state in
          if silentStarts > 1, state.wasOpened, networkAddress(ofURI: uri) != nil {
            state.patience = min(Self.patience.upperBound, max(Self.patience.lowerBound, state.patience * 2))
          }
          state.wasOpened = false
        }
        try session(mode, &changes) {
          isLost = false
          silentStarts = 0
          pause = retry.lowerBound
        }
        // It ended in order: to be opened with larger batches, at once.
        continue
      } catch {
        if isStopping { break }
        state.withLockNotifying { if $0.first == nil { $0.first = .failure(error) } }
        if !isLost { send(.lost(error.summary)) }
        isLost = true
        if case .buffered(let trigger, false, _) = mode, !trigger.isEmpty,
          silentStarts >= Self.silentStartsBeforePolling,
          plan.canBePolled
        {
          mode = .polled
          send(
            .event(
              name: "capture",
              detail:
                "\(plan.device.title): trigger '\(trigger)' brings nothing (does it serve other devices?); it is polled"
            ))
        }
      }
      let end = nanoseconds(of: CLOCK_MONOTONIC) + Int64(pause * 1e9)
      _ = state.wait(until: end) { $0.isStopping ? true : nil }
      pause = min(retry.upperBound, pause * 2)
    }
    // Stopped between two attempts, when no session is there to put back what the last one changed.
    guard !changes.isEmpty, (try? probeNetwork(uri: uri, seconds: Self.connectTime)) != nil else { return }
    if let context = try? IIOContext(uri: uri) { changes.restore(context) }
  }

  /// Opens the device, reads it until that fails or is stopped, and puts back what was changed.
  private func session(
    _ mode: CapturePlan.Mode, _ changes: inout AttributeChanges, delivered: () -> Void
  ) throws(MotionKitError) {
    try probeNetwork(uri: uri, seconds: Self.connectTime) { [state] in state.withLock { $0.isStopping } }
    if isStopping { return }
    let context = try IIOContext(uri: uri)
    guard let device = find(in: context) else {
      throw .device(
        what: "\(plan.device.title) is not there", errno: ENODEV,
        hint: "the sensor disappeared; waiting for it to return")
    }
    defer { if isStopping { changes.restore(context) } }
    switch mode {
    case .polled:
      try poll(context, device, &changes, delivered: delivered)
    case .buffered(let trigger, let isOwn, let frequency):
      try capture(context, device, trigger: trigger, isOwn: isOwn, frequency: frequency, &changes, delivered: delivered)
    }
  }

  /// The device of the plan, which may have got another number: by path, label, then name where that is unique.
  private func find(in context: IIOContext) -> IIODevice? {
    let devices = context.devices.filter { !$0.isTrigger && $0.id.hasPrefix("iio:device") }
    let wanted = plan.device
    if !wanted.path.isEmpty {
      return devices.first { IIODevice.sysfs($0.id).path == wanted.path && $0.name == wanted.name }
    }
    return Self.place(of: wanted, among: devices.map { ($0.id, $0.name, $0.label) }).map { devices[$0] }
  }

  /// Where a device that shows no path stands among those that are there now; nil where none or several may be it.
  static func place(of wanted: DeviceModel, among devices: [(id: String, name: String, label: String)]) -> Int? {
    // Devices of one chip share its label, so a label alone names no device.
    let fitting = devices.indices.filter {
      devices[$0].label == wanted.label && (devices[$0].name == wanted.name || wanted.name == devices[$0].id)
    }
    if let same = fitting.first(where: { devices[$0].id == wanted.id }) { return same }
    return fitting.count == 1 ? fitting[0] : nil
  }

  /// Hands a batch over.
  func put(_ samples: [SensorSample], arrival: Int64, isHostStamped: Bool) {
    let isWakeNeeded = mailbox.withLock {
      $0.put(samples, device: number, arrival: arrival, isHostStamped: isHostStamped)
    }
    if isWakeNeeded { mailbox.signal() }
  }

  func send(_ content: CaptureChunk.Content) {
    let now = nanoseconds(of: CLOCK_BOOTTIME)
    mailbox.withLockNotifying { $0.put(content, device: number, arrival: now) }
  }

  // MARK: - Buffered

  private func capture(
    _ context: IIOContext, _ device: IIODevice, trigger: String, isOwn: Bool, frequency: Double?,
    _ changes: inout AttributeChanges, delivered: () -> Void
  ) throws(MotionKitError) {
    var notes: [String] = []
    let channels = device.channels
    for channel in channels { channel.setEnabled(false) }
    var wanted = Set(plan.sensors.flatMap { $0.channels.compactMap(\.scanIndex) })
    var stamp: (index: Int, format: ScanFormat)?
    if let channel = channels.first(where: { $0.id == "timestamp" && $0.isScanElement }), let format = channel.format {
      stamp = (channel.index, format)
      wanted.insert(channel.index)
    }
    let enabled = channels.filter { $0.isScanElement && wanted.contains($0.index) }.sorted { $0.index < $1.index }
    for channel in enabled { channel.setEnabled(true) }

    // While the buffer is on, many drivers refuse it.
    let temperature = chipTemperature(channels)
    let clock = chooseClock(device, &changes, &notes)
    var rates = setRates(device, channels, atLeast: frequency, &changes, &notes)
    if !trigger.isEmpty {
      if let rate = try setTrigger(context, device, trigger, isOwn: isOwn, frequency: frequency, &changes, &notes) {
        rates = rates.map { _ in rate }
      }
    }
    let rate = rates.max() ?? 0
    let layout = ScanLayout(byteCounts: enabled.map { $0.format?.byteCount ?? 0 })
    let fillTime = min(Self.longestFillTime, fillTime(device) * state.withLock { $0.fillFactor })
    let batch = layout.requestCount(
      atLeast: max(state.withLock { $0.leastBatch }, Int((rate * fillTime).rounded(.up))))
    // A device that does not tell its rate is read sample by sample and may be a fast one.
    let perSecond = rate > 0 ? rate : Self.unknownRate
    let held = Int((perSecond * Self.kernelBufferTime / Double(batch)).rounded(.up))
    device.setKernelBufferCount(UInt32(min(256, max(4, held))))
    // libiio's own limit is the last resort behind the watchdog: it must not strike before a slow batch is full.
    let fill = rate > 0 ? Double(batch) / rate : 0
    context.setTimeout(milliseconds: UInt32(min(60_000, max(5000, fill * 6000))))
    let patience = max(state.withLock { $0.patience }, 2 * fill)
    mailbox.withLock {
      $0.patience[number] = Int64(min(patience, 60) * 1e9)
      $0.fillTime[number] = Int64(min(fill, 30) * 1e9)
    }
    send(.opening)
    let openedAt = nanoseconds(of: CLOCK_BOOTTIME)
    let buffer: IIOBuffer
    do {
      buffer = try device.createBuffer(sampleCount: batch)
    } catch {
      throw bufferError(error.code, context)
    }
    let canStart = state.withLock { state in
      state.canceller = buffer.canceller
      state.wasOpened = true
      return !state.isStopping
    }
    defer { state.withLock { $0.canceller = nil } }
    guard canStart else { return }

    let periods = announce(
      clock: clock, rates: rates, notes: notes, capture: captureName(trigger, isOwn), openedAt: openedAt,
      temperature: temperature)
    let offsets = Dictionary(zip(enabled.map(\.index), layout.offsets)) { first, _ in first }
    try readBatches(
      buffer, enabled, layout, stamp, SampleDecoder(sensors: plan.sensors, timestamp: stamp, offsets: offsets),
      period: periods.min() ?? 0, delivered: delivered)
  }

  private func captureName(_ trigger: String, _ isOwn: Bool) -> String {
    trigger.isEmpty ? "hardware FIFO" : isOwn ? "own trigger \(trigger)" : "trigger \(trigger)"
  }

  private func bufferError(_ code: Int32, _ context: IIOContext) -> MotionKitError {
    let node = "/dev/\(plan.device.id)"
    let isLocal = uri.hasPrefix("local")
    let triggers = context.devices.filter { $0.isTrigger && $0.attributeNames.contains("sampling_frequency") }
    return MotionKitError.iio(
      .createBuffer, device: plan.device.title, errno: code, triggers: triggers.map(\.name),
      holders: isLocal && code == EBUSY ? holders(ofFile: node) : [], node: isLocal ? node : "")
  }

  /// Sets the clock of the stamps to one that never jumps, where that is allowed; the name of the one in use.
  private func chooseClock(_ device: IIODevice, _ changes: inout AttributeChanges, _ notes: inout [String]) -> String {
    let attribute = "current_timestamp_clock"
    guard device.attributeNames.contains(attribute), let before = device.read(attribute).text else { return "" }
    if before == "boottime" { return before }
    for clock in ["boottime", "monotonic"] {
      if clock == before { return before }
      if changes.write(device, channel: nil, attribute, clock, before: before) == 0 {
        return device.read(attribute).text ?? clock
      }
    }
    notes.append("time stamps are of the \(before) clock, which could not be changed; they are converted")
    return before
  }

  /// Sets the sensors' rates to the nearest at or above those wanted; what they read afterwards, a sensor each.
  func setRates(
    _ device: IIODevice, _ channels: [IIOChannel], atLeast triggerRate: Double?, _ changes: inout AttributeChanges,
    _ notes: inout [String]
  ) -> [Double] {
    zip(plan.sensors, plan.wantedRates).map { sensor, asked in
      guard let (channelID, attribute) = sensor.rateAttribute else { return 0 }
      let channel = channelID.flatMap { id in channels.first { $0.id == id } }
      func current() -> Double {
        let result = channel?.read(attribute) ?? device.read(attribute)
        return result.text.flatMap { Double(iioText: $0) } ?? 0
      }
      let before = current()
      let wanted = max(asked, triggerRate ?? 0)
      guard wanted > 0 else { return before }
      let target = sensor.available?.nearest(atOrAbove: wanted) ?? wanted
      guard abs(before - target) > target * 1e-6 else { return before }
      let code = changes.write(device, channel: channel, attribute, plainNumber(target), before: plainNumber(before))
      let after = current()
      if code != 0 {
        let error = MotionKitError.iio(.writeAttribute, device: plan.device.title, detail: attribute, errno: code)
        notes.append("\(error.summary); it runs at \(plainNumber(after)) Hz")
      }
      return after
    }
  }

  /// Sets the trigger and its rate; the rate it reads afterwards, nil where it has none.
  private func setTrigger(
    _ context: IIOContext, _ device: IIODevice, _ name: String, isOwn: Bool, frequency: Double?,
    _ changes: inout AttributeChanges, _ notes: inout [String]
  ) throws(MotionKitError) -> Double? {
    let current = device.trigger.current
    guard let trigger = context.devices.first(where: { $0.isTrigger && $0.name == name }) else {
      throw .device(
        what: "\(plan.device.title): its trigger '\(name)' is not there", errno: ENOENT,
        hint: "create it again, or choose another with --trigger")
    }
    if current?.id != trigger.id {
      let code = device.setTrigger(trigger)
      if code != 0 {
        throw MotionKitError.iio(.setTrigger, device: plan.device.title, detail: "to '\(name)'", errno: code)
      }
      changes.noteTrigger(device, before: current?.name)
    }
    guard !isOwn, trigger.attributeNames.contains("sampling_frequency") else { return nil }
    let before = trigger.read("sampling_frequency").text.flatMap { Double(iioText: $0) } ?? 0
    if let frequency, abs(before - frequency) > frequency * 1e-6 {
      let code = changes.write(
        trigger, channel: nil, "sampling_frequency", plainNumber(frequency), before: plainNumber(before))
      if code != 0 {
        let error = MotionKitError.iio(.writeAttribute, device: name, detail: "sampling_frequency", errno: code)
        notes.append("\(error.summary); it runs at \(plainNumber(before)) Hz")
      }
    }
    return trigger.read("sampling_frequency").text.flatMap { Double(iioText: $0) }
  }

  /// What a description calls the temperature of a gyroscope's chip when it was started, °C.
  static let temperatureName = "temperature_at_start_c"

  /// The temperature of the chip, °C, where a gyroscope's device tells it: its bias goes with it.
  func chipTemperature(_ channels: [IIOChannel]) -> Double? {
    guard plan.sensors.contains(where: { $0.kind == .gyroscope }),
      let channel = channels.first(where: { $0.id == "temp" || $0.id == "temp0" })
    else { return nil }
    func number(_ attribute: String) -> Double? { channel.read(attribute).text.flatMap { Double(iioText: $0) } }
    let names = Set(channel.attributes.map(\.name))
    var celsius: Double?
    if names.contains("input") {
      celsius = number("input").map { $0 / 1000 }
    } else if names.contains("raw"), let raw = number("raw"), let scale = number("scale") {
      celsius = (raw + (names.contains("offset") ? number("offset") ?? 0 : 0)) * scale / 1000
    }
    return celsius.map { ($0 * 1000).rounded() / 1000 }
  }

  /// Tells everybody that the device delivers from now on; the periods in nanoseconds.
  func announce(
    clock: String, rates: [Double], notes: [String], capture: String, openedAt: Int64, temperature: Double?
  ) -> [Int64] {
    var periods: [SensorKind: Int64] = [:]
    var descriptions: [SensorDescription] = []
    let inventory = IIOInventory(devices: [plan.device], triggers: [])
    for (sensor, rate) in zip(plan.sensors, rates) {
      periods[sensor.kind] = rate > 0 ? Int64(1e9 / rate) : 0
      var description = inventory.describe(SensorCandidate(device: 0, sensor: sensor))
      description.rate = rate
      description.capture = capture
      description.clock = clock
      if sensor.kind == .gyroscope, let temperature {
        description.attributes.append((name: Self.temperatureName, value: plainNumber(temperature)))
      }
      description.attributes += notes.map { (name: "note", value: $0) }
      descriptions.append(description)
    }
    send(.started(clock: clock, periods: periods, openedAt: openedAt))
    let outcome = Outcome(descriptions: descriptions, notes: notes.map { "\(plan.device.title): \($0)" })
    state.withLockNotifying { if $0.first == nil { $0.first = .success(outcome) } }
    return plan.sensors.compactMap { periods[$0.kind] }.filter { $0 > 0 }
  }
}
