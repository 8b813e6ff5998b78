/// An error, or a gain, of each state of the attitude filter.
struct ErrorVector: Hashable, Sendable {
  /// Small rotation of the earth frame, rad: true attitude = exp(rotation) * attitude.
  var rotation = Vector3.zero
  /// Gyroscope bias, rad/s, device axes.
  var bias = Vector3.zero
  /// Relative error of the gyroscope's scale, device axes: true rate = (1 - scale) * (measured - bias).
  var scale = Vector3.zero
  /// Horizontal velocity, m/s, earth axes.
  var velocityX = 0.0
  var velocityY = 0.0
  /// Hard iron, µT, device axes.
  var hardIron = Vector3.zero
}

/// The covariance of the filter's error vector, symmetric, as 3 x 3 blocks and scalars.
///
/// The hard-iron blocks stay zero, and are not touched, until a magnetometer takes part.
struct ErrorCovariance: Hashable, Sendable {
  var rotation: SymmetricMatrix3
  /// Rows: rotation, columns: bias.
  var rotationBias = Matrix3.zero
  /// Rows: rotation, columns: scale.
  var rotationScale = Matrix3.zero
  /// Rows: rotation, columns: hard iron.
  var rotationIron = Matrix3.zero
  var bias: SymmetricMatrix3
  /// Rows: bias, columns: scale.
  var biasScale = Matrix3.zero
  var scale: SymmetricMatrix3
  /// Rows: scale, columns: hard iron.
  var scaleIron = Matrix3.zero
  /// Rows: bias, columns: hard iron.
  var biasIron = Matrix3.zero
  var iron = SymmetricMatrix3(diagonal: .zero)
  /// Covariance of the velocity along x with rotation, bias, scale and hard iron; the same along y.
  var velocityXRotation = Vector3.zero
  var velocityXBias = Vector3.zero
  var velocityXScale = Vector3.zero
  var velocityXIron = Vector3.zero
  var velocityYRotation = Vector3.zero
  var velocityYBias = Vector3.zero
  var velocityYScale = Vector3.zero
  var velocityYIron = Vector3.zero
  var velocityXX: Double
  var velocityXY = 0.0
  var velocityYY: Double
  /// Whether the hard iron is estimated.
  private(set) var hasIron = false

  /// Independent errors: 1-sigma of tilt (rad), bias (rad/s), scale and velocity (m/s); heading not an error yet.
  init(tiltSigma: Double, biasSigma: Double, scaleSigma: Double, velocitySigma: Double) {
    let tilt = tiltSigma * tiltSigma
    let bias = biasSigma * biasSigma
    let scale = scaleSigma * scaleSigma
    rotation = SymmetricMatrix3(diagonal: Vector3(tilt, tilt, 0))
    self.bias = SymmetricMatrix3(diagonal: Vector3(bias, bias, bias))
    self.scale = SymmetricMatrix3(diagonal: Vector3(scale, scale, scale))
    velocityXX = velocitySigma * velocitySigma
    velocityYY = velocityXX
  }

  /// Starts to estimate the hard iron, µT.
  mutating func addHardIron(sigma: Double) {
    hasIron = true
    iron = SymmetricMatrix3(diagonal: Vector3(sigma * sigma, sigma * sigma, sigma * sigma))
  }

  /// The hard iron becomes independent of everything, and as uncertain as at the start.
  mutating func resetHardIron(sigma: Double) {
    guard hasIron else { return }
    addHardIron(sigma: sigma)
    (rotationIron, biasIron, scaleIron) = (.zero, .zero, .zero)
    (velocityXIron, velocityYIron) = (.zero, .zero)
  }

  // MARK: Prediction

  /// rotation := rotation - M bias - N scale, with M the integral of the rotation matrix (s) and N that of its columns
  /// times the rates (rad); then velocityX += s rotation.y and velocityY -= s rotation.x, with s the integral of the
  /// vertical force (m/s).
  mutating func predict(rotationIntegral m: Matrix3, turnIntegral n: Matrix3, verticalImpulse s: Double) {
    // With X = (bias, scale), F = (M, N) and B = cov(rotation, X):
    // cov(rotation) - F Bᵀ - B Fᵀ + F cov(X) Fᵀ = cov(rotation) - (G + Gᵀ) where G = (B - F cov(X) / 2) Fᵀ.
    let biasTerm = m * bias.full + n * biasScale.transposed
    let scaleTerm = m * biasScale + n * scale.full
    let g = (rotationBias - biasTerm * 0.5) * m.transposed + (rotationScale - scaleTerm * 0.5) * n.transposed
    rotation.addSymmetricPart(g * -1)
    rotationBias = rotationBias - biasTerm
    rotationScale = rotationScale - scaleTerm
    velocityXRotation -= m * velocityXBias + n * velocityXScale
    velocityYRotation -= m * velocityYBias + n * velocityYScale
    if hasIron { rotationIron = rotationIron - m * biasIron - n * scaleIron }

    velocityXX += s * (2 * velocityXRotation.y + s * rotation.yy)
    velocityYY += s * (-2 * velocityYRotation.x + s * rotation.xx)
    velocityXY += s * (velocityYRotation.y - velocityXRotation.x - s * rotation.xy)
    velocityXRotation += rotation.y * s
    velocityYRotation -= rotation.x * s
    velocityXBias += rotationBias.y * s
    velocityYBias -= rotationBias.x * s
    velocityXScale += rotationScale.y * s
    velocityYScale -= rotationScale.x * s
    if hasIron {
      velocityXIron += rotationIron.y * s
      velocityYIron -= rotationIron.x * s
    }
  }

  // MARK: Measurement

  /// The covariance of every state with the measured combination: P Hᵀ for H that picks `heading` (1 or 0) of the
  /// rotation about z and `hardIron` of the hard iron.
  func column(heading: Double, hardIron h: Vector3) -> ErrorVector {
    ErrorVector(
      rotation: rotation.z * heading + rotationIron * h,
      bias: rotationBias.z * heading + biasIron * h,
      scale: rotationScale.z * heading + scaleIron * h,
      velocityX: velocityXRotation.z * heading + velocityXIron.dot(h),
      velocityY: velocityYRotation.z * heading + velocityYIron.dot(h),
      hardIron: rotationIron.z * heading + iron * h)
  }

  /// P Hᵀ for H that picks the velocity along x.
  var velocityXColumn: ErrorVector {
    ErrorVector(
      rotation: velocityXRotation, bias: velocityXBias, scale: velocityXScale, velocityX: velocityXX,
      velocityY: velocityXY, hardIron: velocityXIron)
  }

  /// P Hᵀ for H that picks the velocity along y.
  var velocityYColumn: ErrorVector {
    ErrorVector(
      rotation: velocityYRotation, bias: velocityYBias, scale: velocityYScale, velocityX: velocityXY,
      velocityY: velocityYY, hardIron: velocityYIron)
  }

  /// P Hᵀ for H that picks one axis of the bias.
  func biasColumn(_ axis: Axis) -> ErrorVector {
    let index = axis
    return ErrorVector(
      rotation: Vector3(rotationBias.x[index], rotationBias.y[index], rotationBias.z[index]),
      bias: bias.row(index), scale: biasScale.row(index), velocityX: velocityXBias[index],
      velocityY: velocityYBias[index], hardIron: biasIron.row(index))
  }

  /// The covariance after a scalar measurement with any gain: P - K hᵀ - h Kᵀ + K s Kᵀ, where h = P Hᵀ is `column` and
  /// s the variance of the innovation. This (Joseph's) form holds for gains that rules have changed.
  mutating func update(gain k: ErrorVector, column h: ErrorVector, innovationVariance s: Double) {
    // P - K uᵀ - u Kᵀ with u = h - s K / 2.
    let half = 0.5 * s
    let u = ErrorVector(
      rotation: h.rotation - k.rotation * half, bias: h.bias - k.bias * half, scale: h.scale - k.scale * half,
      velocityX: h.velocityX - k.velocityX * half, velocityY: h.velocityY - k.velocityY * half,
      hardIron: h.hardIron - k.hardIron * half)
    rotation.subtractSymmetricProduct(k.rotation, u.rotation)
    bias.subtractSymmetricProduct(k.bias, u.bias)
    rotationBias.subtractProducts(k.rotation, u.bias, u.rotation, k.bias)
    scale.subtractSymmetricProduct(k.scale, u.scale)
    rotationScale.subtractProducts(k.rotation, u.scale, u.rotation, k.scale)
    biasScale.subtractProducts(k.bias, u.scale, u.bias, k.scale)
    velocityXRotation -= u.rotation * k.velocityX + k.rotation * u.velocityX
    velocityYRotation -= u.rotation * k.velocityY + k.rotation * u.velocityY
    velocityXBias -= u.bias * k.velocityX + k.bias * u.velocityX
    velocityYBias -= u.bias * k.velocityY + k.bias * u.velocityY
    velocityXScale -= u.scale * k.velocityX + k.scale * u.velocityX
    velocityYScale -= u.scale * k.velocityY + k.scale * u.velocityY
    velocityXX -= 2 * (k.velocityX * u.velocityX)
    velocityXY -= k.velocityX * u.velocityY + k.velocityY * u.velocityX
    velocityYY -= 2 * (k.velocityY * u.velocityY)
    guard hasIron else { return }
    iron.subtractSymmetricProduct(k.hardIron, u.hardIron)
    rotationIron.subtractProducts(k.rotation, u.hardIron, u.rotation, k.hardIron)
    biasIron.subtractProducts(k.bias, u.hardIron, u.bias, k.hardIron)
    scaleIron.subtractProducts(k.scale, u.hardIron, u.scale, k.hardIron)
    velocityXIron -= u.hardIron * k.velocityX + k.hardIron * u.velocityX
    velocityYIron -= u.hardIron * k.velocityY + k.hardIron * u.velocityY
  }

  // MARK: Rules

  /// Adds variance to the tilt and to the heading, rad².
  mutating func inflate(tilt: Double, heading: Double) {
    rotation.xx += tilt
    rotation.yy += tilt
    rotation.zz += heading
  }

  /// The tilt becomes independent of everything, with this variance, rad².
  mutating func resetTilt(variance: Double) {
    rotation.xx = variance
    rotation.yy = variance
    (rotation.xy, rotation.xz, rotation.yz) = (0, 0, 0)
    (rotationBias.x, rotationBias.y) = (.zero, .zero)
    (rotationScale.x, rotationScale.y) = (.zero, .zero)
    (rotationIron.x, rotationIron.y) = (.zero, .zero)
    (velocityXRotation.x, velocityXRotation.y) = (0, 0)
    (velocityYRotation.x, velocityYRotation.y) = (0, 0)
  }

  /// The heading becomes independent of everything, with this variance, rad².
  mutating func resetHeading(variance: Double) {
    rotation.zz = variance
    (rotation.xz, rotation.yz) = (0, 0)
    rotationBias.z = .zero
    rotationScale.z = .zero
    rotationIron.z = .zero
    velocityXRotation.z = 0
    velocityYRotation.z = 0
  }

  /// The velocity becomes independent of everything, with this variance, (m/s)².
  mutating func resetVelocity(variance: Double) {
    (velocityXX, velocityXY, velocityYY) = (variance, 0, variance)
    (velocityXRotation, velocityXBias, velocityXScale, velocityXIron) = (.zero, .zero, .zero, .zero)
    (velocityYRotation, velocityYBias, velocityYScale, velocityYIron) = (.zero, .zero, .zero, .zero)
  }

  /// Scales the row and column of each bias axis whose variance exceeds `limit`, (rad/s)².
  mutating func limitBias(variance limit: Double) {
    guard bias.xx > limit || bias.yy > limit || bias.zz > limit else { return }
    let s = Vector3(
      Self.scale(bias.xx, limit: limit), Self.scale(bias.yy, limit: limit), Self.scale(bias.zz, limit: limit))
    bias.xx *= s.x * s.x
    bias.xy *= s.x * s.y
    bias.xz *= s.x * s.z
    bias.yy *= s.y * s.y
    bias.yz *= s.y * s.z
    bias.zz *= s.z * s.z
    rotationBias = Matrix3(
      x: rotationBias.x.scaled(by: s), y: rotationBias.y.scaled(by: s), z: rotationBias.z.scaled(by: s))
    velocityXBias = velocityXBias.scaled(by: s)
    velocityYBias = velocityYBias.scaled(by: s)
    biasScale = Matrix3(x: biasScale.x * s.x, y: biasScale.y * s.y, z: biasScale.z * s.z)
    biasIron = Matrix3(x: biasIron.x * s.x, y: biasIron.y * s.y, z: biasIron.z * s.z)
  }

  private static func scale(_ variance: Double, limit: Double) -> Double {
    variance > limit ? (limit / variance).squareRoot() : 1
  }

  var isFinite: Bool {
    rotation.isFinite && bias.isFinite && scale.isFinite && iron.isFinite && rotationBias.isFinite
      && rotationScale.isFinite && rotationIron.isFinite && velocityXX.isFinite && velocityYY.isFinite
  }
}

/// One of three axes.
enum Axis: Hashable, Sendable { case x, y, z }

extension Vector3 {
  subscript(axis: Axis) -> Double {
    switch axis {
    case .x: x
    case .y: y
    case .z: z
    }
  }

  func scaled(by s: Vector3) -> Vector3 { Vector3(x * s.x, y * s.y, z * s.z) }
}

extension Matrix3 {
  func row(_ axis: Axis) -> Vector3 {
    switch axis {
    case .x: x
    case .y: y
    case .z: z
    }
  }
}

extension SymmetricMatrix3 {
  func row(_ axis: Axis) -> Vector3 {
    switch axis {
    case .x: x
    case .y: y
    case .z: z
    }
  }
}
