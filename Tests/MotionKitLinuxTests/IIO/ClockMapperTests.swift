import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite("clock mapping") struct ClockMapperTests {
  static let ms: Int64 = 1_000_000
  static let second: Int64 = 1_000_000_000
  /// A machine that was up for 1000 s and asleep for 50 s of them.
  private let kernel = KernelClockOffsets(
    realtime: -1_700_000_000 * second, monotonic: 50 * second, tai: -1_700_000_037 * second)

  @Test("local stamps of every kernel clock become boot time", arguments: ["boottime", "monotonic", "realtime", "tai"])
  func kernelClocks(clock: String) throws {
    var mapper = ClockMapper(isRemote: false)
    let device = mapper.addDevice("a")
    mapper.begin(device, clock: clock)
    var events: [SourceEvent] = []
    let boot = 1000 * Self.second
    let stamp = boot - (try #require(kernel.offset(of: clock)))
    let offset = mapper.offset(
      device, first: stamp, last: stamp, arrival: boot + Self.ms, kernel: kernel, events: &events)
    #expect(stamp + offset == boot)
    #expect(events.isEmpty)
  }

  @Test("a hub that stamps in realtime although boottime is set is found out, once")
  func wrongDeclaration() {
    var mapper = ClockMapper(isRemote: false)
    let device = mapper.addDevice("hub")
    mapper.begin(device, clock: "boottime")
    var events: [SourceEvent] = []
    for step: Int64 in 0..<5 {
      let boot = 1000 * Self.second + step * 20 * Self.ms
      let stamp = boot - kernel.realtime
      let offset = mapper.offset(
        device, first: stamp, last: stamp, arrival: boot + Self.ms, kernel: kernel, events: &events)
      #expect(stamp + offset == boot)
    }
    #expect(events.map(\.name) == ["clock"])
    #expect(mapper.clockName(device) == "realtime")
  }

  @Test("case 04: the wall clock is set while realtime stamps run: samples go on without a jump, one event")
  func realtimeStep() {
    var mapper = ClockMapper(isRemote: false)
    let device = mapper.addDevice("a")
    mapper.begin(device, clock: "realtime")
    for jump in [3600 * Self.second, -3600 * Self.second, 200 * Self.ms, -200 * Self.ms] {
      var mapper = mapper
      var events: [SourceEvent] = []
      var previous: Int64?
      for step: Int64 in 0..<100 {
        let boot = 1000 * Self.second + step * 10 * Self.ms
        var now = kernel
        // The step happens between sampling and reading of batch 50: that batch is stamped by the old clock.
        let stampClock = step <= 50 ? kernel.realtime : kernel.realtime - jump
        if step >= 50 { now.realtime = kernel.realtime - jump }
        let stamp = boot - stampClock
        let time =
          stamp
          + mapper.offset(device, first: stamp, last: stamp, arrival: boot + 2 * Self.ms, kernel: now, events: &events)
        if let previous { #expect(abs(time - previous - 10 * Self.ms) < Self.ms, "step \(step), jump \(jump)") }
        previous = time
      }
      #expect(events.map(\.name) == ["clock_step"], "jump \(jump)")
    }
  }

  @Test("a slew of the wall clock is followed without steps")
  func slew() {
    var mapper = ClockMapper(isRemote: false)
    let device = mapper.addDevice("a")
    mapper.begin(device, clock: "realtime")
    var events: [SourceEvent] = []
    var worst: Int64 = 0
    for step: Int64 in 0..<60_000 {
      let boot = 1000 * Self.second + step * 20 * Self.ms
      var now = kernel
      // 500 ppm, the fastest that the kernel slews.
      now.realtime = kernel.realtime - step * 10_000
      let stamp = boot - now.realtime
      let time =
        stamp + mapper.offset(device, first: stamp, last: stamp, arrival: boot + Self.ms, kernel: now, events: &events)
      worst = max(worst, abs(time - boot))
    }
    #expect(events.isEmpty)
    #expect(worst < Self.ms)
  }

  @Test("devices on one clock of a board share its offset exactly, whatever the network does")
  func sharedDomain() {
    var mapper = ClockMapper(isRemote: true)
    var events: [SourceEvent] = []
    let devices = (0..<3).map { mapper.addDevice("d\($0)") }
    for device in devices { mapper.begin(device, clock: "boottime") }
    var offsets = Set<Int64>()
    for (index, latency) in [5, 60, 200].enumerated() {
      let stamp = 7 * Self.second + Int64(index) * Self.ms
      let arrival = 1000 * Self.second + Int64(index) * Self.ms + Int64(latency) * Self.ms
      offsets.insert(
        mapper.offset(devices[index], first: stamp, last: stamp, arrival: arrival, kernel: kernel, events: &events))
    }
    #expect(offsets.count == 1)
    #expect(events.map(\.name) == ["clock"])
  }

  @Test("the offset comes from the fastest of the arrivals that were looked at beforehand")
  func priming() {
    var mapper = ClockMapper(isRemote: true)
    var events: [SourceEvent] = []
    let device = mapper.addDevice("d")
    mapper.begin(device, clock: "boottime")
    for (index, latency) in [60, 30, 2, 40].enumerated() {
      let stamp = Int64(index) * 10 * Self.ms
      mapper.prime(device, last: stamp, arrival: 1000 * Self.second + stamp + Int64(latency) * Self.ms)
    }
    let offset = mapper.offset(
      device, first: 0, last: 0, arrival: 1000 * Self.second + 60 * Self.ms, kernel: kernel, events: &events)
    #expect(offset == 1000 * Self.second + 2 * Self.ms)
  }

  @Test("a hub's own clock and the board's boot clock get an offset each")
  func twoDomains() {
    var mapper = ClockMapper(isRemote: true)
    var events: [SourceEvent] = []
    let hub = mapper.addDevice("hub")
    let chip = mapper.addDevice("chip")
    mapper.begin(hub, clock: "boottime")
    mapper.begin(chip, clock: "boottime")
    let now = 1000 * Self.second
    let hubStamp = 1_700_000_000 * Self.second
    #expect(
      hubStamp + mapper.offset(hub, first: hubStamp, last: hubStamp, arrival: now, kernel: kernel, events: &events)
        == now)
    #expect(7 + mapper.offset(chip, first: 7, last: 7, arrival: now, kernel: kernel, events: &events) == now)
    #expect(events.map(\.name) == ["clock", "clock"])
    // A stamp of seventeen hundred million seconds is no time since start, whatever is set.
    #expect(events[0].detail.contains("the board's realtime clock, though boottime is set"), "\(events[0])")
    #expect(events[1].detail.contains("the board's boottime clock;"), "\(events[1])")
    #expect(mapper.clockName(hub) == "realtime" && mapper.clockName(chip) == "boottime")
  }

  @Test("stalls of the network are not clock steps; a board's clock that is set is", arguments: [-7200, -1, 1, 7200])
  func remoteStep(seconds: Int64) {
    var mapper = ClockMapper(isRemote: true)
    var events: [SourceEvent] = []
    let device = mapper.addDevice("d")
    mapper.begin(device, clock: "realtime")
    let step = seconds * Self.second
    var last: Int64 = 0
    for tick: Int64 in 0..<400 {
      // A stall of 3 s at tick 100: batches come late, then quickly after one another.
      let sent = tick * 10 * Self.ms
      let arrival = 1000 * Self.second + max(sent, (100..<400).contains(tick) ? 1000 * Self.ms + 3000 * Self.ms : 0)
      let stamp = sent + (tick < 380 ? 0 : step)
      let offset = mapper.offset(
        device, first: stamp, last: stamp, arrival: arrival + Self.ms, kernel: kernel, events: &events)
      if tick == 379 { #expect(events.map(\.name) == ["clock"]) }
      last = stamp + offset
    }
    #expect(events.filter { $0.name == "clock_step" }.count == 1)
    // After the step the samples are near the time of their arrival again.
    #expect(abs(last - (1000 * Self.second + 4000 * Self.ms)) < 300 * Self.ms)
  }

  @Test(
    "two clocks that drift apart: no step, the drift is reported and known for polled samples", arguments: [-50, 50])
  func drift(ppm: Int64) {
    var mapper = ClockMapper(isRemote: true)
    var events: [SourceEvent] = []
    let device = mapper.addDevice("d")
    mapper.begin(device, clock: "boottime")
    var offsets = Set<Int64>()
    for tick: Int64 in 0..<(3600 * 10) {
      let arrival = 1000 * Self.second + tick * 100 * Self.ms
      let stamp = tick * (100 * Self.ms + ppm * 100)
      offsets.insert(
        mapper.offset(device, first: stamp, last: stamp, arrival: arrival, kernel: kernel, events: &events))
    }
    #expect(offsets.count == 1)
    #expect(!events.contains { $0.name == "clock_step" })
    #expect(events.count { $0.name == "clock" } > 10)
    // 50 ppm over an hour are 180 ms.
    #expect(abs(mapper.pollingDrift + ppm * 3_600_000) < 5 * Self.ms)
  }

  @Test("a board that was started anew begins a new clock after the loss")
  func reboot() {
    var mapper = ClockMapper(isRemote: true)
    var events: [SourceEvent] = []
    let device = mapper.addDevice("d")
    mapper.begin(device, clock: "boottime")
    _ = mapper.offset(
      device, first: 5000 * Self.second, last: 5000 * Self.second, arrival: 1000 * Self.second, kernel: kernel,
      events: &events)
    mapper.begin(device, clock: "boottime")
    let offset = mapper.offset(
      device, first: 9 * Self.second, last: 9 * Self.second, arrival: 1100 * Self.second, kernel: kernel,
      events: &events)
    #expect(9 * Self.second + offset == 1100 * Self.second)
    #expect(events.last?.name == "clock_step")
  }

  @Test("absurd stamps do not trap", arguments: [Int64.min, Int64.max, 0])
  func absurd(stamp: Int64) {
    for isRemote in [true, false] {
      var mapper = ClockMapper(isRemote: isRemote)
      var events: [SourceEvent] = []
      let device = mapper.addDevice("d")
      mapper.begin(device, clock: "")
      for other in [stamp, 1, .max, .min] {
        _ = mapper.offset(
          device, first: other, last: stamp, arrival: 1000 * Self.second, kernel: kernel, events: &events)
      }
    }
  }
}

@Suite("stamps of batches") struct SpreadStampsTests {
  private func batch(_ times: [Int64], perScan: Int = 1) -> [SensorSample] {
    times.flatMap { time in
      (0..<perScan).map { _ in SensorSample(time: Timestamp(nanoseconds: time), kind: .accelerometer, x: 0, y: 0, z: 0)
      }
    }
  }

  @Test("case 14: a FIFO batch stamped at its interrupt is counted back evenly")
  func fifo() {
    var samples = batch([5000, 5000, 5000, 5000], perScan: 2)
    let last = spreadStamps(&samples, perScan: 2, period: 100, arrival: nil, after: 1000)
    #expect(last == 5000)
    #expect(samples.map(\.time.nanoseconds) == [4700, 4700, 4800, 4800, 4900, 4900, 5000, 5000])
  }

  @Test("it never reaches back before the batch before")
  func fifoOverlap() {
    var samples = batch([5000, 5000, 5000, 5000])
    _ = spreadStamps(&samples, perScan: 1, period: 100, arrival: nil, after: 4900)
    #expect(samples.map(\.time.nanoseconds) == [4925, 4950, 4975, 5000])
  }

  @Test("stamps of their own are left alone")
  func stamped() {
    var samples = batch([100, 205, 299])
    #expect(spreadStamps(&samples, perScan: 1, period: 100, arrival: nil, after: 0) == 299)
    #expect(samples.map(\.time.nanoseconds) == [100, 205, 299])
  }

  @Test("a device without stamps is stamped back from the arrival")
  func unstamped() {
    var samples = batch([0, 0, 0])
    _ = spreadStamps(&samples, perScan: 1, period: 10, arrival: 1000, after: 500)
    #expect(samples.map(\.time.nanoseconds) == [980, 990, 1000])
  }
}
