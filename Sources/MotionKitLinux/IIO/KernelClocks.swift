import Glibc

/// A clock's reading, nanoseconds.
func nanoseconds(of clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

extension KernelClockOffsets {
  /// Reads this machine's clocks. Each is read between two readings of the boot clock, the closest pair of a few tries.
  static func measure() -> KernelClockOffsets {
    KernelClockOffsets(
      realtime: offset(of: CLOCK_REALTIME), monotonic: offset(of: CLOCK_MONOTONIC), tai: offset(of: CLOCK_TAI))
  }

  private static func offset(of clock: clockid_t) -> Int64 {
    var best = Int64.max
    var result: Int64 = 0
    for _ in 0..<5 {
      let before = nanoseconds(of: CLOCK_BOOTTIME)
      let reading = nanoseconds(of: clock)
      let after = nanoseconds(of: CLOCK_BOOTTIME)
      if after - before < best {
        best = after - before
        result = before + best / 2 - reading
      }
      if best < 5000 { break }
    }
    return result
  }
}
