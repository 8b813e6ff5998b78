import Glibc
import MotionKitLinux
import SensorFusion

/// `motionlog info`: a recording at a glance.
enum InfoCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    let directory = try arguments.directory(for: "info")
    let summary = try SessionSummary(directory: directory)
    if arguments.has(.json) {
      try context.output.line(json(summary, directory).description)
    } else {
      for line in lines(summary, directory, context.style) { try context.output.line(line) }
    }
    try context.output.flush()
    // What came before a fault is shown; the fault still is one.
    if let fault = summary.fault { throw fault }
    return .done
  }

  // MARK: For people

  private static func lines(_ summary: SessionSummary, _ directory: String, _ style: Style) -> [String] {
    let info = summary.info
    var lines = [style.paint(.title, style.plain(directory))]
    func add(_ name: String, _ value: String) {
      if !value.isEmpty { lines.append(style.plain(" " + Format.right(pad: 10, name) + value)) }
    }
    add("recorded", provenance(info))
    add("origin", info.origin)
    for (name, value) in info.labels.sorted(by: { $0.key < $1.key }) { add(name, value) }
    let clock = summary.duration < 60 ? "" : " (\(Format.clock(summary.duration)))"
    add("duration", "\(Format.fixed(summary.duration, 3)) s\(clock)")
    if let closing = info.closing {
      add("ended", closing.ended)
      if summary.isIncomplete {
        lines.append(style.paint(.warning, "           but files hold less than was recorded then: see the notes"))
      }
    } else {
      lines.append(style.paint(.warning, " ended     was cut: no closing summary (a crash or a loss of power)"))
    }
    lines.append("")
    lines += sensorTable(summary, style)
    lines.append("")
    func degreesRange(_ range: ClosedRange<Double>?) -> String {
      guard let range else { return "–" }
      let (low, high) = (degrees(range.lowerBound), degrees(range.upperBound))
      return "\(Format.fixed(low, 1, sign: true))° to \(Format.fixed(high, 1, sign: true))°"
    }
    if summary.motionCount > 0 {
      add("attitude", "frame \(info.pipeline.filter.referenceFrame.word), \(summary.motionCount) outputs")
      add(
        "", "pitch \(degreesRange(summary.pitch)), roll \(degreesRange(summary.roll)), yaw \(degreesRange(summary.yaw))"
      )
    } else {
      add("attitude", info.pipeline.withheld.contains(.motion) ? "not told by these samples: see the notes" : "none")
    }
    let hasSteps = !info.pipeline.withheld.contains(.steps)
    add("steps", hasSteps ? "\(summary.steps)" : "not told by these samples: see the notes")
    if let altitude = summary.altitude {
      add(
        "altitude",
        "\(Format.fixed(altitude.lowerBound, 2, sign: true)) m to \(Format.fixed(altitude.upperBound, 2, sign: true)) m, "
          + "up \(Format.fixed(summary.ascent, 1)) m, down \(Format.fixed(summary.descent, 1)) m")
    }
    let activities = Activity.allCases.compactMap { activity in
      summary.activities[activity].map { "\(activity.word) \(Format.clock($0))" }
    }
    add("activity", activities.joined(separator: ", "))
    let events = summary.events.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    add("events", events.isEmpty ? "none" : events.joined(separator: ", "))
    let counters = summary.counters
    if counters.total > 0 {
      add("not used", "\(counters.late) late, \(counters.duplicate) repeated, \(counters.nonFinite) not finite")
    }
    for note in info.notes + summary.report.notes { add("note", note) }
    return lines
  }

  private static func provenance(_ info: SessionInfo) -> String {
    var words = info.anchors.first.map { utc($0.utcNanoseconds) } ?? ""
    if !info.host.isEmpty { words += " on \(info.host)" }
    if !info.source.isEmpty { words += " from \(info.source)" }
    if !info.software.isEmpty { words += " by \(info.software)" }
    return words.first == " " ? String(words.dropFirst()) : words
  }

  private static func sensorTable(_ summary: SessionSummary, _ style: Style) -> [String] {
    let names = ["rate/s", "asked", "jitter", "samples", "gaps", "longest", "clipped", "repeated"]
    let width = max(8, summary.sensors.map(\.sensor.name.count).max() ?? 0) + 2
    let head = " " + Format.right(pad: 15, "sensor") + Format.right(pad: width, "device")
    let rows = summary.sensors.map { sensor in
      let timing = sensor.timing
      return [
        Format.fixed(timing.rate, 2), sensor.sensor.rate > 0 ? Format.short(sensor.sensor.rate) : "–",
        interval(timing.jitter), "\(timing.count)", "\(timing.gapCount)",
        timing.gapCount > 0 ? interval(timing.longestGap) : "–", "\(sensor.clipped)", "\(timing.duplicates)",
      ]
    }
    let columns = aligned([names] + rows)
    var lines = [style.paint(.dim, head + columns[0])]
    for (sensor, cells) in zip(summary.sensors, columns.dropFirst()) {
      let timing = sensor.timing
      var line = " " + Format.right(pad: 15, sensor.sensor.kind.name) + Format.right(pad: width, sensor.sensor.name)
      line += cells
      let isTroubled = timing.gapCount > 0 || sensor.clipped > 0 || timing.duplicates > 0 || timing.count == 0
      lines.append(isTroubled ? style.paint(.warning, style.plain(line)) : style.plain(line))
    }
    return lines
  }

  /// Rows of a table, right-aligned: each column as wide as its longest cell and a blank, and 9 at least.
  static func aligned(_ rows: [[String]]) -> [String] {
    let widths = (rows.first ?? []).indices.map { column in
      max(9, 1 + (rows.map { $0[column].count }.max() ?? 0))
    }
    return rows.map { row in zip(widths, row).map { Format.left(pad: $0, $1) }.joined() }
  }

  /// An interval with the unit that suits it.
  private static func interval(_ seconds: Double) -> String {
    if seconds == 0 { return "0" }
    if seconds < 1e-3 { return "\(Format.fixed(seconds * 1e6, 1)) µs" }
    if seconds < 1 { return "\(Format.fixed(seconds * 1e3, 1)) ms" }
    return "\(Format.fixed(seconds, 2)) s"
  }

  /// `2026-11-30 14:03:12 UTC`.
  private static func utc(_ nanoseconds: Int64) -> String {
    var seconds = time_t(nanoseconds / 1_000_000_000)
    var parts = tm()
    guard gmtime_r(&seconds, &parts) != nil else { return "" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
      + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) UTC"
  }

  // MARK: For programs

  private static func json(_ summary: SessionSummary, _ directory: String) -> JSONObject {
    let info = summary.info
    var object = JSONObject()
    object.add("directory", directory)
    object.add("software", info.software)
    object.add("host", info.host)
    object.add("source", info.source)
    object.add("origin", info.origin)
    object.add("duration_s", summary.duration)
    if let span = summary.timeSpan {
      object.add("first_timestamp_s", span.lowerBound)
      object.add("last_timestamp_s", span.upperBound)
    }
    object.add("was_cut", summary.wasCut)
    if let closing = info.closing { object.add("ended", closing.ended) }
    object.add("is_incomplete", summary.isIncomplete)
    object.add("sensors", summary.sensors.map(sensor))
    object.add("frame", info.pipeline.filter.referenceFrame.word)
    object.add("motion_outputs", summary.motionCount)
    func add(_ name: String, _ range: ClosedRange<Double>?) {
      if let range { object.add(name, [range.lowerBound, range.upperBound]) }
    }
    add("pitch_rad", summary.pitch)
    add("roll_rad", summary.roll)
    add("yaw_rad", summary.yaw)
    if !info.pipeline.withheld.contains(.steps) { object.add("steps", summary.steps) }
    add("relative_altitude_m", summary.altitude)
    object.add("ascent_m", summary.ascent)
    object.add("descent_m", summary.descent)
    var activities = JSONObject()
    for activity in Activity.allCases {
      if let seconds = summary.activities[activity] { activities.add(activity.word, seconds) }
    }
    object.add("activity_s", activities)
    var events = JSONObject()
    for (name, count) in summary.events.sorted(by: { $0.key < $1.key }) { events.add(name, count) }
    object.add("events", events)
    object.add("late_samples", summary.counters.late)
    object.add("repeated_samples", summary.counters.duplicate)
    object.add("non_finite_samples", summary.counters.nonFinite)
    object.add("notes", info.notes + summary.report.notes)
    if let fault = summary.fault { object.add("fault", ErrorReport(fault).message) }
    return object
  }

  private static func sensor(_ summary: SensorSummary) -> JSONObject {
    var object = JSONObject()
    object.add("kind", summary.sensor.kind.name)
    object.add("name", summary.sensor.name)
    object.add("driver", summary.sensor.driver)
    object.add("samples", summary.timing.count)
    object.add("rate_hz", summary.timing.rate)
    object.add("nominal_rate_hz", summary.sensor.rate)
    object.add("jitter_s", summary.timing.jitter)
    object.add("gaps", summary.timing.gapCount)
    object.add("gap_time_s", summary.timing.gapDuration)
    object.add("longest_gap_s", summary.timing.longestGap)
    object.add("clipped", summary.clipped)
    object.add("repeated_times", summary.timing.duplicates)
    object.add("minimum", summary.minimum)
    object.add("maximum", summary.maximum)
    return object
  }
}
