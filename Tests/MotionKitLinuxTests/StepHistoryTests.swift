import Foundation
import SensorFusion
import Testing

@testable import MotionKitLinux

private func temporaryPath() -> String {
  FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)/history.sqlite").path
}

private func remove(_ path: String) {
  try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
}

private let second: Int64 = 1_000_000_000
private let hour: Int64 = 3600 * second
/// 2026-03-29 00:00 UTC, the day on which Central Europe has 23 hours.
private let day: Int64 = 1_774_742_400 * second

private func anchor(utc: Int64, boot: Int64 = 0) -> ClockAnchor {
  ClockAnchor(time: Timestamp(nanoseconds: boot), utcNanoseconds: utc)
}

/// Steps every half second from `start` seconds of the boot clock.
private func steps(_ count: Int, from start: Double, first: Int64 = 1) -> [Step] {
  (0..<count).map {
    Step(
      time: Timestamp(seconds: start + 0.5 * Double($0)), number: first + Int64($0), cadence: 2, isInterpolated: false)
  }
}

/// The steps of a time.
private func count(_ history: StepHistory, from start: Int64 = 0, to end: Int64 = .max) throws -> Int {
  try history.pedometerTotals(from: start, to: end).numberOfSteps
}

@Suite struct StepHistoryTests {
  @Test func sumsAreExactForEveryBorder() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path, keepingDays: .infinity)
    let writer = try StepHistoryWriter(history: history, source: "sim:walk", anchor: anchor(utc: day))
    // 1000 steps: several rows, written a few at a time as live.
    let all = steps(1000, from: 10)
    for begin in stride(from: 0, to: 1000, by: 3) {
      let part = Array(all[begin..<min(begin + 3, 1000)])
      writer.add(steps: part, distance: 0.7 * Double(begin + part.count))
      try writer.flush()
    }
    let whole = try history.pedometerTotals(from: day, to: day + hour)
    #expect(whole.numberOfSteps == 1000)
    #expect(abs((whole.distance ?? 0) - 700) < 1e-6)
    #expect(abs(whole.activeSeconds - 999 * 0.5) < 1e-6)
    #expect(whole.floorsAscended == nil)
    for border in stride(from: 9.75, through: 511, by: 7.3) {
      let middle = day + Int64(border * 1e9)
      let before = try history.pedometerTotals(from: day, to: middle)
      let after = try history.pedometerTotals(from: middle, to: day + hour)
      #expect(before.numberOfSteps == all.filter { $0.time.seconds < border }.count)
      #expect(before.numberOfSteps + after.numberOfSteps == 1000)
      #expect(abs((before.distance ?? 0) + (after.distance ?? 0) - 700) < 1e-6)
      #expect(abs(before.activeSeconds + after.activeSeconds - whole.activeSeconds) < 1e-6)
    }
    // A range inside one row, cut at both ends.
    let inner = try history.pedometerTotals(from: day + 20 * second, to: day + 30 * second)
    #expect(inner.numberOfSteps == 20)
  }

  @Test func anEmptyTimeHasNoStepsAndIsNoError() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path)
    let totals = try history.pedometerTotals(from: 0, to: .max)
    #expect(totals.numberOfSteps == 0 && totals.distance == nil)
    #expect(try count(history, from: 5, to: 5) == 0)
    let none = try history.activities(from: .min, to: .max)
    #expect(none.isEmpty)
  }

  @Test func aClockStepMovesNoStepThatWasWritten() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path, keepingDays: .infinity)
    let writer = try StepHistoryWriter(history: history, source: "s", anchor: anchor(utc: day))
    writer.add(steps: steps(20, from: 0), distance: nil)
    try writer.update(anchor: anchor(utc: day + 5 * hour, boot: 10 * second))
    writer.add(steps: steps(20, from: 10, first: 21), distance: nil)
    try writer.finish()
    #expect(try count(history, from: day, to: day + hour) == 20)
    #expect(try count(history, from: day + 5 * hour, to: day + 6 * hour) == 20)
    #expect(try count(history, from: day, to: day + 24 * hour) == 40)
    let totals = try history.pedometerTotals(from: day, to: day + 24 * hour)
    #expect(totals.distance == nil)
  }

  @Test func whatIsOlderThanSevenDaysIsDeleted() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path)
    let writer = try StepHistoryWriter(history: history, source: "s", anchor: anchor(utc: day))
    writer.add(steps: steps(10, from: 0), distance: nil)
    writer.add(steps: steps(10, from: 86_400, first: 11), distance: nil)
    try writer.flush()
    try history.prune(now: day + 8 * 24 * hour - hour)
    #expect(try count(history) == 10)
  }

  @Test func howLongItKeepsIsTheEnvironmentsChoice() throws {
    let unset = try StepHistory.keptDays { _ in nil }
    #expect(unset == 7)
    let month = try StepHistory.keptDays { $0 == "MOTIONKIT_HISTORY_DAYS" ? "31" : nil }
    #expect(month == 31)
    for text in ["0", "-7", "a week", "nan"] {
      #expect(throws: MotionKitError.self) { try StepHistory.keptDays { _ in text } }
    }
  }

  @Test func activitiesBeginBeforeTheRangeAndEndWithTheSession() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path, keepingDays: .infinity)
    let writer = try StepHistoryWriter(history: history, source: "s", anchor: anchor(utc: day))
    var batch = ProcessedBatch()
    batch.activities = [
      ActivityState(time: Timestamp(seconds: 1), activity: .stationary, confidence: .high),
      ActivityState(time: Timestamp(seconds: 20), activity: .walking, confidence: .medium),
    ]
    batch.input.samples = [SensorSample(time: Timestamp(seconds: 60), kind: .accelerometer, x: 0, y: 0, z: 9.8)]
    try writer.consume(batch)
    // No end: the process was killed after its last write at 60 s.
    let found = try history.activities(from: day + 10 * second, to: day + hour)
    #expect(found.map(\.state.activity) == [.stationary, .walking, .unknown])
    #expect(found.map(\.utcNanoseconds) == [day + second, day + 20 * second, day + 60 * second])
    let later = try history.activities(from: day + 2 * hour, to: day + 3 * hour)
    #expect(later.allSatisfy { $0.state.activity == .unknown })
  }

  @Test func floorsAreKnownWithABarometerOnly() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path, keepingDays: .infinity)
    let writer = try StepHistoryWriter(history: history, source: "s", anchor: anchor(utc: day))
    var batch = ProcessedBatch()
    var altitude = AltitudeState(time: Timestamp(seconds: 30), pressure: 101)
    altitude.ascent = 6.2
    batch.altitudes = [altitude]
    batch.floorsAscended = 2
    batch.input.samples = [SensorSample(time: Timestamp(seconds: 30), pressureKilopascals: 101)]
    try writer.consume(batch)
    try writer.finish()
    let totals = try history.pedometerTotals(from: day, to: day + hour)
    #expect(totals.floorsAscended == 2 && totals.floorsDescended == 0)
    let climbed = try history.climbed(from: day, to: day + hour)
    #expect(climbed.ascent == 6.2)
  }

  @Test func twoProgramsOnOneSourceCountOnce() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let first = try StepHistoryWriter(
      history: StepHistory(path: path, keepingDays: .infinity), source: "local:", anchor: anchor(utc: day))
    let second = try StepHistoryWriter(
      history: StepHistory(path: path, keepingDays: .infinity), source: "local:", anchor: anchor(utc: day))
    for begin in stride(from: 0, to: 40, by: 4) {
      for writer in [first, second] {
        writer.add(steps: Array(steps(40, from: 0)[begin..<(begin + 4)]), distance: nil)
        try writer.flush()
      }
    }
    let history = try StepHistory(path: path, keepingDays: .infinity)
    #expect(try count(history) == 40)
    #expect(second.standbySteps == 40)
    // The first one ends: the second takes over at once.
    try first.finish()
    second.add(steps: steps(4, from: 20, first: 41), distance: nil)
    try second.flush()
    #expect(try count(history) == 44)
  }

  @Test func twoWritersAndThreeReadersAgree() throws {
    let path = temporaryPath()
    defer { remove(path) }
    _ = try StepHistory(path: path, keepingDays: .infinity)
    let failures = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 5) { index in
      do {
        let history = try StepHistory(path: path, keepingDays: .infinity)
        if index < 2 {
          let writer = try StepHistoryWriter(
            history: history, source: "source \(index)", anchor: anchor(utc: day + Int64(index) * 24 * hour))
          for begin in stride(from: 0, to: 400, by: 4) {
            writer.add(steps: Array(steps(400, from: 0)[begin..<(begin + 4)]), distance: nil)
            try writer.flush()
          }
        } else {
          var last = 0
          for _ in 0..<60 {
            let totals = try history.pedometerTotals(from: 0, to: .max)
            // A transaction is seen as a whole: four steps at a time, never fewer than before.
            if totals.numberOfSteps % 4 != 0 || totals.numberOfSteps < last {
              failures.withLock { $0.append("\(totals.numberOfSteps) after \(last)") }
            }
            last = totals.numberOfSteps
          }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    let history = try StepHistory(path: path, keepingDays: .infinity)
    #expect(try count(history) == 800)
  }

  /// A session of climbs: rows as the writer makes them, `ascent` and `descent` so far at a time.
  private func write(
    _ rows: [(seconds: Double, ascent: Double, descent: Double, floorsUp: Int)], to history: StepHistory,
    source: String = "s"
  ) throws {
    let writer = try StepHistoryWriter(history: history, source: source, anchor: anchor(utc: day))
    for row in rows {
      var batch = ProcessedBatch()
      var altitude = AltitudeState(time: Timestamp(seconds: row.seconds), pressure: 101)
      (altitude.ascent, altitude.descent) = (row.ascent, row.descent)
      batch.altitudes = [altitude]
      batch.floorsAscended = row.floorsUp
      batch.input.samples = [SensorSample(time: altitude.time, pressureKilopascals: 101)]
      try writer.consume(batch)
    }
    try writer.finish()
  }

  @Test func climbsArePutTogetherFromTheirWrites() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path, keepingDays: .infinity)
    try write(
      [
        (10, 0, 0, 0), (20, 1, 0, 0), (21, 2, 0, 0), (22, 3.5, 0, 0), (25, 3.5, 0, 1),  // up, then its floor
        (26, 3.5, 1, 1), (27, 3.5, 2, 1),  // down at once
        (60, 3.5, 4, 1),  // down again, later
      ], to: history)
    try write([(61, 0, 5, 0)], to: history, source: "another")
    let climbs = try history.climbs(from: day, to: day + hour)
    #expect(climbs.map(\.height) == [3.5, -2, -2, -5])
    #expect(climbs.map(\.floorsAscended) == [1, 0, 0, 0])
    #expect(climbs.map { ($0.startUTCNanoseconds - day) / second } == [20, 26, 60, 61])
    #expect(climbs.map { ($0.endUTCNanoseconds - day) / second } == [22, 27, 60, 61])
    let none = try history.climbs(from: day + hour, to: day + 2 * hour)
    #expect(none.isEmpty)
  }

  @Test func aSessionThatEndedHoldsUpNone() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path, keepingDays: .infinity)
    // The second begins with an earlier clock than the first ended with, as scenes do.
    for run in 0..<2 {
      let writer = try StepHistoryWriter(
        history: history, source: "sim:walk", anchor: anchor(utc: day + Int64(run) * hour))
      writer.add(steps: steps(10, from: 0), distance: nil)
      try writer.finish()
    }
    #expect(try count(history) == 20)
  }

  @Test func aFileThatIsNoHistoryIsAnErrorThatNamesIt() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let directory = (path as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data(repeating: 65, count: 4096).write(to: URL(fileURLWithPath: path))
    var named: String?
    do {
      _ = try StepHistory(path: path)
    } catch {
      if case .invalidFile(let path, _, _, _) = error { named = path }
    }
    #expect(named == path)
  }

  /// Another program's database is left as it is, to the byte; so are tables of ours without all the others.
  @Test(arguments: [
    "CREATE TABLE notes (x)", "CREATE VIEW v AS SELECT 1", "CREATE TABLE steps (x); PRAGMA user_version = 1",
    "CREATE TABLE notes (x); PRAGMA user_version = 7",
  ]) func anotherProgramsDatabaseIsRefused(sql: String) throws {
    let path = temporaryPath()
    defer { remove(path) }
    let directory = (path as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    do {
      let database = try SQLiteDatabase(path: path)
      try database.execute(sql)
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect {
      _ = try StepHistory(path: path)
    } throws: {
      "\($0)".contains("\(path): it is another program's database") && "\($0)".contains("name another file")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["history.sqlite"])
  }

  @Test func anEmptyFileBecomesAHistory() throws {
    let path = temporaryPath()
    defer { remove(path) }
    let directory = (path as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: path))
    // Two at once: one begins it, the other finds it begun.
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      #expect(throws: Never.self) { try StepHistory(path: path) }
    }
    #expect(try StepHistory(path: path).checkIntegrity() == "ok")
  }

  /// A writer is killed at any moment, 200 times over one file: nothing that it reported is missing, and the file
  /// stays sound.
  @Test func killedTwoHundredTimesLosesNothingThatWasWritten() throws {
    let program = try #require(TestProgram.built("HistoryWriter"))
    let path = temporaryPath()
    defer { remove(path) }
    let history = try StepHistory(path: path, keepingDays: .infinity)
    for round in 0..<200 {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: program)
      let start = day + Int64(round) * 24 * hour
      process.arguments = [path, "round \(round)", "\(start)"]
      process.standardOutput = output
      try process.run()
      // Killed after some lines, at an arbitrary point of the next write.
      var text = Data()
      let lines = 1 + round % 5
      while text.filter({ $0 == 10 }).count < lines {
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { break }
        text.append(more)
      }
      let instant = ContinuousClock.now + .microseconds(round * 37 % 400 * 5)
      while ContinuousClock.now < instant {}
      kill(process.processIdentifier, SIGKILL)
      text.append(output.fileHandleForReading.readDataToEndOfFile())
      process.waitUntilExit()
      let reported = String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }.last ?? 0
      #expect(reported > 0)
      let found = try history.pedometerTotals(from: start, to: start + 24 * hour).numberOfSteps
      #expect(found == reported || found == reported + 4, "round \(round): \(found) of \(reported)")
    }
    let integrity = try history.checkIntegrity()
    #expect(integrity == "ok")
  }
}
