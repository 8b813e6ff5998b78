import SensorFusion

/// Known faults of kernel drivers, put right here and noted in the sensor's description.
struct Quirk: Sendable {
  /// Names of the parts, as `name` shows them.
  var parts: Set<String>
  /// What is measured wrongly.
  var kind: SensorKind
  /// Multiplies the driver's scale.
  var factor: Double
  /// Applied only to scales below this, so that a kernel with the fault mended is left alone. In the driver's unit.
  var scaleBelow: Double
  /// What is wrong, for a person.
  var note: String

  /// Every known fault.
  static let all = [
    // The driver's table holds milligauss per count printed as nano units: 0.000007692 for 1/1300 gauss.
    Quirk(
      parts: ["hmc5843", "hmc5883", "hmc5883l", "hmc5983"], kind: .magnetometer, factor: 100, scaleBelow: 1e-4,
      note: "driver prints a scale 100 times too small; corrected")
  ]

  /// A note on sensors whose scale cannot be trusted, by the sysfs path of a local device: those of the AMD Sensor Fusion
  /// Hub, on HID bus 0x20 (BUS_AMD_SFH). Which kernel has which factor does not show in the device.
  static func doubt(path: String) -> String? {
    guard path.contains("/0020:1022:") else { return nil }
    return "AMD Sensor Fusion Hub: some kernels give an accelerometer 10 and a gyroscope 100 times too small;"
      + " motionlog doctor compares it with gravity"
  }

  /// The fault that concerns this sensor, if one is known.
  static func find(part: String, kind: SensorKind, scale: Double) -> Quirk? {
    all.first { $0.kind == kind && $0.parts.contains(part) && abs(scale) < $0.scaleBelow }
  }
}
