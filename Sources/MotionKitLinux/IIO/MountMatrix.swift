import SensorFusion

/// The rotation from a sensor's axes to the device's: `device = M * sensor`, rows of M.
/// (Linux kernel documentation, devicetree/bindings/iio/mount-matrix.txt.)
struct MountMatrix: Hashable, Sendable {
  /// The rows.
  var rows: [Vector3]

  /// The matrix that changes nothing.
  static let identity = MountMatrix(rows: [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)])

  /// How far an entry of M * transposed(M) may be from the identity's: firmware prints three decimals at worst.
  static let orthonormalTolerance = 0.01

  private init(rows: [Vector3]) { self.rows = rows }

  /// Reads `a, b, c; d, e, f; g, h, i`; nil unless it holds nine finite numbers.
  init?(_ text: String) {
    let rows = text.split(separator: ";", omittingEmptySubsequences: false).map { row in
      row.split(separator: ",", omittingEmptySubsequences: false).map { Double(iioText: String($0)) }
    }
    guard rows.count == 3 else { return nil }
    var vectors: [Vector3] = []
    for row in rows {
      guard row.count == 3, let x = row[0], let y = row[1], let z = row[2] else { return nil }
      let vector = Vector3(x, y, z)
      guard vector.isFinite else { return nil }
      vectors.append(vector)
    }
    self.rows = vectors
  }

  /// Whether the rows are of length 1 and perpendicular.
  var isOrthonormal: Bool {
    for i in 0..<3 {
      for j in i..<3 where abs(rows[i].dot(rows[j]) - (i == j ? 1 : 0)) > Self.orthonormalTolerance { return false }
    }
    return true
  }

  /// Whether it turns right-handed axes into left-handed ones, which no mounting does.
  var isMirror: Bool { rows[0].cross(rows[1]).dot(rows[2]) < 0 }

  /// The vector in the device's axes.
  @inline(__always)
  func apply(_ v: Vector3) -> Vector3 { Vector3(rows[0].dot(v), rows[1].dot(v), rows[2].dot(v)) }

  /// Rows as plain numbers, for a description.
  var plain: [[Double]] { rows.map { [$0.x, $0.y, $0.z] } }

  /// Chooses among what a device shows, in this order: the type's `mount_matrix`, the device's, then the old `matrix`.
  ///
  /// - Parameter candidates: (attribute name, text) in order of preference; `isLegacy` ones count only if they are
  ///   rotations.
  /// - Returns: The matrix to apply, nil where the device shows none, and a note where one was refused.
  static func choose(
    _ candidates: [(name: String, text: String, isLegacy: Bool)]
  ) -> (matrix: MountMatrix?, notes: [String]) {
    for candidate in candidates {
      guard let matrix = MountMatrix(candidate.text), matrix.isOrthonormal, !matrix.isMirror else {
        if candidate.isLegacy { continue }
        return (
          .identity,
          [
            "\(candidate.name) '\(candidate.text)' is not a rotation; the identity is used instead"
              + " (correct it in the device tree or hwdb)"
          ]
        )
      }
      return (matrix, [])
    }
    return (nil, [])
  }
}
