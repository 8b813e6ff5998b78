import MotionKitLinux

/// `motionlog altitude`: what was climbed and descended today and in seven days, and each climb.
enum AltitudeCommand {
  /// What a time holds.
  private struct Sums {
    var ascent = 0.0
    var descent = 0.0
    var floors: (up: Int, down: Int)?
  }

  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    if let operand = arguments.operands.first { throw UsageError.unexpectedOperand(operand, command: "altitude") }
    let past = try PastTime(arguments)
    let today = try sums(past, from: past.dayStart)
    let week = try sums(past, from: past.weekStart)
    let from = arguments.has(.week) ? past.weekStart : past.dayStart
    let climbs = try past.history?.climbs(from: from, to: past.dayEnd) ?? []

    if arguments.has(.json) {
      var object = past.json(from: from)
      object.add("today", json(today))
      object.add("last_seven_days", json(week))
      object.add("climbs", climbs.map(json))
      try context.output.line(object.description)
    } else {
      try context.output.line("today:           " + words(today))
      try context.output.line("last seven days: " + words(week))
      if !climbs.isEmpty { try context.output.line("") }
      for climb in climbs { try context.output.line(line(climb, hasDate: arguments.has(.week))) }
    }
    try context.output.flush()
    if week.ascent == 0, week.descent == 0 { past.sayHowToFill(&context.console) }
    return .done
  }

  private static func sums(_ past: PastTime, from start: Int64) throws -> Sums {
    var sums = Sums()
    guard let history = past.history else { return sums }
    (sums.ascent, sums.descent) = try history.climbed(from: start, to: past.dayEnd)
    let totals = try history.pedometerTotals(from: start, to: past.dayEnd)
    if let up = totals.floorsAscended, let down = totals.floorsDescended { sums.floors = (up, down) }
    return sums
  }

  private static func words(_ sums: Sums) -> String {
    let metres = "up \(Format.fixed(sums.ascent, 1)) m, down \(Format.fixed(sums.descent, 1)) m"
    return sums.floors.map { "\(metres), floors on foot \($0.up) up, \($0.down) down" } ?? metres
  }

  /// `08:12:03   up   12.3 m in 00:42  4 floors on foot`.
  static func line(_ climb: ClimbRecord, hasDate: Bool) -> String {
    let date =
      hasDate ? "\(LocalTime.weekday(climb.startUTCNanoseconds)) \(LocalTime.date(climb.startUTCNanoseconds)) " : ""
    let seconds = Double(climb.endUTCNanoseconds - climb.startUTCNanoseconds) / 1e9
    let floors = climb.floorsAscended + climb.floorsDescended
    return "  \(date)\(LocalTime.clock(climb.startUTCNanoseconds))  \(climb.height < 0 ? "down" : "  up")"
      + "\(Format.fixed(abs(climb.height), 1, width: 7)) m in \(Format.clock(seconds))"
      + (floors > 0 ? "  \(Format.count(Int64(floors), "floor")) on foot" : "")
  }

  private static func json(_ sums: Sums) -> JSONObject {
    var object = JSONObject()
    object.add("ascent_m", sums.ascent)
    object.add("descent_m", sums.descent)
    object.add("floors_up", optional: sums.floors?.up)
    object.add("floors_down", optional: sums.floors?.down)
    return object
  }

  private static func json(_ climb: ClimbRecord) -> JSONObject {
    var object = JSONObject()
    object.add("start", LocalTime.iso(climb.startUTCNanoseconds))
    object.add("end", LocalTime.iso(climb.endUTCNanoseconds))
    object.add("height_m", climb.height)
    object.add("floors_up", Int64(climb.floorsAscended))
    object.add("floors_down", Int64(climb.floorsDescended))
    return object
  }
}
