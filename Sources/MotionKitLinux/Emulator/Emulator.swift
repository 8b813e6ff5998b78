import Glibc
import SensorFusion
import Synchronization

/// Plays a source to the clients of an `IIODServer`: a recording or a simulated scene as a board with live sensors.
///
///     let emulator = try Emulator(uri: "sim:walk", settings: Emulator.Settings(port: 30431))
///     try emulator.run()  // until the source ends, or stop() is called from another thread
public final class Emulator: Sendable {
  /// The times that clients see.
  public enum TimeBase: Hashable, Sendable {
    /// The first sample is now, as with live sensors; the distances between samples are the source's.
    case now
    /// The source's own, whatever clock a client chooses.
    case source
  }

  /// How a source is played.
  public struct Settings: Hashable, Sendable {
    /// The address to listen on; only this machine can reach the default.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any that is free.
    public var port: UInt16 = 0
    /// How many times its own speed the source is played at. Time stamps keep their distances, so that rates of turn
    /// and angles still fit together.
    public var speed = 1.0
    /// Whether it begins again at its end; time stamps go on.
    public var loops = true
    /// The times that clients see.
    public var timeBase = TimeBase.now
    /// The sensors wanted and their rates, 0 for the source's own; all sensors where it is empty.
    public var rates: [SensorKind: Double] = [:]
    /// Whether a sensor named in `rates` that the source does not have is an error.
    public var isRequired = true

    /// The defaults, with another port or speed.
    public init(port: UInt16 = 0, speed: Double = 1) {
      self.port = port
      self.speed = speed
    }
  }

  /// The server, for its port, statistics and faults.
  public let server: IIODServer
  /// What the source says of itself.
  public let description: SourceDescription
  private let settings: Settings
  private let open: @Sendable () throws(MotionKitError) -> any SensorSource
  private let isStopping = Atomic<Bool>(false)
  private let source: Locked<(any SensorSource)?>

  /// Opens a source by its URI and serves it; nothing moves before `run`.
  ///
  /// - Throws: What `openSource` throws, `MotionKitError.noSensors` where there is nothing to serve, and what
  ///   `IIODServer` throws.
  public convenience init(uri: String, settings: Settings = Settings()) throws(MotionKitError) {
    try self.init(settings: settings) { () throws(MotionKitError) in try openSource(uri, pacing: .unpaced) }
  }

  /// Serves a source made by `open`, which is called for each pass.
  public init(
    settings: Settings, open: @escaping @Sendable () throws(MotionKitError) -> any SensorSource
  ) throws(MotionKitError) {
    guard settings.speed > 0, settings.speed.isFinite else {
      throw .unsupported(what: "a speed of \(settings.speed)", hint: "use a factor above 0, such as 1 or 10")
    }
    let first = try open()
    let request = Self.request(settings, of: first.description)
    let description = try first.start(request)
    defer { first.stop() }
    guard !description.sensors.isEmpty else {
      throw .noSensors(
        uri: description.uri, hint: "nothing is left to serve; see motionlog devices -u \(description.uri)")
    }
    let hasTemperature = description.sensor(.barometer) != nil ? try Self.findsTemperature(in: first) : false
    server = try IIODServer(
      board: EmulatedBoard(describing: description, hasTemperature: hasTemperature), host: settings.host,
      port: settings.port, clockOffsets: settings.timeBase == .now ? Self.clockOffsets() : IIODClockOffsets())
    self.description = description
    self.settings = settings
    self.open = open
    source = Locked(nil)
  }

  private static func request(_ settings: Settings, of description: SourceDescription) -> SensorRequest {
    if !settings.rates.isEmpty {
      return SensorRequest(rates: settings.rates, required: settings.isRequired ? Set(settings.rates.keys) : [])
    }
    var rates: [SensorKind: Double] = [:]
    for sensor in description.sensors { rates[sensor.kind] = 0 }
    return SensorRequest(rates: rates)
  }

  /// Whether the first sample of the barometer carries a temperature. A live source has to be asked in a bounded time.
  private static func findsTemperature(in source: any SensorSource) throws(MotionKitError) -> Bool {
    var batch = SampleBatch()
    for _ in 0..<20 {
      let status = try source.read(into: &batch, timeout: 0.1)
      if let sample = batch.samples.first(where: { $0.kind == .barometer }) { return !sample.y.isNaN }
      if status == .end { return false }
    }
    return false
  }

  /// Plays the source until its end, or for ever if it loops, or until `stop`. Call it once.
  ///
  /// - Parameter isWanted: Asked about twenty times a second, or more often, whether to go on.
  /// - Throws: What the source throws; clients keep their connections then, but get no more samples.
  public func run(while isWanted: () -> Bool = { true }) throws(MotionKitError) {
    var clock = PlayClock(speed: settings.speed, timeBase: settings.timeBase)
    var batch = SampleBatch()
    while goesOn(isWanted) {
      let source = try open()
      self.source.withLock { $0 = source }
      defer {
        self.source.withLock { $0 = nil }
        source.stop()
      }
      let started = try source.start(Self.request(settings, of: source.description))
      clock.beginPass(rate: started.sensors.map(\.rate).max() ?? 0)
      var hasSamples = false
      var status = ReadStatus.data
      while status != .end, goesOn(isWanted) {
        status = try source.read(into: &batch, timeout: Self.patience)
        hasSamples = hasSamples || !batch.samples.isEmpty
        for index in batch.samples.indices { batch.samples[index].time = clock.served(batch.samples[index].time) }
        if started.isLive {
          server.deliver(batch.samples)
        } else {
          deliver(batch.samples, clock: &clock, while: isWanted)
        }
      }
      guard settings.loops, hasSamples else {
        if goesOn(isWanted) { server.finish(within: Self.lastBatchTime) { goesOn(isWanted) } }
        return
      }
    }
  }

  /// Ends `run`, and then the server. Safe to call twice and from any thread.
  public func stop() {
    isStopping.store(true, ordering: .releasing)
    source.withLock { $0?.stop() }
    server.stop()
  }

  /// Hands out samples when their time has come.
  private func deliver(_ samples: [SensorSample], clock: inout PlayClock, while isWanted: () -> Bool) {
    var next = 0
    while next < samples.count, goesOn(isWanted) {
      let now = nanoseconds(of: CLOCK_MONOTONIC)
      var end = next
      while end < samples.count, clock.due(samples[end].time, now: now) <= now { end += 1 }
      if end > next {
        server.deliver(samples[next..<end])
        next = end
      } else {
        Self.sleep(until: min(clock.due(samples[next].time, now: now), now + Self.stopLatency))
      }
    }
  }

  private func goesOn(_ isWanted: () -> Bool) -> Bool { !isStopping.load(ordering: .acquiring) && isWanted() }

  /// How long clients have, at the end of a source that is played once, to take the last samples, seconds.
  private static let lastBatchTime = 2.0
  /// How long a stop may go unnoticed, seconds.
  private static let patience = 0.05
  private static let stopLatency = Timestamp(seconds: patience).nanoseconds

  private static func sleep(until time: Int64) {
    var limit = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    _ = clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &limit, nil)
  }

  /// What this machine's clocks are ahead of its boot clock.
  private static func clockOffsets() -> IIODClockOffsets {
    let boot = KernelClockOffsets.measure()
    return IIODClockOffsets(realtime: -boot.realtime, monotonic: -boot.monotonic, tai: -boot.tai)
  }
}

/// When samples are handed out, and the times that they carry then.
struct PlayClock {
  let speed: Double
  let timeBase: Emulator.TimeBase
  /// What is added to the source's times; nil before the first sample of a pass.
  private var shift: Int64?
  /// The latest time served; nil before the first sample of all.
  private var latest: Int64?
  /// Distance from the end of a pass to the beginning of the next, nanoseconds.
  private var period: Int64 = 0
  /// A time served, and when that was due by the monotonic clock.
  private var anchor: (served: Int64, due: Int64)?

  /// Later than this, playing goes on from now instead of catching up: the machine was asleep, or far too slow.
  static let patience: Int64 = 500_000_000

  /// A clock that has not begun.
  init(speed: Double, timeBase: Emulator.TimeBase) {
    self.speed = speed
    self.timeBase = timeBase
  }

  /// The source is at its beginning. `rate` is its fastest sensor's, Hz.
  mutating func beginPass(rate: Double) {
    shift = nil
    period = rate > 0 ? Timestamp(seconds: 1 / rate).nanoseconds : 10_000_000
  }

  /// The time that clients see for a time of the source.
  mutating func served(_ time: Timestamp) -> Timestamp {
    if shift == nil {
      let first: Int64
      if let latest {
        first = latest.addingReportingOverflow(period).partialValue
      } else {
        first = timeBase == .now ? MotionKitLinux.nanoseconds(of: CLOCK_BOOTTIME) : time.nanoseconds
      }
      shift = first.subtractingReportingOverflow(time.nanoseconds).partialValue
    }
    let result = time.nanoseconds.addingReportingOverflow(shift ?? 0).partialValue
    latest = max(latest ?? result, result)
    return Timestamp(nanoseconds: result)
  }

  /// When a time served is due by the monotonic clock, whose reading is `now`.
  mutating func due(_ served: Timestamp, now: Int64) -> Int64 {
    guard let anchor else {
      self.anchor = (served.nanoseconds, now)
      return now
    }
    let distance = served.seconds(since: Timestamp(nanoseconds: anchor.served)) / speed
    let due = Timestamp(nanoseconds: anchor.due).advanced(bySeconds: distance).nanoseconds
    guard due < now.subtractingReportingOverflow(Self.patience).partialValue else { return due }
    self.anchor = (served.nanoseconds, now)
    return now
  }
}
