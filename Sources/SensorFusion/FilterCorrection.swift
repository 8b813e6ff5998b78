// What happens at the end of each correction interval: prediction of the covariance, then the scalar measurements.

extension ComplementaryFilter {
  /// Corrects the estimate by the sums of the interval, and starts the next.
  mutating func correct() {
    typealias C = FilterConstants
    let duration = interval.duration
    meanSquaredRate = interval.meanSquaredRate
    let force = interval.hasForce ? interval.meanForce : nil
    let before = attitude
    switch configuration.gains {
    case .adaptive:
      if let force {
        verticalForce += (force.z - verticalForce) * lowPassGain(duration, C.verticalForceTime)
      }
      predict(duration, verticalForce: force != nil ? verticalForce : 0)
      if let force {
        correctTilt(by: force, duration: duration)
      } else {
        resetVelocity()
      }
      if rest.isAtRest {
        correctBiasAtRest(.x, duration: duration)
        correctBiasAtRest(.y, duration: duration)
        correctBiasAtRest(.z, duration: duration)
      }
      if interval.hasField { correctHeading() }
    case .fixed(let accelerometerTime, let magnetometerTime):
      if let force { correctTilt(by: force, duration: duration, timeConstant: accelerometerTime) }
      if rest.isAtRest { bias += (rest.rate - bias) * lowPassGain(duration, C.fixedBiasTime) }
      if interval.hasField { correctHeading(timeConstant: magnetometerTime) }
    }
    if let force { recoverTilt(from: force, attitude: before, duration: duration) }
    interval = CorrectionInterval()
    rotation = Matrix3(attitude)
    rate = correctedRate(rawRate)
    if !isSound { restart() }
    updateSigmas()
  }

  // MARK: Prediction

  private mutating func predict(_ duration: Double, verticalForce: Double) {
    typealias C = FilterConstants
    covariance.predict(
      rotationIntegral: interval.rotationIntegral, turnIntegral: interval.turnIntegral,
      verticalImpulse: verticalForce * duration)
    let w2 = meanSquaredRate
    let rateNoise = C.rateNoise * C.rateNoise
    let tilt =
      rateNoise + C.tiltNoisePerRate * C.tiltNoisePerRate * w2
      + C.tiltNoisePerSquaredRate * C.tiltNoisePerSquaredRate * w2 * w2
    let heading = rateNoise + C.headingNoisePerRate * C.headingNoisePerRate * w2
    covariance.inflate(tilt: tilt * duration, heading: heading * duration)
    if !hasHeading { covariance.resetHeading(variance: 0) }
    let walk = C.biasWalk * C.biasWalk * duration
    covariance.bias.xx += walk
    covariance.bias.yy += walk
    covariance.bias.zz += walk
    covariance.limitBias(variance: configuration.initialBiasSigma * configuration.initialBiasSigma)
    if covariance.hasIron {
      let walk = C.ironWalk * C.ironWalk * duration
      covariance.iron.xx += walk
      covariance.iron.yy += walk
      covariance.iron.zz += walk
    }
  }

  // MARK: Accelerometer

  /// The force less gravity, integrated, must stay near zero: what grows is a tilt error's.
  private mutating func correctTilt(by force: Vector3, duration: Double) {
    typealias C = FilterConstants
    velocityX += force.x * duration
    velocityY += force.y * duration
    let gain = lowPassGain(duration, C.velocityFilterTime)
    meanVelocityX += (velocityX - meanVelocityX) * gain
    meanVelocityY += (velocityY - meanVelocityY) * gain
    updateActivity(force, duration: duration)
    // What the accelerometer missed is a velocity error, not a tilt error. To drop the interval instead would be worse:
    // clipping chooses the same phase of a swing again and again.
    let norm = force.norm
    let missed = max(
      interval.isForceClipped ? C.clippedForceShare * norm : 0, C.strongForceShare * (norm - C.strongForce))
    if missed > 0 {
      let impulse = missed * duration
      covariance.velocityXX += impulse * impulse
      covariance.velocityYY += impulse * impulse
    }
    let noise =
      C.velocityNoise * C.velocityNoise
      + C.velocityNoisePerAcceleration * C.velocityNoisePerAcceleration * activity
    let variance = noise / duration

    let h = covariance.velocityXColumn
    let s = h.velocityX + variance
    let k = accelerometerGain(h, innovationVariance: s)
    covariance.update(gain: k, column: h, innovationVariance: s)
    apply(k, innovation: -meanVelocityX)

    let h2 = covariance.velocityYColumn
    let s2 = h2.velocityY + variance
    let k2 = accelerometerGain(h2, innovationVariance: s2)
    covariance.update(gain: k2, column: h2, innovationVariance: s2)
    apply(k2, innovation: -meanVelocityY)
  }

  private mutating func updateActivity(_ force: Vector3, duration: Double) {
    let squared = (force - Vector3(0, 0, standardGravity)).squaredNorm
    activity += (squared - activity) * lowPassGain(duration, FilterConstants.activityTime)
    if rest.isAtRest { activity = min(activity, squared) }
  }

  /// The accelerometer tells nothing about heading and hard iron, and less about the bias than white noise would.
  private func accelerometerGain(_ h: ErrorVector, innovationVariance s: Double) -> ErrorVector {
    let r = 1 / s
    return ErrorVector(
      rotation: Vector3(h.rotation.x * r, h.rotation.y * r, 0),
      bias: h.bias * (lostTilt.isDoubtful ? 0 : r * FilterConstants.accelerometerBiasShare),
      scale: lostTilt.isDoubtful ? .zero : h.scale * r,
      velocityX: h.velocityX * r, velocityY: h.velocityY * r, hardIron: .zero)
  }

  /// At rest the low-passed rate is the bias.
  private mutating func correctBiasAtRest(_ axis: Axis, duration: Double) {
    typealias C = FilterConstants
    let noise = C.restRateSigma * C.restRateSigma
    let h = covariance.biasColumn(axis)
    let variance = h.bias[axis]
    let innovation = rest.rate[axis] - bias[axis]
    let rho2 = innovation * innovation / (variance + noise)
    let gate = C.restGate * C.restGate
    let r = noise * 2 * C.restCorrelationTime / duration * (rho2 > gate ? rho2 / gate : 1)
    let s = variance + r
    var k = h
    k.scale(by: 1 / s)
    covariance.update(gain: k, column: h, innovationVariance: s)
    apply(k, innovation: innovation)
  }

  // MARK: Magnetometer

  private mutating func correctHeading() {
    typealias C = FilterConstants
    let r = interval.meanRotation
    let field = interval.meanField - r * hardIron
    let horizontal = (field.x * field.x + field.y * field.y).squareRoot()
    let norm = field.norm
    guard horizontal > 0, norm > 0 else { return }
    let dip = Elementary.atan2(-field.z, horizontal)
    // The turn that takes the horizontal field to x, north.
    let psi = Elementary.atan2(-field.y, field.x)
    guard hasHeading else {
      firstHeading(psi, norm: norm, dip: dip)
      return
    }
    let duration = min(interval.fieldDuration, C.longestFieldTime)
    guard duration > 0 else { return }
    let deviation = reference.deviation(norm: norm, dip: dip)
    let live = frozenField.weight
    fieldFlags = []
    if deviation > C.disturbedDeviation { fieldFlags.insert(.magneticDisturbance) }
    if live < 0.5 { fieldFlags.insert(.frozenField) }
    let correlation = 2 * C.fieldCorrelationTime / duration
    let undisturbed = C.headingSigma * C.headingSigma
    fieldHeadingVariance = undisturbed * (1 + deviation + C.squaredDeviationWeight * deviation * deviation)

    let coverageGate = addCoverage(r, duration: duration)
    // Heading and horizontal hard iron together give psi.
    let scale = 1 / (horizontal * horizontal)
    let h = (r.x * field.y - r.y * field.x) * scale
    let column = covariance.column(heading: 1, hardIron: h)
    let rho = abs(psi) / (fieldHeadingVariance + covariance.rotation.zz).squareRoot()
    let huber = min(1, C.huberGate / max(rho, 1e-9))
    let s = column.rotation.z + h.dot(column.hardIron) + fieldHeadingVariance * correlation / (huber * live)
    let k = headingGain(column, innovationVariance: s, coverageGate: coverageGate)
    covariance.update(gain: k, column: column, innovationVariance: s)
    apply(k, innovation: psi)

    // The horizontal and vertical field against the reference give the hard iron alone.
    let ironVariance = C.fieldSigma * C.fieldSigma * correlation / live * (1 + deviation)
    let cosDip = Elementary.sinCos(reference.dip)
    correctHardIron(
      by: horizontal - reference.norm * cosDip.cos, along: (r.x * field.x + r.y * field.y) * (1 / horizontal),
      variance: ironVariance, coverageGate: coverageGate)
    correctHardIron(
      by: field.z + reference.norm * cosDip.sin, along: r.z, variance: ironVariance, coverageGate: coverageGate)

    reference.add(
      norm: norm, dip: dip, deviation: deviation, duration: duration, weight: live, isAtRest: rest.isAtRest)
    let extra = consistency.add(
      innovation: psi, weight: live / (1 + deviation), duration: duration,
      variance: covariance.rotation.zz + undisturbed * 2 * C.fieldCorrelationTime / C.consistencyTime)
    covariance.inflate(tilt: 0, heading: extra)
  }

  private mutating func firstHeading(_ psi: Double, norm: Double, dip: Double) {
    attitude = (Quaternion(yaw: psi) * attitude).normalized
    hasHeading = true
    firstMagneticTurn = psi
    magneticTurn = psi
    updateFrameTurn()
    reference = FieldReference(norm: norm, dip: dip)
    covariance.resetHeading(variance: FilterConstants.firstHeadingSigma * FilterConstants.firstHeadingSigma)
    covariance.addHardIron(sigma: FilterConstants.ironSigma)
  }

  /// How far each hard-iron axis can be told from a field error: an axis that has kept one direction in the earth
  /// frame cannot.
  private mutating func addCoverage(_ r: Matrix3, duration: Double) -> Vector3 {
    if hasCoverage {
      coverage.add(r - coverage, times: lowPassGain(duration, FilterConstants.coverageTime))
    } else {
      (coverage, hasCoverage) = (r, true)
    }
    let c = coverage
    return Vector3(
      min(1, max(0, 2 * (1 - (c.x.x * c.x.x + c.y.x * c.y.x + c.z.x * c.z.x)))),
      min(1, max(0, 2 * (1 - (c.x.y * c.x.y + c.y.y * c.y.y + c.z.y * c.z.y)))),
      min(1, max(0, 2 * (1 - (c.x.z * c.x.z + c.y.z * c.y.z + c.z.z * c.z.z)))))
  }

  /// The magnetometer never touches tilt and velocity.
  private func headingGain(_ h: ErrorVector, innovationVariance s: Double, coverageGate: Vector3) -> ErrorVector {
    let r = 1 / s
    return ErrorVector(
      rotation: Vector3(0, 0, h.rotation.z * r), bias: h.bias * r, scale: h.scale * r, velocityX: 0, velocityY: 0,
      hardIron: (h.hardIron * r).scaled(by: coverageGate))
  }

  private mutating func correctHardIron(
    by innovation: Double, along h: Vector3, variance: Double, coverageGate: Vector3
  ) {
    let column = covariance.column(heading: 0, hardIron: h)
    let s = h.dot(column.hardIron) + variance
    let k = ErrorVector(hardIron: (column.hardIron * (1 / s)).scaled(by: coverageGate))
    covariance.update(gain: k, column: column, innovationVariance: s)
    apply(k, innovation: innovation)
  }

  /// Tells that the hard iron that is taken off before the filter is about to change by `shift` (µT, device axes), over
  /// some seconds: the heading has been wrong by about its share of the horizontal field, and what was learnt of
  /// field and hard iron does not hold.
  mutating func expectFieldShift(_ shift: Vector3) {
    typealias C = FilterConstants
    guard hasHeading else { return }
    let horizontal = max(C.leastHorizontalField, reference.norm * Elementary.cos(reference.dip))
    let sigma = min(C.ironShiftLargestSigma, shift.norm / horizontal)
    covariance.inflate(tilt: 0, heading: sigma * sigma)
    hardIron = .zero
    covariance.resetHardIron(sigma: C.ironSigma)
    reference.doubt()
    consistency.clear()
    updateSigmas()
  }

  // MARK: Fixed gains

  private mutating func correctTilt(by force: Vector3, duration: Double, timeConstant: Double) {
    typealias C = FilterConstants
    updateActivity(force, duration: duration)
    let norm = force.norm
    guard norm > C.fixedLeastForce * standardGravity, norm < C.fixedLargestForce * standardGravity else { return }
    let gain = lowPassGain(duration, timeConstant) / norm
    turn(by: Vector3(force.y * gain, -force.x * gain, 0))
    let sigma = C.fixedTiltSigma
    let noise =
      activity / (standardGravity * standardGravity) * C.fixedAccelerationTime
      / (timeConstant + C.fixedAccelerationTime)
    covariance.rotation.xx = sigma * sigma + noise
    covariance.rotation.yy = covariance.rotation.xx
  }

  private mutating func correctHeading(timeConstant: Double) {
    typealias C = FilterConstants
    let field = interval.meanField
    let horizontal = (field.x * field.x + field.y * field.y).squareRoot()
    let norm = field.norm
    guard horizontal > 0, norm > 0 else { return }
    let dip = Elementary.atan2(-field.z, horizontal)
    let psi = Elementary.atan2(-field.y, field.x)
    guard hasHeading else {
      firstHeading(psi, norm: norm, dip: dip)
      return
    }
    let duration = min(interval.fieldDuration, C.longestFieldTime)
    let deviation = reference.deviation(norm: norm, dip: dip)
    let live = frozenField.weight
    fieldFlags = []
    if deviation > C.disturbedDeviation { fieldFlags.insert(.magneticDisturbance) }
    if live < 0.5 { fieldFlags.insert(.frozenField) }
    fieldHeadingVariance = C.headingSigma * C.headingSigma * (1 + deviation)
    covariance.rotation.zz = fieldHeadingVariance
    let weight = live / (1 + deviation)
    turn(by: Vector3(0, 0, psi * lowPassGain(duration, timeConstant) * weight))
    reference.add(
      norm: norm, dip: dip, deviation: deviation, duration: duration, weight: live, isAtRest: rest.isAtRest)
  }

  // MARK: Lost tilt

  /// Takes the mean force that `before`, the attitude before this interval's corrections, has turned.
  private mutating func recoverTilt(from force: Vector3, attitude before: Quaternion, duration: Double) {
    typealias C = FilterConstants
    let squared = (force - Vector3(0, 0, standardGravity)).squaredNorm
    let verdict = lostTilt.add(
      force: force, squaredAcceleration: squared, squaredRate: meanSquaredRate, duration: duration)
    let tiltSigma: Double
    let direction: Vector3
    switch verdict {
    case .keep: return
    case .realign(let mean): (direction, tiltSigma) = (mean, C.resetTiltSigma)
    case .realignStill(let mean): (direction, tiltSigma) = (mean, C.firstTiltSigma)
    }
    let corrected = attitude.rotate(before.inverseRotate(direction))
    attitude = (Quaternion(turningToVertical: corrected) * attitude).normalized
    covariance.resetTilt(variance: tiltSigma * tiltSigma)
    if hasHeading {
      covariance.inflate(tilt: 0, heading: C.resetHeadingSigma * C.resetHeadingSigma)
    }
    resetVelocity()
    sampleFlags.insert(.tiltReset)
  }

  // MARK: Applying

  /// Moves the estimate by the gain times the innovation.
  private mutating func apply(_ k: ErrorVector, innovation: Double) {
    turn(by: k.rotation * innovation)
    bias += k.bias * innovation
    scale += k.scale * innovation
    velocityX += k.velocityX * innovation
    velocityY += k.velocityY * innovation
    meanVelocityX += k.velocityX * innovation
    meanVelocityY += k.velocityY * innovation
    hardIron += k.hardIron * innovation
  }

  /// Turns the attitude by a small rotation of the earth frame; its part about z is the magnetometer's.
  private mutating func turn(by v: Vector3) {
    attitude = (Quaternion(rotationVector: v) * attitude).renormalized
    magneticTurn += v.z
    if configuration.spreadsCorrections { hideCorrection(v) }
  }

  /// Whether every part of the estimate is finite and no variance is negative.
  private var isSound: Bool {
    attitude.isFinite && bias.isFinite && hardIron.isFinite && covariance.isFinite && velocityX.isFinite
      && velocityY.isFinite && covariance.rotation.xx >= 0 && covariance.rotation.yy >= 0
  }

  /// Starts again from the newest force: the last resort, so that no input can spoil the filter for good.
  private mutating func restart() {
    let (force, time) = (newestForce, accelerometerClock.newest)
    let (gyroscope, accelerometer, magnetometer) = (gyroscopeClock, accelerometerClock, magnetometerClock)
    self = ComplementaryFilter(configuration: configuration)
    (gyroscopeClock, accelerometerClock, magnetometerClock) = (gyroscope, accelerometer, magnetometer)
    newestForce = force
    align(to: force, at: time)
    sampleFlags.insert(.tiltReset)
  }
}

extension ErrorVector {
  mutating func scale(by s: Double) {
    rotation = rotation * s
    bias = bias * s
    scale = scale * s
    velocityX *= s
    velocityY *= s
    hardIron = hardIron * s
  }
}
