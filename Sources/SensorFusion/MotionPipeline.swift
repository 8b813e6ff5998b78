/// What one sample made new.
@frozen
public struct PipelineOutputs: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt8
  /// Outputs from their bits.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `MotionPipeline.motion` is new.
  @inlinable public static var motion: PipelineOutputs { PipelineOutputs(rawValue: 1) }
  /// `MotionPipeline.newSteps` holds steps.
  @inlinable public static var steps: PipelineOutputs { PipelineOutputs(rawValue: 2) }
  /// `MotionPipeline.altitude` is new.
  @inlinable public static var altitude: PipelineOutputs { PipelineOutputs(rawValue: 4) }
  /// `MotionPipeline.activity` has changed.
  @inlinable public static var activity: PipelineOutputs { PipelineOutputs(rawValue: 8) }
  /// `MotionPipeline.newPedometerEvents` holds pauses or resumptions.
  @inlinable public static var pedometerEvents: PipelineOutputs { PipelineOutputs(rawValue: 16) }
  /// The shake gesture was completed by this sample.
  @inlinable public static var shake: PipelineOutputs { PipelineOutputs(rawValue: 32) }
}

/// Everything that is computed from samples: attitude filter, step counter, activity and altimeter, joined.
///
/// Samples in, outputs out. It reads no clock, starts no thread, does no I/O and keeps no global: the same samples
/// give the same bits, live or replayed. No allocation per sample.
///
///     var pipeline = MotionPipeline(configuration: .init())
///     for sample in samples {
///       let outputs = pipeline.process(sample)
///       if outputs.contains(.motion) { print(pipeline.motion.attitude) }
///     }
public struct MotionPipeline: Sendable {
  /// The settings of the parts.
  public struct Configuration: Hashable, Sendable {
    /// The attitude filter's settings.
    public var filter = ComplementaryFilter.Configuration()
    /// The step counter's settings.
    public var stepCounter = StepCounter.Configuration()
    /// The altimeter's settings.
    public var altimeter = PressureAltimeter.Configuration()
    /// What is applied to each sample before anything else.
    public var calibration = SensorCalibrations()
    /// Whether the hard iron of the magnetometer is learnt while the device is used. It starts from that of
    /// `calibration`, and moves slowly, so no heading jumps. For magnetometers that nobody has calibrated.
    public var calibratesMagnetometer = false
    /// The most outputs of the attitude filter a second, evenly taken; 0 for every one. Nothing else depends on it: the
    /// filter sees every sample, and what an output that is left out was flagged with, the next one is.
    public var motionRate = 0.0
    /// Outputs that are not made because the samples cannot tell them: the attitude (`motion`) of an acceleration without
    /// gravity, the steps and the activity of a log of two rows a second.
    public var withheld: PipelineOutputs = []

    /// The defaults.
    public init() {}
  }

  /// The settings in use.
  public let configuration: Configuration
  /// Samples that were not used, by reason.
  public var counters: PipelineCounters { gate.counters }

  private var calibration: CalibrationStage
  private var gate = SampleGate()
  private var filter: ComplementaryFilter
  private var magnetometer: BackgroundMagnetometerCalibrator?
  private var stepCounter: StepCounter
  private var hardwareSteps: HardwareSteps
  private var altimeter: PressureAltimeter
  private var classifier = ActivityClassifier()
  private var shakes = ShakeDetector()
  private var floors = FloorCounter()
  /// Nanoseconds that two outputs of the attitude filter lie apart at least; 0 for any.
  private let leastMotionInterval: Int64
  private var lastMotion = Timestamp(nanoseconds: .min)
  private var lastState = Timestamp(nanoseconds: .min)
  private var heldFlags: MotionFlags = []

  /// A pipeline before its first sample.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    calibration = CalibrationStage(configuration.calibration)
    filter = ComplementaryFilter(configuration: configuration.filterAfterCalibration)
    if configuration.calibratesMagnetometer { magnetometer = BackgroundMagnetometerCalibrator() }
    stepCounter = StepCounter(configuration: configuration.stepCounter)
    hardwareSteps = HardwareSteps(configuration: configuration.stepCounter)
    altimeter = PressureAltimeter(configuration: configuration.altimeter)
    let rate = configuration.motionRate
    leastMotionInterval = rate > 0 ? Int64(min(1e18, 1e9 / rate)) : 0
  }

  /// Sensors run a few percent off and jitter: an output that lacks this share of the interval is in time.
  private static let motionTolerance: Int64 = 10
  /// What flags tell of one sample; the others tell of a state.
  private static let momentaryFlags: MotionFlags = [
    .gyroscopeClipped, .accelerometerClipped, .afterGap, .tiltReset,
  ]

  /// What a new state of the attitude filter is to the outside: an output, or too soon after the last one.
  @inline(__always)
  private mutating func motionOutput(at time: Timestamp) -> PipelineOutputs {
    guard leastMotionInterval > 0 else { return .motion }
    let (elapsed, isFirst) = time.nanoseconds.subtractingReportingOverflow(lastMotion.nanoseconds)
    let (spacing, overflow) = time.nanoseconds.subtractingReportingOverflow(lastState.nanoseconds)
    lastState = time
    // Of the states around the end of the interval the nearest.
    let tolerance = min(leastMotionInterval / Self.motionTolerance, overflow ? 0 : spacing / 2)
    guard isFirst || elapsed >= leastMotionInterval - tolerance else {
      heldFlags.formUnion(filter.state.flags.intersection(Self.momentaryFlags))
      return []
    }
    lastMotion = time
    filter.state.flags.formUnion(heldFlags)
    heldFlags = []
    return .motion
  }

  /// Whether the steps are those of the chip's counter; the accelerometer still tells the activity.
  private var usesHardware: Bool { configuration.stepCounter.usesHardware }

  /// The newest output of the attitude filter.
  public var motion: MotionState { filter.state }
  /// The hard iron that was learnt while the device was used, beside that of the calibration; nil where
  /// `calibratesMagnetometer` is false.
  public var learntHardIron: LearntHardIron? { magnetometer?.learnt }
  /// The steps released by the newest sample, oldest first; their times may lie some seconds back.
  public var newSteps: [Step] { usesHardware ? hardwareSteps.newSteps : stepCounter.newSteps }
  /// All steps released since the start.
  public var stepCount: Int64 { usesHardware ? hardwareSteps.count : stepCounter.count }
  /// The pauses and resumptions of walking that the newest sample brought, oldest first.
  public var newPedometerEvents: [PedometerEvent] {
    usesHardware ? hardwareSteps.newEvents : stepCounter.newEvents
  }
  /// What the last seconds look like to the step counter.
  public var gait: GaitState { stepCounter.gait }
  /// Metres walked since the start, an estimate; nil where neither height nor calibration is known.
  public var distance: Double? { usesHardware ? hardwareSteps.distance : stepCounter.distance }
  /// Floors climbed on foot since the start; 0 without a barometer.
  public var floorsAscended: Int { floors.ascended }
  /// Floors descended on foot since the start; 0 without a barometer.
  public var floorsDescended: Int { floors.descended }
  /// Metres above sea level; nil where the altimeter was told neither a sea-level pressure nor a height.
  public var absoluteAltitude: Double? { altimeter.absoluteAltitude }
  /// The newest climb or descent.
  public var climb: Climb { altimeter.climb }
  /// Barometer samples that the altimeter skipped as implausible.
  public var skippedPressures: Int64 { altimeter.skipped }
  /// Makes the present level the zero point of the relative altitude.
  public mutating func rezeroAltitude() { altimeter.rezero() }
  /// The newest output of the altimeter.
  public var altitude: AltitudeState { altimeter.state }
  /// The activity that holds now.
  public var activity: ActivityState { classifier.state }

  /// Takes one sample and says which outputs it made new.
  ///
  /// Samples are as their sensors gave them: the calibrations of `configuration` are applied here and nowhere else. They
  /// must come in order of time, those of one instant in order of `SensorKind`. One that is late, repeated or
  /// not finite changes nothing and is counted in `counters`.
  public mutating func process(_ raw: SensorSample) -> PipelineOutputs {
    guard gate.accept(raw) else { return [] }
    let sample = calibration.applied(to: raw)
    switch sample.kind {
    case .accelerometer:
      var outputs: PipelineOutputs = updateFilter(sample)
      let hasAttitude = configuration.filter.hasGyroscope && !configuration.withheld.contains(.motion)
      let motion = hasAttitude ? filter.state : nil
      if stepCounter.update(time: sample.time, specificForce: sample.vector, motion: motion), !usesHardware {
        outputs.insert(.steps)
        for step in stepCounter.newSteps { floors.add(step) }
      }
      if !stepCounter.newEvents.isEmpty, !usesHardware { outputs.insert(.pedometerEvents) }
      if shakes.update(time: sample.time, specificForce: sample.vector) { outputs.insert(.shake) }
      if classifier.update(time: sample.time, specificForce: sample.vector, steps: stepCounter) {
        outputs.insert(.activity)
      }
      return outputs.subtracting(configuration.withheld)
    case .gyroscope:
      return updateFilter(sample)
    case .magnetometer:
      return updateFilter(magnetometer == nil ? sample : withoutHardIron(sample))
    case .barometer:
      let isNew = altimeter.update(
        time: sample.time, pressure: Double(sample.x), temperature: Double(sample.y),
        isStationary: classifier.isStationary)
      if isNew { floors.update(altimeter.climb) }
      return isNew ? .altitude : []
    case .stepCounter:
      guard usesHardware else { return [] }
      var outputs: PipelineOutputs = []
      if hardwareSteps.update(time: sample.time, reading: Double(sample.x)) {
        outputs.insert(.steps)
        for step in hardwareSteps.newSteps { floors.add(step) }
      }
      if !hardwareSteps.newEvents.isEmpty { outputs.insert(.pedometerEvents) }
      return outputs
    }
  }

  @inline(__always)
  private mutating func updateFilter(_ sample: SensorSample) -> PipelineOutputs {
    filter.update(sample) ? motionOutput(at: sample.time).subtracting(configuration.withheld) : []
  }

  /// Learns from a field, and takes off what was learnt.
  private mutating func withoutHardIron(_ sample: SensorSample) -> SensorSample {
    if let shift = magnetometer?.add(sample.vector, at: sample.time) { filter.expectFieldShift(shift) }
    let field = sample.vector - (magnetometer?.offset ?? .zero)
    return SensorSample(time: sample.time, kind: .magnetometer, x: Float(field.x), y: Float(field.y), z: Float(field.z))
  }
}
