import SensorFusion

/// Gives every sample of a batch its time where the device does not.
///
/// - Parameters:
///   - samples: One batch, `perScan` samples an instant.
///   - perScan: Sensors of the device.
///   - period: Nominal, nanoseconds.
///   - arrival: For samples without a stamp, which are counted back from it; nil for stamped ones, which are only spread
///     where all of a batch carry the time of its interrupt.
///   - after: The last stamp given before.
/// - Returns: The last stamp given now.
func spreadStamps(
  _ samples: inout [SensorSample], perScan: Int, period: Int64, arrival: Int64?, after: Int64
) -> Int64 {
  guard perScan > 0, let first = samples.first, let last = samples.last else { return after }
  let count = samples.count / perScan
  let isOneInstant = count > 1 && period > 0 && first.time == last.time
  guard arrival != nil || isOneInstant else { return last.time.nanoseconds }
  let end = arrival ?? last.time.nanoseconds
  // Counted back evenly, never before what was given already.
  let spacing = max(0, min(period, (end - after) / Int64(max(1, count))))
  for index in samples.indices {
    samples[index].time = Timestamp(nanoseconds: end - Int64(count - 1 - index / perScan) * spacing)
  }
  return end
}
