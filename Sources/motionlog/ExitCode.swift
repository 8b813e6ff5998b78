/// How the program ended, for scripts. The numbers are part of the interface; see `motionlog --help`.
enum ExitCode: Equatable {
  /// All done.
  case done
  /// Failed while running.
  case failed
  /// The command line cannot be understood.
  case usage
  /// No such device, host, sensor, scene or recording.
  case notFound
  /// The system refused access.
  case notPermitted
  /// A file is not what it should be.
  case badInput
  /// Finished, but samples were lost.
  case samplesLost
  /// Cut short of what was asked by a signal.
  case interrupted(signal: Int32)

  /// The process's exit status.
  var status: Int32 {
    switch self {
    case .done: 0
    case .failed: 1
    case .usage: 2
    case .notFound: 3
    case .notPermitted: 4
    case .badInput: 5
    case .samplesLost: 6
    case .interrupted(let signal): 128 + signal
    }
  }
}
