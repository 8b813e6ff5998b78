import SensorFusion

extension ProcessedBatch {
  /// Whether it holds nothing at all.
  var isEmpty: Bool {
    input.samples.isEmpty && input.events.isEmpty && motions.isEmpty && steps.isEmpty && altitudes.isEmpty
      && activities.isEmpty
  }

  /// Appends everything of another batch.
  mutating func append(_ other: ProcessedBatch) {
    input.samples.append(contentsOf: other.input.samples)
    input.events.append(contentsOf: other.input.events)
    motions.append(contentsOf: other.motions)
    steps.append(contentsOf: other.steps)
    altitudes.append(contentsOf: other.altitudes)
    activities.append(contentsOf: other.activities)
  }

  /// Takes off what lies before `time`.
  mutating func removeHead(before time: Timestamp) -> ProcessedBatch {
    var head = ProcessedBatch()
    func take<T>(_ all: inout [T], _ stamp: (T) -> Timestamp) -> [T] {
      let end = all.firstIndex { stamp($0) >= time } ?? all.count
      defer { all.removeSubrange(..<end) }
      return Array(all[..<end])
    }
    head.input.samples = take(&input.samples) { $0.time }
    head.input.events = take(&input.events) { $0.time }
    head.motions = take(&motions) { $0.time }
    head.steps = take(&steps) { $0.time }
    head.altitudes = take(&altitudes) { $0.time }
    head.activities = take(&activities) { $0.time }
    return head
  }

  /// Forgets the contents, keeps the storage.
  mutating func removeAll() {
    input.removeAll()
    motions.removeAll(keepingCapacity: true)
    steps.removeAll(keepingCapacity: true)
    altitudes.removeAll(keepingCapacity: true)
    activities.removeAll(keepingCapacity: true)
  }
}
