// A chip that counts steps by itself: `in_steps_input`, and `in_steps_en` where it must be switched on (sysfs-bus-iio).

extension DeviceModel {
  /// libiio's name of the channel.
  static let stepChannel = "steps"

  /// The chip's step counter, nil where it has none. It is never buffered: the ABI gives steps as an attribute only.
  func stepCounter() -> SensorModel? {
    guard let channel = channel(Self.stepChannel), channel.files["input"] != nil else { return nil }
    let plan = ChannelPlan(
      id: channel.id, conversion: nil, hasInput: true, hasRaw: false, unit: 1, scanIndex: nil, format: nil)
    // It counts since the chip was switched on; how long a walk must be to count at all is the chip's affair.
    return SensorModel(kind: .stepCounter, channels: [plan], rate: 0)
  }
}

extension CapturePlan {
  /// Switches a chip's step counter on where that is to be done; what it was is put back when the capture ends.
  func switchOnStepCounter(
    _ device: IIODevice, _ channels: [String: IIOChannel], _ changes: inout AttributeChanges
  ) throws(MotionKitError) {
    guard sensors.contains(where: { $0.kind == .stepCounter }), let channel = channels[DeviceModel.stepChannel],
      self.device.channel(DeviceModel.stepChannel)?.files["en"] != nil
    else { return }
    let before = channel.read("en").text ?? "0"
    guard before != "1" else { return }
    let code = changes.write(device, channel: channel, "en", "1", before: before)
    if code != 0 {
      throw .iio(.writeAttribute, device: self.device.title, detail: "in_steps_en", errno: code)
    }
  }
}
