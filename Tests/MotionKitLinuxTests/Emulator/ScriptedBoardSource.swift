import MotionKitLinux
import SensorFusion

/// A source that gives the samples that a test makes up, all at once.
final class ScriptedBoardSource: SensorSource, @unchecked Sendable {
  let description: SourceDescription
  private let samples: [SensorSample]
  private var isGiven = false

  init(_ description: SourceDescription, _ samples: [SensorSample]) {
    self.description = description
    self.samples = samples
  }

  func start(_ request: SensorRequest) throws(MotionKitError) -> SourceDescription { description }

  func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus {
    batch.removeAll()
    if isGiven { return .end }
    isGiven = true
    batch.samples = samples
    return .data
  }

  func stop() {}

  /// A ramp of the accelerometer of `EmulatorSupport.description()`: sample `i` is (i, -i, 2 i) counts at 10 i ms.
  static func ramp(_ count: Int) -> ScriptedBoardSource {
    ScriptedBoardSource(
      EmulatorSupport.description(),
      (0..<count).map { EmulatorSupport.accelerometer($0, -$0, 2 * $0, milliseconds: 10 * $0) })
  }
}
