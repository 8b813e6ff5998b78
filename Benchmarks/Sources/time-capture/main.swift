// From the arrival of a sample to the handler, through all of the IIO path: socket, libiio, decoding, merging, delivery.
import Dispatch
import Glibc
import MotionKitLinux
import SensorFusion

func now(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// When each sample was handed to the server, by its number, which is also its value.
final class Log: @unchecked Sendable {
  let lock = DispatchQueue(label: "log")
  var delivered: [Int64] = []
  var handled: [(number: Int, at: Int64)] = []
  var isOver = false
}

let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 10
let rate = 1000.0
let wanted = Int(seconds * rate)
var sensor = SensorDescription(kind: .accelerometer, name: "accel_3d", identity: "bench", rate: rate)
sensor.resolution = 0.001
let server = try IIODServer(
  board: EmulatedBoard(describing: SourceDescription(uri: "bench:", sensors: [sensor], isLive: true)))
let log = Log()
do {
  let period = Int64(1e9 / rate)
  DispatchQueue(label: "board", qos: .userInteractive).async {
    var next = now()
    var number = 0
    while !log.lock.sync(execute: { log.isOver }) {
      next += period
      var wake = timespec(tv_sec: Int(next / 1_000_000_000), tv_nsec: Int(next % 1_000_000_000))
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nil)
      let time = Timestamp(nanoseconds: now(CLOCK_BOOTTIME))
      log.lock.sync { log.delivered.append(now()) }
      server.deliver([SensorSample(time: time, kind: .accelerometer, x: Float(number) * 0.001, y: 0, z: 9.8)])
      number += 1
    }
  }
}

let manager = MotionManager(source: SharedSource(opening: "ip:127.0.0.1:\(server.port)"))
// Far below the period: of samples that come sooner after one another than this, some are left out.
manager.accelerometerUpdateInterval = 0.01 / rate
let done = DispatchSemaphore(value: 0)
manager.startAccelerometerUpdates(to: DispatchQueue(label: "handler", qos: .userInteractive)) { result in
  guard let data = try? result.get() else { return }
  let at = now()
  // Core Motion's sign and unit taken off again: the value counts the samples.
  let number = Int((-data.acceleration.x * 9.80665 / 0.001).rounded())
  let count = log.lock.sync {
    log.handled.append((number, at))
    return log.handled.count
  }
  if count == wanted { done.signal() }
}
if done.wait(timeout: .now() + seconds + 20) == .timedOut { print("only \(log.handled.count) samples came") }
manager.stopAccelerometerUpdates()
log.lock.sync { log.isOver = true }

// Samples come in batches: one has arrived once its batch is full, which is when the batch's last sample was delivered.
let handled = log.lock.sync { log.handled }
let numbers = handled.map(\.number)
var batch = 0
let gaps = zip(handled, handled.dropFirst()).map { $1.at - $0.at }
// The size of a batch: the most common distance between pauses.
var sizes: [Int: Int] = [:]
var last = -1
for (index, gap) in gaps.enumerated() where gap > 5_000_000 {
  if last >= 0 { sizes[index - last, default: 0] += 1 }
  last = index
}
batch = sizes.max { $0.value < $1.value }?.key ?? 1
var ages: [Double] = []
// For the first quarter second a remote board's samples are held until its clock is known: that is not counted.
let settled = Int(rate / 2)
for index in handled.indices.dropFirst(settled) {
  let end = numbers[0] + ((numbers[index] - numbers[0]) / batch + 1) * batch - 1
  let delivered = log.lock.sync { end < log.delivered.count ? log.delivered[end] : 0 }
  if delivered > 0 { ages.append(Double(handled[index].at - delivered) / 1e3) }
}
let missing = (numbers.last ?? 0) - (numbers.first ?? 0) + 1 - numbers.count
let sorted = ages.sorted()
func percentile(_ p: Double) -> Int { Int(sorted[min(sorted.count - 1, Int(p * Double(sorted.count)))]) }
print("1 kHz over iiod's protocol, \(ages.count) samples in batches of \(batch), \(missing) missing, arrival to handler, µs:")
print("p50 \(percentile(0.5))  p99 \(percentile(0.99))  p99.9 \(percentile(0.999))  max \(Int(sorted.last ?? 0))")
server.stop()
