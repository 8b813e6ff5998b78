// What the filter shows: the output state, and the tilt from the accelerometer alone where there is no gyroscope.

/// Force and field in device axes, low-passed, for a device without a gyroscope.
struct Inclinometer: Hashable, Sendable {
  /// m/s².
  private(set) var force: Vector3
  /// Mean squared deviation of the force from its low-pass, (m/s²)².
  private(set) var activity = 0.0
  /// µT.
  private(set) var field = Vector3.zero
  private var fieldTime = Timestamp(nanoseconds: .min)
  private var hasField = false

  /// Starts from the force of rest in the present attitude.
  init(force: Vector3) { self.force = force }

  mutating func addForce(_ f: Vector3, dt: Double) {
    let deviation = (f - force).squaredNorm
    force += (f - force) * lowPassGain(dt, FilterConstants.accelerometerTime)
    activity += (deviation - activity) * lowPassGain(dt, FilterConstants.activityTime)
  }

  mutating func addField(_ m: Vector3, dt: Double, at time: Timestamp) {
    field += (m - field) * (hasField ? lowPassGain(dt, FilterConstants.accelerometerTime) : 1)
    (fieldTime, hasField) = (time, true)
  }

  /// Whether the field is recent enough to give a heading at `time`.
  func hasField(at time: Timestamp) -> Bool {
    hasField && time.seconds(since: fieldTime) < FilterConstants.longestFieldTime
  }

  /// 1-sigma of the tilt, rad.
  var tiltSigma: Double {
    let floor = FilterConstants.accelerometerTiltSigma
    return min(0.5 * .pi, (floor * floor + activity / (standardGravity * standardGravity)).squareRoot())
  }
}

extension ComplementaryFilter {
  // MARK: Output

  /// Writes `state` for the newest gyroscope sample; returns whether it is to be delivered.
  @inline(__always)
  mutating func output(at time: Timestamp) -> Bool {
    if configuration.referenceFrame.hasNorth, !hasHeading,
      time.seconds(since: alignmentTime) < FilterConstants.longestWaitForHeading
    {
      return false
    }
    var q = attitude
    if configuration.spreadsCorrections { q = shownAttitude(at: time) }
    if configuration.outputLatency != 0 {
      q = (q * Quaternion(rotationVector: rate * configuration.outputLatency)).renormalized
    }
    state.time = time
    state.rotationRate = rate
    write(attitude: q)
    if rest.isAtRest { state.flags.insert(.atRest) }
    return true
  }

  /// Takes the sigmas from the covariance; it changes with corrections only, so they are not worked out every sample.
  mutating func updateSigmas() {
    // Offset and scale of the accelerometer are not seen by the covariance: it takes the mean force for gravity's.
    let offset = configuration.accelerometerOffsetSigma
    let scale = FilterConstants.accelerometerScaleSigma
    let sensor = (offset * offset + scale * scale * activity) / (standardGravity * standardGravity)
    state.tiltSigma = (max(covariance.rotation.xx, covariance.rotation.yy) + sensor).squareRoot()
    state.headingSigma = hasHeading ? covariance.rotation.zz.squareRoot() : .infinity
    state.biasSigma = max(covariance.bias.xx, covariance.bias.yy, covariance.bias.zz).squareRoot()
  }

  @inline(__always)
  private mutating func write(attitude q: Quaternion) {
    state.attitude = isFrameTurned ? frameTurn * q : q
    state.gravity = q.verticalInDevice * standardGravity
    state.userAcceleration = newestForce - state.gravity
    state.gyroscopeBias = bias
    state.flags = sampleFlags
    if hasHeading { state.flags.formUnion(fieldFlags) } else { state.flags.insert(.noHeading) }
    sampleFlags = []
  }

  // MARK: Spread corrections

  /// Keeps a correction from the output, to be shown over the next interval.
  mutating func hideCorrection(_ v: Vector3) {
    hiddenCorrection += v
    hiddenTime = FilterConstants.interval
  }

  private mutating func shownAttitude(at time: Timestamp) -> Quaternion {
    let dt = gyroscopeClock.lastDuration
    hiddenCorrection = hiddenTime > dt ? hiddenCorrection * (1 - dt / hiddenTime) : .zero
    hiddenTime = max(0, hiddenTime - dt)
    return (Quaternion(rotationVector: -hiddenCorrection) * attitude).renormalized
  }

  // MARK: Without a gyroscope

  /// Whether the newest gyroscope sample is so old that there is none.
  @inline(__always)
  func isGyroscopeAbsent(at time: Timestamp) -> Bool {
    guard configuration.hasGyroscope else { return true }
    let since = (gyroscopeClock.hasSample ? gyroscopeClock.newest : alignmentTime).nanoseconds
    let (elapsed, overflow) = time.nanoseconds.subtractingReportingOverflow(since)
    let seconds = overflow ? .greatestFiniteMagnitude : Double(elapsed) * 1e-9
    return seconds > FilterConstants.gyroscopeTimeout
      && seconds > FilterConstants.gapSteps * gyroscopeClock.usualStep
  }

  /// Takes the tilt from the low-passed force, and the heading from the low-passed field; writes `state`.
  mutating func tiltFromAccelerometer(_ f: Vector3, dt: Double, at time: Timestamp) -> Bool {
    var filtered = inclinometer ?? Inclinometer(force: attitude.verticalInDevice * standardGravity)
    hasPendingForce = false
    filtered.addForce(f, dt: dt)
    inclinometer = filtered
    rate = .zero
    attitude = (Quaternion(turningToVertical: attitude.rotate(filtered.force)) * attitude).normalized
    var headingSigma = Double.infinity
    if filtered.hasField(at: time) {
      let field = attitude.rotate(filtered.field - hardIron)
      let horizontal = (field.x * field.x + field.y * field.y).squareRoot()
      let psi = Elementary.atan2(-field.y, field.x)
      attitude = (Quaternion(yaw: psi) * attitude).normalized
      magneticTurn += psi
      if !hasHeading {
        hasHeading = true
        firstMagneticTurn = psi
        reference = FieldReference(norm: field.norm, dip: Elementary.atan2(-field.z, horizontal))
        covariance.addHardIron(sigma: FilterConstants.ironSigma)
        updateFrameTurn()
      }
      // A tilt error shows the vertical field as a horizontal one.
      let leak = horizontal > 0 ? filtered.tiltSigma * field.z / horizontal : .pi
      headingSigma = min(.pi, (FilterConstants.headingSigma * FilterConstants.headingSigma + leak * leak).squareRoot())
    } else if hasHeading {
      headingSigma = .pi
    }
    sampleFlags.insert(.noGyroscope)
    state.time = time
    state.rotationRate = .zero
    updateSigmas()
    (state.tiltSigma, state.headingSigma) = (filtered.tiltSigma, headingSigma)
    write(attitude: attitude)
    return !configuration.referenceFrame.hasNorth || hasHeading
      || time.seconds(since: alignmentTime) >= FilterConstants.longestWaitForHeading
  }

  /// Goes back to the gyroscope: the tilt is the inclinometer's, the heading as uncertain as `heading` (rad²) says.
  mutating func leaveInclinometer(heading: Double) {
    guard let filtered = inclinometer else { return }
    inclinometer = nil
    let time = gyroscopeClock.newest
    covariance.resetTilt(variance: filtered.tiltSigma * filtered.tiltSigma)
    if hasHeading {
      let sigma = filtered.hasField(at: time) ? FilterConstants.headingSigma : FilterConstants.firstHeadingSigma
      covariance.resetHeading(variance: sigma * sigma + heading)
    }
    rotation = Matrix3(attitude)
    resetVelocity()
    interval = CorrectionInterval()
    hiddenCorrection = .zero
  }
}
