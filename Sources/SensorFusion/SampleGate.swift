/// Samples that were not used, by reason. Nothing is dropped without being counted here.
@frozen
public struct PipelineCounters: Hashable, Sendable {
  /// Samples older than one already processed, or of an earlier kind at the same instant.
  public var late: Int64 = 0
  /// Samples with the time of one already processed from the same sensor.
  public var duplicate: Int64 = 0
  /// Samples with a value that is NaN or infinite.
  public var nonFinite: Int64 = 0

  /// All zero.
  @inlinable
  public init() {}

  /// All samples that were not used.
  @inlinable public var total: Int64 { late + duplicate + nonFinite }
}

/// Lets samples through that are finite and in order of time, those of one instant in order of `SensorKind`.
struct SampleGate: Sendable {
  /// What was not let through.
  private(set) var counters = PipelineCounters()
  /// The time of the newest sample let through, of any sensor.
  private var newest = Timestamp(nanoseconds: .min)
  /// One bit a sensor kind: which have a sample at exactly `newest`.
  private var seenAtNewest: UInt8 = 0

  /// Whether the sample is in order and finite; counts it otherwise.
  mutating func accept(_ sample: SensorSample) -> Bool {
    let bit = UInt8(1) << sample.kind.rawValue
    if sample.time < newest {
      counters.late += 1
      return false
    }
    if sample.time == newest {
      if seenAtNewest & bit != 0 {
        counters.duplicate += 1
        return false
      }
      // A later kind of the same instant has been used: a recording keeps the kinds in order, so this one is late.
      if seenAtNewest > bit {
        counters.late += 1
        return false
      }
    }
    let isFinite =
      switch sample.kind {
      case .accelerometer, .gyroscope, .magnetometer: sample.x.isFinite && sample.y.isFinite && sample.z.isFinite
      case .barometer, .stepCounter: sample.x.isFinite
      }
    guard isFinite else {
      counters.nonFinite += 1
      return false
    }
    if sample.time > newest {
      newest = sample.time
      seenAtNewest = 0
    }
    seenAtNewest |= bit
    return true
  }
}
