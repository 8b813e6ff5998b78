import SensorFusion
import Synchronization

/// A source that can make its sensors faster while it runs, without beginning anew.
protocol RateRaisingSource: SensorSource {
  /// Samples that one `read` gives at most: 1 where a raise must take effect with the very next sample.
  var samplesPerRead: Int { get set }

  /// Makes sensors that run slower than `rates` as fast; those that are fast enough stay as they are. Called from the
  /// reading thread. Returns the new settings; nil where nothing changed.
  func raise(to rates: [SensorKind: Double]) -> SourceDescription?
}

/// A simulated scene as a source of samples: `sim:SCENE?key=value&…`.
///
/// The same URI and request give the same samples to the bit, times included; another `seed` gives other errors in the
/// same scene. The first samples carry `startTime`. Paced, they come as time passes; unpaced, as fast as they are read.
///
///     let source = try SimulationSource(uri: "sim:walk?steps=100&errors=none", pacing: .unpaced)
///     let truth = source.scene.truth(at: 10)
public final class SimulationSource: RateRaisingSource, @unchecked Sendable {
  /// The scene with its truth.
  public let scene: SimulatedScene
  /// The errors of its sensors.
  public let errors: SimulatedErrors
  /// What the errors are drawn from.
  public let seed: UInt64
  /// The time stamp of the scene's beginning: `scene.truth(at: time.seconds(since: startTime))` is the truth of a sample.
  public let startTime: Timestamp
  /// What the source was opened as.
  public let description: SourceDescription

  private let pacing: Pacing
  private let clock: any PacingClock
  private let isStopped = Atomic<Bool>(false)

  // The rest belongs to the reading thread.
  private var sensors: [SimulatedSensor] = []
  /// The next sample of each sensor; nil where it has ended.
  private var pending: [SensorSample?] = []
  /// Each sensor as it was before its pending sample: where it goes on when its rate changes.
  private var unread: [SimulatedSensor] = []
  /// The newest sample given away.
  private var newest = Timestamp(nanoseconds: .min)
  private var started: SourceDescription?
  var samplesPerRead = SimulationSource.batchLimit
  private var cache = TruthCache()
  /// The clock when the scene began.
  private var clockStart: Int64 = 0

  /// The rates of sensors for which none is asked, Hz.
  public static let defaultRates: [SensorKind: Double] = [
    .accelerometer: 100, .gyroscope: 100, .magnetometer: 50, .barometer: 25, .stepCounter: 5,
  ]
  /// Samples a batch holds at most; more wait for the next read.
  static let batchLimit = 512
  /// The fastest sensor, Hz.
  static let rateLimit = 100_000.0

  /// A source from a `sim:` URI.
  ///
  /// - Parameters:
  ///   - uri: Scene and settings; see `docs/SIMULATION.md` for all keys.
  ///   - pacing: How fast time passes.
  ///   - clock: What the pace is kept by.
  /// - Throws: `MotionKitError.notFound` for an unknown scene or key, with the list of those there are;
  ///   `.invalidSource` for a value that is not possible.
  public convenience init(
    uri: String, pacing: Pacing = .speed(1), clock: any PacingClock = SystemPacingClock()
  ) throws(MotionKitError) {
    guard case .simulation(let name, let values) = try SourceURI(uri) else {
      throw .invalidSource(uri: uri, reason: "it does not name a simulated scene; use sim:SCENE, for example sim:walk")
    }
    var settings = SimulationSettings(uri: uri, settings: values)
    let scene = try SimulatedScene(name, reading: &settings)
    let errors = try SimulatedErrors(&settings)
    let seed = try settings.integer("seed", "what the errors are drawn from", default: 1, in: 0...Int.max)
    let start = try settings.number(
      "start", "time stamp of the scene's beginning, s", default: 1000, in: 0...1e9)
    let kinds = try Self.kinds(&settings)
    try settings.finish()
    try self.init(
      scene: scene, errors: errors, seed: UInt64(seed), sensors: kinds, startTime: Timestamp(seconds: start), uri: uri,
      pacing: pacing, clock: clock)
  }

  /// A source from a scene and errors made in code.
  ///
  /// - Parameters:
  ///   - scene: The motion.
  ///   - errors: The errors of the sensors.
  ///   - seed: What the errors are drawn from.
  ///   - sensors: The sensors that the device has.
  ///   - startTime: The time stamp of the scene's beginning.
  ///   - uri: What the source calls itself; `sim:NAME` by default.
  ///   - pacing: How fast time passes.
  ///   - clock: What the pace is kept by.
  /// - Throws: `MotionKitError.invalidSource` where the pace is not a positive number.
  public init(
    scene: SimulatedScene, errors: SimulatedErrors = .none, seed: UInt64 = 1,
    sensors: Set<SensorKind> = [.accelerometer, .gyroscope, .magnetometer, .barometer],
    startTime: Timestamp = Timestamp(nanoseconds: 1_000_000_000_000), uri: String? = nil, pacing: Pacing = .unpaced,
    clock: any PacingClock = SystemPacingClock()
  ) throws(MotionKitError) {
    let uri = uri ?? "sim:\(scene.name)"
    if case .speed(let factor) = pacing, !Pacing.speeds.contains(factor) {
      throw .invalidSource(
        uri: uri,
        reason: "it cannot be paced at \(factor) times its speed; give a factor from 0.001 to 1000000, or no pacing")
    }
    self.scene = scene
    self.errors = errors
    self.seed = seed
    self.startTime = startTime
    self.pacing = pacing
    self.clock = clock
    description = SourceDescription(
      uri: uri, sensors: sensors.sorted().map { Self.describe($0, errors: errors, rate: Self.defaultRates[$0] ?? 1) },
      host: "simulated", isLive: pacing != .unpaced)
  }

  /// The words of `sensors=`.
  private static let sensorWords: [(word: String, kind: SensorKind)] = [
    ("accel", .accelerometer), ("gyro", .gyroscope), ("mag", .magnetometer), ("baro", .barometer),
    ("steps", .stepCounter),
  ]

  private static func kinds(_ settings: inout SimulationSettings) throws(MotionKitError) -> Set<SensorKind> {
    let summary = "the sensors there are: accel,gyro,mag,baro (and steps for a chip that counts them)"
    guard let text = settings.text("sensors", summary) else {
      return [.accelerometer, .gyroscope, .magnetometer, .barometer]
    }
    var kinds: Set<SensorKind> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let entry = sensorWords.first(where: { $0.word == part }) else {
        throw settings.invalid("sensors", text, "a list of " + sensorWords.map(\.word).joined(separator: ", "))
      }
      kinds.insert(entry.kind)
    }
    return kinds
  }

  private static func describe(_ kind: SensorKind, errors: SimulatedErrors, rate: Double) -> SensorDescription {
    let name =
      switch kind {
      case .accelerometer: "simulated accelerometer"
      case .gyroscope: "simulated gyroscope"
      case .magnetometer: "simulated magnetometer"
      case .barometer: "simulated barometer"
      case .stepCounter: "simulated step counter"
      }
    var description = SensorDescription(kind: kind, name: name, identity: "sim/\(kind)", rate: rate)
    description.driver = "simulation"
    description.resolution = errors[kind].resolution
    description.range = errors[kind].range
    description.delay = errors[kind].delay
    description.capture = "simulated"
    description.clock = "boottime"
    return description
  }

  /// Begins the scene, anew if it has run before. A stopped source is not started again.
  public func start(_ request: SensorRequest) throws(MotionKitError) -> SourceDescription {
    guard !isStopped.load(ordering: .acquiring) else {
      throw .unsupported(what: "a second start of \(description.uri) after its stop", hint: "open the source again")
    }
    if let missing = request.required.sorted().first(where: { description.sensor($0) == nil }) {
      let word = Self.sensorWords.first { $0.kind == missing }?.word ?? missing.name
      throw .noSensors(
        uri: description.uri,
        hint: "the scene is simulated without \(missing.name); add \(word) to its sensors, as in"
          + " sim:walk?sensors=accel,gyro,\(word)")
    }
    var started = description
    started.sensors = []
    sensors = []
    for kind in request.rates.keys.sorted() where description.sensor(kind) != nil {
      let wanted = request.rates[kind] ?? 0
      guard wanted >= 0, wanted <= Self.rateLimit else {
        throw .unsupported(
          what: "\(wanted) samples per second of the \(kind) in \(description.uri)",
          hint: "ask for a rate above 0 and up to \(Int(Self.rateLimit))")
      }
      let rate = wanted > 0 ? wanted : Self.defaultRates[kind] ?? 1
      started.sensors.append(Self.describe(kind, errors: errors, rate: rate))
      sensors.append(
        SimulatedSensor(
          kind: kind, rate: rate, errors: errors, airTemperature: scene.environment.temperature, seed: seed))
    }
    guard !sensors.isEmpty else {
      throw .noSensors(uri: description.uri, hint: "none of the sensors asked for is simulated here")
    }
    pending = []
    unread = sensors
    newest = Timestamp(nanoseconds: .min)
    for index in sensors.indices { pending.append(sensors[index].next(in: scene, start: startTime, cache: &cache)) }
    clockStart = clock.nanoseconds
    if pacing != .unpaced {
      started.anchors = [ClockAnchor(time: startTime, utcNanoseconds: clock.utcNanoseconds)]
    }
    self.started = started
    return started
  }

  /// Goes on with faster sensors: their next samples come after everything read so far (paced: after now), on the new
  /// rate's grid. The same raises after the same samples give the same stream.
  func raise(to rates: [SensorKind: Double]) -> SourceDescription? {
    guard var started else { return nil }
    var from = newest
    if case .speed(let factor) = pacing {
      let due = startTime.advanced(bySeconds: Double(clock.nanoseconds - clockStart) * factor / 1e9)
      from = max(from, due)
    }
    var isRaised = false
    for index in sensors.indices {
      let wanted = min(rates[sensors[index].kind] ?? 0, Self.rateLimit)
      guard wanted > sensors[index].rate else { continue }
      isRaised = true
      var sensor = unread[index]
      sensor.change(
        rate: wanted, after: from.nanoseconds == .min ? -1 : from.seconds(since: startTime), in: scene, cache: &cache)
      unread[index] = sensor
      pending[index] = sensor.next(in: scene, start: startTime, cache: &cache)
      sensors[index] = sensor
      if let place = started.sensors.firstIndex(where: { $0.kind == sensor.kind }) {
        started.sensors[place].rate = wanted
      }
    }
    guard isRaised else { return nil }
    self.started = started
    return started
  }

  /// Fills `batch` with the samples that are due.
  public func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus {
    batch.removeAll()
    batch.samples.reserveCapacity(Self.batchLimit)
    guard case .speed(let factor) = pacing else {
      fill(&batch, until: .max)
      return status(of: batch)
    }
    let deadline = clock.nanoseconds &+ Timestamp(seconds: max(0, timeout)).nanoseconds
    while true {
      guard !isStopped.load(ordering: .acquiring), let first = earliest else { return .end }
      let now = clock.nanoseconds
      let scenePassed = Double(now - clockStart) * factor
      let due = startTime.advanced(bySeconds: scenePassed / 1e9)
      if first.time <= due {
        fill(&batch, until: due.nanoseconds)
        return status(of: batch)
      }
      let wake = clockStart &+ Int64((first.time.seconds(since: startTime) * 1e9 / factor).rounded(.up))
      guard now < deadline else { return .timeout }
      clock.wait(until: min(wake, deadline))
    }
  }

  /// Ends the stream; a waiting `read` returns at once.
  public func stop() {
    isStopped.store(true, ordering: .releasing)
    clock.interrupt()
  }

  /// Samples that a simulated fault (`…_drop=`) has left out so far.
  public var droppedSampleCount: Int64 { sensors.reduce(0) { $0 + $1.droppedCount } }

  private func status(of batch: SampleBatch) -> ReadStatus {
    if isStopped.load(ordering: .acquiring) { return .end }
    return batch.samples.isEmpty ? .end : .data
  }

  /// The sample that comes next.
  private var earliest: SensorSample? {
    guard let index = earliestIndex else { return nil }
    return pending[index]
  }

  private var earliestIndex: Int? {
    var best: Int?
    var bestTime = Int64.max
    for index in pending.indices {
      // Sensors are in order of kind, so the first of equals is right.
      guard let time = pending[index]?.time.nanoseconds, best == nil || time < bestTime else { continue }
      best = index
      bestTime = time
    }
    return best
  }

  /// Adds samples in order of time up to and including `limit`.
  private func fill(_ batch: inout SampleBatch, until limit: Int64) {
    let most = min(samplesPerRead, Self.batchLimit)
    while batch.samples.count < most, let index = earliestIndex, let sample = pending[index],
      sample.time.nanoseconds <= limit
    {
      batch.samples.append(sample)
      newest = sample.time
      unread[index] = sensors[index]
      pending[index] = sensors[index].next(in: scene, start: startTime, cache: &cache)
    }
  }
}
