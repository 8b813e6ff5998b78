import MotionKitLinux
import SensorFusion
import Testing

@testable import motionlog

private func at(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: Int64(seconds * 1e9)) }

private func marks(_ input: SampleBatch) -> [Double] { input.events.filter { $0.name == "mark" }.map(\.time.seconds) }

@Suite("Marks") struct MarkTests {
  @Test("A device's mark lies when it was made, and comes with the samples of that time")
  func gathered() {
    var pending = PendingMarks(followsBootClock: true)
    var input = SampleBatch()
    pending.add([at(10.25), at(10.75)])
    pending.move(into: &input, newest: at(10), isLast: false)
    #expect(marks(input) == [])
    pending.move(into: &input, newest: at(10.5), isLast: false)
    #expect(marks(input) == [10.25])
    input.removeAll()
    input.events = [
      SourceEvent(time: at(10.6), name: "gap", detail: ""), SourceEvent(time: at(10.9), name: "gap", detail: ""),
    ]
    pending.move(into: &input, newest: at(11), isLast: false)
    #expect(input.events.map(\.name) == ["gap", "mark", "gap"])
    #expect(marks(input) == [10.75])
  }

  @Test("No mark is lost at the end, and marks are numbered in order")
  func last() {
    var pending = PendingMarks(followsBootClock: true)
    var input = SampleBatch()
    pending.add([at(10.25), at(12)])
    pending.move(into: &input, newest: at(11), isLast: true)
    #expect(marks(input) == [10.25, 12])
    #expect(input.events.map(\.detail) == ["mark 1", "mark 2"])
  }

  @Test("A scene's mark lies at its newest sample, since its time is its own")
  func scene() {
    var pending = PendingMarks(followsBootClock: false)
    var input = SampleBatch()
    pending.add([at(90_000)])
    pending.move(into: &input, newest: nil, isLast: false)
    #expect(marks(input) == [])
    pending.add([at(90_001)])
    pending.move(into: &input, newest: at(1003), isLast: false)
    #expect(marks(input) == [1003])
  }

  @Test("A mark made before a device's first sample waits for it")
  func early() {
    var pending = PendingMarks(followsBootClock: true)
    var input = SampleBatch()
    pending.add([at(10)])
    pending.move(into: &input, newest: nil, isLast: false)
    pending.move(into: &input, newest: at(11), isLast: false)
    #expect(marks(input) == [10])
  }
}
