import Glibc
import SensorFusion

/// Reading a buffer that is on, batch by batch.
extension DeviceCapture {
  /// How long a batch may take to fill, seconds.
  func fillTime(_ device: IIODevice) -> Double {
    guard networkAddress(ofURI: uri) != nil else { return max(Self.localFillTime, reportLatency) }
    // The slowest of a few answers: what is about to be a habit shall not depend on a lucky one.
    let attribute = device.attributeNames.first ?? "name"
    var slowest: Int64 = 0
    for _ in 0..<3 {
      let before = nanoseconds(of: CLOCK_MONOTONIC)
      _ = device.read(attribute)
      slowest = max(slowest, nanoseconds(of: CLOCK_MONOTONIC) - before)
    }
    let least = max(Self.networkFillTime, reportLatency)
    return min(Self.longestFillTime, max(least, Double(slowest) / 1e9 * Self.roundTripsPerBatch))
  }

  func readBatches(
    _ buffer: IIOBuffer, _ enabled: [IIOChannel], _ layout: ScanLayout, _ stamp: (index: Int, format: ScanFormat)?,
    _ usual: SampleDecoder, period: Int64, delivered: () -> Void
  ) throws(MotionKitError) {
    var samples: [SensorSample] = []
    var decoder = usual
    var step = layout.sampleSize
    let alignment = enabled.compactMap { $0.format?.byteCount }.max() ?? 1
    var places = layout.offsets
    var lastStamp: Int64 = 0
    var leastLag = Int64.max
    var lagging = 0
    // Some kernels' HID drivers (press, rotation in 6.1) give every sample the time of the first.
    var lastOwnStamp: Int64?
    var isFrozen = false
    var shared = SharedBlocks()
    let network = networkAddress(ofURI: uri) != nil
    while true {
      let bytes: UnsafeRawBufferPointer
      do {
        bytes = try buffer.refill()
      } catch {
        if error.code == EINTR || error.code == EAGAIN { continue }
        throw MotionKitError.iio(.refill, device: plan.device.title, errno: error.code)
      }
      let arrival = nanoseconds(of: CLOCK_BOOTTIME)
      if !enabled.indices.allSatisfy({ buffer.offset(of: enabled[$0]) == places[$0] }) {
        // Another client of the same iiod reads other channels of this device: the samples hold the union of both.
        places = enabled.map { buffer.offset(of: $0) }
        let offsets = Dictionary(zip(enabled.map(\.index), places)) { first, _ in first }
        decoder = SampleDecoder(sensors: plan.sensors, timestamp: stamp, offsets: offsets)
      }
      step = ScanLayout.align(buffer.step, to: alignment)
      samples.removeAll(keepingCapacity: true)
      let count = decoder.decode(bytes, step: step, into: &samples)
      guard count > 0 else { continue }
      let ownStamp = samples.last?.time.nanoseconds
      if decoder.hasStamps, !isFrozen, ownStamp == lastOwnStamp {
        isFrozen = true
        send(
          .event(
            name: "capture",
            detail: "\(plan.device.title): its time stamps stand still; its samples are stamped when they arrive"))
      }
      lastOwnStamp = ownStamp
      let isHostStamped = !decoder.hasStamps || isFrozen
      if isHostStamped { lastStamp = max(lastStamp, arrival - Int64(count) * period) }
      lastStamp = spreadStamps(
        &samples, perScan: decoder.samplesPerScan, period: period, arrival: isHostStamped ? arrival : nil,
        after: lastStamp)
      delivered()
      put(samples, arrival: arrival, isHostStamped: isHostStamped)
      if !isHostStamped, let block = shared.block(count: count, first: samples[0].time, last: lastStamp) {
        guard network else { continue }
        state.withLock { $0.leastBatch = block }
        send(
          .event(
            name: "capture",
            detail: "\(plan.device.title): another program reads it in larger batches, and each cuts ours short;"
              + " it is read in batches of \(block) samples now"))
        return
      }
      guard !isHostStamped, isFallingBehind(arrival &- lastStamp, &leastLag, &lagging) else { continue }
      send(.event(name: "capture", detail: "\(plan.device.title): falling behind; it is read in larger batches now"))
      return
    }
  }

  /// Whether batches are too short for the round trip that each costs: the lag has stayed far above its best for a while.
  private func isFallingBehind(_ lag: Int64, _ least: inout Int64, _ batches: inout Int) -> Bool {
    least = min(least, lag)
    batches = lag &- least > Int64(Self.laggingTime * 1e9) ? batches + 1 : 0
    guard batches >= Self.laggingBatches, networkAddress(ofURI: uri) != nil else { return false }
    return state.withLock { state in
      // Once batches are a second long, more of it would not help.
      guard state.fillFactor < 16 else { return false }
      state.fillFactor *= 2
      return true
    }
  }
}
