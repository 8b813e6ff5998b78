import SensorFusion
import Testing

/// The fusion part of public problem reports; the numbers are those of the cases.
@Suite struct FilterCaseTests {
  @Test func case01BurstDuplicateTimestamps() throws {
    let table = try CaseTable("01-burst-duplicate-timestamps.csv")
    // As recorded: repeated times are not used, the turn comes from the bursts' distance.
    var filter = ComplementaryFilter(.arbitrary)
    var used = 0
    for row in table.rows.indices where table.samples(row).map({ filter.update($0) }).last == true { used += 1 }
    #expect(used == 8)
    #expect(abs(filter.state.attitude.yaw - 0.14) < 0.001)
    // Spread back over the burst, as an importer does.
    filter = ComplementaryFilter(.arbitrary)
    for row in table.rows.indices {
      _ = filter.feed(5000 + 0.01 * Double(row), force: Vector3(0, 0, 9.80665), rate: Vector3(0, 0, 0.5))
    }
    #expect(abs(filter.state.attitude.yaw - 0.155) < 0.001)
  }

  @Test func case34NanAndBlankCells() throws {
    let table = try CaseTable("34-nan-and-blank-cells.csv")
    var filter = ComplementaryFilter(.arbitrary)
    let states = outputs(&filter, table)
    #expect(states.count == 19)
    #expect(states.allSatisfy { $0.isFinite })
    let last = try #require(states.last)
    #expect(angle(last.gravity, Vector3(0, 0, 1)) < 0.002)
    #expect(angle(last.attitude, .identity) < 0.002)

    var pipeline = MotionPipeline()
    for row in table.rows.indices { for sample in table.samples(row) { _ = pipeline.process(sample) } }
    #expect(pipeline.counters.nonFinite == 2)
  }

  @Test func case44UpsideDownStart() throws {
    var filter = ComplementaryFilter(.arbitrary)
    let states = outputs(&filter, try CaseTable("44-upside-down-start.csv"))
    #expect(states.count == 100)
    for state in states {
      #expect(state.isFinite)
      // m/s², specific force: gravity in Core Motion's sign is (0, 0, +1) g.
      #expect((state.gravity - Vector3(0, 0, -standardGravity)).norm < 0.01 * standardGravity)
      #expect(state.userAcceleration.norm < 0.02 * standardGravity)
    }
  }

  @Test func case45SlowYawAtStart() throws {
    var filter = ComplementaryFilter(.magneticNorth)
    let states = outputs(&filter, try CaseTable("45-slow-yaw-at-start.csv"))
    let first = try #require(states.first)
    #expect(states.count > 80)
    #expect(abs(abs(first.attitude.yaw) - .pi) < 0.02)
    for state in states {
      #expect(abs(wrapped(state.attitude.yaw - first.attitude.yaw)) < 0.01)
      #expect(!state.flags.contains(.noHeading))
    }
  }

  @Test func case47MotorCurrentField() throws {
    let table = try CaseTable("47-motor-current-field.csv")
    var filter = ComplementaryFilter(.magneticNorth)
    var yaws: [Double] = []
    var disturbed: [Double] = []
    for row in table.rows.indices {
      let t = table.value(row, "t_s")
      let field = Vector3(table.value(row, "mx"), table.value(row, "my"), table.value(row, "mz"))
      // The rest of the board: still, level, 100 Hz.
      for step in 0..<50 {
        let isLast = step == 0
        if let state = filter.feed(
          t + 0.01 * Double(step), force: Vector3(0, 0, 9.80665), rate: .zero, field: isLast ? field : nil)
        {
          yaws.append(state.attitude.yaw)
          if state.flags.contains(.magneticDisturbance) { disturbed.append(state.time.seconds) }
        }
      }
    }
    let first = try #require(yaws.first)
    #expect(yaws.allSatisfy { abs(wrapped($0 - first)) < 2 * degree })
    // Driving is from 10 s to 20 s.
    #expect(Double(disturbed.filter { $0 >= 10 && $0 < 20.5 }.count) >= 0.8 * 1000)
    #expect(disturbed.allSatisfy { $0 >= 10 && $0 < 21 })
  }

  @Test func case48MagnetometerUnusedWhenUncalibrated() throws {
    let table = try CaseTable("48-mag-unused-when-uncalibrated.csv")
    var magnetic = ComplementaryFilter(.magneticNorth)
    let withField = outputs(&magnetic, table)
    let first = try #require(withField.first)
    #expect(withField.allSatisfy { abs(wrapped($0.attitude.yaw - first.attitude.yaw)) < 2 * degree })

    var arbitrary = ComplementaryFilter(.arbitrary)
    let without = outputs(&arbitrary, table)
    #expect(without.count == 600)
    #expect(without.allSatisfy { abs($0.attitude.yaw) < 3 * degree })
    #expect(without.allSatisfy { $0.flags.contains(.noHeading) && $0.headingSigma == .infinity })
  }

  @Test func case49GimbalLockAt90() throws {
    var filter = ComplementaryFilter(.arbitrary)
    let states = outputs(&filter, try CaseTable("49-gimbal-lock-at-90.csv"))
    for (a, b) in zip(states, states.dropFirst()) {
      #expect(abs(angle(a.attitude, b.attitude) - 1 * degree) < 0.3 * degree)
    }
    #expect(states.allSatisfy { $0.isFinite && $0.userAcceleration.norm < 0.05 * standardGravity })
  }

  @Test func case51GyroSaturation() throws {
    let table = try CaseTable("51-gyro-saturation.csv")
    var filter = ComplementaryFilter(.arbitrary) { $0.gyroscopeRange = 2000 * degree }
    let states = outputs(&filter, table)
    #expect(states.filter { $0.flags.contains(.gyroscopeClipped) }.count == 20)
    // Row 30 is at 0.3 s.
    let settled = states.filter { $0.time.seconds >= 0.6 - 1e-9 || $0.time == states.last?.time }
    #expect(settled.count >= 1)
    for state in settled { #expect(angle(state.gravity, Vector3(0, 0, 1)) < 2 * degree) }
    // Heading is more uncertain than before: the turn about x is not the only one that was missed.
    #expect(states.allSatisfy { $0.isFinite })
  }

  @Test func case53GyroBiasAtRest() throws {
    var filter = ComplementaryFilter(.arbitrary) { $0.initialBiasSigma = 2 * degree }
    let states = outputs(&filter, try CaseTable("53-gyro-bias-at-rest.csv"))
    let last = try #require(states.last)
    let error = last.gyroscopeBias - Vector3(0.021, -0.013, 0.0087)
    #expect(max(abs(error.x), abs(error.y), abs(error.z)) < 0.0015)
    let late = states.filter { $0.time.seconds >= 4 }
    let yaws = late.map(\.attitude.yaw)
    #expect((yaws.max() ?? .infinity) - (yaws.min() ?? 0) < 0.5 * degree)
    #expect(last.flags.contains(.atRest))
    #expect(last.biasSigma < 0.2 * degree)
  }

  /// pose | IIO sample m/s² | Core Motion value g; the signs of the last column are MotionKitLinux's to test.
  @Test func case56GravityFollowsThePose() throws {
    let poses = [
      Vector3(0, 0, 9.80665), Vector3(0, 0, -9.80665), Vector3(0, 9.80665, 0), Vector3(0, -9.80665, 0),
      Vector3(9.80665, 0, 0), Vector3(-9.80665, 0, 0),
    ]
    for pose in poses {
      var filter = ComplementaryFilter(.arbitrary)
      for step in 0..<50 { _ = filter.feed(0.01 * Double(step), force: pose, rate: .zero) }
      #expect((filter.state.gravity - pose).norm < 1e-4)
      #expect(abs(filter.state.attitude.yaw) < 1e-6)
    }
    var filter = ComplementaryFilter(.arbitrary)
    _ = filter.feed(0, force: Vector3(0, 0, 9.80665), rate: .zero)
    let output = filter.feed(0.01, force: Vector3(2, 0, 9.80665), rate: .zero)
    let pushed = try #require(output)
    // The kinematic acceleration, in the IIO sign.
    #expect(abs(pushed.userAcceleration.x - 2) < 0.01)
  }

  /// facing | yaw, x north and z up, counter-clockwise | compass heading.
  @Test(arguments: [(0.0, 0.0), (90.0, 270.0), (180.0, 180.0), (-90.0, 90.0)])
  func case58YawIsCounterClockwiseFromNorth(yaw: Double, heading: Double) throws {
    // A level device whose x axis points to the heading sees north at the angle of its heading to the left.
    let north = Vector3(20 * cosine(heading), 20 * sine(heading), -40)
    var filter = ComplementaryFilter(.magneticNorth)
    for step in 0..<50 {
      _ = filter.feed(0.01 * Double(step), force: Vector3(0, 0, 9.80665), rate: .zero, field: north)
    }
    #expect(abs(wrapped(filter.state.attitude.yaw - yaw * degree)) < 0.001)
    let x = filter.state.attitude.rotate(Vector3(1, 0, 0))
    #expect(abs(wrapped(Elementary.atan2(-x.y, x.x) - heading * degree)) < 0.001)
  }

  private func cosine(_ degrees: Double) -> Double { Elementary.cos(degrees * degree) }
  private func sine(_ degrees: Double) -> Double { Elementary.sin(degrees * degree) }

  @Test func case60FreeFallZeroVector() throws {
    var filter = ComplementaryFilter(.arbitrary)
    let states = outputs(&filter, try CaseTable("60-free-fall-zero-vector.csv"))
    #expect(states.count == 30)
    for state in states {
      #expect(state.isFinite)
      #expect(angle(state.attitude, .identity) < 0.01)
    }
    // In free fall the acceleration is that of gravity, downwards.
    let fall = states.first { $0.userAcceleration.norm > 5 }
    let falling = try #require(fall)
    #expect((falling.userAcceleration - Vector3(0, 0, -standardGravity)).norm < 0.1)
  }

  @Test func case74SmoothingStartsAtZero() throws {
    var filter = ComplementaryFilter(.arbitrary)
    let states = outputs(&filter, try CaseTable("74-smoothing-starts-at-zero.csv"))
    let first = try #require(states.first)
    // A turn by +30° about y shows gravity along -x.
    #expect(abs(Elementary.atan2(-first.gravity.x, first.gravity.z) - 30 * degree) < 0.5 * degree)
    #expect(states.count == 60)
    #expect(states.allSatisfy { $0.userAcceleration.norm < 0.01 * standardGravity })
  }
}
