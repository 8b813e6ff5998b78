import SensorFusion

/// The errors of one simulated sensor, in the unit of its kind (m/s², rad/s, µT; kPa for the barometer, which uses the
/// x component).
///
/// A true value v becomes: the low-passed and delayed v, times `matrix`, plus bias (`bias`, a draw with `biasSigma`, a
/// random walk with `biasWalk`, `temperatureCoefficient` times the warming), plus white noise, clipped to `range`,
/// rounded to `resolution`. The time stamp carries `jitter`; a sample is missing with `dropProbability`.
public struct SimulatedSensorErrors: Hashable, Sendable {
  /// Density of the white noise, unit/√Hz; a sample's standard deviation is this times √(rate / 2).
  public var noiseDensity = 0.0
  /// Constant offset: bias, or a magnetometer's hard iron.
  public var bias = Vector3.zero
  /// Standard deviation of a further constant offset, drawn from the seed for each axis.
  public var biasSigma = 0.0
  /// Random walk of the bias, unit/√s.
  public var biasWalk = 0.0
  /// Relative error of the scale of each axis.
  public var scale = Vector3.zero
  /// Standard deviation of a further scale error, drawn from the seed for each axis.
  public var scaleSigma = 0.0
  /// How far axes lean into each other, radians: standard deviation of the six off-diagonal terms, drawn from the seed.
  public var misalignmentSigma = 0.0
  /// Soft iron: standard deviation of the six terms of a symmetric matrix added to the identity, drawn from the seed.
  public var softIronSigma = 0.0
  /// Change of the bias with temperature, unit/K.
  public var temperatureCoefficient = Vector3.zero
  /// Value of one count; 0 for none.
  public var resolution = 0.0
  /// Full scale of an axis; infinity for none.
  public var range = Double.infinity
  /// With more dropped than this a next sample might never come.
  static let mostDropped = 0.99

  /// The part of the samples that is missing, 0 to 0.99; more is taken as 0.99.
  public var dropProbability = 0.0
  /// Standard deviation of the time stamp's error, seconds; held to 0.4 of the interval, so order is kept.
  public var jitter = 0.0
  /// How much older than its time stamp a value is, seconds: the delay of the sensor's own processing.
  public var delay = 0.0
  /// Whether a gyroscope's sample is the mean rate since the sample before, as digital gyroscopes give it: then adding up
  /// rate times interval gives the attitude. Otherwise, or with a `bandwidth`, it is the rate at its time stamp.
  public var averages = true
  /// Corner frequency of the sensor's low-pass filter (second order, Butterworth), Hz; 0 for none.
  public var bandwidth = 0.0

  /// No errors.
  public init() {}
}

/// The errors of all simulated sensors.
public struct SimulatedErrors: Hashable, Sendable {
  /// Errors in m/s².
  public var accelerometer = SimulatedSensorErrors()
  /// Errors in rad/s.
  public var gyroscope = SimulatedSensorErrors()
  /// Errors in µT.
  public var magnetometer = SimulatedSensorErrors()
  /// Errors in kPa.
  public var barometer = SimulatedSensorErrors()
  /// How much warmer than the air the sensors become by their own power, K, with a time constant of 5 minutes.
  public var selfHeating = 0.0

  /// No errors: every sample is the truth, rounded to a 32-bit float.
  public static let none = SimulatedErrors()

  /// What a good telephone delivers, factory calibrated: noise and resolution of common 6-axis parts, small biases.
  public static let phone: SimulatedErrors = {
    var errors = SimulatedErrors()
    errors.selfHeating = 3
    errors.accelerometer.noiseDensity = 0.0015  // 150 µg/√Hz
    errors.accelerometer.biasSigma = 0.03
    errors.accelerometer.scaleSigma = 0.001
    errors.accelerometer.misalignmentSigma = 0.001
    errors.accelerometer.resolution = 16 * standardGravity / 32768
    errors.accelerometer.range = 16 * standardGravity
    errors.gyroscope.noiseDensity = 0.007 * radiansPerDegree
    errors.gyroscope.biasSigma = 0.05 * radiansPerDegree
    errors.gyroscope.biasWalk = 0.002 * radiansPerDegree
    errors.gyroscope.scaleSigma = 0.002
    errors.gyroscope.misalignmentSigma = 0.001
    errors.gyroscope.resolution = 2000 * radiansPerDegree / 32768
    errors.gyroscope.range = 2000 * radiansPerDegree
    errors.magnetometer.noiseDensity = 0.06
    errors.magnetometer.biasSigma = 1
    errors.magnetometer.softIronSigma = 0.005
    errors.magnetometer.resolution = 0.15
    errors.magnetometer.range = 4912
    errors.magnetometer.delay = 0.01  // one conversion of common parts at 100 Hz
    errors.barometer.noiseDensity = 0.0003  // 0.1 Pa/√Hz is the best, 1 Pa/√Hz the cheapest
    errors.barometer.biasSigma = 0.05
    errors.barometer.resolution = 1 / 40960.0
    errors.barometer.range = 126
    return errors
  }()

  /// What a cheap part on a board delivers, uncalibrated: raw MEMS with hard and soft iron, drift and jitter.
  public static let mems: SimulatedErrors = {
    var errors = SimulatedErrors.phone
    errors.selfHeating = 8
    errors.accelerometer.noiseDensity = 0.003
    errors.accelerometer.biasSigma = 0.3
    errors.accelerometer.scaleSigma = 0.01
    errors.accelerometer.misalignmentSigma = 0.005
    errors.accelerometer.temperatureCoefficient = Vector3(0.003, -0.002, 0.005)
    errors.accelerometer.jitter = 0.0002
    errors.gyroscope.noiseDensity = 0.015 * radiansPerDegree
    errors.gyroscope.biasSigma = 1 * radiansPerDegree
    errors.gyroscope.biasWalk = 0.005 * radiansPerDegree
    errors.gyroscope.scaleSigma = 0.01
    errors.gyroscope.misalignmentSigma = 0.005
    errors.gyroscope.temperatureCoefficient = Vector3(0.02, -0.015, 0.01) * radiansPerDegree
    errors.gyroscope.jitter = 0.0002
    errors.magnetometer.noiseDensity = 0.1
    errors.magnetometer.biasSigma = 20
    errors.magnetometer.softIronSigma = 0.03
    errors.magnetometer.jitter = 0.0005
    errors.barometer.noiseDensity = 0.0006
    errors.barometer.biasSigma = 0.15
    errors.barometer.jitter = 0.001
    return errors
  }()

  /// No errors.
  public init() {}

  /// The errors of a sensor.
  public subscript(kind: SensorKind) -> SimulatedSensorErrors {
    switch kind {
    case .accelerometer: accelerometer
    case .gyroscope: gyroscope
    case .magnetometer: magnetometer
    case .barometer: barometer
    case .stepCounter: SimulatedSensorErrors()
    }
  }

  /// Reads a preset (`errors=`) and what changes it (`gyro_bias=` and the like); angles are degrees.
  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    let preset = try settings.choice(
      "errors", "errors of the sensors: none, phone or mems", default: "phone", of: ["none", "phone", "mems"])
    self =
      switch preset {
      case "none": .none
      case "mems": .mems
      default: .phone
      }
    selfHeating = try settings.number("heating", "warming of the sensors by their own power, K", default: selfHeating)
    try accelerometer.read(&settings, prefix: "accel", unit: "m/s²", factor: 1)
    try gyroscope.read(&settings, prefix: "gyro", unit: "°/s", factor: radiansPerDegree)
    try magnetometer.read(&settings, prefix: "mag", unit: "µT", factor: 1)
    try barometer.read(&settings, prefix: "baro", unit: "kPa", factor: 1)
  }
}

extension SimulatedSensorErrors {
  /// `factor` turns the unit that people type into the sensor's own.
  fileprivate mutating func read(
    _ settings: inout SimulationSettings, prefix: String, unit: String, factor: Double
  ) throws(MotionKitError) {
    let any = 0...Double.infinity
    /// A quantity of at least 0 in the sensor's unit.
    func quantity(_ key: String, _ summary: String, _ value: Double) throws(MotionKitError) -> Double {
      try settings.number("\(prefix)_\(key)", summary, default: value / factor, in: any) * factor
    }
    noiseDensity = try quantity("noise", "white noise, \(unit)/√Hz", noiseDensity)
    bias =
      try settings.vector("\(prefix)_bias", "constant offset x,y,z, \(unit)", default: bias * (1 / factor)) * factor
    biasSigma = try quantity("bias_sigma", "spread of a further random offset, \(unit)", biasSigma)
    biasWalk = try quantity("walk", "random walk of the offset, \(unit)/√s", biasWalk)
    resolution = try quantity("resolution", "value of one count, \(unit)", resolution)
    range = try quantity("range", "full scale, \(unit)", range)
    temperatureCoefficient =
      try settings.vector(
        "\(prefix)_tempco", "change of the offset with temperature x,y,z, \(unit)/K",
        default: temperatureCoefficient * (1 / factor)) * factor
    scale = try settings.vector("\(prefix)_scale", "relative scale error x,y,z", default: scale, in: -1...10)
    scaleSigma = try settings.number(
      "\(prefix)_scale_sigma", "spread of a further random one", default: scaleSigma, in: 0...1)
    misalignmentSigma =
      try settings.number(
        "\(prefix)_misalignment", "spread of the axes' lean into each other, degrees",
        default: misalignmentSigma / radiansPerDegree, in: 0...45) * radiansPerDegree
    softIronSigma = try settings.number(
      "\(prefix)_soft", "spread of the terms of a soft-iron matrix", default: softIronSigma, in: 0...1)
    dropProbability = try settings.number(
      "\(prefix)_drop", "part of the samples that is missing", default: dropProbability, in: 0...Self.mostDropped)
    jitter = try settings.number("\(prefix)_jitter", "spread of the time stamps, s", default: jitter, in: 0...10)
    if prefix == "gyro" {
      averages =
        try settings.choice(
          "gyro_average", "1: samples are the mean rate since the one before; 0: the rate at their time",
          default: averages ? "1" : "0", of: ["0", "1"]) == "1"
    }
    delay = try settings.number("\(prefix)_delay", "delay of the values, s", default: delay, in: 0...10)
    bandwidth = try settings.number(
      "\(prefix)_bandwidth", "corner of a low-pass filter, Hz; 0 for none", default: bandwidth, in: 0...10_000)
  }
}
