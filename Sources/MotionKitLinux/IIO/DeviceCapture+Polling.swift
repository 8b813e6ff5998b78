import Glibc
import SensorFusion

/// Devices without a buffer, or whose trigger brings nothing.
extension DeviceCapture {
  /// Reads the device's attributes at the asked rate until that fails or is stopped.
  func poll(
    _ context: IIOContext, _ device: IIODevice, _ changes: inout AttributeChanges, delivered: () -> Void
  ) throws(MotionKitError) {
    let channels = Dictionary(device.channels.map { ($0.id, $0) }) { first, _ in first }
    var notes: [String] = []
    _ = setRates(device, Array(channels.values), atLeast: nil, &changes, &notes)
    let asked = plan.wantedRate > 0 ? plan.wantedRate : plan.sensors.map(\.rate).max() ?? 0
    let rate = asked > 0 ? min(asked, 1000) : IIOInventory.defaultPollingRate
    let period = Int64(1e9 / rate)
    try plan.switchOnStepCounter(device, channels, &changes)
    // One reading first: whether the device answers at all belongs to the start.
    var samples: [SensorSample] = []
    try readOnce(channels, into: &samples)
    let openedAt = nanoseconds(of: CLOCK_BOOTTIME)
    _ = announce(
      clock: "boottime", rates: plan.sensors.map { _ in rate }, notes: notes, capture: "polled", openedAt: openedAt,
      temperature: chipTemperature(Array(channels.values)))
    var due = nanoseconds(of: CLOCK_MONOTONIC)
    while !isStopping {
      samples.removeAll(keepingCapacity: true)
      try readOnce(channels, into: &samples)
      delivered()
      let arrival = nanoseconds(of: CLOCK_BOOTTIME)
      put(samples, arrival: arrival, isHostStamped: true)
      let now = nanoseconds(of: CLOCK_MONOTONIC)
      // A reading that took longer than a period is not made up for.
      due = max(due + period, now + period / 8)
      _ = state.wait(until: due) { $0.isStopping ? true : nil }
    }
  }

  /// Reads all values of all sensors once; each sensor's sample carries the middle of its reading.
  private func readOnce(_ channels: [String: IIOChannel], into samples: inout [SensorSample]) throws(MotionKitError) {
    for sensor in plan.sensors {
      let before = nanoseconds(of: CLOCK_BOOTTIME)
      var values = (0.0, Double.nan, 0.0)
      for (index, plan) in sensor.channels.enumerated() {
        let value = try readValue(plan, channels[plan.id])
        switch index {
        case 0: values.0 = value
        case 1: values.1 = value
        default: values.2 = value
        }
      }
      let after = nanoseconds(of: CLOCK_BOOTTIME)
      let time = Timestamp(nanoseconds: before + (after - before) / 2)
      if sensor.kind != .barometer, let matrix = sensor.matrix {
        let turned = matrix.apply(Vector3(values.0, values.1, values.2))
        values = (turned.x, turned.y, turned.z)
      }
      samples.append(
        SensorSample(time: time, kind: sensor.kind, x: Float(values.0), y: Float(values.1), z: Float(values.2)))
    }
    samples.sort { ($0.time, $0.kind) < ($1.time, $1.kind) }
  }

  private func readValue(_ plan: ChannelPlan, _ channel: IIOChannel?) throws(MotionKitError) -> Double {
    let attribute = plan.hasInput ? "input" : "raw"
    guard let channel else {
      throw MotionKitError.iio(.readAttribute, device: self.plan.device.title, detail: plan.id, errno: ENODEV)
    }
    switch channel.read(attribute) {
    case .failure(let code):
      throw MotionKitError.iio(
        .readAttribute, device: self.plan.device.title, detail: "\(plan.id) \(attribute)", errno: code)
    case .text(let text):
      guard let number = Double(iioText: text) else {
        throw .device(
          what: "\(self.plan.device.title): \(plan.id) \(attribute) reads '\(text)', which is no number", errno: EILSEQ,
          hint: "see the kernel log (dmesg)")
      }
      if plan.hasInput { return number * plan.unit }
      return plan.conversion?.value(number) ?? .nan
    }
  }
}
