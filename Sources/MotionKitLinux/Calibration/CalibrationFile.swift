import Glibc
import SensorFusion

/// The calibration of one sensor, as it is kept.
public struct StoredCalibration: Hashable, Sendable {
  /// What it measures.
  public var kind: SensorKind
  /// Which sensor: `SensorDescription.identity`.
  public var identity: String
  /// The part: `SensorDescription.name`. Another part in the same place is another sensor.
  public var name: String
  /// What to apply, in the unit of `kind`, device axes.
  public var calibration: AxisCalibration
  /// Root mean square error that is left: as a share of field or gravity; rad/s for a gyroscope.
  public var residual: Double
  /// 0 to 100.
  public var qualityPercent: Double
  /// The temperature while it was measured, °C; nil where not known.
  public var temperature: Double?
  /// When it was measured, UTC: `2026-11-30T15:04:05Z`.
  public var date: String
  /// A gyroscope's rests at different temperatures, the newest last: its bias over temperature follows from them.
  public var rests: [GyroscopeRest] = []
  /// How a magnetometer's axes lie to the accelerometer's; `calibration` already turns by it where it is significant.
  public var alignment: MagnetometerAlignment?

  /// A calibration from its parts.
  public init(
    sensor: SensorDescription, calibration: AxisCalibration, residual: Double, qualityPercent: Double,
    temperature: Double? = nil, date: String
  ) {
    kind = sensor.kind
    identity = sensor.identity
    name = sensor.name
    self.calibration = calibration
    self.residual = residual
    self.qualityPercent = qualityPercent
    self.temperature = temperature
    self.date = date
  }

  /// Whether it is this sensor's. A sensor without an identity has none.
  public func isOf(_ sensor: SensorDescription) -> Bool {
    !identity.isEmpty && kind == sensor.kind && identity == sensor.identity && name == sensor.name
  }
}

/// The file that keeps the calibrations of sensors. docs/CALIBRATION.md describes it.
///
///     var file = try CalibrationFile(path: path)
///     file.keep(calibration)
///     try file.write()
public struct CalibrationFile: Sendable {
  /// The newest format that this software writes and reads.
  public static let currentFormat: Int64 = 1

  /// Where the file is.
  public let path: String
  /// One for each sensor, in the order in which they were first made.
  public private(set) var calibrations: [StoredCalibration] = []

  /// The user's file: `MOTIONKIT_CALIBRATION`, else `motionkit/calibration.json` under `XDG_CONFIG_HOME`, else under
  /// `~/.config`; nil where none of them is known, or `MOTIONKIT_CALIBRATION` is `none`.
  public static var defaultPath: String? {
    if let path = environment("MOTIONKIT_CALIBRATION") { return path == "none" ? nil : path }
    guard let directory = environment("XDG_CONFIG_HOME") ?? environment("HOME").map({ $0 + "/.config" }) else {
      return nil
    }
    return directory + "/motionkit/calibration.json"
  }

  /// Reads a file; one that is not there holds nothing yet.
  ///
  /// - Throws: `MotionKitError.fileSystem` where it cannot be read, `.invalidFile` where it is not what it should be.
  public init(path: String) throws(MotionKitError) {
    self.path = path
    let bytes: [UInt8]
    do throws(MotionKitError) {
      bytes = try SessionReader.readWhole(path)
    } catch {
      if case .fileSystem(_, ENOENT, _) = error { return }
      throw error
    }
    let json = try bytes.withTypedUnsafeBytes { (text) throws(MotionKitError) in
      try JSONValue(parsing: text, path: path)
    }
    func fault(_ reason: String) -> MotionKitError { .invalidFile(path: path, line: 0, column: 0, reason: reason) }
    guard let format = json["format"]?.integer, format >= 1, json["sensors"] != nil else {
      throw fault("it is no calibration file: 'format' and 'sensors' are missing")
    }
    guard format <= Self.currentFormat else {
      throw fault("its format version is \(format); this software reads 1 to \(Self.currentFormat): use a newer one")
    }
    for (index, sensor) in (json["sensors"]?.elements ?? []).enumerated() {
      guard let calibration = StoredCalibration(json: sensor) else {
        throw fault(
          "sensor \(index + 1) is not whole: it needs kind, identity, an offset of 3 numbers and a matrix of 3 x 3")
      }
      let name = "sensor \(index + 1) (\(calibration.kind.name) '\(calibration.identity)')"
      if let reason = calibration.impossibility ?? impossibility(of: sensor) { throw fault("\(name): \(reason)") }
      if let other = calibrations.firstIndex(where: { $0.isOfSameSensor(as: calibration) }) {
        throw fault("\(name) is the same as sensor \(other + 1); keep one of them")
      }
      calibrations.append(calibration)
    }
  }

  /// Adds a calibration in place of an older one of the same sensor.
  public mutating func keep(_ calibration: StoredCalibration) {
    let index = calibrations.firstIndex { $0.isOfSameSensor(as: calibration) }
    if let index { calibrations[index] = calibration } else { calibrations.append(calibration) }
  }

  /// The calibration of a sensor; nil where there is none.
  public func calibration(of sensor: SensorDescription) -> StoredCalibration? {
    calibrations.first { $0.isOf(sensor) }
  }

  /// Finds out whether `write` can work: makes a file beside it, or in the nearest directory above it that there is,
  /// and takes it away again.
  ///
  /// - Throws: `MotionKitError.fileSystem`, as `write` would.
  public func checkWritable() throws(MotionKitError) {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw .file(path, FileFault(errno: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : ESPIPE))
    }
    var directory = path
    repeat {
      guard let slash = directory.lastIndex(of: "/") else {
        directory = "."
        break
      }
      directory = slash == directory.startIndex ? "/" : String(directory[..<slash])
    } while directory != "/" && stat(directory, &status) != 0 && errno == ENOENT
    let probe = "\(directory)/.motionkit-\(getpid())"
    let file = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .file(path, FileFault(errno: errno)) }
    close(file)
    unlink(probe)
  }

  /// Writes the file, and makes its directory where it is missing. Either the old or the new file is whole at any time.
  public func write() throws(MotionKitError) {
    let layer = SystemFileLayer()
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    do throws(FileFault) {
      try layer.createDirectories(directory)
      try layer.replace(name, in: directory, with: json.text())
    } catch { throw .file(path, error) }
  }

  private var json: JSONValue {
    .object([("format", .integer(Self.currentFormat)), ("sensors", .array(calibrations.map(\.json)))])
  }
}

extension FileLayer {
  /// Makes a directory and those above it, where they are missing.
  fileprivate func createDirectories(_ path: String) throws(FileFault) {
    do throws(FileFault) {
      try createDirectory(path)
    } catch {
      if error.errno == EEXIST { return }
      guard error.errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
      try createDirectories(String(path[..<slash]))
      try createDirectory(path)
    }
  }
}

extension StoredCalibration {
  fileprivate func isOfSameSensor(as other: StoredCalibration) -> Bool {
    kind == other.kind && identity == other.identity && name == other.name
  }

  /// More than any sensor of a kind can be off by: its widest range, in its unit.
  private var largestOffset: Double {
    switch kind {
    case .accelerometer: 1000  // 100 g
    case .gyroscope: 100  // over 4000 °/s
    case .magnetometer: 10_000  // 100 gauss
    case .barometer, .stepCounter: 1000
    }
  }

  /// Why no sensor can have this calibration; nil where one can.
  fileprivate var impossibility: String? {
    let offset = calibration.offset
    let largest = max(abs(offset.x), abs(offset.y), abs(offset.z))
    if largest > largestOffset {
      return "an offset of \(largest) is more than a \(kind.name) can have (\(largestOffset))"
    }
    let (x, y, z) = (calibration.x, calibration.y, calibration.z)
    // Each axis keeps its scale within a factor of 100, and the three span space with at least a thousandth of the
    // volume that right angles would give: far outside what a part can be, and far from what rounding makes singular.
    let volume = x.norm * y.norm * z.norm
    guard [x, y, z].allSatisfy({ (0.01...100).contains($0.norm) }), abs(x.dot(y.cross(z))) > 1e-3 * volume else {
      return "its matrix is singular or scales by less than 0.01 or more than 100"
    }
    if rests.contains(where: { $0.bias.norm > largestOffset }) {
      return "a bias in 'rests' is more than a \(kind.name) can have (\(largestOffset))"
    }
    return nil
  }
}

/// Which number of a stored sensor cannot be; nil where all can. One that is missing or null is not known.
private func impossibility(of sensor: JSONValue) -> String? {
  let ranges: [(name: String, range: ClosedRange<Double>)] = [
    ("quality_percent", 0...100), ("residual", 0...1e6), ("temperature_c", -273...1000),
  ]
  for (name, range) in ranges {
    if let number = sensor[name]?.double, !number.isNaN, !range.contains(number) {
      return "\(name) is \(number), which is not within \(range.lowerBound) to \(range.upperBound)"
    }
  }
  return nil
}

extension StoredCalibration {
  fileprivate var json: JSONValue {
    var members: [(key: String, value: JSONValue)] = [
      ("kind", .string(kind.name)), ("identity", .string(identity)), ("name", .string(name)),
    ]
    members += calibration.json.members
    members += [
      ("residual", .real(residual)), ("quality_percent", .real(qualityPercent)),
      ("temperature_c", .optional(temperature)), ("date", .string(date)),
    ]
    if !rests.isEmpty { members.append(("rests", .array(rests.map(\.json)))) }
    if let alignment { members.append(("alignment", alignment.json)) }
    return .object(members)
  }

  fileprivate init?(json: JSONValue) {
    guard let kind = json["kind"]?.string.flatMap({ SensorKind(name: $0) }), let identity = json["identity"]?.string,
      let calibration = AxisCalibration(json: json)
    else { return nil }
    self.init(
      sensor: SensorDescription(kind: kind, name: json["name"]?.string ?? "", identity: identity, rate: 0),
      calibration: calibration, residual: json["residual"]?.double ?? .nan,
      qualityPercent: json["quality_percent"]?.double ?? .nan, temperature: json["temperature_c"]?.double,
      date: json["date"]?.string ?? "")
    rests = (json["rests"]?.elements ?? []).compactMap { GyroscopeRest(json: $0) }
    alignment = json["alignment"].flatMap { MagnetometerAlignment(json: $0) }
  }
}

extension Vector3 {
  /// Its three numbers.
  var json: JSONValue { .array([.real(x), .real(y), .real(z)]) }

  /// Reads three finite numbers.
  init?(json: JSONValue?) {
    let numbers = json?.elements.compactMap(\.double) ?? []
    guard numbers.count == 3, json?.elements.count == 3 else { return nil }
    self.init(numbers[0], numbers[1], numbers[2])
    guard isFinite else { return nil }
  }
}

extension GyroscopeRest {
  fileprivate var json: JSONValue {
    .object([
      ("bias", bias.json), ("temperature_c", .real(temperature)), ("duration_s", .real(duration)),
      ("noise", .real(noise)),
    ])
  }

  fileprivate init?(json: JSONValue) {
    guard let bias = Vector3(json: json["bias"]), let temperature = json["temperature_c"]?.double,
      temperature.isFinite
    else { return nil }
    self.init(
      bias: bias, temperature: temperature, duration: json["duration_s"]?.double ?? 0,
      noise: json["noise"]?.double ?? 0)
  }
}

extension MagnetometerAlignment {
  fileprivate var json: JSONValue {
    .object([("rotation_rad", rotation.json), ("sigma_rad", .real(sigma)), ("residual_rad", .real(residual))])
  }

  fileprivate init?(json: JSONValue) {
    guard let rotation = Vector3(json: json["rotation_rad"]) else { return nil }
    self.init(
      rotation: rotation, residual: json["residual_rad"]?.double ?? .nan, sigma: json["sigma_rad"]?.double ?? .nan)
  }
}

extension GyroscopeTemperature {
  var json: JSONValue {
    .object([
      ("slope_per_c", slope.json), ("reference_c", .real(reference)),
      ("range_c", .array([.real(range.lowerBound), .real(range.upperBound)])),
    ])
  }

  init?(json: JSONValue) {
    let ends = json["range_c"]?.elements.compactMap(\.double) ?? []
    guard let slope = Vector3(json: json["slope_per_c"]), let reference = json["reference_c"]?.double,
      reference.isFinite, ends.count == 2, ends[0] <= ends[1], ends[1].isFinite, ends[0].isFinite
    else { return nil }
    self.init(slope: slope, reference: reference, range: ends[0]...ends[1])
  }
}

extension AxisCalibration {
  /// `offset` and the rows of `matrix`.
  var json: JSONValue {
    .object([("offset", offset.json), ("matrix", .array([x.json, y.json, z.json]))])
  }

  /// Reads both; nil if one is missing, misshapen or not finite.
  init?(json: JSONValue) {
    let rows = json["matrix"]?.elements.compactMap { Vector3(json: $0) } ?? []
    guard let offset = Vector3(json: json["offset"]), rows.count == 3 else { return nil }
    self.init(offset: offset, x: rows[0], y: rows[1], z: rows[2])
  }
}
