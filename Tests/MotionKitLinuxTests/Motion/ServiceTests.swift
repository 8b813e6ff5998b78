import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite struct ServiceTests {
  @Test func servicesAskForTheirSensorsOnly() {
    func demand(_ start: (SharedSource) -> Any) -> [SensorKind: Double] {
      let scripted = ScriptedSource()
      let source = SharedSource(scripted)
      let service = start(source)
      while scripted.requests.isEmpty {}
      withExtendedLifetime(service) {}
      return scripted.requests[0].rates
    }
    let motion = demand {
      let manager = MotionManager(source: $0)
      manager.deviceMotionUpdateInterval = 0.1
      manager.startDeviceMotionUpdates()
      return manager
    }
    #expect(motion == [.accelerometer: 100, .gyroscope: 100])
    let magnetic = demand {
      let manager = MotionManager(source: $0)
      manager.deviceMotionUpdateInterval = 0.005
      manager.startDeviceMotionUpdates(using: .magneticNorth)
      return manager
    }
    #expect(magnetic == [.accelerometer: 200, .gyroscope: 200, .magnetometer: 50])
    let altitude = demand {
      let altimeter = Altimeter(source: $0)
      altimeter.startRelativeAltitudeUpdates()
      return altimeter
    }
    #expect(altitude == [.barometer: 10, .accelerometer: 50])
    let steps = demand {
      let pedometer = Pedometer(source: $0)
      pedometer.startUpdates()
      return pedometer
    }
    #expect(steps == [.accelerometer: 100, .gyroscope: 100, .barometer: 10])
  }

  @Test func availabilityFollowsTheSensors() {
    let source = SharedSource(ScriptedSource(kinds: [.accelerometer]))
    #expect(Pedometer(source: source).isStepCountingAvailable)
    #expect(!Pedometer(source: source).isFloorCountingAvailable)
    #expect(!Altimeter(source: source).isRelativeAltitudeAvailable)
    #expect(MotionActivityManager(source: source).isActivityAvailable)
    #expect(!MotionManager(source: source).isDeviceMotionAvailable)
  }

  @Test func theFirstActivityIsTheOneAtTheStart() {
    let samples = (0..<10).map { SensorSample.numbered(.accelerometer, $0) }
    let source = SharedSource(ScriptedSource(isLive: false, samples: samples))
    let manager = MotionActivityManager(source: source)
    let collector = Collector<ActivityState>()
    manager.startActivityUpdates(to: .global()) { collector.add($0) }
    collector.wait(values: 1)
    #expect(collector.values[0].activity == .unknown)
  }

  @Test func managersOfATaskUseItsSource() async {
    let source = SharedSource(ScriptedSource(kinds: [.barometer]))
    SharedSource.$override.withValue(source) {
      #expect(Altimeter().source === source)
      #expect(Altimeter().isRelativeAltitudeAvailable)
    }
    #expect(Altimeter().source !== source)
  }

  @Test func oneNameIsOneSource() {
    let first = SharedSource.named("sim:still?test=1")
    #expect(SharedSource.named("sim:still?test=1") === first)
    #expect(SharedSource.named("sim:still?test=1", pacing: .unpaced) !== first)
  }

  @Test func paceComesFromAWord() {
    #expect(SharedSource.pacing(fromSpeed: "max") == .unpaced)
    #expect(SharedSource.pacing(fromSpeed: "10") == .speed(10))
    for wrong in ["-1", "0", "often", "nan", "inf", "1e9"] { #expect(SharedSource.pacing(fromSpeed: wrong) == nil) }
  }

  @Test(arguments: [
    ("MOTIONKIT_SEA_LEVEL_KPA", "1013"), ("MOTIONKIT_SEA_LEVEL_KPA", "high"), ("MOTIONKIT_START_ALTITUDE_M", "up"),
  ])
  func aReferenceOfAltitudeThatMakesNoSenseIsNamed(name: String, value: String) {
    let variable: (String) -> String? = { $0 == name ? value : $0 == "MOTIONKIT_START_ALTITUDE_M" ? "440" : nil }
    if name == "MOTIONKIT_SEA_LEVEL_KPA" { #expect(AltitudeReference.reference(fromEnvironment: variable) == nil) }
    #expect("\(AltitudeReference.problem(inEnvironment: variable))".contains("\(name)=\(value)"))
    #expect("\(AltitudeReference.problem { _ in nil })".contains("MOTIONKIT_SEA_LEVEL_KPA"))
  }

  @Test(arguments: [
    ("MOTIONKIT_DECLINATION", "x"), ("MOTIONKIT_DECLINATION", "400"), ("MOTIONKIT_LOCATION", "foo"),
    ("MOTIONKIT_LOCATION", "148,11"),
  ])
  func aLocationThatMakesNoSenseIsNamed(name: String, value: String) {
    let variable: (String) -> String? = { $0 == name ? value : nil }
    #expect(MagneticDeclination.reference(fromEnvironment: variable) == nil)
    #expect(MagneticDeclination.problem(inEnvironment: variable).contains("\(name)=\(value)"))
    #expect(MagneticDeclination.problem { _ in nil } == MagneticDeclination.missing)
  }

  @Test func aHeightThatMakesNoSenseIsNamed() {
    let variable: (String) -> String? = { $0 == "MOTIONKIT_HEIGHT_M" ? "180" : nil }
    let walker = Walker.walker(fromEnvironment: variable)
    #expect(!walker.givesDistance)
    #expect("\(String(describing: walker.problem(inEnvironment: variable)))".contains("MOTIONKIT_HEIGHT_M=180"))
    #expect(Walker(height: 1.8).problem(inEnvironment: variable) == nil)
    #expect(walker.problem { _ in nil } == nil)
  }

  @Test func aPaceThatMakesNoSenseIsNamedByWhoeverStarts() {
    let failure = environmentProblem("MOTIONKIT_SPEED", "abc", "'max' or a factor")
    let manager = MotionManager(source: SharedSource(uri: "sim:walk", failure: failure))
    let collector = Collector<AccelerometerData>()
    manager.startAccelerometerUpdates(to: .global()) { collector.add($0) }
    collector.wait(errors: 1)
    #expect("\(collector.errors[0])".contains("MOTIONKIT_SPEED=abc"))
  }

  @Test func eventsOfTheSourceAreCounted() {
    let scripted = ScriptedSource()
    let source = SharedSource(scripted)
    let manager = MotionManager(source: source)
    let collector = Collector<AccelerometerData>()
    manager.startAccelerometerUpdates(to: .global()) { collector.add($0) }
    scripted.push(event: SourceEvent(time: Timestamp(nanoseconds: 0), name: "gap", detail: "0.3 s"))
    scripted.push([.numbered(.accelerometer, 0)])
    collector.wait(values: 1)
    while source.eventCounts["gap"] != 1 {}
  }

  @Test func aRunningSourceIsInterruptedOnlyWhereItIsWorthIt() {
    func restarts(_ from: [SensorKind: Double], _ to: [SensorKind: Double]) -> Bool {
      SharedSource.needsRestart(from: SensorRequest(rates: from), to: SensorRequest(rates: to))
    }
    #expect(!restarts([.accelerometer: 100], [.accelerometer: 100]))
    #expect(restarts([.accelerometer: 100], [.accelerometer: 200]))
    #expect(!restarts([.accelerometer: 100], [.accelerometer: 60]))
    #expect(restarts([.accelerometer: 100], [.accelerometer: 50]))
    #expect(restarts([.accelerometer: 100, .gyroscope: 100], [.accelerometer: 100]))
    #expect(restarts([.accelerometer: 0], [.accelerometer: 100]))
    #expect(!restarts([.accelerometer: 0], [.accelerometer: 0]))
    #expect(SharedSource.needsRestart(from: nil, to: SensorRequest(rates: [:])))
  }
}
