/// Relative altitude, vertical speed, ascent and descent from air pressure.
///
/// It is a pressure altitude: the first valid sample is the zero point, and the weather shows (6 m in an hour when the
/// pressure falls by 0.07 kPa). `rezero` makes the present level the zero point. Heights are those of the standard
/// atmosphere above 101.325 kPa, at both ends: 3 m at sea level is 2.91 m where the pressure is 15 % lower, since the
/// standard air is colder there.
public struct PressureAltimeter: Sendable {
  /// What the altimeter can be told.
  public struct Configuration: Hashable, Sendable {
    /// The pressure at sea level, kPa, for `absoluteAltitude`; nil where not known.
    public var seaLevelPressure: Double?
    /// The height of the first sample above sea level, m, if that is known instead.
    public var startHeight: Double?
    /// What the sensor reads too much for each °C of warming since the first sample, kPa/°C; 0 for a compensated one.
    public var temperatureCoefficient = 0.0

    /// The defaults.
    public init() {}
  }

  /// The configuration in use.
  public let configuration: Configuration
  /// The newest output.
  public private(set) var state = AltitudeState(time: Timestamp(nanoseconds: 0), pressure: 0)
  /// The newest climb or descent.
  public private(set) var climb = Climb()
  /// Samples skipped: pressures that cannot be (outside 30 to 110 kPa) and sudden jumps of more than 2 kPa.
  public private(set) var skipped: Int64 = 0

  private var filter = HeightFilter()
  private var climbs = ClimbTracker()
  private var firstTemperature = Double.nan
  private var lastTime: Timestamp?
  private var lastPressure = 0.0
  /// A level that differs by a jump, how often it was seen in a row, and since when.
  private var jumpPressure = 0.0
  private var jumpCount = 0
  private var jumpSince = Timestamp(nanoseconds: 0)
  /// What is taken off the filter's height: the zero point.
  private var zero = 0.0
  /// The height of the first sample in the standard atmosphere, m.
  private var start = 0.0
  /// What is added to the height of a sample, so that a jump in the pressure is none in the altitude.
  private var offset = 0.0

  /// No motion changes the pressure this much between two samples, kPa (170 m).
  private static let jump = 2.0
  /// Samples and seconds after which a jump is a new level.
  private static let jumpSamples = 5
  private static let jumpTime = 1.0
  /// A hole after which nothing is smoothed over, s.
  private static let gap = 10.0

  /// An altimeter before its first sample.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// Takes one barometer sample (kPa; °C or NaN); `isStationary` says whether the accelerometer sees no motion.
  /// Returns whether `state` is a new output; implausible pressures are skipped and counted.
  public mutating func update(
    time: Timestamp, pressure: Double, temperature: Double, isStationary: Bool
  ) -> Bool {
    guard PressureUnit.plausible.contains(pressure) else {
      skipped += 1
      return false
    }
    if firstTemperature.isNaN { firstTemperature = temperature }
    var pressure = pressure
    if temperature.isFinite, firstTemperature.isFinite {
      pressure -= configuration.temperatureCoefficient * (temperature - firstTemperature)
    }
    var isDiscontinuity = false
    if let lastTime {
      guard time > lastTime else { return false }
      if abs(pressure - lastPressure) > Self.jump {
        guard isNewLevel(time: time, pressure: pressure) else {
          skipped += 1
          return false
        }
        // The output goes on from where it was.
        offset += filter.level - (Self.height(pressure, base: Self.seaLevel) + offset)
        filter.restart()
        isDiscontinuity = true
      } else if time.seconds(since: lastTime) > Self.gap {
        filter.restart()
        isDiscontinuity = true
      }
    } else {
      start = Self.height(pressure, base: Self.seaLevel)
      zero = start
    }
    jumpCount = 0
    lastTime = time
    lastPressure = pressure

    filter.update(time: time, height: Self.height(pressure, base: Self.seaLevel) + offset)
    climbs.update(time: time, height: filter.level, speed: filter.climbSpeed, isStationary: isStationary)
    climb = climbs.climb
    state.time = time
    state.relativeAltitude = filter.level - zero
    state.verticalSpeed = filter.speed
    state.pressure = Self.pressure(atHeight: filter.level - offset, base: Self.seaLevel)
    state.ascent = climbs.ascent
    state.descent = climbs.descent
    state.isPressureOnlyChange = climbs.isPressureOnlyChange
    state.isDiscontinuity = isDiscontinuity
    return true
  }

  /// Makes the present level the zero point: `relativeAltitude` is 0 there from now on. Ascent and descent stay.
  public mutating func rezero() {
    zero = filter.level
    state.relativeAltitude = 0
  }

  /// Metres above sea level, from the sea-level pressure or the height of the start; nil where neither is known.
  public var absoluteAltitude: Double? {
    guard lastTime != nil else { return nil }
    if let seaLevel = configuration.seaLevelPressure { return Self.height(state.pressure, base: seaLevel) }
    return configuration.startHeight.map { $0 + filter.level - start }
  }

  /// Whether a jump has lasted long enough to be a new level.
  private mutating func isNewLevel(time: Timestamp, pressure: Double) -> Bool {
    if jumpCount == 0 || abs(pressure - jumpPressure) > Self.jump {
      jumpCount = 0
      jumpSince = time
    }
    jumpPressure = pressure
    jumpCount += 1
    return jumpCount >= Self.jumpSamples && time.seconds(since: jumpSince) >= Self.jumpTime
  }

  /// Height above the level of pressure `base`, m, in the standard atmosphere (ICAO Doc 7488: 288.15 K, 6.5 K/km).
  static func height(_ pressure: Double, base: Double) -> Double {
    scaleHeight * (1 - Elementary.exp(exponent * Elementary.log(pressure / base)))
  }

  /// The pressure at a height above the level of pressure `base`, kPa.
  static func pressure(atHeight height: Double, base: Double) -> Double {
    base * Elementary.exp(Elementary.log(1 - height / scaleHeight) / exponent)
  }

  /// The standard atmosphere's pressure at sea level, kPa.
  static let seaLevel = 101.325
  /// T0 / lapse rate, m, and R L / g.
  private static let scaleHeight = 44_330.77
  private static let exponent = 0.190263
}
