import MotionKitLinux

/// A class of simulated motion with its sensors, of which each seed gives another recording of 100 s.
struct AttitudeClass: Sendable {
  var name: String
  var rate: Double
  var isIndustrial: Bool
  var isDisturbed = false
  /// Scene and its settings, drawn.
  var motion: @Sendable (inout Draw) -> (scene: String, settings: [(String, String)])

  func uri(seed: Int) -> String {
    var draw = Draw(name: name, seed: seed)
    let (scene, motion) = motion(&draw)
    let settings = motion + [("length", "100"), ("variant", "\(draw.integer(1, 1_000_000_000))")] + world(&draw)
    return simulate_sets.uri(scene, settings + sensors(&draw) + [("seed", "\(seed)"), ("start", "0")])
  }

  private func world(_ draw: inout Draw) -> [(String, String)] {
    var world = [
      ("field", "\(draw.number(42, 55))"), ("dip", "\(draw.number(50, 70))"), ("wander", "\(draw.number(0.3, 0.9))"),
    ]
    if isDisturbed {
      // 2 to 4 events of 3 to 15 s in 100 s.
      world += [
        ("disturbance", "\(draw.number(10, 40))"), ("disturbance_period", "\(draw.number(25, 50))"),
        ("disturbance_length", "\(draw.number(3, 15))"),
      ]
    }
    return world
  }

  private func sensors(_ draw: inout Draw) -> [(String, String)] {
    let accelerometerNoise = isIndustrial ? draw.number(0.0005, 0.001) : draw.number(0.001, 0.003)
    let delay = rate > 200 ? 0.003 : draw.number(0, 0.006)
    return [
      ("errors", "none"),
      ("accel_noise", "\(accelerometerNoise)"),
      ("accel_bias_sigma", isIndustrial ? "0.03" : "0.08"),
      ("accel_scale_sigma", isIndustrial ? "0.001" : "0.004"),
      ("accel_misalignment", isIndustrial ? "0.057" : "0.172"),
      ("accel_bandwidth", "\(draw.number(40, 100))"),
      ("accel_delay", "\(delay)"),
      ("gyro_noise", "\(draw.number(0.01, 0.05))"),
      ("gyro_bias", isIndustrial ? draw.vector(0.02, 0.2) : draw.vector(0.1, 1)),
      ("gyro_walk", isIndustrial ? "0.002" : "0.005"),
      ("gyro_scale", isIndustrial ? draw.vector(0.001, 0.004) : draw.vector(0.002, 0.01)),
      ("gyro_misalignment", isIndustrial ? "0.057" : "0.172"),
      ("gyro_bandwidth", "\(draw.number(40, 100))"),
      ("gyro_delay", "\(delay)"),
      ("mag_noise", "0.06"),
      ("mag_bias", isIndustrial ? draw.vector(0.2, 1) : draw.vector(0.5, 3)),
      ("mag_delay", "\(delay)"),
      // A group delay of 6 to 16 ms: 0.225 / corner for a second-order Butterworth filter.
      ("mag_bandwidth", "\(draw.number(14, 35))"),
    ]
  }
}

private func handling(
  rate: ClosedRange<Double>, force: ClosedRange<Double>, lever: ClosedRange<Double>, pauses: ClosedRange<Int>,
  band: ClosedRange<Double>
) -> @Sendable (inout Draw) -> (scene: String, settings: [(String, String)]) {
  { draw in
    let degrees = 180 / Double.pi
    return (
      "motion",
      [
        ("rate", "\(draw.number(rate.lowerBound * degrees, rate.upperBound * degrees))"),
        ("force", "\(draw.number(force.lowerBound, force.upperBound))"),
        ("lever", "\(draw.number(lever.lowerBound, lever.upperBound))"),
        ("band", "\(draw.number(band.lowerBound, band.upperBound))"),
        ("pauses", "\(draw.integer(pauses.lowerBound, pauses.upperBound))"),
      ] + draw.anyAttitude()
    )
  }
}

/// Sustained centripetal acceleration: swings and whirls of 20 to 60 m/s² for half a minute and longer.
private func swinging(
  force: ClosedRange<Double>, isWhirl: Bool
) -> @Sendable (inout Draw) -> (scene: String, settings: [(String, String)]) {
  { draw in
    (
      "swing",
      [
        ("force", "\(draw.number(force.lowerBound, force.upperBound))"),
        ("radius", "\(draw.number(0.5, 1.1))"),
        ("angle", isWhirl ? "0" : "\(draw.number(40, 110))"),
        ("tilt", "\(draw.number(0, 180))"),
        ("pauses", "\(draw.integer(0, 2))"),
      ] + draw.anyAttitude()
    )
  }
}

/// rad/s, m/s² and m. The ten classes of the filter's study, then the swings that broke its second version.
let attitudeClasses: [AttitudeClass] = {
  let fast = handling(rate: 2...5, force: 0.5...8, lever: 0...0.2, pauses: 1...2, band: 1.5...3)
  let stick = handling(rate: 2...4.5, force: 0.5...5, lever: 0.3...0.8, pauses: 1...2, band: 1.5...3)
  let slow = handling(rate: 0.2...0.8, force: 0.3...0.9, lever: 0...0.1, pauses: 6...6, band: 1...2)
  let translation = handling(rate: 0.7...2.5, force: 3...9, lever: 0...0.2, pauses: 1...2, band: 1.5...3)
  let swing = swinging(force: 20...45, isWhirl: false)
  let whirl = swinging(force: 20...60, isWhirl: true)
  return [
    AttitudeClass(name: "ind_fast", rate: 100, isIndustrial: true, motion: fast),
    AttitudeClass(name: "ind_fast_dist", rate: 100, isIndustrial: true, isDisturbed: true, motion: fast),
    AttitudeClass(name: "ind_stick", rate: 100, isIndustrial: true, motion: stick),
    AttitudeClass(name: "ind_stick_dist", rate: 100, isIndustrial: true, isDisturbed: true, motion: stick),
    AttitudeClass(name: "mems285_fast", rate: 2000.0 / 7, isIndustrial: false, motion: fast),
    AttitudeClass(name: "mems285_fast_dist", rate: 2000.0 / 7, isIndustrial: false, isDisturbed: true, motion: fast),
    AttitudeClass(name: "mems_fast", rate: 100, isIndustrial: false, motion: fast),
    AttitudeClass(name: "mems_slow", rate: 100, isIndustrial: false, motion: slow),
    AttitudeClass(name: "mems_slow_dist", rate: 100, isIndustrial: false, isDisturbed: true, motion: slow),
    AttitudeClass(name: "mems_translation", rate: 100, isIndustrial: false, motion: translation),
    AttitudeClass(name: "ind_swing", rate: 100, isIndustrial: true, motion: swing),
    AttitudeClass(name: "ind_whirl", rate: 100, isIndustrial: true, motion: whirl),
    AttitudeClass(name: "mems_swing", rate: 100, isIndustrial: false, motion: swing),
    AttitudeClass(name: "mems_whirl", rate: 100, isIndustrial: false, motion: whirl),
    AttitudeClass(name: "mems_swing_clipped", rate: 100, isIndustrial: false) { draw in
      var (scene, settings) = swing(&draw)
      // A 4 g part: it clips at the bottom of most swings.
      settings.append(("accel_range", "39.23"))
      return (scene, settings)
    },
    AttitudeClass(name: "mems_whirl_clipped", rate: 100, isIndustrial: false) { draw in
      var (scene, settings) = whirl(&draw)
      settings.append(("accel_range", "39.23"))
      return (scene, settings)
    },
  ]
}()
