import Glibc
import MotionKitLinux

/// Today and the last seven days of a history, for the commands that answer from it.
struct PastTime {
  /// The history; nil where none has begun, which is no error: nothing was walked.
  let history: StepHistory?
  /// Its file.
  let path: String
  /// Local midnight before now, and after.
  let dayStart: Int64
  let dayEnd: Int64
  /// Local midnight six days before `dayStart`.
  let weekStart: Int64
  private let now: Int64

  /// Opens the history that `--history` names, or the user's. It is not begun here.
  init(_ arguments: ParsedArguments) throws {
    switch try HistoryChoice(arguments) {
    case .none:
      throw UsageError.badValue(option: Option.history.long, value: "none", expected: "a history's file")
    case .automatic:
      if StepHistory.isSwitchedOff {
        throw UsageError.conflict("the history is switched off (MOTIONKIT_HISTORY=none); --history PATH names a file")
      }
      path = StepHistory.defaultPath
    case .file(let named): path = named
    }
    // Only writing deletes; a variable that makes no sense is an error here already.
    history = access(path, F_OK) == 0 ? try StepHistory(path: path) : nil
    now = LocalTime.now
    dayStart = LocalTime.dayStart(now)
    dayEnd = LocalTime.dayStart(now, offset: 1)
    weekStart = LocalTime.dayStart(now, offset: -6)
  }

  /// The hours of today, and the end of the last.
  var hourBorders: [Int64] { LocalTime.hourStarts(from: dayStart, to: dayEnd) + [dayEnd] }

  /// The seven days, and the end of the last.
  var dayBorders: [Int64] { (-6...1).map { LocalTime.dayStart(now, offset: $0) } }

  /// An object with the history and the time.
  func json(from start: Int64) -> JSONObject {
    var object = JSONObject()
    object.add("history", path)
    object.add("from", LocalTime.iso(start))
    object.add("to", LocalTime.iso(dayEnd))
    return object
  }

  /// Says where the answers come from, when there are none.
  func sayHowToFill(_ console: inout Console) {
    let state = history == nil ? "there is no history at \(path) yet" : "nothing in \(path) for this time"
    console.note("\(state); motionlog live or record fills it while it reads a device's sensors")
    console.detail(
      "to try without sensors: motionlog live -u sim:walk --history FILE, then motionlog steps --history FILE")
  }
}
