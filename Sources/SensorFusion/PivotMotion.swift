/// How the joint from which the device hangs moves: what is left of the device's acceleration when the turning of a stiff
/// arm about that joint is taken off.
///
/// The arm r is fixed in the device, so in the earth frame the turning alone accelerates the device by
/// alpha x Rr + omega x (omega x Rr), which is linear in r: three unknown metres, found by least squares over the last
/// seconds. The shoulder of a person who stands and swings or waves an arm stays where it is; a walker's rises and falls
/// with every step.
struct PivotMotion: Sendable {
  /// The length of the arm, m.
  var arm = 0.0
  /// The share of the horizontal acceleration (its variance) that the turning explains, up to 1.
  var share = 0.0
  /// Amplitude of the device's vertical acceleration twice in a swing, m/s².
  var vertical = 0.0
  /// Amplitude of the joint's vertical acceleration twice in a swing, m/s².
  var bounce = 0.0

  init() {}
}

/// The acceleration of a point one metre along each device axis, by the turning alone, in the earth frame.
struct TurningResponse: Sendable {
  private var newest = GridSample()
  private var middle = GridSample()
  private var oldest = GridSample()
  private var count = 0

  mutating func reset() { count = 0 }

  /// Takes a grid sample; the answer is for the one before it: nine numbers, x, y and z of each device axis.
  mutating func update(_ sample: GridSample) -> (x: Vector3, y: Vector3, z: Vector3) {
    oldest = count == 0 ? sample : middle
    middle = count == 0 ? sample : newest
    newest = sample
    count += 1
    // The second central difference on the 50 Hz grid.
    func response(_ before: Vector3, _ now: Vector3, _ after: Vector3) -> Vector3 {
      (before + after - now * 2) * 2500
    }
    return (
      response(oldest.axisX, middle.axisX, newest.axisX), response(oldest.axisY, middle.axisY, newest.axisY),
      response(
        oldest.axisX.cross(oldest.axisY), middle.axisX.cross(middle.axisY), newest.axisX.cross(newest.axisY))
    )
  }
}

/// The band-passes of the nine numbers of a `TurningResponse`.
struct TurningBands: Sendable {
  private var xx = GaitBandPass()
  private var xy = GaitBandPass()
  private var xz = GaitBandPass()
  private var yx = GaitBandPass()
  private var yy = GaitBandPass()
  private var yz = GaitBandPass()
  private var zx = GaitBandPass()
  private var zy = GaitBandPass()
  private var zz = GaitBandPass()

  mutating func update(_ response: (x: Vector3, y: Vector3, z: Vector3), into history: inout GaitHistory) {
    history.set(.turnXX, xx.update(response.x.x))
    history.set(.turnXY, xy.update(response.x.y))
    history.set(.turnXZ, xz.update(response.x.z))
    history.set(.turnYX, yx.update(response.y.x))
    history.set(.turnYY, yy.update(response.y.y))
    history.set(.turnYZ, yz.update(response.y.z))
    history.set(.turnZX, zx.update(response.z.x))
    history.set(.turnZY, zy.update(response.z.y))
    history.set(.turnZZ, zz.update(response.z.z))
  }
}

extension PivotMotion {
  /// Least samples that are worth a fit (1 s).
  private static let leastSamples = 50
  /// Holds the arm at zero while nothing turns, (rad/s²)²: 0.2 rad/s² is less than any swing.
  private static let ridge = 0.05

  /// Fits the arm to the newest `n` samples; `swing` is the frequency of the swing, Hz.
  init(history: GaitHistory, last n: Int, swing: Double) {
    let samples = min(n, history.count - 1)
    guard samples >= Self.leastSamples else { return }
    let begin = history.count - samples
    history.withChannels { channel in
      // The turning of a sample is known with the next one: y is one sample older than p, q and s.
      var matrix = SymmetricMatrix3(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: 0)
      var right = Vector3.zero
      var horizontal = 0.0
      for row in 0..<3 {
        let (y, p, q, s) = Self.row(row, channel)
        for i in begin..<history.count {
          let (v, w) = (y[i - 1], Vector3(p[i], q[i], s[i]))
          matrix.xx += w.x * w.x
          matrix.xy += w.x * w.y
          matrix.xz += w.x * w.z
          matrix.yy += w.y * w.y
          matrix.yz += w.y * w.z
          matrix.zz += w.z * w.z
          right += w * v
          if row < 2 { horizontal += v * v }
        }
      }
      let hold = Self.ridge * Double(samples)
      matrix.xx += hold
      matrix.yy += hold
      matrix.zz += hold
      let r = Self.solve(matrix, right)
      arm = r.norm
      var unexplained = 0.0
      for row in 0..<2 {
        let (y, p, q, s) = Self.row(row, channel)
        for i in begin..<history.count {
          let e = y[i - 1] - (r.x * p[i] + r.y * q[i] + r.z * s[i])
          unexplained += e * e
        }
      }
      share = 1 - unexplained / max(horizontal, 1e-12)

      // One line of the spectrum, under a Hann window: phases by rotation.
      let (y, p, q, s) = Self.row(2, channel)
      let (turnSine, turnCosine) = Elementary.sinCos(4 * .pi * swing / 50)
      let (fadeSine, fadeCosine) = Elementary.sinCos(2 * .pi / Double(samples))
      var (phase, fade) = ((0.0, 1.0), (0.0, 1.0))
      var (whole, rest) = (SIMD2<Double>.zero, SIMD2<Double>.zero)
      for i in begin..<history.count {
        let weight = 1 - fade.1
        let line = SIMD2(phase.0, phase.1) * weight
        whole += line * y[i - 1]
        rest += line * (y[i - 1] - (r.x * p[i] + r.y * q[i] + r.z * s[i]))
        phase = (phase.0 * turnCosine + phase.1 * turnSine, phase.1 * turnCosine - phase.0 * turnSine)
        fade = (fade.0 * fadeCosine + fade.1 * fadeSine, fade.1 * fadeCosine - fade.0 * fadeSine)
      }
      let scale = 2 / Double(samples)
      vertical = scale * (whole * whole).sum().squareRoot()
      bounce = scale * (rest * rest).sum().squareRoot()
    }
  }

  private static func row(
    _ index: Int, _ channel: (GaitHistory.Channel) -> UnsafePointer<Double>
  ) -> (UnsafePointer<Double>, UnsafePointer<Double>, UnsafePointer<Double>, UnsafePointer<Double>) {
    switch index {
    case 0: (channel(.earthX), channel(.turnXX), channel(.turnYX), channel(.turnZX))
    case 1: (channel(.earthY), channel(.turnXY), channel(.turnYY), channel(.turnZY))
    default: (channel(.earthZ), channel(.turnXZ), channel(.turnYZ), channel(.turnZZ))
    }
  }

  /// Cramer's rule; the ridge keeps the determinant from zero.
  private static func solve(_ m: SymmetricMatrix3, _ b: Vector3) -> Vector3 {
    let (x, y, z) = (Vector3(m.xx, m.xy, m.xz), Vector3(m.xy, m.yy, m.yz), Vector3(m.xz, m.yz, m.zz))
    let determinant = x.dot(y.cross(z))
    guard determinant > 0, determinant.isFinite else { return .zero }
    return Vector3(b.dot(y.cross(z)), x.dot(b.cross(z)), x.dot(y.cross(b))) * (1 / determinant)
  }
}
