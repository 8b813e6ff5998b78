import SensorFusion

/// How a session becomes one table.
public struct ExportOptions: Hashable, Sendable {
  /// Where a row lies between two samples.
  public enum Method: String, Hashable, Sendable, CaseIterable {
    /// The sample before.
    case hold
    /// The nearer sample.
    case nearest
    /// In between: numbers linearly, attitudes along the shortest turn.
    case linear
  }

  /// The text of the rows.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    /// A header and a row a line.
    case csv
    /// A JSON object a line.
    case json
  }

  /// Rows per second.
  public var rate = 100.0
  /// How values between samples are made.
  public var method = Method.linear
  /// The text.
  public var format = Format.csv

  /// 100 rows per second of CSV, linear.
  public init() {}
}

/// Writes a session as one table at a fixed rate: time since the first sample, raw values, attitude, gravity, user
/// acceleration, rotation rate, heading and altitude, in the units and signs of the session's own files. A cell is
/// blank (`null`) outside the samples of its sensor and in gaps: nothing is made up over a gap. Rows that would all be
/// blank for an hour or more are left out; the others keep the times that they have.
///
/// Derived values are computed anew from the samples with the recorded settings. The samples are held in memory.
/// - Parameters:
///   - directory: The session's directory.
///   - options: Rate, method and text.
///   - progress: Called now and then with how far it is.
///   - tolerated: Called once, before the first row, with what was tolerated in the session's files.
///   - write: Takes the text, piece by piece.
/// - Returns: The number of rows.
/// - Throws: As `SessionReader`, and what `write` throws.
@discardableResult
public func exportSession(
  _ directory: String, options: ExportOptions = ExportOptions(), progress: (WorkProgress) -> Void = { _ in },
  tolerated: (ReadReport) -> Void = { _ in }, write: (UnsafeRawBufferPointer) throws -> Void
) throws -> Int64 {
  guard (0.001...1e6).contains(options.rate) else {
    throw MotionKitError.unsupported(
      what: "exporting \(options.rate) rows per second", hint: "give a rate from 0.001 to 1000000")
  }
  let export = try SessionExport(directory: directory, options: options, progress)
  tolerated(export.report)
  return try export.run(progress, write)
}

private struct SessionExport {
  /// A stream of rows with the same columns.
  struct Series {
    var columns: [String]
    /// Whether the numbers are 32-bit ones, as sensors give them.
    var isSingle = false
    /// Where four numbers are a quaternion, scalar first.
    var quaternion: Int?
    /// Which numbers are angles, radians.
    var angles: Set<Int> = []
    var times: [Int64] = []
    var values: [Double] = []
    /// The row at or before the current instant.
    var position = 0
    /// An interval longer than this is a gap, nanoseconds.
    var longest: Int64 = 0

    mutating func append(_ time: Timestamp, _ numbers: [Double]) {
      times.append(time.nanoseconds)
      values += numbers
    }

    mutating func settle() {
      let steps = zip(times, times.dropFirst()).map { $1 - $0 }.filter { $0 > 0 }.sorted()
      let median = steps.isEmpty ? 0 : steps[steps.count / 2]
      longest = Int64(Double(median) * StreamStatistics.gapFactor)
    }

    /// The time of the next row behind an instant that was looked at; nil behind the last.
    func time(after instant: Int64) -> Int64? {
      if let time = times.first, position == 0, time > instant { return time }
      return position + 1 < times.count ? times[position + 1] : nil
    }

    func row(_ index: Int) -> ArraySlice<Double> {
      values[(index * columns.count)..<((index + 1) * columns.count)]
    }
  }

  let options: ExportOptions
  var series: [Series] = []
  var first: Int64?
  var last: Int64 = 0

  /// Bytes of the raw files.
  var size: Int64 = 0
  /// What was tolerated in the files.
  var report = ReadReport()

  init(directory: String, options: ExportOptions, _ progress: (WorkProgress) -> Void) throws(MotionKitError) {
    self.options = options
    let reader = try SessionReader(directory: directory)
    let frame = reader.info.pipeline.filter.referenceFrame
    var slots: [SensorKind: Int] = [:]
    for kind in reader.sensors where kind != .stepCounter {
      slots[kind] = series.count
      let names = SessionFile(kind).columns.dropFirst()
      series.append(Series(columns: names.map { kind == .barometer ? $0 : "\(kind.name)_\($0)" }, isSingle: true))
    }
    // The columns of device_motion.csv up to the heading.
    let motionColumns = Array(SessionFile.deviceMotion.columns[1...20])
    let motion = series.count
    series.append(Series(columns: motionColumns, quaternion: 0, angles: [4, 5, 6, 19]))
    let altitude = series.count
    series.append(Series(columns: ["relative_altitude_m", "vertical_speed_m_s"]))
    var settings = reader.info.pipeline
    settings.motionRate = 0
    var pipeline = MotionPipeline(configuration: settings)
    size = reader.progress.total
    // Worked through twice: read, and written.
    var count: Int64 = 0
    var toSmooth: [SensorSample] = []
    while let sample = try reader.next() {
      count += 1
      if count % WorkProgress.interval == 0 { progress(reader.progress + WorkProgress(done: 0, total: size)) }
      first = first ?? sample.time.nanoseconds
      last = sample.time.nanoseconds
      if let slot = slots[sample.kind] {
        let numbers = [sample.x, sample.y, sample.z].prefix(series[slot].columns.count).map { Double($0) }
        series[slot].append(sample.time, numbers)
      }
      let outputs = pipeline.process(sample)
      if reader.info.isSmoothed {
        toSmooth.append(sample)
      } else if outputs.contains(.motion) {
        let state = DeviceMotion(pipeline.motion, frame: frame)
        series[motion].append(state.time, Self.numbers(state))
      }
      if outputs.contains(.altitude) {
        let state = pipeline.altitude
        series[altitude].append(state.time, [state.relativeAltitude, state.verticalSpeed])
      }
    }
    for motionState in MotionSmoother.motions(of: toSmooth, settings: reader.info.pipeline) {
      let state = DeviceMotion(motionState, frame: frame)
      series[motion].append(state.time, Self.numbers(state))
    }
    for index in series.indices { series[index].settle() }
    series.removeAll { $0.times.isEmpty }
    report = reader.report
  }

  private static func numbers(_ motion: DeviceMotion) -> [Double] {
    let q = motion.attitude.quaternion
    var numbers = [q.w, q.x, q.y, q.z, motion.attitude.pitch, motion.attitude.roll, motion.attitude.yaw]
    for v in [motion.gravity, motion.userAcceleration, motion.rotationRate, motion.magneticField] {
      numbers += [v.x, v.y, v.z]
    }
    numbers.append(motion.heading >= 0 ? motion.heading * (.pi / 180) : .nan)
    return numbers
  }

  func run(
    _ progress: (WorkProgress) -> Void, _ write: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Int64 {
    var series = series
    let names = ["time_s"] + series.flatMap(\.columns)
    let areSingle = series.flatMap { series in series.columns.map { _ in series.isSingle } }
    let buffer = RowBuffer(capacity: 1 << 17)
    if options.format == .csv {
      for byte in names.joined(separator: ",").utf8 { buffer.append(byte: byte) }
      buffer.newline()
    }
    var count: Int64 = 0
    if let first {
      var instant: Int64 = 0
      while true {
        // Each instant from the start, so that no error adds up.
        let elapsed = Int64((Double(instant) / options.rate * 1e9).rounded())
        guard elapsed <= last - first else { break }
        var cells: [Double] = []
        for index in series.indices { cells += values(&series[index], at: first + elapsed) }
        instant += 1
        if !cells.contains(where: \.isFinite),
          let next = series.compactMap({ $0.time(after: first + elapsed) }).min(),
          next - first - elapsed > Self.longestBlank
        {
          instant = max(instant, Int64((Double(next - first) / 1e9 * options.rate).rounded(.down)))
          continue
        }
        append(elapsed, cells, names, areSingle, to: buffer)
        count += 1
        if count % WorkProgress.interval == 0 {
          let share = Double(elapsed) / Double(max(1, last - first))
          progress(WorkProgress(done: size + Int64(share * Double(size)), total: 2 * size))
        }
        if buffer.count > 1 << 16 {
          try write(buffer.bytes)
          buffer.removeAll()
        }
      }
    }
    try write(buffer.bytes)
    return count
  }

  /// The longest stretch of rows without a value that is written, nanoseconds: an hour.
  private static let longestBlank: Int64 = 3_600_000_000_000

  private func append(_ elapsed: Int64, _ cells: [Double], _ names: [String], _ areSingle: [Bool], to buffer: RowBuffer)
  {
    func text(_ text: String) { for byte in text.utf8 { buffer.append(byte: byte) } }
    let isJSON = options.format == .json
    if isJSON { text("{\"time_s\":") }
    buffer.append(nanoseconds: elapsed)
    for (index, value) in cells.enumerated() {
      text(isJSON ? ",\"\(names[index + 1])\":" : ",")
      if !value.isFinite {
        if isJSON { text("null") }
      } else if areSingle[index] {
        buffer.append(Float(value))
      } else {
        buffer.append(value)
      }
    }
    if isJSON { text("}") }
    buffer.newline()
  }

  /// The values of a stream at an instant; NaN before it begins, after it ends and in gaps.
  private func values(_ series: inout Series, at time: Int64) -> [Double] {
    while series.position + 1 < series.times.count, series.times[series.position + 1] <= time { series.position += 1 }
    let index = series.position
    let none = [Double](repeating: .nan, count: series.columns.count)
    let before = series.times[index]
    guard time >= before else { return none }
    if time == before { return Array(series.row(index)) }
    guard index + 1 < series.times.count else { return none }
    let after = series.times[index + 1]
    guard after - before <= series.longest else { return none }
    switch options.method {
    case .hold: return Array(series.row(index))
    case .nearest: return Array(series.row(time - before <= after - time ? index : index + 1))
    case .linear: return between(series, index, share: Double(time - before) / Double(after - before))
    }
  }

  private func between(_ series: Series, _ index: Int, share: Double) -> [Double] {
    let (a, b) = (Array(series.row(index)), Array(series.row(index + 1)))
    var result = zip(a, b).map { $0 + ($1 - $0) * share }
    for angle in series.angles {
      // The short way round.
      let step = (b[angle] - a[angle]).remainder(dividingBy: 2 * .pi)
      var value = a[angle] + step * share
      let isHeading = series.columns[angle] == "heading_rad"
      if isHeading, value < 0 { value += 2 * .pi }
      if isHeading ? value >= 2 * .pi : value > .pi { value -= 2 * .pi }
      if !isHeading, value <= -.pi { value += 2 * .pi }
      result[angle] = value
    }
    guard let start = series.quaternion else { return result }
    func quaternion(_ v: [Double]) -> Quaternion {
      Quaternion(w: v[start], x: v[start + 1], y: v[start + 2], z: v[start + 3])
    }
    let q = slerp(quaternion(a), quaternion(b), share)
    result.replaceSubrange(start..<(start + 4), with: [q.w, q.x, q.y, q.z])
    // The angles of the attitude in between, so that both always agree.
    let attitude = Attitude(quaternion: q)
    for (name, value) in [
      ("pitch_rad", attitude.pitch), ("roll_rad", attitude.roll), ("yaw_rad", attitude.yaw),
    ] {
      if let column = series.columns.firstIndex(of: name) { result[column] = value }
    }
    return result
  }
}

/// The rotation at a share of the shortest turn from `a` to `b` (K. Shoemake, SIGGRAPH 1985).
func slerp(_ a: Quaternion, _ b: Quaternion, _ share: Double) -> Quaternion {
  var cosine = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
  // q and -q are the same rotation; the nearer one is the shorter turn.
  let sign = cosine < 0 ? -1.0 : 1.0
  cosine = min(cosine * sign, 1)
  let angle = 2 * Elementary.asin(((1 - cosine) / 2).squareRoot())
  // For small angles the chord is the arc to full precision.
  let isSmall = angle < 1e-6
  let sine = Elementary.sin(angle)
  let p = isSmall ? 1 - share : Elementary.sin((1 - share) * angle) / sine
  let q = sign * (isSmall ? share : Elementary.sin(share * angle) / sine)
  return Quaternion(
    w: a.w * p + b.w * q, x: a.x * p + b.x * q, y: a.y * p + b.y * q, z: a.z * p + b.z * q
  ).normalized
}
