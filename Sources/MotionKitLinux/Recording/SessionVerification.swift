import SensorFusion

/// The result of computing a session's derived files again and comparing them bit for bit.
public struct SessionVerification: Sendable {
  /// The first place where the files and the computation differ.
  public struct Difference: Hashable, Sendable {
    /// The file.
    public var path: String
    /// The line in it, 1-based.
    public var line: Int
    /// The name of the column; empty where a whole row is missing.
    public var column: String
    /// What the file says; empty where it has no such row.
    public var recorded: String
    /// What the pipeline gives; empty where it gives no such row.
    public var recomputed: String
  }

  /// The first difference; nil if what could be compared is identical.
  public var difference: Difference?
  /// Rows compared, by file.
  public var rows: [SessionFile: Int64] = [:]
  /// Why less than the whole session was compared, and what was tolerated.
  public var notes: [String] = []

  /// Whether every row compared is identical, bit for bit.
  public var isIdentical: Bool { difference == nil }
}

/// Computes the derived files of a session again, with the recorded settings, and compares them byte for byte.
///
/// A session that was cut is compared as far as its derived files go; one that lost samples, up to the loss.
/// - Parameters:
///   - directory: The session's directory.
///   - progress: Called now and then with how far it is.
/// - Returns: What was compared, and the first difference.
/// - Throws: As `SessionReader`; a session without derived files is `.unsupported`.
public func verifySession(
  _ directory: String, progress: (WorkProgress) -> Void = { _ in }
) throws(MotionKitError) -> SessionVerification {
  var verifier = try SessionVerifier(directory)
  return try verifier.run(progress)
}

private struct SessionVerifier {
  let directory: String
  let reader: SessionReader
  let isCut: Bool
  var result = SessionVerification()
  var files: [SessionFile: DerivedFile] = [:]
  let row = RowBuffer()

  init(_ directory: String) throws(MotionKitError) {
    self.directory = directory
    reader = try SessionReader(directory: directory)
    // A part ends where the next one goes on; a recording that was stopped by its disk has lost its last samples.
    let losesSamples = reader.info.closing.map { closing in SessionFile.raw.contains { closing.lost[$0] != nil } }
    isCut = losesSamples ?? true || reader.info.part != nil
    for file in SessionFile.derived where reader.files.has(file) {
      files[file] = try DerivedFile(file, lines: try reader.files.lines(file))
    }
    if files.isEmpty, reader.info.closing?.rows[.deviceMotion] == nil {
      result.notes.append("the session has no derived files: there was nothing to compare")
    }
  }

  mutating func run(_ progress: (WorkProgress) -> Void) throws(MotionKitError) -> SessionVerification {
    if let part = reader.info.part, part > 1 {
      for file in SessionFile.derived where result.difference == nil { try countRows(of: file) }
      result.notes.append(
        "what part \(part) holds was computed on from the part before: compare the whole recording, not a part")
      return try finished()
    }
    let loss = try firstLoss()
    if let loss { result.notes.append("samples were lost at \(loss.seconds) s: compared up to there") }
    var pipeline = MotionPipeline(configuration: reader.info.pipeline)
    let frame = reader.info.pipeline.filter.referenceFrame
    var count: Int64 = 0
    let isSmoothed = reader.info.isSmoothed
    var toSmooth: [SensorSample] = []
    while let sample = try reader.next() {
      count += 1
      if count % WorkProgress.interval == 0 { progress(reader.progress) }
      if let loss, sample.time >= loss { break }
      if isSmoothed { toSmooth.append(sample) }
      let outputs = pipeline.process(sample)
      if outputs.isEmpty { continue }
      if outputs.contains(.motion), !isSmoothed {
        let motion = pipeline.motion
        try compare(.deviceMotion, motion.time) { $0.append(row: motion, frame: frame) }
      }
      if outputs.contains(.steps) {
        for step in pipeline.newSteps { try compare(.steps, sample.time) { $0.append(row: step) } }
      }
      if outputs.contains(.altitude) {
        let altitude = pipeline.altitude
        try compare(.altitude, altitude.time) { $0.append(row: altitude) }
      }
      if outputs.contains(.activity) {
        let activity = pipeline.activity
        try compare(.activity, activity.time) { $0.append(row: activity) }
      }
      if result.difference != nil { return try finished() }
    }
    if isSmoothed {
      if isCut || loss != nil {
        // Every sample that is missing moves all of the smoothed motion.
        result.notes.append("the session is incomplete, so its smoothed motion was not compared")
        files[.deviceMotion]?.isAtEnd = true
      } else {
        for motion in MotionSmoother.motions(of: toSmooth, settings: reader.info.pipeline) {
          try compare(.deviceMotion, motion.time) { $0.append(row: motion, frame: frame) }
          if result.difference != nil { return try finished() }
        }
      }
    }
    if loss == nil { try checkNothingLeft() }
    return try finished()
  }

  /// When the recorder's buffer first ran over; nil if it never did.
  private func firstLoss() throws(MotionKitError) -> Timestamp? {
    guard reader.files.has(.events) else { return nil }
    let events = try EventFileReader(lines: try reader.files.lines(.events))
    while let event = try events.next() {
      if event.name == "overflow" { return event.time }
    }
    return nil
  }

  /// Compares one row, which came out with the sample of this time.
  private mutating func compare(
    _ file: SessionFile, _ time: Timestamp, _ format: (RowBuffer) -> Void
  ) throws(MotionKitError) {
    guard result.difference == nil, let derived = files[file] else {
      // A file is made with its first row: without the file there must be no row, unless the recording was cut.
      if result.difference == nil, !isCut, wroteDerivedFiles {
        result.difference = .init(
          path: directory + "/" + file.fileName, line: 0, column: "", recorded: "", recomputed: "a row")
      }
      return
    }
    if derived.isAtEnd { return }
    row.removeAll()
    format(row)
    guard let line = try derived.lines.next() else {
      derived.isAtEnd = true
      if derived.lines.tornBytes > 0 {
        result.notes.append("\(file.fileName): last line incomplete, not compared")
      }
      if !isCut, reader.info.closing?.lost[file] == nil {
        // A session that was closed has all of its rows.
        report(file, line: derived.lines.lineNumber + 1, recorded: "", time: time)
      } else if let told = reader.info.closing?.rows[file], told > result.rows[file] ?? 0 {
        // So has a part, as many as it says.
        result.difference = missingRow(file, line: derived.lines.lineNumber + 1)
      }
      return
    }
    let text = UnsafeRawBufferPointer(rebasing: row.bytes[..<(row.count - 1)])
    if line.count == text.count, text.elementsEqual(UnsafeBufferPointer(start: line.start, count: line.count)) {
      result.rows[file, default: 0] += 1
    } else if CSVText.cells(line.text) == CSVText.cells(String(decoding: text, as: UTF8.self)) {
      result.rows[file, default: 0] += 1
    } else {
      report(file, line: line.number, recorded: line.text, time: time)
    }
  }

  private func missingRow(_ file: SessionFile, line: Int) -> SessionVerification.Difference {
    let place = files[file]?.lines.place(ofLine: line)
    return SessionVerification.Difference(
      path: place?.path ?? directory + "/" + file.fileName, line: place?.line ?? line, column: "", recorded: "",
      recomputed: "a row, by session.json")
  }

  /// Of a part that cannot be computed alone: whether it has the rows that it was closed with.
  private mutating func countRows(of file: SessionFile) throws(MotionKitError) {
    guard let told = reader.info.closing?.rows[file], told > 0 else { return }
    var found: Int64 = 0
    while let line = try files[file]?.lines.next() {
      if !line.isDamaged, !line.isBlank { found += 1 }
    }
    if found < told { result.difference = missingRow(file, line: Int(found) + 2) }
  }

  /// Whether the recorder wrote derived files at all.
  private var wroteDerivedFiles: Bool { !files.isEmpty }

  private mutating func report(_ file: SessionFile, line: Int, recorded: String, time: Timestamp) {
    let recomputed = String(decoding: row.bytes.dropLast(), as: UTF8.self)
    let (old, new) = (CSVText.cells(recorded), CSVText.cells(recomputed))
    let place = files[file]?.lines.place(ofLine: line)
    var difference = SessionVerification.Difference(
      path: place?.path ?? directory + "/" + file.fileName, line: place?.line ?? line, column: "", recorded: recorded,
      recomputed: recomputed)
    if old.count == new.count, let index = old.indices.first(where: { old[$0] != new[$0] }) {
      difference.column = file.columns[index]
      difference.recorded = old[index]
      difference.recomputed = new[index]
    }
    // The files of a cut session end at different times: behind the earliest end some of the samples that the live
    // session computed with are missing.
    if isCut, let end = try? earliestEnd(), time > end {
      result.notes.append(
        "the session was cut: behind \(end.seconds) s samples are missing, so \(file.fileName) was compared up to there"
      )
      files[file]?.isAtEnd = true
      return
    }
    result.difference = difference
  }

  /// The earliest of the raw files' last times.
  private func earliestEnd() throws(MotionKitError) -> Timestamp? {
    let reader = try SessionReader(directory: directory)
    var last: [SensorKind: Timestamp] = [:]
    while let sample = try reader.next() { last[sample.kind] = sample.time }
    return last.values.min()
  }

  private mutating func checkNothingLeft() throws(MotionKitError) {
    for file in SessionFile.derived {
      guard result.difference == nil, let derived = files[file], !derived.isAtEnd, let line = try derived.lines.next()
      else { continue }
      if isCut {
        result.notes.append("\(file.fileName): rows from line \(line.number) on are behind the last sample")
      } else {
        result.difference = .init(
          path: directory + "/" + file.fileName, line: line.number, column: "", recorded: line.text, recomputed: "")
      }
    }
  }

  private mutating func finished() throws(MotionKitError) -> SessionVerification {
    result.notes = reader.report.notes + result.notes
    return result
  }
}

/// A derived file that is being compared.
private final class DerivedFile {
  let lines: LineReader
  var isAtEnd = false

  init(_ file: SessionFile, lines: LineReader) throws(MotionKitError) {
    self.lines = lines
    // Without a whole line there is no row either: found at the first one that is looked for.
    guard let header = try lines.next() else { return }
    // Another program may have put cells into quotes: they say the same (RFC 4180).
    guard CSVText.cells(header.text) == file.columns else {
      throw .unsupported(
        what: "comparing \(lines.path)",
        hint: "its columns are not those of this software; it was recorded by another version")
    }
  }
}
