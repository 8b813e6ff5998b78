import SensorFusion

// What each service delivers: plain values in Core Motion's units and signs, all `Sendable`.

/// A value that was valid at one instant.
public protocol TimedValue: Sendable {
  /// The boot clock at which the value is valid.
  var time: Timestamp { get }
}

extension TimedValue {
  /// The same instant in seconds since the machine was started, as Core Motion's `timestamp`.
  public var timestamp: Double { time.seconds }
}

/// One reading of the accelerometer.
@frozen
public struct AccelerometerData: TimedValue, Hashable {
  /// The boot clock of the sample.
  public var time: Timestamp
  /// Gravity minus the device's acceleration, g, device axes: flat and face up (0, 0, -1).
  public var acceleration: Vector3

  /// A reading from its parts.
  public init(time: Timestamp, acceleration: Vector3) {
    self.time = time
    self.acceleration = acceleration
  }

  /// A reading from an accelerometer sample in the IIO ABI's units and sign.
  public init(_ sample: SensorSample) {
    self.init(time: sample.time, acceleration: coreMotionAcceleration(fromSpecificForce: sample.vector))
  }
}

/// One reading of the gyroscope.
@frozen
public struct GyroscopeData: TimedValue, Hashable {
  /// The boot clock of the sample.
  public var time: Timestamp
  /// Rotation rate with the sensor's bias in it, rad/s, right-handed about the device axes.
  public var rotationRate: Vector3

  /// A reading from its parts.
  public init(time: Timestamp, rotationRate: Vector3) {
    self.time = time
    self.rotationRate = rotationRate
  }

  /// A reading from a gyroscope sample.
  public init(_ sample: SensorSample) { self.init(time: sample.time, rotationRate: sample.vector) }
}

/// One reading of the magnetometer.
@frozen
public struct MagnetometerData: TimedValue, Hashable {
  /// The boot clock of the sample.
  public var time: Timestamp
  /// The whole field, the device's own included, µT, device axes.
  public var magneticField: Vector3

  /// A reading from its parts.
  public init(time: Timestamp, magneticField: Vector3) {
    self.time = time
    self.magneticField = magneticField
  }

  /// A reading from a magnetometer sample.
  public init(_ sample: SensorSample) { self.init(time: sample.time, magneticField: sample.vector) }
}

extension DeviceMotion: TimedValue {}
