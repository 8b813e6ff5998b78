/// Counts steps from the specific force, with the help of the attitude filter where there is a gyroscope.
///
/// It works on an even 50 Hz grid. Every 0.24 s it finds the step frequency in the spectrum of the last 4 s, decides by
/// physical limits whether this is gait, and only then reads off the steps, each with its own time. Steps are held back
/// until a bout is confirmed (about 2 s), then released together; a released step is never taken back. Shorter bouts
/// than five steps do not count. `docs/STEPS-ALTITUDE.md` describes the method and what it was measured on.
///
/// Any rate from 25 to 1000 Hz, with jitter and holes. A hole longer than 1 s ends a bout and nothing is counted in it.
public struct StepCounter: Sendable {
  /// What the counter can be told.
  public struct Configuration: Hashable, Sendable {
    /// Fewer false steps on hand motion at the price of some real ones (arm swing).
    public var isStrict = false
    /// The walker's height in metres, from which the step length is estimated; nil where not known.
    public var height: Double?
    /// Step length over the square root of the cadence, m·√s, from a calibration walk; nil for none.
    public var stepLengthFactor: Double?
    /// Whether steps are those of the chip's own counter (`SensorKind.stepCounter`), not of the accelerometer: where
    /// there is no accelerometer, or where it is asked for.
    public var usesHardware = false

    /// Whether distances can be told.
    var givesDistance: Bool { stepLengthFactor != nil || height != nil }

    /// The estimated length of one step, m: it grows with the square root of the cadence (Weinberg's and Kim's models
    /// reduced to what a wrist or pocket sensor knows). Nil where neither height nor calibration is known.
    func stepLength(cadence: Double) -> Double? {
      // A walker of 1.75 m at 1.85 steps/s takes steps of 0.71 m.
      let factor = stepLengthFactor ?? height.map { 0.30 * $0 }
      return factor.map { $0 * max(0, cadence).squareRoot() }
    }

    /// The defaults.
    public init() {}

    /// The factor that makes a calibration walk come out right.
    ///
    /// - Parameters:
    ///   - distance: Metres walked, greater than 0.
    ///   - steps: The steps of that walk.
    /// - Returns: The value for `stepLengthFactor`, nil where there are no steps or no distance.
    public static func stepLengthFactor(distance: Double, steps: [Step]) -> Double? {
      var sum = 0.0
      for step in steps { sum += max(0, step.cadence).squareRoot() }
      return sum > 0 && distance > 0 && distance.isFinite ? distance / sum : nil
    }
  }

  /// The configuration in use.
  public let configuration: Configuration
  /// The steps released by the newest `update`, oldest first.
  public private(set) var newSteps: [Step] = []
  /// The pauses and resumptions found by the newest `update`, oldest first.
  public private(set) var newEvents: [PedometerEvent] = []
  /// All steps released since the start.
  public private(set) var count: Int64 = 0
  /// What the last seconds look like; renewed every 0.24 s.
  public private(set) var gait = GaitState()
  /// The first step of the bout that goes on; nil between bouts.
  public private(set) var boutStart: Timestamp?
  /// Metres walked since the start, an estimate; nil where neither height nor calibration is known.
  public private(set) var distance: Double?

  let tuning: StepTuning
  private let prior: [Double]
  private var resampler = GridResampler()
  private var history = GaitHistory()
  private var spectrum = SlidingSpectrum()
  private var peaks = StepPeaks()
  private var bandNorm = GaitBandPass()
  private var bandX = GaitBandPass()
  private var bandY = GaitBandPass()
  private var bandZ = GaitBandPass()
  private var earthX = GaitBandPass()
  private var earthY = GaitBandPass()
  private var earthZ = GaitBandPass()
  private var earthRateX = GaitBandPass()
  private var earthRateY = GaitBandPass()
  private var rateNorm = GaitBandPass()
  private var turning = TurningResponse()
  private var turnBands = TurningBands()
  /// Grid samples in a row that carry rotation.
  private var rotationSamples = 0
  private var samplesToHop = Self.firstHop

  private var isWalking = false
  private var isPaused = true
  private var goodHops = 0
  private var weakHops = 0
  private var badHops = 0
  private var swingHops = 0
  private var swingMemory = 0
  /// Steps released in this bout.
  private var boutSteps = 0
  private var lastRelease: Int64 = .min
  /// The times of the last steps of this bout, newest last.
  private var recent = RecentSteps()

  /// Grid samples between two decisions (0.24 s), and before the first.
  private static let hop = 12
  private static let firstHop = GaitMeasures.leastSamples
  /// How old the newest motion may be for a gyroscope to count as there, s.
  private static let freshMotion = 0.25

  /// A counter before its first sample.
  public init(configuration: Configuration = Configuration()) {
    self.init(configuration: configuration, tuning: configuration.isStrict ? .strict : .standard)
  }

  init(configuration: Configuration, tuning: StepTuning) {
    self.configuration = configuration
    self.tuning = tuning
    prior = GaitMeasures.prior(tuning)
    newSteps.reserveCapacity(StepPeaks.capacity)
    newEvents.reserveCapacity(4)
    if configuration.givesDistance { distance = 0 }
  }

  /// Takes one accelerometer sample (m/s², device axes) with the newest output of the attitude filter, nil without a
  /// gyroscope; returns whether `newSteps` holds anything.
  public mutating func update(time: Timestamp, specificForce: Vector3, motion: MotionState?) -> Bool {
    newSteps.removeAll(keepingCapacity: true)
    newEvents.removeAll(keepingCapacity: true)
    var sample = GridSample(force: specificForce)
    if let motion, !motion.flags.contains(.noGyroscope), motion.tiltSigma.isFinite,
      abs(time.seconds(since: motion.time)) <= Self.freshMotion
    {
      // The filter's newest output is a gyroscope sample old: carried on to the time of this force.
      let age = time.seconds(since: motion.time)
      let attitude = (motion.attitude * Quaternion(rotationVector: motion.rotationRate * age)).normalized
      sample.rate = motion.rotationRate
      sample.earth = attitude.rotate(specificForce)
      sample.earthRate = attitude.rotate(motion.rotationRate)
      sample.axisX = attitude.rotate(Vector3(1, 0, 0))
      sample.axisY = attitude.rotate(Vector3(0, 1, 0))
      sample.rotationShare = 1
    }
    if !resampler.push(time: time.nanoseconds, sample: sample) { restart() }
    while let grid = resampler.next() { advance(grid) }
    return !newSteps.isEmpty
  }

  /// The stream began anew: nothing is bridged, the total is kept.
  private mutating func restart() {
    history.removeAll()
    spectrum.reset()
    bandNorm = GaitBandPass()
    bandX = GaitBandPass()
    bandY = GaitBandPass()
    bandZ = GaitBandPass()
    rotationSamples = 0
    samplesToHop = Self.firstHop
    endBout()
    goodHops = 0
    weakHops = 0
    gait.isGait = false
  }

  private mutating func endBout() {
    isWalking = false
    boutSteps = 0
    badHops = 0
    boutStart = nil
    recent.removeAll()
  }

  /// Takes one grid sample.
  private mutating func advance(_ sample: GridSample) {
    let force = sample.force
    let norm = force.norm
    let isFull = history.count >= SlidingSpectrum.window
    let leaving =
      isFull
      ? lanes(age: SlidingSpectrum.window - 1)
      : SIMD8<Double>.zero
    history.append()
    history.set(.norm, norm)
    history.set(.bandNorm, bandNorm.update(norm))
    history.set(.forceX, force.x)
    history.set(.forceY, force.y)
    history.set(.forceZ, force.z)
    history.set(.bandX, bandX.update(force.x))
    history.set(.bandY, bandY.update(force.y))
    history.set(.bandZ, bandZ.update(force.z))
    if sample.rotationShare > 0.999 {
      if rotationSamples == 0 {
        earthX = GaitBandPass()
        earthY = GaitBandPass()
        earthZ = GaitBandPass()
        earthRateX = GaitBandPass()
        earthRateY = GaitBandPass()
        rateNorm = GaitBandPass()
        turning.reset()
        turnBands = TurningBands()
      }
      rotationSamples += 1
    } else {
      rotationSamples = 0
    }
    history.set(.rateX, sample.rate.x)
    history.set(.rateY, sample.rate.y)
    history.set(.rateZ, sample.rate.z)
    history.set(.earthX, earthX.update(sample.earth.x))
    history.set(.earthY, earthY.update(sample.earth.y))
    history.set(.earthZ, earthZ.update(sample.earth.z))
    history.set(.earthRateX, earthRateX.update(sample.earthRate.x))
    history.set(.earthRateY, earthRateY.update(sample.earthRate.y))
    history.set(.rateNorm, sample.rate.norm)
    history.set(.bandRateNorm, rateNorm.update(sample.rate.norm))
    turnBands.update(turning.update(sample), into: &history)
    spectrum.advance(entering: lanes(age: 0), leaving: leaving)

    samplesToHop -= 1
    if samplesToHop == 0 {
      samplesToHop = Self.hop
      decide()
    }
  }

  /// The spectrum's lanes of a sample in the history.
  private func lanes(age: Int) -> SIMD8<Double> {
    SIMD8(
      1, history.value(.norm, age: age), history.value(.forceX, age: age), history.value(.forceY, age: age),
      history.value(.forceZ, age: age), history.value(.rateX, age: age), history.value(.rateY, age: age),
      history.value(.rateZ, age: age))
  }

  /// One hop: measure, judge, and release steps.
  private mutating func decide() {
    spectrum.evaluate()
    let measures = GaitMeasures(
      history: history, spectrum: spectrum, prior: prior, rotationSamples: rotationSamples, tuning: tuning)
    let swings = passesSwing(isWalking ? tuning.swingStay : tuning.swingStart, measures)
    swingHops = swings ? swingHops + 1 : 0
    if swings { swingMemory = tuning.swingMemory } else if swingMemory > 0 { swingMemory -= 1 }
    let turns = !measures.hasRotation || measures.strideRate >= tuning.strideTurn
    let isStrong = turns && passes(tuning.start, measures)
    let isWeak = isStrong || turns && passes(tuning.weak, measures) && swaysEnough(measures)
    let isGood = isWalking ? passes(tuning.stay, measures) : isStrong || isWeak
    goodHops = (isWalking ? isGood : isStrong) ? goodHops + 1 : 0
    weakHops = (isWalking ? isGood : isWeak) ? weakHops + 1 : 0
    var frequency = measures.frequency
    if swings, !readsBounce(measures) {
      badHops = 0
      // Every swing, to or fro, is a step: |rotation rate| peaks once in each.
      var swing = measures
      swing.frequency = 2 * measures.pendulum.frequency
      swing.amplitude = (2 * history.variance(.bandRateNorm, last: GaitMeasures.gateSamples)).squareRoot()
      swing.showsStride = true
      let mean = history.mean(.rateNorm, last: SlidingSpectrum.window)
      peaks.find(
        in: history, .rateNorm, mean: mean, gait: swing, share: tuning.peakShare, least: tuning.swingFloor)
      release(swing)
      frequency = swing.frequency
    } else if isGood || swings {
      badHops = 0
      peaks.find(
        in: history, .norm, mean: spectrum.meanForce, gait: measures, share: tuning.peakShare, least: tuning.peakFloor)
      release(measures)
    } else {
      badHops += 1
      if isWalking, badHops >= (boutSteps >= tuning.longBout ? tuning.badHopsLong : tuning.badHops) { endBout() }
    }
    let now = resampler.gridTime
    if !isPaused, seconds(from: lastRelease, to: now) > Self.latency + max(Self.leastPause, 3 * measures.period) {
      isPaused = true
      newEvents.append(PedometerEvent(time: Timestamp(nanoseconds: lastRelease), kind: .pause))
    }
    gait = GaitState(
      time: Timestamp(nanoseconds: now), stepFrequency: frequency, amplitude: measures.amplitude,
      bounce: measures.bounce, periodicity: measures.periodicity, isGait: isGood || swings, isPaused: isPaused,
      lastStep: Timestamp(nanoseconds: lastRelease), motionLevel: motionLevel)
  }

  /// Whether a weak motion goes to and fro across gravity as a walker's does and a bus's does not.
  private func swaysEnough(_ m: GaitMeasures) -> Bool {
    m.amplitude >= tuning.weakSwayBelow || m.isGravityFree || m.sway >= tuning.weakSway
      || m.periodicity >= tuning.evenPeriodicity && m.sway >= tuning.evenSway
  }

  /// How long a step may take to be released, and the least pause, s.
  private static let latency = 0.5
  private static let leastPause = 2.0

  /// Standard deviation of the specific force over the last 2 s, all axes, m/s².
  private var motionLevel: Double {
    (history.variance(.forceX, last: 100) + history.variance(.forceY, last: 100)
      + history.variance(.forceZ, last: 100)).squareRoot()
  }

  /// Whether a hop passes a gate as a walk.
  private func passes(_ gate: StepTuning.Gate, _ m: GaitMeasures) -> Bool {
    passesBounce(gate, m)
      && (m.sway >= tuning.leastSway || m.strideRate >= tuning.strideRoll || m.directness < tuning.oneAxis)
      && (m.hasRotation || m.isGravityFree || m.directness < tuning.oneAxis
        || m.directness >= (isWalking ? tuning.leastDirectnessToStay : tuning.leastDirectness))
      && (!m.hasRotation || m.horizontal >= tuning.leastHorizontal
        || m.horizontal >= tuning.leastHorizontalRepeated && m.repeats >= tuning.repeats)
      && !isStandingArm(m)
      && (m.subHarmonic <= tuning.subHarmonic || isArmSwing(m))
  }

  /// The same without a look at the stride.
  private func passesBounce(_ gate: StepTuning.Gate, _ m: GaitMeasures) -> Bool {
    let isRun = m.frequency >= tuning.runFrequency && m.amplitude >= tuning.runAmplitude
    let bounce = isRun ? max(tuning.runBounce, gate.bounce) : gate.bounce
    let turnsGravity =
      isRun || !m.hasRotation && m.periodicity >= tuning.armPeriodicity && m.sway >= tuning.armSway
    return m.periodicity >= gate.periodicity
      && m.directness <= (turnsGravity ? max(tuning.armDirectness, gate.directness) : gate.directness)
      && m.cosWander >= gate.cosWander && m.bounce <= bounce && m.amplitude >= gate.amplitude
  }

  /// Whether the steps of a swinging limb show well in the bounce too; it gives their times more evenly.
  private func readsBounce(_ m: GaitMeasures) -> Bool {
    abs(m.frequency - 2 * m.pendulum.frequency) < tuning.swingAgreement * m.frequency
      && m.subHarmonic < tuning.swingSubHarmonic && passesBounce(isWalking ? tuning.stay : tuning.start, m)
  }

  /// Whether a limb swings the device.
  private func passesSwing(_ gate: StepTuning.SwingGate, _ m: GaitMeasures) -> Bool {
    let p = m.pendulum
    return m.hasRotation && !isStandingArm(m) && gate.lever.contains(p.lever)
      && (p.coherence >= gate.coherence || isLooseArm(m))
      && p.rate >= gate.rate
      && p.dominance >= gate.dominance && p.periodicity >= gate.periodicity
  }

  /// Whether an arm that hardly swings does so as evenly as walkers do.
  private func isLooseArm(_ m: GaitMeasures) -> Bool {
    m.pendulum.coherence >= tuning.looseCoherence && m.pendulum.dominance >= tuning.looseDominance
      && m.pendulum.periodicity >= tuning.loosePeriodicity && m.repeats >= tuning.looseRepeats
  }

  /// Whether all that moves is an arm about a joint at rest.
  private func isStandingArm(_ m: GaitMeasures) -> Bool {
    m.hasRotation && m.pendulum.rate >= tuning.standingRate && tuning.standingArm.contains(m.pivot.arm)
      && m.pivot.share >= tuning.standingShare && m.pivot.bounce <= tuning.standingBounce * m.pivot.vertical
  }

  /// Whether a large sub-harmonic is an arm that swings.
  private func isArmSwing(_ m: GaitMeasures) -> Bool {
    if m.hasRotation {
      return isWalking && swingMemory > 0
        || m.strideRate >= tuning.limbRate && min(m.periodicity, m.repeats) >= tuning.limbRepeats
          && m.subHarmonic <= tuning.limbSubHarmonic
    }
    guard m.sway >= tuning.armSway else { return false }
    let isEven = m.periodicity >= (isWalking ? tuning.evenArmToStay : tuning.evenArm)
    return isEven
      ? m.amplitude >= tuning.evenArmAmplitude && m.subHarmonic <= tuning.evenArmSubHarmonic
      : m.amplitude >= tuning.armAmplitude && m.subHarmonic <= tuning.armSubHarmonic
  }

  /// Confirms a bout and releases the steps of its run.
  private mutating func release(_ m: GaitMeasures) {
    let now = resampler.gridTime
    let period = m.period * 50
    guard peaks.count > 0, peaks.peaks[peaks.count - 1].age <= period + 1.7 * 50 else { return }
    // The run: back from the newest peak while the gaps are those of steps.
    var last = peaks.count
    var first = last - 1
    let gap = (isWalking ? tuning.gapToStay : tuning.gapToStart) * period
    while first > 0, peaks.peaks[first - 1].age - peaks.peaks[first].age <= gap { first -= 1 }
    let low = 0.4 * peaks.medianHeight(first..<last)
    // Weak edges are not steps yet: they come back when stronger ones follow.
    while last > first, peaks.peaks[last - 1].height < low { last -= 1 }
    while first < last, peaks.peaks[first].height < low,
      seconds(from: lastRelease, to: time(ofAge: peaks.peaks[first].age, now)) > 1.7 * m.period
    {
      first += 1
    }
    if !isWalking {
      let length = last - first
      let isStrong = length >= tuning.startPeaks && goodHops >= tuning.startHops
      let isSteady =
        length >= tuning.weakPeaks && weakHops >= tuning.weakHops
        && peaks.intervalSpread(first..<last) < tuning.weakIntervalSpread
      let isSwing = length >= tuning.startPeaks && swingHops >= tuning.swingHops
      guard isStrong || isSteady || isSwing else { return }
      isWalking = true
    }
    for i in first..<last {
      let time = time(ofAge: peaks.peaks[i].age, now)
      guard seconds(from: lastRelease, to: time) > 0.6 * m.period else { continue }
      if boutSteps >= 6 {
        let usual = max(recent.medianInterval, m.period)
        let gap = seconds(from: lastRelease, to: time)
        if gap >= 1.75 * usual, gap <= 2.3 * usual {
          add(lastRelease + (time - lastRelease) / 2, isInterpolated: true, m)
        }
      }
      add(time, isInterpolated: false, m)
    }
  }

  private mutating func add(_ time: Int64, isInterpolated: Bool, _ m: GaitMeasures) {
    count += 1
    boutSteps += 1
    if boutStart == nil { boutStart = Timestamp(nanoseconds: time) }
    lastRelease = time
    recent.append(time)
    let cadence = recent.cadence ?? m.frequency
    let stamp = Timestamp(nanoseconds: time)
    newSteps.append(Step(time: stamp, number: count, cadence: cadence, isInterpolated: isInterpolated))
    if let length = configuration.stepLength(cadence: cadence) { distance = (distance ?? 0) + length }
    if isPaused {
      isPaused = false
      newEvents.append(PedometerEvent(time: stamp, kind: .resume))
    }
  }

  private func time(ofAge age: Double, _ now: Int64) -> Int64 {
    now - Int64((age * Double(GridResampler.interval)).rounded())
  }

  private func seconds(from a: Int64, to b: Int64) -> Double {
    Timestamp(nanoseconds: b).seconds(since: Timestamp(nanoseconds: a))
  }
}

/// The times of the last six steps of a bout.
struct RecentSteps: Sendable {
  private var times = SIMD8<Int64>.zero
  private var count = 0

  mutating func removeAll() { count = 0 }

  mutating func append(_ time: Int64) {
    if count == 6 {
      for i in 1..<6 { times[i - 1] = times[i] }
      count = 5
    }
    times[count] = time
    count += 1
  }

  /// Steps per second over the last five intervals; nil before there are as many.
  var cadence: Double? {
    guard count == 6, times[5] > times[0] else { return nil }
    return 5e9 / Double(times[5] - times[0])
  }

  /// The median of the last intervals, s; 0 before there is one.
  var medianInterval: Double {
    guard count >= 2 else { return 0 }
    var intervals = SIMD8<Int64>.zero
    let n = count - 1
    for i in 0..<n {
      var j = i
      let value = times[i + 1] - times[i]
      while j > 0, intervals[j - 1] > value {
        intervals[j] = intervals[j - 1]
        j -= 1
      }
      intervals[j] = value
    }
    let middle = n % 2 == 1 ? Double(intervals[n / 2]) : 0.5 * Double(intervals[n / 2 - 1] + intervals[n / 2])
    return middle / 1e9
  }
}
