import MotionKitLinux
import SensorFusion
import Testing

@testable import motionlog

@Suite struct FormatTests {
  @Test func longCellsKeepABlankBetweenThem() {
    let rows = [["rate/s", "asked", "jitter"], ["1000000000.00", "1000000000", "11068.23 s"], ["1", "2", "0"]]
    let lines = InfoCommand.aligned(rows)
    #expect(lines[1] == " 1000000000.00 1000000000 11068.23 s")
    #expect(Set(lines.map(\.count)).count == 1)
    #expect(InfoCommand.aligned([["a"], ["1"]]) == ["        a", "        1"])
  }

  @Test func fixedPlacesAreRoundedAndPadded() {
    #expect(Format.fixed(3.14159, 2) == "3.14")
    #expect(Format.fixed(-0.004, 2) == "0.00")
    #expect(Format.fixed(-0.004, 2, sign: true) == "+0.00")
    #expect(Format.fixed(0.05, 2) == "0.05")
    #expect(Format.fixed(99.999, 2) == "100.00")
    #expect(Format.fixed(-12, 0, width: 6) == "   -12")
    #expect(Format.fixed(.nan, 1, width: 3) == "  –")
    #expect(Format.fixed(-.infinity, 1) == "-∞")
    #expect(Format.fixed(1e300, 2) == "1e+300")
  }

  @Test func shortNumbersDropWhatSaysNothing() {
    #expect(Format.short(100) == "100")
    #expect(Format.short(12.5) == "12.5")
    #expect(Format.short(0.00059855) == "0.00059855")
    #expect(Format.short(156.9064) == "156.91")
    #expect(Format.short(0) == "0")
    #expect(Format.short(-180) == "-180")
  }

  @Test func timesAreExact() {
    #expect(Format.exactSeconds(1_234_567_890_123_456_789) == "1234567890.123456789")
    #expect(Format.exactSeconds(5) == "0.000000005")
    #expect(Format.exactSeconds(-1_500_000_000) == "-1.500000000")
    #expect(Format.exactSeconds(.min) == "-9223372036.854775808")
    #expect(Format.clock(59.9) == "00:59")
    #expect(Format.clock(3661) == "1:01:01")
    #expect(Format.bytes(999) == "999 B")
    #expect(Format.bytes(1_234_567) == "1.2 MB")
  }
}

@Suite struct JSONTextTests {
  @Test func everyKindOfValueIsValidJSON() {
    var object = JSONObject()
    object.add("text", "a\"b\\c\n\u{1}é")
    object.add("number", 0.1)
    object.add("none", Double.nan)
    object.add("count", Int64.max)
    object.add("yes", true)
    object.add("time", Timestamp(nanoseconds: 1_000_000_001))
    object.add("vector", Vector3(1, -2.5, .infinity))
    object.add("words", ["x", "y"])
    object.add("objects", [JSONObject()])
    #expect(
      object.description
        == #"{"text":"a\"b\\c\n\u0001é","number":0.1,"none":null,"count":9223372036854775807,"yes":true,"#
        + #""time":1.000000001,"vector":[1.0,-2.5,null],"words":["x","y"],"objects":[{}]}"#)
  }
}

@Suite struct HorizonTests {
  private let horizon = Horizon(columns: 21, rows: 11)
  private let style = Style(hasColor: false, isUnicode: false)

  /// Rows of ground in the left-most and the right-most column.
  private func ground(_ gravity: Vector3) -> (left: Int, right: Int) {
    let lines = horizon.lines(gravity: gravity, style: style)
    func count(_ character: Character?) -> Int { character == ":" || character == "^" ? 1 : 0 }
    return lines.reduce((0, 0)) { ($0.0 + count($1.first), $0.1 + count($1.last)) }
  }

  @Test func theSizeIsWhatWasAskedFor() {
    let lines = horizon.lines(gravity: Vector3(0, 0, -1), style: style)
    #expect(lines.count == 11)
    #expect(lines.allSatisfy { $0.count == 21 })
  }

  @Test func flatShowsALevelHorizonInTheMiddle() {
    let lines = horizon.lines(gravity: Vector3(0, 0, -1), style: style)
    #expect(lines[0].allSatisfy { $0 == " " })
    #expect(lines[10].allSatisfy { $0 == ":" })
    let (left, right) = ground(Vector3(0, 0, -1))
    #expect(left == right && (5...6).contains(left))
  }

  @Test func upsideDownShowsGroundAbove() {
    let lines = horizon.lines(gravity: Vector3(0, 0, 1), style: style)
    #expect(lines[0].allSatisfy { $0 == ":" })
    #expect(lines[10].allSatisfy { $0 == " " })
  }

  @Test func aRaisedTopEdgeShowsMoreSky() {
    // Pitch +30°: gravity's y component is -sin 30° in Core Motion's sign.
    let (left, right) = ground(Vector3(0, -0.5, -0.866))
    #expect(left == right && left < 5)
  }

  @Test func rightEdgeDownShowsGroundRisingOnTheRight() {
    // Roll +30° lowers the right edge: gravity points partly along +x.
    let (left, right) = ground(Vector3(0.5, 0, -0.866))
    #expect(right > left)
  }

  @Test func straightUpIsAllSkyAndStraightDownAllGround() {
    let up = horizon.lines(gravity: Vector3(0, -1, 0), style: style).joined().filter { $0 == ":" }
    let down = horizon.lines(gravity: Vector3(0, 1, 0), style: style).joined().filter { $0 == " " }
    #expect(up.isEmpty)
    #expect(down.isEmpty)
  }
}

@Suite struct LiveScreenTests {
  private let screen = LiveScreen(style: Style(hasColor: false, isUnicode: true), title: " motionlog live · sim:walk")
  private let model = LiveModel(
    source: SourceDescription(
      uri: "sim:walk",
      sensors: SensorKind.allCases.map { SensorDescription(kind: $0, name: "a-chip", identity: "\($0)", rate: 100) },
      isLive: true), frame: .arbitrary)

  @Test(arguments: [(200, 60), (80, 24), (60, 20), (40, 10), (20, 5), (5, 2), (1, 1)])
  func itFitsAnyTerminal(columns: Int, rows: Int) {
    let lines = screen.lines(model, columns: columns, rows: rows)
    #expect(lines.count <= max(2, rows))
    #expect(lines.dropFirst().allSatisfy { $0.count <= columns })
  }

  // A terminal of 24 rows has room beside four sensors; here are five.
  @Test(arguments: [25, 40])
  func whatTheSensorsMeasuredIsShownAsItIs(rows: Int) throws {
    var model = model
    var batch = ProcessedBatch()
    let time = Timestamp(seconds: 1)
    batch.input.samples = [
      SensorSample(time: time, kind: .accelerometer, x: 0.5, y: -0.25, z: 19.62),
      SensorSample(time: time, kind: .gyroscope, x: 0.125, y: 0, z: 0),
      SensorSample(time: time, kind: .magnetometer, x: 150, y: 0, z: -40),
    ]
    model.take(batch)
    let lines = screen.lines(model, columns: 80, rows: rows)
    #expect(lines.count <= rows)
    for words in [
      ["accelerometer", "+0.500", "-0.250", "+19.620", "19.628", "m/s² measured"],
      ["gyroscope", "+0.125", "rad/s measured"], ["magnetometer", "+150.0", "-40.0", "µT measured"],
    ] {
      let line = try #require(lines.first { $0.contains(words[0]) && $0.contains("measured") })
      for word in words { #expect(line.contains(word), "\(line)") }
    }
  }

  @Test func whatIsCutShowsThatItIs() throws {
    let whole = screen.lines(model, columns: 100, rows: 40)
    #expect(!whole.contains { $0.contains("…") })
    let low = screen.lines(model, columns: 100, rows: 14)
    let hidden = try #require(low.first { $0.contains("more lines on a taller terminal") })
    // Without the two empty lines of the whole and the taller horizon.
    let count = try #require(hidden.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    #expect(count == 1 + 7 + 5 + 2 + 1 + model.monitors.count - 12)
    let narrow = screen.lines(model, columns: 30, rows: 40)
    #expect(narrow.contains { $0.hasSuffix("…") && $0.count == 30 })
    let ascii = LiveScreen(style: Style(hasColor: false, isUnicode: false), title: "x")
    #expect(ascii.lines(model, columns: 30, rows: 12).allSatisfy { $0.allSatisfy(\.isASCII) })
  }
}

@Suite struct SensorMonitorTests {
  private func sample(_ milliseconds: Int64, x: Float = 0) -> SensorSample {
    SensorSample(time: Timestamp(nanoseconds: milliseconds * 1_000_000), kind: .accelerometer, x: x, y: 0, z: 9.8)
  }

  private func monitor(range: Double = .infinity) -> SensorMonitor {
    var sensor = SensorDescription(kind: .accelerometer, name: "test", identity: "", rate: 100)
    sensor.range = range
    return SensorMonitor(sensor)
  }

  @Test func theRateIsMeasured() {
    var monitor = monitor()
    for index in 0..<100 { monitor.take(sample(Int64(index) * 10)) }
    #expect(abs(monitor.rate - 100) < 1e-9)
    #expect(monitor.count == 100 && monitor.gaps == 0)
  }

  @Test func oneMissingSampleIsAGapAndNoChangeOfRate() {
    var monitor = monitor()
    for index in 0..<100 where index != 50 { monitor.take(sample(Int64(index) * 10)) }
    #expect(monitor.gaps == 1)
    #expect(abs(monitor.rate - 100) < 1e-9)
  }

  @Test func jitterIsNoGap() {
    var monitor = monitor()
    for index in 0..<100 { monitor.take(sample(Int64(index) * 10 + (index % 2 == 0 ? 0 : 3))) }
    #expect(monitor.gaps == 0)
  }

  @Test func valuesAtTheEndOfTheRangeAreClipped() {
    var monitor = monitor(range: 20)
    for (index, x) in [Float(0), 19.9, 20, -20, 25].enumerated() { monitor.take(sample(Int64(index) * 10, x: x)) }
    #expect(monitor.clipped == 3)
  }
}
