import SensorFusion
import Testing

@Suite struct MotionRateTests {
  /// Ten seconds of a turning device at 1 kHz whose gyroscope clips for one sample at 3.0021 s.
  private func samples() -> [SensorSample] {
    (0..<10_000).flatMap { index -> [SensorSample] in
      let time = Timestamp(nanoseconds: Int64(index) * 1_000_000)
      let rate: Float = index == 3002 ? 35 : 0.5
      return [
        SensorSample(time: time, kind: .accelerometer, x: 0, y: 0, z: 9.81),
        SensorSample(time: time, kind: .gyroscope, x: 0, y: 0, z: rate),
      ]
    }
  }

  private func outputs(rate: Double) -> [MotionState] {
    var configuration = MotionPipeline.Configuration()
    configuration.filter.gyroscopeRange = 35
    configuration.motionRate = rate
    var pipeline = MotionPipeline(configuration: configuration)
    return samples().compactMap { pipeline.process($0).contains(.motion) ? pipeline.motion : nil }
  }

  @Test func fewerOutputsAreSomeOfAllOutputs() throws {
    let all = outputs(rate: 0)
    let some = outputs(rate: 200)
    #expect(all.count > 9990)
    #expect((1998...2001).contains(some.count))
    #expect(zip(some, some.dropFirst()).allSatisfy { $1.time.nanoseconds - $0.time.nanoseconds == 5_000_000 })
    let byTime = Dictionary(uniqueKeysWithValues: all.map { ($0.time, $0) })
    for state in some {
      var whole = try #require(byTime[state.time])
      whole.flags = state.flags
      #expect(state == whole, "the filter sees every sample whatever is put out")
    }
  }

  @Test func whatASkippedOutputWasFlaggedWithIsNotLost() {
    let clipped = outputs(rate: 200).filter { $0.flags.contains(.gyroscopeClipped) }
    #expect(clipped.count == 1)
    #expect(clipped.first.map { (3_002_000_000...3_007_000_000).contains($0.time.nanoseconds) } == true)
  }

  @Test(arguments: [100.0, 200, 208, 222]) func ratesNearTheLimitAreLeftWhole(rate: Double) {
    var configuration = MotionPipeline.Configuration()
    configuration.motionRate = 200
    var pipeline = MotionPipeline(configuration: configuration)
    var count = 0
    for index in 0..<1000 {
      let time = Timestamp(nanoseconds: Int64(Double(index) * 1e9 / rate))
      for kind in [SensorKind.accelerometer, .gyroscope]
      where pipeline.process(SensorSample(time: time, kind: kind, x: 0, y: 0, z: kind == .gyroscope ? 0 : 9.81))
        .contains(.motion)
      { count += 1 }
    }
    #expect(count == 1000)
  }
}
