import Glibc
import SensorFusion

extension Diagnosis {
  /// Examines a source: what the machine says of its sensors (`local:` only), whether they can be read, how fast they
  /// deliver, and whether what they measure at rest is possible.
  ///
  /// Every sensor is switched on for a few seconds, those of one kind after another, and off again. Nothing else is
  /// changed. The board should lie still.
  ///
  /// - Parameters:
  ///   - uri: The source; see `SourceURI`.
  ///   - settings: What to measure.
  ///   - mayGoOn: Asked several times a second; the examination ends early when it says no.
  /// - Returns: What was found; a source that cannot be opened is a finding too.
  /// - Throws: `invalidSource` for a URI that cannot be read, `notFound` for a scene that does not exist.
  public static func examine(
    uri: String, settings: Settings = Settings(), mayGoOn: () -> Bool = { true }
  ) throws(MotionKitError) -> Diagnosis {
    guard case .iio = try SourceURI(uri) else {
      return try examine(openSource(uri, pacing: .unpaced), uri: uri, settings: settings, mayGoOn: mayGoOn)
    }
    var facts: SystemFacts?
    if uri.hasPrefix("local") { facts = SystemFacts(SystemFiles(), isAdministrator: geteuid() == 0) }
    return try examine(uri: uri, facts: facts, settings: settings, mayGoOn: mayGoOn)
  }

  /// Examines an IIO context with what was read of the machine before.
  static func examine(
    uri: String, facts: SystemFacts?, settings: Settings, mayGoOn: () -> Bool
  ) throws(MotionKitError) -> Diagnosis {
    var diagnosis = Diagnosis(uri: uri)
    diagnosis.findings = facts?.findings() ?? []
    do {
      let source = try openSource(uri)
      diagnosis.measureAll(source, settings, mayGoOn: mayGoOn)
    } catch {
      if case .invalidSource = error { throw error }
      // That there is no device here is said already, in more detail.
      let isSaid = facts.map { $0.devices.isEmpty } ?? false
      if !isSaid { diagnosis.findings.append(Self.finding(error, .connection, "")) }
    }
    diagnosis.sortByTopic()
    return diagnosis
  }

  /// Examines a source that is no device.
  private static func examine(
    _ source: any SensorSource, uri: String, settings: Settings, mayGoOn: () -> Bool
  ) throws(MotionKitError) -> Diagnosis {
    var diagnosis = Diagnosis(uri: uri)
    diagnosis.measureAll(source, settings, mayGoOn: mayGoOn)
    diagnosis.sortByTopic()
    return diagnosis
  }

  /// Measures every sensor of a source, one of a kind at a time.
  private mutating func measureAll(_ source: any SensorSource, _ settings: Settings, mayGoOn: () -> Bool) {
    let description = source.description
    host = description.host
    sensorCount = description.sensors.count
    let on = description.host.isEmpty ? "" : " on \(description.host)"
    findings.append(
      Finding(.good, .connection, "", "\(uri) answers\(on), with \(counted(sensorCount, "sensor"))"))
    for note in description.notes { findings.append(Finding(.note, .connection, "", note)) }
    if description.sensors.isEmpty {
      findings.append(
        Finding(
          .fault, .connection, "", "it has no sensor that is read", fixes: ["motionlog devices -u \(uri) says why"]))
    }
    var byKind: [SensorKind: [SensorDescription]] = [:]
    for sensor in description.sensors where settings.rates[sensor.kind] != nil {
      byKind[sensor.kind, default: []].append(sensor)
    }
    let rounds = byKind.values.map(\.count).max() ?? 0
    for round in 0..<rounds where mayGoOn() {
      var request = SensorRequest(rates: [:], trigger: settings.trigger)
      for (kind, sensors) in byKind where round < sensors.count {
        request.rates[kind] = settings.rates[kind] ?? 0
        if let id = sensors[round].attributes.first(where: { $0.name == "device" })?.value {
          request.devices[kind] = id
        }
      }
      measure(source, request, settings, mayGoOn: mayGoOn)
    }
  }

  /// Measures the sensors of one request; those that bring nothing are asked alone why.
  private mutating func measure(
    _ source: any SensorSource, _ request: SensorRequest, _ settings: Settings, mayGoOn: () -> Bool
  ) {
    var measured: [SensorKind: SensorMeasurement] = [:]
    do {
      measured = try Self.sample(source, request, settings, &findings, mayGoOn: mayGoOn)
    } catch {
      // A round of one sensor has just said why; those of several are asked one by one below.
      if request.rates.count == 1 {
        report(error)
        return
      }
    }
    for kind in request.rates.keys.sorted() where (measured[kind]?.count ?? 0) == 0 && mayGoOn() {
      guard request.rates.count > 1 else { continue }
      measured[kind] = nil
      var single = request
      single.rates = request.rates.filter { $0.key == kind }
      single.devices = request.devices.filter { $0.key == kind }
      single.required = [kind]
      measure(source, single, settings, mayGoOn: mayGoOn)
    }
    let sorted = measured.values.sorted { $0.sensor.kind < $1.sensor.kind }
    findings += SensorChecks(measurements: sorted).findings()
    measurements += sorted
  }

  /// Adds an error of a device, unless the machine's own files have told why already.
  private mutating func report(_ error: MotionKitError) {
    let finding = Self.finding(error, Self.topic(of: error), "")
    let isExplained = findings.contains {
      $0.level == .fault && [.permissions, .buffers].contains($0.topic) && !$0.subject.isEmpty
        && finding.text.hasPrefix($0.subject)
    }
    if !isExplained { findings.append(finding) }
  }

  /// Seconds after which a device that brings nothing more is given up.
  private static let patience = 6.0

  /// Starts a request, takes samples for the time that was set, and stops again.
  private static func sample(
    _ source: any SensorSource, _ request: SensorRequest, _ settings: Settings, _ findings: inout [Finding],
    mayGoOn: () -> Bool
  ) throws(MotionKitError) -> [SensorKind: SensorMeasurement] {
    let started = try source.start(request)
    defer { source.stop() }
    var measured: [SensorKind: SensorMeasurement] = [:]
    for sensor in started.sensors {
      measured[sensor.kind] = SensorMeasurement(sensor, wantedRate: request.rates[sensor.kind] ?? 0)
    }
    let known = Set(source.description.notes)
    // A device that did not start is asked again, alone.
    for note in started.notes where !known.contains(note) && !note.hasSuffix("it is tried again") {
      let isClock = note.contains("clock")
      findings.append(Finding(.note, isClock ? .clocks : .triggers, "", note))
    }
    var batch = SampleBatch()
    var first: Timestamp?
    var span = 0.0
    let begin = nanoseconds(of: CLOCK_MONOTONIC)
    var waited = 0.0
    // Live sources take their time; others are over in a moment. Whatever the device stamps with, the wait is bounded.
    while mayGoOn(), span < settings.seconds, waited < settings.seconds + patience {
      let status = try source.read(into: &batch, timeout: 0.1)
      for sample in batch.samples {
        measured[sample.kind]?.add(sample)
        if first == nil { first = sample.time }
      }
      if let first, let last = batch.samples.last { span = max(span, last.time.seconds(since: first)) }
      for event in batch.events { take(event, started, &measured, &findings) }
      waited = Double(nanoseconds(of: CLOCK_MONOTONIC) - begin) / 1e9
      if status == .end { break }
    }
    return measured
  }

  /// Turns an event of the source into a finding.
  private static func take(
    _ event: SourceEvent, _ started: SourceDescription, _ measured: inout [SensorKind: SensorMeasurement],
    _ findings: inout [Finding]
  ) {
    switch event.name {
    case "gap":
      // "accelerometer: 12 missing in 3 gaps, …"
      let words = event.detail.split { " :".contains($0) }
      guard words.count > 1, let missing = Int64(words[1]) else { return }
      for kind in SensorKind.allCases where words[0] == "\(kind)" { measured[kind]?.missing += missing }
    case "clock":
      findings.append(
        Finding(
          .note, .clocks, "", event.detail,
          fixes: ["nothing to mend: all samples are moved by this much, so that they fit this machine's clock"]))
    case "clock_step":
      findings.append(
        Finding(
          .warning, .clocks, "", event.detail,
          fixes: ["samples go on without a jump; look for what sets the clock (timedatectl timesync-status)"]))
    case "lost":
      // One that has never delivered is asked again, alone.
      let isNew = started.sensors.contains {
        event.detail.hasPrefix($0.name) && (measured[$0.kind]?.count ?? 0) == 0
      }
      if !isNew { findings.append(Finding(.fault, .rates, "", event.detail, fixes: ["dmesg may say more"])) }
    case "overrun":
      findings.append(
        Finding(
          .warning, .rates, "", event.detail,
          fixes: ["this machine is too busy to read (top shows what keeps it); ask for lower rates with --rate"]))
    case "capture":
      findings.append(
        Finding(.warning, .triggers, "", event.detail, fixes: ["it works, but not as it should: see docs/IIO.md"]))
    default: break
    }
  }

  /// Which topic an error belongs to.
  private static func topic(of error: MotionKitError) -> Finding.Topic {
    switch error {
    case .notPermitted: .permissions
    case .busy: .buffers
    case .device, .unsupported, .notFound: .triggers
    default: .connection
    }
  }

  /// An error as a finding.
  private static func finding(_ error: MotionKitError, _ topic: Finding.Topic, _ subject: String) -> Finding {
    Finding(.fault, topic, subject, error.summary, fixes: [error.hint])
  }
}
