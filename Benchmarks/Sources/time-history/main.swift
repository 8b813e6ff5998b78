// Fills a step history with a year of walking and asks it for seven days, and prints
//   STEPS INSERTS_PER_SECOND BYTES MEDIAN_QUERY_MS WORST_QUERY_MS
//   time-history FILE STEPS STEPS_PER_WRITE
// through the writer that the product uses, so many steps in a transaction: 2 as live, more as from a recording.
import Glibc
import MotionKitLinux
import SensorFusion

func seconds(of clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

let day: Int64 = 86_400_000_000_000
/// 2026-01-01 00:00 UTC.
let start: Int64 = 1_767_225_600_000_000_000

/// Walks of 2000 steps at two a second, evenly over 365 days.
func fill(_ history: StepHistory, steps total: Int, perWrite: Int) throws {
  let anchor = ClockAnchor(time: Timestamp(nanoseconds: 0), utcNanoseconds: start)
  let writer = try StepHistoryWriter(history: history, source: "sim:year", anchor: anchor)
  let walkSteps = 2000
  let walks = (total + walkSteps - 1) / walkSteps
  let spacing = 365 * day / Int64(walks)
  var number: Int64 = 0
  var steps: [Step] = []
  for walk in 0..<walks {
    for index in 0..<min(walkSteps, total - walk * walkSteps) {
      number += 1
      let time = Int64(walk) * spacing + Int64(index) * 500_000_000
      steps.append(Step(time: Timestamp(nanoseconds: time), number: number, cadence: 2, isInterpolated: false))
      guard steps.count == perWrite else { continue }
      writer.add(steps: steps, distance: 0.7 * Double(number))
      try writer.flush()
      steps.removeAll(keepingCapacity: true)
    }
  }
  writer.add(steps: steps, distance: 0.7 * Double(number))
  try writer.finish()
}

func run() throws {
  let arguments = CommandLine.arguments
  guard arguments.count == 4, let total = Int(arguments[2]), let perWrite = Int(arguments[3]), perWrite > 0 else {
    print("usage: time-history FILE STEPS STEPS_PER_WRITE")
    exit(64)
  }
  let history = try StepHistory(path: arguments[1], keepingDays: .infinity)
  let begin = seconds(of: CLOCK_MONOTONIC)
  try fill(history, steps: total, perWrite: perWrite)
  let inserted = seconds(of: CLOCK_MONOTONIC) - begin

  // Seven days anywhere in the year, borders in the middle of walks; a connection that has just been opened.
  var times: [Double] = []
  var found = 0
  for week in 0..<50 {
    let from = start + Int64(week) * 7 * day + 12_345_678_901_234
    let fresh = try StepHistory(path: arguments[1], keepingDays: .infinity)
    let before = seconds(of: CLOCK_MONOTONIC)
    found += try fresh.pedometerTotals(from: from, to: from + 7 * day).numberOfSteps
    times.append((seconds(of: CLOCK_MONOTONIC) - before) * 1000)
  }
  times.sort()
  let all = try history.pedometerTotals(from: start, to: start + 366 * day).numberOfSteps
  guard all == total, found > 0 else {
    print("the history holds \(all) of \(total) steps")
    exit(1)
  }
  var status = stat()
  stat(arguments[1], &status)
  print(total, Double(total) / inserted, status.st_size, times[times.count / 2], times[times.count - 1])
}

do { try run() } catch {
  print("\(error)")
  exit(1)
}
