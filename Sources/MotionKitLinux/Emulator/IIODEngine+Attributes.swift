extension IIODEngine {
  // MARK: Reading

  /// `READ` of one attribute or of all of a group.
  mutating func read(device name: String, _ group: AttributeGroup, _ attribute: String?, connection: Int) {
    guard let device = find(name) else { return connections[connection].send(.noDevice) }
    if let attribute {
      switch text(of: attribute, group, device: device) {
      case .failure(let error): connections[connection].send(error)
      case .success(let text):
        connections[connection].send("\(text.utf8.count + 1)\n\(text)\0\n")
      }
      return
    }
    guard let names = names(of: group, device: device) else { return connections[connection].send(.noDeviceOrAddress) }
    var bytes: [UInt8] = []
    for name in names {
      // Length or negative errno as a big-endian 32-bit integer, then the text, filled up to a multiple of four.
      switch text(of: name, group, device: device) {
      case .failure(let error): Self.append(Int32(-error.code), to: &bytes)
      case .success(let text):
        Self.append(Int32(text.utf8.count + 1), to: &bytes)
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
        while bytes.count % 4 != 0 { bytes.append(0) }
      }
    }
    connections[connection].send(code: bytes.count)
    connections[connection].output.append(contentsOf: bytes)
    connections[connection].send("\n")
  }

  private static func append(_ value: Int32, to bytes: inout [UInt8]) {
    for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> Int32(shift))) }
  }

  /// The attributes of a group in the order of the XML; nil for a channel that is not there.
  private func names(of group: AttributeGroup, device: Int) -> [String]? {
    switch group {
    case .device: return devices[device].device.attributes.map(\.name)
    case .buffer: return devices[device].device.hasBuffer ? ["data_available", "direction"] : []
    case .debug: return []
    case .channel(let id, let isOutput):
      guard !isOutput else { return nil }
      return devices[device].device.channels.first { $0.id == id }?.attributes.map(\.name)
    }
  }

  /// What an attribute shows, without the NUL at its end.
  private func text(of name: String, _ group: AttributeGroup, device: Int) -> Result<String, IIODErrno> {
    let state = devices[device]
    if case .channel(let id, let isOutput) = group {
      guard !isOutput, let index = state.device.channels.firstIndex(where: { $0.id == id })
      else { return .failure(.noDeviceOrAddress) }
      guard !state.isUnplugged,
        let attribute = state.device.channels[index].attributes.first(where: { $0.name == name })
      else { return .failure(.noEntry) }
      return .success(state.text(of: attribute, channel: index))
    }
    guard !state.isUnplugged else { return .failure(.noEntry) }
    switch group {
    case .device:
      if let attribute = state.device.attributes.first(where: { $0.name == name }) {
        return .success(state.text(of: attribute, channel: nil))
      }
      // Files that libiio does not list as attributes, but reads.
      if name == "name" { return .success(state.device.name) }
      if name == "label", !state.device.label.isEmpty { return .success(state.device.label) }
      for (index, channel) in state.device.channels.enumerated() {
        guard let attribute = channel.attributes.first(where: { $0.fileName == name }) else { continue }
        return .success(state.text(of: attribute, channel: index))
      }
      return .failure(.noEntry)
    case .buffer where state.device.hasBuffer:
      switch name {
      case "data_available": return .success("\(state.available)")
      case "direction": return .success("in")
      case "enable": return .success(state.capture == nil ? "0" : "1")
      case "length": return .success("\(state.length)")
      case "watermark": return .success("\(state.watermark)")
      default: return .failure(.noEntry)
      }
    default: return .failure(.noEntry)
    }
  }

  // MARK: Writing

  /// `WRITE`: the value follows the line.
  mutating func beginWrite(
    device name: String, _ group: AttributeGroup, _ attribute: String?, _ byteCount: Int64, connection: Int
  ) {
    // The value of a device that is not there is left to be read as commands, as iiod leaves it.
    guard let device = find(name) else { return connections[connection].send(.noDevice) }
    guard byteCount > 0 else { return connections[connection].send(byteCount < 0 ? .noMemory : .inputOutput) }
    connections[connection].activity = .receiving(
      PendingWrite(
        device: device, group: group, attribute: attribute, remaining: byteCount, byteCount: byteCount))
  }

  /// The value is there.
  mutating func finish(_ write: PendingWrite, connection: Int) {
    let result: IIODErrno?
    if write.isTooLong {
      result = .tooBig
    } else if let attribute = write.attribute {
      result = set(attribute, write.group, device: write.device, to: write.value)
    } else {
      result = setAll(write.group, device: write.device, to: write.value)
    }
    if let result {
      connections[connection].send(result)
    } else {
      connections[connection].send("\(write.byteCount)\n")
    }
  }

  private mutating func set(
    _ name: String, _ group: AttributeGroup, device: Int, to bytes: [UInt8]
  ) -> IIODErrno? {
    var value = bytes.prefix { $0 != 0 }
    while let last = value.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: " ") { value.removeLast() }
    let text = String(decoding: value, as: UTF8.self)
    let described = devices[device].device
    let attributes: [EmulatedAttribute]
    switch group {
    case .device: attributes = described.attributes
    case .channel(let id, let isOutput):
      guard !isOutput, let channel = described.channels.first(where: { $0.id == id }) else { return .noDeviceOrAddress }
      attributes = channel.attributes
    case .buffer:
      if devices[device].isUnplugged { return .noEntry }
      return devices[device].setBuffer(name, to: text)
    case .debug: return .noEntry
    }
    if devices[device].isUnplugged { return .noEntry }
    guard let attribute = attributes.first(where: { $0.name == name }) else { return .access }
    return devices[device].set(attribute, to: text)
  }

  /// Sets all attributes of a group at once: for each a big-endian length and the bytes, filled up to four.
  private mutating func setAll(_ group: AttributeGroup, device: Int, to bytes: [UInt8]) -> IIODErrno? {
    guard let names = names(of: group, device: device) else { return .noDeviceOrAddress }
    var rest = bytes[...]
    for name in names {
      guard rest.count >= 4 else { return .invalid }
      let length = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      rest = rest.dropFirst(4)
      // Negative lengths stand for attributes to leave alone.
      guard Int32(bitPattern: length) > 0 else { continue }
      guard length <= rest.count else { return .invalid }
      if let error = set(name, group, device: device, to: Array(rest.prefix(Int(length)))) { return error }
      rest = rest.dropFirst((Int(length) + 3) / 4 * 4)
    }
    return nil
  }

  // MARK: Triggers

  /// `GETTRIG`.
  mutating func getTrigger(device name: String, connection: Int) {
    guard let device = find(name) else { return connections[connection].send(.noDevice) }
    let state = devices[device]
    guard state.device.hasBuffer, !state.isUnplugged else { return connections[connection].send(.noEntry) }
    guard let trigger = state.trigger.flatMap({ find($0) }) else { return connections[connection].send(.inputOutput) }
    let text = devices[trigger].device.name
    connections[connection].send("\(text.utf8.count)\n\(text)\n")
  }

  /// `SETTRIG`, which clears the trigger where none is named.
  mutating func setTrigger(device name: String, trigger: String?, connection: Int) {
    guard let device = find(name) else { return connections[connection].send(.noDevice) }
    guard devices[device].device.hasBuffer, !devices[device].isUnplugged
    else { return connections[connection].send(.noEntry) }
    var chosen: String?
    if let trigger {
      guard let place = find(trigger) else { return connections[connection].send(.noEntry) }
      guard devices[place].device.isTrigger else { return connections[connection].send(.invalid) }
      chosen = devices[place].device.id
    }
    guard devices[device].capture == nil else { return connections[connection].send(.busy) }
    devices[device].trigger = chosen
    connections[connection].send(code: 0)
  }
}

extension EmulatedDeviceState {
  /// What an attribute shows.
  func text(of attribute: EmulatedAttribute, channel: Int?) -> String {
    switch attribute.value {
    case .text(let text): return writtenTexts[attribute.fileName] ?? text
    case .raw:
      guard let channel else { return "" }
      let first = firstValues[channel]
      let count = device.channels[channel].format.repeatCount
      // Of several values each is followed by a blank.
      return count == 1 ? "\(values[first])" : values[first..<first + count].map { "\($0) " }.joined()
    case .processed:
      guard let channel else { return "" }
      return DecimalText.fixed(processed[channel], decimals: 9)
    case .samplingFrequency: return DecimalText.fixed(rate, decimals: 6)
    case .availableFrequencies: return device.availableRates.map(DecimalText.plain).joined(separator: " ")
    // The kernel prints a line feed of its own after the name, and one more is taken off.
    case .timestampClock: return clock.rawValue + "\n"
    }
  }

  /// Sets a writable attribute: the error, or nil.
  mutating func set(_ attribute: EmulatedAttribute, to text: String) -> IIODErrno? {
    guard attribute.isWritable else {
      // Files of values have the mode to be written, and the driver refuses; lists and matrices have not.
      let isValue = attribute.value == .raw || ["input", "offset", "scale"].contains(attribute.name)
      return isValue ? .invalid : .access
    }
    switch attribute.value {
    case .text: writtenTexts[attribute.fileName] = text
    case .raw, .processed, .availableFrequencies: return .invalid
    case .samplingFrequency:
      guard let asked = Double(text), asked.isFinite, asked > 0 else { return .invalid }
      let nearest = device.availableRates.min { abs($0 - asked) < abs($1 - asked) }
      guard let nearest, nearest > 0 else { return .invalid }
      divider = max(1, Int((device.rate / nearest).rounded()))
    case .timestampClock:
      guard capture == nil else { return .busy }
      guard let chosen = IIODClock(rawValue: text) else { return .invalid }
      clock = chosen
    }
    return nil
  }

  /// Sets an attribute of the buffer, which only matters to those who read it back: `OPEN` sets its own.
  mutating func setBuffer(_ name: String, to text: String) -> IIODErrno? {
    guard device.hasBuffer, ["enable", "length", "watermark"].contains(name) else { return .access }
    guard let number = Int32(text), number >= 0 else { return .invalid }
    switch name {
    // Switching on needs channels, and those come with OPEN.
    case "enable": return number == 0 && capture == nil ? nil : capture == nil ? .invalid : .busy
    case "length":
      guard capture == nil else { return .busy }
      length = Int(number)
    default:
      guard number > 0, Int(number) <= length else { return .invalid }
      watermark = Int(number)
    }
    return nil
  }
}
