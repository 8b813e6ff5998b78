// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
import CoreMotion
import Foundation

public final class StepsModel {
  private let pedometer = CMPedometer()
  public private(set) var steps = 0
  public private(set) var distance: Double?
  public private(set) var cadence: Double?
  public private(set) var lines: [String] = []
  public private(set) var isPaused = true
  public var onUpdate: (() -> Void)?

  public init() {}

  public var status: String {
    switch CMPedometer.authorizationStatus() {
    case .notDetermined: return "ask"
    case .restricted: return "restricted"
    case .denied: return "denied"
    case .authorized: return "ok"
    @unknown default: return "?"
    }
  }

  public func start() {
    guard CMPedometer.isStepCountingAvailable() else { return }
    pedometer.startUpdates(from: Date()) { [weak self] pedometerData, error in
      guard let self = self, let pedometerData = pedometerData, error == nil else { return }
      self.steps = pedometerData.numberOfSteps.intValue
      self.distance = pedometerData.distance?.doubleValue
      self.cadence = pedometerData.currentCadence as? Double
      if let pace = pedometerData.currentPace as? Double { self.lines.append("pace \(pace)") }
      if let pace = pedometerData.averageActivePace { self.lines.append("average \(pace)") }
      if let up = pedometerData.floorsAscended, let down = pedometerData.floorsDescended {
        self.lines.append("floors +\(up.intValue) -\(down.intValue)")
      }
      self.lines.append("\(pedometerData.startDate) \(pedometerData.endDate)")
      self.onUpdate?()
    }
    if CMPedometer.isPedometerEventTrackingAvailable() {
      pedometer.startEventUpdates { [weak self] event, error in
        guard let event = event else { return }
        self?.isPaused = event.type == .pause
        _ = event.date
      }
    }
  }

  public func today(completion: @escaping (Int) -> Void) {
    let midnight = Calendar.current.startOfDay(for: Date())
    pedometer.queryPedometerData(from: midnight, to: Date()) { (data, error) in
      if let error = error as NSError?, error.code == Int(CMErrorMotionActivityNotAuthorized.rawValue) {
        print("not authorised")
      }
      DispatchQueue.global().async { completion(data?.numberOfSteps.intValue ?? 0) }
    }
  }

  public var features: [Bool] {
    [
      CMPedometer.isDistanceAvailable(), CMPedometer.isFloorCountingAvailable(), CMPedometer.isPaceAvailable(),
      CMPedometer.isCadenceAvailable(),
    ]
  }

  public func stop() {
    pedometer.stopUpdates()
    pedometer.stopEventUpdates()
  }
}
