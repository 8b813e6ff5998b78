import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// Where the lab is: `MOTIONKIT_LAB=ip:127.0.0.1:PORT`, set by Tests/Lab/run; empty outside of it.
let labURI = getenv("MOTIONKIT_LAB").map { String(cString: $0) } ?? ""

/// Real kernel drivers behind a real iiod. Run by Tests/Lab/run.
@Suite("lab", .enabled(if: !labURI.isEmpty, "MOTIONKIT_LAB is not set; Tests/Lab/run sets it"), .serialized)
struct LabTests {
  static let requests = [
    SensorRequest(
      rates: [.accelerometer: 50, .gyroscope: 50], devices: [.accelerometer: "bmi160", .gyroscope: "bmi160"]),
    SensorRequest(rates: [.accelerometer: 200, .gyroscope: 200, .magnetometer: 100, .barometer: 25]),
    SensorRequest(
      rates: [.accelerometer: 50, .gyroscope: 50, .magnetometer: 50, .barometer: 50],
      devices: [.accelerometer: "bmi160", .gyroscope: "bmi160", .magnetometer: "hmc5843", .barometer: "lps22hb"]),
    SensorRequest(
      rates: [.accelerometer: 50, .barometer: 20], devices: [.accelerometer: "lis3dh", .barometer: "bmp280"]),
  ]
  @Test func explore() throws {
    let request = Self.requests[Int(getenv("CASE").map { String(cString: $0) } ?? "0") ?? 0]
    let source = try openSource(labURI)
    for sensor in source.description.sensors {
      print(
        sensor.kind, sensor.name, sensor.identity, sensor.rate, sensor.capture, sensor.clock, sensor.resolution,
        sensor.range, sensor.attributes)
    }
    for note in source.description.notes { print(note) }
    let started = try source.start(request)
    for sensor in started.sensors { print(sensor.kind, sensor.name, sensor.rate, sensor.capture, sensor.clock) }
    print(started.notes)
    var batch = SampleBatch()
    var counts: [SensorKind: Int] = [:]
    var last = Timestamp(nanoseconds: .min)
    let end = nanoseconds(of: CLOCK_MONOTONIC) + 5_000_000_000
    var lag: [Double] = []
    var lastOf: [SensorKind: Int64] = [:]
    var hist: [SensorKind: [Int: Int]] = [:]
    while nanoseconds(of: CLOCK_MONOTONIC) < end {
      _ = try source.read(into: &batch, timeout: 0.5)
      for event in batch.events { print(event) }
      let now = nanoseconds(of: CLOCK_BOOTTIME)
      for sample in batch.samples {
        #expect(sample.time >= last)
        last = sample.time
        if let l = lastOf[sample.kind] {
          hist[sample.kind, default: [:]][Int(sample.time.nanoseconds - l) / 100_000, default: 0] += 1
        }
        lastOf[sample.kind] = sample.time.nanoseconds
        counts[sample.kind, default: 0] += 1
        lag.append(Double(now - sample.time.nanoseconds) / 1e6)
      }
    }
    print(counts)
    for (k, h) in hist { print(k, h.sorted { $0.key < $1.key }.map { "\($0.key)x\($0.value)" }) }
    lag.sort()
    print(lag[0], lag[lag.count / 2], lag[lag.count - 1])
    let before = nanoseconds(of: CLOCK_MONOTONIC)
    source.stop()
    print("stop", Double(nanoseconds(of: CLOCK_MONOTONIC) - before) / 1e6)
    while try source.read(into: &batch, timeout: 0.5) != .end {}
    print(batch.samples.suffix(4))
  }
}
