import Glibc
import MotionKitLinux
import SensorFusion

/// What stops a set from being written.
struct SetError: Error {
  var message: String
}

/// A text file that is written row by row.
struct TextFile {
  private let path: String
  private var buffer: [UInt8] = []
  private var file: UnsafeMutablePointer<FILE>?

  init(_ path: String) throws {
    self.path = path
    file = fopen(path, "w")
    guard file != nil else { throw SetError(message: "cannot write \(path): \(String(cString: strerror(errno)))") }
  }

  mutating func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count > 1 << 16 { try flush() }
  }

  mutating func close() throws {
    try flush()
    guard let file, fclose(file) == 0 else { throw SetError(message: "cannot finish \(path)") }
    self.file = nil
  }

  private mutating func flush() throws {
    guard let file, fwrite(buffer, 1, buffer.count, file) == buffer.count else {
      throw SetError(message: "cannot write \(path): \(String(cString: strerror(errno)))")
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// Makes a directory that may exist.
func makeDirectory(_ path: String) throws {
  guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
    throw SetError(message: "cannot make \(path): \(String(cString: strerror(errno)))")
  }
}

/// A number with a fixed count of decimals.
func fixed(_ value: Double, _ decimals: Int) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
    let length = withVaList([value]) { vsnprintf(buffer.baseAddress, 64, "%.\(decimals)f", $0) }
    return length > 0 && length < 64 ? buffer.baseAddress.map { String(cString: $0) } ?? "" : "nan"
  }
}

/// Writes the sensors of a scene: `t_s,ax,ay,az,gx,gy,gz,mx,my,mz,p_pa`, an empty cell where a sensor has no new sample.
func writeSensors(of source: SimulationSource, rates: [SensorKind: Double], to path: String) throws {
  var file = try TextFile(path)
  try file.write("t_s,ax,ay,az,gx,gy,gz,mx,my,mz,p_pa\n")
  _ = try source.start(SensorRequest(rates: rates))
  var batch = SampleBatch()
  var cells = [String](repeating: "", count: 4)
  var rowTime = Timestamp(nanoseconds: .min)
  func flush() throws {
    guard rowTime.nanoseconds != .min else { return }
    let parts = cells.enumerated().map { $1.isEmpty ? ($0 < 3 ? ",," : "") : $1 }
    try file.write("\(fixed(rowTime.seconds(since: source.startTime), 6)),\(parts.joined(separator: ","))\n")
    for index in cells.indices { cells[index] = "" }
  }
  while true {
    let status = try source.read(into: &batch, timeout: 1)
    for sample in batch.samples {
      if sample.time != rowTime { try flush() }
      rowTime = sample.time
      switch sample.kind {
      case .accelerometer, .gyroscope, .magnetometer:
        cells[Int(sample.kind.rawValue)] = "\(sample.x),\(sample.y),\(sample.z)"
      case .barometer:
        cells[3] = fixed(Double(sample.x) * 1000, 3)
      case .stepCounter:
        break
      }
    }
    if status == .end { break }
  }
  try flush()
  try file.close()
}

/// Writes the attitude of a scene: `t_s,qw,qx,qy,qz,movement,ax,ay,az`, device to east-north-up and the acceleration
/// (m/s², device axes, gravity not in it), a row every 10 ms. Rows at rest carry movement 0.
func writeAttitude(of scene: SimulatedScene, to path: String) throws {
  var file = try TextFile(path)
  try file.write("t_s,qw,qx,qy,qz,movement,ax,ay,az\n")
  // The scene's earth has x to the north and y to the west: a quarter turn makes it east and north.
  let half = 0.5.squareRoot()
  let quarter = Quaternion(w: half, x: 0, y: 0, z: half)
  for row in 0..<Int((scene.duration * 100).rounded(.down)) {
    let truth = scene.truth(at: Double(row) / 100)
    let q = quarter * truth.attitude
    let isMoving = truth.rotationRate.norm > 0.02 || truth.acceleration.norm > 0.1
    let numbers = [q.w, q.x, q.y, q.z].map { fixed($0, 7) }.joined(separator: ",")
    let a = truth.userAcceleration
    let acceleration = [a.x, a.y, a.z].map { fixed($0, 5) }.joined(separator: ",")
    try file.write("\(fixed(truth.seconds, 5)),\(numbers),\(isMoving ? 1 : 0),\(acceleration)\n")
  }
  try file.close()
}

/// Writes the true steps of a scene, `t_s`, a row a step, and returns their number.
func writeSteps(of scene: SimulatedScene, to path: String) throws -> Int {
  var file = try TextFile(path)
  try file.write("t_s\n")
  let times = scene.stepTimes(until: .infinity)
  for time in times { try file.write("\(fixed(time, 4))\n") }
  try file.close()
  return times.count
}

/// One recording of a set, as manifest.json lists it.
struct ManifestEntry {
  var section: String
  var name: String
  /// Members and their values in JSON.
  var members: [(String, String)]
}

/// Writes manifest.json: the sections attitude, steps and altitude.
func writeManifest(_ entries: [ManifestEntry], to path: String) throws {
  var file = try TextFile(path)
  let sections = ["attitude", "steps", "altitude"].map { section in
    let rows = entries.filter { $0.section == section }.map { entry in
      "  \"\(entry.name)\": {" + entry.members.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}"
    }
    return " \"\(section)\": {" + (rows.isEmpty ? "}" : "\n" + rows.joined(separator: ",\n") + "\n }")
  }
  try file.write("{\n" + sections.joined(separator: ",\n") + "\n}\n")
  try file.close()
}
