import CoreMotion
import MotionKitLinux
import Testing

/// Where the lab is: `MOTIONKIT_LAB=ip:127.0.0.1:PORT`, set by Tests/Lab/run; empty outside of it.
private let labURI = ProcessInfo.processInfo.environment["MOTIONKIT_LAB"] ?? ""

/// Core Motion on real kernel drivers behind a real iiod.
@Suite(
  "Core Motion in the lab", .enabled(if: !labURI.isEmpty, "MOTIONKIT_LAB is not set; Tests/Lab/run sets it"),
  .serialized)
struct LabTests {
  /// What the issue asks for; shorter with MOTIONKIT_LAB_SECONDS.
  private var seconds: Double {
    ProcessInfo.processInfo.environment["MOTIONKIT_LAB_SECONDS"].flatMap { Double($0) } ?? 60
  }

  @Test func deviceMotionAtAHundredHertzHasNoGapAndTheKernelsTimes() async throws {
    let source = SharedSource(opening: labURI)
    let raw = Log<CMGyroData>()
    let motion = Log<CMDeviceMotion>()
    let manager = SharedSource.$override.withValue(source) { CMMotionManager() }
    #expect(manager.isDeviceMotionAvailable)
    source.hold()
    manager.startGyroUpdates(to: OperationQueue()) { raw.add($0, $1) }
    manager.startDeviceMotionUpdates(to: OperationQueue()) { motion.add($0, $1) }
    source.release()
    while try #require(motion.errors.isEmpty ? motion : nil).values.count < Int(seconds * 100) {
      try await Task.sleep(for: .milliseconds(100))
    }
    manager.stopDeviceMotionUpdates()
    manager.stopGyroUpdates()
    let times = motion.values.map(\.timestamp)
    #expect(Set(raw.values.map(\.timestamp)).isSuperset(of: times))
    let intervals = zip(times.dropFirst(), times).map { $0 - $1 }
    let mean = try #require(times.last) - times[0]
    let nominal = mean / Double(intervals.count)
    #expect(intervals.allSatisfy { $0 > 0 })
    #expect(source.eventCounts["overrun"] == nil)
    // A lost sample would leave a hole of two intervals. The lab's hub itself skips samples on a crowded machine: its
    // own stamps then show the hole, and the source must have reported it.
    let holes = intervals.filter { $0 > 0.018 }
    if source.eventCounts["gap"] == nil {
      #expect(holes.isEmpty && abs(nominal - 0.01) < 0.0005)
    } else {
      withKnownIssue("the hub skipped samples", isIntermittent: true) { #expect(holes.isEmpty) }
    }
  }

  @Test func startingAndStoppingLeavesNoThreadAndNoDescriptor() async throws {
    func count(_ directory: String) throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: directory).count
    }
    let source = SharedSource(opening: labURI)
    let manager = SharedSource.$override.withValue(source) { CMMotionManager() }
    func cycle() async throws {
      let log = Log<CMAccelerometerData>()
      manager.startAccelerometerUpdates(to: OperationQueue()) { log.add($0, $1) }
      while log.values.isEmpty && log.errors.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
      manager.stopAccelerometerUpdates()
      while source.isRunning { try await Task.sleep(for: .milliseconds(5)) }
    }
    for _ in 0..<3 { try await cycle() }
    let descriptors = try count("/proc/self/fd")
    let threads = try count("/proc/self/task")
    for _ in 0..<20 { try await cycle() }
    #expect(try count("/proc/self/fd") <= descriptors + 2)
    #expect(try count("/proc/self/task") <= threads + 4)
  }
}
