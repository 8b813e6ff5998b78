// Writes steps into a history until it is killed: HistoryWriter FILE SOURCE FIRST_UTC_NS. Two steps a second, as fast
// as it can, and after each write a line with the number of steps that are in the file for certain.
import Glibc
import MotionKitLinux
import SensorFusion

let arguments = CommandLine.arguments
guard arguments.count == 4, let first = Int64(arguments[3]) else { exit(64) }
do {
  let history = try StepHistory(path: arguments[1], keepingDays: .infinity)
  let anchor = ClockAnchor(time: Timestamp(nanoseconds: 0), utcNanoseconds: first)
  let writer = try StepHistoryWriter(history: history, source: arguments[2], anchor: anchor)
  var number: Int64 = 0
  while true {
    var steps: [Step] = []
    for _ in 0..<4 {
      number += 1
      steps.append(
        Step(
          time: Timestamp(nanoseconds: number * 500_000_000), number: number, cadence: 2, isInterpolated: false))
    }
    writer.add(steps: steps, distance: Double(number) * 0.7)
    try writer.flush()
    let line = "\(number)\n"
    // Nobody reads any more: the test that started this is gone.
    if line.withCString({ write(STDOUT_FILENO, $0, strlen($0)) }) < 0 { exit(2) }
  }
} catch {
  let line = "\(error)\n"
  _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(1)
}
