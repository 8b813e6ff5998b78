import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// Builds a device as discovery would see it.
func deviceModel(
  id: String = "iio:device0", name: String, label: String = "", path: String = "",
  channels: [(id: String, format: String?, attributes: [String: (file: String, text: String)])],
  attributes: [String: String] = [:], trigger: String = "", supportsTrigger: Bool = true
) -> DeviceModel {
  var model = DeviceModel(id: id, name: name, label: label, path: path)
  for (index, channel) in channels.enumerated() {
    var files: [String: String] = [:]
    for (attribute, value) in channel.attributes {
      files[attribute] = value.file
      model.texts[value.file] = value.text
    }
    let format = channel.format.flatMap { ScanFormat($0) }
    model.channels.append(
      ChannelModel(id: channel.id, scanIndex: format == nil ? nil : index, format: format, files: files))
  }
  for (name, text) in attributes {
    model.attributes.insert(name)
    model.texts[name] = text
  }
  model.trigger = trigger
  model.supportsTrigger = supportsTrigger
  return model
}

/// A three-axis device with one scale for all axes.
func threeAxisDevice(
  id: String = "iio:device0", name: String, label: String = "", path: String = "", type: String = "accel",
  format: String? = "le:s16/16>>0", scale: String? = "0.001", extra: [String: (file: String, text: String)] = [:],
  attributes: [String: String] = [:], trigger: String = "", supportsTrigger: Bool = true
) -> DeviceModel {
  deviceModel(
    id: id, name: name, label: label, path: path,
    channels: ["x", "y", "z"].map { axis in
      var all: [String: (file: String, text: String)] = ["raw": ("in_\(type)_\(axis)_raw", "1")]
      if let scale { all["scale"] = ("in_\(type)_scale", scale) }
      all.merge(extra) { _, new in new }
      return ("\(type)_\(axis)", format, all)
    }, attributes: attributes, trigger: trigger, supportsTrigger: supportsTrigger)
}

@Suite("sensor discovery") struct DiscoveryTests {
  @Test("case 36: mount_matrix wins over an old matrix of zeros")
  func legacyMatrix() throws {
    let device = threeAxisDevice(
      name: "mpu6050",
      extra: [
        "matrix": ("in_accel_matrix", "0, 0, 0; 0, 0, 0; 0, 0, 0"),
        "mount_matrix": ("in_accel_mount_matrix", "1, 0, 0; 0, 1, 0; 0, 0, 1"),
        "calibbias": ("in_accel_x_calibbias", "-7496"),
      ])
    let sensor = try #require(device.sensors().sensors.first)
    #expect(try #require(sensor.matrix).apply(Vector3(1, 2, 3)) == Vector3(1, 2, 3))
    #expect(sensor.notes.isEmpty)
    // Written to the chip already: shown, never applied.
    #expect(sensor.details.contains(["calibbias", "-7496"]))
    #expect(sensor.channels[0].conversion?.offset == 0)
  }

  @Test("an old matrix counts only as a rotation and only alone")
  func legacyMatrixAlone() throws {
    let zero = threeAxisDevice(name: "a", extra: ["matrix": ("in_accel_matrix", "0, 0, 0; 0, 0, 0; 0, 0, 0")])
    #expect(try #require(zero.sensors().sensors.first).matrix == nil)
    let turn = threeAxisDevice(name: "a", extra: ["matrix": ("in_accel_matrix", "0, 1, 0; -1, 0, 0; 0, 0, 1")])
    #expect(try #require(turn.sensors().sensors.first?.matrix).apply(Vector3(1, 2, 3)) == Vector3(2, -1, 3))
  }

  @Test("every name of the mount matrix is found, the type's before the device's")
  func matrixNames() throws {
    let turn = "0, 1, 0; -1, 0, 0; 0, 0, 1"
    for attribute in ["mount_matrix", "in_mount_matrix"] {
      let device = threeAxisDevice(name: "a", attributes: [attribute: turn])
      #expect(try #require(device.sensors().sensors.first).matrix == MountMatrix(turn), "\(attribute)")
    }
    // libiio shows in_mount_matrix as attribute `matrix` of a channel `mount`.
    var device = threeAxisDevice(name: "a")
    device.channels.append(
      ChannelModel(id: "mount", scanIndex: nil, format: nil, files: ["matrix": "in_mount_matrix"]))
    device.texts["in_mount_matrix"] = turn
    #expect(try #require(device.sensors().sensors.first).matrix == MountMatrix(turn))
    device.texts["in_accel_mount_matrix"] = "-1, 0, 0; 0, -1, 0; 0, 0, 1"
    for index in device.channels.indices { device.channels[index].files["mount_matrix"] = "in_accel_mount_matrix" }
    let sensor = try #require(device.sensors().sensors.first)
    #expect(sensor.matrix?.apply(Vector3(1, 2, 3)) == Vector3(-1, -2, 3))
  }

  @Test(
    "a matrix that is no rotation is replaced by the identity, with a note",
    arguments: [
      "1, 0, 0; 1, 0, 0; 0, 0, 1", "-1, 0, 0; 0, 1, 0; 0, 0, 1", "2, 0, 0; 0, 1, 0; 0, 0, 1", "1, 2", "",
      "nan, 0, 0; 0, 1, 0; 0, 0, 1",
    ])
  func badMatrix(text: String) throws {
    let device = threeAxisDevice(name: "a", attributes: ["mount_matrix": text])
    let sensor = try #require(device.sensors().sensors.first)
    #expect(sensor.matrix == .identity)
    #expect(sensor.notes.first?.contains("is not a rotation") == true)
  }

  @Test("case 37 A: a scale of 0.000000 is refused by name; the sensor is not multiplied by 0")
  func zeroScale() {
    let (sensors, refused) = threeAxisDevice(name: "accel_3d", scale: "0.000000").sensors()
    #expect(sensors.isEmpty)
    #expect(refused.count == 1)
    #expect(refused[0].contains("in_accel_scale=0.000000"))
  }

  @Test("no scale at all, a negative one and text are refused", arguments: [nil, "-0.5", "abc", "nan", ""])
  func noScale(scale: String?) {
    let (sensors, refused) = threeAxisDevice(name: "a", scale: scale).sensors()
    #expect(sensors.isEmpty && refused.count == 1)
  }

  @Test("case 37 B: a scale shared by the whole device is found")
  func deviceScale() throws {
    let device = threeAxisDevice(name: "a", scale: nil, attributes: ["scale": "0.005985504"])
    let sensor = try #require(device.sensors().sensors.first)
    let conversion = try #require(sensor.channels[2].conversion)
    #expect(abs(conversion.value(1638) - 9.804) < 0.001)
    #expect(conversion.value(1638) == 1638 * 0.005985504)
  }

  @Test("case 37 C: a processed value is used as it is, even beside raw and scale")
  func processedValue() throws {
    let device = deviceModel(
      name: "bmp",
      channels: [
        (
          "pressure", nil,
          [
            "input": ("in_pressure_input", "101.325000000"), "raw": ("in_pressure_raw", "6460000"),
            "scale": ("in_pressure_scale", "0.000015625"),
          ]
        )
      ])
    let plan = try #require(device.sensors().sensors.first?.channels.first)
    #expect(plan.hasInput)
    #expect(plan.unit == 1)
  }

  @Test("value = (raw + offset) * scale, and units become those of the samples")
  func conversions() throws {
    let magnetometer = threeAxisDevice(
      name: "m", type: "magn", scale: "0.0001", extra: ["offset": ("in_magn_offset", "10")])
    let sensor = try #require(magnetometer.sensors().sensors.first)
    let conversion = try #require(sensor.channels[0].conversion)
    #expect(abs(conversion.value(1990) - 20) < 1e-9)
    let barometer = deviceModel(
      name: "lps22hb",
      channels: [
        ("pressure", "le:s24/32>>0", ["raw": ("p", "1"), "scale": ("in_pressure_scale", "0.000244140")]),
        ("temp", "le:S16/16>>0", ["raw": ("t", "1"), "scale": ("in_temp_scale", "10")]),
        ("timestamp", "le:S64/64>>0", [:]),
      ])
    let pressure = try #require(barometer.sensors().sensors.first)
    #expect(pressure.kind == .barometer && pressure.isBuffered && pressure.channels.count == 2)
    #expect(abs((pressure.channels[1].conversion?.value(2541) ?? 0) - 25.41) < 1e-9)
  }

  @Test("a chip with two kinds is two sensors; one with an axis missing is none, and says so")
  func combined() {
    var device = threeAxisDevice(name: "bmi160")
    device.channels += threeAxisDevice(name: "", type: "anglvel").channels
    device.texts["in_anglvel_scale"] = "0.001"
    #expect(device.sensors().sensors.map(\.kind) == [.accelerometer, .gyroscope])
    device.channels.removeFirst()
    let (sensors, refused) = device.sensors()
    #expect(sensors.map(\.kind) == [.gyroscope])
    #expect(refused.first?.contains("2 of 3 axes") == true)
  }

  @Test("sensors of the AMD Sensor Fusion Hub carry a note, and are left as they are")
  func doubtfulHub() throws {
    let path = "pci0000:00/0000:00:08.1/0000:04:00.7/0020:1022:0001.0001/HID-SENSOR-200073.1.auto"
    let (hub, _) = threeAxisDevice(name: "accel_3d", path: path).sensors()
    #expect(hub.first?.notes.contains { $0.contains("AMD") && $0.contains("doctor") } == true)
    #expect(hub.first?.channels.first?.conversion?.scale == 0.001)
    let (other, _) = threeAxisDevice(name: "accel_3d", path: "0003:8086:0001.0001/HID-SENSOR-200073.1.auto").sensors()
    #expect(other.first?.notes.isEmpty == true)
  }

  @Test("two sensors of a kind in one device are numbered, and both are found")
  func numbered() throws {
    var device = threeAxisDevice(name: "dual", type: "accel0", scale: "0.01")
    for channel in threeAxisDevice(name: "dual", type: "accel1", format: nil, scale: "0.02").channels {
      device.channels.append(channel)
    }
    device.texts["in_accel1_scale"] = "0.02"
    let (sensors, refused) = device.sensors()
    #expect(sensors.map(\.kind) == [.accelerometer, .accelerometer])
    #expect(sensors.map { $0.channels[0].conversion?.scale } == [0.01, 0.02])
    #expect(refused.isEmpty)
    // Named by its device, the better one is taken.
    let inventory = IIOInventory(devices: [device], triggers: [])
    #expect(try inventory.choose(.accelerometer, wanted: "dual")?.sensor.channels[0].id == "accel0_x")
  }

  @Test("the hmc5843's scale is put right, a mended kernel's left alone")
  func quirk() throws {
    let faulty = threeAxisDevice(name: "hmc5843", type: "magn", scale: "0.000007692")
    let sensor = try #require(faulty.sensors().sensors.first)
    // 1300 counts are one gauss: 100 µT.
    #expect(abs((sensor.channels[0].conversion?.value(1300) ?? 0) - 100) < 0.01)
    #expect(sensor.notes.count == 1)
    let mended = threeAxisDevice(name: "hmc5843", type: "magn", scale: "0.000769230")
    let other = try #require(mended.sensors().sensors.first)
    #expect(abs((other.channels[0].conversion?.value(1300) ?? 0) - 100) < 0.01)
    #expect(other.notes.isEmpty)
  }

  @Test("rates: the nearest that is offered at or above what is asked for")
  func rates() throws {
    let list = try #require(AvailableValues("0.78125 1.5625 12.5 25 50 100 200\n"))
    #expect(list.nearest(atOrAbove: 26) == 50)
    #expect(list.nearest(atOrAbove: 25) == 25)
    #expect(list.nearest(atOrAbove: 12.500001) == 12.5)
    #expect(list.nearest(atOrAbove: 1000) == 200)
    let range = try #require(AvailableValues("[1 4 401]"))
    #expect(range.nearest(atOrAbove: 100) == 101)
    #expect(range.nearest(atOrAbove: 0.1) == 1)
    #expect(range.nearest(atOrAbove: 9000) == 401)
    #expect(AvailableValues("normal positivebias") == nil)
    #expect(AvailableValues("") == nil)
    #expect(AvailableValues("[5 1]") == nil)
  }
}

@Suite("sensor selection") struct SelectionTests {
  private let twins = IIOInventory(
    devices: [
      threeAxisDevice(id: "iio:device0", name: "lsm6dsx", path: "platform/soc/i2c-1/1-006a"),
      threeAxisDevice(id: "iio:device1", name: "lsm6dsx", label: "accel-display", path: "platform/soc/i2c-1/1-006b"),
    ], triggers: [])

  @Test("case 43: an ambiguous name is an error that lists both")
  func ambiguous() {
    let error = thrownError { _ = try twins.choose(.accelerometer, wanted: "lsm6dsx") }
    guard case .unsupported(let what, let hint)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(what.contains("2 devices"))
    #expect(hint.contains("accel-display") && hint.contains("1-006a"))
  }

  @Test(
    "case 43: label, bus path and id each name one device",
    arguments: [("accel-display", 1), ("i2c-1/1-006a", 0), ("1-006b", 1), ("iio:device0", 0)])
  func unique(wanted: String, device: Int) throws {
    #expect(try twins.choose(.accelerometer, wanted: wanted)?.device == device)
  }

  @Test("devices with one label: each sensor has an identity of its own, and the choices name them apart")
  func oneLabel() throws {
    let inventory = IIOInventory(
      devices: [
        threeAxisDevice(id: "iio:device0", name: "lsm6dsr_accel", label: "imu"),
        threeAxisDevice(id: "iio:device1", name: "lsm6dsr_gyro", label: "imu", type: "anglvel"),
        threeAxisDevice(id: "iio:device2", name: "lis3dh", label: "imu"),
        threeAxisDevice(id: "iio:device3", name: "lis3dh", label: "lid"),
      ], triggers: [])
    #expect(
      inventory.devices.map(\.identity)
        == ["lsm6dsr_accel iio:device0", "lsm6dsr_gyro iio:device1", "lis3dh iio:device2", "lid"])
    // Of one kind the label may still be enough.
    #expect(try inventory.choose(.gyroscope, wanted: "imu")?.device == 1)
    guard case .unsupported(_, let hint)? = thrownError({ _ = try inventory.choose(.accelerometer, wanted: "imu") })
    else {
      Issue.record("no error")
      return
    }
    #expect(hint.contains("iio:device0 (lsm6dsr_accel), iio:device2 (lis3dh)"))
  }

  @Test("part of a path component does not name a device, and what is unknown lists the choices")
  func unknown() {
    for wanted in ["1-006", "006a", "bno055"] {
      let error = thrownError { _ = try twins.choose(.accelerometer, wanted: wanted) }
      guard case .notFound(_, let hint)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(hint.contains("accel-display"))
    }
  }

  @Test("the best of a kind: own trigger, then another trigger, then polling; the first of equals")
  func best() throws {
    let polled = threeAxisDevice(id: "iio:device0", name: "polled", format: nil)
    let foreign = threeAxisDevice(id: "iio:device1", name: "foreign")
    let own = threeAxisDevice(id: "iio:device2", name: "own")
    let triggers = [TriggerModel(id: "trigger0", name: "own-dev2", hasFrequency: false)]
    #expect(
      try IIOInventory(devices: [polled, foreign, own], triggers: triggers).choose(.accelerometer, wanted: "")?.device
        == 2)
    #expect(try IIOInventory(devices: [polled, foreign], triggers: []).choose(.accelerometer, wanted: "")?.device == 1)
    #expect(try IIOInventory(devices: [polled], triggers: []).choose(.accelerometer, wanted: "")?.device == 0)
    #expect(try IIOInventory(devices: [own, own], triggers: []).choose(.accelerometer, wanted: "")?.device == 0)
    #expect(try IIOInventory(devices: [], triggers: []).choose(.accelerometer, wanted: "") == nil)
    #expect(try IIOInventory(devices: [own], triggers: []).choose(.gyroscope, wanted: "") == nil)
  }

  private func plan(_ devices: [DeviceModel], _ triggers: [TriggerModel], trigger: String = "") throws -> (
    [CapturePlan], [String]
  ) {
    try IIOInventory(devices: devices, triggers: triggers).plan(
      SensorRequest(rates: [.accelerometer: 50, .gyroscope: 100, .magnetometer: 25], trigger: trigger))
  }

  private let chips = [
    threeAxisDevice(id: "iio:device0", name: "a"), threeAxisDevice(id: "iio:device1", name: "g", type: "anglvel"),
    threeAxisDevice(id: "iio:device2", name: "m", type: "magn"),
  ]
  private func timer(_ name: String) -> TriggerModel { TriggerModel(id: "t-\(name)", name: name, hasFrequency: true) }

  @Test("one timer serves two devices at the higher of their rates; the third is polled and the note says why")
  func sharedTimer() throws {
    let (plans, notes) = try plan(chips, [timer("timer")])
    let shared = CapturePlan.Mode.buffered(trigger: "timer", isOwn: false, frequency: 100)
    #expect(plans.map(\.mode) == [shared, shared, .polled])
    #expect(notes.count == 1 && notes[0].contains("serves 2 devices"))
  }

  @Test("a second timer takes the third device, at that device's own rate")
  func secondTimer() throws {
    let (plans, notes) = try plan(chips, [timer("one"), timer("two")])
    #expect(plans[2].mode == .buffered(trigger: "two", isOwn: false, frequency: 25))
    #expect(notes.isEmpty)
  }

  @Test("the trigger asked for is taken first; 'none' polls; an unknown one lists what there is")
  func namedTrigger() throws {
    let triggers = [timer("one"), timer("two")]
    #expect(
      try plan([chips[0]], triggers, trigger: "two").0[0].mode == .buffered(trigger: "two", isOwn: false, frequency: 50)
    )
    #expect(try plan([chips[0]], triggers, trigger: "none").0[0].mode == .polled)
    let error = thrownError { _ = try plan([chips[0]], triggers, trigger: "three") }
    guard case .notFound(_, let hint)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(hint == "choose one of: one, two")
  }

  @Test(
    "full scale: half the counts of a signed format, all of an unsigned one; 32 bits of a hub are room, not range",
    arguments: [
      ("le:s16/16>>0", 32.768), ("le:s12/16>>4", 2.048), ("be:u12/16>>0", 4.096), ("le:s32/32>>0", Double.infinity),
    ])
  func range(format: String, expected: Double) throws {
    let inventory = IIOInventory(devices: [threeAxisDevice(name: "a", format: format)], triggers: [])
    let description = inventory.describe(try #require(inventory.candidates.first))
    #expect(description.range == expected || abs(description.range - expected) < 1e-9)
    #expect(description.resolution == 0.001)
  }

  @Test("of two barometers the one with a thermometer is taken")
  func thermometer() throws {
    func barometer(_ id: String, _ channels: [String]) -> DeviceModel {
      deviceModel(
        id: id, name: "bmp",
        channels: channels.map { ($0, nil, ["input": ("in_\($0)_input", "1")]) }, supportsTrigger: false)
    }
    let devices = [barometer("iio:device0", ["pressure"]), barometer("iio:device1", ["pressure", "temp"])]
    let inventory = IIOInventory(devices: devices, triggers: [])
    #expect(try inventory.choose(.barometer, wanted: "")?.device == 1)
  }

  @Test("ST's separate sensors call their own trigger NAME-trigger; two of one name are nobody's own")
  func triggerByName() throws {
    let device = threeAxisDevice(id: "iio:device2", name: "lis3dh")
    let own = TriggerModel(id: "trigger0", name: "lis3dh-trigger", hasFrequency: false)
    #expect(
      try plan([device], [timer("timer"), own]).0[0].mode
        == .buffered(trigger: "lis3dh-trigger", isOwn: true, frequency: nil))
    #expect(device.ownTrigger(among: [own, own]) == nil)
    #expect(
      device.ownTrigger(among: [TriggerModel(id: "trigger0", name: "lis3mdl-trigger", hasFrequency: false)]) == nil)
  }

  @Test("without any trigger a device is polled; one that needs none has its own FIFO")
  func withoutTrigger() throws {
    #expect(try plan([chips[0]], []).0[0].mode == .polled)
    let fifo = threeAxisDevice(name: "f", supportsTrigger: false)
    #expect(try plan([fifo], []).0[0].mode == .buffered(trigger: "", isOwn: false, frequency: nil))
  }
}

@Suite("IIO errors") struct IIOErrorTests {
  private func line(_ error: MotionKitError) -> String {
    switch error {
    case .notFound(let what, let hint), .notPermitted(let what, let hint), .busy(let what, let hint),
      .device(let what, _, let hint), .unsupported(let what, let hint):
      "\(what): \(hint)"
    default: "\(error)"
    }
  }

  @Test(
    "case 40: every failure says device, operation, errno and what to do",
    arguments: [
      (IIOOperation.openContext, ENOENT, "no IIO devices on this system", "overlay"),
      (.createBuffer, EBUSY, "Device or resource busy, errno 16", "iio-sensor-proxy (pid 7) holds the buffer"),
      (
        .readAttribute, EBUSY, "cannot read in_accel_x_raw",
        "a buffer is running on this device; polling is not possible"
      ),
      (.createBuffer, EINVAL, "cannot create the buffer", "choose one of: timer-a, timer-b; or poll"),
      (.createBuffer, ENOSYS, "errno 38", "this device has no buffer; its attributes are polled"),
      (.createBuffer, EACCES, "errno 13", "/dev/iio:device0 needs a group rule"),
      (.refill, ENODEV, "errno 19", "the sensor disappeared; waiting for it to return"),
      (.refill, ETIMEDOUT, "errno 110", "no sample for 2.5 s: is the trigger firing?"),
      (.writeAttribute, EBUSY, "cannot set sampling_frequency", "stop the program that reads it first"),
      (.setTrigger, EPERM, "errno 1", "this device has a fixed trigger"),
    ])
  func golden(operation: IIOOperation, code: Int32, what: String, hint: String) {
    let detail =
      operation == .readAttribute ? "in_accel_x_raw" : operation == .writeAttribute ? "sampling_frequency" : ""
    for sign: Int32 in [1, -1] {
      let text = line(
        MotionKitError.iio(
          operation, device: "accel_3d", detail: detail, errno: sign * code, triggers: ["timer-a", "timer-b"],
          holders: ["iio-sensor-proxy (pid 7)"], node: "/dev/iio:device0", seconds: 2.5))
      #expect(text.contains("accel_3d"))
      #expect(text.contains(what), "\(text)")
      #expect(text.contains(hint), "\(text)")
    }
  }

  @Test("an open file's holder is found through /proc, ourselves left out")
  func holder() throws {
    // The test's own process does not count; process 1 is not asked about.
    let path = "/tmp/motionkit-holder-\(getpid())"
    let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    defer {
      close(file)
      unlink(path)
    }
    #expect(holders(ofFile: path).isEmpty)
    #expect(holders(ofFile: "").isEmpty)
  }
}

@Suite("IIO addresses") struct NetworkAddressTests {
  @Test(
    "hosts and ports of ip: URIs",
    arguments: [
      ("ip:board", "board", "30431"), ("ip:board:30500", "board", "30500"), ("ip:10.0.0.1:1", "10.0.0.1", "1"),
      ("ip:[fe80::1]:7", "fe80::1", "7"), ("ip:fe80::1", "fe80::1", "30431"),
    ])
  func addresses(uri: String, host: String, port: String) throws {
    let address = try #require(networkAddress(ofURI: uri))
    #expect(address.host == host && address.port == port)
  }

  @Test("only ip: is a network address, and a bad port is told before anything is tried")
  func others() {
    #expect(networkAddress(ofURI: "local:") == nil && networkAddress(ofURI: "usb:1.2.3") == nil)
    #expect(throws: MotionKitError.invalidSource(uri: "ip:board:x", reason: "'x' is not a port: ip:HOST[:PORT]")) {
      try probeNetwork(uri: "ip:board:x", seconds: 1)
    }
  }

  @Test("a host where nothing listens says so")
  func refused() {
    // Port 1 of this machine: nobody listens there.
    let error = thrownError { _ = try IIOSource(uri: "ip:127.0.0.1:1") }
    guard case .notFound(let what, let hint)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(what.contains("nothing listens on port 1") && hint.contains("iiod"))
  }

  @Test("a host that does not answer is given up after the time given")
  func silent() {
    // 192.0.2.0/24 is reserved for documentation (RFC 5737): no such host exists.
    #expect(throws: MotionKitError.self) { try probeNetwork(uri: "ip:192.0.2.1", seconds: 0.3) }
  }
}

/// What `body` throws. (That `#expect(throws:)` returns it came after Swift 6.0.)
private func thrownError(_ body: () throws -> Void) -> MotionKitError? {
  do {
    try body()
    return nil
  } catch {
    return error as? MotionKitError
  }
}
