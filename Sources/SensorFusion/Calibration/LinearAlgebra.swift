// The little linear algebra that the fits need: normal equations of at most twelve unknowns, and the eigenvectors of a
// symmetric 3 x 3 matrix. Not in the path of samples.

/// Sums the normal equations of a weighted linear least-squares problem and solves them by Cholesky's method.
struct NormalEquations {
  let count: Int
  private var matrix: [Double]
  private var right: [Double]

  init(count: Int) {
    self.count = count
    matrix = [Double](repeating: 0, count: count * count)
    right = [Double](repeating: 0, count: count)
  }

  /// Adds `row · unknowns = value`.
  mutating func add(_ row: [Double], value: Double, weight: Double = 1) {
    for i in 0..<count {
      right[i] += weight * row[i] * value
      for j in 0...i { matrix[i * count + j] += weight * row[i] * row[j] }
    }
  }

  /// Pulls an unknown towards a value known with this weight.
  mutating func addPrior(_ index: Int, value: Double, weight: Double) {
    matrix[index * count + index] += weight
    right[index] += weight * value
  }

  /// The unknowns; nil if the rows do not determine them.
  func solution() -> [Double]? {
    var l = matrix
    for i in 0..<count {
      for j in 0...i {
        var sum = l[i * count + j]
        for k in 0..<j { sum -= l[i * count + k] * l[j * count + k] }
        if i == j {
          // The share of the diagonal that is left after the others: rounding alone below this.
          guard sum > 1e-12 * matrix[i * count + i], sum.isFinite else { return nil }
          l[i * count + i] = sum.squareRoot()
        } else {
          l[i * count + j] = sum / l[j * count + j]
        }
      }
    }
    var x = right
    for i in 0..<count {
      for k in 0..<i { x[i] -= l[i * count + k] * x[k] }
      x[i] /= l[i * count + i]
    }
    for i in stride(from: count - 1, through: 0, by: -1) {
      for k in i + 1..<count { x[i] -= l[k * count + i] * x[k] }
      x[i] /= l[i * count + i]
    }
    return x.allSatisfy { $0.isFinite } ? x : nil
  }
}

extension SymmetricMatrix3 {
  init(xx: Double, xy: Double, xz: Double, yy: Double, yz: Double, zz: Double) {
    self.init(diagonal: Vector3(xx, yy, zz))
    (self.xy, self.xz, self.yz) = (xy, xz, yz)
  }

  /// Eigenvalues, and eigenvectors as the rows of a rotation matrix, by Jacobi's method.
  var eigen: (values: Vector3, vectors: Matrix3) {
    var a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    var v: [[Double]] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    // Quadratic convergence: a few sweeps reach rounding.
    for _ in 0..<12 {
      for (p, q) in [(0, 1), (0, 2), (1, 2)] where a[p][q] != 0 {
        let theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
        let t = (theta < 0 ? -1.0 : 1.0) / (abs(theta) + (theta * theta + 1).squareRoot())
        let c = 1 / (t * t + 1).squareRoot()
        let s = t * c
        for k in 0..<3 {
          let (kp, kq) = (a[k][p], a[k][q])
          a[k][p] = c * kp - s * kq
          a[k][q] = s * kp + c * kq
        }
        for k in 0..<3 {
          let (pk, qk) = (a[p][k], a[q][k])
          a[p][k] = c * pk - s * qk
          a[q][k] = s * pk + c * qk
          let (vp, vq) = (v[p][k], v[q][k])
          v[p][k] = c * vp - s * vq
          v[q][k] = s * vp + c * vq
        }
      }
    }
    func row(_ r: [Double]) -> Vector3 { Vector3(r[0], r[1], r[2]) }
    return (Vector3(a[0][0], a[1][1], a[2][2]), Matrix3(x: row(v[0]), y: row(v[1]), z: row(v[2])))
  }

  /// The symmetric matrix with the same eigenvectors and the eigenvalues `f(value)`.
  func mapped(_ f: (Double) -> Double) -> Matrix3 {
    let (values, e) = eigen
    let (a, b, c) = (f(values.x), f(values.y), f(values.z))
    func row(_ x: Double, _ y: Double, _ z: Double) -> Vector3 { e.x * (a * x) + e.y * (b * y) + e.z * (c * z) }
    return Matrix3(x: row(e.x.x, e.y.x, e.z.x), y: row(e.x.y, e.y.y, e.z.y), z: row(e.x.z, e.y.z, e.z.z))
  }

  /// Adds `d dᵀ * w`.
  mutating func addSquare(_ d: Vector3, weight w: Double) {
    xx += w * d.x * d.x
    xy += w * d.x * d.y
    xz += w * d.x * d.z
    yy += w * d.y * d.y
    yz += w * d.y * d.z
    zz += w * d.z * d.z
  }
}
