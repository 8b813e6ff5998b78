import SensorFusion

/// Offsets of this machine's kernel clocks to its boot clock, nanoseconds: boot time = clock + offset.
struct KernelClockOffsets: Hashable, Sendable {
  /// CLOCK_REALTIME; jumps when the wall clock is set.
  var realtime: Int64
  /// CLOCK_MONOTONIC; grows while the machine sleeps.
  var monotonic: Int64
  /// CLOCK_TAI.
  var tai: Int64

  /// The offset of a clock by the name that `current_timestamp_clock` uses; nil for one that is not known.
  func offset(of clock: String) -> Int64? {
    switch clock {
    case "boottime": 0
    case "monotonic", "monotonic_coarse", "monotonic_raw": monotonic
    case "realtime", "realtime_coarse": realtime
    case "tai": tai
    default: nil
    }
  }
}

/// Turns the time stamps of all devices into one time base, this machine's boot clock.
///
/// A local device's stamps are of a kernel clock whose offset is known; which one is told by the device and checked
/// against when the first samples arrive, since HID hubs stamp by a clock of their own. A remote board's clocks, and
/// clocks that match none of ours, get one constant offset each, measured from the first arrival: their samples keep
/// the board's clock, moved as a whole. Devices on one such clock share the offset, so nothing shifts between them.
/// Steps and drift are found by comparing stamps with arrivals, and reported as events.
struct ClockMapper: Sendable {
  /// A stamp this far ahead of its arrival means that the clock was set, nanoseconds.
  static let stepTolerance: Int64 = 50_000_000
  /// Samples of a device on a clock already known arrive at most this much later than those that set its offset.
  static let joinTolerance: Int64 = 300_000_000
  /// A remote device's first samples after a loss arrive at most this long after they were taken, nanoseconds.
  static let firstArrivalTolerance: Int64 = 5_000_000_000
  /// A kernel's buffer holds no samples older than this, nanoseconds: what looks older is of another clock.
  static let oldestSample: Int64 = 3_600_000_000_000
  /// Nothing has been up for 30 years: a stamp beyond, nanoseconds, counts from 1970.
  static let latestUptime: Int64 = 946_080_000_000_000_000
  /// Drift is taken from the fastest arrival in windows of this length, nanoseconds.
  static let driftWindow: Int64 = 10_000_000_000
  /// Drift is reported whenever it has moved this far, nanoseconds.
  static let driftReport: Int64 = 10_000_000

  /// A clock that is not one of this machine's.
  private struct Domain: Sendable {
    var name: String
    var offset: Int64
    /// Fastest arrival after its stamp in the last two windows, nanoseconds: 0 at first, then the clock's drift.
    var previousLag: Int64 = 0
    var currentLag: Int64 = .max
    var windowStart: Int64
    var reported: Int64 = 0

    /// How far this machine's boot clock has run ahead of the domain's since the offset was measured.
    var drift: Int64 { min(previousLag, currentLag) }
  }

  private enum Clock: Sendable {
    case kernel(String, offset: Int64, since: Int64)
    case domain(Int)
  }

  private struct Device: Sendable {
    var label: String
    var declared: String
    var clock: Clock?
    var lastStamp: Int64?
    /// The fastest arrival seen before the first batch is mapped: arrival - stamp.
    var fastest = Int64.max
  }

  private let isRemote: Bool
  private var devices: [Device] = []
  private var domains: [Domain] = []

  /// A mapper for devices of this machine, or of another.
  init(isRemote: Bool) { self.isRemote = isRemote }

  /// Adds a device and gives its number.
  mutating func addDevice(_ label: String) -> Int {
    devices.append(Device(label: label, declared: ""))
    return devices.count - 1
  }

  /// A device's stream begins (again); `clock` is what `current_timestamp_clock` reads, empty where there is none.
  mutating func begin(_ device: Int, clock: String) {
    if devices[device].declared != clock { devices[device].clock = nil }
    devices[device].declared = clock
    devices[device].lastStamp = nil
  }

  /// Looks at a batch before any is mapped, so that the offset comes from the fastest of several arrivals.
  mutating func prime(_ device: Int, last: Int64, arrival: Int64) {
    devices[device].fastest = min(devices[device].fastest, Self.difference(arrival, last))
  }

  /// The clock in use as far as known, for a description.
  func clockName(_ device: Int) -> String {
    switch devices[device].clock {
    case .kernel(let name, _, _): name
    case .domain(let index): domains[index].name
    case nil: devices[device].declared
    }
  }

  /// How far polled samples, which are stamped by this machine, must be moved back to stay beside a remote board's.
  var pollingDrift: Int64 { domains.first?.drift ?? 0 }

  /// The offset to add to the stamps of one batch of a device.
  ///
  /// - Parameters:
  ///   - device: Its number.
  ///   - first: The batch's first stamp, nanoseconds.
  ///   - last: Its last.
  ///   - arrival: When the batch came, this machine's boot clock.
  ///   - kernel: This machine's clocks now; not used for remote boards.
  ///   - events: Gets `clock` and `clock_step` events.
  /// - Returns: Nanoseconds to add.
  mutating func offset(
    _ device: Int, first: Int64, last: Int64, arrival: Int64, kernel: KernelClockOffsets, events: inout [SourceEvent]
  ) -> Int64 {
    defer { devices[device].lastStamp = last }
    switch devices[device].clock {
    case .kernel(let name, let offset, let since):
      return follow(
        device, name: name, offset: offset, since: since, last: last, arrival: arrival, kernel: kernel, events: &events)
    case .domain(let index):
      let lag = Self.difference(arrival, last) &- domains[index].offset
      let isPlausible: Bool
      if let before = devices[device].lastStamp {
        isPlausible = first &- before >= -Self.stepTolerance
      } else {
        // After a loss the board may have been started anew, and its clock with it.
        isPlausible = lag <= domains[index].drift + Self.firstArrivalTolerance
      }
      if lag >= domains[index].drift - Self.stepTolerance, isPlausible {
        track(index, lag: lag, arrival: arrival, events: &events)
        return domains[index].offset
      }
      let before = domains[index].offset
      let after = assign(device, last: last, arrival: arrival, kernel: kernel, excluding: index, events: &events)
      events.append(
        SourceEvent(
          time: Timestamp(nanoseconds: arrival), name: "clock_step",
          detail: "\(devices[device].label): its clock was set by \((before &- after) / 1_000_000) ms"))
      return after
    case nil:
      return assign(device, last: last, arrival: arrival, kernel: kernel, excluding: nil, events: &events)
    }
  }

  /// Finds the clock of a device from its first stamps.
  private mutating func assign(
    _ device: Int, last: Int64, arrival: Int64, kernel: KernelClockOffsets, excluding: Int?, events: inout [SourceEvent]
  ) -> Int64 {
    let declared = devices[device].declared
    let estimate = min(Self.difference(arrival, last), excluding == nil ? devices[device].fastest : .max)
    if !isRemote {
      if let (name, offset) = kernelClock(declared: declared, estimate: estimate, kernel: kernel) {
        devices[device].clock = .kernel(name, offset: offset, since: arrival)
        if name != declared, excluding == nil { note(device, "stamps are of the \(name) clock", arrival, &events) }
        return offset
      }
    }
    for index in domains.indices where index != excluding {
      let later = estimate &- domains[index].offset &- domains[index].drift
      if later >= -Self.stepTolerance, later <= Self.joinTolerance {
        devices[device].clock = .domain(index)
        return domains[index].offset
      }
    }
    let real = Self.realClock(declared: declared, stamp: last)
    var owner =
      declared.isEmpty ? "the device's own clock" : isRemote ? "the board's \(real) clock" : "a clock of its own"
    if isRemote, real != declared { owner += ", though \(declared) is set" }
    domains.append(Domain(name: declared.isEmpty ? "device" : real, offset: estimate, windowStart: arrival))
    devices[device].clock = .domain(domains.count - 1)
    note(
      device, "stamps are of \(owner); boot clock = stamp + \(estimate) ns, from the first arrival", arrival, &events)
    return estimate
  }

  /// The clock that a remote board's stamps are really of: HID hubs stamp by the wall clock whatever is set.
  private static func realClock(declared: String, stamp: Int64) -> String {
    let isWallClock = stamp >= latestUptime
    switch declared {
    case "boottime", "monotonic", "monotonic_coarse", "monotonic_raw": return isWallClock ? "realtime" : declared
    default: return declared
    }
  }

  /// The kernel clock that fits: the declared one where its stamps are not of the future, else the one with the newest.
  private func kernelClock(
    declared: String, estimate: Int64, kernel: KernelClockOffsets
  ) -> (name: String, offset: Int64)? {
    var best: (name: String, offset: Int64)?
    for name in [declared, "boottime", "monotonic", "realtime", "tai"] {
      guard let offset = kernel.offset(of: name) else { continue }
      let lag = estimate &- offset
      guard lag >= -Self.stepTolerance, lag <= Self.oldestSample else { continue }
      if name == declared { return (name, offset) }
      // Where two agree to a second (TAI is UTC until somebody sets it), the first of them.
      if let known = best, lag >= estimate &- known.offset &- 1_000_000_000 { continue }
      best = (name, offset)
    }
    return best
  }

  /// Keeps to a kernel clock: follows slews, reports steps.
  private mutating func follow(
    _ device: Int, name: String, offset: Int64, since: Int64, last: Int64, arrival: Int64, kernel: KernelClockOffsets,
    events: inout [SourceEvent]
  ) -> Int64 {
    guard let current = kernel.offset(of: name) else { return offset }
    let change = current &- offset
    let stepped = abs(change) > Self.stepTolerance
    if stepped {
      // Samples stamped before the step still belong to the old offset.
      let lagWithOld = Self.difference(arrival, last) &- offset
      let lagWithNew = Self.difference(arrival, last) &- current
      let oldFits = lagWithOld >= -Self.stepTolerance && (lagWithNew < -Self.stepTolerance || lagWithOld <= lagWithNew)
      if oldFits { return offset }
      // The monotonic clock cannot be set: it stood while the machine slept, which is told once and not by device.
      if !name.hasPrefix("monotonic") {
        events.append(
          SourceEvent(
            time: Timestamp(nanoseconds: arrival), name: "clock_step",
            detail: "\(devices[device].label): the \(name) clock was set by \(-change / 1_000_000) ms"))
      }
      devices[device].clock = .kernel(name, offset: current, since: arrival)
      return current
    }
    // The wall clock is slewed by at most 500 ppm; follow at up to 1000 ppm, below 0.1 ms it is reading noise.
    guard abs(change) > 100_000 else { return offset }
    let limit = max(0, arrival - since) / 1000
    let followed = offset + max(-limit, min(limit, change))
    devices[device].clock = .kernel(name, offset: followed, since: arrival)
    return followed
  }

  /// Watches the fastest arrivals of a domain for drift.
  private mutating func track(_ index: Int, lag: Int64, arrival: Int64, events: inout [SourceEvent]) {
    domains[index].currentLag = min(domains[index].currentLag, lag)
    guard arrival - domains[index].windowStart >= Self.driftWindow else { return }
    domains[index].previousLag = domains[index].currentLag
    domains[index].currentLag = .max
    domains[index].windowStart = arrival
    let drift = domains[index].previousLag
    guard abs(drift - domains[index].reported) >= Self.driftReport else { return }
    domains[index].reported = drift
    events.append(
      SourceEvent(
        time: Timestamp(nanoseconds: arrival), name: "clock",
        detail: "\(domains[index].name): boot clock = stamp + \(domains[index].offset &+ drift) ns by now"))
  }

  private func note(_ device: Int, _ text: String, _ arrival: Int64, _ events: inout [SourceEvent]) {
    events.append(
      SourceEvent(
        time: Timestamp(nanoseconds: arrival), name: "clock", detail: "\(devices[device].label): \(text)"))
  }

  private static func difference(_ a: Int64, _ b: Int64) -> Int64 { a.subtractingReportingOverflow(b).partialValue }
}
