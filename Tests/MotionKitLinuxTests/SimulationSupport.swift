import MotionKitLinux
import SensorFusion
import Testing

/// All samples of a source, read to its end or until `limit` samples have come.
func readAll(
  _ source: any SensorSource, rates: [SensorKind: Double], limit: Int = .max
) throws -> [SensorSample] {
  _ = try source.start(SensorRequest(rates: rates))
  var samples: [SensorSample] = []
  var batch = SampleBatch()
  while samples.count < limit {
    let status = try source.read(into: &batch, timeout: 1)
    samples += batch.samples
    if status == .end { break }
  }
  return samples
}

/// All samples of an unpaced scene.
func simulate(
  _ uri: String, rates: [SensorKind: Double] = SimulationSource.defaultRates
) throws -> [SensorSample] {
  try readAll(try SimulationSource(uri: uri, pacing: .unpaced), rates: rates)
}

/// A clock that jumps to whatever is waited for, and remembers the waits.
final class JumpingClock: PacingClock, @unchecked Sendable {
  private(set) var nanoseconds: Int64
  let utcNanoseconds: Int64 = 1_700_000_000_000_000_000
  private(set) var waits: [Int64] = []
  private(set) var wasInterrupted = false

  init(at nanoseconds: Int64 = 5_000_000_000) { self.nanoseconds = nanoseconds }

  func wait(until deadline: Int64) {
    waits.append(deadline)
    nanoseconds = max(nanoseconds, deadline)
  }

  func interrupt() { wasInterrupted = true }

  func advance(seconds: Double) { nanoseconds += Int64(seconds * 1e9) }
}

/// The angle of the rotation between two attitudes, radians.
func angle(_ a: Quaternion, _ b: Quaternion) -> Double {
  let difference = a.conjugate * b
  return 2 * Elementary.atan2(Vector3(difference.x, difference.y, difference.z).norm, abs(difference.w))
}
