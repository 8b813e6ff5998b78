/// Band-pass of the step counter's gates: 0.5 to 5 Hz at 50 Hz, Butterworth, second-order prototype (four poles).
///
/// It starts in the steady state of its first input, so a constant (gravity) never rings.
struct GaitBandPass: Sendable {
  // Two second-order sections (b0 b1 b2 a1 a2), by the bilinear transform of the prototype with prewarped edges.
  private static let first = (
    0.05644846226073644, 0.11289692452147287, 0.05644846226073644, -1.2453222101297106, 0.4903594152210743
  )
  private static let second = (1.0, -2.0, 1.0, -1.9141410919894561, 0.9186025924534583)

  private var s1 = (0.0, 0.0)
  private var s2 = (0.0, 0.0)
  private var isStarted = false

  /// The next output.
  mutating func update(_ input: Double) -> Double {
    let f = Self.first
    let s = Self.second
    if !isStarted {
      isStarted = true
      // Steady state of transposed direct form II: the first section passes its gain, the second (zeros at 0 Hz) none.
      let gain = (f.0 + f.1 + f.2) / (1 + f.3 + f.4)
      let middle = gain * input
      s1 = (middle - f.0 * input, f.2 * input - f.4 * middle)
      s2 = (-s.0 * middle, s.2 * middle)
    }
    let middle = f.0 * input + s1.0
    s1 = (f.1 * input - f.3 * middle + s1.1, f.2 * input - f.4 * middle)
    let output = s.0 * middle + s2.0
    s2 = (s.1 * middle - s.3 * output + s2.1, s.2 * middle - s.4 * output)
    return output
  }
}
