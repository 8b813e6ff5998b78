import SensorFusion
import Testing

@Test func lateRepeatedAndNonFiniteSamplesAreCountedAndChangeNothing() {
  var pipeline = MotionPipeline()
  func sample(_ t: Int64, _ x: Float = 0) -> SensorSample {
    SensorSample(time: Timestamp(nanoseconds: t), kind: .accelerometer, x: x, y: 0, z: 9.8)
  }
  _ = pipeline.process(sample(10))
  _ = pipeline.process(sample(10))
  _ = pipeline.process(sample(5))
  _ = pipeline.process(sample(20, .nan))
  #expect(pipeline.counters.duplicate == 1)
  #expect(pipeline.counters.late == 1)
  #expect(pipeline.counters.nonFinite == 1)
}
