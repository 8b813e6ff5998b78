// How long a sample takes from the source to a handler, and what that costs.
import Dispatch
import Glibc
import MotionKitLinux
import SensorFusion

/// A sensor of this process: an accelerometer sample every period, stamped when it is handed over.
final class TickingSource: SensorSource {
  let description = SourceDescription(
    uri: "ticking:",
    sensors: [SensorDescription(kind: .accelerometer, name: "ticking", identity: "ticking", rate: 1000)], isLive: true)
  let period: Int64
  nonisolated(unsafe) var next: Int64 = 0

  init(rate: Double) { period = Int64(1e9 / rate) }

  static func now(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  func start(_ request: SensorRequest) throws(MotionKitError) -> SourceDescription {
    next = Self.now() + period
    return description
  }

  func read(into batch: inout SampleBatch, timeout: Double) throws(MotionKitError) -> ReadStatus {
    batch.removeAll()
    var wake = timespec(tv_sec: Int(next / 1_000_000_000), tv_nsec: Int(next % 1_000_000_000))
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nil)
    batch.samples.append(
      SensorSample(time: Timestamp(nanoseconds: Self.now()), kind: .accelerometer, x: 0, y: 0, z: 9.8))
    next += period
    return .data
  }

  func stop() {}
}

func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 10
let rate = 1000.0
let wanted = Int(seconds * rate)
let manager = MotionManager(source: SharedSource(TickingSource(rate: rate)))
manager.accelerometerUpdateInterval = 1 / rate
nonisolated(unsafe) var ages: [Double] = []
ages.reserveCapacity(wanted + 1000)
let done = DispatchSemaphore(value: 0)
let before = processorTime()
manager.startAccelerometerUpdates(to: DispatchQueue(label: "handler", qos: .userInteractive)) { result in
  guard let data = try? result.get() else { return }
  ages.append(Double(TickingSource.now() - data.time.nanoseconds) / 1e3)
  if ages.count == wanted { done.signal() }
}
done.wait()
manager.stopAccelerometerUpdates()
let load = (processorTime() - before) / seconds * 100
let sorted = ages.prefix(wanted).sorted()
func percentile(_ p: Double) -> Int { Int(sorted[min(sorted.count - 1, Int(p * Double(sorted.count)))]) }
print("1 kHz, \(wanted) samples, source to handler, µs:")
print("p50 \(percentile(0.5))  p99 \(percentile(0.99))  p99.9 \(percentile(0.999))  max \(Int(sorted.last ?? 0))")
print("dropped \(manager.droppedSampleCount), \(Int((load * 10).rounded()) / 10) % of a core")

// As fast as can be: the whole path of device motion, a handler call for each.
let scene = SharedSource(opening: "sim:walk?duration=600", pacing: .unpaced)
let motions = MotionManager(source: scene)
nonisolated(unsafe) var count = 0
let started = TickingSource.now()
motions.startDeviceMotionUpdates(to: DispatchQueue(label: "motions")) { _ in count += 1 }
do { try scene.waitUntilEnd() } catch { print("\(error)") }
let spent = Double(TickingSource.now() - started) / 1e9
print(
  "unpaced scene with device motion: \(Int(Double(count) / spent)) motions a second, \(Int(600 / spent)) times real time"
)
