import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite struct SessionInfoTests {
  private func roundTrip(_ info: SessionInfo) throws -> (SessionInfo, [String]) {
    var missing: [String] = []
    let text = Array(info.jsonText().utf8)
    let read = try text.withTypedUnsafeBytes { (bytes) throws(MotionKitError) in
      try SessionInfo(json: bytes, path: "session.json", missing: &missing)
    }
    return (read, missing)
  }

  private func full() -> SessionInfo {
    var gyroscope = sensor(.gyroscope, rate: 199.98, range: 34.9)
    gyroscope.driver = "bmi160"
    gyroscope.availableRates = [25, 50, 100.1]
    gyroscope.resolution = 0.001065264
    gyroscope.mountMatrix = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    gyroscope.capture = "own trigger"
    gyroscope.clock = "boottime"
    gyroscope.attributes = [("filter", "40 Hz, \"low\""), ("zweite", "größer\n")]
    var info = SessionInfo(
      source: SourceDescription(
        uri: "local:", sensors: [sensor(.accelerometer, rate: 200), gyroscope], host: "board", notes: ["no barometer"],
        isLive: true,
        anchors: [ClockAnchor(time: Timestamp(nanoseconds: 5), utcNanoseconds: 1_732_340_000_123_456_789)]),
      pipeline: .init())
    info.pipeline.filter.referenceFrame = .trueNorth(declination: 0.061)
    info.pipeline.filter.gyroscopeRange = 34.9
    info.pipeline.filter.hasGyroscope = false
    info.pipeline.stepCounter.isStrict = true
    info.pipeline.filter.gains = .fixed(accelerometer: 2.5, magnetometer: 8)
    info.pipeline.filter.initialBiasSigma = 0.03
    info.pipeline.filter.outputLatency = 0.0025
    info.pipeline.filter.spreadsCorrections = true
    info.pipeline.stepCounter.height = 1.81
    info.pipeline.stepCounter.usesHardware = true
    info.pipeline.altimeter.seaLevelPressure = 101.9
    info.pipeline.altimeter.temperatureCoefficient = -0.01
    info.labels = ["subject": "A", "place": "stairs"]
    info.pipeline.calibration.gyroscope = AxisCalibration(
      offset: Vector3(0.1, -0.2, 1.0 / 3), x: Vector3(1, 0.1, 0), y: Vector3(0, 2.0 / 3, 0), z: Vector3(-0.01, 0, 1))
    info.pipeline.withheld = [.motion, .activity]
    info.origin = "a test"
    var closing = ClosingSummary(ended: "interrupted by SIGINT")
    closing.timeSpan = Timestamp(nanoseconds: -5)...Timestamp(nanoseconds: 9_000_000_000)
    closing.rows = [.accelerometer: 12, .events: 3]
    closing.lost = [.gyroscope: 4]
    closing.lateSamples = 2
    closing.pipelineCounters.duplicate = 7
    closing.events = ["gap": 3]
    info.closing = closing
    return info
  }

  @Test func everythingReadsBack() throws {
    let info = full()
    let (read, missing) = try roundTrip(info)
    #expect(read == info)
    #expect(missing.isEmpty)
  }

  /// A setting that is added to the pipeline must be recorded, or a replay would not compute the same.
  @Test func everySettingOfThePipelineIsRecorded() {
    func paths(_ value: Any, _ prefix: String) -> Set<String> {
      let mirror = Mirror(reflecting: value)
      guard mirror.displayStyle == .struct, !mirror.children.isEmpty, !(value is PipelineOutputs) else {
        return [prefix]
      }
      return mirror.children.reduce(into: []) { all, child in
        all.formUnion(paths(child.value, prefix + "." + (child.label ?? "")))
      }
    }
    func paths(_ json: JSONValue, _ prefix: String) -> Set<String> {
      guard case .object(let members) = json, !members.isEmpty, json["name"] == nil else { return [prefix] }
      return members.reduce(into: []) { $0.formUnion(paths($1.value, prefix + "." + $1.key)) }
    }
    var configuration = MotionPipeline.Configuration()
    // Only told where there is something.
    configuration.withheld = .motion
    #expect(paths(configuration, "pipeline") == paths(configuration.json, "pipeline"))
  }

  @Test func badJSONIsAnErrorWithLineAndColumn() {
    #expect {
      let bytes = Array("{\n  \"format\": 1,\n  oops\n}".utf8)
      var missing: [String] = []
      _ = try bytes.withTypedUnsafeBytes { (b) throws(MotionKitError) in
        try SessionInfo(json: b, path: "walk/session.json", missing: &missing)
      }
    } throws: { error in
      guard case .invalidFile("walk/session.json", 3, let column, let reason) = error as? MotionKitError else {
        return false
      }
      return column > 0 && reason.contains("JSON")
    }
  }

  @Test(arguments: [
    "", "[]", "null", "3", "{}", "{\"format\":\"1\"}", "{\"format\":99}", "{\"format\":0}",
    "{\"format\":1,\"sensors\":[{\"kind\":\"geiger\"}]}", "{\"format\":1", "\u{0}\u{0}",
  ])
  func otherDocumentsAreRefused(text: String) {
    let bytes = Array(text.utf8)
    var missing: [String] = []
    #expect(throws: MotionKitError.self) {
      _ = try bytes.withTypedUnsafeBytes { (b) throws(MotionKitError) in
        try SessionInfo(json: b, path: "s", missing: &missing)
      }
    }
  }

  @Test func membersOfTheWrongTypeAreTakenAsMissing() throws {
    let bytes = Array(
      """
      {"format":1,"host":7,"sensors":[{"kind":"gyroscope","rate_hz":"fast","range":null}],"labels":[1],
       "pipeline":{"filter":{"hasGyroscope":"yes"}},"closing":[],"clock_anchors":[3,{}]}
      """.utf8)
    var missing: [String] = []
    let info = try bytes.withTypedUnsafeBytes { (b) throws(MotionKitError) in
      try SessionInfo(json: b, path: "s", missing: &missing)
    }
    #expect(info.sensors.count == 1 && info.sensors[0].range == .infinity)
    #expect(missing.contains("filter.hasGyroscope"))
  }
}
