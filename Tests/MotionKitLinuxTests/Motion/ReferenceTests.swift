import Glibc
import SensorFusion
import Testing

@testable import MotionKitLinux

/// What the environment and the application say about place, pressure and walker.
@Suite struct ReferenceTests {
  @Test func aLocationIsReadFromText() {
    #expect(GeographicLocation("47.38,8.54") == GeographicLocation(latitude: 47.38, longitude: 8.54))
    #expect(
      GeographicLocation(" -33.9 , 151.2, 20 ") == GeographicLocation(latitude: -33.9, longitude: 151.2, altitude: 20))
    for bad in ["", "47", "47,8,1,2", "north,8", "91,8", "47,nan", "47;8"] { #expect(GeographicLocation(bad) == nil) }
  }

  @Test func aDeclinationInDegreesComesBeforeALocation() throws {
    let environment = ["MOTIONKIT_DECLINATION": "-12.5", "MOTIONKIT_LOCATION": "47.38,8.54"]
    let first = MagneticDeclination.reference { environment[$0] }
    #expect(try #require(MagneticDeclination.radians(first, year: 2026)) == -12.5 * .pi / 180)
    let second = MagneticDeclination.reference { $0 == "MOTIONKIT_LOCATION" ? environment[$0] : nil }
    let zurich = try #require(MagneticDeclination.radians(second, year: 2026)) * 180 / .pi
    #expect((2...5).contains(zurich))
    #expect(MagneticDeclination.reference { _ in nil } == nil)
  }

  @Test func aPressureInTheWrongUnitIsNotTaken() {
    func reference(_ text: String) -> AltitudeReference? {
      AltitudeReference.reference { $0 == "MOTIONKIT_SEA_LEVEL_KPA" ? text : nil }
    }
    #expect(reference("101.32") == .seaLevelPressure(kilopascals: 101.32))
    #expect(reference("1013.2") == nil)
    #expect(reference("29.92") == nil)
    #expect(
      AltitudeReference.reference { $0 == "MOTIONKIT_START_ALTITUDE_M" ? "440" : nil } == .startAltitude(metres: 440))
  }

  @Test func aHeightInCentimetresIsNotTaken() {
    func height(_ text: String) -> Double? { Walker.walker { $0 == "MOTIONKIT_HEIGHT_M" ? text : nil }.height }
    #expect(height("1.75") == 1.75)
    #expect(height("175") == nil)
    #expect(height("tall") == nil)
  }

  @Test func nodesThatMayNotBeOpenedAreDenied() throws {
    var template = Array("/tmp/nodes-XXXXXX".utf8CString)
    let directory = String(cString: try #require(mkdtemp(&template)))
    defer {
      unlink(directory + "/iio:device0")
      rmdir(directory)
    }
    #expect(!SharedSource.isAccessDenied(inDirectory: directory))
    close(open(directory + "/iio:device0", O_CREAT | O_WRONLY, 0o000))
    // Root may open anything.
    #expect(SharedSource.isAccessDenied(inDirectory: directory) == (geteuid() != 0))
    #expect(!SharedSource(ScriptedSource()).isAccessDenied)
  }
}
