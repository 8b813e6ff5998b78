/// Numbers drawn for the parameters of a simulated recording: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Draw {
  private var state: UInt64

  /// The same class and seed give the same numbers.
  init(name: String, seed: Int) {
    // FNV-1a tells the names apart.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    state = hash &+ UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Uniform in [low, high), with six decimals.
  mutating func number(_ low: Double, _ high: Double) -> Double {
    let u = Double(next() >> 11) * 0x1p-53
    return ((low + (high - low) * u) * 1e6).rounded() / 1e6
  }

  /// A whole number from `low` to `high`.
  mutating func integer(_ low: Int, _ high: Int) -> Int { low + Int(next() % UInt64(high - low + 1)) }

  /// One of several.
  mutating func choice<T>(_ items: [T]) -> T { items[integer(0, items.count - 1)] }

  /// Three numbers `x,y,z`, each of a size between `low` and `high`, with either sign.
  mutating func vector(_ low: Double, _ high: Double) -> String {
    (0..<3).map { _ in "\(next() & 1 == 0 ? number(low, high) : -number(low, high))" }.joined(separator: ",")
  }

  /// Settings of a device that starts in any attitude.
  mutating func anyAttitude() -> [(String, String)] {
    [("yaw", "\(number(-180, 180))"), ("pitch", "\(number(-89, 89))"), ("roll", "\(number(-180, 180))")]
  }
}

/// `sim:SCENE?key=value&…`
func uri(_ scene: String, _ settings: [(String, String)]) -> String {
  "sim:\(scene)?" + settings.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
}
