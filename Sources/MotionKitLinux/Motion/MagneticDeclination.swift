import Glibc
import SensorFusion

/// A place on earth.
public struct GeographicLocation: Hashable, Sendable {
  /// Degrees (WGS 84), north positive.
  public var latitude: Double
  /// Degrees, east positive.
  public var longitude: Double
  /// Metres above sea level.
  public var altitude: Double

  /// A place from its coordinates.
  public init(latitude: Double, longitude: Double, altitude: Double = 0) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }

  /// A place from `LATITUDE,LONGITUDE[,ALTITUDE]` in degrees and metres; nil if it is not one.
  public init?(_ text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0.trimmed) }
    guard parts.count == 2 || parts.count == 3, !parts.contains(nil) else { return nil }
    let numbers = parts.compactMap { $0 }
    guard numbers.allSatisfy(\.isFinite), abs(numbers[0]) <= 90, abs(numbers[1]) <= 360 else { return nil }
    self.init(latitude: numbers[0], longitude: numbers[1], altitude: numbers.count == 3 ? numbers[2] : 0)
  }

  /// The angle from true to magnetic north there, radians, positive east, by the World Magnetic Model.
  public func declination(year: Double) -> Double {
    GeomagneticField(latitude: latitude, longitude: longitude, altitude: altitude, year: year).declination
  }
}

/// The declination for reference frames with true north: what the application says, else the environment.
public enum MagneticDeclination {
  /// How the declination is known.
  public enum Reference: Hashable, Sendable {
    /// Radians from true to magnetic north, positive east.
    case angle(Double)
    /// From the World Magnetic Model at a place, today.
    case location(GeographicLocation)
  }

  private static let chosen = Locked<Reference?>(nil)

  /// The reference for device motion started in this task; nil means the process's.
  @TaskLocal public static var override: Reference?

  /// Says where the device is, or what the declination is; nil goes back to the environment.
  public static func setReference(_ reference: Reference?) { chosen.withLock { $0 = reference } }

  /// Radians from true to magnetic north, positive east; nil where nobody has said.
  ///
  /// From the task's `override`, else from `setReference`, else MOTIONKIT_DECLINATION (degrees), else MOTIONKIT_LOCATION
  /// (`LATITUDE,LONGITUDE[,ALTITUDE]` in degrees and metres).
  public static var current: Double? {
    radians(override ?? chosen.withLock { $0 } ?? reference(fromEnvironment: environment), year: currentYear())
  }

  /// What to do where there is none.
  public static let missing = """
    true north needs the declination: call MagneticDeclination.setReference(.location(…)), or set \
    MOTIONKIT_LOCATION=LATITUDE,LONGITUDE (degrees) or MOTIONKIT_DECLINATION (degrees, east positive)
    """

  /// Why there is none: `missing`, or which variable of the environment cannot be used.
  public static var problem: String { problem(inEnvironment: environment) }

  static func problem(inEnvironment variable: (String) -> String?) -> String {
    if let problem = angle.problem(variable) { return "\(problem)" }
    if let text = variable("MOTIONKIT_LOCATION"), GeographicLocation(text) == nil {
      return "\(environmentProblem("MOTIONKIT_LOCATION", text, locationMeaning))"
    }
    return missing
  }

  private static let angle = EnvironmentNumber(
    name: "MOTIONKIT_DECLINATION", range: -180...180, meaning: "degrees from -180 to 180, east positive")
  private static let locationMeaning =
    "LATITUDE,LONGITUDE[,ALTITUDE]: degrees from -90 to 90, degrees from -360 to 360, metres"

  static func reference(fromEnvironment variable: (String) -> String?) -> Reference? {
    // A value that makes no sense is not passed over: `problem` names it.
    guard angle.problem(variable) == nil else { return nil }
    if let degrees = angle.value(variable) { return .angle(degrees * .pi / 180) }
    return variable("MOTIONKIT_LOCATION").flatMap { GeographicLocation($0) }.map { .location($0) }
  }

  static func radians(_ reference: Reference?, year: Double) -> Double? {
    switch reference {
    case nil: nil
    case .angle(let angle): angle
    case .location(let place): place.declination(year: year)
    }
  }

  /// Today as a decimal year by the wall clock, near enough for a field that turns by 0.2° in a year.
  private static func currentYear() -> Double {
    1970 + Double(time(nil)) / (365.2425 * 86400)
  }
}

extension Substring {
  /// Without spaces at the ends.
  fileprivate var trimmed: Substring {
    var text = self
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return text
  }
}
