// Bytes of an IIO buffer into samples: ours beside libiio's two ways, on one buffer, in one run.
import CDecodePeer
import Dispatch
import Glibc
import SensorFusion

@testable import MotionKitLinux

/// Median of alternating repetitions, ns of processor time for one device sample.
let repetitions = 41
let samples = 4096

func cpu() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// A chip with accelerometer and gyroscope: six channels of 16 bits and the time stamp.
func board() -> SourceDescription {
  var accelerometer = SensorDescription(kind: .accelerometer, name: "bmi160", identity: "bmi160", rate: 1000)
  accelerometer.resolution = 0.000598
  accelerometer.range = 0.000598 * 32768
  var gyroscope = SensorDescription(kind: .gyroscope, name: "bmi160", identity: "bmi160", rate: 1000)
  gyroscope.resolution = 0.001065
  gyroscope.range = 0.001065 * 32768
  return SourceDescription(uri: "bench:", sensors: [accelerometer, gyroscope], isLive: true)
}

let server = try IIODServer(board: EmulatedBoard(describing: board()))
let uri = "ip:127.0.0.1:\(server.port)"
/// Whether the buffer has been filled.
final class Flag: @unchecked Sendable {
  private let queue = DispatchQueue(label: "flag")
  private var value = false
  var isUp: Bool { queue.sync { value } }
  func raise() { queue.sync { value = true } }
}
let isFilled = Flag()
DispatchQueue(label: "feeder").async {
  var time: Int64 = 1_000_000_000
  while !isFilled.isUp {
    let (x, y) = (Float(time % 7919) / 1000, Float(time % 104_729) / -10000)
    server.deliver([
      SensorSample(time: Timestamp(nanoseconds: time), kind: .accelerometer, x: x, y: y, z: 9.81),
      SensorSample(time: Timestamp(nanoseconds: time), kind: .gyroscope, x: y, y: x, z: -0.1),
    ])
    time += 1_000_000
  }
}
guard let peer = peer_open(uri, "bmi160", samples) else {
  print("the emulated board cannot be read")
  exit(1)
}
isFilled.raise()
var byteCount = 0
var step = 0
guard let start = peer_bytes(peer, &byteCount, &step) else { exit(1) }
let bytes = UnsafeRawBufferPointer(start: start, count: byteCount)

let inventory = try IIOContext(uri: uri).inventory(isLocal: false)
let device = inventory.devices[0]
let elements = device.channels.filter { $0.scanIndex != nil }.sorted { ($0.scanIndex ?? 0) < ($1.scanIndex ?? 0) }
let layout = ScanLayout(byteCounts: elements.map { $0.format?.byteCount ?? 0 })
let offsets = Dictionary(uniqueKeysWithValues: zip(elements.compactMap(\.scanIndex), layout.offsets))
let stamp = elements.first { $0.id == "timestamp" }.flatMap { e in e.format.map { (index: e.scanIndex ?? 0, format: $0) } }
let decoder = SampleDecoder(sensors: device.sensors().sensors, timestamp: stamp, offsets: offsets)

var decoded: [SensorSample] = []
var values = [Float](repeating: 0, count: samples * 16)
var stamps = [Int64](repeating: 0, count: samples)
nonisolated(unsafe) var times: [String: [Double]] = [:]
for _ in 0..<repetitions {
  decoded.removeAll(keepingCapacity: true)
  var begin = cpu()
  let count = decoder.decode(bytes, step: layout.sampleSize, into: &decoded)
  times["ours", default: []].append((cpu() - begin) / Double(count))
  begin = cpu()
  let converted = peer_convert(peer, &values, &stamps)
  times["convert", default: []].append((cpu() - begin) / Double(converted))
  begin = cpu()
  let called = peer_foreach(peer, &values, &stamps)
  times["foreach", default: []].append((cpu() - begin) / Double(called))
  guard count == samples, converted == samples, called == samples else {
    print("not the same samples: \(count) \(converted) \(called)")
    exit(1)
  }
}
// The same numbers: iio_buffer_foreach_sample has left six values a sample, in the order of the channels.
let order = elements.filter { $0.id != "timestamp" }.map(\.id)
for index in 0..<samples {
  for sample in decoded[(2 * index)..<(2 * index + 2)] {
    let type = sample.kind == .accelerometer ? "accel" : "anglvel"
    for (axis, value) in [("x", sample.x), ("y", sample.y), ("z", sample.z)] {
      let place = order.firstIndex(of: "\(type)_\(axis)") ?? 0
      guard abs(values[6 * index + place] - value) < 1e-5, sample.time.nanoseconds == stamps[index] else {
        print("sample \(index) differs: \(type)_\(axis) \(value) \(values[6 * index + place])")
        exit(1)
      }
    }
  }
}
func median(_ name: String) -> Double { (times[name] ?? []).sorted()[repetitions / 2] }
func tenth(_ value: Double) -> Double { (value * 10).rounded() / 10 }
let (ours, convert, foreach) = (median("ours"), median("convert"), median("foreach"))
print("a sample of \(elements.count) channels, ns of processor time, median of \(repetitions):")
print("SampleDecoder              \(tenth(ours))")
print("iio_channel_convert        \(tenth(convert))  (\(tenth(convert / ours)) times)")
print("iio_buffer_foreach_sample  \(tenth(foreach))  (\(tenth(foreach / ours)) times)")
peer_close(peer)
server.stop()
