/// The earth's magnetic field at a place and time, by the World Magnetic Model.
///
/// Spherical harmonics of degree 12 with Schmidt semi-normalised Legendre functions, as in "The US/UK World Magnetic
/// Model for 2025-2030" (NOAA NCEI and BGS, 2024), valid from 2025.0 to 2030.0, from 1 km below to 850 km above the
/// ellipsoid. Local iron is not in it; the model's own error in declination is about 0.4° at middle latitudes.
public struct GeomagneticField: Hashable, Sendable {
  /// Northward, nT.
  public let north: Double
  /// Eastward, nT.
  public let east: Double
  /// Downward, nT.
  public let down: Double

  /// Whether the model is meant for that year; outside, the field is extrapolated.
  public static func isValid(year: Double) -> Bool {
    year >= WorldMagneticModel2025.epoch && year <= WorldMagneticModel2025.epoch + 5
  }

  /// The field at a place.
  ///
  /// - Parameters:
  ///   - latitude: Geodetic (WGS 84), degrees, north positive, clamped to ±90.
  ///   - longitude: Degrees, east positive.
  ///   - altitude: Metres above the ellipsoid.
  ///   - year: Decimal year, such as 2026.5.
  public init(latitude: Double, longitude: Double, altitude: Double = 0, year: Double) {
    let place = GeocentricPlace(
      latitude: max(-90, min(90, latitude)) * .pi / 180, altitude: altitude / 1000)
    let (x, y, z) = Self.harmonics(place, longitude: longitude * .pi / 180, years: year - WorldMagneticModel2025.epoch)
    // From the geocentric to the geodetic vertical.
    north = x * place.cosineOfTilt - z * place.sineOfTilt
    east = y
    down = x * place.sineOfTilt + z * place.cosineOfTilt
  }

  /// The angle from true to magnetic north, radians, positive east; undefined at the magnetic poles.
  public var declination: Double { Elementary.atan2(east, north) }
  /// The angle of the field below the horizon, radians.
  public var inclination: Double { Elementary.atan2(down, horizontalIntensity) }
  /// The horizontal part's strength, nT.
  public var horizontalIntensity: Double { (north * north + east * east).squareRoot() }
  /// The strength, nT.
  public var intensity: Double { (north * north + east * east + down * down).squareRoot() }

  /// The radius of the sphere that the coefficients refer to, km.
  private static let referenceRadius = 6371.2

  /// The field northward, eastward and downward of the geocentric vertical, nT.
  private static func harmonics(
    _ place: GeocentricPlace, longitude: Double, years: Double
  ) -> (Double, Double, Double) {
    let coefficients = WorldMagneticModel2025.coefficients
    let degree = WorldMagneticModel2025.degree
    let cosine = place.sineOfLatitude  // of the colatitude
    let sine = place.cosineOfLatitude
    // For one order m at a time, the functions of degree n grow from those of n-1 and n-2: p is P(n,m) / sine^min(m,1),
    // which stays finite at the poles, and d is dP(n,m)/d(colatitude).
    var x = 0.0
    var y = 0.0
    var z = 0.0
    var diagonal = 1.0  // P(m,m), for m > 0 divided by the sine
    var diagonalSlope = 0.0
    for m in 0...degree {
      if m > 0 {
        let k = m == 1 ? 1 : (Double(2 * m - 1) / Double(2 * m)).squareRoot()
        let previous = m == 1 ? 1 : diagonal * sine  // P(m-1,m-1)
        diagonalSlope = k * (sine * diagonalSlope + cosine * previous)
        diagonal = k * previous
      }
      let cosineOfMultiple = Elementary.cos(Double(m) * longitude)
      let sineOfMultiple = Elementary.sin(Double(m) * longitude)
      var p = (older: 0.0, newest: diagonal)
      var d = (older: 0.0, newest: diagonalSlope)
      for n in m...degree {
        if n > m {
          let a = Double(2 * n - 1)
          let b = Double((n - 1) * (n - 1) - m * m).squareRoot()
          let c = Double(n * n - m * m).squareRoot()
          let value = (a * cosine * p.newest - b * p.older) / c
          let factor = m > 0 ? sine : 1
          let slope = (a * (cosine * d.newest - sine * p.newest * factor) - b * d.older) / c
          p = (p.newest, value)
          d = (d.newest, slope)
        }
        if n == 0 { continue }
        let i = 4 * (n * (n + 1) / 2 + m - 1)
        let g = coefficients[i] + years * coefficients[i + 2]
        let h = coefficients[i + 1] + years * coefficients[i + 3]
        let scale = power(referenceRadius / place.radius, n + 2)
        let along = g * cosineOfMultiple + h * sineOfMultiple
        let value = m > 0 ? p.newest * sine : p.newest
        x += scale * along * d.newest
        if m > 0 { y += scale * Double(m) * (g * sineOfMultiple - h * cosineOfMultiple) * p.newest }
        z -= scale * Double(n + 1) * along * value
      }
    }
    return (x, y, z)
  }

  private static func power(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    for _ in 0..<exponent { result *= base }
    return result
  }
}

/// A place's radius and geocentric latitude, from its geodetic latitude and altitude (WGS 84).
private struct GeocentricPlace {
  let radius: Double
  let sineOfLatitude: Double
  let cosineOfLatitude: Double
  /// Of geocentric minus geodetic latitude.
  let sineOfTilt: Double
  let cosineOfTilt: Double

  /// The equator's radius, km, and the square of the eccentricity.
  private static let equatorialRadius = 6378.137
  private static let eccentricitySquared = 1 / 298.257223563 * (2 - 1 / 298.257223563)

  /// - Parameters:
  ///   - latitude: Geodetic, radians.
  ///   - altitude: Kilometres above the ellipsoid.
  init(latitude: Double, altitude: Double) {
    let s = Elementary.sin(latitude)
    let c = Elementary.cos(latitude)
    let curvature = Self.equatorialRadius / (1 - Self.eccentricitySquared * s * s).squareRoot()
    let p = (curvature + altitude) * c
    let z = (curvature * (1 - Self.eccentricitySquared) + altitude) * s
    radius = (p * p + z * z).squareRoot()
    sineOfLatitude = z / radius
    cosineOfLatitude = p / radius
    sineOfTilt = sineOfLatitude * c - cosineOfLatitude * s
    cosineOfTilt = cosineOfLatitude * c + sineOfLatitude * s
  }
}
