import Foundation
import MotionKitLinux
import SensorFusion
import Testing

@testable import motionlog

/// Sensors that are lost while a run goes on: said at once, and at the end.
@Suite struct LossTests {
  private func watch(_ uri: String) -> LossWatch {
    LossWatch(SourceDescription(uri: uri, sensors: [], isLive: true))
  }

  private func event(_ name: String, _ detail: String, at seconds: Double = 1) -> SourceEvent {
    SourceEvent(time: Timestamp(seconds: seconds), name: name, detail: detail)
  }

  @Test func aLossIsSaidAndStaysUntilTheDeviceIsFound() {
    var watch = watch("ip:board")
    let said = watch.take([
      event("lost", "accel_3d (iio:device0): cannot read samples"), event("lost", "gyro_3d (iio:device1) is not there"),
      event("gap", "gyroscope: 1 missing"), event("mark", "mark 1"),
    ])
    #expect(
      said == [
        "accel_3d (iio:device0) lost: cannot read samples; trying to take it back",
        "gyro_3d (iio:device1) lost: is not there; trying to take it back",
      ])
    #expect(watch.names == "accel_3d (iio:device0), gyro_3d (iio:device1)")
    #expect(watch.failure?.message.contains("accel_3d (iio:device0), gyro_3d (iio:device1)") == true)
    #expect(
      watch.take([event("found", "gyro_3d (iio:device1): it delivers again")])
        == ["gyro_3d (iio:device1) found: it delivers again"])
    #expect(watch.names == "accel_3d (iio:device0)")
    _ = watch.take([event("found", "accel_3d (iio:device0): it delivers again")])
    #expect(watch.failure == nil)
  }

  @Test func whatComesWithEveryBatchIsSaidOnceASecond() {
    var watch = watch("local:")
    let overruns = (0..<30).map { event("overrun", "accel_3d: 5 samples dropped", at: 1 + Double($0) * 0.1) }
    #expect(overruns.flatMap { watch.take([$0]) }.count == 3)
  }

  @Test func whatWentMissingIsCounted() {
    var watch = watch("ip:board")
    #expect(watch.words == nil)
    _ = watch.take([event("mark", "mark 1"), event("found", "gyro_3d (iio:device1): it delivers again")])
    #expect(watch.words == nil)
    for name in ["gap", "late", "overrun", "gap"] { _ = watch.take([event(name, "gyroscope: 1")]) }
    #expect(watch.words == "2 gap events, 1 overrun event, 1 late event")
  }

  @Test func recordedLossesAreOver() {
    var watch = watch("file:walk")
    _ = watch.take([event("gap", "gyroscope: 1 missing")])
    #expect(watch.words == nil)
    #expect(watch.take([event("lost", "accel_3d (iio:device0): cannot read samples")]) == [])
    #expect(watch.failure == nil)
  }

  @Test(.timeLimit(.minutes(1))) func aServerThatDiesIsAFailureThatNamesTheSensors() throws {
    let directory = try TemporaryDirectory()
    let outcome = try BuiltProgram.shell(
      """
      cd '\(directory.path)'
      $MOTIONLOG emulate walk --port 0 -q >address & server=$!
      until [ -s address ]; do read -t 0.05 <> <(:); done
      $MOTIONLOG live -u $(cat address) --json -d 4s >live.json 2>live.error & live=$!
      $MOTIONLOG record walk -u $(cat address) -d 4s & record=$!
      until grep -q '"motion"' live.json && [ "$(wc -l 2>&- <walk/accelerometer.csv)" -gt 20 ]; do
        kill -0 $live && kill -0 $record || break
        read -t 0.05 <> <(:); done 2>&-
      kill -9 $server
      wait $record; status=$?
      wait $live; echo $? $(cat live.error) >live.outcome
      exit $status
      """)
    #expect(outcome.status == 1)
    for part in ["accel_3d (iio:device0) lost: ", "; trying to take it back", "lost and not back at the end: "] {
      #expect(outcome.error.contains(part), "\(outcome.error)")
    }
    let live = try String(contentsOfFile: directory("live.outcome"), encoding: .utf8)
    #expect(live.hasPrefix("1 "))
    #expect(live.contains("lost and not back at the end: "))
    // What came before is kept and ended in order.
    let info = try BuiltProgram.run(["info", directory("walk")])
    #expect(info.status == 0, "\(info.error)")
    #expect(info.output.contains("finished"))
  }
}
