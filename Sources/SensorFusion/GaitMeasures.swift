/// What the last seconds look like, seen as gait. Computed by the step counter every 0.24 s.
struct GaitMeasures: Sendable {
  /// Step frequency, Hz.
  var frequency = 0.0
  /// Amplitude of |a| at the step frequency, m/s².
  var amplitude = 0.0
  /// Height of the bounce that this amplitude means, m.
  var bounce = 0.0
  /// Periodicity of |a|, 0 to 1.
  var periodicity = 0.0
  /// Motion in any direction over motion along gravity, 1 and up.
  var directness = 1.0
  /// Cosine of the angle between mean forces two steps apart.
  var cosWander = 1.0
  /// Amplitude of |a| at the stride over that at the step.
  var subHarmonic = 0.0
  /// Amplitude of the axes at the stride over that of |a| at the step.
  var sway = 0.0
  /// Amplitude of the rotation at the stride, rad/s; 0 without a gyroscope.
  var strideRate = 0.0
  /// All earth-frame motion over its vertical part, 1 and up; 1 without a gyroscope.
  var horizontal = 1.0
  /// How well the horizontal motion repeats from stride to stride, -1 to 1.
  var repeats = 1.0
  /// The swing of a limb that carries the device; nil without a gyroscope.
  var pendulum = Pendulum()
  /// The motion of the joint that it hangs from.
  var pivot = PivotMotion()
  /// Whether the attitude filter has covered the whole window.
  var hasRotation = false
  /// Whether the input has gravity taken off.
  var isGravityFree = false
  /// Whether |a| shows the stride (half or three halves of the step frequency).
  var showsStride = false

  /// One step's time, s.
  var period: Double { 1 / frequency }

  /// Measures the history. Needs at least `GaitMeasures.leastSamples` in it and a spectrum that was evaluated.
  init(history: GaitHistory, spectrum: SlidingSpectrum, prior: [Double], rotationSamples: Int, tuning: StepTuning) {
    let gateSamples = Self.gateSamples
    hasRotation = rotationSamples >= min(history.count, SlidingSpectrum.window)
    isGravityFree = history.mean(.norm, last: 50) < tuning.gravityFreeBelow

    // The step frequency: where the spectrum, its harmonics and the sway at the stride agree best with a cadence.
    var best = -1.0
    var peak = Self.lowestStep
    for k in Self.lowestStep...Self.highestStep {
      let half = spectrum.force(atHalfIndex: k)
      let transverse = max(0, spectrum.axes(atHalfIndex: k) - half)
      let score =
        prior[k - Self.lowestStep]
        * (spectrum.force[k] + tuning.harmonicVote * (spectrum.force(atHalfIndex: 4 * k) + half)
          + tuning.transverseVote * transverse)
      if score > best {
        best = score
        peak = k
      }
    }
    if !hasRotation { peak = Self.stepBehindArm(history, spectrum, found: peak, tuning) }
    let (before, at, after) = (spectrum.force[peak - 1], spectrum.force[peak], spectrum.force[peak + 1])
    frequency = SlidingSpectrum.step * Double(peak)
    // Refine by the parabola through the neighbours, at a true maximum only.
    if at >= before, at >= after, before - 2 * at + after < 0 {
      frequency += SlidingSpectrum.step * 0.5 * (before - after) / (before - 2 * at + after)
    }
    amplitude = at.squareRoot()
    let omega = 2 * Double.pi * frequency
    bounce = amplitude / (omega * omega)

    let atStride = SlidingSpectrum.largest(in: spectrum.force, near: 0.5 * frequency, within: tuning.nearWidth)
    let above = SlidingSpectrum.largest(in: spectrum.force, near: 1.5 * frequency, within: tuning.nearWidth)
    let floor = max(amplitude, 1e-9)
    subHarmonic = atStride.squareRoot() / floor
    showsStride = max(atStride, above).squareRoot() > tuning.longKernelShare * floor
    sway =
      SlidingSpectrum.largest(in: spectrum.axes, near: 0.5 * frequency, within: tuning.nearWidth).squareRoot() / floor
    if hasRotation {
      strideRate =
        SlidingSpectrum.largest(in: spectrum.rates, near: 0.5 * frequency, within: tuning.nearWidth).squareRoot()
      let up = history.variance(.earthZ, last: gateSamples)
      let across = history.variance(.earthX, last: gateSamples) + history.variance(.earthY, last: gateSamples)
      pendulum = Pendulum(history: history, spectrum: spectrum, last: gateSamples)
      pivot = PivotMotion(history: history, last: gateSamples, swing: pendulum.frequency)
      repeats = Self.horizontalRepetition(of: history, stride: 100 / frequency, last: gateSamples)
      horizontal = ((across + up) / max(up, 1e-12)).squareRoot()
    }

    if !isGravityFree {
      let along = history.variance(.bandNorm, last: gateSamples)
      let all =
        history.variance(.bandX, last: gateSamples) + history.variance(.bandY, last: gateSamples)
        + history.variance(.bandZ, last: gateSamples)
      directness = (all / max(along, 1e-12)).squareRoot()
      let twoSteps = max(1, Int((2 * 50 / frequency).rounded()))
      let new = history.meanForce(last: twoSteps, age: 0)
      let old = history.meanForce(last: twoSteps, age: min(twoSteps, history.count - 1))
      let norms = (new.squaredNorm * old.squaredNorm).squareRoot()
      cosWander = norms > 0 ? new.dot(old) / norms : 1
    }
    periodicity = Self.periodicity(of: history, .bandNorm, period: 50 / frequency, last: gateSamples)
  }

  /// Nothing known.
  init() {}

  /// Grid indices of the slowest and the fastest step (0.8 and 3.5 Hz).
  static let lowestStep = 16
  static let highestStep = 70
  /// Samples that the gates look at (3 s).
  static let gateSamples = 150
  /// Samples needed for a first answer (1.5 s).
  static let leastSamples = 75

  /// The cadence prior on the step frequencies: normal in octaves.
  static func prior(_ tuning: StepTuning) -> [Double] {
    let octave = Elementary.log(2)
    return (lowestStep...highestStep).map { k in
      let octaves = Elementary.log(SlidingSpectrum.step * Double(k) / tuning.priorCentre) / octave
      let z = octaves / tuning.priorWidth
      return Elementary.exp(-0.5 * z * z)
    }
  }

  /// Where the steps are if what was found is a line of an arm's stride, by the accelerometer alone; else what was found.
  ///
  /// The stride of a swinging arm shows in |a| with its harmonics. When it bounces by more than a body and no more than a
  /// hand, and all repeats, the step is its second; when its third was found, nothing repeats with that and all does with
  /// two thirds of it.
  private static func stepBehindArm(
    _ history: GaitHistory, _ spectrum: SlidingSpectrum, found: Int, _ tuning: StepTuning
  ) -> Int {
    func repeats(_ line: Int) -> Double {
      periodicity(
        of: history, .bandNorm, period: 50 / (SlidingSpectrum.step * Double(line)), last: gateSamples)
    }
    func strongest(near line: Int) -> Int {
      var best = line
      for k in (line - 2)...(line + 2) where spectrum.force[k] > spectrum.force[best] { best = k }
      return best
    }
    let omega = 2 * Double.pi * SlidingSpectrum.step * Double(found)
    let amplitude = spectrum.force[found].squareRoot()
    if tuning.armStrideBounce.contains(amplitude / (omega * omega)), 2 * found <= highestStep {
      let step = strongest(near: 2 * found)
      let atStep = spectrum.force[step].squareRoot()
      let isArm = atStep >= tuning.armAmplitude && amplitude <= tuning.evenArmSubHarmonic * atStep
      return isArm && repeats(found) >= tuning.armPeriodicity ? step : found
    }
    let step = strongest(near: (2 * found + 1) / 3)
    guard step >= lowestStep, repeats(found) < tuning.stay.periodicity else { return found }
    return repeats(step) >= tuning.armPeriodicity ? step : found
  }

  /// The largest normalised autocorrelation of the horizontal acceleration near one stride (in grid samples).
  static func horizontalRepetition(of history: GaitHistory, stride: Double, last n: Int) -> Double {
    var largest = -1.0
    history.withChannels { channel in
      let (x, y) = (channel(.earthX), channel(.earthY))
      let low = Int((0.92 * stride).rounded(.up))
      let high = Int((1.08 * stride).rounded(.down))
      guard low <= high else { return }
      for lag in low...high {
        let begin = max(history.count - n, lag)
        guard history.count - begin >= 40 else { break }
        var (cross, now, then) = (0.0, 0.0, 0.0)
        for i in begin..<history.count {
          cross += x[i] * x[i - lag] + y[i] * y[i - lag]
          now += x[i] * x[i] + y[i] * y[i]
          then += x[i - lag] * x[i - lag] + y[i - lag] * y[i - lag]
        }
        if now * then > 0 { largest = max(largest, cross / (now * then).squareRoot()) }
      }
    }
    return largest
  }

  /// The largest normalised autocorrelation of the band-passed |a| near one and near two periods (in grid samples).
  static func periodicity(
    of history: GaitHistory, _ channel: GaitHistory.Channel, period: Double, last n: Int
  ) -> Double {
    history.withValues(channel) { x in
      var largest = -1.0
      for steps in 1...2 {
        let multiple = Double(steps)
        let low = Int((0.88 * multiple * period).rounded(.up))
        let high = Int((1.12 * multiple * period).rounded(.down))
        guard low <= high else { continue }
        for lag in low...high {
          let begin = max(x.count - n, lag)
          guard x.count - begin >= 40 else { break }
          // Four partial sums each, so that the additions overlap.
          var cross = SIMD4<Double>.zero
          var now = SIMD4<Double>.zero
          var then = SIMD4<Double>.zero
          var i = begin
          while i + 4 <= x.count {
            let a = SIMD4(x[i], x[i + 1], x[i + 2], x[i + 3])
            let b = SIMD4(x[i - lag], x[i - lag + 1], x[i - lag + 2], x[i - lag + 3])
            cross += a * b
            now += a * a
            then += b * b
            i += 4
          }
          while i < x.count {
            cross[0] += x[i] * x[i - lag]
            now[0] += x[i] * x[i]
            then[0] += x[i - lag] * x[i - lag]
            i += 1
          }
          let energy = ((now[0] + now[1]) + (now[2] + now[3])) * ((then[0] + then[1]) + (then[2] + then[3]))
          guard energy > 0 else { continue }
          largest = max(largest, ((cross[0] + cross[1]) + (cross[2] + cross[3])) / energy.squareRoot())
        }
      }
      return largest
    }
  }
}
