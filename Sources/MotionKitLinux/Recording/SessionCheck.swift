import SensorFusion

/// What is wrong with a session: what `motionlog check` shows.
public struct SessionCheck: Sendable {
  /// What session.json says.
  public var info: SessionInfo
  /// Everything that was found in the files.
  public var report: ReadReport
  /// Good rows, by sensor.
  public var rows: [SensorKind: Int64] = [:]
  /// The comparison of the derived files with what the samples give; nil where it could not be made.
  public var verification: SessionVerification?
  /// Why the comparison could not be made; empty otherwise.
  public var verificationFault = ""

  /// Whether nothing is wrong.
  public var isSound: Bool { report.isEmpty && verification?.isIdentical == true }

  /// One line for a person for each thing that is wrong.
  public var problems: [String] {
    var lines = report.notes
    if let difference = verification?.difference {
      lines.append(
        "\(difference.path):\(difference.line): \(difference.column.isEmpty ? "row" : difference.column) is "
          + "'\(CSVText.shown(difference.recorded))', the samples give '\(CSVText.shown(difference.recomputed))'")
    }
    if !verificationFault.isEmpty { lines.append("the derived files were not compared: \(verificationFault)") }
    return lines
  }
}

/// Reads a session to its end and says everything that is wrong with it. Nothing is changed.
///
/// - Parameters:
///   - directory: The session's directory.
///   - progress: Called now and then with how far it is.
/// - Returns: Everything that was found.
/// - Throws: As `SessionReader`; rows that cannot be read are findings, not errors.
public func checkSession(
  _ directory: String, progress: (WorkProgress) -> Void = { _ in }
) throws(MotionKitError) -> SessionCheck {
  let reader = try SessionReader(directory: directory, sensors: nil, skipsBadRows: true)
  var rows: [SensorKind: Int64] = [:]
  while let sample = try reader.next() {
    let count = rows[sample.kind, default: 0] + 1
    rows[sample.kind] = count
    // Read twice: here and for the comparison.
    if count % WorkProgress.interval == 0 {
      progress(reader.progress + WorkProgress(done: 0, total: reader.progress.total))
    }
  }
  let size = reader.progress.total
  while reader.takeEvent(before: nil) != nil {}
  var check = SessionCheck(info: reader.info, report: reader.report)
  try check.report.addMissingDerivedRows(of: reader)
  check.rows = rows
  do throws(MotionKitError) {
    check.verification = try verifySession(directory) { progress($0 + WorkProgress(done: size, total: size)) }
  } catch { check.verificationFault = "\(error)" }
  return check
}

extension ReadReport {
  /// Adds what the derived files and events.csv lack of the rows that the closing summary tells. Of a recording that was cut nobody
  /// knows how many there were.
  fileprivate mutating func addMissingDerivedRows(of reader: SessionReader) throws(MotionKitError) {
    guard let told = reader.info.closing?.rows else { return }
    for file in SessionFile.derived + [.events] {
      guard let expected = told[file], expected > 0 else { continue }
      guard reader.files.has(file) else {
        add(.missingFile, file: file.fileName)
        continue
      }
      let lines = try reader.files.lines(file)
      var found: Int64 = 0
      // The first line holds the names.
      while let line = try lines.next() {
        if line.number > 1, !line.isDamaged, !line.isBlank { found += 1 }
      }
      if lines.isMediumDamaged {
        add(.damagedData, file: file.fileName, line: lines.lineNumber + 1, detail: lines.wordsOfDamage)
      }
      if found < expected {
        add(.fewerRows, file: file.fileName, detail: "\(found) of \(expected), the rest is lost")
      }
    }
  }
}

/// Makes a clean copy of a session: every good row that can be used, derived files computed anew, a closing summary. What
/// was left out is an event in the copy. The original is only read.
///
/// A sensor whose file is gone stays gone: the copy's session.json says so, and a check of the copy too.
///
/// - Parameters:
///   - directory: The session to repair.
///   - copy: The directory to make; must not exist or be empty.
/// - Returns: What was found in the original.
/// - Throws: As `SessionReader` and `SessionWriter`.
@discardableResult
public func repairSession(_ directory: String, to copy: String) throws(MotionKitError) -> ReadReport {
  let reader = try SessionReader(directory: directory, sensors: nil, skipsBadRows: true)
  var info = reader.info
  info.sensors = SensorKind.allCases.compactMap { kind in
    let known = info.sensor(kind)
    if reader.sensors.contains(kind) {
      return known ?? SensorDescription(kind: kind, name: kind.name, identity: "", rate: 0)
    }
    var gone = known
    gone?.capture = SensorDescription.fileIsGone
    return gone
  }
  info.origin = (info.origin.isEmpty ? "" : info.origin + "; ") + "repaired copy of \(directory)"
  var options = SessionWriter.Options()
  options.whenFull = .wait
  options.watchesClocks = false
  let writer = try SessionWriter(directory: copy, info: info, options: options)
  var pipeline = MotionPipeline(configuration: info.pipeline)
  var toSmooth = SampleBatch()
  var batch = ProcessedBatch()
  var usable = UsableRows()
  var row: [SensorSample] = []
  while true {
    batch.input.removeAll()
    row.removeAll(keepingCapacity: true)
    guard try reader.read(into: &row, atMost: 1024), let last = row.last else { break }
    for sample in row where usable.take(sample) { batch.input.samples.append(sample) }
    while let event = reader.takeEvent(before: last.time) { batch.input.events.append(event) }
    if info.isSmoothed {
      toSmooth.samples += batch.input.samples
      toSmooth.events += batch.input.events
      continue
    }
    batch.process(with: &pipeline)
    try writer.consume(batch)
  }
  var smoothed = SmoothedBatches(of: toSmooth, settings: info.pipeline)
  while smoothed.next(into: &batch) { try writer.consume(batch) }
  let report = reader.report
  batch.removeAll()
  while let event = reader.takeEvent(before: nil) { batch.input.events.append(event) }
  try writer.consume(batch)
  for note in report.notes(of: ReadReport.wordsOfCopies) { writer.mark(note, name: "repaired") }
  try writer.finish(
    ended: info.closing?.ended ?? "cut, repaired", counters: info.isSmoothed ? smoothed.counters : pipeline.counters)
  return report
}

/// Which rows a clean copy takes: those with finite values, and one of each sensor's rows of one instant.
private struct UsableRows {
  private var newest: [Timestamp?] = Array(repeating: nil, count: SensorKind.allCases.count)

  mutating func take(_ sample: SensorSample) -> Bool {
    let slot = Int(sample.kind.rawValue)
    guard sample.isFinite, newest[slot] != sample.time else { return false }
    newest[slot] = sample.time
    return true
  }
}

extension SensorDescription {
  /// What a repaired copy tells of a sensor whose file the original had lost.
  static let fileIsGone = "file is gone"
}
