import Glibc
import SensorFusion

/// Which calibrations a source's samples are computed with.
public enum CalibrationChoice: Hashable, Sendable {
  /// For a device those of the user's file (`CalibrationFile.defaultPath`); for a recording those that it was recorded
  /// with; for a simulated scene or an injected source none.
  case automatic
  /// As `automatic`, and the hard iron of a magnetometer that then has no calibration is learnt while it is used.
  case learning
  /// None.
  case none
  /// Those of this file, for sensors of any source.
  case file(String)
}

extension SourceDescription {
  /// Sets `calibrations` by a choice.
  ///
  /// - Returns: The stored calibrations now in use; none where they come from a recording.
  /// - Throws: As `CalibrationFile`; `.notFound` for a named file that is not there.
  @discardableResult
  public mutating func calibrate(_ choice: CalibrationChoice) throws(MotionKitError) -> [StoredCalibration] {
    if choice == .learning {
      let used = try calibrate(.automatic)
      learnsHardIron = sensor(.magnetometer) != nil && calibrations.magnetometer == nil
      return used
    }
    learnsHardIron = false
    let path: String
    switch choice {
    case .none:
      calibrations = SensorCalibrations()
      return []
    case .automatic, .learning:
      guard case .iio = try? SourceURI(uri), let user = CalibrationFile.defaultPath else { return [] }
      path = user
    case .file(let named):
      guard access(named, F_OK) == 0 else {
        throw .notFound(
          what: "the calibration file \(named)", hint: "motionlog calibrate makes one; --calibration none does without")
      }
      path = named
    }
    let file = try CalibrationFile(path: path)
    calibrations = SensorCalibrations()
    var used: [StoredCalibration] = []
    for sensor in sensors {
      guard let stored = file.calibration(of: sensor) else { continue }
      calibrations[sensor.kind] = stored.calibration
      if sensor.kind == .gyroscope { calibrations.gyroscopeTemperature = GyroscopeTemperature(stored.rests) }
      used.append(stored)
    }
    return used
  }
}
