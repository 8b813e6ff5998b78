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
public enum MotionReplay {
  /// Runs `start`, then the whole of a source.
  ///
  /// Managers made inside `start` (in the same task) use the source; those made elsewhere do not, so tests may run at
  /// the same time. Handlers may use any queue that is served: `.main` is, in an `async` test.
  ///
  /// - Parameters:
  ///   - uri: `file:DIRECTORY` for a recording, `sim:SCENE?duration=SECONDS` for a scene.
  ///   - patience: Seconds of real time after which a replay that does not end is given up.
  ///   - start: Makes and starts what is to be tested.
  /// - Returns: What `start` returned, after the last sample.
  /// - Throws: What `start` throws; `MotionKitError` where the source cannot be opened, fails, or does not end.
  @discardableResult
  public static func run<Result>(
    _ uri: String, patience: Double = 60, _ start: () async throws -> Result
  ) async throws -> Result {
    try await run(openSource(uri, pacing: .unpaced), patience: patience, start)
  }

  /// Runs `start`, then the whole of a source of the caller's own making, such as a `SimulationSource` whose truth the
  /// test compares with, or samples written down in a `ScriptedSource`.
  @discardableResult
  public static func run<Result>(
    _ source: any SensorSource, patience: Double = 60, _ start: () async throws -> Result
  ) async throws -> Result {
    if let scene = (source as? SimulationSource)?.scene, scene.duration == .infinity {
      throw MotionKitError.unsupported(
        what: "replaying \(source.description.uri) to its end", hint: "the scene has none: add duration=SECONDS to it")
    }
    let shared = SharedSource(source, stepping: .lockstep)
    shared.hold()
    let result = try await SharedSource.$override.withValue(shared) { try await start() }
    shared.release()
    try await end(of: shared, patience: patience)
    return result
  }

  private static func end(of shared: SharedSource, patience: Double) async throws {
    let giveUp = DispatchWorkItem { shared.cancel() }
    DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: giveUp)
    defer { giveUp.cancel() }
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
