import SensorFusion

/// A sensor of the context with the device it belongs to.
struct SensorCandidate: Hashable, Sendable {
  /// Index of the device in the inventory.
  var device: Int
  var sensor: SensorModel
}

/// Everything that a context has: a plain value.
struct IIOInventory: Hashable, Sendable {
  var host = ""
  var devices: [DeviceModel] = []
  var triggers: [TriggerModel] = []
  /// Every usable sensor of every device, ordered by device, then kind.
  var candidates: [SensorCandidate] = []
  /// Why devices or sensors are left out, a line each.
  var notes: [String] = []

  /// An inventory of these devices.
  init(host: String = "", devices: [DeviceModel], triggers: [TriggerModel]) {
    self.host = host
    let labels = devices.map(\.label)
    self.devices = devices.map { device in
      var device = device
      if !device.label.isEmpty, labels.count(where: { $0 == device.label }) > 1 { device.sharesLabel = true }
      return device
    }
    self.triggers = triggers
    for (index, device) in self.devices.enumerated() {
      let (sensors, refused) = device.sensors()
      candidates += sensors.map { SensorCandidate(device: index, sensor: $0) }
      notes += refused
      let (fused, fusedNotes) = FusedModel.find(in: [device])
      notes += fusedNotes
      if !fused.isEmpty {
        let names = fused.map(\.kind.words).joined(separator: ", ")
        notes.append("\(device.title): computes \(names) by itself; `record --fused` keeps that in files of its own")
      } else if sensors.isEmpty, refused.isEmpty, fusedNotes.isEmpty {
        let channels = device.channels.map(\.id).filter { $0 != "timestamp" && $0 != "mount" }
        notes.append("\(device.title): no sensor of a kind that is read (\(channels.joined(separator: ", ")))")
      }
    }
  }

  /// The sensor to use for a kind: the one that is named, else the best.
  ///
  /// - Parameters:
  ///   - kind: What shall be measured.
  ///   - wanted: A label, a name where it is unique, an id such as `iio:device3`, or part of a sysfs path; empty for
  ///     the best.
  /// - Returns: Nil where there is no sensor of that kind and none is named.
  /// - Throws: `notFound` where nothing fits the name, `unsupported` where several do; both list the choices.
  func choose(_ kind: SensorKind, wanted: String) throws(MotionKitError) -> SensorCandidate? {
    let all = candidates.filter { $0.sensor.kind == kind }
    guard !wanted.isEmpty else {
      // Of equals, max(by:) keeps the first.
      return all.max { score($0) < score($1) }
    }
    let rules: [(DeviceModel) -> Bool] = [
      { $0.label == wanted }, { $0.name == wanted }, { $0.id == wanted },
      { !$0.path.isEmpty && ($0.path + "/").contains("/" + wanted.trimmingSlashes + "/") },
    ]
    for rule in rules {
      let fitting = all.filter { rule(devices[$0.device]) }
      // Of several in one device the best, the first of equals.
      if let first = fitting.first, fitting.allSatisfy({ $0.device == first.device }) {
        return fitting.max { score($0) < score($1) }
      }
      if fitting.count > 1 {
        throw .unsupported(
          what: "'\(wanted)' is ambiguous: \(fitting.count) devices of kind \(kind)",
          hint: "name one of: \(choices(fitting))")
      }
    }
    throw .notFound(
      what: "no device '\(wanted)' of kind \(kind)",
      hint: all.isEmpty ? "this source has no \(kind)" : "name one of: \(choices(all))")
  }

  /// What to type to get each of them.
  private func choices(_ candidates: [SensorCandidate]) -> String {
    candidates.map { candidate in
      let device = devices[candidate.device]
      if !device.label.isEmpty, candidates.count(where: { devices[$0.device].label == device.label }) == 1 {
        return device.label
      }
      if !device.path.isEmpty { return "\(device.path) (\(device.name))" }
      return "\(device.id) (\(device.name))"
    }.joined(separator: ", ")
  }

  /// How well a sensor is read: by its own trigger, by another one, by polling; finer counts decide between equals.
  private func score(_ candidate: SensorCandidate) -> Int {
    let device = devices[candidate.device]
    var score = 0
    if candidate.sensor.isBuffered {
      score += !device.supportsTrigger || device.ownTrigger(among: triggers) != nil ? 200 : 100
    }
    if candidate.sensor.kind == .barometer, candidate.sensor.channels.count > 1 { score += 40 }
    score += min(32, candidate.sensor.channels[0].format?.bits ?? 0)
    return score
  }
}

extension DeviceModel {
  /// The device's own data-ready trigger, by its name: `NAME-devN`, which is how most drivers call it, or `NAME-trigger`,
  /// as those of ST's separate sensors do, where only one is called so.
  func ownTrigger(among triggers: [TriggerModel]) -> TriggerModel? {
    guard let colon = id.lastIndex(of: ":") else { return nil }
    let number = id[id.index(after: colon)...].drop { !$0.isNumber }
    if let numbered = triggers.first(where: { $0.name == "\(name)-dev\(number)" }) { return numbered }
    let named = triggers.filter { $0.name == "\(name)-trigger" }
    return named.count == 1 ? named[0] : nil
  }
}

extension String {
  fileprivate var trimmingSlashes: String {
    var rest = Substring(self)
    while rest.first == "/" { rest = rest.dropFirst() }
    while rest.last == "/" { rest = rest.dropLast() }
    return String(rest)
  }
}

/// How one device shall be read.
struct CapturePlan: Hashable, Sendable {
  enum Mode: Hashable, Sendable {
    /// By a buffer; the trigger to set, empty where none is needed.
    case buffered(trigger: String, isOwn: Bool, frequency: Double?)
    /// By reading attributes at `rate`.
    case polled
  }
  var device: DeviceModel
  var sensors: [SensorModel]
  /// The rate asked for, a sensor each; 0 for the device's own setting.
  var wantedRates: [Double]
  var mode: Mode

  /// The highest rate asked for; 0 where none is.
  var wantedRate: Double { wantedRates.max() ?? 0 }
}

extension IIOInventory {
  /// The rate for polling where neither the request nor the device names one, samples per second.
  static let defaultPollingRate = 10.0
  /// Devices that one trigger serves: CONFIG_IIO_CONSUMERS_PER_TRIGGER, 2 in the kernel's defaults and in Debian. One
  /// more is accepted and gets no samples.
  static let consumersPerTrigger = 2

  /// Plans the capture of what is asked for: one plan a device.
  ///
  /// - Returns: The plans and what a person should know of them.
  func plan(_ request: SensorRequest) throws(MotionKitError) -> (plans: [CapturePlan], notes: [String]) {
    if !request.trigger.isEmpty, request.trigger != "none", trigger(named: request.trigger) == nil {
      // Said even where every device has a trigger of its own and this one would not be used: it is a slip of the pen.
      let names = triggers.map(\.name).joined(separator: ", ")
      throw .notFound(
        what: "there is no trigger '\(request.trigger)'",
        hint: names.isEmpty ? "this source has no triggers" : "choose one of: \(names)")
    }
    var plans: [CapturePlan] = []
    var notes: [String] = []
    var triggerRates: [String: Double] = [:]
    for kind in request.rates.keys.sorted() {
      guard let chosen = try choose(kind, wanted: request.devices[kind] ?? "") else { continue }
      let rate = max(0, request.rates[kind] ?? 0)
      let isPolled = !chosen.sensor.isBuffered
      // A device whose sensors cannot all be buffered together is two captures.
      if let index = plans.firstIndex(where: { $0.device == devices[chosen.device] && ($0.mode == .polled) == isPolled }
      ) {
        plans[index].sensors.append(chosen.sensor)
        plans[index].wantedRates.append(rate)
      } else {
        let mode = CapturePlan.Mode.buffered(trigger: "", isOwn: false, frequency: nil)
        plans.append(
          CapturePlan(
            device: devices[chosen.device], sensors: [chosen.sensor], wantedRates: [rate],
            mode: isPolled ? .polled : mode))
      }
    }
    var users: [String: Int] = [:]
    for index in plans.indices where plans[index].mode != .polled {
      let (mode, note) = try mode(for: plans[index], request: request, users: users)
      plans[index].mode = mode
      if let note { notes.append(note) }
      guard case .buffered(let trigger, let isOwn, _) = mode, !trigger.isEmpty, !isOwn else { continue }
      users[trigger, default: 0] += 1
      if isTimer(trigger) { triggerRates[trigger] = max(triggerRates[trigger] ?? 0, plans[index].wantedRate) }
    }
    for index in plans.indices {
      guard case .buffered(let trigger, let isOwn, _) = plans[index].mode, let rate = triggerRates[trigger], rate > 0
      else { continue }
      plans[index].mode = .buffered(trigger: trigger, isOwn: isOwn, frequency: rate)
    }
    return (plans, notes)
  }

  /// The trigger of that name or id.
  private func trigger(named name: String) -> TriggerModel? { triggers.first { $0.name == name || $0.id == name } }

  private func isTimer(_ trigger: String) -> Bool { triggers.contains { $0.name == trigger && $0.hasFrequency } }

  /// The trigger for a device: its own, the one asked for, the one that is set, a timer that exists; else polling.
  ///
  /// `users` are the devices that each trigger has been given so far.
  private func mode(
    for plan: CapturePlan, request: SensorRequest, users: [String: Int]
  ) throws(MotionKitError) -> (CapturePlan.Mode, String?) {
    let device = plan.device
    guard device.supportsTrigger else { return (.buffered(trigger: "", isOwn: false, frequency: nil), nil) }
    if let own = device.ownTrigger(among: triggers) {
      return (.buffered(trigger: own.name, isOwn: true, frequency: nil), nil)
    }
    if request.trigger == "none", plan.canBePolled { return (.polled, nil) }
    var choices = triggers.filter(\.hasFrequency).map(\.name)
    if let set = triggers.first(where: { $0.name == device.trigger }) {
      choices.removeAll { $0 == set.name }
      choices.insert(set.name, at: 0)
    }
    if let named = trigger(named: request.trigger) {
      choices.removeAll { $0 == named.name }
      choices.insert(named.name, at: 0)
    }
    if let free = choices.first(where: { (users[$0] ?? 0) < Self.consumersPerTrigger }) {
      return (.buffered(trigger: free, isOwn: false, frequency: nil), nil)
    }
    guard plan.canBePolled else {
      throw .unsupported(
        what: "\(device.title): no trigger is left for it", hint: "create one more timer trigger (see docs/IIO.md)")
    }
    let why =
      choices.isEmpty
      ? "no trigger of its own and no timer trigger"
      : "a trigger serves \(Self.consumersPerTrigger) devices, and \(choices.joined(separator: ", ")) has them"
    return (.polled, "\(device.title): \(why); it is polled (see docs/IIO.md)")
  }
}

extension CapturePlan {
  /// Its sensors as they shall be once the device delivers, which it does not yet.
  func describeUnstarted() -> [SensorDescription] {
    let inventory = IIOInventory(devices: [device], triggers: [])
    return zip(sensors, wantedRates).map { sensor, rate in
      var description = inventory.describe(SensorCandidate(device: 0, sensor: sensor))
      if rate > 0 { description.rate = rate }
      description.capture = "not yet: the device did not start"
      return description
    }
  }

  /// Whether every value can be read one by one.
  var canBePolled: Bool {
    sensors.allSatisfy { $0.channels.allSatisfy { $0.hasInput || ($0.hasRaw && $0.conversion != nil) } }
  }
}

extension IIOInventory {
  /// All sensors, by kind, those of one kind best first.
  func ranked() -> [SensorCandidate] {
    candidates.enumerated().sorted { a, b in
      let (left, right) = (a.element, b.element)
      if left.sensor.kind != right.sensor.kind { return left.sensor.kind < right.sensor.kind }
      let (scoreA, scoreB) = (score(left), score(right))
      return scoreA != scoreB ? scoreA > scoreB : a.offset < b.offset
    }.map(\.element)
  }
}
