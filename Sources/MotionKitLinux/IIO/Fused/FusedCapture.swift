import Glibc
import SensorFusion

/// Reads what chips and hubs compute by themselves, beside and apart from the sensors: it never goes into the pipeline,
/// whose outputs come from one filter on every board.
///
/// Each device is read on a thread of its own, by its buffer where it has a trigger of its own or needs none, else by
/// its attributes. A device that fails is opened again once a second.
public final class FusedCapture: Sendable {
  /// What there is, a device each: what it is and how a person is told which.
  public let devices: [(kind: FusedKind, title: String)]
  /// Why something is left out, a line each.
  public let notes: [String]

  private let uri: String
  private let rate: Double
  private let models: [FusedModel]
  private let triggers: [TriggerModel]
  private let state: Locked<State>

  private struct State: Sendable {
    var isStopping = false
    var running = 0
    var samples: [FusedSample] = []
    var dropped = 0
    var losses: [String] = []
    var cancellers: [Int: IIOBufferCanceller] = [:]
    var mapper: ClockMapper
  }

  /// Values that may wait to be taken: minutes of all of them.
  static let capacity = 50_000
  /// How long a batch takes to fill, seconds.
  static let fillTime = 0.1
  /// Between attempts to open a device that failed, seconds.
  static let retryTime = 1.0
  /// The rate where the device's cannot be told, samples per second.
  static let usualRate = 50.0

  /// Looks for such devices; nothing is switched on.
  ///
  /// - Parameters:
  ///   - uri: An IIO context.
  ///   - rate: Samples per second wanted of each; 0 for the device's own setting.
  /// - Throws: As `IIOSource`.
  public init(uri: String, rate: Double) throws(MotionKitError) {
    ignoreBrokenPipes()
    try probeNetwork(uri: uri, seconds: DeviceCapture.connectTime)
    let isLocal = uri.hasPrefix("local")
    let inventory = try LibIIOMessages.silenced { () throws(MotionKitError) -> IIOInventory in
      try IIOContext(uri: uri).inventory(isLocal: isLocal)
    }
    self.uri = uri
    self.rate = rate
    triggers = inventory.triggers
    (models, notes) = FusedModel.find(in: inventory.devices)
    devices = models.map { ($0.kind, $0.device.title) }
    var mapper = ClockMapper(isRemote: !isLocal)
    for model in models { _ = mapper.addDevice(model.device.title) }
    state = Locked(State(mapper: mapper))
  }

  deinit { stop() }

  /// Starts to read.
  public func start() throws(MotionKitError) {
    for index in models.indices {
      state.withLock { $0.running += 1 }
      do {
        try SystemThread.detach(name: "fused \(models[index].device.name)") { [self] in run(index) }
      } catch {
        state.withLock { $0.running -= 1 }
        throw error
      }
    }
  }

  /// Takes what has come: values in order of time for each device, how many had to be dropped since nobody took them,
  /// and why devices were lost, a line each.
  public func take() -> (samples: [FusedSample], dropped: Int, losses: [String]) {
    state.withLock { state in
      defer {
        state.samples.removeAll(keepingCapacity: true)
        state.dropped = 0
        state.losses.removeAll()
      }
      return (state.samples, state.dropped, state.losses)
    }
  }

  /// Switches off what was switched on and puts attributes back; returns within half a second.
  public func stop() {
    state.withLockNotifying { state in
      state.isStopping = true
      for canceller in state.cancellers.values { canceller.cancel() }
    }
    let deadline = nanoseconds(of: CLOCK_MONOTONIC) + Int64(IIOSource.stopTime * 1e9)
    _ = state.wait(until: deadline) { $0.running == 0 ? () : nil }
  }

  private var isStopping: Bool { state.withLock { $0.isStopping } }

  // MARK: - A device's thread

  private func run(_ index: Int) {
    LibIIOMessages.silenceThread()
    var changes = AttributeChanges()
    var isLost = false
    while !isStopping {
      do throws(MotionKitError) {
        try session(index, &changes) { isLost = false }
      } catch {
        if !isLost, !isStopping { state.withLock { $0.losses.append(error.summary) } }
        isLost = true
      }
      let end = nanoseconds(of: CLOCK_MONOTONIC) + Int64(Self.retryTime * 1e9)
      _ = state.wait(until: end) { $0.isStopping ? () : nil }
    }
    if !changes.isEmpty, let context = try? IIOContext(uri: uri) { changes.restore(context) }
    state.withLockNotifying { $0.running -= 1 }
  }

  private func session(
    _ index: Int, _ changes: inout AttributeChanges, delivered: () -> Void
  ) throws(MotionKitError) {
    let model = models[index]
    try probeNetwork(uri: uri, seconds: DeviceCapture.connectTime) { [state] in state.withLock { $0.isStopping } }
    let context = try IIOContext(uri: uri)
    guard let device = context.devices.first(where: { $0.id == model.device.id && $0.name == model.device.name }) else {
      throw .device(what: "\(model.device.title) is not there", errno: ENODEV, hint: "waiting for it to return")
    }
    let channels = device.channels
    let current = setRate(model, device, channels, &changes)
    let own = model.device.ownTrigger(among: triggers)
    if model.isBuffered, own != nil || !model.device.supportsTrigger {
      if let own, device.trigger.current?.id != own.id {
        let before = device.trigger.current?.name
        _ = device.setTrigger(context.devices.first { $0.id == own.id })
        changes.noteTrigger(device, before: before)
      }
      try readBuffer(index, model, context, device, channels, rate: current, &changes, delivered: delivered)
    } else {
      try poll(model, channels, rate: current, delivered: delivered)
    }
  }

  /// Sets the rate to the nearest at or above the one wanted; what it is then.
  private func setRate(
    _ model: FusedModel, _ device: IIODevice, _ channels: [IIOChannel], _ changes: inout AttributeChanges
  ) -> Double {
    let attribute = "sampling_frequency"
    guard model.hasRate else { return rate > 0 ? rate : Self.usualRate }
    let channel = model.rateChannel.flatMap { id in channels.first { $0.id == id } }
    func current() -> Double {
      (channel?.read(attribute) ?? device.read(attribute)).text.flatMap { Double(iioText: $0) } ?? 0
    }
    let before = current()
    if rate > 0 {
      let target = model.available?.nearest(atOrAbove: rate) ?? rate
      if abs(before - target) > target * 1e-6 {
        _ = changes.write(device, channel: channel, attribute, plainNumber(target), before: plainNumber(before))
      }
    }
    let after = current()
    return after > 0 ? after : rate > 0 ? rate : Self.usualRate
  }

  private func readBuffer(
    _ index: Int, _ model: FusedModel, _ context: IIOContext, _ device: IIODevice, _ channels: [IIOChannel],
    rate: Double, _ changes: inout AttributeChanges, delivered: () -> Void
  ) throws(MotionKitError) {
    let wanted = Set(model.channels.compactMap(\.scanIndex))
    let enabled = channels.filter { $0.isScanElement && (wanted.contains($0.index) || $0.id == "timestamp") }
      .sorted { $0.index < $1.index }
    for channel in channels { channel.setEnabled(false) }
    for channel in enabled { channel.setEnabled(true) }
    let clock = "current_timestamp_clock"
    if let before = device.read(clock).text, before != "boottime" {
      _ = changes.write(device, channel: nil, clock, "boottime", before: before)
    }
    let layout = ScanLayout(byteCounts: enabled.map { $0.format?.byteCount ?? 0 })
    let batch = layout.requestCount(atLeast: Int((rate * Self.fillTime).rounded(.up)))
    context.setTimeout(milliseconds: 5000)
    let buffer: IIOBuffer
    do { buffer = try device.createBuffer(sampleCount: batch) } catch {
      throw MotionKitError.iio(.createBuffer, device: model.device.title, errno: error.code)
    }
    let mayGoOn = state.withLock { state in
      state.mapper.begin(index, clock: device.read(clock).text ?? "")
      state.cancellers[index] = buffer.canceller
      return !state.isStopping
    }
    defer { state.withLock { $0.cancellers[index] = nil } }
    guard mayGoOn else { return }
    let places = Dictionary(zip(enabled.map(\.index), layout.offsets)) { first, _ in first }
    let offsets = model.channels.map { places[$0.scanIndex ?? -1] ?? 0 }
    let stamp = enabled.first { $0.id == "timestamp" }.flatMap { channel in
      channel.format.map { (format: $0, offset: places[channel.index] ?? 0) }
    }
    let period = Int64(1e9 / rate)
    // Some kernels' HID drivers give every sample the time of the first.
    var lastOwnStamp: Int64?
    var isFrozen = stamp == nil
    var lastGiven = Int64.min
    while !isStopping {
      let bytes: UnsafeRawBufferPointer
      do { bytes = try buffer.refill() } catch {
        if error.code == EINTR || error.code == EAGAIN { continue }
        throw MotionKitError.iio(.refill, device: model.device.title, errno: error.code)
      }
      let arrival = nanoseconds(of: CLOCK_BOOTTIME)
      let count = bytes.count / layout.sampleSize
      guard let base = bytes.baseAddress, count > 0 else { continue }
      var stamps: [Int64] = []
      if let stamp {
        for number in 0..<count {
          stamps.append(stamp.format.integer(at: base + number * layout.sampleSize + stamp.offset))
        }
        isFrozen = isFrozen || stamps[count - 1] == lastOwnStamp || (count > 1 && stamps[0] == stamps[count - 1])
        lastOwnStamp = stamps[count - 1]
      }
      if isFrozen {
        let spacing = lastGiven == .min ? period : max(0, min(period, (arrival - lastGiven) / Int64(count)))
        stamps = (0..<count).map { arrival - Int64(count - 1 - $0) * spacing }
        lastGiven = arrival
      }
      var events: [SourceEvent] = []
      let kernel = KernelClockOffsets.measure()
      let shift =
        isFrozen
        ? 0
        : state.withLock {
          $0.mapper.offset(
            index, first: stamps[0], last: stamps[count - 1], arrival: arrival, kernel: kernel, events: &events)
        }
      let new = (0..<count).map { number in
        FusedSample(
          time: Timestamp(nanoseconds: stamps[number] &+ shift), kind: model.kind,
          values: model.value(at: base + number * layout.sampleSize, offsets: offsets))
      }
      put(new)
      delivered()
    }
  }

  private func poll(
    _ model: FusedModel, _ channels: [IIOChannel], rate: Double, delivered: () -> Void
  ) throws(MotionKitError) {
    let own = model.channels.compactMap { wanted in channels.first { $0.id == wanted.id } }
    let period = Int64(1e9 / min(rate, 1000))
    var due = nanoseconds(of: CLOCK_MONOTONIC)
    while !isStopping {
      let before = nanoseconds(of: CLOCK_BOOTTIME)
      var texts: [String] = []
      for channel in own {
        switch channel.read("raw") {
        case .text(let text): texts.append(text)
        case .failure(let code):
          throw MotionKitError.iio(
            .readAttribute, device: model.device.title, detail: "\(channel.id) raw", errno: code)
        }
      }
      let after = nanoseconds(of: CLOCK_BOOTTIME)
      guard let values = model.value(of: texts) else {
        throw .device(
          what: "\(model.device.title): '\(texts.joined(separator: ", "))' is no \(model.kind.rawValue)", errno: EILSEQ,
          hint: "see the kernel log (dmesg)")
      }
      put([
        FusedSample(time: Timestamp(nanoseconds: before + (after - before) / 2), kind: model.kind, values: values)
      ])
      delivered()
      due = max(due + period, nanoseconds(of: CLOCK_MONOTONIC) + period / 8)
      _ = state.wait(until: due) { $0.isStopping ? () : nil }
    }
  }

  private func put(_ new: [FusedSample]) {
    state.withLockNotifying { state in
      guard state.samples.count + new.count <= Self.capacity else {
        state.dropped += new.count
        return
      }
      state.samples += new
    }
  }
}
