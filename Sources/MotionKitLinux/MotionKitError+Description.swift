import Glibc

extension MotionKitError: CustomStringConvertible {
  /// What happened and, after a semicolon, what to do next, in one line.
  public var description: String {
    func line(_ what: String, _ hint: String) -> String { hint.isEmpty ? what : "\(what); \(hint)" }
    func system(_ errno: Int32) -> String { String(cString: strerror(errno)) }
    return switch self {
    case .invalidSource(let uri, let reason): "'\(uri)' is not a source: \(reason)"
    case .notFound(let what, let hint): line("not found: \(what)", hint)
    case .noSensors(let uri, let hint): line("no such sensor at '\(uri)'", hint)
    case .notPermitted(let what, let hint): line("not permitted: \(what)", hint)
    case .busy(let what, let hint): line("in use by another program: \(what)", hint)
    case .device(let what, let errno, let hint): line("\(what) failed: \(system(errno))", hint)
    case .invalidFile(let path, let line, let column, let reason):
      line > 0 ? "\(path):\(line):\(column): \(reason)" : "\(path): \(reason)"
    case .fileSystem(let path, let errno, let hint): line("\(path): \(system(errno))", hint)
    case .unsupported(let what, let hint): line("cannot be done: \(what)", hint)
    }
  }
}
