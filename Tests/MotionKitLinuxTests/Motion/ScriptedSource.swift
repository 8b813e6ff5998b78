import Glibc
import SensorFusion

@testable import MotionKitLinux

/// A source in memory: the test pushes samples, or gives them all beforehand, and sees what was asked for.
final class ScriptedSource: SensorSource {
  struct State {
    var pending: [SensorSample] = []
    var events: [SourceEvent] = []
    var isEnding = false
    var failure: MotionKitError?
    var startFailure: MotionKitError?
    var requests: [SensorRequest] = []
    var isStarted = false
    var stops = 0
  }

  let description: SourceDescription
  let state: Locked<State>

  init(
    kinds: [SensorKind] = [.accelerometer, .gyroscope, .magnetometer, .barometer], rate: Double = 100,
    isLive: Bool = true, samples: [SensorSample] = []
  ) {
    let sensors = kinds.map { kind in
      var sensor = SensorDescription(kind: kind, name: "scripted", identity: "scripted-\(kind)", rate: rate)
      sensor.availableRates = [25, 50, 100, 200, 400]
      return sensor
    }
    description = SourceDescription(
      uri: "scripted:", sensors: sensors, isLive: isLive,
      anchors: [ClockAnchor(time: Timestamp(nanoseconds: 0), utcNanoseconds: 1_800_000_000_000_000_000)])
    state = Locked(State(pending: samples, isEnding: !isLive))
  }

  var requests: [SensorRequest] { state.withLock { $0.requests } }
  var isStarted: Bool { state.withLock { $0.isStarted } }

  func push(_ samples: [SensorSample]) { state.withLockNotifying { $0.pending += samples } }
  func push(event: SourceEvent) { state.withLockNotifying { $0.events.append(event) } }
  func end() { state.withLockNotifying { $0.isEnding = true } }
  func failNextStart(_ error: MotionKitError) { state.withLock { $0.startFailure = error } }
  func fail(_ error: MotionKitError) { state.withLockNotifying { $0.failure = error } }

  func start(_ request: SensorRequest) throws(MotionKitError) -> SourceDescription {
    try state.withLock { (state) throws(MotionKitError) in
      if let failure = state.startFailure.take() { throw failure }
      state.requests.append(request)
      state.isStarted = true
    }
    var started = description
    started.sensors = description.sensors.filter { request.rates[$0.kind] != nil }
    for i in started.sensors.indices {
      let wanted = request.rates[started.sensors[i].kind] ?? 0
      if wanted > 0 { started.sensors[i].rate = started.sensors[i].availableRates.first { $0 >= wanted } ?? 400 }
    }
    return started
  }

  func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus {
    batch.removeAll()
    let deadline = bootTime().advanced(bySeconds: timeout)
    while true {
      let status = try state.withLock { (state) throws(MotionKitError) -> ReadStatus? in
        if !state.pending.isEmpty || !state.events.isEmpty {
          // At most ten at once, so that a script of any length takes several reads.
          batch.samples += state.pending.prefix(10)
          state.pending.removeFirst(min(10, state.pending.count))
          swap(&batch.events, &state.events)
          return .data
        }
        if let failure = state.failure { throw failure }
        return state.isEnding ? .end : nil
      }
      if let status { return status }
      if bootTime() >= deadline { return .timeout }
      usleep(200)
    }
  }

  func stop() {
    state.withLockNotifying {
      $0.isStarted = false
      $0.stops += 1
    }
  }
}

extension SensorSample {
  /// Sample number `i` of a sensor at `rate` Hz whose first value is `i`.
  static func numbered(_ kind: SensorKind, _ i: Int, rate: Double = 100) -> SensorSample {
    SensorSample(
      time: Timestamp(nanoseconds: Int64((Double(i) * 1e9 / rate).rounded())), kind: kind, x: Float(i), y: 0, z: 0)
  }
}

/// Collects what handlers are given, and lets a test wait for it.
final class Collector<Value: Sendable>: Sendable {
  private let state = Locked((values: [Value](), errors: [MotionKitError]()))

  var values: [Value] { state.withLock { $0.values } }
  var errors: [MotionKitError] { state.withLock { $0.errors } }

  func add(_ result: Result<Value, MotionKitError>) {
    state.withLockNotifying {
      switch result {
      case .success(let value): $0.values.append(value)
      case .failure(let error): $0.errors.append(error)
      }
    }
  }

  /// Waits until so many values and errors have come.
  func wait(values: Int = 0, errors: Int = 0) {
    state.wait { $0.values.count >= values && $0.errors.count >= errors ? () : nil }
  }
}
