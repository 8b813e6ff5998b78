import Dispatch
import MotionKitLinux
import SensorFusion

/// Runs code that uses motion sensors on a recording or a simulated scene: at full speed, to the end, the same way
/// every time.
///
///     @Test func theCompassTurns() async throws {
///       let compass = try await MotionReplay.run("sim:rotate?duration=10") {
///         let compass = Compass()      // makes its CMMotionManager, or MotionManager, in here
///         compass.start()
///         return compass
///       }
///       #expect(compass.turns == 1)
///     }
///
/// Samples start when the closure has returned, so all that it started sees the first one. After each sample the source
/// waits until every handler and loop has finished, so whatever a handler does takes effect before the next sample.
/// What a handler hands to other queues is its own affair and is not waited for.
///
/// Code that reads `deviceMotion` and its like from a timer or a game's loop sees nothing this way: real time hardly
/// passes. `run(_:every:tick:_:)` calls it in step with the samples.
///
/// At the end no error reaches the handlers (live, one tells them that a recording is at its end): time just stops. The
/// services are no longer active, and the newest values can still be read. Managers that are kept, such as a
/// `static let shared`, use the source of the next replay in which they are started.
public enum MotionReplay {
  /// Runs `start`, then the whole of a source.
  ///
  /// Managers made inside `start` (in the same task) use the source; those made elsewhere do not, so tests may run at
  /// the same time. Handlers may use any queue that is served: `.main` is, in an `async` test.
  ///
  /// - Parameters:
  ///   - uri: `file:DIRECTORY` for a recording, `sim:SCENE?duration=SECONDS` for a scene.
  ///   - patience: Seconds of real time without any progress after which a replay is given up.
  ///   - start: Makes and starts what is to be tested.
  /// - Returns: What `start` returned, after the last sample.
  /// - Throws: What `start` throws; `MotionKitError` where the source cannot be opened, fails, does not end, or nobody was
  ///   given anything: such a test would test nothing.
  @discardableResult
  public static func run<Result>(
    _ uri: String, patience: Double = 60, _ start: () async throws -> Result
  ) async throws -> Result {
    try await run(openSource(uri, pacing: .unpaced), patience: patience, start)
  }

  /// Runs `start`, then the whole of a source, and calls `tick` every `interval` seconds of the samples' time: what a timer,
  /// a display link or a game's loop does in an app that reads `deviceMotion` instead of giving a handler.
  ///
  ///     let game = try await MotionReplay.run("sim:rotate?duration=10", every: 1.0 / 60, tick: { (game: Game) in game.update() }) {
  ///       let game = Game()
  ///       game.start()                  // manager.startDeviceMotionUpdates()
  ///       return game
  ///     }
  ///
  /// At a tick all samples up to its instant have been handled and none after it. The first tick comes one interval after
  /// the first sample, the last not after the last sample. What a tick does takes effect before the next sample.
  ///
  /// - Parameters:
  ///   - uri: `file:DIRECTORY` for a recording, `sim:SCENE?duration=SECONDS` for a scene.
  ///   - interval: Seconds of the samples' time between ticks; above 0.
  ///   - patience: Seconds of real time without any progress after which a replay is given up.
  ///   - tick: Gets what `start` returned. An error ends the replay.
  ///   - start: Makes and starts what is to be tested.
  /// - Returns: What `start` returned, after the last sample.
  /// - Throws: What `start` or `tick` throws; `MotionKitError` where the interval makes no sense, or the source cannot be
  ///   opened, fails, or does not end.
  @discardableResult
  public static func run<Result>(
    _ uri: String, every interval: Double, patience: Double = 60, tick: (Result) async throws -> Void,
    _ start: () async throws -> Result
  ) async throws -> Result {
    try await run(openSource(uri, pacing: .unpaced), every: interval, patience: patience, tick: tick, start)
  }

  /// Runs `start`, then the whole of a source of the caller's own making, such as a `SimulationSource` whose truth the
  /// test compares with, or samples written down in a `ScriptedSource`.
  @discardableResult
  public static func run<Result>(
    _ source: any SensorSource, patience: Double = 60, _ start: () async throws -> Result
  ) async throws -> Result {
    try await run(source, ticker: nil, patience: patience, tick: { _ in }, start)
  }

  /// Runs `start`, then the whole of a source of the caller's own making, and calls `tick` every `interval` seconds of the
  /// samples' time.
  @discardableResult
  public static func run<Result>(
    _ source: any SensorSource, every interval: Double, patience: Double = 60, tick: (Result) async throws -> Void,
    _ start: () async throws -> Result
  ) async throws -> Result {
    guard interval > 0, interval.isFinite else {
      throw MotionKitError.unsupported(what: "a tick every \(interval) s", hint: "give an interval above 0")
    }
    return try await run(source, ticker: Ticker(interval: interval), patience: patience, tick: tick, start)
  }

  private static func run<Result>(
    _ source: any SensorSource, ticker: Ticker?, patience: Double, tick: (Result) async throws -> Void,
    _ start: () async throws -> Result
  ) async throws -> Result {
    if let scene = (source as? SimulationSource)?.scene, scene.duration == .infinity {
      throw MotionKitError.unsupported(
        what: "replaying \(source.description.uri) to its end", hint: "the scene has none: add duration=SECONDS to it")
    }
    let shared = SharedSource(source, stepping: .lockstep)
    defer { shared.retire() }
    shared.hold()
    if let ticker { shared.add(ticker) }
    let result = try await SharedSource.$override.withValue(shared) { try await start() }
    let watchdog = Watchdog(shared, patience: patience)
    defer { watchdog.cancel() }
    shared.release()
    var hasTicked = false
    if let ticker {
      do {
        while await ticker.ticks.next() != nil {
          hasTicked = true
          try await SharedSource.$override.withValue(shared) { try await tick(result) }
        }
      } catch {
        shared.cancel()
        throw error
      }
    }
    try await end(of: shared)
    guard hasTicked || !shared.hasDeliveredNothing else {
      throw MotionKitError.unsupported(
        what: "testing with a replay of \(source.description.uri) in which nobody was given anything",
        hint: """
          start updates before the closure returns; for code that reads deviceMotion or accelerometerData from a timer, \
          give run(_:every:tick:_:) what the timer does
          """)
    }
    return result
  }

  private static func end(of shared: SharedSource) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      // A thread of its own: waiting must not take one from the handlers.
      DispatchQueue(label: "MotionReplay").async {
        do {
          try shared.waitUntilEnd()
          continuation.resume()
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }
}

/// Gives up a replay that does not go on.
private final class Watchdog: @unchecked Sendable {
  /// So many looks without progress are the whole of the patience.
  private static let looks = 4

  private let shared: SharedSource
  private let timer: any DispatchSourceTimer
  // Confined to the timer's serial queue.
  private var known = 0
  private var unchanged = 0

  /// Begins to look, several times in `patience` seconds.
  init(_ shared: SharedSource, patience: Double) {
    self.shared = shared
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "MotionReplay.patience"))
    let interval = patience / Double(Self.looks)
    timer.schedule(deadline: .now() + interval, repeating: interval)
    timer.setEventHandler { [weak self] in self?.look() }
    timer.resume()
  }

  private func look() {
    let count = shared.sampleCount
    unchanged = count == known ? unchanged + 1 : 0
    known = count
    if unchanged >= Self.looks { shared.cancel() }
  }

  func cancel() { timer.cancel() }
}
