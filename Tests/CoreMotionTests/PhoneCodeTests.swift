import CoreMotion
import MotionKitLinux
import MotionTestSupport
import PhoneCode
import Testing

/// Runs the files of Tests/PhoneCode, which are written as for an iPhone, on simulated scenes.
@Suite struct PhoneCodeTests {
  @Test func controllerSeesMotionOnTheMainQueue() async throws {
    let controller = try await MotionReplay.run("sim:rotate?duration=10") {
      let controller = MotionController()
      controller.start()
      return controller
    }
    #expect(controller.updates > 500)
    #expect(controller.lastError == nil)
    #expect(controller.yaw != 0)
  }

  @Test func shakesAreDetected() async throws {
    let detector = try await MotionReplay.run("sim:shake?duration=10") {
      let detector = ShakeDetector()
      detector.threshold = 0.7
      detector.beginDetecting()
      return detector
    }
    #expect(detector.count > 0)
    detector.endDetecting()
    let still = try await MotionReplay.run("sim:still?duration=5") {
      let detector = ShakeDetector()
      detector.beginDetecting()
      return detector
    }
    #expect(still.count == 0)
  }

  @Test func gamePullsWithAReference() async throws {
    var spins: [Double] = []
    let game = try await MotionReplay.run(
      "sim:rotate?duration=5", every: 1.0 / 60, patience: 600,
      tick: { (game: GameInput) in spins.append(game.snapshot["spin"] ?? .nan) }
    ) {
      let game = GameInput()
      #expect(game.steering == nil)
      game.startSensors()
      return game
    }
    // The scene's last sample is at 4.99 s; every look finds a reading, and they differ.
    #expect(spins.count == 299)
    #expect(!spins.contains { $0.isNaN } && Set(spins).count > 10)
    // Time stands still at the end of a replay.
    #expect(Set(game.snapshot.keys) == ["spin", "field", "z"])
    game.calibrate()
    let steering = try #require(game.steering)
    #expect(abs(steering.pitch) < 1e-9 && abs(steering.roll) < 1e-9)
    game.stopSensors()
    #expect(game.snapshot.isEmpty && game.steering == nil)
  }

  @Test func compassFindsNorth() async throws {
    let headings = Log<Double>()
    let compass = try await MotionReplay.run("sim:rotate?duration=20") {
      let compass = Compass()
      compass.onHeading = { headings.add($0, nil) }
      compass.onError = { headings.add(nil, NSError(domain: "\($0)", code: 0)) }
      try compass.start(trueNorth: false)
      return compass
    }
    #expect(headings.values.count > 500)
    #expect(headings.errors.isEmpty)
    #expect(compass.accuracy != .uncalibrated)
    #expect(!compass.isRunningTrueNorth)
    await #expect(throws: CompassError.self) {
      try await MotionReplay.run("sim:rotate?duration=1&sensors=accel,gyro") { try Compass().start(trueNorth: false) }
    }
  }

  @Test func stepsAreShown() async throws {
    let model = try await MotionReplay.run("sim:walk?steps=30") {
      let model = StepsModel()
      #expect(model.status == "ok")
      #expect(model.features == [false, true, false, true])
      model.start()
      return model
    }
    #expect(abs(model.steps - 30) <= 1)
    #expect(model.isPaused)
    #expect(model.lines.contains("floors +0 -0"))
    model.stop()
  }

  @Test func altitudeIsShownInHectopascals() async throws {
    let model = try await MotionReplay.run("sim:elevator?height=3") {
      let model = AltitudeModel()
      model.startAltimeter()
      return model
    }
    #expect(abs(model.altitude.doubleValue - 3) < 0.3)
    #expect((900..<1100).contains(model.hectopascals))
    #expect(model.seaLevel == nil)
    model.stopAltimeter()
  }

  @Test func activitiesAreNamed() async throws {
    let names = Log<String>()
    let model = try await MotionReplay.run("sim:walk?steps=60") {
      let model = ActivityModel()
      model.start { names.add($0, nil) }
      return model
    }
    #expect(names.values.first == "unknown low")
    #expect(names.values.contains { $0.hasPrefix("walking") })
    model.stop()
  }

  @Test func mocksBySubclassingWork() {
    let manager = MockMotionManager()
    let detector = ShakeDetector(manager: manager)
    detector.beginDetecting()
    manager.send(x: 0, y: 0, z: -3)
    manager.fail(CMErrorNotAvailable)
    #expect(detector.count == 1)
    #expect(manager.isDeviceMotionAvailable && manager.isAccelerometerActive)
    manager.deviceMotion = MockDeviceMotion()
    #expect(manager.deviceMotion?.attitude.pitch == 0.5)
    #expect(manager.deviceMotion?.magneticField.accuracy == .high)
    detector.endDetecting()
    #expect(!manager.isAccelerometerActive)
    let pedometer = MockPedometer()
    #expect(MockPedometer.isStepCountingAvailable())
    pedometer.startUpdates(from: Date()) { data, _ in
      #expect(data?.numberOfSteps == 1234 && data?.distance?.doubleValue == 900.5)
    }
    #expect(MockActivity().walking && MockActivity().confidence == .high)
    let providing: MotionProviding = manager
    providing.accelerometerUpdateInterval = 0.2
    #expect(manager.accelerometerUpdateInterval == 0.2)
  }

  @Test func extensionsWork() throws {
    #expect(CMAcceleration(x: 3, y: 4, z: 0).magnitude == 5)
    #expect(CMRotationMatrix.identity.columns[1] == [0, 1, 0])
    #expect(describe(CMError(102)) == "true north" && describe(CMError(7)) == "code 7")
    #expect(isNotAuthorised(NSError(domain: CMErrorDomain, code: 111)))
    let json = try JSONEncoder().encode(CMQuaternion(x: 1, y: 2, z: 3, w: 4))
    #expect(try JSONDecoder().decode(CMQuaternion.self, from: json).w == 4)
    #expect(orientation(of: CMAcceleration(x: 0, y: -1, z: 0)) == "portrait")
    #expect(CameraPose(CMAttitude()).view == [1, 0, 0, 0, 1, 0, 0, 0, 1])
    #expect(CMDeviceMotion().csv.hasPrefix("0.000000,"))
  }

  @Test func asynchronousWrappersWork() async throws {
    let source = SharedSource(try openSource("sim:still?duration=10", pacing: .unpaced))
    let rows = try await SharedSource.$override.withValue(source) { try await TiltLogger().log(count: 20) }
    #expect(rows.count == 20)
    let level = try await MotionReplay.run("sim:still?duration=3") {
      let level = BubbleLevel()
      await level.start()
      return level
    }
    let bubble = await level.bubble
    #expect(abs(bubble.x) < 0.1 && abs(bubble.y) < 0.1)
  }

  @Test func batchesAreCounted() async throws {
    let source = SharedSource(opening: "sim:still?duration=5", pacing: .unpaced)
    let workout = SharedSource.$override.withValue(source) { Workout() }
    let total = try await workout.countSamples(batches: 2)
    #expect(total.accelerometer == 200)
  }
}
