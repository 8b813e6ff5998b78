import SensorFusion
import Testing

@Suite struct GeomagneticFieldTests {
  @Test func agreesWithAnotherImplementationOverTheGlobe() {
    for row in geomagneticReference {
      let field = GeomagneticField(
        latitude: row.latitude, longitude: row.longitude, altitude: row.kilometres * 1000, year: row.year)
      let difference = abs(field.declination * 180 / .pi - row.d)
      #expect(min(difference, 360 - difference) < 1e-5, "declination at \(row)")
      #expect(abs(field.inclination * 180 / .pi - row.i) < 1e-5, "inclination at \(row)")
      #expect(abs(field.intensity - row.f) < 1e-2, "intensity at \(row)")
    }
  }

  @Test func isFiniteAndContinuousAtThePoles() {
    for sign in [1.0, -1.0] {
      let pole = GeomagneticField(latitude: 90 * sign, longitude: 33, year: 2026)
      let near = GeomagneticField(latitude: 89.9999 * sign, longitude: 33, year: 2026)
      #expect(pole.intensity.isFinite)
      #expect(abs(pole.north - near.north) < 1 && abs(pole.east - near.east) < 1 && abs(pole.down - near.down) < 1)
    }
  }

  @Test func knowsItsYears() {
    #expect(GeomagneticField.isValid(year: 2026.9))
    #expect(!GeomagneticField.isValid(year: 2024.9))
    #expect(!GeomagneticField.isValid(year: 2030.1))
  }
}
