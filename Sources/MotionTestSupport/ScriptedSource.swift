import MotionKitLinux
import SensorFusion
import Synchronization

/// Samples written down in a test, as a source.
///
///     let source = ScriptedSource(seconds: 10, rate: 100) { t in
///       [.accelerometer: Vector3(0, 0, 9.81), .gyroscope: Vector3(0, 0, 0.1)]
///     }
public final class ScriptedSource: SensorSource {
  /// What it has.
  public let description: SourceDescription
  private let samples: [SensorSample]
  private let next = Atomic<Int>(0)

  /// A source of samples in order of time, in the IIO ABI's units and signs (see `SensorKind`).
  public init(samples: [SensorSample], rate: Double) {
    self.samples = samples
    let kinds = Set(samples.map(\.kind)).sorted()
    description = SourceDescription(
      uri: "scripted:",
      sensors: kinds.map { SensorDescription(kind: $0, name: "scripted", identity: "scripted-\($0)", rate: rate) },
      isLive: false)
  }

  /// A source of a function's values at an even rate; times start at 0.
  public convenience init(seconds: Double, rate: Double, values: (_ time: Double) -> [SensorKind: Vector3]) {
    var samples: [SensorSample] = []
    for i in 0..<max(0, Int((seconds * rate).rounded())) {
      let time = Timestamp(seconds: Double(i) / rate)
      for (kind, v) in values(time.seconds).sorted(by: { $0.key < $1.key }) {
        samples.append(SensorSample(time: time, kind: kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
      }
    }
    self.init(samples: samples, rate: rate)
  }

  /// Begins with the first sample.
  public func start(_ request: SensorRequest) throws(MotionKitError) -> SourceDescription {
    next.store(0, ordering: .relaxed)
    return description
  }

  /// The next samples.
  public func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus {
    batch.removeAll()
    let begin = next.load(ordering: .relaxed)
    guard begin < samples.count else { return .end }
    let end = min(samples.count, begin + 64)
    batch.samples += samples[begin..<end]
    next.store(end, ordering: .relaxed)
    return .data
  }

  /// Nothing to switch off.
  public func stop() {}
}
