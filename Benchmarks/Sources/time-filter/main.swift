// Times the attitude filter on samples from a file.
//
//   time-filter 9d|6d|fixed FILE REPETITIONS
//
// FILE holds rows of ten 64-bit floats: t_s, force (m/s²), rate (rad/s), field (µT). Prints nanoseconds per row (one
// update of each sensor) for each repetition, one a line.
import Glibc
import SensorFusion

func read(_ path: String) -> [SensorSample] {
  guard let file = fopen(path, "rb") else { return [] }
  defer { fclose(file) }
  var samples: [SensorSample] = []
  var row = [Double](repeating: 0, count: 10)
  while fread(&row, 80, 1, file) == 1 {
    let time = Timestamp(seconds: row[0])
    for (kind, first) in [(SensorKind.accelerometer, 1), (.gyroscope, 4), (.magnetometer, 7)] {
      samples.append(
        SensorSample(
          time: time, kind: kind, x: Float(row[first]), y: Float(row[first + 1]), z: Float(row[first + 2])))
    }
  }
  return samples
}

/// Seconds of processor time, so that other programs do not count.
func now() -> Double {
  var t = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t)
  return Double(t.tv_sec) + 1e-9 * Double(t.tv_nsec)
}

func run() -> Int32 {
  let arguments = CommandLine.arguments
  guard arguments.count == 4, let repetitions = Int(arguments[3]) else {
    print("usage: time-filter 9d|6d|fixed FILE REPETITIONS")
    return 64
  }
  var configuration = ComplementaryFilter.Configuration()
  if arguments[1] != "6d" { configuration.referenceFrame = .magneticNorth }
  if arguments[1] == "fixed" { configuration.gains = .fixed(accelerometer: 3, magnetometer: 9) }
  var samples = read(arguments[2])
  let rows = samples.count / 3
  if arguments[1] == "6d" { samples.removeAll { $0.kind == .magnetometer } }
  guard rows > 0 else {
    print("\(arguments[2]): no samples")
    return 66
  }
  var outputs = 0
  for _ in 0..<repetitions {
    var filter = ComplementaryFilter(configuration: configuration)
    let start = now()
    for sample in samples where filter.update(sample) { outputs += 1 }
    guard filter.state.attitude.isFinite else { return 1 }
    print((now() - start) / Double(rows) * 1e9)
  }
  return outputs > 0 ? 0 : 1
}

exit(run())
