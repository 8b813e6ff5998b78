import SensorFusion

/// Pseudo-random numbers that are the same everywhere for a seed: xoshiro256++ (Blackman and Vigna, "Scrambled linear
/// pseudorandom number generators", ACM TOMS 47(4), 2021), its state filled by SplitMix64 (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct SimulationRandom: RandomNumberGenerator, Sendable {
  private var s0: UInt64
  private var s1: UInt64
  private var s2: UInt64
  private var s3: UInt64
  /// The second of a pair of Gaussian numbers, kept for the next call.
  private var spare: Double?

  /// A generator for a seed and the number of a stream: different streams of one seed are unrelated.
  init(seed: UInt64, stream: UInt64) {
    // The stream is scrambled before it meets the seed, so that neighbours in both do not meet again.
    var state = stream
    state = seed ^ Self.splitMix(&state)
    s0 = Self.splitMix(&state)
    s1 = Self.splitMix(&state)
    s2 = Self.splitMix(&state)
    s3 = Self.splitMix(&state)
  }

  private static func splitMix(_ state: inout UInt64) -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func next() -> UInt64 {
    let sum = s0 &+ s3
    let result = ((sum << 23) | (sum >> 41)) &+ s0
    let shifted = s1 << 17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << 45) | (s3 >> 19)
    return result
  }

  /// Uniform in [0, 1): the upper 53 bits.
  mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Uniform in [low, high).
  mutating func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * uniform() }

  /// Normal with mean 0 and standard deviation 1, by the polar method (Marsaglia and Bray, SIAM Review 6(3), 1964).
  mutating func gaussian() -> Double {
    if let value = spare {
      spare = nil
      return value
    }
    while true {
      let x = 2 * uniform() - 1
      let y = 2 * uniform() - 1
      let square = x * x + y * y
      guard square > 0, square < 1 else { continue }
      let factor = (-2 * Elementary.log(square) / square).squareRoot()
      spare = y * factor
      return x * factor
    }
  }

  /// Three independent normal numbers.
  mutating func gaussianVector() -> Vector3 {
    let x = gaussian()
    let y = gaussian()
    return Vector3(x, y, gaussian())
  }

  /// A direction, uniform over the sphere.
  mutating func direction() -> Vector3 {
    while true {
      let v = gaussianVector()
      let norm = v.norm
      if norm > 1e-6 { return v * (1 / norm) }
    }
  }
}
