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
    guard let speed = environment("MOTIONKIT_SPEED") else { return named(uri) }
    guard let pacing = pacing(fromSpeed: speed) else {
      return SharedSource(uri: uri, failure: environmentProblem("MOTIONKIT_SPEED", speed, speedMeaning))
    }
    return named(uri, pacing: pacing)
  }

  private static let speedMeaning = "'max' or a factor from 0.001 to 1000000"

  /// Sets the source for managers that name none, from now on; nil goes back to the environment's.
  public static func setDefault(_ source: SharedSource?) { processDefault.withLock { $0 = source } }

  /// `max` is no pacing, a number a factor; nil for anything else.
  static func pacing(fromSpeed speed: String) -> Pacing? {
    if speed == "max" { return .unpaced }
    guard let factor = Double(speed), Pacing.speeds.contains(factor) else { return nil }
    return .speed(factor)
  }
}
