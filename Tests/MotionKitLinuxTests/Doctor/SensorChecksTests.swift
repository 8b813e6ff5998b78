import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite("doctor: what samples mean") struct SensorChecksTests {
  /// Samples at 100 Hz with a little noise, as of a board that lies still.
  private func measurement(
    _ kind: SensorKind, _ x: Double, _ y: Double, _ z: Double, noise: Double = 0.001, rate: Double = 100,
    count: Int = 300, range: Double = .infinity, name: String = "chip"
  ) -> SensorMeasurement {
    var description = SensorDescription(kind: kind, name: name, identity: "here", rate: 100)
    description.capture = "polled"
    description.range = range
    description.resolution = 0.001
    var measurement = SensorMeasurement(description, wantedRate: 100)
    for index in 0..<count {
      // Alternating: its standard deviation is the noise.
      let e = index % 2 == 0 ? noise : -noise
      let time = Timestamp(nanoseconds: Int64(Double(index) * 1e9 / rate))
      measurement.add(
        SensorSample(time: time, kind: kind, x: Float(x + e), y: Float(y + e), z: Float(kind == .barometer ? 0 : z + e))
      )
    }
    return measurement
  }

  private func complaints(_ measurements: [SensorMeasurement], _ topic: Finding.Topic = .values) -> [Finding] {
    SensorChecks(measurements: measurements).findings().filter { $0.topic == topic && $0.level != .good }
  }

  private var still: SensorMeasurement { measurement(.gyroscope, 0.001, 0, 0) }

  @Test("a board at rest with values as they should be")
  func good() {
    let all = [
      measurement(.accelerometer, 0.1, -0.2, 9.8), still, measurement(.magnetometer, 20, -10, -40),
      measurement(.barometer, 101.3, 22, 0),
    ]
    #expect(complaints(all).isEmpty, "\(complaints(all))")
    #expect(complaints(all, .rates).isEmpty)
  }

  @Test(
    "gravity: what is wrong by a little is calibrated, what is wrong by a factor is named",
    arguments: [
      (9.0, Finding.Level.warning, "calibrate accel"), (0.981, .fault, "amd_sfh"), (1.0, .fault, "counts in g"),
      (98.1, .fault, "ten times"), (981, .fault, "a hundred times"), (9810, .fault, "a thousand times"),
      (19.6, .fault, "twice"), (4.9, .fault, "half"), (0, .fault, "exactly zero"),
      (13.0, .fault, "scale, offset or range"),
    ])
  func gravity(value: Double, level: Finding.Level, word: String) throws {
    let noise = value == 0 ? 0 : 0.001
    let all = complaints([measurement(.accelerometer, 0, 0, value, noise: noise), still])
    let complaint = try #require(all.first)
    #expect(complaint.level == level)
    #expect((complaint.text + complaint.fixes.joined()).contains(word), "\(complaint)")
  }

  @Test("a board that is moved is no judge of small errors, but of large ones")
  func moved() {
    let walk = measurement(.accelerometer, 0, 0, 8.5, noise: 2)
    #expect(complaints([walk]).map(\.level) == [.note])
    #expect(complaints([walk, still]).map(\.level).max() == .note)
    #expect(complaints([measurement(.accelerometer, 0, 0, 98, noise: 2)]).map(\.level) == [.fault])
    #expect(complaints([measurement(.gyroscope, 1, 0, 0, noise: 0.5)]).map(\.level) == [.note])
  }

  @Test("a gyroscope at rest: a usual bias, one to be measured, and one that no part has")
  func bias() {
    #expect(complaints([measurement(.gyroscope, 0.01, 0, 0)]).isEmpty)
    #expect(complaints([measurement(.gyroscope, 0.1, 0, 0)]).map(\.level) == [.warning])
    #expect(complaints([measurement(.gyroscope, 2, 0, 0)]).map(\.level) == [.fault])
  }

  @Test(
    "the field and the pressure, and the factors that drivers get them wrong by",
    arguments: [
      (SensorKind.magnetometer, 90.0, Finding.Level.warning, "calibrate mag"), (.magnetometer, 0.45, .fault, "hmc5843"),
      (.magnetometer, 4500, .fault, "a hundred times"), (.barometer, 1013, .fault, "ten times"),
      (.barometer, 101_325, .fault, "a thousand times"), (.barometer, 0, .fault, "exactly zero"),
    ])
  func fieldAndPressure(kind: SensorKind, value: Double, level: Finding.Level, word: String) throws {
    let noise = value == 0 ? 0 : 1e-4
    let complaint = try #require(complaints([measurement(kind, value, 0, 0, noise: noise), still]).first)
    #expect(complaint.level == level)
    #expect((complaint.text + complaint.fixes.joined()).contains(word), "\(complaint)")
  }

  @Test("samples at the end of the range, of either sign")
  func clipping() {
    for x in [-19.613, 19.612] {
      let all = complaints([measurement(.accelerometer, x, 0, 0, noise: 0, range: 19.613)])
      #expect(all.contains { $0.text.contains("end of its range") }, "\(all)")
    }
    let all = complaints([measurement(.accelerometer, 19.5, 0, 0, noise: 0, range: 19.613)])
    #expect(!all.contains { $0.text.contains("end of its range") }, "\(all)")
  }

  @Test("values without the smallest change are noted")
  func frozen() {
    #expect(
      complaints([measurement(.accelerometer, 0, 0, 9.8, noise: 0)]).contains { $0.text.contains("smallest change") })
  }

  @Test("a rate that is not reached, samples that are missing, and a sensor that brings nothing")
  func rates() {
    let slow = complaints([measurement(.accelerometer, 0, 0, 9.8, rate: 80)], .rates)
    #expect(slow.map(\.level) == [.warning])
    #expect(
      slow.first?.text.contains("80 samples a second") == true && slow.first?.text.contains("100 are set") == true)
    #expect(slow.first?.fixes.first?.contains("--rate") == true)
    var lossy = measurement(.accelerometer, 0, 0, 9.8)
    lossy.missing = 7
    #expect(complaints([lossy], .rates).first?.text.contains("7 of 307 samples are missing") == true)
    #expect(complaints([measurement(.accelerometer, 0, 0, 9.8, count: 0)], .rates).map(\.level) == [.fault])
  }

  @Test(
    "numbers in four digits",
    arguments: [
      (9.80665, "9.807"), (0.0010893, "0.001089"), (101325.0, "101300"), (0, "0"), (-48.1749, "-48.17"), (100, "100"),
    ])
  func digits(value: Double, text: String) { #expect(shortNumber(value) == text) }
}
