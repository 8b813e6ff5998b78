// Runs the product's pipeline on one recording of a scored set: CSV in on standard input, CSV out on standard output.
//
//   score-pipeline attitude|attitude6|attitude-smooth|attitude6-smooth|acceleration|steps|altitude < imu.csv > out.csv
//
// in:  t_s,ax,ay,az,gx,gy,gz,mx,my,mz,p_pa   (m/s², rad/s, µT, Pa; an empty cell: no new sample of that sensor)
// out: attitude, attitude6   t_s,qw,qx,qy,qz  device to east-north-up (attitude6: without the magnetometer;
//                                             -smooth: by the smoother for recordings)
//      acceleration          t_s,gx,gy,gz,ux,uy,uz  gravity and user acceleration, m/s², device axes, without magnetometer
//      steps                 t_s,steps        one row a released step, at its own time, and one at the end
//                                             (steps-accelerometer: without the gyroscope; -strict: fewer false steps)
//      altitude              t_s,alt_m
import Glibc
import SensorFusion

enum Mode: String {
  case attitude, attitude6, acceleration, steps, altitude
  case attitudeSmooth = "attitude-smooth"
  case attitude6Smooth = "attitude6-smooth"
  case stepsAccelerometer = "steps-accelerometer"
  case stepsStrict = "steps-strict"
  case stepsAccelerometerStrict = "steps-accelerometer-strict"

  var countsSteps: Bool {
    self == .steps || self == .stepsAccelerometer || self == .stepsStrict || self == .stepsAccelerometerStrict
  }
  var usesMagnetometer: Bool { self == .attitude || self == .attitudeSmooth || self == .altitude }
  var usesGyroscope: Bool { self != .stepsAccelerometer && self != .stepsAccelerometerStrict }
}

/// Numbers of one row; NaN for an empty cell.
func parse(_ line: UnsafeMutablePointer<CChar>, into cells: inout [Double]) {
  let comma = CChar(UInt8(ascii: ","))
  var rest = line
  for index in cells.indices {
    var end: UnsafeMutablePointer<CChar>?
    let value = strtod(rest, &end)
    guard let end else { return }
    cells[index] = end == rest ? .nan : value
    rest = end
    while rest.pointee != 0, rest.pointee != comma { rest += 1 }
    if rest.pointee != 0 { rest += 1 }
  }
}

/// Feeds rows to a pipeline and writes what it gives.
struct Runner {
  let mode: Mode
  private let file: UnsafeMutablePointer<FILE>
  private var pipeline: MotionPipeline
  /// All samples, for the smoother.
  private var samples: [SensorSample] = []
  private var output: String
  private var time = Timestamp(nanoseconds: 0)
  /// The filter's x axis is north; the set's is east.
  private let eastNorthUp = Quaternion(yaw: .pi / 2)

  init(mode: Mode, file: UnsafeMutablePointer<FILE>) {
    self.mode = mode
    self.file = file
    var configuration = MotionPipeline.Configuration()
    if mode == .attitude || mode == .attitudeSmooth { configuration.filter.referenceFrame = .magneticNorth }
    configuration.filter.hasGyroscope = mode.usesGyroscope
    configuration.stepCounter.isStrict = mode == .stepsStrict || mode == .stepsAccelerometerStrict
    pipeline = MotionPipeline(configuration: configuration)
    switch mode {
    case .attitude, .attitude6, .attitudeSmooth, .attitude6Smooth: output = "t_s,qw,qx,qy,qz\n"
    case .steps, .stepsAccelerometer, .stepsStrict, .stepsAccelerometerStrict: output = "t_s,steps\n"
    case .altitude: output = "t_s,alt_m\n"
    case .acceleration: output = "t_s,gx,gy,gz,ux,uy,uz\n"
    }
  }

  /// Takes one row: t_s, force, rate, field, pressure; NaN where there is no new sample.
  mutating func add(_ row: [Double]) {
    guard row[0].isFinite else { return }
    time = Timestamp(seconds: row[0])
    add(row, .accelerometer, from: 1)
    if mode.usesGyroscope { add(row, .gyroscope, from: 4) }
    if mode.usesMagnetometer { add(row, .magnetometer, from: 7) }
    if !row[10].isNaN {
      write(pipeline.process(SensorSample(time: time, pressureKilopascals: Float(row[10] / 1000))))
    }
  }

  private mutating func add(_ row: [Double], _ kind: SensorKind, from first: Int) {
    guard !row[first].isNaN else { return }
    let sample = SensorSample(
      time: time, kind: kind, x: Float(row[first]), y: Float(row[first + 1]), z: Float(row[first + 2]))
    if mode == .attitudeSmooth || mode == .attitude6Smooth {
      samples.append(sample)
    } else {
      write(pipeline.process(sample))
    }
  }

  private mutating func write(_ outputs: PipelineOutputs) {
    switch mode {
    case .attitude, .attitude6:
      guard outputs.contains(.motion) else { return }
      write(pipeline.motion)
    case .steps, .stepsAccelerometer, .stepsStrict, .stepsAccelerometerStrict:
      guard outputs.contains(.steps) else { return }
      for step in pipeline.newSteps { output += "\(step.time.seconds),\(step.number)\n" }
    case .acceleration:
      guard outputs.contains(.motion) else { return }
      let (g, u) = (pipeline.motion.gravity, pipeline.motion.userAcceleration)
      output += "\(pipeline.motion.time.seconds),\(g.x),\(g.y),\(g.z),\(u.x),\(u.y),\(u.z)\n"
    case .attitudeSmooth, .attitude6Smooth: return
    case .altitude:
      guard outputs.contains(.altitude) else { return }
      output += "\(pipeline.altitude.time.seconds),\(pipeline.altitude.relativeAltitude)\n"
    }
    if output.utf8.count > 1 << 16 { flush() }
  }

  private mutating func write(_ state: MotionState) {
    let q = eastNorthUp * state.attitude
    output += "\(state.time.seconds),\(q.w),\(q.x),\(q.y),\(q.z)\n"
  }

  private mutating func flush() {
    fputs(output, file)
    output = ""
  }

  mutating func finish() {
    if !samples.isEmpty {
      let smoother = MotionSmoother(configuration: pipeline.configuration.filter)
      for state in smoother.smooth(samples) { write(state) }
    }
    if mode.countsSteps { output += "\(time.seconds),\(pipeline.stepCount)\n" }
    flush()
    fflush(file)
  }
}

func run() -> Int32 {
  guard CommandLine.arguments.count == 2, let mode = Mode(rawValue: CommandLine.arguments[1]),
    let stdin = fdopen(STDIN_FILENO, "r"), let stdout = fdopen(STDOUT_FILENO, "w")
  else {
    print(
      "usage: score-pipeline attitude|attitude6|attitude-smooth|attitude6-smooth|acceleration|steps|altitude"
        + " < imu.csv > out.csv")
    return 64
  }
  var runner = Runner(mode: mode, file: stdout)
  var line: UnsafeMutablePointer<CChar>?
  var capacity = 0
  var cells = [Double](repeating: .nan, count: 11)
  _ = getline(&line, &capacity, stdin)  // the header
  while getline(&line, &capacity, stdin) > 0, let line {
    for index in cells.indices { cells[index] = .nan }
    parse(line, into: &cells)
    runner.add(cells)
  }
  free(line)
  runner.finish()
  return 0
}

exit(run())
