/// What a sensor measures. The raw value orders samples of one instant in the stream.
@frozen
public enum SensorKind: UInt8, CaseIterable, Hashable, Sendable, Comparable {
  /// Specific force, m/s², device axes; flat and face up reads z = +9.81 (Linux IIO sign).
  case accelerometer = 0
  /// Rotation rate, rad/s, right-handed about the device axes.
  case gyroscope = 1
  /// Magnetic field, µT, device axes.
  case magnetometer = 2
  /// Air pressure in kPa (x) and the sensor's temperature in °C (y, NaN where not measured); z is unused.
  case barometer = 3
  /// A chip's own step counter (x: steps since it was reset, exact to 2^24); y and z are unused.
  case stepCounter = 4

  /// The order of samples that carry the same time.
  @inlinable
  public static func < (a: SensorKind, b: SensorKind) -> Bool { a.rawValue < b.rawValue }
}

/// One measurement of one sensor, after scale, offset and mount matrix, before calibration.
@frozen
public struct SensorSample: Hashable, Sendable {
  /// When the sample was taken, boot clock.
  public var time: Timestamp
  /// The first value; its meaning and unit are those of `kind`.
  public var x: Float
  /// The second value.
  public var y: Float
  /// The third value.
  public var z: Float
  /// What was measured.
  public var kind: SensorKind

  /// A sample of a three-axis sensor, in the units of its kind.
  @inlinable
  public init(time: Timestamp, kind: SensorKind, x: Float, y: Float, z: Float) {
    self.time = time
    self.kind = kind
    self.x = x
    self.y = y
    self.z = z
  }

  /// A barometer sample: pressure in kPa, temperature in °C or NaN.
  @inlinable
  public init(time: Timestamp, pressureKilopascals: Float, temperatureCelsius: Float = .nan) {
    self.init(time: time, kind: .barometer, x: pressureKilopascals, y: temperatureCelsius, z: 0)
  }

  /// The three values as a vector, for arithmetic in `Double`.
  @inlinable public var vector: Vector3 { Vector3(Double(x), Double(y), Double(z)) }
}
