/// The step counter's limits, each with its unit and its reason. docs/STEPS-ALTITUDE.md has the evidence.
struct StepTuning: Hashable, Sendable {
  /// What the bounce of one hop must show to count as gait.
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

  /// What the swing of a limb must show (`Pendulum`).
  struct SwingGate: Hashable, Sendable {
    /// Lever from the joint to the device, m: a limb's length, hanging down.
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

  // Strong gait starts a bout after this many good hops (0.24 s each) with this many steps.
  var start = Gate(periodicity: 0.55, directness: 1.9, cosWander: Self.cos20, bounce: 0.040, amplitude: 0.60)
  var startHops = 4
  var startPeaks = 5

  // Weak but steady gait starts one after longer, if its intervals are even (coefficient of variation).
  var weak = Gate(periodicity: 0.35, directness: 2.8, cosWander: Self.cos20, bounce: 0.045, amplitude: 0.25)
  var weakHops = 8
  var weakPeaks = 6
  var weakIntervalSpread = 0.12
  /// Below this amplitude, m/s², a walker must sway this much (over the bounce); the body of a bus does not.
  var weakSwayBelow = 0.60
  var weakSway = 0.5
  /// Half of that will do where the motion is as periodic as only walking is: 90 % of the hops of a bus that pass are below
  /// 0.86.
  var evenPeriodicity = 0.9
  var evenSway = 0.25

  // Gait that goes on; and the bad hops that end it, before and after the bout is `longBout` steps long.
  var stay = Gate(periodicity: 0.35, directness: 2.8, cosWander: Self.cos30, bounce: 0.060, amplitude: 0.25)
  var badHops = 3
  var badHopsLong = 6
  var longBout = 20

  /// Least sway at the stride over the bounce: a walker's is 0.22 and more (0.08 on the back of a fast one, where the list
  /// of the pelvis hides it), a hand's that bounces or stirs 0.05.
  var leastSway = 0.07
  /// Rotation at the stride that does as well, rad/s: a hand-held phone of a walker rolls with 0.2 and more.
  var strideRoll = 0.15
  /// Least rotation at the stride to start, rad/s: a walker's body turns with every stride (0.1 and more), a bus does not
  /// (0.04 to 0.07 on a bad road).
  var strideTurn = 0.08
  /// Below this directness the source has no transverse axis worth the name, and sway is not asked for.
  var oneAxis = 1.003
  /// Least earth-frame motion over its vertical part: walkers 1.1 and more, taps and vertical shaking 1.03.
  var leastHorizontal = 1.08
  /// The same if the horizontal motion repeats from stride to stride as well as this: a runner's or a stair climber's
  /// bounce is large.
  var leastHorizontalRepeated = 1.02
  var repeats = 0.6

  // An arm that swings or waves (rad/s, m) about a joint at rest: its turning explains this share of the motion across
  // gravity, and all but this share of the bounce twice in a swing. Whoever does that stands. Real walkers' arms explain
  // 0.89 across at most, simulated ones leave more of the bounce.
  var standingRate = 0.5
  var standingArm = 0.1...1.2
  var standingShare = 0.93
  var standingBounce = 0.15

  // A limb that swings the device, with a gyroscope.
  var swingStart = SwingGate(lever: 0.12...0.9, coherence: 0.50, rate: 0.5, dominance: 1.8, periodicity: 0.45)
  var swingStay = SwingGate(lever: 0.12...1.0, coherence: 0.45, rate: 0.5, dominance: 1.6, periodicity: 0.40)
  var swingHops = 4
  /// The lever of an arm that hardly swings is lost in the sway of the body: less will do where everything repeats.
  var looseCoherence = 0.3
  var looseDominance = 2.5
  var loosePeriodicity = 0.8
  var looseRepeats = 0.8
  /// Hops for which a limb that swung excuses a large sub-harmonic (5 s: a turn).
  var swingMemory = 20
  /// The bounce is read rather than the swing while their frequencies agree this well and the stride is smaller.
  var swingAgreement = 0.12
  var swingSubHarmonic = 1.0
  /// Least height of a peak of |rotation rate|, rad/s.
  var swingFloor = 0.1

  // A limb that turns with the stride (rad/s) excuses a sub-harmonic up to this while all the motion repeats.
  var limbRate = 0.7
  var limbRepeats = 0.75
  var limbSubHarmonic = 1.3

  // Arm swing from the accelerometer alone excuses a sub-harmonic: amplitude, m/s², the largest sub-harmonic, and sway.
  var armAmplitude = 0.7
  var armSubHarmonic = 3.5
  var armSway = 1.0
  /// An arm that swings as evenly as this, to start and to go on, may do so weakly and at the stride above all: three of
  /// four hand motions with such a stride are below 0.5, three of four real swings above 0.59.
  var evenArm = 0.8
  var evenArmToStay = 0.7
  var evenArmAmplitude = 0.25
  var evenArmSubHarmonic = 5.0
  /// The stride of an arm was found in place of the step: by how much the hand bounces, m, from more than a body does to
  /// what arms do (hand motions 0.1 to 0.3), and the periodicity asked for.
  var armStrideBounce = 0.045...0.11
  var armPeriodicity = 0.9

  /// Least motion over that along gravity without a gyroscope, to start and to go on: real walkers' 1.10 and more in 99 %,
  /// buses, drumming hands and arms swung in standing 1.02 to 1.06 in the median. `oneAxis` is not asked.
  var leastDirectness = 1.08
  var leastDirectnessToStay = 1.03

  // Running with the device in the hand, or an arm that swings far and evenly: the arm turns gravity about. Hz and m/s².
  var armDirectness = 4.5
  var runFrequency = 2.3
  var runAmplitude = 2.0
  /// A runner's bounce, m: up to 10 cm from the lowest to the highest point.
  var runBounce = 0.055

  /// Below this mean |a| the input has gravity taken off already, m/s².
  var gravityFreeBelow = 6.5

  // The cadence prior: centre, Hz, and width, octaves; and the weight of harmonics and of sway in the step frequency.
  var priorCentre = 1.75
  var priorWidth = 0.45
  var harmonicVote = 0.2
  var transverseVote = 0.05

  /// Largest sub-harmonic of a walker: amplitude of |a| at the stride over that at the step.
  var subHarmonic = 0.85
  /// Half width of "near the stride frequency", Hz.
  var nearWidth = 0.13
  /// Sub-harmonic share from which the kernel spans two steps either side.
  var longKernelShare = 0.85

  // Least height of a step's peak: share of the amplitude, and m/s².
  var peakShare = 0.25
  var peakFloor = 0.15
  // Largest gap between steps of one run, in steps, to start and to go on.
  var gapToStart = 1.7
  var gapToStay = 2.4

  private static let cos20 = 0.9396926207859084
  private static let cos30 = 0.8660254037844387

  /// The default sensitivity.
  static let standard = StepTuning()
  /// Fewer false steps on hand motion, at the price of late starts, weak walkers and, without a gyroscope, arm swing.
  static let strict: StepTuning = {
    var tuning = StepTuning()
    tuning.startHops = 6
    tuning.weakHops = 12
    tuning.subHarmonic = 0.7
    tuning.armAmplitude = 1.5
    return tuning
  }()
}
