import SensorFusion

extension SharedSource {
  /// How long one `read` waits, seconds: what a change of users waits at most where no samples come.
  private static let readTimeout = 0.05

  /// The reading thread's own state.
  private struct Reader {
    var source: (any SensorSource)?
    var request: SensorRequest?
    var description: SourceDescription?
    var generation = -1
    /// Users that know the description.
    var consumers: [any SampleConsumer] = []
  }

  /// Reads until nobody wants samples, the source is at its end, or it fails.
  func read() {
    var reader = Reader()
    var batch = SampleBatch()
    do {
      while true {
        try refresh(&reader)
        guard let source = reader.source, !reader.consumers.isEmpty else {
          stop(&reader)
          if leaveIfUnused() { return }
          continue
        }
        let status = try source.read(into: &batch, timeout: Self.readTimeout)
        try distribute(batch, &reader)
        if status == .end {
          stop(&reader)
          return failAll(nil)
        }
      }
    } catch {
      stop(&reader)
      failAll(error)
    }
  }

  /// Takes note of changed users: starts the source, or starts it again, where they want something else.
  private func refresh(_ reader: inout Reader) throws(MotionKitError) {
    let known = reader.generation
    let change = state.withLock { state -> (users: [any SampleConsumer], generation: Int)? in
      state.generation == known ? nil : (state.consumers, state.generation)
    }
    guard let change else { return }
    reader.generation = change.generation
    let old = reader.consumers
    reader.consumers = change.users
    for user in old where !change.users.contains(where: { $0 === user }) { user.leave() }
    guard !change.users.isEmpty else { return }

    let request = try self.request(for: change.users)
    if let description = reader.description, !isDevice || !Self.needsRestart(from: reader.request, to: request) {
      if try raise(to: request, &reader) { return }
      for user in change.users where !old.contains(where: { $0 === user }) { user.begin(description) }
      return
    }
    do {
      try start(request, &reader)
    } catch {
      // A newcomer's wish must not end what worked: it gets the error, the others go on.
      let survivors = change.users.filter { user in old.contains { $0 === user } }
      guard !survivors.isEmpty, survivors.count < change.users.count else { throw error }
      for user in change.users where !survivors.contains(where: { $0 === user }) {
        remove(user)
        user.finish(error)
      }
      reader.consumers = survivors
      try start(try self.request(for: survivors), &reader)
    }
    if let description = reader.description {
      for user in reader.consumers { user.begin(description) }
    }
  }

  /// A start interrupts everybody's samples, so it must be worth it: another set of sensors, a higher rate, or one that
  /// can be halved. A rate that is somewhat too high is thinned out instead.
  static func needsRestart(from running: SensorRequest?, to wanted: SensorRequest) -> Bool {
    guard let running, running.rates.keys == wanted.rates.keys else { return true }
    return wanted.rates.contains { kind, rate in
      guard let now = running.rates[kind], now > 0, rate > 0 else { return running.rates[kind] != rate }
      return rate > now || rate <= now / 2
    }
  }

  /// Makes the sensors of a scene faster where somebody asks for more; returns whether it did and told everybody.
  private func raise(to request: SensorRequest, _ reader: inout Reader) throws(MotionKitError) -> Bool {
    guard let source = reader.source as? any RateRaisingSource, var raised = source.raise(to: request.rates) else {
      return false
    }
    try raised.calibrate(calibration)
    reader.request = request
    reader.description = raised
    state.withLock { [raised] in $0.started = raised }
    for user in reader.consumers { user.begin(raised) }
    return true
  }

  private func start(_ request: SensorRequest, _ reader: inout Reader) throws(MotionKitError) {
    reader.source?.stop()
    reader.description = nil
    let source = try openForReading()
    reader.source = source
    if stepping == .lockstep, let source = source as? any RateRaisingSource { source.samplesPerRead = 1 }
    var description = try source.start(request)
    try description.calibrate(calibration)
    reader.request = request
    reader.description = description
    state.withLock {
      $0.started = description
      $0.anchor = description.anchors.last ?? (isDevice ? ClockAnchor.now() : nil)
    }
  }

  private func stop(_ reader: inout Reader) {
    guard let source = reader.source else { return }
    source.stop()
    reader = Reader()
    closeAfterReading()
  }

  /// Whether the thread may go: nobody uses the source.
  private func leaveIfUnused() -> Bool {
    state.withLockNotifying { state in
      guard state.consumers.isEmpty else { return false }
      state.isThreadRunning = false
      state.started = nil
      state.endedRuns = state.runs
      return true
    }
  }

  /// The fastest sensors of a scene for managers, Hz: about what inertial chips offer, and what a small board can keep up
  /// with.
  private static let fastestSimulatedRate = 4000.0

  /// How often a temperature is worth reading, Hz.
  private static let temperatureRate = 1.0

  /// The union of what the users want. From a recording or a scene everything: it costs nothing there, and a user who
  /// comes later then finds it running instead of sending everybody back to the beginning.
  private func request(for users: [any SampleConsumer]) throws(MotionKitError) -> SensorRequest {
    let available = try openForReading().description
    var request = SensorRequest(rates: [:])
    for demand in users.map(\.demand) {
      for (kind, rate) in demand.rates { request.rates[kind] = max(request.rates[kind] ?? 0, rate) }
      request.required.formUnion(demand.required)
    }
    // A gyroscope's bias that follows the temperature needs one that tells it.
    if isDevice, request.rates[.barometer] == nil,
      users.contains(where: { $0.demand.required.isSuperset(of: [.accelerometer, .gyroscope]) })
    {
      var calibrated = available
      try calibrated.calibrate(calibration)
      if calibrated.calibrations.gyroscopeTemperature != nil { request.rates[.barometer] = Self.temperatureRate }
    }
    for (kind, rate) in request.rates where rate == .infinity {
      request.rates[kind] = available.sensor(kind)?.availableRates.last ?? 0
    }
    if !isDevice {
      // As on a phone, a wish beyond what can be is the fastest there is.
      for (kind, rate) in request.rates { request.rates[kind] = min(rate, Self.fastestSimulatedRate) }
      for sensor in available.sensors where request.rates[sensor.kind] == nil { request.rates[sensor.kind] = 0 }
    }
    return request
  }

  private func distribute(_ batch: SampleBatch, _ reader: inout Reader) throws(MotionKitError) {
    if !batch.events.isEmpty {
      state.withLock { for event in batch.events { $0.eventCounts[event.name, default: 0] += 1 } }
    }
    if let first = batch.samples.first {
      // A scene without a wall clock of its own begins now.
      state.withLock {
        if $0.anchor == nil {
          $0.anchor = ClockAnchor(time: first.time, utcNanoseconds: ClockAnchor.now().utcNanoseconds)
        }
      }
    }
    for sample in batch.samples {
      guard stepping == .lockstep else {
        for consumer in reader.consumers { consumer.take(sample) }
        continue
      }
      // Whatever somebody did in a pause between samples holds for this one.
      if reader.consumers.contains(where: { $0.pause(before: sample.time) }) { try refresh(&reader) }
      for consumer in reader.consumers { consumer.take(sample) }
      for consumer in reader.consumers { consumer.waitUntilIdle() }
      samples.wrappingAdd(1, ordering: .relaxed)
      try refresh(&reader)
    }
  }
}
