import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// Real kernel drivers behind a real iiod, in a virtual machine. Run by Tests/Lab/run.
@Suite("lab", .enabled(if: !Lab.uri.isEmpty, "the lab is not up; Tests/Lab/run starts it"), .serialized)
struct LabTests {
  private static let ms: Int64 = 1_000_000

  @Test("all eleven devices are listed: ten sensors and why the others are none")
  func devices() throws {
    let description = try openSource(Lab.uri).description
    let names = description.sensors.map { "\($0.kind) \($0.name)" }
    #expect(
      names.sorted() == [
        "accelerometer accel_3d", "accelerometer bmi160", "accelerometer lis3dh", "barometer bmp280",
        "barometer lps22hb", "barometer press", "gyroscope bmi160", "gyroscope gyro_3d", "magnetometer hmc5843",
        "magnetometer magn_3d",
      ])
    for name in ["temperature", "dev_rotation"] {
      #expect(description.notes.contains { $0.contains(name) }, "\(description.notes)")
    }
    let hub = try #require(description.sensor(.accelerometer))
    #expect(hub.name == "accel_3d" && hub.capture == "own trigger accel_3d-dev0")
    #expect(hub.resolution == 0.000980665)
    let chip = try #require(description.sensors.first { $0.name == "bmi160" })
    #expect(chip.mountMatrix == MountMatrix.identity.plain)
    #expect(chip.availableRates.contains(50) && chip.range > 30 && chip.range < 50)
    #expect(description.sensors.last?.capture == "polled")
    #expect(description.host.contains("iio-lab"))
  }

  @Test("30 s of the HID sensors at 200, 200, 100 and 25 Hz: in order, at exactly even intervals, nothing lost")
  func hubSensors() throws {
    Lab.control("mode synth")
    let rates: [SensorKind: Double] = [.accelerometer: 200, .gyroscope: 200, .magnetometer: 100, .barometer: 25]
    try withHub {
      let source = try openSource(Lab.uri)
      let started = try source.start(SensorRequest(rates: rates, required: Set(rates.keys)))
      for sensor in started.sensors { #expect(sensor.rate == rates[sensor.kind], "\(sensor.name)") }
      var session = LabSession(source)
      try session.read(seconds: 30)
      try session.stop()
      return session
    } check: { session, leftOut in
      #expect(session.disorder == 0)
      for (kind, rate) in rates {
        // The hub stamps its own samples: any loss is an interval that is not the period.
        let missing = session.missing(kind, period: Int64(1e9 / rate))
        let allowed = leftOut[kind] ?? 0
        #expect(missing <= allowed, "\(kind): the hub left out \(allowed): \(session.events.prefix(20))")
        #expect(session.times(kind).count + allowed > Int(25 * rate), "\(kind)")
      }
      for name in ["overrun", "lost", "clock_step"] { #expect(session.events(name).isEmpty, "\(session.events)") }
    }
  }

  @Test("30 s of the chips on the I2C bus at 50 Hz on timer triggers: in order, both halves of a chip together")
  func chips() throws {
    let source = try openSource(Lab.uri)
    let rates: [SensorKind: Double] = [.accelerometer: 50, .gyroscope: 50, .magnetometer: 50, .barometer: 50]
    let request = SensorRequest(
      rates: rates, required: Set(rates.keys),
      devices: [.accelerometer: "bmi160", .gyroscope: "bmi160", .magnetometer: "hmc5843", .barometer: "lps22hb"])
    let started = try source.start(request)
    // The kernel lets a trigger serve two devices: the third is on the other one.
    #expect(
      started.sensors.map(\.capture) == [
        "trigger labtimer", "trigger labtimer", "trigger labtimer", "trigger labtimer2",
      ])
    for sensor in started.sensors { #expect(sensor.rate == 50 && sensor.clock == "boottime", "\(sensor.name)") }
    var session = LabSession(source)
    try session.read(seconds: 30)
    // How many there are is the virtual timer's affair, which a crowded machine makes miss; that they come is ours.
    try session.read(seconds: 150) { session in rates.keys.allSatisfy { session.count($0) > 300 } }
    try session.stop()
    #expect(session.disorder == 0)
    #expect(session.events("lost").isEmpty, "\(session.events)")
    #expect(session.times(.accelerometer) == session.times(.gyroscope))
    for kind in rates.keys {
      let times = session.times(kind)
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(kind)")
      #expect(times.count > 300, "\(kind)")
    }
  }

  @Test("a trigger fired 40 times by hand gives exactly 40 samples of every sensor on it")
  func exactCount() throws {
    let request = SensorRequest(
      // At such a rate samples come one by one: no batch stays half filled at the end.
      rates: [.accelerometer: 1, .gyroscope: 1, .magnetometer: 1],
      devices: [.accelerometer: "bmi160", .gyroscope: "bmi160", .magnetometer: "hmc5843"], trigger: "sysfstrig1")
    let kinds = request.rates.keys.sorted()
    let source = try openSource(Lab.uri)
    let started = try source.start(request)
    #expect(started.sensors.allSatisfy { $0.capture == "trigger sysfstrig1" }, "\(started.sensors)")
    var session = LabSession(source)
    // iiod answers before it has switched the buffer on.
    try session.read(seconds: 1)
    // The kernel skips a firing while a device still works on the one before: the next waits for what this one gives.
    for number in 1...40 {
      Lab.fire(trigger: "sysfstrig1")
      try session.read(seconds: 10) { session in kinds.allSatisfy { session.times($0).count >= number } }
      guard kinds.allSatisfy({ session.times($0).count >= number }) else { break }
    }
    try session.read(seconds: 2)
    try session.stop()
    #expect(kinds.map { session.times($0).count } == [40, 40, 40], "\(session.events)")
    #expect(session.disorder == 0)
    // Neither chip had a trigger before: by and by, as iiod lets go of its buffers, they have none again.
    let end = nanoseconds(of: CLOCK_MONOTONIC) + 10_000_000_000
    var isLeft = true
    while isLeft, nanoseconds(of: CLOCK_MONOTONIC) < end {
      let devices = try IIOContext(uri: Lab.uri).devices.filter { ["bmi160", "hmc5843"].contains($0.name) }
      isLeft = devices.contains { $0.trigger.current?.name == "sysfstrig1" }
    }
    #expect(!isLeft)
  }

  @Test("the polled bmp280: values as they are, stamps even, temperature in °C")
  func polled() throws {
    let source = try openSource(Lab.uri)
    let started = try source.start(SensorRequest(rates: [.barometer: 25], devices: [.barometer: "bmp280"]))
    #expect(started.sensors.map(\.capture) == ["polled"])
    var session = LabSession(source)
    // How long a reading takes is the virtual machine's affair.
    try session.read(seconds: 30) { $0.count(.barometer) > 60 }
    try session.stop()
    #expect(session.count(.barometer) > 60)
    let sample = try #require(session.samples[.barometer]?.last)
    #expect(abs(sample.x - 101.3) < 1 && abs(sample.y - 25) < 1)
  }

  /// What is set by `Lab.control("set …")` and which scale the device reads it with.
  private static let held = "set 1 2 9.5 0.1 0.2 0.3 22 -10 -40 100000 21.5"
  private static let truth: [SensorKind: [Double]] = [
    .accelerometer: [1, 2, 9.5], .gyroscope: [0.1, 0.2, 0.3], .magnetometer: [22, -10, -40], .barometer: [100, 21.5],
  ]

  @Test(
    "every format gives the value that was set within half a count, and raw x scale as iio_attr shows it",
    arguments: [
      (SensorKind.accelerometer, "accel_3d"), (.accelerometer, "bmi160"), (.accelerometer, "lis3dh"),
      (.gyroscope, "gyro_3d"), (.gyroscope, "bmi160"), (.magnetometer, "magn_3d"), (.magnetometer, "hmc5843"),
      (.barometer, "press"), (.barometer, "lps22hb"),
    ])
  func values(kind: SensorKind, device: String) throws {
    Lab.control(Self.held)
    defer { Lab.control("mode synth") }
    let source = try openSource(Lab.uri)
    let started = try source.start(SensorRequest(rates: [kind: 50], required: [kind], devices: [kind: device]))
    var session = LabSession(source)
    try session.read(seconds: 10) { $0.count(kind) >= 20 }
    let sample = try #require(session.samples[kind]?.last)
    let values = kind == .barometer ? [sample.x, sample.y] : [sample.x, sample.y, sample.z]
    let resolution = try #require(started.sensor(kind)).resolution
    for (index, value) in values.enumerated() where !value.isNaN {
      let truth = try #require(Self.truth[kind])[index]
      let step = kind == .barometer && index == 1 ? 0.01 : resolution
      // The register chips have full scales of their own; half a count of the field, and a float's rounding.
      #expect(
        abs(Double(value) - truth) <= 0.51 * step + abs(truth) * 2e-3, "\(device) \(index): \(value) for \(truth)")
    }
    let type: [SensorKind: String] = [
      .accelerometer: "accel_x", .gyroscope: "anglvel_x", .magnetometer: "magn_x", .barometer: "pressure",
    ]
    let channel = try #require(type[kind])
    // Some drivers let nobody read while the buffer is on.
    try session.stop()
    let raw = Lab.attribute(device, channel, "raw")
    let scale = Lab.attribute(device, channel, "scale")
    let quirk = Quirk.find(part: device, kind: kind, scale: scale)?.factor ?? 1
    let unit: Double = kind == .magnetometer ? 100 : 1
    #expect(sample.x == Float(raw * (scale * quirk) * unit), "\(device): \(raw) x \(scale)")
  }

  @Test("a sensor that goes silent is reported within 2 s, the others run on, and it is taken back")
  func muteAndUnmute() throws {
    let source = try openSource(Lab.uri)
    _ = try source.start(SensorRequest(rates: [.accelerometer: 100, .gyroscope: 100]))
    var session = LabSession(source)
    try session.read(seconds: 2)
    Lab.control("mute accel_3d 1")
    defer { Lab.control("mute accel_3d 0") }
    let mutedAt = nanoseconds(of: CLOCK_BOOTTIME)
    try session.read(seconds: 6) { !$0.events("lost").isEmpty }
    let lost = try #require(session.events("lost").first)
    #expect(lost.detail.contains("accel_3d"))
    #expect(lost.time.nanoseconds - mutedAt < 2500 * Self.ms)
    let before = session.count(.gyroscope)
    try session.read(seconds: 20) { $0.count(.gyroscope) - before > 200 }
    #expect(session.count(.gyroscope) - before > 200)
    #expect(session.events("lost").count == 1)
    Lab.control("mute accel_3d 0")
    let unmutedAt = nanoseconds(of: CLOCK_MONOTONIC)
    try session.read(seconds: 8) { !$0.events("found").isEmpty }
    #expect(session.events("found").count == 1)
    #expect(nanoseconds(of: CLOCK_MONOTONIC) - unmutedAt < 4000 * Self.ms)
    let stopAt = nanoseconds(of: CLOCK_MONOTONIC)
    try session.stop()
    #expect(nanoseconds(of: CLOCK_MONOTONIC) - stopAt < 600 * Self.ms)
    #expect(session.disorder == 0)
    #expect(session.gaps(.gyroscope, period: 10 * Self.ms, tolerance: 1000).isEmpty)
  }

  @Test("the hub unplugged and plugged in again: one lost and one found a sensor, the chip beside it runs on")
  func unplugAndPlug() throws {
    let source = try openSource(Lab.uri)
    _ = try source.start(SensorRequest(rates: [.accelerometer: 100, .barometer: 25], devices: [.barometer: "bmp280"]))
    var session = LabSession(source)
    try session.read(seconds: 2)
    Lab.control("unplug")
    try session.read(seconds: 6) { !$0.events("lost").isEmpty }
    #expect(session.events("lost").count == 1)
    let before = session.count(.barometer)
    try session.read(seconds: 20) { $0.count(.barometer) - before > 20 }
    #expect(session.count(.barometer) - before > 20)
    Lab.control("plug")
    try session.read(seconds: 15) { !$0.events("found").isEmpty }
    #expect(session.events("found").count == 1)
    #expect(session.events("lost").count == 1)
    try session.stop()
    #expect(session.disorder == 0)
  }

  @Test("iiod ends and comes back: everything is lost once and found once, without a restart of ours")
  func restartOfServer() throws {
    let source = try openSource(Lab.uri)
    _ = try source.start(SensorRequest(rates: [.accelerometer: 100, .gyroscope: 100]))
    var session = LabSession(source)
    try session.read(seconds: 2)
    Lab.control("restart-iiod")
    try session.read(seconds: 15) { $0.events("found").count >= 2 }
    #expect(session.events("lost").count == 2, "\(session.events)")
    #expect(session.events("found").count == 2, "\(session.events)")
    let before = session.count(.accelerometer)
    try session.read(seconds: 20) { $0.count(.accelerometer) - before > 150 }
    #expect(session.count(.accelerometer) - before > 150)
    try session.stop()
    #expect(session.disorder == 0)
    // Only one clock: the board's did not change.
    #expect(session.events("clock_step").isEmpty)
  }

  @Test("all HID sensors at 1 kHz for 10 s without a gap")
  func fast() throws {
    let kinds: [SensorKind] = [.accelerometer, .gyroscope, .magnetometer]
    try withHub {
      let source = try openSource(Lab.uri)
      _ = try source.start(SensorRequest(rates: Dictionary(uniqueKeysWithValues: kinds.map { ($0, 1000) })))
      var session = LabSession(source)
      try session.read(seconds: 10)
      try session.stop()
      return session
    } check: { session, leftOut in
      for kind in kinds {
        let missing = session.missing(kind, period: Self.ms)
        let allowed = leftOut[kind] ?? 0
        #expect(missing <= allowed, "\(kind): the hub left out \(allowed): \(session.events.prefix(20))")
        #expect(session.times(kind).count + allowed > 8000, "\(kind)")
      }
    }
  }

  @Test("the accelerometer at 2 kHz for 5 s without a gap")
  func fastest() throws {
    // The driver does not know of it and would leave it so.
    defer { Lab.control("period accel_3d 10000") }
    try withHub {
      let source = try openSource(Lab.uri)
      _ = try source.start(SensorRequest(rates: [.accelerometer: 1000]))
      var session = LabSession(source)
      try session.read(seconds: 1)
      // The driver's interface ends at 1 kHz, the hub does not.
      Lab.control("period accel_3d 500")
      try session.read(seconds: 6)
      try session.stop()
      return session
    } check: { session, leftOut in
      let times = session.times(.accelerometer)
      let intervals = zip(times, times.dropFirst()).map { $1 - $0 }
      // From the change on all intervals are of the new period.
      let settled = intervals.firstIndex { abs($0 - 500_000) <= 1000 } ?? intervals.endIndex
      let allowed = leftOut[.accelerometer] ?? 0
      let missing = LabSession.missing(intervals[settled...], period: 500_000)
      #expect(missing <= allowed, "the hub left out \(allowed): \(session.events.prefix(20))")
      #expect(intervals.count - settled + allowed > 8000)
    }
  }

  /// Runs a session and hands `check` how many samples of each kind the hub itself left out meanwhile.
  ///
  /// The hub gives up what it could not send for a quarter of a second, as happens on a crowded machine, counts it, and
  /// stamps what it does send. From there on nothing may be lost, however crowded the machine is: the kernel takes every
  /// report in the hub's own call, and we ask its buffer to hold two seconds. So each sample that is missing by the
  /// stamps has to be one that the hub says it left out. A hub that leaves out more than a twentieth stands still for so
  /// long that its sensors count as lost: the session is then run again, and after the third time that is said, as a
  /// known issue. It is the hub's count that decides, not how busy the machine looks.
  private func withHub(
    _ run: () throws -> LabSession, check: (LabSession, _ leftOut: [SensorKind: Int]) throws -> Void
  ) throws {
    let names: [SensorKind: String] = [
      .accelerometer: "accel_3d", .gyroscope: "gyro_3d", .magnetometer: "magn_3d", .barometer: "press",
    ]
    for attempt in 1...3 {
      let before = Lab.hubReports()
      let session = try run()
      let after = Lab.hubReports()
      let leftOut = names.mapValues { (after[$0]?.skipped ?? 0) - (before[$0]?.skipped ?? 0) }
      let isPoor = leftOut.contains { $1 * 20 > session.times($0).count && session.count($0) > 0 }
      if isPoor, attempt < 3 { continue }
      if isPoor {
        withKnownIssue("the hub itself left out more than a twentieth in each of three runs", isIntermittent: true) {
          try check(session, leftOut)
        }
      } else {
        try check(session, leftOut)
      }
      return
    }
  }

  @Test("the hub's own attitude: unit quaternions from 32-byte samples, garbage above 16 bits, stamps that stand still")
  func fused() throws {
    let capture = try FusedCapture(uri: Lab.uri, rate: 50)
    #expect(capture.devices.map(\.kind) == [.attitude])
    try capture.start()
    var samples: [FusedSample] = []
    let end = nanoseconds(of: CLOCK_MONOTONIC) + 20_000_000_000
    while samples.count < 150, nanoseconds(of: CLOCK_MONOTONIC) < end {
      usleep(50_000)
      samples += capture.take().samples
    }
    capture.stop()
    try #require(samples.count >= 150)
    for sample in samples {
      let norm = (sample.values * sample.values).sum().squareRoot()
      #expect(abs(norm - 1) < 1e-3, "\(sample)")
    }
    // This kernel's driver gives every sample the time of the first: they are stamped when they arrive.
    for (a, b) in zip(samples, samples.dropFirst()) { #expect(a.time < b.time) }
    let span = Double(samples[samples.count - 1].time.nanoseconds - samples[0].time.nanoseconds) / 1e9
    #expect(span > 0.5 * Double(samples.count) / 50, "\(span) s")
  }

  @Test("the doctor measures all ten sensors at rest, finds the known scale fault put right, and no fault")
  func doctor() throws {
    Lab.control("set 0.1 -0.2 9.8 0.001 0.002 0.003 22 -10 -40 100000 21.5")
    defer { Lab.control("mode synth") }
    let diagnosis = try Diagnosis.examine(uri: Lab.uri, settings: Diagnosis.Settings(seconds: 2))
    #expect(diagnosis.measurements.count == 10, "\(diagnosis.findings)")
    #expect(diagnosis.findings.allSatisfy { $0.level != .fault }, "\(diagnosis.findings)")
    for measurement in diagnosis.measurements {
      #expect(measurement.count > 10, "\(measurement.title)")
      if measurement.sensor.kind == .accelerometer { #expect(abs(measurement.mean.z - 9.8) < 0.05) }
    }
    #expect(diagnosis.findings.contains { $0.subject.contains("hmc5843") && $0.text.contains("corrected") })
    #expect(diagnosis.findings.contains { $0.subject.contains("bmp280") && $0.text.contains("polled") })
  }

  @Test("attributes are put back at the end")
  func restoring() throws {
    let before = Lab.run("iio_attr", ["-u", Lab.uri, "-c", "accel_3d", "accel_x", "sampling_frequency"])
    let clock = Lab.run("iio_attr", ["-u", Lab.uri, "-d", "accel_3d", "current_timestamp_clock"])
    let source = try openSource(Lab.uri)
    _ = try source.start(SensorRequest(rates: [.accelerometer: before.hasPrefix("50.") ? 40 : 50]))
    let during = Lab.run("iio_attr", ["-u", Lab.uri, "-c", "accel_3d", "accel_x", "sampling_frequency"])
    var session = LabSession(source)
    try session.stop()
    #expect(during != before)
    #expect(Lab.run("iio_attr", ["-u", Lab.uri, "-c", "accel_3d", "accel_x", "sampling_frequency"]) == before)
    #expect(Lab.run("iio_attr", ["-u", Lab.uri, "-d", "accel_3d", "current_timestamp_clock"]) == clock)
  }
}
