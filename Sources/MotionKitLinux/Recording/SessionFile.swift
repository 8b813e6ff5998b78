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
  @inline(__always)
  func append(row sample: SensorSample) {
    write(cells: 5) { cells in
      cells.put(nanoseconds: sample.time.nanoseconds)
      cells.comma()
      cells.put(sample.x)
      switch sample.kind {
      case .accelerometer, .gyroscope, .magnetometer:
        cells.comma()
        cells.put(sample.y)
        cells.comma()
        cells.put(sample.z)
      case .barometer:
        cells.comma()
        if !sample.y.isNaN { cells.put(sample.y) }
      case .stepCounter:
        break
      }
      cells.newline()
    }
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

  /// A row of device_motion.csv. Heading and its accuracy are blank where there is none.
  func append(row state: MotionState, frame: ReferenceFrame) {
    let motion = DeviceMotion(state, frame: frame)
    write(cells: 30) { cells in
      cells.put(nanoseconds: motion.time.nanoseconds)
      let q = motion.attitude.quaternion
      cells.comma()
      cells.put(q.w)
      cells.put(Vector3(q.x, q.y, q.z))
      cells.put(Vector3(motion.attitude.pitch, motion.attitude.roll, motion.attitude.yaw))
      cells.put(motion.gravity)
      cells.put(motion.userAcceleration)
      cells.put(motion.rotationRate)
      putField(motion.magneticField, into: &cells)
      cells.comma()
      if motion.heading >= 0 { cells.put(motion.heading * (.pi / 180)) }
      cells.comma()
      if motion.heading >= 0 {
        cells.put(
          MagneticFieldAccuracy.honest(headingSigma: state.headingSigma, fieldStrength: state.magneticField.norm))
      }
      putCorrections(
        tiltSigma: state.tiltSigma, bias: motion.gyroscopeBias, biasSigma: state.biasSigma, into: &cells)
      cells.comma()
      cells.put(Int64(motion.flags.rawValue))
      cells.newline()
    }
  }

  /// A row of steps.csv.
  func append(row step: Step) {
    write(cells: 5) { cells in
      cells.put(nanoseconds: step.time.nanoseconds)
      cells.comma()
      cells.put(step.number)
      cells.comma()
      cells.put(step.cadence)
      cells.comma()
      cells.put(step.isInterpolated)
      cells.newline()
    }
  }

  /// A row of altitude.csv.
  func append(row state: AltitudeState) {
    write(cells: 9) { cells in
      cells.put(nanoseconds: state.time.nanoseconds)
      cells.comma()
      cells.put(state.relativeAltitude)
      cells.comma()
      cells.put(state.verticalSpeed)
      cells.comma()
      cells.put(state.pressure)
      cells.comma()
      cells.put(state.ascent)
      cells.comma()
      cells.put(state.descent)
      cells.comma()
      cells.put(state.isPressureOnlyChange)
      cells.comma()
      cells.put(state.isDiscontinuity)
      cells.newline()
    }
  }

  /// A row of activity.csv, in words.
  func append(row state: ActivityState) {
    write(cells: 4) { cells in
      cells.put(nanoseconds: state.time.nanoseconds)
      cells.comma()
      switch state.activity {
      case .unknown: cells.put("unknown")
      case .stationary: cells.put("stationary")
      case .walking: cells.put("walking")
      case .running: cells.put("running")
      case .automotive: cells.put("automotive")
      case .cycling: cells.put("cycling")
      }
      cells.comma()
      switch state.confidence {
      case .low: cells.put("low")
      case .medium: cells.put("medium")
      case .high: cells.put("high")
      }
      cells.newline()
    }
  }
}

extension CellWriter {
  /// Three cells, each behind a comma. Once in the program: a row has five of them.
  @inline(never)
  fileprivate mutating func put(_ v: Vector3) {
    comma()
    put(v.x)
    comma()
    put(v.y)
    comma()
    put(v.z)
  }
}
