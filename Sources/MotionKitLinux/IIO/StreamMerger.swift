import SensorFusion

/// Merges the streams of several sensors into one that is in order of time, those of one instant in order of kind.
///
/// A pure value: time comes in with every call. A sample waits only while another stream could still bring an earlier
/// one: until that stream's next sample cannot be earlier any more (its period is known), at longest until `watermark`
/// after the sample's own arrival. What comes later than something already released is counted and handed out as an
/// event `late` that holds its values; it is never slipped in out of order.
struct StreamMerger: Sendable {
  /// One sensor's samples on their way.
  private struct Stream: Sendable {
    /// Until so many intervals have shown its jitter, a stream's next sample is expected at any time.
    static let learning = 16

    var kind: SensorKind
    var isActive: Bool
    /// A lost stream is waited for until then all the same: it is being opened. On the clock of `release`.
    var awaitedUntil = Int64.min
    /// Nominal period, nanoseconds; 0 where not known.
    var period: Int64
    /// How much earlier than a period after the one before a sample has been stamped lately, nanoseconds; decays.
    var earliness: Int64 = 0
    /// Intervals seen so far, up to `learning`.
    var intervals = 0
    /// Time of the newest sample pushed.
    var newest = Timestamp(nanoseconds: .min)
    /// Waiting samples in order of time, from `head` on, each with its arrival.
    var samples: [SensorSample] = []
    var arrivals: [Int64] = []
    var head = 0
    var lateCount = 0

    var isEmpty: Bool { head == samples.count }
    /// The earliest that waits. There must be one.
    var first: SensorSample { samples[head] }

    /// No sample of this stream that is still to come should be earlier than this.
    var nextPossible: Int64 {
      guard newest.nanoseconds != .min else { return .min }
      let slack = intervals < Self.learning ? period - 1 : min(period - 1, max(period / 8, 3 * earliness))
      return newest.nanoseconds.addingReportingOverflow(period - slack).partialValue
    }

    mutating func push(_ sample: SensorSample, arrival: Int64) {
      if newest.nanoseconds != .min, period > 0 {
        let (interval, overflow) = sample.time.nanoseconds.subtractingReportingOverflow(newest.nanoseconds)
        if !overflow {
          // Forgotten over hundreds of samples: one late sample costs more than some waiting.
          earliness = max(earliness - earliness / 256 - 1, min(period, period - interval), 0)
          intervals = min(Self.learning, intervals + 1)
        }
      }
      if sample.time > newest { newest = sample.time }
      // Nearly always the newest: look from the end.
      var place = samples.count
      while place > head, sample.time < samples[place - 1].time { place -= 1 }
      if place == samples.count {
        samples.append(sample)
        arrivals.append(arrival)
      } else {
        samples.insert(sample, at: place)
        arrivals.insert(arrival, at: place)
      }
    }

    mutating func pop() -> SensorSample {
      let sample = samples[head]
      head += 1
      if head == samples.count {
        samples.removeAll(keepingCapacity: true)
        arrivals.removeAll(keepingCapacity: true)
        head = 0
      } else if head >= 1024 {
        samples.removeFirst(head)
        arrivals.removeFirst(head)
        head = 0
      }
      return sample
    }
  }

  /// Longest wait of a sample after its arrival, nanoseconds.
  var watermark: Int64
  private var streams: [Stream] = []
  /// The newest sample released.
  private var released: SensorSample?

  /// A merger without streams.
  init(watermark: Int64) { self.watermark = watermark }

  /// Adds the stream of one sensor; at most one a kind.
  ///
  /// - Parameters:
  ///   - kind: Of all its samples.
  ///   - period: Nominal, nanoseconds; 0 where not known, then others wait for it up to the watermark.
  mutating func addStream(_ kind: SensorKind, period: Int64) {
    precondition(!streams.contains { $0.kind == kind }, "one stream a kind")
    streams.append(Stream(kind: kind, isActive: true, period: max(0, period)))
  }

  /// A lost stream is not waited for; its first sample makes it active again.
  mutating func setActive(_ isActive: Bool, _ kind: SensorKind) {
    guard let index = streams.firstIndex(where: { $0.kind == kind }) else { return }
    streams[index].isActive = isActive
    streams[index].awaitedUntil = .min
  }

  /// A lost stream is about to begin again: what others bring waits for its first sample, until `limit` at longest (the
  /// clock of `release`). Without that its samples would come behind what the others have brought meanwhile.
  mutating func await(_ kind: SensorKind, until limit: Int64) {
    guard let index = streams.firstIndex(where: { $0.kind == kind }) else { return }
    streams[index].awaitedUntil = limit
  }

  /// Tells the nominal period, nanoseconds, where it has changed.
  mutating func setPeriod(_ period: Int64, _ kind: SensorKind) {
    guard let index = streams.firstIndex(where: { $0.kind == kind }) else { return }
    streams[index].period = max(0, period)
  }

  /// Samples that came too late, by sensor.
  func lateCount(_ kind: SensorKind) -> Int { streams.first { $0.kind == kind }?.lateCount ?? 0 }

  /// Samples held back now.
  var waitingCount: Int { streams.reduce(0) { $0 + $1.samples.count - $1.head } }

  /// Takes one sample of a stream that was added.
  ///
  /// - Parameters:
  ///   - sample: Its time on the common clock.
  ///   - arrival: When it came, nanoseconds of the clock that `release` is called with.
  ///   - events: Gets an event `late` if it comes too late to be delivered.
  mutating func push(_ sample: SensorSample, arrival: Int64, events: inout [SourceEvent]) {
    guard let index = streams.firstIndex(where: { $0.kind == sample.kind }) else { return }
    streams[index].isActive = true
    streams[index].awaitedUntil = .min
    if let released, (sample.time, sample.kind) < (released.time, released.kind) {
      streams[index].lateCount += 1
      events.append(Self.lateEvent(sample, released: released.time))
      if sample.time > streams[index].newest { streams[index].newest = sample.time }
      return
    }
    streams[index].push(sample, arrival: arrival)
  }

  /// Appends to `samples` all that is due.
  ///
  /// - Returns: When to call again if nothing arrives before, on the clock of `now`; nil where nothing waits.
  mutating func release(now: Int64, into samples: inout [SensorSample]) -> Int64? {
    while let first = firstWaiting() {
      let sample = streams[first].samples[streams[first].head]
      let deadline = streams[first].arrivals[streams[first].head].addingReportingOverflow(watermark).partialValue
      if now < deadline, let until = mustWait(for: sample, from: first, now: now) { return min(deadline, until) }
      released = sample
      samples.append(streams[first].pop())
    }
    return nil
  }

  /// Appends everything that still waits: the source has ended.
  mutating func flush(into samples: inout [SensorSample]) {
    while let first = firstWaiting() {
      let sample = streams[first].pop()
      released = sample
      samples.append(sample)
    }
  }

  /// The stream with the earliest waiting sample.
  private func firstWaiting() -> Int? {
    var first: Int?
    for index in streams.indices where !streams[index].isEmpty {
      guard let best = first else {
        first = index
        continue
      }
      let a = streams[index].first
      let b = streams[best].first
      if a.time != b.time ? a.time < b.time : a.kind < b.kind { first = index }
    }
    return first
  }

  /// Whether an active stream that has nothing waiting could still bring something earlier than `sample`, and until when
  /// it may: `.max` for a stream that is there, nil where none could.
  private func mustWait(for sample: SensorSample, from first: Int, now: Int64) -> Int64? {
    var limit: Int64?
    for index in streams.indices where index != first && streams[index].isEmpty {
      let awaited = streams[index].awaitedUntil
      guard streams[index].isActive || now < awaited else { continue }
      let next = streams[index].nextPossible
      let time = sample.time.nanoseconds
      guard next < time || (next == time && streams[index].kind < sample.kind) else { continue }
      if streams[index].isActive { return .max }
      limit = max(limit ?? awaited, awaited)
    }
    return limit
  }

  private static func lateEvent(_ sample: SensorSample, released: Timestamp) -> SourceEvent {
    let behind = released.seconds(since: sample.time)
    return SourceEvent(
      time: sample.time, name: "late",
      detail: "\(sample.kind) t=\(sample.time.nanoseconds) ns x=\(sample.x) y=\(sample.y) z=\(sample.z):"
        + " came \(Int((behind * 1000).rounded(.up))) ms behind what was already delivered")
  }
}
