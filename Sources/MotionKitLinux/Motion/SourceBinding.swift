/// Which source a manager uses: the one it was given, for good; else the process's, looked up whenever the manager starts
/// something and nothing of it runs. So a manager made before `SharedSource.setDefault`, or kept in a `static let` through
/// many replays, follows.
package final class SourceBinding: Sendable {
  private struct State {
    /// The task's `override` where the manager was made or last started: its handlers run outside of that task.
    var override: SharedSource?
    /// For each service, the source on which it runs now.
    var services: [@Sendable () -> SharedSource?] = []
  }

  private let fixed: SharedSource?
  private let state = Locked(State())

  /// A binding to `source`; nil for the process's.
  package init(_ source: SharedSource?) {
    fixed = source
    if source == nil { remember(SharedSource.override) }
  }

  /// Adds a service; `running` gives the source on which it runs, nil while it does not.
  func add(running: @escaping @Sendable () -> SharedSource?) { state.withLock { $0.services.append(running) } }

  /// The source in use, or the one that a start would use now.
  package var source: SharedSource { fixed ?? running ?? idle }

  /// The source for a service that starts now: the one of its manager's other services while any runs.
  func sourceForStart() -> SharedSource {
    if let source = fixed ?? running { return source }
    remember(SharedSource.override)
    return idle
  }

  private var running: SharedSource? {
    let services = state.withLock { $0.services }
    for service in services {
      if let source = service(), !source.isRetired { return source }
    }
    return nil
  }

  private var idle: SharedSource {
    if let override = SharedSource.override { return override }
    let remembered = state.withLock { state -> SharedSource? in
      if let override = state.override, override.isRetired { state.override = nil }
      return state.override
    }
    return remembered ?? .current
  }

  private func remember(_ override: SharedSource?) {
    if let override { state.withLock { $0.override = override } }
  }
}
