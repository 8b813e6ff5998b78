import Glibc
import SensorFusion

@testable import MotionKitLinux

/// The lab as Tests/Lab/run has set it up.
enum Lab {
  /// `ip:127.0.0.1:PORT`; empty outside of Tests/Lab/run.
  static let uri = environment("MOTIONKIT_LAB")
  static let controlPort = environment("MOTIONKIT_LAB_CONTROL")

  private static func environment(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

  /// Sends one command to the lab's control port, such as `set 0 0 9.81` or `mute accel_3d 1`; the answer.
  @discardableResult
  static func control(_ command: String) -> String {
    run(
      "bash",
      ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(controlPort); echo '\(command)' >&3; read -r answer <&3; echo \"$answer\""])
  }

  /// Reports that the hub has sent so far, and those it could not make in time, by sensor: `accel_3d=SENT/LATE …`.
  static func hubReports() -> [String: (sent: Int, skipped: Int)] {
    var reports: [String: (sent: Int, skipped: Int)] = [:]
    for word in control("stats").split(separator: " ") {
      let parts = word.split { "=/".contains($0) }
      guard parts.count == 3, let sent = Int(parts[1]), let skipped = Int(parts[2]) else { continue }
      reports[String(parts[0])] = (sent, skipped)
    }
    return reports
  }

  /// Fires a sysfs trigger once, through a connection of its own to iiod.
  static func fire(trigger: String) {
    let parts = uri.split(separator: ":")
    let port = parts.count > 2 ? String(parts[2]) : "30431"
    run(
      "bash",
      [
        "-c",
        "exec 3<>/dev/tcp/127.0.0.1/\(port); printf 'WRITE \(trigger) trigger_now 2\\r\\n1\\n' >&3; read -r answer <&3",
      ])
  }

  /// Runs a program to its end; what it wrote to its standard output.
  @discardableResult
  static func run(_ program: String, _ arguments: [String]) -> String {
    let command = ([program] + arguments).map {
      "'" + $0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    guard let pipe = popen(command.joined(separator: " ") + " 2>/dev/null", "r") else { return "" }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&buffer, 1, buffer.count, pipe)
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    pclose(pipe)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What `iio_attr` reads from a channel.
  static func attribute(_ device: String, _ channel: String, _ name: String) -> Double {
    Double(iioText: run("iio_attr", ["-u", uri, "-c", device, channel, name])) ?? .nan
  }
}

/// A session with a source: everything that came.
struct LabSession {
  let source: any SensorSource
  var samples: [SensorKind: [SensorSample]] = [:]
  var events: [SourceEvent] = []
  /// The order of delivery was broken so often.
  var disorder = 0
  private var batch = SampleBatch()
  private var last: SensorSample?

  init(_ source: any SensorSource) { self.source = source }

  /// Reads for so many seconds, or until `isDone`.
  mutating func read(seconds: Double, until isDone: (LabSession) -> Bool = { _ in false }) throws {
    let end = nanoseconds(of: CLOCK_MONOTONIC) + Int64(seconds * 1e9)
    while nanoseconds(of: CLOCK_MONOTONIC) < end, !isDone(self) {
      if try source.read(into: &batch, timeout: 0.2) == .end { break }
      take()
    }
  }

  /// Stops the source and takes the rest.
  mutating func stop() throws {
    source.stop()
    while true {
      let status = try source.read(into: &batch, timeout: 0.2)
      take()
      if status == .end { break }
    }
  }

  private mutating func take() {
    for sample in batch.samples {
      if let last, (sample.time, sample.kind) < (last.time, last.kind) { disorder += 1 }
      last = sample
      samples[sample.kind, default: []].append(sample)
    }
    events += batch.events
  }

  func count(_ kind: SensorKind) -> Int { samples[kind]?.count ?? 0 }

  func events(_ name: String) -> [SourceEvent] { events.filter { $0.name == name } }

  /// Times of all samples of a kind, ascending: those delivered and those that came too late and are in an event.
  func times(_ kind: SensorKind) -> [Int64] {
    let late = events("late").filter { $0.detail.hasPrefix("\(kind) ") }.map(\.time.nanoseconds)
    return ((samples[kind] ?? []).map(\.time.nanoseconds) + late).sorted()
  }

  /// How many samples of a kind are missing by their stamps.
  func missing(_ kind: SensorKind, period: Int64) -> Int {
    let times = times(kind)
    return Self.missing(zip(times, times.dropFirst()).map { $1 - $0 }, period: period)
  }

  /// How many whole periods too long these intervals are. A hub that was held up begins its count of periods anew, off
  /// the beat: part of a period is nothing missing.
  static func missing(_ intervals: some Sequence<Int64>, period: Int64) -> Int {
    intervals.reduce(0) { $0 + max(0, Int(($1 + 1000) / period) - 1) }
  }

  /// Intervals that are not the period, in nanoseconds.
  func gaps(_ kind: SensorKind, period: Int64, tolerance: Int64) -> [Int64] {
    let times = times(kind)
    return zip(times, times.dropFirst()).map { $1 - $0 }.filter { abs($0 - period) > tolerance }
  }
}
