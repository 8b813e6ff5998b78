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
    switch error {
    case .invalidSource(let uri, let reason):
      self.init(message: "'\(uri)' is not a source: \(reason)", code: .usage)
    case .notFound(let what, let hint):
      self.init(message: "not found: \(what)", advice: [hint], code: .notFound)
    case .noSensors(let uri, let hint):
      self.init(
        message: "no sensors at '\(uri)'", advice: [hint, hint.contains("sim:") ? "" : Self.trySimulation],
        code: .notFound)
    case .notPermitted(let what, let hint):
      self.init(message: "not permitted: \(what)", advice: [hint], code: .notPermitted)
    case .busy(let what, let hint):
      self.init(message: "in use by another program: \(what)", advice: [hint], code: .failed)
    case .device(let what, let errno, let hint):
      self.init(message: Self.join(what, errno), advice: [hint], code: .failed)
    case .invalidFile(let path, let line, let column, let reason):
      let place = line > 0 ? column > 0 ? ":\(line):\(column)" : ":\(line)" : ""
      self.init(message: "\(path)\(place): \(reason)", code: .badInput)
    case .fileSystem(let path, let errno, let hint):
      let code: ExitCode =
        switch errno {
        case EACCES, EPERM, EROFS: .notPermitted
        case ENOENT, ENOTDIR: .notFound
        default: .failed
        }
      self.init(message: Self.join(path, errno), advice: [hint], code: code)
    case .unsupported(let what, let hint):
      self.init(message: "not supported: \(what)", advice: [hint], code: .failed)
    }
  }

  private init(_ error: UsageError) {
    let message: String
    var advice = ["motionlog --help lists the commands"]
    func see(_ command: String) { advice = ["motionlog \(command) --help lists its options"] }
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

  private static let trySimulation = "to try without sensors: motionlog live --source sim:walk"

  private static func didYouMean(_ suggestion: String?) -> String {
    suggestion.map { "; did you mean '\($0)'?" } ?? ""
  }

  private static func join(_ what: String, _ errno: Int32) -> String {
    errno == 0 ? what : "\(what): \(system(errno))"
  }

  /// The system's words for an error number, negative or positive.
  private static func system(_ errno: Int32) -> String { String(cString: strerror(abs(errno))) }
}
