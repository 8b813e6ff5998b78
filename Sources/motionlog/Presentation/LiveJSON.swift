import MotionKitLinux
import SensorFusion

/// The outputs as JSON, one object a line. Names and units are those of the columns of a recording.
struct LiveJSON {
  /// Seconds between motion lines; 0 for every output.
  private let interval: Double
  private let frame: ReferenceFrame
  private var nextMotion: Timestamp?
  /// When the next sample of each sensor is due.
  private var nextSample: [SensorKind: Timestamp] = [:]
  private var nextIron: Timestamp?
  /// Seconds between lines of the hard iron that is being learnt.
  private static let ironInterval = 1.0

  /// A writer; `interval` thins out motions and samples, never steps, activities or events.
  init(frame: ReferenceFrame, interval: Double) {
    self.frame = frame
    self.interval = interval
  }

  /// The first line: the source and its sensors.
  static func header(_ source: SourceDescription, frame: ReferenceFrame) -> String {
    var object = JSONObject()
    object.add("type", "source")
    addMembers(of: source, to: &object)
    object.add("frame", frame.word)
    return object.description
  }

  /// The members that describe a source, as `devices --json` and `live --json` show it.
  static func addMembers(of source: SourceDescription, to object: inout JSONObject) {
    object.add("uri", source.uri)
    object.add("host", source.host)
    object.add("live", source.isLive)
    object.add("sensors", source.sensors.map(sensor))
    object.add("notes", source.notes)
  }

  private static func sensor(_ sensor: SensorDescription) -> JSONObject {
    var object = JSONObject()
    object.add("kind", sensor.kind.name)
    object.add("name", sensor.name)
    object.add("identity", sensor.identity)
    object.add("driver", sensor.driver)
    object.add("rate_hz", sensor.rate)
    object.add("available_rates_hz", sensor.availableRates)
    object.add("resolution", sensor.resolution)
    object.add("range", sensor.range)
    object.add("unit", sensor.kind.unit)
    if let matrix = sensor.mountMatrix { object.add("mount_matrix", matrix.flatMap { $0 }) }
    object.add("capture", sensor.capture)
    object.add("clock", sensor.clock)
    var attributes = JSONObject()
    for (name, value) in sensor.attributes { attributes.add(name, value) }
    object.add("attributes", attributes)
    return object
  }

  /// Writes the lines of a batch, in order of kind of output.
  mutating func write(_ batch: ProcessedBatch, to output: inout Output) throws(OutputError) {
    for event in batch.input.events {
      var object = Self.object("event", event.time)
      object.add("event", event.name)
      object.add("detail", event.detail)
      try output.line(object.description)
    }
    for sample in batch.input.samples where isDue(sample) { try output.line(Self.sample(sample)) }
    for state in batch.motions where isDue(state.time) { try output.line(motion(state)) }
    for step in batch.steps {
      var object = Self.object("step", step.time)
      object.add("step", step.number)
      object.add("cadence_hz", step.cadence)
      object.add("interpolated", step.isInterpolated)
      // Of the whole walk, with all steps that were told at once.
      if let metres = batch.distance { object.add("distance_m", metres) }
      try output.line(object.description)
    }
    if let iron = batch.learntHardIron, let time = batch.input.samples.last?.time, nextIron.map({ time >= $0 }) ?? true
    {
      nextIron = time.advanced(bySeconds: max(interval, Self.ironInterval))
      var object = Self.object("hard_iron", time)
      object.add("hard_iron_uT", iron.offset)
      object.add("quality_percent", iron.qualityPercent)
      if let age = iron.age { object.add("age_s", age) }
      try output.line(object.description)
    }
    for state in batch.altitudes { try output.line(Self.altitude(state)) }
    for state in batch.activities {
      var object = Self.object("activity", state.time)
      object.add("activity", state.activity.word)
      object.add("confidence", state.confidence.word)
      try output.line(object.description)
    }
  }

  private mutating func isDue(_ time: Timestamp) -> Bool {
    guard interval > 0 else { return true }
    if let nextMotion, time < nextMotion { return false }
    nextMotion = time.advanced(bySeconds: interval)
    return true
  }

  private mutating func isDue(_ sample: SensorSample) -> Bool {
    // Pressure is in the altitude's lines, and a chip's count of steps is in the steps'.
    guard sample.kind <= .magnetometer else { return false }
    guard interval > 0 else { return true }
    if let next = nextSample[sample.kind], sample.time < next { return false }
    nextSample[sample.kind] = sample.time.advanced(bySeconds: interval)
    return true
  }

  /// What a sensor measured, before any calibration, in the kernel's units and signs.
  private static func sample(_ sample: SensorSample) -> String {
    var object = object(sample.kind.name, sample.time)
    let name =
      switch sample.kind {
      case .accelerometer: "measured_m_s2"
      case .gyroscope: "measured_rad_s"
      default: "measured_uT"
      }
    object.add(name, sample.vector)
    return object.description
  }

  private static func object(_ type: String, _ time: Timestamp) -> JSONObject {
    var object = JSONObject()
    object.add("type", type)
    object.add("timestamp_s", time)
    return object
  }

  private func motion(_ state: MotionState) -> String {
    let motion = DeviceMotion(state, frame: frame)
    let attitude = motion.attitude
    let q = attitude.quaternion
    var object = Self.object("motion", motion.time)
    object.add("quaternion_wxyz", [q.w, q.x, q.y, q.z])
    object.add("pitch_rad", attitude.pitch)
    object.add("roll_rad", attitude.roll)
    object.add("yaw_rad", attitude.yaw)
    object.add("gravity_g", motion.gravity)
    object.add("user_acceleration_g", motion.userAcceleration)
    object.add("rotation_rate_rad_s", motion.rotationRate)
    object.add("magnetic_field_uT", motion.magneticField)
    if motion.heading >= 0 {
      object.add("heading_rad", motion.heading * .pi / 180)
      object.add("heading_accuracy_rad", motion.headingAccuracy * .pi / 180)
    }
    object.add("tilt_accuracy_rad", motion.tiltAccuracy * .pi / 180)
    object.add("gyroscope_bias_rad_s", motion.gyroscopeBias)
    object.add("flags", motion.flags.words)
    return object.description
  }

  private static func altitude(_ state: AltitudeState) -> String {
    var object = object("altitude", state.time)
    object.add("relative_altitude_m", state.relativeAltitude)
    object.add("vertical_speed_m_s", state.verticalSpeed)
    object.add("pressure_kPa", state.pressure)
    object.add("ascent_m", state.ascent)
    object.add("descent_m", state.descent)
    return object.description
  }
}

extension ReferenceFrame {
  /// The word for it, as `--frame` takes it.
  var word: String {
    switch self {
    case .arbitrary: "arbitrary"
    case .arbitraryCorrected: "corrected"
    case .magneticNorth: "magnetic"
    case .trueNorth: "true"
    }
  }
}

extension SensorKind {
  /// The unit of its values.
  var unit: String {
    switch self {
    case .accelerometer: "m/s²"
    case .gyroscope: "rad/s"
    case .magnetometer: "µT"
    case .barometer: "kPa"
    case .stepCounter: "steps"
    }
  }
}
