import SensorFusion
import Testing

@testable import MotionKitLinux

/// A small generator of our own: the same numbers on every machine.
struct TestRandom: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    // SplitMix64 (Steele, Lea, Flood 2014).
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

@Suite("stream merger") struct StreamMergerTests {
  static let ms: Int64 = 1_000_000

  private func sample(_ kind: SensorKind, _ time: Int64, _ x: Float = 0) -> SensorSample {
    SensorSample(time: Timestamp(nanoseconds: time), kind: kind, x: x, y: 0, z: 0)
  }

  private func isSorted(_ samples: [SensorSample]) -> Bool {
    zip(samples, samples.dropFirst()).allSatisfy { ($0.time, $0.kind) <= ($1.time, $1.kind) }
  }

  @Test("samples of one instant come in order of kind, whichever arrived first")
  func orderOfKinds() {
    var merger = StreamMerger(watermark: 100 * Self.ms)
    merger.addStream(.gyroscope, period: 10 * Self.ms)
    merger.addStream(.accelerometer, period: 10 * Self.ms)
    var out: [SensorSample] = []
    var events: [SourceEvent] = []
    merger.push(sample(.gyroscope, 1000), arrival: 1000, events: &events)
    #expect(merger.release(now: 1000, into: &out) == 1000 + 100 * Self.ms)
    merger.push(sample(.accelerometer, 1000), arrival: 2000, events: &events)
    #expect(merger.release(now: 2000, into: &out) == nil || !out.isEmpty)
    #expect(out.map(\.kind) == [.accelerometer, .gyroscope])
    #expect(events.isEmpty)
  }

  @Test("a stream whose next sample is not due yet is not waited for")
  func notDueIsNotWaitedFor() {
    var merger = StreamMerger(watermark: 500 * Self.ms)
    merger.addStream(.accelerometer, period: 5 * Self.ms)
    merger.addStream(.barometer, period: 40 * Self.ms)
    var events: [SourceEvent] = []
    // Steady streams for a while, so that the merger knows how punctual they are.
    var out: [SensorSample] = []
    for tick in 0..<800 {
      let time = Int64(tick) * 5 * Self.ms
      if tick % 8 == 0 { merger.push(sample(.barometer, time), arrival: time, events: &events) }
      merger.push(sample(.accelerometer, time), arrival: time, events: &events)
      _ = merger.release(now: time, into: &out)
    }
    out.removeAll()
    // The barometer's last was at tick 792: for the next 30 ms the accelerometer passes at once.
    for tick in 800..<806 {
      let time = Int64(tick) * 5 * Self.ms
      if tick == 800 { merger.push(sample(.barometer, time), arrival: time, events: &events) }
      merger.push(sample(.accelerometer, time), arrival: time, events: &events)
      _ = merger.release(now: time, into: &out)
      #expect(merger.waitingCount == 0, "tick \(tick)")
    }
    #expect(events.isEmpty)
  }

  @Test("a stream that is overdue is waited for until the watermark and no longer")
  func watermark() {
    var merger = StreamMerger(watermark: 200 * Self.ms)
    merger.addStream(.accelerometer, period: 10 * Self.ms)
    merger.addStream(.gyroscope, period: 10 * Self.ms)
    var out: [SensorSample] = []
    var events: [SourceEvent] = []
    merger.push(sample(.accelerometer, 0, 1), arrival: 50, events: &events)
    #expect(merger.release(now: 200 * Self.ms, into: &out) == 50 + 200 * Self.ms)
    #expect(out.isEmpty)
    #expect(merger.release(now: 50 + 200 * Self.ms, into: &out) == nil)
    #expect(out.count == 1)
  }

  @Test("a sample behind what was delivered is counted and its values are kept in an event")
  func late() throws {
    var merger = StreamMerger(watermark: 1)
    merger.addStream(.accelerometer, period: 0)
    merger.addStream(.magnetometer, period: 0)
    var out: [SensorSample] = []
    var events: [SourceEvent] = []
    merger.push(sample(.accelerometer, 5 * Self.ms), arrival: 0, events: &events)
    _ = merger.release(now: 10, into: &out)
    merger.push(
      SensorSample(time: Timestamp(nanoseconds: 3 * Self.ms), kind: .magnetometer, x: 1.5, y: -2, z: 0.25), arrival: 20,
      events: &events)
    _ = merger.release(now: 30 * Self.ms, into: &out)
    #expect(out.count == 1)
    #expect(merger.lateCount(.magnetometer) == 1)
    let event = try #require(events.first)
    #expect(event.name == "late")
    #expect(event.time.nanoseconds == 3 * Self.ms)
    #expect(event.detail.contains("magnetometer t=3000000 ns x=1.5 y=-2.0 z=0.25"))
  }

  @Test("a lost stream holds nobody up, and its first sample brings it back")
  func lostStream() {
    var merger = StreamMerger(watermark: 500 * Self.ms)
    merger.addStream(.accelerometer, period: 10 * Self.ms)
    merger.addStream(.gyroscope, period: 10 * Self.ms)
    var out: [SensorSample] = []
    var events: [SourceEvent] = []
    merger.setActive(false, .gyroscope)
    merger.push(sample(.accelerometer, 0), arrival: 0, events: &events)
    #expect(merger.release(now: 1, into: &out) == nil)
    #expect(out.count == 1)
    merger.push(sample(.gyroscope, 10 * Self.ms), arrival: 10 * Self.ms, events: &events)
    merger.push(sample(.accelerometer, 20 * Self.ms), arrival: 20 * Self.ms, events: &events)
    _ = merger.release(now: 20 * Self.ms, into: &out)
    #expect(out.count == 2)
    #expect(merger.waitingCount == 1)
  }

  @Test("a lost stream that is opened again is waited for, but not beyond the limit")
  func reopening() {
    var merger = StreamMerger(watermark: 1000 * Self.ms)
    merger.addStream(.accelerometer, period: 10 * Self.ms)
    merger.addStream(.gyroscope, period: 10 * Self.ms)
    var out: [SensorSample] = []
    var events: [SourceEvent] = []
    merger.setActive(false, .gyroscope)
    merger.await(.gyroscope, until: 300 * Self.ms)
    for time: Int64 in [100, 110, 120] {
      merger.push(sample(.accelerometer, time * Self.ms), arrival: time * Self.ms, events: &events)
    }
    #expect(merger.release(now: 120 * Self.ms, into: &out) == 300 * Self.ms)
    #expect(out.isEmpty)
    // Its first batch comes with samples from before what waits.
    for time: Int64 in [95, 105, 115, 125] {
      merger.push(sample(.gyroscope, time * Self.ms), arrival: 130 * Self.ms, events: &events)
    }
    _ = merger.release(now: 130 * Self.ms, into: &out)
    #expect(events.isEmpty && out.count == 6 && isSorted(out))
    // One that does not come holds nobody up for longer.
    merger.setActive(false, .gyroscope)
    merger.await(.gyroscope, until: 300 * Self.ms)
    merger.push(sample(.accelerometer, 200 * Self.ms), arrival: 200 * Self.ms, events: &events)
    #expect(merger.release(now: 299 * Self.ms, into: &out) == 300 * Self.ms)
    #expect(merger.release(now: 300 * Self.ms, into: &out) == nil)
    #expect(out.last?.time.nanoseconds == 200 * Self.ms)
  }

  @Test("whatever the order of arrival: output sorted, nothing lost, everything counted", arguments: 0..<200)
  func adversarialArrivals(seed: Int) {
    var random = TestRandom(state: UInt64(seed))
    let watermark = Int64.random(in: 0...300, using: &random) * Self.ms
    var merger = StreamMerger(watermark: watermark)
    var arrivals: [(at: Int64, sample: SensorSample)] = []
    let kinds: [SensorKind] = [.accelerometer, .gyroscope, .magnetometer, .barometer]
    for kind in kinds {
      let period = [0, 1, 5, 10, 40, 100].randomElement(using: &random) ?? 5
      merger.addStream(kind, period: Int64(period) * Self.ms)
      let real = max(1, period) * Int.random(in: 1...2, using: &random)
      let delay = Int64.random(in: 0...400, using: &random) * Self.ms
      var time: Int64 = 0
      for number in 0..<Int.random(in: 0...300, using: &random) {
        time += Int64(real) * Self.ms + Int64.random(in: -Self.ms / 2...Self.ms / 2, using: &random)
        // Batches, jitter, whole stalls and stamps that go back.
        var at = time + Int64.random(in: 0...delay, using: &random)
        if Int.random(in: 0..<50, using: &random) == 0 { at += 2000 * Self.ms }
        let back = Int.random(in: 0..<40, using: &random) == 0 ? Int64.random(in: 0...50, using: &random) * Self.ms : 0
        arrivals.append((at, sample(kind, time - back, Float(number))))
      }
    }
    arrivals.sort { $0.at < $1.at }
    var out: [SensorSample] = []
    var events: [SourceEvent] = []
    for (index, arrival) in arrivals.enumerated() {
      merger.push(arrival.sample, arrival: arrival.at, events: &events)
      if index % 3 == 0 {
        let next = merger.release(now: arrival.at, into: &out)
        // Nothing that waits has waited longer than the watermark.
        if let next { #expect(next > arrival.at) }
        if Int.random(in: 0..<20, using: &random) == 0 { merger.setActive(false, kinds[index % 4]) }
      }
    }
    merger.flush(into: &out)
    #expect(isSorted(out))
    let late = kinds.reduce(0) { $0 + merger.lateCount($1) }
    #expect(out.count + late == arrivals.count)
    #expect(events.count == late)
    #expect(merger.waitingCount == 0)
    // Recorded by kind and merged by (time, kind) again, it is the sequence that was delivered.
    let files = kinds.map { kind in out.filter { $0.kind == kind } }
    var positions = [Int](repeating: 0, count: files.count)
    var replayed: [SensorSample] = []
    while let next = files.indices.filter({ positions[$0] < files[$0].count }).min(by: {
      let (a, b) = (files[$0][positions[$0]], files[$1][positions[$1]])
      return (a.time, a.kind) < (b.time, b.kind)
    }) {
      replayed.append(files[next][positions[next]])
      positions[next] += 1
    }
    #expect(replayed == out)
  }

  @Test("punctual streams lose nothing and wait for less than their own periods")
  func latency() {
    var merger = StreamMerger(watermark: 500 * Self.ms)
    let periods: [(SensorKind, Int64)] = [(.accelerometer, 5), (.gyroscope, 5), (.magnetometer, 10), (.barometer, 40)]
    var arrivals: [(at: Int64, sample: SensorSample)] = []
    for (number, (kind, period)) in periods.enumerated() {
      merger.addStream(kind, period: period * Self.ms)
      for tick in 0..<(4000 / period) {
        let time = tick * period * Self.ms + Int64(number) * 700_000
        arrivals.append((time + 2 * Self.ms, sample(kind, time)))
      }
    }
    arrivals.sort { ($0.at, $0.sample.kind) < ($1.at, $1.sample.kind) }
    var out: [SensorSample] = []
    var events: [SourceEvent] = []
    var worst: Int64 = 0
    for arrival in arrivals {
      merger.push(arrival.sample, arrival: arrival.at, events: &events)
      let before = out.count
      _ = merger.release(now: arrival.at, into: &out)
      guard arrival.at > 2000 * Self.ms else { continue }
      for sample in out[before...] { worst = max(worst, arrival.at - sample.time.nanoseconds - 2 * Self.ms) }
    }
    #expect(events.isEmpty)
    #expect(worst <= 6 * Self.ms, "waited \(worst) ns")
  }
}
