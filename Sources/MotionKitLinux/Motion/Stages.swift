import SensorFusion

/// One raw sensor: each sample becomes one value.
struct RawStage<Output: TimedValue>: SampleStage {
  let pacingSensor: SensorKind
  let convert: @Sendable (SensorSample) -> Output

  func demand(interval: Double) -> SensorDemand {
    SensorDemand(rates: [pacingSensor: interval > 0 ? 1 / interval : .infinity], required: [pacingSensor])
  }

  mutating func begin(_ description: SourceDescription) {}

  mutating func take(_ sample: SensorSample, emit: (Output) -> Void) {
    if sample.kind == pacingSensor { emit(convert(sample)) }
  }
}

extension MotionPipeline.Configuration {
  /// The settings for the sensors that a source has started, with its calibrations and attitudes in `frame`.
  package init(for description: SourceDescription, frame: ReferenceFrame) {
    self.init()
    filter.referenceFrame = frame
    filter.hasGyroscope = description.sensor(.gyroscope) != nil
    filter.accelerometerRange = description.sensor(.accelerometer)?.range ?? .infinity
    filter.gyroscopeRange = description.sensor(.gyroscope)?.range ?? .infinity
    if let delay = description.sensor(.magnetometer)?.delay { filter.magnetometerDelay = delay }
    calibration = description.calibrations
    calibratesMagnetometer = description.learnsHardIron
    stepCounter.height = Walker.current.height
    stepCounter.usesHardware = description.countsStepsInHardwareOnly
  }
}

/// Device motion in one reference frame.
struct DeviceMotionStage: SampleStage {
  /// The filter integrates the gyroscope; slower than this it would not see ordinary hand motion whole, Hz.
  static let leastFusionRate = 100.0
  /// The heading needs far fewer samples of the field, Hz.
  static let magnetometerRate = 50.0

  let frame: ReferenceFrame
  var pipeline: MotionPipeline?
  var pacingSensor: SensorKind { .gyroscope }

  init(frame: ReferenceFrame) { self.frame = frame }

  /// Whether the frame has a use for the magnetometer. `arbitrary` leaves it switched off.
  static func usesMagnetometer(_ frame: ReferenceFrame) -> Bool { frame != .arbitrary }

  func demand(interval: Double) -> SensorDemand {
    let rate = interval > 0 ? max(Self.leastFusionRate, 1 / interval) : .infinity
    var demand = SensorDemand(
      rates: [.accelerometer: rate, .gyroscope: rate], required: [.accelerometer, .gyroscope])
    if Self.usesMagnetometer(frame) {
      demand.rates[.magnetometer] = Self.magnetometerRate
      if frame.hasNorth { demand.required.insert(.magnetometer) }
    }
    return demand
  }

  mutating func begin(_ description: SourceDescription) {
    if pipeline == nil { pipeline = MotionPipeline(configuration: .init(for: description, frame: frame)) }
  }

  mutating func take(_ sample: SensorSample, emit: (DeviceMotion) -> Void) {
    switch sample.kind {
    // A barometer tells the temperature that the gyroscope's bias follows.
    case .accelerometer, .gyroscope, .barometer: break
    case .magnetometer: guard Self.usesMagnetometer(frame) else { return }
    case .stepCounter: return
    }
    guard let outputs = pipeline?.process(sample), outputs.contains(.motion), let state = pipeline?.motion else {
      return
    }
    emit(DeviceMotion(state, frame: frame))
  }
}
