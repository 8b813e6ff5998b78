/// Tells stationary, walking and running apart, from released steps and the step counter's view of the last seconds.
///
/// Automotive and cycling are never reported: there are no labelled recordings to tell them by.
public struct ActivityClassifier: Sendable {
  /// The activity that holds now.
  public private(set) var state = ActivityState(time: Timestamp(nanoseconds: 0), activity: .unknown, confidence: .low)
  /// Whether the accelerometer sees no motion (used by the altimeter's flag).
  public private(set) var isStationary = false

  private var lastGait = Timestamp(nanoseconds: .min)
  private var candidate = Activity.unknown
  private var candidateSince = Timestamp(nanoseconds: 0)

  /// A released step younger than this means that the walk goes on, s.
  private static let freshStep = 2.0
  /// Running begins and ends: step frequency, Hz, and amplitude, m/s².
  private static let runStart = (frequency: 2.25, amplitude: 4.0)
  private static let runEnd = (frequency: 2.1, amplitude: 3.0)
  /// Standard deviation of the specific force below which nothing moves, m/s².
  private static let still = 0.25
  /// How long a change must hold, s.
  private static let hold = 1.0
  /// Periodicity of a clear gait.
  private static let clearGait = 0.7

  /// A classifier before its first sample.
  public init() {}

  /// Takes one accelerometer sample (m/s², device axes) after the step counter has; returns whether `state` changed:
  /// another activity, or the same one with more confidence.
  public mutating func update(time: Timestamp, specificForce: Vector3, steps: borrowing StepCounter) -> Bool {
    let gait = steps.gait
    guard gait.time != lastGait, gait.time.nanoseconds != 0 else { return false }
    lastGait = gait.time
    isStationary = gait.motionLevel < Self.still
    let now = classify(gait)
    let confidence = confidence(of: now, gait)

    if now == state.activity {
      candidate = now
      if confidence > state.confidence {
        state.confidence = confidence
        return true
      }
      return false
    }
    if now != candidate {
      candidate = now
      candidateSince = gait.time
    }
    let isMoving = now == .walking || now == .running
    let wasMoving = state.activity == .walking || state.activity == .running
    let isAtOnce = isMoving && !wasMoving
    guard isAtOnce || gait.time.seconds(since: candidateSince) >= Self.hold else { return false }
    // A bout is confirmed some seconds after its first step: the activity began with that step.
    let began = isAtOnce ? min(steps.boutStart ?? candidateSince, candidateSince) : candidateSince
    state = ActivityState(time: max(began, state.time), activity: now, confidence: confidence)
    return true
  }

  private func classify(_ gait: GaitState) -> Activity {
    if gait.lastStep.nanoseconds != .min, gait.time.seconds(since: gait.lastStep) < Self.freshStep {
      let limit = state.activity == .running ? Self.runEnd : Self.runStart
      return gait.stepFrequency >= limit.frequency && gait.amplitude >= limit.amplitude ? .running : .walking
    }
    return isStationary ? .stationary : .unknown
  }

  private func confidence(of activity: Activity, _ gait: GaitState) -> ActivityConfidence {
    switch activity {
    case .walking, .running:
      gait.isGait ? (gait.periodicity >= Self.clearGait ? .high : .medium) : .low
    case .stationary:
      gait.motionLevel < 0.5 * Self.still ? .high : .medium
    case .unknown, .automotive, .cycling:
      .low
    }
  }
}
