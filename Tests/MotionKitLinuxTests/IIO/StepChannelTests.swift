import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// Set inside the namespace of a fake board.
private let insideDirectory = getenv("MOTIONKIT_STEP_BOARD").map { String(cString: $0) } ?? ""

/// The number of the device that counts steps on the fake board.
private let chip = 5

@Suite("a chip's own step counter", .serialized) struct StepChannelTests {
  private func device(_ attributes: [String: (file: String, text: String)]) -> DeviceModel {
    deviceModel(name: "bma400", channels: [("steps", nil, attributes)])
  }

  @Test("in_steps_input is a sensor; without it there is none")
  func discovery() throws {
    let found = device(["input": ("in_steps_input", "42"), "en": ("in_steps_en", "0")]).sensors()
    #expect(found.sensors.map(\.kind) == [.stepCounter])
    #expect(found.refused.isEmpty)
    #expect(found.sensors.first?.isBuffered == false)
    #expect(device(["en": ("in_steps_en", "0")]).sensors().sensors.isEmpty)
  }

  @Test("a chip that has an accelerometer too gives both")
  func besideAnAccelerometer() {
    var model = threeAxisDevice(name: "bma400")
    model.channels.append(
      ChannelModel(id: "steps", scanIndex: nil, format: nil, files: ["input": "in_steps_input"]))
    #expect(model.sensors().sensors.map(\.kind) == [.accelerometer, .stepCounter])
  }

  @Test(
    "libiio's local backend over a fake chip",
    .enabled(if: FakeBoard.isPossible && insideDirectory.isEmpty, "no namespaces on this machine (unshare -rm)"))
  func localBackend() throws {
    let board = FakeBoard()
    defer { board.tearDown() }
    mkdir("\(board.directory)/bus/iio/devices/iio:device\(chip)", 0o755)
    for (file, text) in [("name", "fake_steps"), ("in_steps_input", "1000"), ("in_steps_en", "0")] {
      board.write(chip, file, text)
    }
    let program = linkTarget("/proc/self/exe")
    let bundle = CommandLine.arguments.contains { $0.hasSuffix(".xctest") } ? program : CommandLine.arguments[0]
    let log = "\(board.directory)/log"
    let status = wait(
      for: spawn(
        board.command([bundle, "--testing-library", "swift-testing", "--filter", "InsideStepBoardTests"]),
        environment: ["MOTIONKIT_STEP_BOARD": board.directory], output: log))
    var text = ""
    if let stream = fopen(log, "r") {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      text = String(decoding: buffer[..<fread(&buffer, 1, buffer.count, stream)], as: UTF8.self)
      fclose(stream)
    }
    #expect(status == 0, "\(text)")
    #expect(text.contains("with 3 tests"), "\(text)")
  }
}

@Suite("inside a fake board with a step counter", .serialized, .enabled(if: !insideDirectory.isEmpty))
struct InsideStepBoardTests {
  private let board = FakeBoard(mounted: insideDirectory)

  @Test("beside an accelerometer it is there, switched off and not chosen")
  func onlyWhenAsked() throws {
    let source = try openSource("local:")
    #expect(source.description.sensors.map(\.kind).contains(.stepCounter))
    #expect(!source.description.countsStepsInHardwareOnly)
    _ = try source.start(SensorRequest(rates: [.accelerometer: 50], required: [.accelerometer]))
    #expect(board.read(chip, "in_steps_en") == "0", "only what is asked for is switched on")
    source.stop()
  }

  @Test("asked for, it is switched on, read, and switched off again")
  func reading() throws {
    let source = try openSource("local:")
    let started = try source.start(SensorRequest(rates: [.stepCounter: 200], required: [.stepCounter]))
    #expect(started.sensors.map(\.capture) == ["polled"])
    #expect(board.read(chip, "in_steps_en") == "1")
    var session = Session(source)
    #expect(try session.read { $0.samples.count >= 3 })
    #expect(session.samples.allSatisfy { $0.kind == .stepCounter && $0.x == 1000 })
    source.stop()
    #expect(board.read(chip, "in_steps_en") == "0")
  }

  @Test("without an accelerometer it counts the steps: late lumps, and a counter that is reset")
  func counting() throws {
    for number in [0, 1, 3] { board.remove(number) }
    defer { for number in [0, 1, 3] { board.restore(number) } }
    let source = try openSource("local:")
    #expect(source.description.countsStepsInHardwareOnly)
    _ = try source.start(SensorRequest(rates: [.stepCounter: 200]))
    var configuration = MotionPipeline.Configuration(for: source.description, frame: .arbitrary)
    configuration.stepCounter.usesHardware = source.description.countsStepsInHardwareOnly
    var pipeline = MotionPipeline(configuration: configuration)
    var taken = 0
    var steps: [Step] = []
    var session = Session(source)
    func count(to total: Int64) throws -> Bool {
      try session.read { session in
        for sample in session.samples[taken...] where pipeline.process(sample).contains(.steps) {
          steps += pipeline.newSteps
        }
        taken = session.samples.count
        return taken > 0 && pipeline.stepCount >= total
      }
    }
    let hasBegun = try count(to: 0)
    #expect(hasBegun)
    // Ten steps at once, then the chip starts anew and has counted three since.
    board.write(chip, "in_steps_input", "1010")
    let hasTen = try count(to: 10)
    #expect(hasTen)
    board.write(chip, "in_steps_input", "3")
    let hasThirteen = try count(to: 13)
    #expect(hasThirteen)
    source.stop()
    #expect(steps.map(\.number) == Array(1...13))
    #expect(steps.allSatisfy { $0.isInterpolated })
    for (a, b) in zip(steps, steps.dropFirst()) { #expect(a.time <= b.time) }
    board.write(chip, "in_steps_input", "1000")
  }
}
