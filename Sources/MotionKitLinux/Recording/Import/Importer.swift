import Glibc
import SensorFusion

/// Reads another program's log and writes it as a session.
///
/// Columns are found by their names and units, never by their position; where neither the header nor an option tells
/// a unit or a sign, the import stops and asks.
///
/// - Parameters:
///   - paths: Files, or a directory of files that belong together.
///   - directory: The session to make; must not exist or be empty.
///   - options: What the user knows about the log.
///   - pipeline: Settings of the pipeline that the derived files are made with; nil for the defaults.
///   - progress: Called now and then with how far it is.
/// - Returns: What was understood and what was noticed.
/// - Throws: `MotionKitError.invalidFile` or `.unsupported` with what has to be told; nothing is written then.
@discardableResult
public func importLog(
  _ paths: [String], to directory: String, options: ImportOptions = ImportOptions(),
  pipeline: MotionPipeline.Configuration? = nil, progress: (WorkProgress) -> Void = { _ in }
) throws(MotionKitError) -> ImportReport {
  if let rate = options.rate, !(0.001...1e6).contains(rate) {
    throw .unsupported(what: "importing \(rate) samples per second", hint: "give a rate from 0.001 to 1000000")
  }
  var importer = Importer(options: options)
  try importer.read(paths, progress)
  try importer.write(to: directory, pipeline: pipeline, progress)
  return importer.report
}

struct Importer {
  let options: ImportOptions
  var report = ImportReport()
  var samples: [SensorSample] = []
  private var anchors: [ClockAnchor] = []
  var duplicates: [ObjectIdentifier: Int64] = [:]
  var gravityGroup: Group?
  /// Bytes of the files.
  private var size: Int64 = 0
  /// What was said about a rate too low for steps.
  var slowNote = ""
  /// What the log cannot tell.
  var withheld: PipelineOutputs = []

  init(options: ImportOptions) { self.options = options }

  // MARK: Files

  mutating func read(_ paths: [String], _ progress: (WorkProgress) -> Void = { _ in }) throws(MotionKitError) {
    let files = try ImportFile.all(paths)
    let sizes = files.map(\.size)
    size = sizes.reduce(0, +)
    var metadata = ImportFormat.SensorLoggerMetadata()
    for file in files where ImportFormat.baseName(file.name) == "metadata" {
      if let layout = try ImportLayout(path: file.path) { metadata = .init(layout) }
    }
    var tables: [ImportTable] = []
    var reasons: [String] = []
    var done: Int64 = 0
    for (index, file) in files.enumerated()
    where !["metadata", "device", "time"].contains(ImportFormat.baseName(file.name)) {
      let table = try ImportTable(path: file.path, fileName: file.name, options: options, metadata: metadata)
      done += sizes[index]
      progress(WorkProgress(done: done, total: 2 * size))
      if let table, table.hasValues, !table.lines.isEmpty {
        tables.append(table)
      } else {
        let reason = Self.whyNothing(table)
        report.ignored.append("\(file.name): \(reason)")
        reasons.append(files.count == 1 ? reason : "\(file.name): \(reason)")
      }
    }
    guard !tables.isEmpty else {
      let shown = reasons.prefix(Self.mostReasons).joined(separator: "; ")
      throw .invalidFile(
        path: paths.first ?? "", line: 0, column: 0,
        reason: "there is no table with a motion sensor's columns in it (\(files.count) files looked at)"
          + (shown.isEmpty ? "" : ": " + shown))
    }
    try take(tables)
    for file in files where ImportFormat.baseName(file.name) == "time" { try readPhyphoxTimes(file.path) }
  }

  /// Files of which it is said why nothing was found in them.
  private static let mostReasons = 5

  private static func whyNothing(_ table: ImportTable?) -> String {
    guard let table else { return "it holds no rows of cells" }
    if table.hasValues { return table.isHeaderOnly ? "it has a header and no rows" : "no row of it can be used" }
    if table.hasNoHeader {
      return "it has no header; name its columns by their numbers, from 1 to \(table.columns.count) (--columns"
        + " time=1,accel.x=2,accel.y=3,accel.z=4)"
    }
    return "no motion sensor's columns"
  }

  /// phyphox's meta/time.csv: the UTC of the experiment's start.
  private mutating func readPhyphoxTimes(_ path: String) throws(MotionKitError) {
    guard let layout = try ImportLayout(path: path), layout.names.first == "event",
      let time = layout.names.firstIndex(of: "experiment time"), let utc = layout.names.firstIndex(of: "system time")
    else { return }
    for row in layout.preview where row.count == layout.names.count {
      // The file has the decimal comma of the others.
      func number(_ column: Int) -> Double? { Double(row[column].replacing(",", with: ".")) }
      if let seconds = number(time), let epoch = number(utc) {
        anchors.append(
          ClockAnchor(
            time: Timestamp(seconds: seconds), utcNanoseconds: Timestamp(seconds: epoch).nanoseconds))
      }
    }
  }

  // MARK: Sensors

  private static func groups(_ table: ImportTable) -> [Group] {
    var groups: [Group] = []
    for (index, column) in table.columns.enumerated() {
      guard case .value(let quantity, let axis, let isUncalibrated) = column.role else { continue }
      let isScalar = quantity == .pressure || quantity == .temperature
      let slot = groups.firstIndex {
        $0.quantity == quantity && $0.isUncalibrated == isUncalibrated && $0.axes[axis] == nil
      }
      if let slot {
        groups[slot].axes[axis] = index
      } else {
        var axes: [Int?] = Array(repeating: nil, count: isScalar ? 1 : 3)
        axes[axis] = index
        groups.append(Group(table: table, quantity: quantity, axes: axes, isUncalibrated: isUncalibrated))
      }
    }
    return groups
  }

  private mutating func take(_ tables: [ImportTable]) throws(MotionKitError) {
    var groups: [Group] = []
    for table in tables {
      if report.format.isEmpty { report.format = table.format.name }
      if !table.timeNote.isEmpty { report.warnings.append("\(table.fileName): \(table.timeNote)") }
      groups += Self.groups(table)
    }
    var problems: [String] = []
    var used: [ImportQuantity: Group] = [:]
    for quantity in ImportQuantity.allCases {
      let found = groups.filter { $0.quantity == quantity }.sorted { $0.rank < $1.rank }
      guard let best = found.first else { continue }
      if let rival = found.dropFirst().first(where: { $0.rank == best.rank }), rival.table !== best.table {
        throw .unsupported(
          what: "importing '\(best.table.fileName)' and '\(rival.table.fileName)' together",
          hint: "both hold the same sensor (\(quantity.rawValue)); import them one by one")
      }
      for other in found.dropFirst() { report.ignored.append("\(other.names): \(best.names) was taken") }
      if best.axes.contains(nil), !options.missingAxesAreZero {
        report.ignored.append("\(best.names): some of x, y, z are missing (take them as 0 with --missing-axes zero)")
        continue
      }
      used[quantity] = best
    }
    let times = try timed(tables)
    try checkTimeBases(Set(used.values.map { ObjectIdentifier($0.table) }), tables, times)
    for table in tables { report.readReport.add(table.report) }
    if used[.acceleration] == nil { try sumOrTakeLinear(&used) }
    for (quantity, kind) in [
      (ImportQuantity.acceleration, SensorKind.accelerometer), (.rotation, .gyroscope), (.field, .magnetometer),
      (.pressure, .barometer),
    ] {
      guard let group = used[quantity], let stamps = times[ObjectIdentifier(group.table)] else { continue }
      try add(group, kind, stamps, temperature: used[.temperature], &problems)
    }
    guard problems.isEmpty else { throw ask(problems, tables) }
    guard !samples.isEmpty else {
      throw .invalidFile(
        path: tables[0].path, line: 0, column: 0,
        reason: "no sensor can be imported from it: \(report.ignored.joined(separator: "; "))")
    }
    // Stable: samples of one sensor and instant keep their order.
    samples.sort { ($0.time, $0.kind) < ($1.time, $1.kind) }
    report.events.sort { $0.time < $1.time }
    listIgnored(tables, used)
  }

  private func ask(_ problems: [String], _ tables: [ImportTable]) -> MotionKitError {
    .invalidFile(path: tables[0].path, line: 1, column: 1, reason: problems.joined(separator: "; "))
  }

  /// A log without a total acceleration: gravity and the rest are added where it has both; else what it has is taken
  /// and said.
  private mutating func sumOrTakeLinear(_ used: inout [ImportQuantity: Group]) throws(MotionKitError) {
    guard var linear = used[.linearAcceleration] else { return }
    if let gravity = used[.gravity], gravity.table.times == linear.table.times,
      gravity.axes.allSatisfy({ $0 != nil }), linear.axes.allSatisfy({ $0 != nil })
    {
      linear.quantity = .acceleration
      used[.acceleration] = linear
      gravityGroup = gravity
      return
    }
    linear.quantity = .linearAcceleration
    used[.acceleration] = linear
    withheld.insert(.motion)
    report.warnings.append(
      "\(linear.names) is acceleration without gravity: attitude cannot be computed from it and is left out, steps can")
  }

  // MARK: Times

  /// Files that count from different beginnings, one from its start and one from 1970, are no session.
  private func checkTimeBases(
    _ used: Set<ObjectIdentifier>, _ tables: [ImportTable], _ times: [ObjectIdentifier: [Timestamp]]
  ) throws(MotionKitError) {
    var earlier: (table: ImportTable, first: Timestamp)?
    for table in tables where used.contains(ObjectIdentifier(table)) {
      guard let first = times[ObjectIdentifier(table)]?.first else { continue }
      if let earlier, abs(first.seconds(since: earlier.first)) * 1e9 > Double(ImportTimes.longestPause) {
        throw .unsupported(
          what: "importing '\(earlier.table.fileName)' and '\(table.fileName)' together",
          hint:
            "their times have different beginnings (\(earlier.first.seconds) s and \(first.seconds) s); import them one by one"
        )
      }
      if earlier == nil { earlier = (table, first) }
    }
  }

  private mutating func timed(_ tables: [ImportTable]) throws(MotionKitError) -> [ObjectIdentifier: [Timestamp]] {
    var result: [ObjectIdentifier: [Timestamp]] = [:]
    for table in tables {
      let stamps = try times(of: table).map { Timestamp(nanoseconds: $0) }
      result[ObjectIdentifier(table)] = stamps
      for note in table.notes where stamps.indices.contains(note.row) {
        report.events.append(SourceEvent(time: stamps[note.row], name: "note", detail: note.text))
      }
      noteWallClock(table, stamps)
    }
    return result
  }

  private mutating func times(of table: ImportTable) throws(MotionKitError) -> [Int64] {
    guard table.timeColumn != nil, !(options.ratesReplaceTimes && options.rate != nil) else {
      guard let rate = options.rate, rate > 0 else {
        throw .invalidFile(
          path: table.path, line: 1, column: 1, reason: "it has no time column; give the samples per second (--rate)")
      }
      let first = table.times.first ?? 0
      let count = table.lines.count
      let base = table.rowNumbers.count == count ? table.rowNumbers : (0..<Int64(count)).map { $0 }
      return base.map { first + Int64((Double($0 - base[0]) / rate * 1e9).rounded()) }
    }
    let name = table.timeColumn.map { table.columns[$0].name } ?? ""
    if table.times.count > 1, table.times.allSatisfy({ $0 == table.times[0] }) {
      throw .invalidFile(
        path: table.path, line: table.lines[0], column: 1,
        reason: "no usable time resolution: column '\(name)' is \(table.timePreview.first ?? "") in every row; give the"
          + " samples per second (--rate with --assume-rate)")
    }
    try putInOrder(table, name)
    // Whole numbers below 2^32 may be a counter that rolls over.
    let isCounter = table.timePreview.allSatisfy { $0.utf8.allSatisfy { (48...57).contains($0) } }
    let unit = isCounter ? table.timeStep : nil
    let fixed = ImportTimes(table.times, counterUnit: unit)
    for jump in fixed.discontinuities {
      let step = Double(jump.step) / 1e9
      report.discontinuities.append(.init(file: table.fileName, line: table.lines[jump.row], step: step))
      report.events.append(
        SourceEvent(
          time: Timestamp(nanoseconds: fixed.times[jump.row]), name: "time_jump",
          detail: "\(table.fileName) line \(table.lines[jump.row]): \(step) s from the row before; closed"))
    }
    if fixed.duplicates > 0 {
      report.warnings.append(
        "\(table.fileName): \(fixed.duplicates) rows have the time of the row before; each run was spread evenly over the"
          + " time before it")
    }
    if fixed.rollovers > 0 {
      report.warnings.append(
        "\(table.fileName): the 32-bit time counter started again \(fixed.rollovers) times; counted on")
    }
    duplicates[ObjectIdentifier(table)] = fixed.duplicates
    try checkRate(table, fixed.times)
    return fixed.times
  }

  /// Rows that do not stand in the order of their times: turned round or sorted, and said once.
  private mutating func putInOrder(_ table: ImportTable, _ column: String) throws(MotionKitError) {
    table.dropRowsAhead()
    let times = table.times
    switch ImportOrder(times) {
    case .asTimes: return
    case .reversed:
      // Turned round first, so that rows of one time are as well.
      table.reorder(Array(times.indices.reversed()))
      table.reorder(ImportOrder.sorted(table.times))
      report.warnings.append("\(table.fileName): the rows stand in reverse order: turned round")
    case .disordered:
      var newest = times[0]
      var late: [Int64] = []
      for time in times {
        if time < newest { late.append(newest &- time) }
        newest = max(newest, time)
      }
      let most = Double(late.max() ?? 0) / 1e9
      table.reorder(ImportOrder.sorted(times))
      report.warnings.append(
        "\(table.fileName): \(late.count) of \(times.count) rows stood behind later ones, by up to \(most) s: sorted by"
          + " their times")
    case .none:
      let back = zip(times, times.dropFirst()).count { $1 < $0 }
      let row = zip(times, times.dropFirst()).enumerated().first { $1.1 < $1.0 }?.offset ?? 0
      throw .invalidFile(
        path: table.path, line: table.lines[row + 1], column: 1,
        reason:
          "column '\(column)' is no time: \(back) of \(times.count) rows lie before the row above them, and sorted"
          + " they make no even steps; name another column (--columns time=NAME), or give the samples per second (--rate with"
          + " --assume-rate)")
    }
  }

  /// The times in the log win over the rate that the user gives; both are told where they disagree.
  private mutating func checkRate(_ table: ImportTable, _ times: [Int64]) throws(MotionKitError) {
    guard let declared = options.rate else { return }
    var timing = StreamStatistics()
    for time in times { timing.add(Timestamp(nanoseconds: time)) }
    guard timing.rate > 0, abs(timing.rate / declared - 1) > 0.05 else { return }
    report.warnings.append(
      "\(table.fileName): the times give \(oneDecimal(timing.rate)) Hz, the rate given is \(oneDecimal(declared)) Hz; the times"
        + " were used (--assume-rate uses the rate)")
  }

  /// Steps of a wall clock that runs beside the time become events.
  private mutating func noteWallClock(_ table: ImportTable, _ stamps: [Timestamp]) {
    guard table.wallTimes.count == stamps.count, let first = stamps.first else { return }
    var offset = table.wallTimes[0] &- first.nanoseconds
    anchors.append(ClockAnchor(time: first, utcNanoseconds: table.wallTimes[0]))
    for (row, time) in stamps.enumerated() {
      let step = table.wallTimes[row] &- time.nanoseconds &- offset
      guard step.magnitude > 50_000_000 else { continue }
      offset &+= step
      anchors.append(ClockAnchor(time: time, utcNanoseconds: table.wallTimes[row]))
      report.events.append(
        SourceEvent(
          time: time, name: "clock_step",
          detail: "the wall clock moved by \(step > 0 ? "+" : "")\(Double(step) / 1e9) s against the samples' clock"))
    }
  }

  private mutating func listIgnored(_ tables: [ImportTable], _ used: [ImportQuantity: Group]) {
    for table in tables {
      let names = table.columns.filter { $0.role == .unknown }.map(\.name)
      if !names.isEmpty { report.ignored.append("\(table.fileName): columns \(names.joined(separator: ", "))") }
      // A sensor that is left out for its columns' names is not left out in silence.
      let missed = table.columns.filter { column in column.resemblance.map { used[$0] == nil } ?? false }
      if let first = missed.first, let quantity = first.resemblance {
        report.warnings.append(
          "\(table.fileName): columns \(missed.map(\.name).joined(separator: ", ")) are not understood and left out; if they"
            + " are a sensor's, name them (--columns \(quantity.rawValue).x=\(first.name),…)")
      }
    }
  }

  // MARK: Writing

  func write(
    to directory: String, pipeline settings: MotionPipeline.Configuration?,
    _ progress: (WorkProgress) -> Void = { _ in }
  ) throws(MotionKitError) {
    var configuration = settings ?? MotionPipeline.Configuration()
    configuration.withheld.formUnion(withheld)
    if settings == nil { configuration.filter.hasGyroscope = report.sensor(.gyroscope) != nil }
    let sensors = report.sensors.map { sensor in
      var description = SensorDescription(
        kind: sensor.kind, name: sensor.kind.name, identity: sensor.columns, rate: sensor.timing.rate)
      description.capture = "imported"
      return description
    }
    var info = SessionInfo(
      source: SourceDescription(
        uri: "import:" + report.format, sensors: sensors, notes: report.warnings + report.readReport.notes,
        isLive: false, anchors: anchors),
      pipeline: configuration)
    info.labels = options.labels
    info.origin = "imported from " + (report.format.isEmpty ? "a table" : report.format)
    var writing = SessionWriter.Options()
    writing.whenFull = .wait
    let writer = try SessionWriter(directory: directory, info: info, options: writing)
    var pipeline = MotionPipeline(configuration: configuration)
    var batch = ProcessedBatch()
    batch.input.events = report.events
    for start in stride(from: 0, to: samples.count, by: 1024) {
      batch.input.samples = Array(samples[start..<min(start + 1024, samples.count)])
      batch.process(with: &pipeline)
      try writer.consume(batch)
      batch.input.removeAll()
      let share = Double(start) / Double(samples.count)
      progress(WorkProgress(done: size + Int64(share * Double(size)), total: 2 * size))
    }
    try writer.finish(counters: pipeline.counters)
  }
}
