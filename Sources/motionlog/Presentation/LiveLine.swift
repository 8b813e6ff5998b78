import MotionKitLinux
import SensorFusion

/// The live readout as plain lines of fixed columns, for pipes and logs.
enum LiveLine {
  /// The line for what the model shows now.
  static func text(_ model: LiveModel) -> String {
    var parts = [Format.left(pad: 8, Format.fixed(model.elapsed, 1) + " s")]
    if let motion = model.motion {
      let attitude = motion.attitude
      parts.append("pitch " + angle(attitude.pitch))
      parts.append("roll " + angle(attitude.roll))
      parts.append("yaw " + angle(attitude.yaw))
      if motion.heading >= 0 {
        let point = Format.right(pad: 2, compassPoint(motion.heading))
        parts.append("heading \(Format.fixed(motion.heading, 0, width: 3))° \(point)")
      }
      parts.append("gravity " + vector(motion.gravity, 2) + " g")
      parts.append("user " + vector(motion.userAcceleration, 2) + " g")
    } else if model.source.sensor(.accelerometer) == nil, model.source.sensor(.gyroscope) != nil {
      parts.append("no attitude without an accelerometer")
    } else if model.monitors.contains(where: { $0.sensor.kind == .accelerometer && $0.count > 0 }) {
      parts.append("attitude not known yet")
    }
    if let iron = model.hardIron { parts.append("hard iron " + iron.summary) }
    if let altitude = model.altitude {
      parts.append("altitude " + Format.fixed(altitude.relativeAltitude, 2, sign: true, width: 6) + " m")
    }
    parts.append("steps \(model.stepCount)")
    if let metres = model.distance { parts.append("walked \(Format.fixed(metres, 1)) m") }
    if let activity = model.activity, activity.activity != .unknown { parts.append(activity.activity.word) }
    let gaps = model.monitors.reduce(0) { $0 + $1.gaps }
    if gaps > 0 { parts.append(Format.count(gaps, "gap")) }
    if !model.losses.lost.isEmpty { parts.append("lost: \(model.losses.names)") }
    if model.timeSpan == nil { parts = ["waiting for samples"] }
    return parts.joined(separator: "  ")
  }

  private static func angle(_ radians: Double) -> String {
    Format.fixed(degrees(radians), 1, sign: true, width: 6) + "°"
  }

  private static func vector(_ v: Vector3, _ decimals: Int) -> String {
    [v.x, v.y, v.z].map { Format.fixed($0, decimals, sign: true, width: decimals + 3) }.joined(separator: " ")
  }
}
