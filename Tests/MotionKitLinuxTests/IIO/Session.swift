import Glibc
import SensorFusion

@testable import MotionKitLinux

/// Everything that came from a source.
struct Session {
  let source: any SensorSource
  var samples: [SensorSample] = []
  var events: [SourceEvent] = []
  private var batch = SampleBatch()

  init(_ source: any SensorSource) { self.source = source }

  func count(_ kind: SensorKind) -> Int { samples.count { $0.kind == kind } }
  func count(_ event: String) -> Int { events.count { $0.name == event } }

  /// Reads until `isDone`; false if that does not happen within `limit` seconds. `step` runs before every read.
  mutating func read(limit: Double = 20, step: () -> Void = {}, until isDone: (Session) -> Bool) throws -> Bool {
    let end = nanoseconds(of: CLOCK_MONOTONIC) + Int64(limit * 1e9)
    while !isDone(self) {
      guard nanoseconds(of: CLOCK_MONOTONIC) < end else { return false }
      step()
      let status = try source.read(into: &batch, timeout: 0.01)
      samples += batch.samples
      events += batch.events
      if status == .end { return isDone(self) }
    }
    return true
  }
}
