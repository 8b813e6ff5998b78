// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
import CoreMotion
import Foundation

public struct ActivityModel {
  let manager = CMMotionActivityManager()
  let queue = OperationQueue()

  public init() {}

  public func start(_ change: @escaping (String) -> Void) {
    guard CMMotionActivityManager.isActivityAvailable() else { return }
    manager.startActivityUpdates(to: queue) { activity in
      guard let activity = activity else { return }
      change(Self.name(of: activity))
    }
  }

  static func name(of activity: CMMotionActivity) -> String {
    var modes: Set<String> = []
    if activity.walking { modes.insert("walking") }
    if activity.running { modes.insert("running") }
    if activity.cycling { modes.insert("cycling") }
    if activity.automotive { modes.insert("automotive") }
    if activity.stationary { modes.insert("stationary") }
    if activity.unknown { modes.insert("unknown") }
    let confidence: String
    switch activity.confidence {
    case .low: confidence = "low"
    case .medium: confidence = "medium"
    case .high: confidence = "high"
    @unknown default: confidence = "?"
    }
    return modes.sorted().joined(separator: "+") + " " + confidence
  }

  public func lastWeek(_ done: @escaping ([CMMotionActivity], Error?) -> Void) {
    let now = Date()
    manager.queryActivityStarting(from: now.addingTimeInterval(-7 * 86400), to: now, to: .main) { activities, error in
      done(activities ?? [], error)
      for a in activities ?? [] { print(a.startDate, a.timestamp) }
    }
  }

  public func stop() { manager.stopActivityUpdates() }
}
