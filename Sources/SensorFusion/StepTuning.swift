/// The step counter's limits, each with its unit and its reason. docs/STEPS-ALTITUDE.md has the evidence.
struct StepTuning: Hashable, Sendable {
  /// What one hop must show to count as gait.
  struct Gate: Hashable, Sendable {
    /// Least periodicity of |a| over one or two steps, 0 to 1.
    var periodicity: Double
    /// Largest directness: how much of the motion is not along gravity (1: none).
    var directness: Double
    /// Smallest cosine of the angle by which gravity wandered in the device over two steps.
    var cosWander: Double
    /// Largest bounce of the body, m.
    var bounce: Double
    /// Least amplitude of |a| at the step frequency, m/s².
    var amplitude: Double
  }

  /// Strong gait: starts a bout after `startHops`.
  var start = Gate(
    periodicity: 0.50, directness: 2.0, cosWander: Self.cos20, bounce: 0.045, amplitude: 0.60)
  var startHops = 4
  var startPeaks = 5
  /// Weak but steady gait: starts a bout after `weakHops` with even intervals.
  var weak = Gate(periodicity: 0.35, directness: 2.6, cosWander: Self.cos20, bounce: 0.045, amplitude: 0.20)
  var weakHops = 8
  var weakPeaks = 6
  var weakIntervalSpread = 0.15
  /// A weak walker still moves across gravity at the stride (sway over bounce); a bus does not.
  var weakSway = 0.6
  var weakSwayBelow = 0.60
  /// Gait that goes on.
  var stay = Gate(periodicity: 0.30, directness: 3.0, cosWander: Self.cos30, bounce: 0.060, amplitude: 0.15)
  /// Bad hops that end a bout, before and after it is `longBout` steps long.
  var badHops = 4
  var badHopsLong = 6
  var longBout = 20

  /// What the swing of a limb must show.
  struct SwingGate: Hashable, Sendable {
    /// Lever from the joint to the device, m.
    var lever: ClosedRange<Double>
    /// How well that lever explains the horizontal acceleration.
    var coherence: Double
    /// Least amplitude of the rotation, rad/s.
    var rate: Double
    /// Least amplitude of the rotation over that at other frequencies.
    var dominance: Double
    /// Least periodicity of |rotation rate|.
    var periodicity: Double
  }
  var swingStart = SwingGate(lever: 0.2...0.9, coherence: 0.55, rate: 0.7, dominance: 1.8, periodicity: 0.45)
  var swingStay = SwingGate(lever: 0.15...1.0, coherence: 0.45, rate: 0.5, dominance: 1.3, periodicity: 0.3)
  var swingHops = 4
  var swingFloor = 0.1
  var strideRoll = 0.15
  var leastSway = 0.12
  var leastHorizontal = 1.08
  var swingMemory = 20
  var swingAgreement = 0.12
  var swingSub = 1.5

  /// Running with the device in the hand: the arm turns gravity about.
  var runDirectness = 4.5
  var runFrequency = 2.3
  var runAmplitude = 2.0

  /// Below this mean |a| the input has gravity taken off already, m/s².
  var gravityFreeBelow = 6.5

  /// Centre (Hz) and width (octaves) of the cadence prior.
  var priorCentre = 1.75
  var priorWidth = 0.45
  var harmonicVote = 0.2
  var transverseVote = 0.1

  /// Largest sub-harmonic of a walker: amplitude of |a| at the stride over that at the step.
  var subHarmonic = 1.0
  /// Half width of "near the stride frequency", Hz.
  var nearWidth = 0.13
  /// Arm swing with a gyroscope: amplitude of the rotation at the stride, rad/s, and share of horizontal motion.
  var armRate = 1.0...6.0
  var armHorizontal = 1.5
  /// Arm length for the centripetal part of |a|, m.
  var armLength = 0.7
  /// Arm swing from the accelerometer alone.
  var armAmplitude = 0.7
  var armSubHarmonic = 0.4...3.5
  var armSway = 0.8
  /// Whether arm swing excuses a large sub-harmonic.
  var allowsArmSwing = true

  /// Sub-harmonic share from which the kernel spans two steps either side.
  var longKernelShare = 0.85
  /// Least height of a step's peak: share of the amplitude, and m/s².
  var peakShare = 0.25
  var peakFloor = 0.15
  /// Largest gap between steps of one run in steps, to start and to go on.
  var gapToStart = 1.7
  var gapToStay = 2.4

  private static let cos20 = 0.9396926207859084
  private static let cos30 = 0.8660254037844387

  /// The default sensitivity.
  static let standard = StepTuning()
  /// Fewer false steps on hand motion, at the price of real ones.
  static let strict: StepTuning = {
    var tuning = StepTuning()
    tuning.allowsArmSwing = false
    tuning.startHops = 6
    return tuning
  }()
}
