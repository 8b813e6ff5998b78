/// The calibrations of a device's sensors; nil changes nothing. A pipeline applies them to each sample before anything
/// is computed from it.
public struct SensorCalibrations: Hashable, Sendable {
  /// Zero-g offset (m/s²), scale and cross-axis sensitivity.
  public var accelerometer: AxisCalibration?
  /// Bias (rad/s).
  public var gyroscope: AxisCalibration?
  /// How `gyroscope`'s bias changes with the temperature that a barometer's samples tell.
  public var gyroscopeTemperature: GyroscopeTemperature?
  /// Hard iron (µT) and the inverse of the soft iron.
  public var magnetometer: AxisCalibration?

  /// None.
  public init() {}

  /// The calibration of a sensor; always nil for kinds without axes, where setting changes nothing.
  public subscript(kind: SensorKind) -> AxisCalibration? {
    get {
      switch kind {
      case .accelerometer: accelerometer
      case .gyroscope: gyroscope
      case .magnetometer: magnetometer
      case .barometer, .stepCounter: nil
      }
    }
    set {
      switch kind {
      case .accelerometer: accelerometer = newValue
      case .gyroscope: gyroscope = newValue
      case .magnetometer: magnetometer = newValue
      case .barometer, .stepCounter: break
      }
    }
  }

  /// Whether there is none.
  public var isEmpty: Bool { accelerometer == nil && gyroscope == nil && magnetometer == nil }

  /// The sample as it is after calibration.
  func applied(to sample: SensorSample) -> SensorSample {
    guard let calibration = self[sample.kind] else { return sample }
    let value = calibration.apply(sample.vector)
    return SensorSample(time: sample.time, kind: sample.kind, x: Float(value.x), y: Float(value.y), z: Float(value.z))
  }
}

/// Calibrations at work: the gyroscope's bias follows the temperature of the samples.
struct CalibrationStage: Sendable {
  /// Time constant with which the temperature is low-passed, s: single readings are noisy, and a board takes minutes to
  /// warm.
  static let temperatureTime = 3.0
  /// Temperatures that a board can have, °C.
  static let plausibleTemperature = -60.0...125.0

  private let settings: SensorCalibrations
  private var current: SensorCalibrations
  private let isEmpty: Bool
  private var temperature = Double.nan
  private var temperatureTime = Timestamp(nanoseconds: 0)

  init(_ settings: SensorCalibrations) {
    self.settings = settings
    current = settings
    isEmpty = settings.isEmpty
  }

  /// The sample as it is after calibration.
  mutating func applied(to sample: SensorSample) -> SensorSample {
    if isEmpty { return sample }
    if sample.kind == .barometer { follow(Double(sample.y), at: sample.time) }
    return current.applied(to: sample)
  }

  private mutating func follow(_ reading: Double, at time: Timestamp) {
    guard let gyroscope = settings.gyroscope, let dependence = settings.gyroscopeTemperature,
      Self.plausibleTemperature.contains(reading)
    else { return }
    let elapsed = time.seconds(since: temperatureTime)
    temperature =
      temperature.isFinite
      ? temperature + (reading - temperature) * lowPassGain(elapsed, Self.temperatureTime) : reading
    temperatureTime = time
    current.gyroscope?.offset = gyroscope.offset + dependence.change(at: temperature)
  }
}

extension AxisCalibration {
  /// The largest calibrated value that every axis reaches when the sensor's own values end at `range`.
  func reach(of range: Double) -> Double {
    guard range.isFinite else { return range }
    return min(
      abs(x.x) * (range - abs(offset.x)), abs(y.y) * (range - abs(offset.y)), abs(z.z) * (range - abs(offset.z)))
  }
}

extension MotionPipeline.Configuration {
  /// The filter's settings for calibrated samples, also where one is learnt: a calibration moves the values at which a sensor clips, and leaves less
  /// of the accelerometer's offset.
  var filterAfterCalibration: ComplementaryFilter.Configuration {
    var settings = filter
    // While hard iron is learnt the heading is put right by a lot: in a turn, not in steps.
    if calibratesMagnetometer { settings.spreadsCorrections = true }
    if let accelerometer = calibration.accelerometer {
      settings.accelerometerRange = accelerometer.reach(of: settings.accelerometerRange)
      settings.accelerometerOffsetSigma = min(
        settings.accelerometerOffsetSigma, FilterConstants.calibratedOffsetSigma)
    }
    if let gyroscope = calibration.gyroscope {
      settings.gyroscopeRange = gyroscope.reach(of: settings.gyroscopeRange)
    }
    return settings
  }
}
