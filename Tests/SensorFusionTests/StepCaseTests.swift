import SensorFusion
import Testing

/// Runs an accelerometer file through the step counter.
private func steps(in path: String) throws -> [Step] {
  var counter = StepCounter()
  var steps: [Step] = []
  for row in try caseNumbers(path) {
    let force = Vector3(row[1], row[2], row[3])
    if counter.update(time: Timestamp(nanoseconds: Int64(row[0])), specificForce: force, motion: nil) {
      steps.append(contentsOf: counter.newSteps)
    }
  }
  #expect(Int64(steps.count) == counter.count)
  return steps
}

@Test func case61DeviceLyingStillCountsNoSteps() throws {
  #expect(try steps(in: "61-steps-on-a-table/input.csv").isEmpty)
}

@Test func case63BusRideCountsNoSteps() throws {
  #expect(try steps(in: "63-steps-in-a-bus/input.csv").isEmpty)
}

@Test func case65FirstStepsAreGivenBack() throws {
  let steps = try steps(in: "65-first-steps-lost/walk.csv")
  #expect(steps.count == 20)
  #expect(steps.map(\.number) == Array(1...20))
  // The walk begins at 3 s with 1.8 steps/s: the first steps keep their own time.
  let first = try #require(steps.first)
  #expect(first.time.seconds > 2.9 && first.time.seconds < 3.6)
  for (a, b) in zip(steps, steps.dropFirst()) {
    #expect(abs(b.time.seconds(since: a.time) - 1 / 1.8) < 0.12)
  }
}

@Test func case65FourStepsAreTooShortABout() throws {
  #expect(try steps(in: "65-first-steps-lost/four.csv").isEmpty)
}
