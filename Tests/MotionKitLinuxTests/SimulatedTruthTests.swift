import MotionKitLinux
import SensorFusion
import Testing

/// Scenes with every kind of motion; each as (name, settings).
private let scenes: [(name: String, settings: [String: String])] = [
  ("still", ["roll": "150", "yaw": "20"]),
  ("rotate", ["axis": "all", "rate": "200", "lever": "0.3,0.1,0"]),
  ("rotate", ["rate": "30,-20,10", "pitch": "80"]),
  ("walk", ["placement": "held"]),
  ("walk", ["placement": "hand", "swing": "35", "steps": "20", "cadence": "2.3"]),
  ("walk", ["placement": "ear", "radius": "0", "heading": "120"]),
  ("walk", ["placement": "pocket", "asymmetry": "0.4"]),
  ("walk", ["placement": "lumbar", "strength": "2"]),
  ("stairs", ["floors": "-2"]),
  ("elevator", ["height": "20", "door": "0.02"]),
  ("drive", ["speed": "50"]),
  ("shake", ["frequency": "5"]),
  ("motion", ["rate": "200", "force": "8", "lever": "0.3", "length": "20", "pauses": "2"]),
  ("swing", ["force": "40"]),
  ("swing", ["angle": "0", "tilt": "20", "force": "50"]),
  ("gesture", ["kind": "stir"]),
  ("gesture", ["kind": "tap", "pitch": "30"]),
]

@Suite("Simulated truth")
struct SimulatedTruthTests {
  @Test("The accelerometer's truth is the second derivative of the position", arguments: scenes.indices)
  func accelerationIsTheDerivativeOfPosition(index: Int) throws {
    let scene = try SimulatedScene(scenes[index].name, settings: scenes[index].settings)
    // Central differences of order 4; the step balances truncation and rounding.
    let h = 1e-3
    for step in 0..<150 {
      let t = Double(step) * 0.0971 + 0.0123
      let p = [-2.0, -1, 0, 1, 2].map { scene.truth(at: t + $0 * h).position }
      let second = (p[1] * 16 + p[3] * 16 - p[0] - p[4] - p[2] * 30) * (1 / (12 * h * h))
      let first = (p[0] - p[1] * 8 + p[3] * 8 - p[4]) * (1 / (12 * h))
      let truth = scene.truth(at: t)
      #expect((truth.velocity - first).norm < 1e-5)
      #expect((truth.acceleration - second).norm < 2e-3 + 1e-5 * truth.acceleration.norm)
      let force = truth.attitude.rotate(truth.specificForce) - Vector3(0, 0, standardGravity)
      #expect((force - truth.acceleration).norm < 1e-12)
      #expect(abs(truth.attitude.squaredNorm - 1) < 1e-12)
    }
  }

  @Test("Integrating the rotation rate gives the attitude to 1e-6", arguments: scenes.indices)
  func rotationRateIntegratesToAttitude(index: Int) throws {
    let scene = try SimulatedScene(scenes[index].name, settings: scenes[index].settings)
    var q = scene.truth(at: 0).attitude
    let h = 1e-3
    for step in 0..<8000 {
      // Two-point Gauss-Legendre with the commutator: the fourth-order Magnus method.
      let t = Double(step) * h
      let a = scene.truth(at: t + h * (0.5 - 0.288_675_134_594_812_9)).rotationRate
      let b = scene.truth(at: t + h * (0.5 + 0.288_675_134_594_812_9)).rotationRate
      let turn = (a + b) * (h / 2) - b.cross(a) * (3.0.squareRoot() / 12 * h * h)
      let half = turn.norm / 2
      let sinc = half > 1e-12 ? Elementary.sin(half) / (2 * half) : 0.5
      q = q * Quaternion(w: Elementary.cos(half), x: turn.x * sinc, y: turn.y * sinc, z: turn.z * sinc)
    }
    #expect(angle(q, scene.truth(at: 8).attitude) < 1e-6)
  }

  @Test("Angular acceleration is the derivative of the rotation rate", arguments: scenes.indices)
  func angularAcceleration(index: Int) throws {
    let scene = try SimulatedScene(scenes[index].name, settings: scenes[index].settings)
    let h = 1e-5
    for step in 0..<100 {
      let t = Double(step) * 0.1427 + 0.0031
      let slope = (scene.truth(at: t + h).rotationRate - scene.truth(at: t - h).rotationRate) * (1 / (2 * h))
      #expect((scene.truth(at: t).angularAcceleration - slope).norm < 1e-3)
    }
  }

  @Test("The earth frame has x to magnetic north, y west and z up; signs are the IIO ABI's")
  func framesAndSigns() throws {
    let flat = try SimulatedScene("still").truth(at: 1)
    #expect(flat.specificForce == Vector3(0, 0, standardGravity))
    #expect(flat.magneticField.x > 0 && abs(flat.magneticField.y) < 1e-12 && flat.magneticField.z < 0)
    #expect(abs(flat.magneticField.norm - 48) < 1e-9)
    // Turned by 90 degrees counter-clockwise, x points west and the field's north part lies along -y.
    let west = try SimulatedScene("still", settings: ["yaw": "90"]).truth(at: 1)
    #expect((west.attitude.rotate(Vector3(1, 0, 0)) - Vector3(0, 1, 0)).norm < 1e-12)
    #expect(west.magneticField.y < -10 && abs(west.magneticField.x) < 1e-9)
    // Top edge up: gravity's reaction lies along +y. Right edge down: along -x.
    #expect(
      (try SimulatedScene("still", settings: ["pitch": "90"]).truth(at: 0).gravity.y - standardGravity).magnitude < 1e-9
    )
    #expect(
      (try SimulatedScene("still", settings: ["roll": "90"]).truth(at: 0).gravity.x + standardGravity).magnitude < 1e-9)
  }

  @Test("A turn about one axis has the rate and the angle that were asked for")
  func rotateTurns() throws {
    let scene = try SimulatedScene("rotate", settings: ["axis": "z", "rate": "90", "hold": "1"])
    let rate = scene.truth(at: 5).rotationRate
    #expect((rate - Vector3(0, 0, Double.pi / 2)).norm < 1e-12)
    // 0.5 s of spin-up cost a quarter of a second: after 1.25 s + 4 s it has turned once.
    #expect(angle(scene.truth(at: 5.25).attitude, scene.truth(at: 0).attitude) < 1e-9)
  }

  @Test("A lever turning at a steady rate feels the centripetal acceleration")
  func leverArm() throws {
    let scene = try SimulatedScene("rotate", settings: ["axis": "z", "rate": "720", "lever": "0.5,0,0"])
    let truth = scene.truth(at: 6)
    let omega = 4 * Double.pi
    #expect((truth.userAcceleration - Vector3(-omega * omega * 0.5, 0, 0)).norm < 1e-9)
  }

  @Test("A walk of 100 steps has 100 steps, evenly spaced, inside the walk")
  func hundredSteps() throws {
    for placement in ["held", "hand", "ear", "pocket", "lumbar"] {
      let scene = try SimulatedScene("walk", settings: ["steps": "100", "placement": placement])
      let times = scene.stepTimes(until: .infinity)
      #expect(times.count == 100)
      #expect(try #require(times.first) > 3)
      #expect(try #require(times.last) < scene.duration - 3)
      let intervals = zip(times.dropFirst(), times).map { $0 - $1 }
      // Walking at 1.8 steps a second with 2 % rms of change; the first and the last steps are slower.
      #expect(intervals.dropFirst(2).dropLast(2).allSatisfy { abs($0 - 1 / 1.8) < 0.06 })
      #expect(intervals.allSatisfy { $0 > 0 })
      // It begins and ends at rest, a step's length times the steps further along the circle.
      for end in [0, scene.duration - 1] {
        #expect(scene.truth(at: end).userAcceleration.norm < 1e-9)
        #expect(scene.truth(at: end).rotationRate.norm < 1e-9)
      }
      #expect(scene.stepTime(100) == nil && scene.stepTime(-1) == nil)
    }
  }

  @Test("Stairs lead up as many floors as asked")
  func stairs() throws {
    for (floors, height) in [(2, 6.0), (-3, -9.0)] {
      let scene = try SimulatedScene("stairs", settings: ["floors": "\(floors)"])
      let climbed = scene.truth(at: scene.duration).altitude - scene.truth(at: 0).altitude
      #expect(abs(climbed - height) < 1e-9)
      #expect(scene.stepTimes(until: .infinity).count == 4 + abs(floors) * 22)
    }
  }

  @Test("A lift of 3 m is 3 m by the barometric formula")
  func elevator() throws {
    let scene = try SimulatedScene("elevator")
    // The inverse of the standard atmosphere, written out on its own.
    func height(_ pressure: Double) -> Double {
      288.15 / 0.0065 * (1 - Elementary.exp(Elementary.log(pressure / 101.325) / 5.255_88))
    }
    let rise = height(scene.truth(at: scene.duration).pressure) - height(scene.truth(at: 0).pressure)
    #expect(abs(rise - 3) < 1e-6)
    #expect(abs(scene.truth(at: scene.duration).altitude - 3) < 1e-9)
    // Never faster or harder than asked.
    let truths = stride(from: 0, to: scene.duration, by: 0.01).map { scene.truth(at: $0) }
    #expect(truths.allSatisfy { $0.velocity.z <= 1 + 1e-9 && abs($0.acceleration.z) <= 0.9 + 1e-9 })
  }

  @Test("Doors pulse the pressure, not the altitude")
  func doorPulse() throws {
    let quiet = try SimulatedScene("elevator")
    let doors = try SimulatedScene("elevator", settings: ["door": "0.02"])
    let differences = stride(from: 0, to: quiet.duration, by: 0.01).map {
      doors.truth(at: $0).pressure - quiet.truth(at: $0).pressure
    }
    #expect(abs((differences.max() ?? 0) - 0.02) < 1e-4 && abs((differences.min() ?? 0) + 0.02) < 1e-4)
    #expect(differences.filter { abs($0) > 1e-9 }.count < 170)
  }

  @Test("Weather moves the pressure of a device that lies still")
  func weather() throws {
    let scene = try SimulatedScene("still", settings: ["weather": "-0.072"])
    #expect(abs(scene.truth(at: 3600).pressure - scene.truth(at: 0).pressure + 0.072) < 1e-12)
    #expect(scene.truth(at: 3600).altitude == scene.truth(at: 0).altitude)
  }

  @Test("Magnetic disturbances come and go")
  func disturbances() throws {
    let scene = try SimulatedScene("still", settings: ["disturbance": "30"])
    let clean = try SimulatedScene("still").truth(at: 0).magneticField
    let sizes = stride(from: 0, to: 40, by: 0.1).map { (scene.truth(at: $0).magneticField - clean).norm }
    #expect(sizes[0] == 0)
    #expect(abs(try #require(sizes.max()) - 30) < 1e-6)
    let disturbed = Double(sizes.filter { $0 > 1 }.count) / Double(sizes.count)
    #expect(disturbed > 0.2 && disturbed < 0.35)
  }
}
