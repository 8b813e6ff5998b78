import Glibc
import SensorFusion
import Testing

/// Radians per degree.
let degree = Double.pi / 180

/// The rows of a case's CSV file beside the tests, by column name; blank cells and words are NaN.
struct CaseTable {
  var columns: [String: Int] = [:]
  var rows: [[Double]] = []

  init(_ name: String, file: String = #filePath) throws {
    let folder = file[..<(file.lastIndex(of: "/") ?? file.startIndex)]
    let text = try #require(Self.read("\(folder)/Cases/\(name)"), "\(name) not found")
    for (index, line) in text.split(whereSeparator: \.isNewline).enumerated() {
      let cells = line.split(separator: ",", omittingEmptySubsequences: false)
      if index == 0 {
        for (column, cell) in cells.enumerated() { columns[String(cell)] = column }
      } else {
        rows.append(cells.map { Double($0) ?? .nan })
      }
    }
  }

  static func read(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var text = ""
    var buffer = [CChar](repeating: 0, count: 4096)
    while fgets(&buffer, Int32(buffer.count), file) != nil {
      let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }

  func value(_ row: Int, _ column: String) -> Double {
    guard let index = columns[column], index < rows[row].count else { return .nan }
    return rows[row][index]
  }

  /// The samples of a row: those whose three cells are not blank (a NaN that is written out stays).
  func samples(_ row: Int) -> [SensorSample] {
    let time = Timestamp(nanoseconds: Int64(value(row, "t_ns")))
    func sample(_ kind: SensorKind, _ names: [String]) -> SensorSample? {
      guard columns[names[0]] != nil else { return nil }
      let v = names.map { Float(value(row, $0)) }
      return v.allSatisfy(\.isNaN) ? nil : SensorSample(time: time, kind: kind, x: v[0], y: v[1], z: v[2])
    }
    return [
      sample(.accelerometer, ["ax", "ay", "az"]), sample(.gyroscope, ["gx", "gy", "gz"]),
      sample(.magnetometer, ["mx", "my", "mz"]),
    ].compactMap { $0 }
  }
}

extension ComplementaryFilter {
  /// A filter with some settings changed.
  init(_ frame: ReferenceFrame, _ change: (inout Configuration) -> Void = { _ in }) {
    var configuration = Configuration()
    configuration.referenceFrame = frame
    change(&configuration)
    self.init(configuration: configuration)
  }

  /// Feeds the samples of one instant; returns the output, if any.
  mutating func feed(
    _ seconds: Double, force: Vector3? = nil, rate: Vector3? = nil, field: Vector3? = nil
  ) -> MotionState? {
    let time = Timestamp(seconds: seconds)
    var isNew = false
    func sample(_ kind: SensorKind, _ v: Vector3) -> SensorSample {
      SensorSample(time: time, kind: kind, x: Float(v.x), y: Float(v.y), z: Float(v.z))
    }
    if let force { isNew = update(sample(.accelerometer, force)) || isNew }
    if let rate { isNew = update(sample(.gyroscope, rate)) || isNew }
    if let field { isNew = update(sample(.magnetometer, field)) || isNew }
    return isNew ? state : nil
  }
}

/// The outputs that a filter gives for a case's rows.
func outputs(_ filter: inout ComplementaryFilter, _ table: CaseTable) -> [MotionState] {
  var states: [MotionState] = []
  for row in table.rows.indices {
    for sample in table.samples(row) where filter.update(sample) { states.append(filter.state) }
  }
  return states
}

/// The angle between two attitudes, rad.
func angle(_ a: Quaternion, _ b: Quaternion) -> Double {
  let d = a.conjugate * b
  return 2 * Glibc.atan2((d.x * d.x + d.y * d.y + d.z * d.z).squareRoot(), abs(d.w))
}

/// The angle between two directions, rad.
func angle(_ a: Vector3, _ b: Vector3) -> Double { Glibc.atan2(a.cross(b).norm, a.dot(b)) }

/// An angle in (-pi, pi].
func wrapped(_ angle: Double) -> Double { Glibc.remainder(angle, 2 * .pi) }

extension MotionState {
  /// Whether every number is finite (sigmas may be infinite where a thing is not known).
  var isFinite: Bool {
    attitude.isFinite && gravity.isFinite && userAcceleration.isFinite && rotationRate.isFinite
      && gyroscopeBias.isFinite && magneticField.isFinite && !tiltSigma.isNaN && !headingSigma.isNaN
      && !biasSigma.isNaN
  }
}
