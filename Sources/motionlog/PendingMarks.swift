import MotionKitLinux
import SensorFusion

/// The user's marks on their way into the stream. A device gathers samples before it hands them over, so a mark waits
/// until the samples of its own time have come: it then lies where the key was pressed, and events stay in order.
struct PendingMarks {
  private var waiting: [Timestamp] = []
  private var count = 0
  /// Whether the source's samples carry the boot clock, as those of devices do. A scene's or a recording's do not: there
  /// a mark lies at the newest sample.
  private let followsBootClock: Bool

  /// No marks yet.
  init(followsBootClock: Bool) { self.followsBootClock = followsBootClock }

  /// Adds marks made at these times of the boot clock, in order.
  mutating func add(_ times: [Timestamp]) { waiting += times }

  /// Puts the marks whose time has come among the events of `input`. `newest` is the newest sample's time, nil before
  /// the first, when marks have nothing to mark and are forgotten; `isLast` says that no more samples come.
  mutating func move(into input: inout SampleBatch, newest: Timestamp?, isLast: Bool) {
    guard !waiting.isEmpty else { return }
    guard let newest else {
      if !followsBootClock || isLast { waiting.removeAll() }
      return
    }
    while let asked = waiting.first {
      let time = followsBootClock ? asked : newest
      guard time <= newest || isLast else { return }
      waiting.removeFirst()
      count += 1
      let place = input.events.firstIndex { $0.time > time } ?? input.events.count
      input.events.insert(SourceEvent(time: time, name: "mark", detail: "mark \(count)"), at: place)
    }
  }
}
