// The numbers of the attitude filter that are not settings: each with its unit and its reason. Chosen on recordings and
// on simulated motion; docs/FUSION.md gives the evidence.

/// Degrees in radians.
let degree = Double.pi / 180

enum FilterConstants {
  // MARK: Intervals

  /// How long samples are accumulated between corrections, s. 0.02 to 0.1 give the same accuracy; longer is faster.
  static let interval = 0.1
  /// An interval without an accelerometer sample ends after this, s, with a prediction alone.
  static let longestInterval = 1.0
  /// From this share of the range on, a value counts as clipped.
  static let clippedShare = 0.98
  /// Samples beyond these are faults, not motion, and are not used: m/s², rad/s, µT.
  static let largestForce = 1e5
  static let largestRate = 1e3
  static let largestField = 1e5

  // MARK: Start

  /// 1-sigma of the tilt of the first sample, rad: a hand's tremor.
  static let firstTiltSigma = 5 * degree
  /// A force below this tells no direction, m/s².
  static let smallestForce = 0.5
  /// 1-sigma of the horizontal velocity proxy at the start and after a reset, m/s.
  static let velocitySigma = 0.5
  /// 1-sigma of the hard iron that a calibration left, µT.
  static let ironSigma = 2.5
  /// The same where a whole recording has been seen before, for the smoother.
  static let learntIronSigma = 1.0
  /// 1-sigma of the first heading, rad: not the sensor's noise; the first field is often stale or disturbed.
  static let firstHeadingSigma = 60 * degree
  /// How long output in a frame with a north waits for the first magnetometer sample, s.
  static let longestWaitForHeading = 0.5

  /// 1-sigma of the gyroscope's scale error on an axis: data sheets of MEMS parts say 1 %, calibrated ones are better.
  static let scaleSigma = 0.007

  // MARK: Process noise

  /// Angle random walk of the gyroscope, rad/sqrt(s).
  static let rateNoise = 0.05 * degree
  /// Tilt noise that grows with the rate (misalignment of the axes), sqrt(s).
  static let tiltNoisePerRate = 0.003
  /// Tilt noise that grows with the squared rate (sampling and timing), s^1.5.
  static let tiltNoisePerSquaredRate = 0.0012
  /// Heading noise that grows with the rate (misalignment and timing: 0.2 % correlated over 3 s), sqrt(s).
  static let headingNoisePerRate = 0.005
  /// Random walk of the gyroscope bias, rad/s/sqrt(s).
  static let biasWalk = 0.02 * degree
  /// Random walk of the hard iron, µT/sqrt(s).
  static let ironWalk = 0.05

  // MARK: Accelerometer

  /// Noise of the bounded-velocity measurement at rest, m/s sqrt(s).
  static let velocityNoise = 0.8
  /// Its growth with the acceleration seen, s^1.5.
  static let velocityNoisePerAcceleration = 0.25
  /// Mean force beyond which an accelerometer of unknown range may have been clipped within the interval, m/s², and the
  /// 1-sigma of what it then missed, as a share of the excess.
  static let strongForce = 45.0
  static let strongForceShare = 4.0
  /// Time constants that keep the motion's own frequency out of the tilt, s: of the low-passed velocity that corrects
  /// it, and of the mean vertical force by which a tilt error makes velocity. Without them a swing's velocity, seen
  /// through gains and a force that swing along with it, has a mean, which pulls the tilt.
  static let velocityFilterTime = 0.15
  static let verticalForceTime = 5.0
  /// Time constant of the mean squared acceleration, s.
  static let activityTime = 1.0
  /// Mean squared acceleration assumed at the start, (m/s²)².
  static let firstActivity = 1.0
  /// Share of the accelerometer's bias gain that is used: motion is coloured and fixed to the device, so the gain for
  /// white noise is over-confident.
  static let accelerometerBiasShare = 0.5

  /// 1-sigma of an accelerometer's scale and alignment, for the stated tilt sigma alone.
  static let accelerometerScaleSigma = 0.005
  /// 1-sigma of its offset after a calibration, m/s².
  static let calibratedOffsetSigma = 0.03

  // MARK: Rest

  /// Time constant of the rest detector's low-passes, s.
  static let restFilterTime = 0.5
  /// Deviation of the force from its low-pass that rest allows, m/s².
  static let restForce = 0.5
  /// Deviation of the rate from its low-pass that rest allows, rad/s.
  static let restRate = 2 * degree
  /// Largest low-passed rate, a bias, that rest allows on an axis, rad/s.
  static let restLargestRate = 10 * degree
  /// How long all of these must hold, s.
  static let restTime = 1.5
  /// 1-sigma of the mean rate at rest, rad/s, and the time over which it is one observation, s.
  static let restRateSigma = 0.03 * degree
  static let restCorrelationTime = 5.0
  /// From this many sigma on the rate at rest is trusted less.
  static let restGate = 2.0

  // MARK: Magnetometer

  /// 1-sigma of the direction of an undisturbed field, rad, and its correlation time, s.
  static let headingSigma = 10 * degree
  static let fieldCorrelationTime = 2.0
  /// From this many sigma on a heading weighs less: Huber's weight.
  static let huberGate = 1.0
  /// 1-sigma of the horizontal and vertical field against the reference, µT.
  static let fieldSigma = 4.0
  /// Deviations of norm (relative) and dip (rad) that count as one unit.
  static let normWidth = 0.1
  static let dipWidth = 10 * degree
  /// Weight of the squared deviation in the heading's variance.
  static let squaredDeviationWeight = 3.0
  /// Longest memory of the reference field, s; how much faster than a plain mean it forgets its first seconds.
  static let referenceTime = 60.0
  static let referenceForgetting = 1.5
  /// Before this age, s, the reference may be a wrong start, and a device at rest forgets it as fast as a moving one.
  static let referenceTrial = 5.0
  /// Least share of the reference's gain that a deviating field keeps.
  static let referenceFloor = 0.1
  /// A deviating field that stays within this squared deviation of its own mean (memory in s) for this long, s, while the
  /// device moves, is the new reference.
  static let newFieldScatter = 0.25
  static let newFieldMemory = 2.0
  static let newFieldTime = 15.0
  /// Largest step towards which the reference moves: share of the norm, and rad of dip.
  static let referenceNormClip = 0.3
  static let referenceDipClip = 30 * degree
  /// Memory of the orientations seen, s, for the hard iron's coverage gate.
  static let coverageTime = 20.0
  /// Memory of the consistency check, s; the weight it needs; the sigmas that reset the heading's variance.
  static let consistencyTime = 10.0
  static let consistencyWeight = 0.3
  static let consistencyGate = 3.0
  /// Time constant of the field's scatter, s; its share of the norm below which a field in motion is frozen; the rate
  /// that is motion, rad/s; the decay of the weight, s; the least weight.
  static let scatterTime = 0.5
  static let frozenScatter = 0.002
  static let firstScatter = 0.01
  static let frozenRate = 5 * degree
  static let frozenDecay = 1.5
  static let frozenFloor = 1e-4
  /// A field whose squared deviation exceeds this is reported as disturbed.
  static let disturbedDeviation = 1.0
  /// Least change of the hard iron in use, µT, that makes the heading uncertain and the reference begin anew; the largest
  /// 1-sigma of the heading then, rad; the least horizontal field that it is reckoned with, µT.
  static let ironShift = 3.0
  static let ironShiftLargestSigma = 45 * degree
  static let leastHorizontalField = 10.0
  /// Longest time that one magnetometer sample stands for, s.
  static let longestFieldTime = 1.0

  // MARK: Gaps and saturation

  /// A step between gyroscope samples longer than this, s, and than this many usual steps, is a gap.
  static let gap = 0.1
  static let gapSteps = 2.5
  /// The longest gap over which the mean of the rates before and after is integrated, s.
  static let longestBridge = 1.0
  /// Uncertainty of a bridged gap: share of the turn, least and largest angle, rad; the time until the rates before
  /// it tell nothing, s.
  static let gapShare = 0.25
  static let gapLeastSigma = 1 * degree
  static let gapLargestSigma = 90 * degree
  static let gapRateMemory = 0.5
  /// 1-sigma of the rate that a clipped gyroscope misses, as a share of what it reads.
  static let clippedRateShare = 0.3
  /// 1-sigma of the force that a clipped accelerometer misses, as a share of what it reads.
  static let clippedForceShare = 1.5

  // MARK: Lost tilt

  /// The tilt is set anew when the mean force over this time, s, lies further than this from the vertical, rad.
  static let lostTiltTime = 1.0
  static let lostTiltAngle = 40 * degree
  /// The same after a gap or saturation that leaves the tilt in doubt.
  static let doubtfulTiltTime = 0.5
  static let doubtfulTiltAngle = 20 * degree
  /// Share of the mean squared acceleration that the squared mean must have: swinging has little, a wrong tilt all.
  static let lostTiltCoherence = 0.7
  /// The same for a tilt in doubt, which needs less to be given up.
  static let doubtfulTiltCoherence = 0.3
  /// The mean force must lie within these multiples of standard gravity.
  static let lostTiltLeastForce = 0.5
  static let lostTiltLargestForce = 1.5
  /// 1-sigma of tilt and heading after that, rad.
  static let resetTiltSigma = 15 * degree
  static let resetHeadingSigma = 20 * degree
  /// A doubtful tilt is set from two intervals in a row that are still: rate in rad/s, force in m/s².
  static let stillRate = 0.1
  static let stillForce = 0.3

  // MARK: Without a gyroscope

  /// With no gyroscope sample for this long, s, or this many usual steps, the accelerometer gives the tilt alone.
  static let gyroscopeTimeout = 1.0
  /// Time constant of the low-passed force and field then, s.
  static let accelerometerTime = 0.3
  /// Least 1-sigma of the tilt then, rad.
  static let accelerometerTiltSigma = 1 * degree

  // MARK: Fixed gains

  /// Time constant of the bias at rest, s.
  static let fixedBiasTime = 2.0
  /// Correlation time of accelerations, s, and the least tilt sigma, rad, for the reported uncertainty.
  static let fixedAccelerationTime = 0.5
  static let fixedTiltSigma = 0.5 * degree
  /// Forces outside these multiples of standard gravity do not correct the tilt.
  static let fixedLeastForce = 0.5
  static let fixedLargestForce = 2.0
}
