import MotionKitLinux
import SensorFusion

/// Follows what a source says of itself while it runs: which devices are lost now, and what the user should be told.
struct LossWatch {
  /// The devices that are lost and have not come back, in the order they were lost, with the reason.
  private(set) var lost: [(device: String, reason: String)] = []
  /// Recorded losses are over: a recording that is played again has lost nothing. What its reader tolerates is news.
  private let isReplay: Bool
  /// When a line of each name was last given.
  private var said: [String: Timestamp] = [:]

  /// How often samples went missing, by the name of the event that told it.
  private var counts: [String: Int64] = [:]

  /// Events that mean that samples are missing.
  static let lossEvents = ["gap", "overrun", "overflow", "late", "lost"]
  /// Events that someone who watches a run should know of. Gaps are in the progress and at the end.
  private static let important: Set<String> = [
    "lost", "found", "overrun", "clock_step", "capture", "rate", "suspend",
  ]
  /// Those that can come with every batch.
  private static let frequent: Set<String> = ["overrun", "clock_step"]
  /// Seconds between lines about those.
  private static let pause = 1.0

  /// A watch over a source that was started.
  init(_ source: SourceDescription) { isReplay = source.uri.hasPrefix("file:") }

  /// Takes the events of a batch; returns a line for each of those that matter.
  mutating func take(_ events: [SourceEvent]) -> [String] {
    var lines: [String] = []
    if !isReplay {
      for event in events where Self.lossEvents.contains(event.name) { counts[event.name, default: 0] += 1 }
    }
    for event in events where watches(event) {
      if Self.frequent.contains(event.name) {
        if let last = said[event.name], event.time.seconds(since: last) < Self.pause { continue }
        said[event.name] = event.time
      }
      lines.append(line(event))
    }
    return lines
  }

  /// Whether `take` tells of such an event.
  func watches(_ event: SourceEvent) -> Bool {
    isReplay ? event.name == "tolerated" : Self.important.contains(event.name)
  }

  /// What a line about the devices that are lost now calls them.
  var names: String { lost.map(\.device).joined(separator: ", ") }

  /// What is wrong at the end of a run, if anything is.
  var failure: (message: String, advice: [String])? {
    guard !lost.isEmpty else { return nil }
    return ("lost and not back at the end: \(names)", lost.map { "\($0.device): \($0.reason)" })
  }

  /// What went missing, in words: `2 gap events`; nil if nothing did.
  var words: String? {
    let words = Self.lossEvents.compactMap { name in counts[name].map { Format.count($0, "\(name) event") } }
    return words.isEmpty ? nil : words.joined(separator: ", ")
  }

  private mutating func line(_ event: SourceEvent) -> String {
    switch event.name {
    case "lost":
      let (device, reason) = Self.parts(event.detail)
      lost.removeAll { $0.device == device }
      lost.append((device, reason))
      return "\(device) lost: \(reason); trying to take it back"
    case "found":
      let device = Self.parts(event.detail).device
      lost.removeAll { $0.device == device }
      return "\(device) found: it delivers again"
    default:
      return "\(event.name): \(event.detail)"
    }
  }

  /// `name (id): reason` taken apart. A device's title ends with the bracket behind its id.
  private static func parts(_ detail: String) -> (device: String, reason: String) {
    let end = detail.firstIndex(of: ")").map { detail.index(after: $0) } ?? detail.firstIndex(of: ":")
    guard let end else { return (detail, "no reason given") }
    let reason = detail[end...].drop { $0 == ":" || $0 == " " }
    return (String(detail[..<end]), String(reason))
  }
}
