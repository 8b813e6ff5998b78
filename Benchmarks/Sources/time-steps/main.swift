// Times step counter, floors, activity, shake and altimeter on a simulated walk, and prints for a board with a gyroscope and
// one without
//   with|without MICROSECONDS_A_SAMPLE PERCENT_OF_A_CORE WORST_MICROSECONDS
// in processor time at 100 Hz (barometer 25 Hz). The whole pipeline is timed and the attitude filter by itself on the same
// samples; the difference is amortised over the accelerometer's samples. The worst is that of a whole call of the pipeline.
import Glibc
import MotionKitLinux
import SensorFusion

/// Processor time of this thread, ns.
func now() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// The samples of two minutes of walking with the device in the hand.
func samples(gyroscope: Bool) throws -> [SensorSample] {
  var rates: [SensorKind: Double] = [.accelerometer: 100, .barometer: 25]
  if gyroscope { rates[.gyroscope] = 100 }
  let source = try SimulationSource(uri: "sim:walk?placement=hand&duration=120", pacing: .unpaced)
  _ = try source.start(SensorRequest(rates: rates))
  var all: [SensorSample] = []
  var batch = SampleBatch()
  while try source.read(into: &batch, timeout: 1) != .end { all += batch.samples }
  return all
}

/// The least of so many runs is taken, since others use the machine too.
let repetitions = 15

func measure(gyroscope: Bool) throws {
  let samples = try samples(gyroscope: gyroscope)
  let forces = samples.count { $0.kind == .accelerometer }
  var configuration = MotionPipeline.Configuration()
  configuration.filter.hasGyroscope = gyroscope
  var (whole, attitude, worst) = (Int64.max, Int64.max, Int64.max)
  var steps: Int64 = 0
  for _ in 0..<repetitions {
    var pipeline = MotionPipeline(configuration: configuration)
    var begin = now()
    for sample in samples { _ = pipeline.process(sample) }
    whole = min(whole, now() - begin)
    steps = pipeline.stepCount

    var filter = ComplementaryFilter(configuration: configuration.filter)
    begin = now()
    for sample in samples where sample.kind != .barometer { _ = filter.update(sample) }
    attitude = min(attitude, now() - begin)

    pipeline = MotionPipeline(configuration: configuration)
    var longest: Int64 = 0
    for sample in samples {
      begin = now()
      _ = pipeline.process(sample)
      longest = max(longest, now() - begin)
    }
    worst = min(worst, longest)
  }
  guard steps > 0 else { fatalError("nothing was counted") }
  let each = Double(whole - attitude) / Double(forces) / 1000
  func rounded(_ x: Double, _ scale: Double) -> Double { (x * scale).rounded() / scale }
  print(
    gyroscope ? "with" : "without", rounded(each, 100), rounded(each * 100 / 1e6 * 100, 10_000),
    rounded(Double(worst) / 1000, 10))
}

try measure(gyroscope: true)
try measure(gyroscope: false)
