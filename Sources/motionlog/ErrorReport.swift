import Glibc
import MotionKitLinux

/// Every error in words: what happened and where, what to do next, and the exit code. The only place that does this.
struct ErrorReport {
  /// What happened, to what.
  var message: String
  /// What to do next, a line each.
  var advice: [String] = []
  /// The exit code that goes with it.
  var code: ExitCode

  /// The report of any error that a command can end with.
  init(_ error: any Error) {
    switch error {
    case let error as MotionKitError: self.init(error)
    case let error as UsageError: self.init(error)
    case OutputError.failed(let errno):
      self.init(message: "cannot write to standard output: \(Self.system(errno))", code: .failed)
    default: self.init(message: "\(error)", code: .failed)
    }
  }

  private init(message: String, advice: [String] = [], code: ExitCode) {
    self.message = message
    self.advice = advice.filter { !$0.isEmpty }
    self.code = code
  }

  private init(_ error: MotionKitError) {
    let code: ExitCode =
      switch error {
      case .invalidSource: .usage
      case .notFound, .noSensors: .notFound
      case .notPermitted: .notPermitted
      case .invalidFile: .badInput
      case .fileSystem(_, EACCES, _), .fileSystem(_, EPERM, _), .fileSystem(_, EROFS, _): .notPermitted
      case .fileSystem(_, ENOENT, _), .fileSystem(_, ENOTDIR, _): .notFound
      case .fileSystem, .busy, .device, .ended, .unsupported: .failed
      }
    var advice = [error.hint]
    // A machine without sensors is never a dead end.
    if case .noSensors(let uri, let hint) = error, uri.hasPrefix("local:"), !hint.contains("sim:") {
      advice.append("to try without sensors: motionlog live --source sim:walk")
    }
    self.init(message: error.message, advice: advice, code: code)
  }

  private init(_ error: UsageError) {
    let message: String
    var advice = ["motionlog --help lists the commands"]
    // Before a command is named, the list of them is the advice.
    func see(_ command: String) {
      if command != "motionlog" { advice = ["motionlog \(command) --help lists its options"] }
    }
    switch error {
    case .noCommand:
      message = "no command given"
      advice = ["motionlog live -u sim:walk shows a simulated walk", advice[0]]
    case .unknownCommand(let name, let suggestion):
      message = "there is no command '\(name)'" + Self.didYouMean(suggestion)
    case .unknownOption(let name, let command, let suggestion):
      message = "\(command): there is no option '\(name)'" + Self.didYouMean(suggestion)
      see(command)
    case .missingValue(let option, let placeholder):
      message = "option \(option) needs a value: \(option) \(placeholder)"
      advice = []
    case .unexpectedValue(let option, let value):
      message = "option \(option) takes no value, but '\(value)' was given"
      advice = []
    case .badValue(let option, let value, let expected):
      message = "option \(option): '\(value)' is not \(expected)"
      advice = []
    case .missingOperand(let operand, let command):
      message = "\(command): \(operand) is missing"
      see(command)
    case .unexpectedOperand(let operand, let command):
      message = "\(command): unexpected argument '\(operand)'"
      see(command)
    case .conflict(let text):
      message = text
      advice = []
    }
    self.init(message: message, advice: advice, code: .usage)
  }

  private static func didYouMean(_ suggestion: String?) -> String {
    suggestion.map { "; did you mean '\($0)'?" } ?? ""
  }

  /// The system's words for an error number.
  private static func system(_ errno: Int32) -> String { String(cString: strerror(errno)) }
}
