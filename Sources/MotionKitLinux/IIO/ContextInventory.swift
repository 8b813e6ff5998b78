import Glibc
import SensorFusion

extension IIOContext {
  /// Reads everything that matters of all devices and triggers. Values are not read, so nothing is woken up.
  func inventory(isLocal: Bool) -> IIOInventory {
    var models: [DeviceModel] = []
    var triggers: [TriggerModel] = []
    for device in devices {
      if device.isTrigger {
        let hasFrequency = device.attributeNames.contains("sampling_frequency")
        triggers.append(TriggerModel(id: device.id, name: device.name, hasFrequency: hasFrequency))
      } else if device.id.hasPrefix("iio:device") {
        models.append(device.model(isLocal: isLocal))
      }
    }
    return IIOInventory(host: summary, devices: models, triggers: triggers)
  }
}

extension IIODevice {
  /// The device as a plain value.
  func model(isLocal: Bool) -> DeviceModel {
    var model = DeviceModel(id: id, name: name.isEmpty ? id : name)
    model.label = label
    if isLocal { (model.path, model.driver) = Self.sysfs(id) }
    let relevant = ["accel", "anglvel", "magn", "pressure", "temp", "mount", "steps", "rot_", "gravity_"]
    for channel in channels {
      let id = channel.id
      var files: [String: String] = [:]
      for (name, file) in channel.attributes {
        files[name] = file
        // Shared attributes have one file: read once.
        guard DeviceModel.channelAttributes.contains(name), relevant.contains(where: id.hasPrefix),
          model.texts[file] == nil, let text = channel.read(name).text
        else { continue }
        model.texts[file] = text
      }
      let isScanElement = channel.isScanElement
      model.channels.append(
        ChannelModel(
          id: id, scanIndex: isScanElement ? channel.index : nil, format: isScanElement ? channel.format : nil,
          files: files))
    }
    let hasScanElements = model.channels.contains { $0.scanIndex != nil }
    for name in attributeNames {
      model.attributes.insert(name)
      guard DeviceModel.deviceAttributes.contains(name), let text = read(name).text else { continue }
      model.texts[name] = text
    }
    if hasScanElements {
      let (current, isSupported) = trigger
      model.trigger = current?.name ?? ""
      model.supportsTrigger = isSupported
    }
    return model
  }

  /// Path below /sys/devices and driver of a local device.
  static func sysfs(_ id: String) -> (path: String, driver: String) {
    guard let resolved = realpath("/sys/bus/iio/devices/\(id)", nil) else { return ("", "") }
    defer { free(resolved) }
    let path = String(cString: resolved)
    guard path.hasPrefix("/sys/devices/"), let slash = path.lastIndex(of: "/") else { return ("", "") }
    let parent = String(path[..<slash])
    let driver = linkTarget("\(parent)/driver").split(separator: "/").last.map { String($0) } ?? ""
    return (String(parent.dropFirst("/sys/devices/".count)), driver)
  }
}

extension IIOInventory {
  /// The description of a sensor that was not started.
  func describe(_ candidate: SensorCandidate) -> SensorDescription {
    let device = devices[candidate.device]
    let sensor = candidate.sensor
    var description = SensorDescription(
      kind: sensor.kind, name: device.name, identity: device.identity, rate: sensor.rate)
    description.driver = device.driver
    description.availableRates = sensor.available?.values ?? []
    if let conversion = sensor.channels[0].conversion {
      description.resolution = conversion.scale * conversion.unit
      // 32 bits of a HID hub are room, not range.
      if let format = sensor.channels[0].format, format.bits < 32 {
        let halfRange = format.isSigned ? format.bits - 1 : format.bits
        description.range = Double(UInt64(1) << UInt64(halfRange)) * conversion.scale * conversion.unit
      }
    }
    description.mountMatrix = sensor.matrix?.plain
    if !sensor.isBuffered {
      description.capture = "polled"
    } else if let own = device.ownTrigger(among: triggers) {
      description.capture = "own trigger \(own.name)"
    } else if !device.supportsTrigger {
      description.capture = "hardware FIFO"
    } else {
      description.capture = device.trigger.isEmpty ? "buffer, no trigger set" : "trigger \(device.trigger)"
    }
    description.clock = device.texts["current_timestamp_clock"] ?? ""
    var attributes: [(name: String, value: String)] = [("device", device.id)]
    if !device.label.isEmpty { attributes.append(("label", device.label)) }
    if !device.path.isEmpty { attributes.append(("path", device.path)) }
    if let channel = sensor.channels.first {
      if let conversion = channel.conversion {
        attributes.append(("scale", "\(conversion.scale)"))
        if conversion.offset != 0 { attributes.append(("offset", "\(conversion.offset)")) }
      }
      if let format = channel.format { attributes.append(("bits", "\(format.bits)")) }
    }
    attributes += sensor.details.filter { $0.count == 2 }.map { (name: $0[0], value: $0[1]) }
    attributes += sensor.notes.map { (name: "note", value: $0) }
    description.attributes = attributes
    return description
  }
}
