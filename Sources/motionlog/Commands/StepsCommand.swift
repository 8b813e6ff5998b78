import MotionKitLinux

/// `motionlog steps`: the steps of today by the hour, or of seven days.
enum StepsCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    if let operand = arguments.operands.first { throw UsageError.unexpectedOperand(operand, command: "steps") }
    let past = try PastTime(arguments)
    let isWeek = arguments.has(.week)
    let borders = isWeek ? past.dayBorders : past.hourBorders
    var parts: [(start: Int64, totals: PedometerTotals)] = []
    for (start, end) in zip(borders, borders.dropFirst()) {
      parts.append((start, try past.history?.pedometerTotals(from: start, to: end) ?? PedometerTotals()))
    }
    let from = isWeek ? past.weekStart : past.dayStart
    let totals = try past.history?.pedometerTotals(from: from, to: past.dayEnd) ?? PedometerTotals()

    if arguments.has(.json) {
      try context.output.line(json(past, from, totals, parts, isWeek: isWeek).description)
    } else {
      let title = isWeek ? "last seven days" : "today"
      try context.output.line("\(title): " + words(totals))
      if totals.numberOfSteps > 0 {
        try context.output.line("")
        for line in chart(parts, isWeek: isWeek, context.style) { try context.output.line(line) }
      }
    }
    try context.output.flush()
    if totals.numberOfSteps == 0 { past.sayHowToFill(&context.console) }
    return .done
  }

  /// `4312 steps, 3.10 km, 2 floors up and 1 down, 48:10 walking`: what is not known is left out.
  static func words(_ totals: PedometerTotals) -> String {
    var words = [Format.count(Int64(totals.numberOfSteps), "step")]
    if let metres = totals.distance { words.append("\(Format.fixed(metres / 1000, 2)) km") }
    if let up = totals.floorsAscended, let down = totals.floorsDescended, up + down > 0 {
      words.append("\(Format.count(Int64(up), "floor")) up and \(down) down")
    }
    if totals.activeSeconds > 0 { words.append("\(Format.clock(totals.activeSeconds)) walking") }
    return words.joined(separator: ", ")
  }

  /// Columns of the longest bar.
  private static let barWidth = 40

  /// A line for each part, with a bar; hours before the first step and after the last are left out, days are not.
  static func chart(_ parts: [(start: Int64, totals: PedometerTotals)], isWeek: Bool, _ style: Style) -> [String] {
    let most = parts.map(\.totals.numberOfSteps).max() ?? 0
    guard most > 0 else { return [] }
    let first = isWeek ? parts.startIndex : parts.firstIndex { $0.totals.numberOfSteps > 0 } ?? 0
    let last = isWeek ? parts.endIndex - 1 : parts.lastIndex { $0.totals.numberOfSteps > 0 } ?? 0
    let width = "\(most)".count
    return parts[first...last].map { part in
      let steps = part.totals.numberOfSteps
      let label =
        isWeek
        ? "\(LocalTime.weekday(part.start)) \(LocalTime.date(part.start))" : LocalTime.hourAndMinute(part.start)
      // One step is something to see.
      let length = steps == 0 ? 0 : max(1, (steps * barWidth + most / 2) / most)
      let bar = String(repeating: style.isUnicode ? "█" : "#", count: length)
      let text = "  \(label)  \(Format.left(pad: width, "\(steps)"))"
      return bar.isEmpty ? text : "\(text)  \(style.paint(.good, bar))"
    }
  }

  private static func json(
    _ past: PastTime, _ from: Int64, _ totals: PedometerTotals, _ parts: [(start: Int64, totals: PedometerTotals)],
    isWeek: Bool
  ) -> JSONObject {
    var object = past.json(from: from)
    add(totals, to: &object)
    let list = parts.map { part in
      var item = JSONObject()
      item.add("start", LocalTime.iso(part.start))
      add(part.totals, to: &item)
      return item
    }
    object.add(isWeek ? "days" : "hours", list)
    return object
  }

  private static func add(_ totals: PedometerTotals, to object: inout JSONObject) {
    object.add("steps", Int64(totals.numberOfSteps))
    object.add("distance_m", optional: totals.distance)
    object.add("floors_up", optional: totals.floorsAscended)
    object.add("floors_down", optional: totals.floorsDescended)
    object.add("walking_s", totals.activeSeconds)
  }
}
