import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// A directory that is removed with the test.
final class TemporaryDirectory {
  let path: String

  init() {
    var template = Array("/tmp/motionkit-test-XXXXXX".utf8CString)
    _ = template.withUnsafeMutableBufferPointer { $0.baseAddress.map { mkdtemp($0) } }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
  }

  deinit { Self.remove(path) }

  static func remove(_ path: String) {
    for name in (try? SystemFileLayer().list(path)) ?? [] { remove(path + "/" + name) }
    if rmdir(path) != 0 { unlink(path) }
  }

  func file(_ name: String) -> String { path + "/" + name }
}

func readFile(_ path: String) -> [UInt8] {
  var bytes: [UInt8] = []
  guard let file = try? FileBytes(path: path) else { return [] }
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = chunk.withUnsafeMutableBytes { room in (try? file.read(into: room)) ?? 0 }
    if count == 0 { return bytes }
    bytes += chunk[..<count]
  }
}

func readText(_ path: String) -> String { String(decoding: readFile(path), as: UTF8.self) }

func writeFile(_ path: String, _ bytes: [UInt8]) {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
  _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
  close(file)
}

func writeFile(_ path: String, _ text: String) { writeFile(path, Array(text.utf8)) }

/// Marsaglia's xorshift64*: the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }
}

/// Clocks that stand still until a test moves them.
final class TestClock: SessionClock, PacingClock, @unchecked Sendable {
  private struct Readings {
    var monotonic: Int64 = 1_000_000_000
    var slept: Int64 = 0
    var utcOffset: Int64 = 1_700_000_000_000_000_000
  }
  private let state = Locked(Readings())

  func monotonic() -> Int64 { state.withLock { $0.monotonic } }
  var nanoseconds: Int64 { monotonic() }
  var utcNanoseconds: Int64 { anchor().utcNanoseconds }
  func anchor() -> ClockAnchor {
    state.withLock {
      let boot = $0.monotonic + $0.slept
      return ClockAnchor(time: Timestamp(nanoseconds: boot), utcNanoseconds: boot + $0.utcOffset)
    }
  }
  func slept() -> Int64 { state.withLock { $0.slept } }
  func advance(seconds: Double) { state.withLock { $0.monotonic += Int64(seconds * 1e9) } }
  /// The machine sleeps: the boot clock and the wall clock go on, the monotonic clock stands.
  func sleep(seconds: Double) { state.withLock { $0.slept += Int64(seconds * 1e9) } }
  func stepWallClock(seconds: Double) { state.withLock { $0.utcOffset += Int64(seconds * 1e9) } }
  /// Waiting takes no time: the clock moves at once.
  func wait(until deadline: Int64) { state.withLock { $0.monotonic = max($0.monotonic, deadline) } }
  func interrupt() {}
}

func sensor(_ kind: SensorKind, rate: Double, range: Double = .infinity) -> SensorDescription {
  var sensor = SensorDescription(kind: kind, name: "test-\(kind.name)", identity: "bus/\(kind.name)", rate: rate)
  sensor.range = range
  return sensor
}

func testInfo(_ kinds: [SensorKind] = [.accelerometer, .gyroscope]) -> SessionInfo {
  SessionInfo(
    source: SourceDescription(
      uri: "test:", sensors: kinds.map { sensor($0, rate: 100) }, host: "testhost", isLive: true),
    pipeline: .init())
}

func sample(_ nanoseconds: Int64, _ kind: SensorKind, _ x: Float, _ y: Float = 0, _ z: Float = 0) -> SensorSample {
  SensorSample(time: Timestamp(nanoseconds: nanoseconds), kind: kind, x: x, y: y, z: z)
}

/// Samples of several sensors in order, with full-precision values.
func randomSamples(_ count: Int, kinds: [SensorKind], seed: UInt64) -> [SensorSample] {
  var generator = SeededGenerator(seed)
  var samples: [SensorSample] = []
  var time: Int64 = 12_345_678_901
  while samples.count < count {
    time += Int64.random(in: 1...10_000_000, using: &generator)
    for kind in kinds where Bool.random(using: &generator) {
      func value() -> Float { Float.random(in: -40...40, using: &generator) }
      switch kind {
      case .barometer:
        samples.append(
          SensorSample(
            time: Timestamp(nanoseconds: time), pressureKilopascals: 100 + value() / 100,
            temperatureCelsius: Bool.random(using: &generator) ? .nan : value()))
      case .stepCounter: samples.append(sample(time, kind, Float(Int(abs(value())))))
      default: samples.append(sample(time, kind, value(), value(), value()))
      }
    }
  }
  return samples
}

func batch(_ samples: [SensorSample], events: [SourceEvent] = []) -> ProcessedBatch {
  var batch = ProcessedBatch()
  batch.input.samples = samples
  batch.input.events = events
  return batch
}

extension SessionWriter {
  /// A writer without a thread: nothing is written before `drain` or `finish`.
  static func manual(
    _ directory: String, info: SessionInfo = testInfo(), options: Options = Options(),
    layer: any FileLayer = SystemFileLayer(), clock: any SessionClock = TestClock()
  ) throws -> SessionWriter {
    try SessionWriter(
      directory: directory, info: info, options: options, layer: layer, clock: clock, hasThread: false)
  }
}

/// All samples and events of a session, read through the source.
func replay(
  _ directory: String, pacing: Pacing = .unpaced, clock: any PacingClock = TestClock()
) throws -> (samples: [SensorSample], events: [SourceEvent]) {
  let source = try RecordingSource(directory: directory, pacing: pacing, clock: clock)
  _ = try source.start(SensorRequest(rates: [:]))
  var result: (samples: [SensorSample], events: [SourceEvent]) = ([], [])
  var batch = SampleBatch()
  while true {
    let status = try source.read(into: &batch, timeout: 1)
    result.samples += batch.samples
    result.events += batch.events
    if status == .end { return result }
  }
}

/// Equal to the bit, NaN included.
func sameBits(_ a: [SensorSample], _ b: [SensorSample]) -> Bool {
  a.count == b.count
    && zip(a, b).allSatisfy {
      $0.time == $1.time && $0.kind == $1.kind && $0.x.bitPattern == $1.x.bitPattern
        && ($0.y.bitPattern == $1.y.bitPattern || ($0.y.isNaN && $1.y.isNaN)) && $0.z.bitPattern == $1.z.bitPattern
    }
}
