/// The truth of the last instants that were asked for: sensors that are sampled together ask for the same ones.
struct TruthCache {
  /// A power of two above the number of steps that a sensor's filter takes from one output to the next.
  private static let slots = 64
  private var truths: [SimulatedTruth] = []

  mutating func truth(of scene: SimulatedScene, at seconds: Double) -> SimulatedTruth {
    if truths.isEmpty {
      truths = [SimulatedTruth](repeating: scene.truth(at: seconds), count: Self.slots)
    }
    // Multiplicative hashing; the upper 6 bits choose the slot.
    let slot = Int((seconds.bitPattern &* 0x9E37_79B9_7F4A_7C15) >> 58)
    if truths[slot].seconds != seconds { truths[slot] = scene.truth(at: seconds) }
    return truths[slot]
  }
}
