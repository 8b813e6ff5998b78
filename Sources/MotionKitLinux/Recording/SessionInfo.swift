import Glibc
import SensorFusion

/// What session.json says about a recording: where it comes from, what recorded it and with which settings.
public struct SessionInfo: Hashable, Sendable {
  /// The newest format that this software writes and reads.
  public static let currentFormat: Int64 = 1
  /// The name and version of this software, as written into recordings.
  public static let currentSoftware = "MotionKit for Linux 0.1.0"

  /// The format's version.
  public var format = SessionInfo.currentFormat
  /// What wrote the session.
  public var software = SessionInfo.currentSoftware
  /// The host that the sensors were on.
  public var host: String
  /// The URI of the source.
  public var source: String
  /// Whether the source was a device that keeps its own time.
  public var isLive: Bool
  /// The sensors recorded.
  public var sensors: [SensorDescription]
  /// Pairs of the samples' clock and UTC: at the start, at the end, and whenever they had moved apart.
  public var anchors: [ClockAnchor]
  /// Why something that one would expect was missing, a line each.
  public var notes: [String]
  /// All settings of the pipeline with the calibrations in use, so that a replay computes the same. Raw files are before
  /// calibration.
  public var pipeline: MotionPipeline.Configuration
  /// Whether the motion is that of `MotionSmoother`, which knows the whole recording, not the live pipeline's.
  public var isSmoothed = false
  /// The user's own labels.
  public var labels: [String: String] = [:]
  /// Where the data come from, in a sentence: the place of the sensor, the program imported from, the licence.
  public var origin = ""
  /// Which part of a recording in parts this is, from 1; nil for a recording in one piece.
  public var part: Int64?
  /// What is known at the end; nil after a crash.
  public var closing: ClosingSummary?

  /// What a started source and the pipeline's settings say.
  public init(source: SourceDescription, pipeline: MotionPipeline.Configuration) {
    host = source.host
    self.source = source.uri
    isLive = source.isLive
    sensors = source.sensors
    anchors = source.anchors
    notes = source.notes
    self.pipeline = pipeline
  }

  /// The sensor of a kind, if it was recorded.
  public func sensor(_ kind: SensorKind) -> SensorDescription? { sensors.first { $0.kind == kind } }
}

/// What a recorder writes into session.json when it ends in order.
public struct ClosingSummary: Hashable, Sendable {
  /// How it ended: `finished`, `interrupted by SIGINT`, or what went wrong.
  public var ended: String
  /// The first and the last sample's time; nil without samples.
  public var timeSpan: ClosedRange<Timestamp>?
  /// Rows written, without headers, by file.
  public var rows: [SessionFile: Int64] = [:]
  /// Rows that were not written because the buffer was full or the disk failed, by file.
  public var lost: [SessionFile: Int64] = [:]
  /// Samples that came later than a newer one and so are events, not rows.
  public var lateSamples: Int64 = 0
  /// Samples that the pipeline did not use, by reason.
  public var pipelineCounters = PipelineCounters()
  /// Events by name.
  public var events: [String: Int64] = [:]

  /// A summary of an empty recording.
  public init(ended: String) { self.ended = ended }

  /// The summary of a recording in parts; `parts` in order, at least one.
  init(joining parts: [ClosingSummary]) {
    self.init(ended: parts.last?.ended ?? "")
    // The pipeline goes on over the parts: its counters at the end are those of all.
    pipelineCounters = parts.last?.pipelineCounters ?? PipelineCounters()
    for part in parts {
      rows.merge(part.rows, uniquingKeysWith: +)
      lost.merge(part.lost, uniquingKeysWith: +)
      events.merge(part.events, uniquingKeysWith: +)
      lateSamples += part.lateSamples
      guard let span = part.timeSpan else { continue }
      let first = min(timeSpan?.lowerBound ?? span.lowerBound, span.lowerBound)
      timeSpan = first...max(timeSpan?.upperBound ?? span.upperBound, span.upperBound)
    }
  }

  /// Seconds from the first sample to the last.
  public var duration: Double { timeSpan.map { $0.upperBound.seconds(since: $0.lowerBound) } ?? 0 }
}

extension SensorKind {
  /// The name in files and messages.
  public var name: String { SessionFile(self).rawValue }

  /// The kind of a name in a file; nil for an unknown one.
  init?(name: String) {
    guard let kind = SensorKind.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }
}
