import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite struct SensorRecorderTests {
  /// A fresh directory, removed afterwards.
  private func withDirectory(_ body: (String) throws -> Void) rethrows {
    var template = Array("/tmp/recorder-XXXXXX".utf8CString)
    guard let pointer = mkdtemp(&template) else { return }
    let directory = String(cString: pointer)
    defer { removeAll(directory) }
    try body(directory)
  }

  private func removeAll(_ directory: String) {
    for name in (try? SystemFileLayer().list(directory)) ?? [] {
      let path = directory + "/" + name
      if unlink(path) != 0 { removeAll(path) }
    }
    rmdir(directory)
  }

  @Test func whatWasRecordedComesBackAtFiftyHertzWithItsDates() throws {
    try withDirectory { directory in
      let samples = (0..<1000).map { SensorSample.numbered(.accelerometer, $0) }
      let source = SharedSource(ScriptedSource(isLive: false, samples: samples))
      let recorder = SensorRecorder(source: source, directory: directory + "/deep/er")
      #expect(recorder.isAvailable)
      try recorder.record(duration: 4)
      try source.waitUntilEnd()
      let epoch: Int64 = 1_800_000_000_000_000_000
      let all = try recorder.records(from: epoch, to: epoch + 3600 * 1_000_000_000)
      #expect(all.map(\.utcNanoseconds) == (0..<200).map { epoch + Int64($0) * 20_000_000 })
      #expect(all.map(\.data.time.nanoseconds) == (0..<200).map { Int64($0) * 20_000_000 })
      #expect(abs(all[100].data.acceleration.x + 200 / standardGravity) < 1e-9)
      #expect(Set(all.map(\.identifier)).count == 1)
      let part = try recorder.records(from: epoch + 1_000_000_000, to: epoch + 1_100_000_000)
      #expect(part.count == 6)
      #expect(try recorder.records(from: epoch - 10, to: epoch - 1).isEmpty)
      #expect(throws: MotionKitError.self) { try recorder.records(from: epoch, to: epoch - 1) }
      #expect(throws: MotionKitError.self) { try recorder.records(from: 0, to: epoch) }
    }
  }

  @Test func withoutAnAccelerometerItSaysSo() {
    let recorder = SensorRecorder(source: SharedSource(ScriptedSource(kinds: [.gyroscope])), directory: "/tmp/none")
    #expect(!recorder.isAvailable)
    #expect(throws: MotionKitError.self) { try recorder.record(duration: 1) }
  }
}
