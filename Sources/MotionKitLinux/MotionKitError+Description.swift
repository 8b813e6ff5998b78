import Glibc

extension MotionKitError: CustomStringConvertible {
  /// What happened and, after a semicolon, what to do next, in one line.
  public var description: String { hint.isEmpty ? message : "\(message); \(hint)" }

  /// What happened, and to which device, file or place.
  public var message: String {
    func because(_ what: String, _ errno: Int32) -> String {
      let reason = String(cString: strerror(abs(errno)))
      return errno == 0 || what.contains(reason) ? what : "\(what): \(reason)"
    }
    return switch self {
    case .invalidSource(let uri, let reason): "'\(uri)' is not a source: \(reason)"
    case .notFound(let what, _): "not found: \(what)"
    case .noSensors(let uri, _): "no such sensor at '\(uri)'"
    case .notPermitted(let what, _): "not permitted: \(what)"
    case .busy(let what, _): "in use by another program: \(what)"
    case .device(let what, let errno, _): because(what, errno)
    case .ended(let uri, _): "'\(uri)' is at its end"
    case .invalidFile(let path, let line, let column, let reason):
      line > 0
        ? column > 0 ? "\(path):\(line):\(column): \(reason)" : "\(path):\(line): \(reason)" : "\(path): \(reason)"
    case .fileSystem(let path, let errno, _): because(path, errno)
    case .unsupported(let what, _): "cannot be done: \(what)"
    }
  }

  /// What to do next; empty where the message says it all.
  public var hint: String {
    switch self {
    case .invalidSource, .invalidFile: ""
    case .notFound(_, let hint), .noSensors(_, let hint), .notPermitted(_, let hint), .busy(_, let hint),
      .device(_, _, let hint), .ended(_, let hint), .fileSystem(_, _, let hint), .unsupported(_, let hint):
      hint
    }
  }
}

extension MotionKitError {
  /// What happened, in one line, without the hint.
  var summary: String {
    switch self {
    case .invalidSource(let uri, let reason): "\(uri): \(reason)"
    case .notFound(let what, _), .notPermitted(let what, _), .busy(let what, _), .device(let what, _, _),
      .unsupported(let what, _):
      what
    case .noSensors(let uri, _): "\(uri): no sensors"
    case .ended(let uri, _): "\(uri): at its end"
    case .invalidFile(let path, let line, let column, let reason): "\(path):\(line):\(column): \(reason)"
    case .fileSystem(let path, let errno, _): "\(path): errno \(errno)"
    }
  }
}
