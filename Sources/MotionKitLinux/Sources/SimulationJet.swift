import SensorFusion

// Scenes are written as functions of time on jets, so that velocity, acceleration and rotation rate are the exact
// derivatives of position and attitude (forward-mode differentiation: Griewank and Walther, "Evaluating Derivatives",
// 2nd ed. 2008, chapter 13). Nothing is differenced numerically, so accelerometer, gyroscope and truth agree.

/// A function of time at one instant with its first two derivatives.
struct Jet: Sendable {
  /// The value.
  var value: Double
  /// The first derivative, per second.
  var first: Double
  /// The second derivative, per second squared.
  var second: Double

  init(_ value: Double, _ first: Double = 0, _ second: Double = 0) {
    self.value = value
    self.first = first
    self.second = second
  }

  /// Time itself.
  static func time(_ seconds: Double) -> Jet { Jet(seconds, 1) }

  static func + (a: Jet, b: Jet) -> Jet { Jet(a.value + b.value, a.first + b.first, a.second + b.second) }
  static func - (a: Jet, b: Jet) -> Jet { Jet(a.value - b.value, a.first - b.first, a.second - b.second) }
  static prefix func - (a: Jet) -> Jet { Jet(-a.value, -a.first, -a.second) }
  static func + (a: Jet, b: Double) -> Jet { Jet(a.value + b, a.first, a.second) }
  static func - (a: Jet, b: Double) -> Jet { Jet(a.value - b, a.first, a.second) }
  static func * (a: Jet, b: Double) -> Jet { Jet(a.value * b, a.first * b, a.second * b) }
  static func * (a: Jet, b: Jet) -> Jet {
    Jet(
      a.value * b.value, a.first * b.value + a.value * b.first,
      a.second * b.value + 2 * a.first * b.first + a.value * b.second)
  }
  static func += (a: inout Jet, b: Jet) { a = a + b }

  var sine: Jet { sineAndCosine.sine }
  var cosine: Jet { sineAndCosine.cosine }

  var sineAndCosine: (sine: Jet, cosine: Jet) {
    let (s, c) = Elementary.sinCos(value)
    let square = first * first
    return (Jet(s, c * first, c * second - s * square), Jet(c, -s * first, -s * second - c * square))
  }

  var exponential: Jet {
    let e = Elementary.exp(value)
    return Jet(e, e * first, e * (second + first * first))
  }

  /// The angle of the point (x, y).
  static func angle(y: Jet, x: Jet) -> Jet {
    let square = x.value * x.value + y.value * y.value
    guard square > 0 else { return Jet(0) }
    let numerator = x.value * y.first - y.value * x.first
    let numeratorRate = x.value * y.second - y.value * x.second
    let squareRate = 2 * (x.value * x.first + y.value * y.first)
    return Jet(
      Elementary.atan2(y.value, x.value), numerator / square,
      numeratorRate / square - numerator * squareRate / (square * square))
  }

  /// Rises from 0 to 1 while the argument goes from 0 to `width`, with two continuous derivatives.
  func step(over width: Double) -> Jet {
    if value <= 0 { return Jet(0) }
    if value >= width { return Jet(1) }
    let u = self * (1 / width)
    return u * u * u * ((u * 6 - 15) * u + 10)
  }

  /// The integral of `step`: 0 before 0, then bends over `width` into a straight line of slope 1, half `width` late.
  func ramp(over width: Double) -> Jet {
    if value <= 0 { return Jet(0) }
    if value >= width { return self - width / 2 }
    let u = self * (1 / width)
    let square = u * u
    return square * square * ((u - 3) * u + 2.5) * width
  }
}

/// A vector as a function of time with two derivatives.
struct JetVector: Sendable {
  var x: Jet
  var y: Jet
  var z: Jet

  init(_ x: Jet, _ y: Jet, _ z: Jet) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// A constant.
  init(_ v: Vector3) { self.init(Jet(v.x), Jet(v.y), Jet(v.z)) }

  static var zero: JetVector { JetVector(Jet(0), Jet(0), Jet(0)) }

  static func + (a: JetVector, b: JetVector) -> JetVector { JetVector(a.x + b.x, a.y + b.y, a.z + b.z) }
  static func * (a: JetVector, s: Jet) -> JetVector { JetVector(a.x * s, a.y * s, a.z * s) }

  func cross(_ b: JetVector) -> JetVector {
    JetVector(y * b.z - z * b.y, z * b.x - x * b.z, x * b.y - y * b.x)
  }

  var value: Vector3 { Vector3(x.value, y.value, z.value) }
  var first: Vector3 { Vector3(x.first, y.first, z.first) }
  var second: Vector3 { Vector3(x.second, y.second, z.second) }
}

/// A rotation as a function of time with two derivatives; unit norm by construction.
struct JetQuaternion: Sendable {
  var w: Jet
  var x: Jet
  var y: Jet
  var z: Jet

  init(w: Jet, x: Jet, y: Jet, z: Jet) {
    self.w = w
    self.x = x
    self.y = y
    self.z = z
  }

  /// A constant rotation.
  init(_ q: Quaternion) { self.init(w: Jet(q.w), x: Jet(q.x), y: Jet(q.y), z: Jet(q.z)) }

  /// The rotation by `angle` radians about a fixed unit `axis`.
  init(axis: Vector3, angle: Jet) {
    let (s, c) = (angle * 0.5).sineAndCosine
    self.init(w: c, x: s * axis.x, y: s * axis.y, z: s * axis.z)
  }

  static func aboutX(_ angle: Jet) -> JetQuaternion { JetQuaternion(axis: Vector3(1, 0, 0), angle: angle) }
  static func aboutY(_ angle: Jet) -> JetQuaternion { JetQuaternion(axis: Vector3(0, 1, 0), angle: angle) }
  static func aboutZ(_ angle: Jet) -> JetQuaternion { JetQuaternion(axis: Vector3(0, 0, 1), angle: angle) }

  static func * (a: JetQuaternion, b: JetQuaternion) -> JetQuaternion {
    JetQuaternion(
      w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
      x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w)
  }

  func rotate(_ v: JetVector) -> JetVector {
    let u = JetVector(x, y, z)
    let t = u.cross(v) * Jet(2)
    return v + t * w + u.cross(t)
  }

  func rotate(_ v: Vector3) -> JetVector { rotate(JetVector(v)) }

  var value: Quaternion { Quaternion(w: w.value, x: x.value, y: y.value, z: z.value) }

  /// The rotation rate in the rotated frame: the vector part of 2 q* dq/dt.
  var rate: Vector3 { Self.vectorPart(of: value, times: Quaternion(w: w.first, x: x.first, y: y.first, z: z.first)) }

  /// The derivative of `rate`: the vector part of 2 q* d²q/dt² (the product of first derivatives is a scalar).
  var acceleration: Vector3 {
    Self.vectorPart(of: value, times: Quaternion(w: w.second, x: x.second, y: y.second, z: z.second))
  }

  private static func vectorPart(of q: Quaternion, times derivative: Quaternion) -> Vector3 {
    let product = q.conjugate * derivative
    return Vector3(2 * product.x, 2 * product.y, 2 * product.z)
  }
}
