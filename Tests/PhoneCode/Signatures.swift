// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
// Every member by its exact type: what the compiler accepts here, existing code can rely on.
import CoreMotion

func managerSignatures(_ m: CMMotionManager, _ queue: OperationQueue) {
  let _: WritableKeyPathOrReference<CMMotionManager, TimeInterval> = [
    \.accelerometerUpdateInterval, \.gyroUpdateInterval, \.magnetometerUpdateInterval, \.deviceMotionUpdateInterval,
  ]
  let _: WritableKeyPathOrReference<CMMotionManager, Bool> = [\.showsDeviceMovementDisplay]
  let _: [KeyPath<CMMotionManager, Bool>] = [
    \.isAccelerometerAvailable, \.isAccelerometerActive, \.isGyroAvailable, \.isGyroActive, \.isMagnetometerAvailable,
    \.isMagnetometerActive, \.isDeviceMotionAvailable, \.isDeviceMotionActive,
  ]
  let _: CMAccelerometerData? = m.accelerometerData
  let _: CMGyroData? = m.gyroData
  let _: CMMagnetometerData? = m.magnetometerData
  let _: CMDeviceMotion? = m.deviceMotion
  let _: CMAttitudeReferenceFrame = m.attitudeReferenceFrame
  let _: () -> CMAttitudeReferenceFrame = CMMotionManager.availableAttitudeReferenceFrames
  let _: [() -> Void] = [
    m.startAccelerometerUpdates, m.stopAccelerometerUpdates, m.startGyroUpdates, m.stopGyroUpdates,
    m.startMagnetometerUpdates, m.stopMagnetometerUpdates, m.startDeviceMotionUpdates, m.stopDeviceMotionUpdates,
  ]
  let _: (OperationQueue, @escaping CMAccelerometerHandler) -> Void = m.startAccelerometerUpdates(to:withHandler:)
  let _: (OperationQueue, @escaping CMGyroHandler) -> Void = m.startGyroUpdates(to:withHandler:)
  let _: (OperationQueue, @escaping CMMagnetometerHandler) -> Void = m.startMagnetometerUpdates(to:withHandler:)
  let _: (OperationQueue, @escaping CMDeviceMotionHandler) -> Void = m.startDeviceMotionUpdates(to:withHandler:)
  let _: (CMAttitudeReferenceFrame) -> Void = m.startDeviceMotionUpdates(using:)
  let _: (CMAttitudeReferenceFrame, OperationQueue, @escaping CMDeviceMotionHandler) -> Void =
    m.startDeviceMotionUpdates(using:to:withHandler:)
  // As Core Motion's own, the handlers need not be @Sendable.
  var count = 0
  m.startAccelerometerUpdates(to: queue) { (data: CMAccelerometerData?, error: (any Error)?) in count += 1 }
}

typealias WritableKeyPathOrReference<Root, Value> = [ReferenceWritableKeyPath<Root, Value>]

func valueSignatures() {
  let _: CMAcceleration = CMAcceleration(x: 1, y: 2, z: 3)
  let _: CMRotationRate = CMRotationRate()
  let _: CMMagneticField = CMMagneticField(x: 1, y: 2, z: 3)
  let _: CMQuaternion = CMQuaternion(x: 0, y: 0, z: 0, w: 1)
  let _: CMRotationMatrix = CMRotationMatrix(m11: 1, m12: 0, m13: 0, m21: 0, m22: 1, m23: 0, m31: 0, m32: 0, m33: 1)
  let _: Int32 = CMMagneticFieldCalibrationAccuracy.uncalibrated.rawValue
  let _: UInt = CMAttitudeReferenceFrame.xArbitraryZVertical.rawValue
  let _: Int = CMAuthorizationStatus.authorized.rawValue
  let _: Int = CMMotionActivityConfidence.high.rawValue
  let _: Int = CMPedometerEventType.pause.rawValue
  let _: Int = CMDeviceMotion.SensorLocation.headphoneRight.rawValue
  let _: UInt32 = CMErrorUnknown.rawValue
  let _: String = CMErrorDomain
  let _: [any Sendable] = [CMAcceleration(), CMQuaternion(), CMError(100), CMAttitudeReferenceFrame()]
}

func dataSignatures(
  _ motion: CMDeviceMotion, _ attitude: CMAttitude, _ altitude: CMAltitudeData, _ absolute: CMAbsoluteAltitudeData
) {
  let _: [KeyPath<CMAttitude, Double>] = [\.roll, \.pitch, \.yaw]
  let _: CMRotationMatrix = attitude.rotationMatrix
  let _: CMQuaternion = attitude.quaternion
  let _: (CMAttitude) -> Void = attitude.multiply(byInverseOf:)
  let _: CMAttitude = motion.attitude
  let _: CMRotationRate = motion.rotationRate
  let _: [CMAcceleration] = [motion.gravity, motion.userAcceleration]
  let _: CMCalibratedMagneticField = motion.magneticField
  let _: [Double] = [motion.heading, motion.headingAccuracy, motion.timestamp]
  let _: CMDeviceMotion.SensorLocation = motion.sensorLocation
  let _: [NSNumber] = [altitude.relativeAltitude, altitude.pressure]
  let _: [Double] = [absolute.altitude, absolute.accuracy, absolute.precision]
  let _: [any NSSecureCoding & NSCopying] = [motion, attitude, altitude, absolute]
  let _: CMLogItem = motion
}

func pedometerSignatures(_ p: CMPedometer, _ data: CMPedometerData, _ event: CMPedometerEvent) {
  let _: [() -> Bool] = [
    CMPedometer.isStepCountingAvailable, CMPedometer.isDistanceAvailable, CMPedometer.isFloorCountingAvailable,
    CMPedometer.isPaceAvailable, CMPedometer.isCadenceAvailable, CMPedometer.isPedometerEventTrackingAvailable,
  ]
  let _: () -> CMAuthorizationStatus = CMPedometer.authorizationStatus
  let _: (Date, Date, @escaping CMPedometerHandler) -> Void = p.queryPedometerData(from:to:withHandler:)
  let _: (Date, @escaping CMPedometerHandler) -> Void = p.startUpdates(from:withHandler:)
  let _: (@escaping CMPedometerEventHandler) -> Void = p.startEventUpdates(handler:)
  let _: [() -> Void] = [p.stopUpdates, p.stopEventUpdates]
  let _: [Date] = [data.startDate, data.endDate, event.date]
  let _: NSNumber = data.numberOfSteps
  let _: [NSNumber?] = [
    data.distance, data.floorsAscended, data.floorsDescended, data.currentPace, data.currentCadence,
    data.averageActivePace,
  ]
  let _: CMPedometerEventType = event.type
  let _: [any NSSecureCoding & NSCopying] = [data, event]
}

func otherSignatures(
  _ altimeter: CMAltimeter, _ manager: CMMotionActivityManager, _ activity: CMMotionActivity,
  _ recorder: CMSensorRecorder, _ recorded: CMRecordedAccelerometerData, _ batched: CMBatchedSensorManager
) {
  let _: [() -> Bool] = [
    CMAltimeter.isRelativeAltitudeAvailable, CMAltimeter.isAbsoluteAltitudeAvailable,
    CMMotionActivityManager.isActivityAvailable, CMSensorRecorder.isAccelerometerRecordingAvailable,
  ]
  let _: [() -> CMAuthorizationStatus] = [
    CMAltimeter.authorizationStatus, CMMotionActivityManager.authorizationStatus, CMSensorRecorder.authorizationStatus,
  ]
  let _: (OperationQueue, @escaping CMAltitudeHandler) -> Void = altimeter.startRelativeAltitudeUpdates(to:withHandler:)
  let _: (OperationQueue, @escaping CMAbsoluteAltitudeHandler) -> Void =
    altimeter.startAbsoluteAltitudeUpdates(to:withHandler:)
  let _: [() -> Void] = [altimeter.stopRelativeAltitudeUpdates, altimeter.stopAbsoluteAltitudeUpdates]
  let _: (OperationQueue, @escaping CMMotionActivityHandler) -> Void = manager.startActivityUpdates(to:withHandler:)
  let _: (Date, Date, OperationQueue, @escaping CMMotionActivityQueryHandler) -> Void =
    manager.queryActivityStarting(from:to:to:withHandler:)
  let _: [KeyPath<CMMotionActivity, Bool>] = [
    \.unknown, \.stationary, \.walking, \.running, \.automotive, \.cycling,
  ]
  let _: (CMMotionActivityConfidence, Date) = (activity.confidence, activity.startDate)
  let _: (TimeInterval) -> Void = recorder.recordAccelerometer(forDuration:)
  let _: (Date, Date) -> CMSensorDataList? = recorder.accelerometerData(from:to:)
  let _: (UInt64, Date) = (recorded.identifier, recorded.startDate)
  let _: [Bool] = [CMBatchedSensorManager.isAccelerometerSupported, CMBatchedSensorManager.isDeviceMotionSupported]
  let _: CMAuthorizationStatus = CMBatchedSensorManager.authorizationStatus
  let _: [Int] = [batched.accelerometerDataFrequency, batched.deviceMotionDataFrequency]
  let _: (@escaping ([CMAccelerometerData]?, (any Error)?) -> Void) -> Void =
    batched.startAccelerometerUpdates(handler:)
  let _: (@escaping ([CMDeviceMotion]?, (any Error)?) -> Void) -> Void = batched.startDeviceMotionUpdates(handler:)
  let _: () -> CMBatchedSensorManager.AccelerometerUpdates = batched.accelerometerUpdates
  let _: () -> CMBatchedSensorManager.DeviceMotionUpdates = batched.deviceMotionUpdates
}
