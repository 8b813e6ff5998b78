import Glibc
import SensorFusion

/// From what capture threads hand over to the one stream that is delivered: clocks, stale samples, order, losses.
///
/// Used by the consumer's thread alone; it reads no clock itself except to wait.
struct StreamAssembler: Sendable {
  /// How long after a device has become silent the consumer notices, nanoseconds.
  static let watchdogInterval: Int64 = 200_000_000
  /// How much older than the opening of its device a sample may be, nanoseconds: clocks are compared that well.
  static let staleTolerance: Int64 = 20_000_000
  /// How long the first arrivals of a remote source are watched before its clocks are set against ours, nanoseconds:
  /// long enough for some batches, of which the fastest counts.
  static let leastWarmUp: Int64 = 250_000_000

  /// How long a lost device that is opened again is waited for, nanoseconds, beside the time for two of its batches.
  static let reopeningTime: Int64 = 250_000_000

  private struct Device: Sendable {
    var title: String
    var kinds: [SensorKind]
    var periods: [SensorKind: Int64] = [:]
    /// The longest of them.
    var longestPeriod: Int64 = 0
    /// By place in `kinds`.
    var monitors: [RateMonitor] = []
    var isStarted = false
    var isLost = false
    var openedAt: Int64 = 0
    var isFresh = false
    var staleCount = 0
    var lostReason = ""
    /// When its silence was last acted upon.
    var cancelledAt: Int64 = 0
    var activity: Int64 = 0
    /// How long it may be silent at least, where it has been given more time than others, nanoseconds.
    var patience: Int64 = 0
    var droppedCount = 0
  }

  private var devices: [Device]
  private var mapper: ClockMapper
  private var merger: StreamMerger
  private var samples: [SensorSample] = []
  private var chunks: [CaptureChunk] = []
  private var nextRelease: Int64?
  private let warmUp: Int64
  private let reopeningTime: Int64
  private let leastWatermark: Int64
  private let plannedFillTime: Int64
  /// How long the machine had slept in all when it was looked at last, and when it was last awake again: nobody is
  /// silent while it sleeps.
  private var slept: Int64?
  private var wokeAt: Int64 = .min
  /// At the start of a remote source: what is held until its clocks are known well; nil once they are.
  private var held: (samples: [SensorSample], chunks: [CaptureChunk], until: Int64?)?

  /// - Parameters:
  ///   - plans: What is captured, in the order of the mailbox.
  ///   - isRemote: Whether the devices' clocks are another machine's.
  ///   - watermark: Longest wait for other streams, seconds, beside that for their batches to fill.
  ///   - reportLatency: How long devices gather samples, seconds.
  init(plans: [CapturePlan], isRemote: Bool, watermark: Double, reportLatency: Double = 0) {
    devices = plans.map { plan in
      var device = Device(title: plan.device.title, kinds: plan.sensors.map(\.kind))
      device.monitors = plan.wantedRates.map { RateMonitor(rate: $0) }
      return device
    }
    mapper = ClockMapper(isRemote: isRemote)
    leastWatermark = Int64((watermark + reportLatency) * 1e9)
    plannedFillTime = Int64(max(reportLatency, DeviceCapture.longestFillTime) * 1e9)
    merger = StreamMerger(watermark: leastWatermark)
    warmUp = Self.leastWarmUp + Int64(reportLatency * 1e9)
    reopeningTime = Self.reopeningTime + 2 * Int64(reportLatency * 1e9)
    held = isRemote ? ([], [], nil) : nil
    for plan in plans {
      _ = mapper.addDevice(plan.device.title)
      for (sensor, rate) in zip(plan.sensors, plan.wantedRates) {
        merger.addStream(sensor.kind, period: rate > 0 ? Int64(1e9 / rate) : 0)
      }
    }
  }

  /// Waits for the mailbox at most until `deadline` (CLOCK_MONOTONIC), and appends what can be delivered.
  ///
  /// - Returns: Whether the source was stopped; the batch then holds the rest.
  mutating func collect(
    from mailbox: Locked<CaptureMailbox>, until deadline: Int64, into batch: inout SampleBatch
  ) -> Bool {
    var wake = deadline
    if let nextRelease {
      let ahead = max(0, nextRelease - nanoseconds(of: CLOCK_BOOTTIME))
      wake = min(wake, nanoseconds(of: CLOCK_MONOTONIC).addingReportingOverflow(ahead).partialValue)
    }
    let isStopped = exchange(with: mailbox, until: wake)
    let kernel = KernelClockOffsets.measure()
    assemble(isStopped: isStopped, now: nanoseconds(of: CLOCK_BOOTTIME), kernel: kernel, into: &batch)
    return isStopped
  }

  /// Takes what the mailbox has, waiting for it until `wake` (CLOCK_MONOTONIC); whether that was the last.
  mutating func exchange(with mailbox: Locked<CaptureMailbox>, until wake: Int64) -> Bool {
    // Storage goes back and forth between the two sides.
    var spareSamples: [SensorSample] = []
    var spareChunks: [CaptureChunk] = []
    swap(&spareSamples, &samples)
    swap(&spareChunks, &chunks)
    spareSamples.removeAll(keepingCapacity: true)
    spareChunks.removeAll(keepingCapacity: true)
    _ = mailbox.wait(until: wake) { box -> Void? in
      guard !box.chunks.isEmpty || box.isStopped else { return nil }
      swap(&box.samples, &spareSamples)
      swap(&box.chunks, &spareChunks)
      box.wasTaken()
      return ()
    }
    swap(&spareSamples, &samples)
    swap(&spareChunks, &chunks)
    return mailbox.withLock { box in
      for index in devices.indices {
        devices[index].activity = box.lastActivity[index]
        devices[index].patience = box.patience[index]
        // Batches that fill more slowly than was planned come later.
        let extra = max(0, box.fillTime[index] - plannedFillTime)
        merger.watermark = max(merger.watermark, leastWatermark + extra)
        devices[index].droppedCount += box.dropped[index]
        box.dropped[index] = 0
      }
      return box.isStopped && box.chunks.isEmpty
    }
  }

  /// Works through what was taken.
  ///
  /// - Parameters:
  ///   - isStopped: Nothing more will come: everything is delivered now.
  ///   - now: The boot clock.
  ///   - kernel: This machine's clocks.
  ///   - batch: Gets samples and events.
  mutating func assemble(isStopped: Bool, now: Int64, kernel: KernelClockOffsets, into batch: inout SampleBatch) {
    noteSleep(now: now, slept: kernel.monotonic, events: &batch.events)
    if isWarmingUp(isStopped: isStopped, now: now) { return }
    take(kernel: kernel, events: &batch.events)
    for index in devices.indices where devices[index].droppedCount > 0 {
      batch.events.append(
        SourceEvent(
          time: Timestamp(nanoseconds: now), name: "overrun",
          detail: "\(devices[index].title): \(devices[index].droppedCount) samples dropped, the program did not read"))
      devices[index].droppedCount = 0
    }
    if isStopped {
      merger.flush(into: &batch.samples)
    } else {
      nextRelease = merger.release(now: now, into: &batch.samples)
    }
    if batch.events.count > 1 { batch.events.sort { $0.time < $1.time } }
  }

  /// Tells of a sleep of the machine, during which the boot clock goes on and the monotonic one stands.
  private mutating func noteSleep(now: Int64, slept: Int64, events: inout [SourceEvent]) {
    defer { self.slept = slept }
    guard let before = self.slept, slept &- before > ClockWatch.leastSleep else { return }
    wokeAt = now
    let tenths = (slept - before) / 100_000_000
    events.append(
      SourceEvent(
        time: Timestamp(nanoseconds: now), name: "suspend",
        detail: "the machine slept for \(tenths / 10).\(tenths % 10) s; samples of that time are missing"))
  }

  /// Holds what has come back while a remote source begins; afterwards gives all of it, with the clocks primed.
  private mutating func isWarmingUp(isStopped: Bool, now: Int64) -> Bool {
    guard var held else { return false }
    self.held = nil
    held.samples += samples
    held.chunks += chunks
    if held.until == nil, !held.samples.isEmpty { held.until = now + warmUp }
    if isStopped || now >= held.until ?? .max {
      (samples, chunks) = (held.samples, held.chunks)
      var position = 0
      for chunk in chunks {
        guard case .samples(let count, let isHostStamped) = chunk.content else { continue }
        position += count
        guard !isHostStamped else { continue }
        mapper.prime(chunk.device, last: samples[position - 1].time.nanoseconds, arrival: chunk.arrival)
      }
      return false
    }
    nextRelease = held.until
    self.held = held
    return true
  }

  /// How long a device may be silent, nanoseconds.
  private func silenceLimit(_ index: Int) -> Int64 {
    let limits = IIOSource.silenceLimits
    let usual = min(limits.upperBound, max(limits.lowerBound, devices[index].longestPeriod * IIOSource.silentPeriods))
    return max(usual, devices[index].patience)
  }

  /// How long the consumer may wait before it looks for silent devices again, nanoseconds.
  func timeToSilence(now: Int64) -> Int64 {
    var least = IIOSource.silenceLimits.lowerBound
    for index in devices.indices where devices[index].isStarted {
      least = min(least, devices[index].activity + silenceLimit(index) - now)
    }
    return max(0, least) + Self.watchdogInterval
  }

  /// Devices that have been silent for too long since their last sample or opening, each once per opening.
  mutating func silentDevices(now: Int64) -> [Int] {
    var silent: [Int] = []
    for index in devices.indices where devices[index].isStarted {
      let limit = silenceLimit(index)
      guard now - max(devices[index].activity, wokeAt) > limit, devices[index].cancelledAt < devices[index].activity
      else {
        continue
      }
      devices[index].cancelledAt = now
      if !devices[index].isLost { devices[index].lostReason = "no sample for \(Double(limit / 100_000_000) / 10) s" }
      silent.append(index)
    }
    return silent
  }

  /// Works through the chunks.
  private mutating func take(kernel: KernelClockOffsets, events: inout [SourceEvent]) {
    var position = 0
    for chunk in chunks {
      let index = chunk.device
      let time = Timestamp(nanoseconds: chunk.arrival)
      switch chunk.content {
      case .opening:
        for kind in devices[index].kinds { merger.await(kind, until: chunk.arrival + reopeningTime) }
      case .started(let clock, let periods, let openedAt):
        devices[index].isStarted = true
        devices[index].periods = periods
        devices[index].longestPeriod = periods.values.max() ?? 0
        devices[index].openedAt = openedAt
        devices[index].isFresh = false
        devices[index].staleCount = 0
        mapper.begin(index, clock: clock)
        for (kind, period) in periods {
          merger.setPeriod(period, kind)
          guard let place = devices[index].kinds.firstIndex(of: kind), period > 0 else { continue }
          devices[index].monitors[place].begin(rate: 1e9 / Double(period))
        }
      case .lost(let reason):
        devices[index].isStarted = false
        devices[index].isLost = true
        let why = devices[index].lostReason.isEmpty ? reason : devices[index].lostReason
        devices[index].lostReason = ""
        for kind in devices[index].kinds { merger.setActive(false, kind) }
        let title = devices[index].title
        events.append(
          SourceEvent(time: time, name: "lost", detail: why.hasPrefix(title) ? why : "\(title): \(why)"))
      case .event(let name, let detail):
        events.append(SourceEvent(time: time, name: name, detail: detail))
      case .samples(let count, let isHostStamped):
        let range = position..<position + count
        position += count
        takeSamples(index, range, isHostStamped: isHostStamped, arrival: chunk.arrival, kernel: kernel, events: &events)
      }
    }
  }

  private mutating func takeSamples(
    _ index: Int, _ range: Range<Int>, isHostStamped: Bool, arrival: Int64, kernel: KernelClockOffsets,
    events: inout [SourceEvent]
  ) {
    guard let first = range.first, let last = range.last else { return }
    let offset =
      isHostStamped
      ? -mapper.pollingDrift
      : mapper.offset(
        index, first: samples[first].time.nanoseconds, last: samples[last].time.nanoseconds, arrival: arrival,
        kernel: kernel, events: &events)
    let oldest = devices[index].openedAt - Self.staleTolerance - devices[index].longestPeriod
    for place in range {
      var sample = samples[place]
      sample.time.nanoseconds = sample.time.nanoseconds.addingReportingOverflow(offset).partialValue
      if !devices[index].isFresh {
        // The kernel's buffer may still hold what was taken before it was switched on.
        if sample.time.nanoseconds < oldest {
          devices[index].staleCount += 1
          continue
        }
        becomeFresh(index, arrival: arrival, events: &events)
      }
      watch(index, sample, isPolled: isHostStamped, events: &events)
      merger.push(sample, arrival: arrival, events: &events)
    }
  }

  /// Reports what is missing in a sensor's stream, and its true rate where that is not the one that was set.
  private mutating func watch(
    _ index: Int, _ sample: SensorSample, isPolled: Bool, events: inout [SourceEvent]
  ) {
    guard let place = devices[index].kinds.firstIndex(of: sample.kind),
      let finding = devices[index].monitors[place].add(sample.time.nanoseconds)
    else { return }
    switch finding {
    case .gap(let missing, let gaps, let longest):
      // Polling is as even as the machine is idle; nothing is missing that was ever taken.
      if isPolled { return }
      events.append(
        SourceEvent(
          time: sample.time, name: "gap",
          detail: "\(sample.kind): \(missing) missing in \(gaps) gap\(gaps == 1 ? "" : "s"),"
            + " the longest \(longest / 1_000_000) ms"))
    case .rate(let rate):
      merger.setPeriod(Int64(1e9 / rate), sample.kind)
      let rounded = (rate * 10).rounded() / 10
      events.append(
        SourceEvent(time: sample.time, name: "rate", detail: "\(sample.kind): delivers \(rounded) samples a second"))
    }
  }

  private mutating func becomeFresh(_ index: Int, arrival: Int64, events: inout [SourceEvent]) {
    let time = Timestamp(nanoseconds: arrival)
    devices[index].isFresh = true
    if devices[index].staleCount > 0 {
      events.append(
        SourceEvent(
          time: time, name: "stale",
          detail: "\(devices[index].title): \(devices[index].staleCount) samples from before the start dropped"))
    }
    if devices[index].isLost {
      devices[index].isLost = false
      events.append(SourceEvent(time: time, name: "found", detail: "\(devices[index].title): it delivers again"))
    }
  }
}
