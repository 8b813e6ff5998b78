import MotionKitLinux
import SensorFusion

/// Which history a command reads or writes: `--history`.
enum HistoryChoice: Equatable {
  /// None.
  case none
  /// The user's, where what is read is a device.
  case automatic
  /// This file.
  case file(String)

  /// Reads the option.
  init(_ arguments: ParsedArguments) throws(UsageError) {
    switch arguments[.history] {
    case nil: self = .automatic
    case "none": self = .none
    case "": throw .badValue(option: Option.history.long, value: "", expected: "a file, or none")
    case let path?: self = .file(path)
    }
  }

  /// What writes a started source's steps into the history, if anything is to.
  ///
  /// Only a device writes the user's own history without being told to: what is simulated or played back was not
  /// walked now. A history named by its file must work; without the user's the run goes on.
  func filling(
    for description: SourceDescription, _ console: inout Console
  ) throws(MotionKitError) -> HistoryFilling? {
    guard description.sensor(.accelerometer) != nil || description.sensor(.barometer) != nil else { return nil }
    let isDevice = if case .iio? = try? SourceURI(description.uri) { true } else { false }
    switch self {
    case .none: return nil
    case .file(let path):
      // Old recordings stay until a device writes, unless the user says how long things are kept.
      let keepsAll = !isDevice && !StepHistory.isKeptTimeChosen
      let history = try StepHistory(path: path, keepingDays: keepsAll ? .infinity : nil)
      try history.checkWritable()
      return HistoryFilling(StepHistoryRecorder(history: history, source: description), isNamed: true)
    case .automatic:
      guard isDevice, !StepHistory.isSwitchedOff else { return nil }
      do {
        let history = try StepHistory()
        try history.checkWritable()
        return HistoryFilling(StepHistoryRecorder(history: history, source: description), isNamed: false)
      } catch {
        HistoryFilling.say(error, &console)
        return nil
      }
    }
  }
}

/// A history that a run fills; its failure is told once, `-q` or not: what is missing in it cannot be had again.
final class HistoryFilling {
  /// What writes.
  let recorder: StepHistoryRecorder
  /// Whether the user named it, so that the run fails where it does.
  private let isNamed: Bool
  private var isSaid = false

  init(_ recorder: StepHistoryRecorder, isNamed: Bool) {
    self.recorder = recorder
    self.isNamed = isNamed
  }

  /// Tells a failure as soon as there is one.
  func check(_ console: inout Console) {
    guard !isSaid, let error = recorder.error else { return }
    isSaid = true
    Self.say(error, &console)
  }

  /// Writes the rest; returns whether a history that had to work did not.
  func finish(_ console: inout Console) -> Bool {
    recorder.finish()
    check(&console)
    return isNamed && recorder.error != nil
  }

  /// Says that steps did not reach the history.
  static func say(_ error: MotionKitError, _ console: inout Console) {
    console.error("steps are not in the history: \(error.message)")
    if !error.hint.isEmpty { console.more(error.hint) }
    console.more("--history none does without, --history PATH takes another file")
  }
}
