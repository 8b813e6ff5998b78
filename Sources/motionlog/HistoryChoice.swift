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
  func recorder(
    for description: SourceDescription, _ console: inout Console
  ) throws(MotionKitError) -> StepHistoryRecorder? {
    guard description.sensor(.accelerometer) != nil || description.sensor(.barometer) != nil else { return nil }
    let isDevice = if case .iio? = try? SourceURI(description.uri) { true } else { false }
    switch self {
    case .none: return nil
    case .file(let path):
      // Old recordings stay until a device writes, unless the user says how long things are kept.
      let keepsAll = !isDevice && !StepHistory.isKeptTimeChosen
      let history = try StepHistory(path: path, keepingDays: keepsAll ? .infinity : nil)
      return StepHistoryRecorder(history: history, source: description)
    case .automatic:
      guard isDevice, !StepHistory.isSwitchedOff else { return nil }
      do {
        return StepHistoryRecorder(history: try StepHistory(), source: description)
      } catch {
        Self.warn(error, &console)
        return nil
      }
    }
  }

  /// Says that steps did not reach the history.
  static func warn(_ error: MotionKitError, _ console: inout Console) {
    console.warning("steps are not in the history: \(error.message)")
    console.detail("--history none does without, --history PATH takes another file")
  }
}
