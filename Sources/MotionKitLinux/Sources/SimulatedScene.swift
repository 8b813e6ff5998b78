import SensorFusion

/// What is exactly true at one instant of a simulated scene, in the units and signs of the Linux IIO ABI.
///
/// The earth frame has x to magnetic north, y west and z up. All values come from one smooth function of time and its
/// exact derivatives, so they agree with each other to rounding.
public struct SimulatedTruth: Hashable, Sendable {
  /// Seconds since the scene began.
  public var seconds: Double
  /// Rotates device vectors into the earth frame.
  public var attitude: Quaternion
  /// Rotation rate, rad/s, device axes.
  public var rotationRate: Vector3
  /// The derivative of `rotationRate`, rad/s², device axes.
  public var angularAcceleration: Vector3
  /// Where the sensors are, m, earth frame, from where the scene began.
  public var position: Vector3
  /// The derivative of `position`, m/s, earth frame.
  public var velocity: Vector3
  /// The derivative of `velocity`, m/s², earth frame.
  public var acceleration: Vector3
  /// The specific force of rest, m/s², device axes: flat and face up (0, 0, +9.80665).
  public var gravity: Vector3
  /// The kinematic acceleration, m/s², device axes.
  public var userAcceleration: Vector3
  /// The magnetic field with its disturbances, µT, device axes, before the device's own hard and soft iron.
  public var magneticField: Vector3
  /// Height above sea level in the standard atmosphere, m.
  public var altitude: Double
  /// Air pressure with weather and doors, kPa.
  public var pressure: Double

  /// What an ideal accelerometer reads, m/s², device axes: `gravity + userAcceleration`.
  public var specificForce: Vector3 { gravity + userAcceleration }
}

/// How the device moves in a scene.
protocol SimulatedTrajectory: Sendable {
  /// When the scene ends by itself, seconds; infinity where it goes on.
  var duration: Double { get }
  /// Attitude (device to earth) and position (earth, m) at a time.
  func pose(at time: Jet) -> (attitude: JetQuaternion, position: JetVector)
  /// Pressure that is not altitude, kPa: doors and fans.
  func pressurePulse(at seconds: Double) -> Double
  /// The time of a step, numbered from 0; nil where there is none.
  func stepTime(_ index: Int) -> Double?
}

extension SimulatedTrajectory {
  func pressurePulse(at seconds: Double) -> Double { 0 }
  func stepTime(_ index: Int) -> Double? { nil }
}

/// A motion with known truth: the same name and settings give the same scene, to the bit.
///
///     let scene = try SimulatedScene("walk", settings: ["steps": "100"])
///     let upright = scene.truth(at: 2).gravity
///     let steps = scene.stepTimes(until: scene.duration).count  // 100
public struct SimulatedScene: Sendable {
  /// A scene that can be asked for by name.
  public struct Entry: Hashable, Sendable {
    /// The name in `sim:NAME`.
    public var name: String
    /// One line for a person.
    public var summary: String
  }

  /// All scenes.
  public static let catalogue: [Entry] = [
    Entry(name: "still", summary: "the device lies on a table"),
    Entry(name: "rotate", summary: "turns about one axis or tumbles about several at a steady rate"),
    Entry(
      name: "walk", summary: "a walk with known steps: device held, in the swinging hand, at the ear, pocket, lumbar"),
    Entry(name: "stairs", summary: "up or down a number of floors on foot"),
    Entry(name: "elevator", summary: "a ride in a lift, with door pulses if wanted"),
    Entry(name: "drive", summary: "in a car on a figure of eight, with road vibration and stops"),
    Entry(name: "shake", summary: "bursts of the shake gesture"),
    Entry(name: "motion", summary: "handled at random: turned about all axes and moved, at a given strength"),
    Entry(name: "swing", summary: "swung or whirled on an arm: centripetal acceleration that lasts"),
    Entry(
      name: "gesture", summary: "what hands do over and over without walking: wave, stir, tap, drum, lift, twist, brush"
    ),
  ]

  /// The scene's name.
  public let name: String
  /// Seconds until the scene ends; infinity where it goes on.
  public let duration: Double
  /// The field, the air and the weather around the device.
  public let environment: SimulatedEnvironment
  private let trajectory: any SimulatedTrajectory

  /// A scene by name with its settings, as in the URI `sim:NAME?key=value&…`.
  ///
  /// - Throws: `MotionKitError.notFound` with the list of scenes or keys, `.invalidSource` for a bad value.
  public init(_ name: String, settings: [String: String] = [:]) throws(MotionKitError) {
    var reader = SimulationSettings(uri: "sim:\(name)", settings: settings)
    self = try SimulatedScene(name, reading: &reader)
    try reader.finish()
  }

  /// A scene that takes its settings from `settings` and leaves the rest to others.
  init(_ name: String, reading settings: inout SimulationSettings) throws(MotionKitError) {
    self.name = name
    switch name {
    case "still": trajectory = try StillTrajectory(&settings)
    case "rotate": trajectory = try RotateTrajectory(&settings)
    case "walk": trajectory = try WalkTrajectory(&settings)
    case "stairs": trajectory = try WalkTrajectory(stairs: &settings)
    case "elevator": trajectory = try ElevatorTrajectory(&settings)
    case "drive": trajectory = try DriveTrajectory(&settings)
    case "shake": trajectory = try ShakeTrajectory(&settings)
    case "motion": trajectory = try HandlingTrajectory(&settings)
    case "swing": trajectory = try SwingTrajectory(&settings)
    case "gesture": trajectory = try GestureTrajectory(&settings)
    default:
      let width = Self.catalogue.reduce(0) { max($0, $1.name.utf8.count) }
      let lines = Self.catalogue.map {
        "  sim:\($0.name)\(String(repeating: " ", count: width - $0.name.utf8.count))  \($0.summary)"
      }
      throw .notFound(
        what: "the simulated scene '\(name)'", hint: "the scenes are:\n" + lines.joined(separator: "\n"))
    }
    environment = try SimulatedEnvironment(&settings)
    let limit = try settings.number(
      "duration", "seconds after which the scene ends, if it does not end earlier", default: .infinity,
      in: 0...Double.infinity)
    duration = min(limit, trajectory.duration)
  }

  /// What is true at a time, in seconds since the scene began; any time may be asked for, in any order.
  public func truth(at seconds: Double) -> SimulatedTruth {
    let (attitude, position) = trajectory.pose(at: .time(seconds))
    let q = attitude.value
    let acceleration = position.second
    return SimulatedTruth(
      seconds: seconds, attitude: q, rotationRate: attitude.rate, angularAcceleration: attitude.acceleration,
      position: position.value, velocity: position.first, acceleration: acceleration,
      gravity: q.inverseRotate(Vector3(0, 0, standardGravity)), userAcceleration: q.inverseRotate(acceleration),
      magneticField: q.inverseRotate(environment.magneticField(at: seconds)),
      altitude: environment.altitude + position.value.z, pressure: pressure(at: seconds, height: position.value.z))
  }

  /// The time of a true step, numbered from 0, in seconds since the scene began; nil after the last.
  public func stepTime(_ index: Int) -> Double? {
    guard index >= 0, let time = trajectory.stepTime(index), time < duration else { return nil }
    return time
  }

  /// The times of all true steps before `seconds` (and before the scene's end), ascending.
  public func stepTimes(until seconds: Double) -> [Double] {
    var times: [Double] = []
    while let time = stepTime(times.count), time < seconds { times.append(time) }
    return times
  }

  private func pressure(at seconds: Double, height: Double) -> Double {
    environment.pressure(at: seconds, height: height) + trajectory.pressurePulse(at: seconds)
  }
}
