import SensorFusion
import Testing

@testable import MotionKitLinux

/// Hands chunks to an assembler as capture threads would, on a clock of the test's own.
private struct Bench {
  static let second: Int64 = 1_000_000_000
  static let ms: Int64 = 1_000_000
  let mailbox: Locked<CaptureMailbox>
  var assembler: StreamAssembler
  var batch = SampleBatch()
  var kernel = KernelClockOffsets(realtime: 0, monotonic: 0, tai: 0)

  init(_ kinds: [SensorKind], isRemote: Bool = false, rate: Double = 100, reportLatency: Double = 0) {
    let types: [SensorKind: String] = [.accelerometer: "accel", .gyroscope: "anglvel", .magnetometer: "magn"]
    let plans = kinds.enumerated().map { index, kind in
      let device = threeAxisDevice(id: "iio:device\(index)", name: "chip\(index)", type: types[kind] ?? "accel")
      return CapturePlan(
        device: device, sensors: device.sensors().sensors, wantedRates: [rate], mode: .polled)
    }
    mailbox = Locked(CaptureMailbox(deviceCount: kinds.count, now: 0))
    assembler = StreamAssembler(plans: plans, isRemote: isRemote, watermark: 0.2, reportLatency: reportLatency)
  }

  func put(_ content: CaptureChunk.Content, device: Int = 0, at now: Int64) {
    mailbox.withLock { $0.put(content, device: device, arrival: now) }
  }
  func start(_ kind: SensorKind, device: Int = 0, period: Int64 = 10 * ms, at now: Int64) {
    put(.started(clock: "boottime", periods: [kind: period], openedAt: now), device: device, at: now)
  }
  func put(_ kind: SensorKind, times: [Int64], device: Int = 0, at now: Int64) {
    let samples = times.map { SensorSample(time: Timestamp(nanoseconds: $0), kind: kind, x: 1, y: 2, z: 3) }
    _ = mailbox.withLock { $0.put(samples, device: device, arrival: now, isHostStamped: false) }
  }
  /// One round of the consumer at `now`.
  mutating func run(at now: Int64) {
    let isStopped = assembler.exchange(with: mailbox, until: 0)
    assembler.assemble(isStopped: isStopped, now: now, kernel: kernel, into: &batch)
  }
}

@Suite("stream assembler") struct StreamAssemblerTests {
  private static let second = Bench.second
  private static let ms = Bench.ms

  @Test("case 42: silence is acted on between 1 and 2 s after the last sample, once per opening, and reported once")
  func silence() {
    var bench = Bench([.accelerometer, .gyroscope])
    bench.start(.accelerometer, at: 10 * Self.second)
    bench.start(.gyroscope, device: 1, at: 10 * Self.second)
    var acted: [(device: Int, at: Int64)] = []
    // Ten seconds of both at 100 Hz, then only the gyroscope.
    for tick: Int64 in 1...2000 {
      let now = 10 * Self.second + tick * 10 * Self.ms
      if tick <= 1000 { bench.put(.accelerometer, times: [now], at: now) }
      bench.put(.gyroscope, times: [now], device: 1, at: now)
      bench.run(at: now)
      for device in bench.assembler.silentDevices(now: now) { acted.append((device, now)) }
    }
    #expect(acted.count == 1)
    #expect(acted.first?.device == 0)
    let delay = (acted.first?.at ?? 0) - 20 * Self.second
    #expect(delay > Self.second && delay < 2 * Self.second)
    // The thread reports the loss and fails to get it back twice; then it delivers again.
    let lostAt = 31 * Self.second
    bench.put(.lost("refill failed"), at: lostAt)
    bench.run(at: lostAt)
    bench.start(.accelerometer, at: 35 * Self.second)
    bench.put(.accelerometer, times: [35 * Self.second + Self.ms], at: 35 * Self.second + Self.ms)
    bench.run(at: 35 * Self.second + Self.ms)
    #expect(bench.batch.events.map(\.name) == ["lost", "found", "gap"])
    #expect(bench.batch.events[0].detail.contains("no sample for 1.2 s"))
    #expect(bench.batch.events.prefix(2).allSatisfy { $0.detail.contains("chip0") })
    // 15 s at 100 Hz, the sample after them not counted.
    #expect(bench.batch.events[2].detail.contains("accelerometer: 1499 missing in 1 gap"))
    // The gyroscope never waited for longer than the watermark.
    #expect(bench.batch.samples.count { $0.kind == .gyroscope } == 2000)
  }

  @Test("a sleep of the machine is an event and a gap, and nobody is called silent for it")
  func suspend() {
    var bench = Bench([.accelerometer])
    bench.start(.accelerometer, at: 10 * Self.second)
    var acted: [Int64] = []
    func run(_ now: Int64, _ bench: inout Bench) {
      bench.run(at: now)
      for _ in bench.assembler.silentDevices(now: now) { acted.append(now) }
    }
    for tick: Int64 in 1...200 {
      let now = 10 * Self.second + tick * 10 * Self.ms
      bench.put(.accelerometer, times: [now], at: now)
      run(now, &bench)
    }
    // An hour of the boot clock in which nothing ran; the first look comes before the first sample.
    let asleep = 3600 * Self.second
    bench.kernel.monotonic += asleep
    let woke = 12 * Self.second + asleep
    for tick: Int64 in 0..<50 { run(woke + tick * 10 * Self.ms, &bench) }
    #expect(acted.isEmpty)
    for tick: Int64 in 50...200 {
      let now = woke + tick * 10 * Self.ms
      bench.put(.accelerometer, times: [now], at: now)
      run(now, &bench)
    }
    #expect(acted.isEmpty)
    #expect(bench.batch.events.map(\.name) == ["suspend", "gap"])
    #expect(bench.batch.events.first?.time.nanoseconds == woke)
    #expect(bench.batch.events.first?.detail.hasPrefix("the machine slept for 3600.0 s") == true)
    // Who says nothing after that is silent.
    for tick: Int64 in 201...500 { run(woke + tick * 10 * Self.ms, &bench) }
    #expect(acted.count == 1)
  }

  @Test("a device that fails again and again is reported once, then found once")
  func repeatedLoss() {
    var bench = Bench([.accelerometer])
    bench.start(.accelerometer, at: Self.second)
    bench.put(.lost("gone"), at: 2 * Self.second)
    bench.run(at: 2 * Self.second)
    for tick: Int64 in 3..<8 {
      // Opened, silent, opened again: no news for anybody.
      bench.start(.accelerometer, at: tick * Self.second)
      bench.run(at: tick * Self.second)
    }
    bench.put(.accelerometer, times: [9 * Self.second], at: 9 * Self.second)
    bench.run(at: 9 * Self.second)
    #expect(bench.batch.events.map(\.name) == ["lost", "found"])
    #expect(bench.batch.samples.count == 1)
  }

  @Test("a device that comes back loses nothing to the others that went on meanwhile")
  func returning() {
    var bench = Bench([.accelerometer, .gyroscope], rate: 1000)
    let begin = 10 * Self.second
    bench.start(.accelerometer, period: Self.ms, at: begin)
    bench.start(.gyroscope, device: 1, period: Self.ms, at: begin)
    // The accelerometer hands over every 20 ms, the gyroscope every 50; it is gone from 1 s to 2 s.
    for tick: Int64 in 1...4000 {
      let now = begin + tick * Self.ms
      func gathered(_ count: Int64) -> [Int64] { (0..<count).map { now - (count - 1 - $0) * Self.ms } }
      if tick == 1001 { bench.put(.lost("cable"), device: 1, at: now) }
      // Opened, answered 30 ms later, and the first batch 50 ms after that.
      if tick == 2000 { bench.put(.opening, device: 1, at: now) }
      if tick == 2030 { bench.start(.gyroscope, device: 1, period: Self.ms, at: now - 30 * Self.ms) }
      if tick % 20 == 0 { bench.put(.accelerometer, times: gathered(20), at: now) }
      if tick % 50 == 0, tick <= 1000 || tick > 2030 { bench.put(.gyroscope, times: gathered(50), device: 1, at: now) }
      bench.run(at: now)
    }
    bench.mailbox.withLock { $0.isStopped = true }
    bench.run(at: begin + 5 * Self.second)
    #expect(bench.batch.events.count { $0.name == "late" } == 0, "\(bench.batch.events)")
    #expect(bench.batch.events.count { $0.name == "found" } == 1)
    #expect(bench.batch.samples.count { $0.kind == .accelerometer } == 4000)
    #expect(bench.batch.samples.count { $0.kind == .gyroscope } == 1000 + 2000)
  }

  @Test("where devices gather, the consumer is woken once all that deliver have brought something")
  func gathering() {
    let one = [SensorSample(time: Timestamp(nanoseconds: 1), kind: .accelerometer, x: 0, y: 0, z: 0)]
    func put(_ box: inout CaptureMailbox, _ device: Int) -> Bool {
      box.put(one, device: device, arrival: 1, isHostStamped: false)
    }
    var box = CaptureMailbox(deviceCount: 3, now: 0, gathers: true)
    // At first nobody knows who will deliver.
    #expect(put(&box, 0))
    #expect(put(&box, 1))
    box.wasTaken()
    #expect(!put(&box, 0))
    #expect(!put(&box, 0))
    #expect(put(&box, 1))
    box.wasTaken()
    // A lost one is not waited for.
    box.put(.lost("gone"), device: 1, arrival: 2)
    #expect(put(&box, 0))
    var live = CaptureMailbox(deviceCount: 2, now: 0)
    #expect(put(&live, 0) && put(&live, 1) && put(&live, 0))
  }

  @Test("another program's larger blocks are found out by what each batch lacks")
  func sharedBlocks() {
    func found(_ ours: Int64, _ theirs: [Int64], period: Int64 = 10 * Self.ms) -> [Int] {
      var shared = SharedBlocks()
      var begin: Int64 = 0
      var results: [Int] = []
      for block in theirs {
        let last = begin + (ours - 1) * period
        if let size = shared.block(count: Int(ours), first: Timestamp(nanoseconds: begin), last: last) {
          results.append(size)
        }
        begin += block * period
      }
      return results
    }
    #expect(found(50, Array(repeating: 256, count: 6)) == [256])
    #expect(found(50, Array(repeating: 50, count: 100)).isEmpty)
    // Losses of other kinds are not alike.
    #expect(found(50, [50, 80, 50, 61, 70, 50, 90, 55, 75, 50]).isEmpty)
    #expect(found(50, [80, 61, 70, 90, 55, 75, 95, 60, 84]).isEmpty)
    // Nor is a rate that is not the one that was set a loss.
    #expect(found(50, Array(repeating: 50, count: 20), period: 30 * Self.ms).isEmpty)
    // One sample a batch tells nothing.
    #expect(found(1, Array(repeating: 3, count: 20)).isEmpty)
    var absurd = SharedBlocks()
    for (first, last) in [(Int64.min, Int64.max), (.max, .min), (0, 0), (.max, .max), (.min, .min)] {
      #expect(absurd.block(count: 3, first: Timestamp(nanoseconds: first), last: last) == nil)
    }
  }

  @Test("samples from before the device was switched on are dropped and counted")
  func stale() {
    var bench = Bench([.accelerometer])
    bench.start(.accelerometer, at: 100 * Self.second)
    let now = 100 * Self.second + 50 * Self.ms
    bench.put(.accelerometer, times: [99 * Self.second, 99 * Self.second + 10 * Self.ms, now - Self.ms], at: now)
    bench.run(at: now)
    #expect(bench.batch.samples.map(\.time.nanoseconds) == [now - Self.ms])
    #expect(bench.batch.events.map(\.name) == ["stale"])
    #expect(bench.batch.events[0].detail.contains("2 samples"))
  }

  @Test("stamps that first make no sense and then do: the stream goes on from there")
  func absurdStart() {
    var bench = Bench([.accelerometer])
    let start = 100_000 * Self.second
    bench.start(.accelerometer, at: start)
    bench.put(.accelerometer, times: [1, 2], at: start + Self.ms)
    bench.run(at: start + Self.ms)
    for tick: Int64 in 1...100 {
      let now = start + tick * 10 * Self.ms + Self.ms
      bench.put(.accelerometer, times: [now - Self.ms], at: now)
      bench.run(at: now)
    }
    #expect(bench.batch.samples.count == 102, "\(bench.batch.events.prefix(5))")
    #expect(bench.batch.events.map(\.name) == ["clock", "clock_step"])
  }

  @Test("what did not fit while nobody read is counted and reported")
  func overrun() {
    var bench = Bench([.accelerometer])
    bench.start(.accelerometer, at: Self.second)
    let chunk = 100
    for round in 0..<(CaptureMailbox.capacity / chunk + 3) {
      let now = 2 * Self.second + Int64(round) * Self.second
      bench.put(.accelerometer, times: (0..<chunk).map { now - Self.second + Int64($0) * 10 * Self.ms }, at: now)
    }
    bench.run(at: 2000 * Self.second)
    #expect(bench.batch.samples.count == CaptureMailbox.capacity)
    #expect(bench.batch.events.map(\.name) == ["overrun"])
    #expect(bench.batch.events[0].detail.contains("\(3 * chunk) samples"))
  }

  @Test("after stop everything that waits is delivered")
  func rest() {
    var bench = Bench([.accelerometer, .gyroscope])
    bench.start(.accelerometer, at: Self.second)
    bench.start(.gyroscope, device: 1, at: Self.second)
    bench.put(.accelerometer, times: [Self.second + 1], at: Self.second + 1)
    bench.run(at: Self.second + 1)
    #expect(bench.batch.samples.isEmpty)
    bench.mailbox.withLock { $0.isStopped = true }
    bench.run(at: Self.second + 2)
    #expect(bench.batch.samples.count == 1)
  }

  @Test("devices that gather for a quarter of a second come in one order, nothing late")
  func reportLatency() {
    var bench = Bench([.accelerometer, .gyroscope], reportLatency: 0.25)
    bench.start(.accelerometer, at: Self.second)
    bench.start(.gyroscope, device: 1, at: Self.second)
    var count = 0
    for tick: Int64 in 1...1000 {
      let now = Self.second + tick * 10 * Self.ms
      // The accelerometer hands over 25 samples at ticks 25, 50, …; the gyroscope at 2, 27, …: its newest wait longest.
      let gathered = (0..<25).map { now - (24 - Int64($0)) * 10 * Self.ms }
      if tick % 25 == 0 { bench.put(.accelerometer, times: gathered, at: now) }
      if tick % 25 == 2 { bench.put(.gyroscope, times: gathered.filter { $0 > Self.second }, device: 1, at: now) }
      bench.run(at: now)
      count += tick % 25 == 0 ? 25 : tick % 25 == 2 ? min(25, Int(tick)) : 0
    }
    bench.mailbox.withLock { $0.isStopped = true }
    bench.run(at: 12 * Self.second)
    #expect(bench.batch.events.isEmpty, "\(bench.batch.events)")
    #expect(bench.batch.samples.count == count)
    let keys = bench.batch.samples.map { ($0.time, $0.kind) }
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("a remote source is held for a quarter of a second, then comes whole, by the fastest arrival")
  func warmUp() {
    var bench = Bench([.accelerometer], isRemote: true)
    bench.start(.accelerometer, at: 1000 * Self.second)
    // The board's clock is 7 s old; the first batches took longer than the later ones.
    for (tick, latency) in [80, 40, 3, 5, 4].enumerated() {
      let taken = Int64(tick) * 10 * Self.ms
      let now = 1000 * Self.second + taken + Int64(latency) * Self.ms
      bench.put(.accelerometer, times: [7 * Self.second + taken], at: now)
      bench.run(at: now)
      #expect(bench.batch.samples.isEmpty)
    }
    bench.run(at: 1000 * Self.second + 440 * Self.ms)
    #expect(bench.batch.samples.count == 5)
    #expect(bench.batch.samples.first?.time.nanoseconds == 1000 * Self.second + 3 * Self.ms)
    #expect(bench.batch.events.map(\.name) == ["clock"])
  }
}
