// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
import CoreMotion

public class AltitudeModel: NSObject {
  lazy var altimeter = CMAltimeter()
  public private(set) var altitude: NSNumber = 0
  public private(set) var hectopascals: Double = 0
  public private(set) var seaLevel: Double?

  public func startAltimeter() {
    if CMAltimeter.isRelativeAltitudeAvailable() {
      altimeter.startRelativeAltitudeUpdates(to: OperationQueue.main) { (data, error) in
        if error == nil, let data = data {
          self.altitude = data.relativeAltitude
          self.hectopascals = data.pressure.doubleValue * 10
        }
      }
    }
    if CMAltimeter.isAbsoluteAltitudeAvailable() {
      altimeter.startAbsoluteAltitudeUpdates(to: .main) { data, _ in
        guard let data = data else { return }
        self.seaLevel = data.altitude
        print(String(format: "%.1f ± %.1f (%.2f)", data.altitude, data.accuracy, data.precision))
      }
    }
    if CMAltimeter.authorizationStatus() == .denied { print("denied") }
  }

  public func stopAltimeter() {
    altimeter.stopRelativeAltitudeUpdates()
    altimeter.stopAbsoluteAltitudeUpdates()
  }
}
