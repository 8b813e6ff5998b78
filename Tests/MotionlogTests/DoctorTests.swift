import Foundation
import SensorFusion
import Testing

@testable import MotionKitLinux
@testable import motionlog

/// `motionlog doctor`. What it finds is tested with `Diagnosis`.
@Suite struct DoctorTests {
  @Test func aHealthyBoardIsReportedLineByLine() throws {
    let outcome = try BuiltProgram.run(["doctor", "-u", "sim:still"])
    #expect(outcome.status == 0)
    #expect(outcome.error == "")
    #expect(outcome.lines.last == "Nothing is wrong.")
    #expect(outcome.lines.dropLast().allSatisfy { $0.hasPrefix("ok ") }, "\(outcome.output)")
    for word in ["connection", "rates", "values", "100 samples a second", "hPa"] {
      #expect(outcome.output.contains(word), "\(word)")
    }
  }

  @Test func programsGetOneObject() throws {
    let outcome = try BuiltProgram.run(["doctor", "-u", "sim:still", "--json", "--sensors", "accel,baro", "-d", "1s"])
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 1)
    let object = try #require(
      JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    #expect(object["level"] as? String == "good")
    let findings = try #require(object["findings"] as? [[String: Any]])
    #expect(findings.allSatisfy { ($0["fixes"] as? [String])?.isEmpty == true && $0["topic"] is String })
    let sensors = try #require(object["sensors"] as? [[String: Any]])
    #expect(sensors.map { $0["sensor"] as? String } == ["accelerometer", "barometer"])
    #expect((sensors.first?["rate_hz"] as? Double).map { abs($0 - 100) < 1 } == true)
  }

  @Test func whatIsWrongComesWithItsRemedyAndExitCode() throws {
    let nobody = try BuiltProgram.run(["doctor", "-u", "ip:127.0.0.1:1"])
    #expect(nobody.status == 3)
    #expect(nobody.output.contains("fault") && nobody.output.contains("→ ") && nobody.output.contains("1 fault."))
    #expect(try BuiltProgram.run(["doctor", "-u", "sim:nosuchscene"]).status == 3)
    #expect(try BuiltProgram.run(["doctor", "-u", "nonsense"]).status == 2)
    #expect(try BuiltProgram.run(["doctor", "here"]).status == 2)
  }

  @Test func theExitCodeTellsWhatIsWorst() {
    var diagnosis = Diagnosis(uri: "local:")
    #expect(DoctorCommand.exitCode(diagnosis) == .notFound)
    diagnosis.sensorCount = 1
    #expect(DoctorCommand.exitCode(diagnosis) == .done)
    diagnosis.findings = [Finding(.warning, .rates, "a", "slow", fixes: ["wait"])]
    #expect(DoctorCommand.exitCode(diagnosis) == .done)
    diagnosis.findings.append(Finding(.fault, .values, "a", "wrong"))
    #expect(DoctorCommand.exitCode(diagnosis) == .failed)
    diagnosis.findings.append(Finding(.fault, .permissions, "a", "closed"))
    #expect(DoctorCommand.exitCode(diagnosis) == .notPermitted)
    let lines = DoctorCommand.lines(diagnosis, Style(hasColor: false, isUnicode: false))
    #expect(lines.contains { $0.contains("-> wait") })
    #expect(lines.last == "2 faults, 1 warning.")
  }
}
