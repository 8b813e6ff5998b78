// Writes simulated sets in the layout that Benchmarks/score reads. Run it by Benchmarks/simulate, which compresses them.
import Glibc
import MotionKitLinux
import SensorFusion

let usage = """
  usage: simulate attitude OUT [--seeds N] [--first SEED] [--classes NAME,…]
         simulate steps    OUT [--walkers N] [--motions N] [--first SEED]
    attitude  N recordings (20) of each class with exact attitude; classes:
              \(attitudeClasses.map(\.name).joined(separator: " "))
    steps     N walkers (200) with exact steps, and N hand motions (200) without any, under attitude/ with the set "hand"
  """

/// The options after the command and the directory.
struct Options {
  private var values: [String: String] = [:]

  init(_ arguments: ArraySlice<String>, allowed: [String]) throws {
    var rest = arguments
    while let name = rest.popFirst() {
      guard allowed.contains(name), let value = rest.popFirst() else { throw SetError(message: usage) }
      values[name] = value
    }
  }

  func integer(_ name: String, default value: Int) throws -> Int {
    guard let text = values[name] else { return value }
    guard let number = Int(text), number >= 0 else { throw SetError(message: "\(name) takes a whole number") }
    return number
  }

  func list(_ name: String) -> [String]? { values[name].map { $0.split(separator: ",").map(String.init) } }
}

func simulateAttitude(_ out: String, _ options: Options) throws {
  let seeds = try options.integer("--seeds", default: 20)
  let first = try options.integer("--first", default: 1)
  let names = options.list("--classes") ?? attitudeClasses.map(\.name)
  try makeDirectory(out + "/attitude")
  var entries: [ManifestEntry] = []
  for name in names {
    guard let kind = attitudeClasses.first(where: { $0.name == name }) else {
      throw SetError(message: "there is no class '\(name)'\n\(usage)")
    }
    for seed in first..<first + seeds {
      let uri = kind.uri(seed: seed)
      let source = try SimulationSource(uri: uri, pacing: .unpaced)
      let stem = "\(name)_\(seed)"
      let rates: [SensorKind: Double] = [
        .accelerometer: kind.rate, .gyroscope: kind.rate, .magnetometer: kind.rate,
      ]
      try writeSensors(of: source, rates: rates, to: "\(out)/attitude/\(stem).imu.csv")
      try writeAttitude(of: source.scene, to: "\(out)/attitude/\(stem).truth.csv")
      entries.append(
        ManifestEntry(
          section: "attitude", name: stem,
          members: [
            ("set", "\"\(name)\""), ("key", "\"\(seed)\""), ("rate_hz", fixed(kind.rate, 4)), ("dur_s", "100.0"),
            ("licence", "\"MIT\""), ("source", "\"\(uri)\""),
          ]))
    }
    print("\(name): \(seeds)")
  }
  try writeManifest(entries, to: "\(out)/manifest.json")
}

func simulateSteps(_ out: String, _ options: Options) throws {
  let walkers = try options.integer("--walkers", default: 200)
  let motions = try options.integer("--motions", default: 200)
  let first = try options.integer("--first", default: 1)
  try makeDirectory(out + "/attitude")
  try makeDirectory(out + "/steps")
  var entries: [ManifestEntry] = []
  for seed in first..<first + walkers {
    let (placement, rate, uri) = walkerURI(seed: seed)
    let source = try SimulationSource(uri: uri, pacing: .unpaced)
    let stem = "\(placement)_\(seed)"
    try writeSensors(
      of: source, rates: [.accelerometer: rate, .gyroscope: rate], to: "\(out)/steps/\(stem).imu.csv")
    let count = try writeSteps(of: source.scene, to: "\(out)/steps/\(stem).steps.csv")
    entries.append(
      ManifestEntry(
        section: "steps", name: stem,
        members: [
          ("true", "\(count)"), ("dur_s", fixed(source.scene.duration, 1)), ("kind", "\"\(placement)\""),
          ("hw", "null"),
          ("licence", "\"MIT\""), ("source", "\"\(uri)\""),
        ]))
  }
  print("walkers: \(walkers)")
  for seed in first..<first + motions {
    let (kind, rate, uri) = handMotionURI(seed: seed)
    let source = try SimulationSource(uri: uri, pacing: .unpaced)
    let stem = "hand_\(kind)_\(seed)"
    try writeSensors(
      of: source, rates: [.accelerometer: rate, .gyroscope: rate], to: "\(out)/attitude/\(stem).imu.csv")
    try writeAttitude(of: source.scene, to: "\(out)/attitude/\(stem).truth.csv")
    entries.append(
      ManifestEntry(
        section: "attitude", name: stem,
        members: [
          ("set", "\"hand\""), ("key", "\"\(kind)\""), ("rate_hz", fixed(rate, 1)),
          ("dur_s", fixed(source.scene.duration, 1)), ("licence", "\"MIT\""), ("source", "\"\(uri)\""),
        ]))
  }
  print("hand motions: \(motions)")
  try writeManifest(entries, to: "\(out)/manifest.json")
}

/// Ends with a message on standard error.
func fail(_ message: String, code: Int32) -> Never {
  let line = Array("simulate: \(message)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(code)
}

do {
  let arguments = CommandLine.arguments
  guard arguments.count >= 3 else { throw SetError(message: usage) }
  try makeDirectory(arguments[2])
  switch arguments[1] {
  case "attitude":
    try simulateAttitude(
      arguments[2], Options(arguments[3...], allowed: ["--seeds", "--first", "--classes"]))
  case "steps":
    try simulateSteps(
      arguments[2], Options(arguments[3...], allowed: ["--walkers", "--motions", "--first"]))
  default:
    throw SetError(message: usage)
  }
} catch let error as SetError {
  fail(error.message, code: 2)
} catch {
  fail("\(error)", code: 1)
}
