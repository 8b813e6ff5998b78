import SensorFusion
import Testing

@testable import MotionKitLinux

/// A session of one accelerometer file.
private func session(_ text: String, file: SessionFile = .accelerometer) -> TemporaryDirectory {
  let directory = TemporaryDirectory()
  writeFile(directory.file(file.fileName), text)
  return directory
}

private let header = "timestamp_s,x_m_s2,y_m_s2,z_m_s2\n"

private func report(_ directory: TemporaryDirectory) throws -> (samples: [SensorSample], report: ReadReport) {
  let reader = try SessionReader(directory: directory.path)
  var samples: [SensorSample] = []
  while let sample = try reader.next() { samples.append(sample) }
  return (samples, reader.report)
}

@Suite struct ReadingToleranceTests {
  @Test func aTornLastLineIsDroppedEvenIfItReads() throws {
    let (samples, report) = try report(session(header + "1.0,1,2,3\n2.0,1,2,9.8066"))
    #expect(samples.count == 1)
    #expect(report.count(.tornLastLine) == 1)
    #expect(report.notes.contains { $0.contains("last line incomplete") && $0.contains("line 3") })
  }

  @Test func marksCRLFAndBlankLinesAreTolerated() throws {
    let (samples, report) = try report(
      session("\u{FEFF}" + (header + "1.0,1,2,3\n\n2.0,4,5,6\n\n").replacing("\n", with: "\r\n")))
    #expect(samples.map(\.z) == [3, 6])
    #expect(report.count(.byteOrderMark) == 1 && report.count(.crlf) == 5 && report.count(.blankRow) == 2)
  }

  @Test func runsOfNULAreDroppedAndCounted() throws {
    let nul = String(repeating: "\0", count: 700_000)
    let (samples, report) = try report(
      session(header + "1.0,1,2,3\n" + nul + "2.0,1,2,3\n3.0,1,2,3\n4.0,1\0,2,3\n" + nul))
    #expect(samples.map(\.time.seconds) == [1, 3])
    #expect(report.count(.damagedLine) == 2 && report.count(.tornLastLine) == 1)
  }

  @Test func blanksAndNaNAreCounted() throws {
    let (samples, report) = try report(
      session(header + "1.0,,,\n2.0,1,,3\n3.0,nan,2,3\n,1,2,3\n5.0,1,2,3\n"))
    #expect(samples.count == 2 && samples[0].x.isNaN && samples[1].time.seconds == 5)
    #expect(report.count(.blankRow) == 2 && report.count(.blankCell) == 1 && report.count(.nonFinite) == 1)
  }

  @Test func extraAndReorderedColumnsAreFoundByName() throws {
    let (samples, report) = try report(
      session("note,z_m_s2,timestamp_s,x_m_s2,y_m_s2\n\"a,b\",3,1.0,1,2\nplain,6,2.0,4,5\n"))
    #expect(samples.map(\.x) == [1, 4] && samples.map(\.y) == [2, 5] && samples.map(\.z) == [3, 6])
    #expect(report.count(.unknownColumn) == 1)
  }

  @Test func rowsOfAWrongWidthAreSkippedAndCounted() throws {
    let (samples, report) = try report(session(header + "1.0,1,2,3\n2.0,1\n3.0,1,2,3,4\n4.0,1,2,3\n"))
    #expect(samples.map(\.time.seconds) == [1, 4])
    #expect(report.count(.wrongWidth) == 2)
    #expect(report.entries.first { $0.finding == .wrongWidth }?.firstLine == 3)
  }

  @Test func aFileWithoutAnyFittingRowIsAnError() {
    for (rows, text) in [("1.0\n2.0\n", "found 1"), ("1,0,1,0,2,0,3,0\n", "decimal comma")] {
      #expect {
        _ = try report(session(header + rows))
      } throws: { error in
        guard case .invalidFile(_, 2, _, let reason) = error as? MotionKitError else { return false }
        return reason.contains(text) && reason.contains("expected 4")
      }
    }
  }

  @Test func aBadNumberIsAnErrorWithFileLineAndColumnAfterTheRowsBefore() throws {
    let directory = session(header + "1.0,1,2,3\n2.0,1,oops,3\n3.0,1,2,3\n")
    let source = try RecordingSource(directory: directory.path, pacing: .unpaced)
    _ = try source.start(SensorRequest(rates: [:]))
    var batch = SampleBatch()
    #expect(try source.read(into: &batch, timeout: 0) == .data)
    #expect(batch.samples.count == 1)
    #expect {
      _ = try source.read(into: &batch, timeout: 0)
    } throws: { error in
      guard case .invalidFile(let path, 3, 7, let reason) = error as? MotionKitError else { return false }
      return path.hasSuffix("accelerometer.csv") && reason.contains("'oops'") && reason.contains("y_m_s2")
    }
    #expect(try source.read(into: &batch, timeout: 0) == .end)
  }

  @Test func backwardRowsAreDroppedDuplicatesKept() throws {
    let (samples, report) = try report(
      session(header + "1.0,1,2,3\n2.0,1,2,3\n1.5,1,2,3\n2.0,7,2,3\n3.0,1,2,3\n"))
    #expect(samples.map(\.time.seconds) == [1, 2, 2, 3])
    #expect(report.count(.backward) == 1 && report.count(.duplicate) == 1)
  }

  @Test(arguments: [
    // One time far ahead: at the beginning, in the middle, twice, and between rows of another form.
    ("9,1,2,3,4,5", [1, 2, 3, 4, 5]), ("1,2,900,3,4,5", [1, 2, 3, 4, 5]), ("1,90,2,3,80,4,5", [1, 2, 3, 4, 5]),
    ("1,+2,900,+3,4", [1, 2, 3, 4]), ("1,2,900,3,3,4", [1, 2, 3, 3, 4]), ("1,2,900,+3,+3.5,901", [1, 2, 3, 3.5, 901]),
    // Ahead of the last two rows.
    ("1,2,3,9,4,5", [1, 2, 3, 4, 5]),
  ]) func oneTimeFarAheadCostsOneRow(times: String, expected: [Double]) throws {
    let rows = times.split(separator: ",").map { "\($0).000000000,1,2,3\n" }
      .map { $0.replacing(".5.000000000", with: ".500000000") }
    let (samples, report) = try report(session(header + rows.joined()))
    #expect(samples.map(\.time.seconds) == expected)
    #expect(report.count(.ahead) == Int64(rows.count - expected.count) && report.count(.backward) == 0)
  }

  @Test(arguments: [
    ("1,2,1.5,3,4", [1, 2, 3, 4]), ("1,2,3,2,2.5,3.5", [1, 2, 3, 3.5]), ("5,6,1,2,3,7", [5, 6, 7]),
    // Nothing tells which of the two is wrong: the one that came later.
    ("1,9,2", [1, 9]), ("2,1", [2]),
  ]) func rowsThatAreOlderAreDropped(times: String, expected: [Double]) throws {
    let rows = times.split(separator: ",").map { "\($0),1,2,3\n" }
    let (samples, report) = try report(session(header + rows.joined()))
    #expect(samples.map(\.time.seconds) == expected)
    #expect(report.count(.backward) == Int64(rows.count - expected.count) && report.count(.ahead) == 0)
  }

  @Test func quotedCellsAreReadWhereverTheyStand() throws {
    let rows = "\"1.5\",1,2,3\n2.5,1,2,\"3\"\n\"3.5\",\"1\",\"2\",\"3\"\r\n4.5,1,2, \"3\" \n5.5,1,2,3\n"
    let (samples, report) = try report(session(header + rows))
    #expect(samples.map(\.time.seconds) == [1.5, 2.5, 3.5, 4.5, 5.5] && samples.allSatisfy { $0.z == 3 })
    #expect(report.entries.map(\.finding).filter { $0 != .missingInfo } == [.crlf])
  }

  @Test func aMissingHeaderColumnIsAnErrorThatNamesIt() {
    #expect {
      _ = try report(session("timestamp_s,x,y,z\n1.0,1,2,3\n"))
    } throws: { error in
      guard case .invalidFile(_, 1, _, let reason) = error as? MotionKitError else { return false }
      return reason.contains("'x_m_s2'")
    }
  }

  @Test func missingFilesAndSummariesAreTold() throws {
    let directory = TemporaryDirectory()
    do {
      let writer = try SessionWriter.manual(directory.file("s"), info: testInfo([.accelerometer, .gyroscope]))
      try writer.consume(batch([sample(1, .accelerometer, 1)]))
      writer.drain()
      // Not finished: as after a crash.
    }
    TemporaryDirectory.remove(directory.file("s/gyroscope.csv"))
    let reader = try SessionReader(directory: directory.file("s"))
    #expect(reader.info.closing == nil)
    #expect(reader.report.count(.missingClosing) == 1 && reader.report.count(.missingFile) == 1)
    TemporaryDirectory.remove(directory.file("s/session.json"))
    #expect(try SessionReader(directory: directory.file("s")).report.count(.missingInfo) == 1)
    writeFile(directory.file("s/session.json"), "{")
    #expect(try SessionReader(directory: directory.file("s")).report.count(.badInfo) == 1)
  }

  @Test func whatIsNoSessionIsNotFound() {
    let directory = TemporaryDirectory()
    for path in [directory.path, directory.file("none")] {
      #expect {
        _ = try SessionReader(directory: path)
      } throws: { error in
        guard case .notFound = error as? MotionKitError else { return false }
        return true
      }
    }
  }

  @Test func linesReadTheSameWithBuffersOfAnySize() throws {
    let text = "ab\n\ncdefgh\r\n\u{FEFF}x\nlast"
    for capacity in 16...40 {
      let reader = LineReader(path: "t", source: MemoryBytes(Array(text.utf8)), capacity: capacity)
      var lines: [String] = []
      while let line = try reader.next() { lines.append(line.text) }
      #expect(lines == ["ab", "", "cdefgh", "\u{FEFF}x"])
      #expect(reader.tornBytes == 4 && reader.crlfLines == 1)
    }
  }
}
