/// Finds the peaks of |a| at a known step frequency: a narrow zero-phase kernel over the history, then its maxima.
struct StepPeaks: Sendable {
  /// One peak.
  struct Peak: Sendable {
    /// Grid samples before the newest, with a fraction.
    var age = 0.0
    /// Height of the filtered peak, m/s².
    var height = 0.0
  }

  /// More peaks than seven seconds can hold (3.5 steps/s, at least 0.6 of a step apart).
  static let capacity = 64
  /// The longest half kernel: two steps at 0.8 Hz.
  private static let longestHalf = 128

  /// The peaks found last, oldest first; only the first `count` count.
  private(set) var peaks = [Peak](repeating: Peak(), count: capacity)
  /// The number of peaks found last.
  private(set) var count = 0
  private var kernel = [Double](repeating: 0, count: longestHalf + 1)
  private var weights = [Double](repeating: 0, count: longestHalf + 1)
  private var sorted = [Double](repeating: 0, count: capacity)
  private var filtered = [Double](repeating: 0, count: GaitHistory.length)
  private var padded = [Double](repeating: 0, count: GaitHistory.length + 2 * longestHalf)

  /// Filters |a| less `mean` and finds the peaks higher than the limits.
  mutating func find(
    in history: GaitHistory, _ channel: GaitHistory.Channel, mean: Double, gait: GaitMeasures, share: Double,
    least: Double
  ) {
    let n = history.count
    let period = 50 / gait.frequency
    let half = min(Self.longestHalf, max(1, Int(((gait.showsStride ? 2 : 1) * period).rounded())))
    makeKernel(half: half, frequency: gait.frequency)

    // Before the first sample the signal is held, after the newest it is unknown (no weight).
    let padding = Self.longestHalf
    history.withValues(channel) { m in
      padded.withUnsafeMutableBufferPointer { padded in
        for i in 0..<half { padded[padding - 1 - i] = m[0] - mean }
        for i in 0..<n { padded[padding + i] = m[i] - mean }
        for i in 0..<half { padded[padding + n + i] = 0 }
      }
    }
    padded.withUnsafeBufferPointer { m in
      filtered.withUnsafeMutableBufferPointer { y in
        for i in 0..<n { y[i] = kernel[0] * m[padding + i] }
        for j in 1...half {
          let weight = kernel[j]
          for i in 0..<n { y[i] += weight * (m[padding + i - j] + m[padding + i + j]) }
        }
      }
    }

    let floor = max(share * gait.amplitude, least)
    let youngest = 0.5 * period + 1
    let apart = 0.6 * period
    count = 0
    guard n >= 3 else { return }
    for i in 1..<(n - 1) {
      let (before, at, after) = (filtered[i - 1], filtered[i], filtered[i + 1])
      guard at > floor, at > before, at >= after, Double(n - 1 - i) >= youngest else { continue }
      let shift = 0.5 * (before - after) / (before - 2 * at + after)
      let peak = Peak(age: Double(n - 1 - i) - shift, height: at)
      if count > 0, peaks[count - 1].age - peak.age < apart {
        if peak.height > peaks[count - 1].height { peaks[count - 1] = peak }
      } else if count < Self.capacity {
        peaks[count] = peak
        count += 1
      }
    }
  }

  /// A Hann-weighted cosine without mean: gain 1 at `frequency`, 0 at rest.
  private mutating func makeKernel(half: Int, frequency: Double) {
    let turn = 2 * Double.pi * frequency / 50
    let fade = Double.pi / Double(half + 1)
    // cos(n t) by the recurrence cos((n+1) t) = 2 cos t cos(n t) - cos((n-1) t).
    let (cosTurn, cosFade) = (Elementary.cos(turn), Elementary.cos(fade))
    var (c, cBefore) = (1.0, cosTurn)
    var (h, hBefore) = (1.0, cosFade)
    var (sumWeight, sumWave, sumSquare) = (0.0, 0.0, 0.0)
    for j in 0...half {
      let weight = 0.5 + 0.5 * h
      let twice = j == 0 ? 1.0 : 2.0
      kernel[j] = weight * c
      weights[j] = weight
      sumWeight += twice * weight
      sumWave += twice * weight * c
      sumSquare += twice * weight * c * c
      (c, cBefore) = (2 * cosTurn * c - cBefore, c)
      (h, hBefore) = (2 * cosFade * h - hBefore, h)
    }
    let offset = sumWave / sumWeight
    for j in 0...half { kernel[j] = (kernel[j] - weights[j] * offset) / sumSquare }
  }

  /// The median height of some of the peaks, m/s².
  mutating func medianHeight(_ range: Range<Int>) -> Double {
    var n = 0
    for i in range {
      let value = peaks[i].height
      var j = n
      while j > 0, sorted[j - 1] > value {
        sorted[j] = sorted[j - 1]
        j -= 1
      }
      sorted[j] = value
      n += 1
    }
    guard n > 0 else { return 0 }
    return n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2])
  }

  /// The coefficient of variation of the intervals between some of the peaks; infinite with fewer than two intervals.
  func intervalSpread(_ range: Range<Int>) -> Double {
    let n = Double(range.count - 1)
    guard n >= 2 else { return .infinity }
    var sum = 0.0
    var squares = 0.0
    for i in range.dropLast() {
      let interval = peaks[i].age - peaks[i + 1].age
      sum += interval
      squares += interval * interval
    }
    let mean = sum / n
    return max(0, squares / n - mean * mean).squareRoot() / mean
  }
}
