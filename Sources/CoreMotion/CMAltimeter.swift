import Foundation
import MotionKitLinux
import SensorFusion

/// Altitude from air pressure: relative to the start, and above sea level where the pressure there is known.
open class CMAltimeter: NSObject {
  private let altimeter: Altimeter

  /// An altimeter of the process's source.
  public override init() {
    altimeter = Altimeter()
    super.init()
  }

  /// The altimeter underneath, with what Core Motion does not tell (`error`, `statistics`, `updateInterval`); not in Apple's
  /// framework.
  public var underlying: Altimeter { altimeter }

  /// Whether there is a barometer.
  open class func isRelativeAltitudeAvailable() -> Bool { Altimeter().isRelativeAltitudeAvailable }
  /// Whether there is a barometer and the pressure at sea level or the altitude of the start is known; see
  /// `AltitudeReference`.
  open class func isAbsoluteAltitudeAvailable() -> Bool { Altimeter().isAbsoluteAltitudeAvailable }
  /// Whether this process may use the barometer.
  open class func authorizationStatus() -> CMAuthorizationStatus { .current }

  /// Starts relative altitudes, about one a second; the first is 0 m. Replaces queue and handler of a service that runs.
  open func startRelativeAltitudeUpdates(to queue: OperationQueue, withHandler handler: @escaping CMAltitudeHandler) {
    altimeter.startRelativeAltitudeUpdates(on: .operations(of: queue), handler: adapt(handler) { CMAltitudeData($0) })
  }

  /// Stops relative altitudes and lets go of queue and handler.
  open func stopRelativeAltitudeUpdates() { altimeter.stopRelativeAltitudeUpdates() }

  /// Starts altitudes above sea level. Replaces queue and handler of a service that runs.
  open func startAbsoluteAltitudeUpdates(
    to queue: OperationQueue, withHandler handler: @escaping CMAbsoluteAltitudeHandler
  ) {
    altimeter.startAbsoluteAltitudeUpdates(
      on: .operations(of: queue), handler: adapt(handler) { CMAbsoluteAltitudeData($0) })
  }

  /// Stops altitudes above sea level and lets go of queue and handler.
  open func stopAbsoluteAltitudeUpdates() { altimeter.stopAbsoluteAltitudeUpdates() }
}

/// A relative altitude.
open class CMAltitudeData: CMLogItem {
  private let storedAltitude: Double
  private let storedPressure: Double

  /// An altitude of 0 m, for subclasses that override the getters.
  public override init() {
    storedAltitude = 0
    storedPressure = 0
    super.init()
  }

  /// An altitude from its parts: metres and kPa; not in Apple's framework.
  public init(timestamp: TimeInterval, relativeAltitude: Double, pressure: Double) {
    storedAltitude = relativeAltitude
    storedPressure = pressure
    super.init(timestamp: timestamp)
  }

  /// Reads an archived altitude.
  public required init?(coder: NSCoder) {
    storedAltitude = coder.decodeDouble(forKey: "relativeAltitude")
    storedPressure = coder.decodeDouble(forKey: "pressure")
    super.init(coder: coder)
  }

  /// Archives the altitude.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(relativeAltitude.doubleValue, forKey: "relativeAltitude")
    coder.encode(pressure.doubleValue, forKey: "pressure")
  }

  /// Metres above the first altitude since the start.
  open var relativeAltitude: NSNumber { NSNumber(value: storedAltitude) }
  /// Air pressure, kPa.
  open var pressure: NSNumber { NSNumber(value: storedPressure) }
}

/// An altitude above sea level.
open class CMAbsoluteAltitudeData: CMLogItem {
  private let storedAltitude: Double
  private let storedAccuracy: Double
  private let storedPrecision: Double

  /// An altitude of 0 m, for subclasses that override the getters.
  public override init() {
    storedAltitude = 0
    storedAccuracy = 0
    storedPrecision = 0
    super.init()
  }

  /// An altitude from its parts, metres; not in Apple's framework.
  public init(timestamp: TimeInterval, altitude: Double, accuracy: Double, precision: Double) {
    storedAltitude = altitude
    storedAccuracy = accuracy
    storedPrecision = precision
    super.init(timestamp: timestamp)
  }

  /// Reads an archived altitude.
  public required init?(coder: NSCoder) {
    storedAltitude = coder.decodeDouble(forKey: "altitude")
    storedAccuracy = coder.decodeDouble(forKey: "accuracy")
    storedPrecision = coder.decodeDouble(forKey: "precision")
    super.init(coder: coder)
  }

  /// Archives the altitude.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(altitude, forKey: "altitude")
    coder.encode(accuracy, forKey: "accuracy")
    coder.encode(precision, forKey: "precision")
  }

  /// Metres above sea level; may be negative.
  open var altitude: Double { storedAltitude }
  /// 1-sigma uncertainty, m.
  open var accuracy: Double { storedAccuracy }
  /// The step in which it makes sense to show the altitude, m.
  open var precision: Double { storedPrecision }
}

extension CMAltitudeData {
  convenience init(_ state: AltitudeState) {
    self.init(timestamp: state.timestamp, relativeAltitude: state.relativeAltitude, pressure: state.pressure)
  }
}

extension CMAbsoluteAltitudeData {
  convenience init(_ data: AbsoluteAltitudeData) {
    self.init(
      timestamp: data.timestamp, altitude: data.altitude, accuracy: data.accuracy, precision: data.precision)
  }
}

extension CMAuthorizationStatus {
  /// Denied where the source's device nodes exist and may not be opened.
  static var current: CMAuthorizationStatus { SharedSource.current.isAccessDenied ? .denied : .authorized }
}
