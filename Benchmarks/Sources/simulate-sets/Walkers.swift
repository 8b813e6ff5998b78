import MotionKitLinux

/// A person who walks, drawn from human ranges: cadence 1.2 to 2.4 steps a second (Öberg, Karsznia and Öberg, J. Rehabil.
/// Res. Dev. 30(2), 1993: 1.6 to 2.2 from slow to fast), step length growing with cadence, arms from 0.5 to 0.75 m.
func walkerURI(seed: Int) -> (placement: String, rate: Double, uri: String) {
  var draw = Draw(name: "walker", seed: seed)
  // Half of them carry the device in the swinging hand, the hardest place.
  let placement = draw.choice(["hand", "hand", "hand", "hand", "hand", "pocket", "pocket", "held", "lumbar", "ear"])
  let rate = draw.choice([50.0, 100, 100, 100, 200])
  let cadence = draw.number(1.2, 2.4)
  // 0.55 m at 1.2 and 0.85 m at 2.4 steps a second, by a tenth more or less.
  let stepLength = (0.25 + 0.25 * cadence) * draw.number(0.9, 1.1)
  var settings = [
    ("placement", placement), ("cadence", "\(cadence)"), ("step_length", "\(stepLength)"),
    ("steps", "\(draw.integer(60, 160))"), ("strength", "\(draw.number(0.6, 1.5))"),
    ("asymmetry", "\(draw.number(0, 0.3))"), ("timing", "\(draw.number(0, 0.06))"),
    ("variability", "\(draw.number(0.01, 0.05))"), ("variant", "\(seed)"),
    ("arm", "\(draw.number(0.5, 0.75))"), ("lean", "\(draw.number(0, 18))"), ("lag", "\(draw.number(10, 50))"),
    ("elbow", "\(draw.number(5, 50))"),
    // Arms swing wider the faster one walks; some hardly swing.
    ("swing", "\(draw.number(0.3, 1.3) * (8 + 7 * cadence))"), ("thigh", "\(draw.number(11, 20))"),
    ("radius", draw.choice(["0", "5", "15", "50"])), ("heading", "\(draw.number(-180, 180))"),
    ("hold", "\(draw.number(2, 6))"),
  ]
  switch placement {
  case "held", "ear":
    settings += [
      ("yaw", "\(draw.number(-20, 20))"), ("pitch", "\(draw.number(-20, 20))"), ("roll", "\(draw.number(-20, 20))"),
    ]
  default:
    settings += draw.anyAttitude()
  }
  settings += [("errors", draw.choice(["phone", "phone", "mems"])), ("seed", "\(seed)"), ("start", "0")]
  return (placement, rate, uri("walk", settings))
}

/// Something that hands do without walking, for a minute.
func handMotionURI(seed: Int) -> (kind: String, rate: Double, uri: String) {
  var draw = Draw(name: "hand motion", seed: seed)
  let kind = draw.choice([
    "wave", "stir", "tap", "drum", "lift", "twist", "brush", "swing", "random", "random", "shake", "drive", "still",
  ])
  let rate = draw.choice([50.0, 100, 100, 100, 200])
  var settings = [("duration", "60")]
  let scene: String
  switch kind {
  case "random":
    scene = "motion"
    settings += [
      ("rate", "\(draw.number(20, 250))"), ("force", "\(draw.number(0.5, 8))"), ("band", "\(draw.number(1, 3))"),
      ("lever", "\(draw.number(0, 0.5))"),
    ]
  case "shake":
    scene = "shake"
    settings += [("frequency", "\(draw.number(3, 7))"), ("amplitude", "\(draw.number(8, 30))")]
  case "drive":
    scene = "drive"
    settings += [("roughness", "\(draw.number(0.5, 2.5))"), ("speed", "\(draw.number(20, 80))")]
  case "still":
    scene = "still"
  default:
    scene = "gesture"
    settings += [("kind", kind), ("variability", "\(draw.number(0.03, 0.2))")]
    // Frequency, way (m) and turn (degrees) of each, from gentle to vigorous.
    let ranges: [String: (ClosedRange<Double>, ClosedRange<Double>, ClosedRange<Double>)] = [
      "wave": (0.8...2.5, 0.25...0.5, 15...45), "stir": (0.8...2.5, 0.03...0.12, 0...15),
      "tap": (1...4, 0.0002...0.0015, 0...0.5), "drum": (1...3, 0.005...0.03, 0...8),
      "lift": (0.3...1, 0.05...0.35, 0...30),
      "twist": (0.5...2.5, 0...0.05, 20...80), "brush": (2.5...5.5, 0.01...0.04, 2...12),
      "swing": (0.6...1.2, 0.4...0.75, 10...45),
    ]
    if let range = ranges[kind] {
      settings += [
        ("frequency", "\(draw.number(range.0.lowerBound, range.0.upperBound))"),
        ("amplitude", "\(draw.number(range.1.lowerBound, range.1.upperBound))"),
        ("turn", "\(draw.number(range.2.lowerBound, range.2.upperBound))"),
      ]
    }
  }
  if ["motion", "gesture", "drive"].contains(scene) {
    settings.append(("variant", "\(draw.integer(1, 1_000_000_000))"))
  }
  if ["motion", "gesture"].contains(scene) {
    settings += [("hold", "\(draw.number(1, 4))")]
  }
  settings += draw.anyAttitude()
  settings += [("errors", draw.choice(["phone", "phone", "mems"])), ("seed", "\(seed)"), ("start", "0")]
  return (kind, rate, uri(scene, settings))
}
