/// The calibrations of a device's sensors; nil changes nothing. A pipeline applies them to each sample before anything
/// is computed from it.
public struct SensorCalibrations: Hashable, Sendable {
  /// Zero-g offset (m/s²), scale and cross-axis sensitivity.
  public var accelerometer: AxisCalibration?
  /// Bias (rad/s).
  public var gyroscope: AxisCalibration?
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

extension AxisCalibration {
  /// The largest calibrated value that every axis reaches when the sensor's own values end at `range`.
  func reach(of range: Double) -> Double {
    guard range.isFinite else { return range }
    return min(
      abs(x.x) * (range - abs(offset.x)), abs(y.y) * (range - abs(offset.y)), abs(z.z) * (range - abs(offset.z)))
  }
}

extension MotionPipeline.Configuration {
  /// The filter's settings for calibrated samples: a calibration moves the values at which a sensor clips, and leaves less
  /// of the accelerometer's offset.
  var filterAfterCalibration: ComplementaryFilter.Configuration {
    var settings = filter
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
