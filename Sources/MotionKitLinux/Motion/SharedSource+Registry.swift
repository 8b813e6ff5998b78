import Glibc

extension SharedSource {
  private struct WeakSource {
    weak var source: SharedSource?
  }

  private struct Key: Hashable {
    var uri: String
    var pacing: Pacing
  }

  private static let registry = Locked([Key: WeakSource]())
  private static let processDefault = Locked<SharedSource?>(nil)

  /// The source for managers made in this task that name none; nil means the process's.
  @TaskLocal public static var override: SharedSource?

  /// The source by that URI, shared by all in this process that ask for it with the same pacing.
  public static func named(_ uri: String, pacing: Pacing = .speed(1)) -> SharedSource {
    registry.withLock { registry in
      let key = Key(uri: uri, pacing: pacing)
      if let source = registry[key]?.source { return source }
      registry = registry.filter { $0.value.source != nil }
      let source = SharedSource(opening: uri, pacing: pacing)
      registry[key] = WeakSource(source: source)
      return source
    }
  }

  /// The source for managers that name none: the task's `override`, else the one given to `setDefault`, else
  /// MOTIONKIT_SOURCE at the pace of MOTIONKIT_SPEED (a factor, or `max`), else this machine's IIO devices.
  public static var current: SharedSource {
    if let override { return override }
    if let source = processDefault.withLock({ $0 }) { return source }
    let uri = environment("MOTIONKIT_SOURCE") ?? "local:"
    return named(uri, pacing: pacing(fromSpeed: environment("MOTIONKIT_SPEED")))
  }

  /// Sets the source for managers that name none, from now on; nil goes back to the environment's.
  public static func setDefault(_ source: SharedSource?) { processDefault.withLock { $0 = source } }

  /// `max` is no pacing; a positive number is a factor; anything else is the source's own pace.
  static func pacing(fromSpeed speed: String?) -> Pacing {
    guard let speed else { return .speed(1) }
    if speed == "max" { return .unpaced }
    guard let factor = Double(speed), factor > 0, factor.isFinite else { return .speed(1) }
    return .speed(factor)
  }
}

/// A variable of the environment; nil if unset or empty.
func environment(_ name: String) -> String? {
  guard let value = getenv(name) else { return nil }
  let text = String(cString: value)
  return text.isEmpty ? nil : text
}
