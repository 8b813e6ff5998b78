// Reads or writes raw files of a session, without the pipeline, and prints rows, bytes, seconds of processor time and of
// wall time, and the largest memory in MiB.
//   time-recording write DIR SAMPLES      a new session of accelerometer and gyroscope at 1 kHz
//   time-recording read DIR
//   time-recording replay DIR NEWDIR      through the whole pipeline into a new session, as motionlog replay does
import Glibc
import MotionKitLinux
import SensorFusion

func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func wallSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The most memory that the process has had, MiB.
func peakMemory() -> Double {
  guard let file = fopen("/proc/self/status", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  while fgets(&line, Int32(line.count), file) != nil {
    let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      .split(whereSeparator: \.isWhitespace)
    if words.first == "VmHWM:", words.count > 1 { return (Double(words[1]) ?? 0) / 1024 }
  }
  return 0
}

func bytes(_ directory: String) -> Int {
  var total = 0
  for file in ["accelerometer.csv", "gyroscope.csv"] {
    var status = stat()
    if stat(directory + "/" + file, &status) == 0 { total += Int(status.st_size) }
  }
  return total
}

/// A small generator whose values have all digits, as real ones do.
func write(_ directory: String, _ count: Int) throws {
  let sensors = [SensorKind.accelerometer, .gyroscope].map {
    SensorDescription(kind: $0, name: "benchmark", identity: "", rate: 1000)
  }
  var options = SessionWriter.Options()
  options.whenFull = .wait
  options.syncInterval = 1e6
  let writer = try SessionWriter(
    directory: directory,
    info: SessionInfo(
      source: SourceDescription(uri: "sim:benchmark", sensors: sensors, isLive: false), pipeline: .init()),
    options: options)
  var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  func value() -> Float {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return Float(Int64(bitPattern: state &* 0x2545_F491_4F6C_DD1D) >> 40) / 1e6
  }
  var batch = ProcessedBatch()
  for start in stride(from: 0, to: count / 2, by: 512) {
    batch.input.removeAll()
    for index in start..<min(start + 512, count / 2) {
      let time = Timestamp(nanoseconds: 1_000_000_000_000 + Int64(index) * 1_000_000)
      batch.input.samples.append(
        SensorSample(time: time, kind: .accelerometer, x: value(), y: value(), z: 9.80665 + value()))
      batch.input.samples.append(SensorSample(time: time, kind: .gyroscope, x: value(), y: value(), z: value()))
    }
    try writer.consume(batch)
  }
  try writer.finish()
}

func read(_ directory: String) throws -> Int {
  let reader = try SessionReader(directory: directory)
  var rows = 0
  var samples: [SensorSample] = []
  while try reader.read(into: &samples, atMost: 4096) {
    rows += samples.count
    samples.removeAll(keepingCapacity: true)
  }
  return rows
}

func replay(_ directory: String, to target: String) throws -> Int {
  let source = try RecordingSource(directory: directory, pacing: .unpaced)
  let description = try source.start(SensorRequest(rates: [:]))
  var pipeline = MotionPipeline(configuration: source.info.pipeline)
  var options = SessionWriter.Options()
  options.whenFull = .wait
  options.syncInterval = 10
  let writer = try SessionWriter(
    directory: target, info: SessionInfo(source: description, pipeline: source.info.pipeline), options: options)
  var batch = ProcessedBatch()
  var rows = 0
  while try source.read(into: &batch.input, timeout: 1) != .end {
    rows += batch.input.samples.count
    batch.process(with: &pipeline)
    try writer.consume(batch)
  }
  try writer.finish(counters: pipeline.counters)
  return rows
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
  print("usage: time-recording write DIR SAMPLES | read DIR | replay DIR NEWDIR")
  exit(2)
}
let begin = (processor: processorSeconds(), wall: wallSeconds())
var rows = 0
if arguments[1] == "write" {
  rows = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
  try write(arguments[2], rows)
} else if arguments[1] == "replay", arguments.count > 3 {
  rows = try replay(arguments[2], to: arguments[3])
} else {
  rows = try read(arguments[2])
}
print(rows, bytes(arguments[2]), processorSeconds() - begin.processor, wallSeconds() - begin.wall, peakMemory())
