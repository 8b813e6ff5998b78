import CAllocationCounter
import SensorFusion
import Testing

/// A minute of a device that rests, turns, is shaken, misses samples and passes a magnet: every branch of the filter.
private func eventfulSamples() -> [SensorSample] {
  var noise = Noise(seed: 77)
  var scene = Scene()
  var samples: [SensorSample] = []
  func add(_ t: Double, _ kind: SensorKind, _ v: Vector3) {
    samples.append(
      SensorSample(time: Timestamp(seconds: t), kind: kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
  }
  for step in 0..<6000 {
    let t = 0.01 * Double(step) + 0.001 * noise.uniform()
    var rate = Vector3.zero
    var shake = Vector3.zero
    if t > 5, t < 45 {
      rate = Vector3(1.5 * Elementary.sin(t), Elementary.cos(0.7 * t), 0.8 * Elementary.sin(0.2 * t))
      shake = noise.vector(t > 20 ? 6 : 1)
    }
    if t > 30, t < 30.4 { rate = Vector3(40, 0, 0) }
    scene.turn(rate, 0.01)
    if t > 50, t < 50.5 || t > 52, t < 53.5 { continue }
    let magnet = t > 38 && t < 43 ? Vector3(15, 10, 0) : .zero
    add(t, .accelerometer, scene.force + shake + noise.vector(0.03))
    add(t, .gyroscope, rate + Vector3(0.01, -0.004, 0.006) + noise.vector(0.002))
    if step % 3 == 0 { add(t, .magnetometer, scene.seenField + magnet + noise.vector(0.4)) }
  }
  return samples
}

/// FNV-1a over the bits of every output.
private func fingerprint(_ frame: ReferenceFrame, _ gains: ComplementaryFilter.Gains) -> (hash: UInt64, outputs: Int) {
  var filter = ComplementaryFilter(frame) {
    $0.gyroscopeRange = 35
    $0.gains = gains
    $0.spreadsCorrections = gains != .adaptive
  }
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  var outputs = 0
  func add(_ value: Double) { hash = (hash ^ value.bitPattern) &* 0x100_0000_01B3 }
  for sample in eventfulSamples() where filter.update(sample) {
    outputs += 1
    let s = filter.state
    for value in [
      s.attitude.w, s.attitude.x, s.attitude.y, s.attitude.z, s.gravity.x, s.userAcceleration.y, s.rotationRate.z,
      s.gyroscopeBias.x, s.magneticField.x, s.tiltSigma, s.headingSigma, s.biasSigma, Double(s.flags.rawValue),
    ] {
      add(value)
    }
  }
  return (hash, outputs)
}

@Suite struct FilterDeterminismTests {
  @Test func theSameSamplesGiveTheSameBits() {
    #expect(fingerprint(.magneticNorth, .adaptive) == fingerprint(.magneticNorth, .adaptive))
  }

  /// The values were taken from a debug build; a release build, and any other machine, must give the same. A change
  /// of the algorithm changes them: then, and only then, they are taken anew.
  @Test func outputsAreTheSameInEveryBuild() {
    #expect(fingerprint(.magneticNorth, .adaptive) == (8_793_345_632_560_365_533, 5790))
    #expect(fingerprint(.arbitrary, .adaptive) == (7_316_356_542_072_933_935, 5800))
    #expect(
      fingerprint(.trueNorth(declination: 0.05), .fixed(accelerometer: 2, magnetometer: 6)) == (
        8_569_409_719_050_445_625, 5790
      ))
  }

  @Test(.enabled(if: allocation_count() >= 0), arguments: [ReferenceFrame.magneticNorth, .arbitrary])
  func anUpdateAllocatesNothing(frame: ReferenceFrame) {
    let samples = eventfulSamples()
    for gains in [ComplementaryFilter.Gains.adaptive, .fixed(accelerometer: 3, magnetometer: 9)] {
      var filter = ComplementaryFilter(frame) { $0.gains = gains }
      var outputs = 0
      var allocations = 0
      // Only the update is counted: a debug build's loop makes allocations of its own.
      for sample in samples {
        let before = allocation_count()
        let isNew = filter.update(sample)
        allocations += allocation_count() - before
        if isNew { outputs += 1 }
      }
      #expect(allocations == 0)
      #expect(outputs > 5000)
    }
    let before = allocation_count()
    #expect([UInt8](repeating: 1, count: samples.count).count == samples.count)
    #expect(allocation_count() > before, "the counter counts")
  }
}
