import SensorFusion

/// The CSV files of a session. Raw files hold what the sensors gave, derived files what the pipeline made of it.
public enum SessionFile: String, CaseIterable, Hashable, Sendable {
  /// Specific force, m/s².
  case accelerometer
  /// Rotation rate, rad/s.
  case gyroscope
  /// Magnetic field, µT.
  case magnetometer
  /// Air pressure, kPa, and the sensor's temperature, °C.
  case barometer
  /// A chip's own step count.
  case stepCounter = "step_counter"
  /// What happened to the streams.
  case events
  /// Outputs of the attitude filter, in Core Motion's conventions.
  case deviceMotion = "device_motion"
  /// Steps released.
  case steps
  /// Outputs of the altimeter.
  case altitude
  /// Changes of activity.
  case activity

  /// The file's name in the session's directory.
  public var fileName: String { rawValue + ".csv" }

  /// Its name where it is compressed.
  var packedName: String { fileName + ".zst" }

  /// The sensor whose samples the file holds; nil for events and derived files.
  public var sensor: SensorKind? {
    switch self {
    case .accelerometer: .accelerometer
    case .gyroscope: .gyroscope
    case .magnetometer: .magnetometer
    case .barometer: .barometer
    case .stepCounter: .stepCounter
    case .events, .deviceMotion, .steps, .altitude, .activity: nil
    }
  }

  /// The raw file of a sensor.
  public init(_ sensor: SensorKind) {
    self =
      switch sensor {
      case .accelerometer: .accelerometer
      case .gyroscope: .gyroscope
      case .magnetometer: .magnetometer
      case .barometer: .barometer
      case .stepCounter: .stepCounter
      }
  }

  /// The raw files, in the order of `SensorKind`.
  public static let raw: [SessionFile] = SensorKind.allCases.map { SessionFile($0) }
  /// The files that the pipeline's outputs go to.
  public static let derived: [SessionFile] = [.deviceMotion, .steps, .altitude, .activity]

  /// The names of the columns, with their units.
  public var columns: [String] {
    switch self {
    case .accelerometer: ["timestamp_s", "x_m_s2", "y_m_s2", "z_m_s2"]
    case .gyroscope: ["timestamp_s", "x_rad_s", "y_rad_s", "z_rad_s"]
    case .magnetometer: ["timestamp_s", "x_uT", "y_uT", "z_uT"]
    case .barometer: ["timestamp_s", "pressure_kPa", "temperature_C"]
    case .stepCounter: ["timestamp_s", "steps"]
    case .events: ["timestamp_s", "event", "detail"]
    case .deviceMotion:
      [
        "timestamp_s", "quaternion_w", "quaternion_x", "quaternion_y", "quaternion_z", "pitch_rad", "roll_rad",
        "yaw_rad", "gravity_x_g", "gravity_y_g", "gravity_z_g", "user_acceleration_x_g", "user_acceleration_y_g",
        "user_acceleration_z_g", "rotation_rate_x_rad_s", "rotation_rate_y_rad_s", "rotation_rate_z_rad_s",
        "magnetic_field_x_uT", "magnetic_field_y_uT", "magnetic_field_z_uT", "heading_rad", "heading_accuracy_rad",
        "tilt_accuracy_rad", "gyroscope_bias_x_rad_s", "gyroscope_bias_y_rad_s", "gyroscope_bias_z_rad_s",
        "gyroscope_bias_accuracy_rad_s", "flags",
      ]
    case .steps: ["timestamp_s", "step", "cadence_hz", "interpolated"]
    case .altitude:
      [
        "timestamp_s", "relative_altitude_m", "vertical_speed_m_s", "pressure_kPa", "ascent_m", "descent_m",
        "pressure_only_change", "discontinuity",
      ]
    case .activity: ["timestamp_s", "activity", "confidence"]
    }
  }

  /// The first line, without its end.
  var header: String { columns.joined(separator: ",") }
}

// One function a row type, used by the writer and by the comparison alike, so that both give the same bytes.
extension RowBuffer {
  /// A row of a sensor's raw file. A barometer's missing temperature is a blank cell.
  func append(row sample: SensorSample) {
    append(nanoseconds: sample.time.nanoseconds)
    comma()
    append(sample.x)
    switch sample.kind {
    case .accelerometer, .gyroscope, .magnetometer:
      comma()
      append(sample.y)
      comma()
      append(sample.z)
    case .barometer:
      comma()
      if !sample.y.isNaN { append(sample.y) }
    case .stepCounter:
      break
    }
    newline()
  }

  /// A row of events.csv.
  func append(row event: SourceEvent) {
    append(nanoseconds: event.time.nanoseconds)
    comma()
    append(cell: event.name)
    comma()
    append(cell: event.detail)
    newline()
  }

  private func append(cells v: Vector3) {
    comma()
    append(v.x)
    comma()
    append(v.y)
    comma()
    append(v.z)
  }

  /// A row of device_motion.csv. Heading and its accuracy are blank where there is none.
  func append(row state: MotionState, frame: ReferenceFrame) {
    let motion = DeviceMotion(state, frame: frame)
    append(nanoseconds: motion.time.nanoseconds)
    let q = motion.attitude.quaternion
    comma()
    append(q.w)
    append(cells: Vector3(q.x, q.y, q.z))
    append(cells: Vector3(motion.attitude.pitch, motion.attitude.roll, motion.attitude.yaw))
    append(cells: motion.gravity)
    append(cells: motion.userAcceleration)
    append(cells: motion.rotationRate)
    append(cells: motion.magneticField)
    comma()
    if motion.heading >= 0 { append(motion.heading * (.pi / 180)) }
    comma()
    if motion.heading >= 0 {
      append(
        MagneticFieldAccuracy.honest(headingSigma: state.headingSigma, fieldStrength: state.magneticField.norm))
    }
    comma()
    append(state.tiltSigma)
    append(cells: motion.gyroscopeBias)
    comma()
    append(state.biasSigma)
    comma()
    append(Int64(motion.flags.rawValue))
    newline()
  }

  /// A row of steps.csv.
  func append(row step: Step) {
    append(nanoseconds: step.time.nanoseconds)
    comma()
    append(step.number)
    comma()
    append(step.cadence)
    comma()
    append(step.isInterpolated)
    newline()
  }

  /// A row of altitude.csv.
  func append(row state: AltitudeState) {
    append(nanoseconds: state.time.nanoseconds)
    for value in [state.relativeAltitude, state.verticalSpeed, state.pressure, state.ascent, state.descent] {
      comma()
      append(value)
    }
    comma()
    append(state.isPressureOnlyChange)
    comma()
    append(state.isDiscontinuity)
    newline()
  }

  /// A row of activity.csv, in words.
  func append(row state: ActivityState) {
    append(nanoseconds: state.time.nanoseconds)
    comma()
    switch state.activity {
    case .unknown: append("unknown")
    case .stationary: append("stationary")
    case .walking: append("walking")
    case .running: append("running")
    case .automotive: append("automotive")
    case .cycling: append("cycling")
    }
    comma()
    switch state.confidence {
    case .low: append("low")
    case .medium: append("medium")
    case .high: append("high")
    }
    newline()
  }
}
