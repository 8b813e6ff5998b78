import SensorFusion

/// What surrounds the device in a simulated scene: the magnetic field, the air and the weather.
public struct SimulatedEnvironment: Hashable, Sendable {
  /// Strength of the earth's field, µT. Between 25 and 65 on the ground; 48 in central Europe.
  public var fieldStrength = 48.0
  /// The angle of the field below the horizontal, radians.
  public var fieldDip = 65.0 * radiansPerDegree
  /// The strength of a magnetic disturbance that comes and goes, µT; 0 for none.
  public var disturbanceStrength = 0.0
  /// Seconds from one disturbance to the next.
  public var disturbancePeriod = 20.0
  /// How long a disturbance lasts, seconds.
  public var disturbanceLength = 6.0
  /// How much the field changes from place to place, µT: standard deviation of each axis over tens of seconds.
  public var fieldWander = 0.0
  /// Height of the scene's origin above sea level, m, in the standard atmosphere.
  public var altitude = 0.0
  /// Pressure at sea level when the scene begins, kPa.
  public var seaLevelPressure = 101.325
  /// How the pressure changes with the weather, kPa per hour.
  public var pressureTrend = 0.0
  /// Air temperature, °C: what the sensors have when they are switched on.
  public var temperature = 22.0

  /// The defaults.
  public init() {}

  init(_ settings: inout SimulationSettings) throws(MotionKitError) {
    fieldStrength = try settings.number(
      "field", "strength of the earth's magnetic field, µT", default: 48, in: 0...1000)
    fieldDip =
      try settings.number("dip", "angle of the field below the horizontal, degrees", default: 65, in: -90...90)
      * radiansPerDegree
    disturbanceStrength = try settings.number(
      "disturbance", "strength of a magnetic disturbance that comes and goes, µT", default: 0, in: 0...10_000)
    disturbancePeriod = try settings.number(
      "disturbance_period", "seconds from one disturbance to the next", default: 20, in: 1...1e6)
    disturbanceLength = try settings.number(
      "disturbance_length", "seconds that a disturbance lasts", default: 6, in: 0.1...1e6)
    fieldWander = try settings.number(
      "wander", "slow change of the field along the way, µT", default: 0, in: 0...1000)
    altitude = try settings.number("altitude", "height of the start above sea level, m", default: 0, in: -500...10_000)
    seaLevelPressure = try settings.number(
      "sealevel", "pressure at sea level, kPa", default: 101.325, in: 80...110)
    pressureTrend = try settings.number("weather", "change of the pressure, kPa per hour", default: 0, in: -10...10)
    temperature = try settings.number("temperature", "temperature of the air, °C", default: 22, in: -60...85)
  }

  /// The field at a time, µT, earth frame (x magnetic north, y west, z up).
  func magneticField(at seconds: Double) -> Vector3 {
    var field = Vector3(
      fieldStrength * Elementary.cos(fieldDip), 0, -fieldStrength * Elementary.sin(fieldDip))
    if fieldWander > 0 {
      // Two sines an axis, with periods between 17 and 61 s that do not repeat together.
      field +=
        Vector3(
          Self.wave(seconds, 23.1, 0.3) + Self.wave(seconds, 47.3, 1.9),
          Self.wave(seconds, 17.7, 4.1) + Self.wave(seconds, 61.0, 2.7),
          Self.wave(seconds, 29.9, 5.2) + Self.wave(seconds, 38.3, 0.8)) * fieldWander
    }
    guard disturbanceStrength > 0, seconds >= 0 else { return field }
    let cycle = (seconds / disturbancePeriod).rounded(.down)
    // The middle of the period, so that a scene begins undisturbed.
    let since = seconds - cycle * disturbancePeriod - (disturbancePeriod - disturbanceLength) / 2
    let rise = disturbanceLength / 4
    let strength =
      disturbanceStrength * Jet(since).step(over: rise).value
      * (1 - Jet(since - disturbanceLength + rise).step(over: rise).value)
    // Each comes from another side: steps of the golden angle around, and of another irrational up and down.
    let azimuth = cycle * 2.399_963_229_728_653
    let up = Elementary.sin(1 + cycle * 2.236_067_977_499_79)
    let across = max(0, 1 - up * up).squareRoot()
    return field + Vector3(across * Elementary.cos(azimuth), across * Elementary.sin(azimuth), up) * strength
  }

  private static func wave(_ seconds: Double, _ period: Double, _ phase: Double) -> Double {
    Elementary.sin(2 * .pi * seconds / period + phase)
  }

  /// The pressure at a height above the scene's origin, kPa, by the standard atmosphere below 11 km (ISO 2533:1975):
  /// p = p0 (1 - L h / T0)^(g M / (R L)).
  func pressure(at seconds: Double, height: Double) -> Double {
    let lapse = 0.0065  // K/m
    let seaLevelTemperature = 288.15  // K
    let exponent = 5.255_88  // g M / (R L)
    let ratio = max(1e-3, 1 - lapse * (altitude + height) / seaLevelTemperature)
    return seaLevelPressure * Elementary.exp(exponent * Elementary.log(ratio)) + pressureTrend * seconds / 3600
  }
}

/// Radians in a degree.
let radiansPerDegree = Double.pi / 180
