import SensorFusion
import Testing

@testable import MotionKitLinux

/// A second at 100 Hz as other programs write it: lying flat, with a little of x and y that changes.
private struct Program: CustomTestStringConvertible, Sendable {
  var testDescription: String
  var header: String
  var sensors: [SensorKind] = [.accelerometer]
  /// A row; the time is in seconds, the force in m/s².
  var row: @Sendable (Double, Vector3) -> String
}

/// `7.25` as `00007.250`: a time of day's seconds need two digits.
private func seconds(_ time: Double) -> String {
  let milliseconds = Int((time * 1000).rounded())
  func padded(_ number: Int, _ width: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
  return padded(milliseconds / 1000, 2) + "." + padded(milliseconds % 1000, 3)
}

private let programs: [Program] = [
  Program(testDescription: "Physics Toolbox, g-force meter", header: "time,gFx,gFy,gFz,TgF") {
    "\($0),\($1.x / standardGravity),\($1.y / standardGravity),\($1.z / standardGravity),1.0"
  },
  Program(testDescription: "Physics Toolbox, time of day", header: "time;gFx;gFy;gFz;TgF") {
    "23:59:\(seconds(50 + $0));\($1.x / standardGravity);\($1.y / standardGravity);\($1.z / standardGravity);1.0"
  },
  Program(
    testDescription: "Physics Toolbox, several sensors", header: "time,gFx,gFy,gFz,ax,ay,az,wx,wy,wz,p,Bx,By,Bz",
    sensors: [.accelerometer, .gyroscope, .magnetometer, .barometer]
  ) {
    "\($0),\($1.x / standardGravity),\($1.y / standardGravity),\($1.z / standardGravity),0.1,0.1,0.1,"
      + "0.1,0.2,0.3,1013.25,20,5,-40"
  },
  Program(
    testDescription: "AndroSensor, with a line for spreadsheets",
    header: "sep=;\nACCELEROMETER X (m/s²);ACCELEROMETER Y (m/s²);ACCELEROMETER Z (m/s²);Time since start in ms "
  ) { "\($1.x);\($1.y);\($1.z);\(Int(($0 * 1000).rounded()))" },
  Program(
    testDescription: "axes by word", header: "timestamp_ms,Acc X-axis (m/s2),Acc Y-axis (m/s2),Acc Z_value (m/s2)"
  ) {
    "\(Int(($0 * 1000).rounded())),\($1.x),\($1.y),\($1.z)"
  },
  Program(testDescription: "phyphox, commas", header: phyphox(",")) { "\($0),\($1.x),\($1.y),\($1.z)" },
  Program(testDescription: "phyphox, tabs", header: phyphox("\t")) { "\($0)\t\($1.x)\t\($1.y)\t\($1.z)" },
  Program(testDescription: "phyphox, semicolons and decimal commas", header: phyphox(";")) {
    "\($0);\($1.x);\($1.y);\($1.z)".replacing(".", with: ",")
  },
]

private func phyphox(_ separator: String) -> String {
  ["Time (s)", "Acceleration x (m/s^2)", "Acceleration y (m/s^2)", "Acceleration z (m/s^2)"].map { "\"\($0)\"" }
    .joined(separator: separator)
}

@Suite struct ImportProgramsTests {
  @Test(arguments: programs) fileprivate func aProgramsColumnsAreKnown(program: Program) throws {
    let directory = TemporaryDirectory()
    func force(_ index: Int) -> Vector3 { Vector3(0.25 * Double(index % 3), -0.5 * Double(index % 2), 9.75) }
    let rows = (0..<100).map { program.row(Double($0) / 100, force($0)) }
    writeFile(directory.file("log.csv"), program.header + "\n" + rows.joined(separator: "\n") + "\n")
    let report = try importLog([directory.file("log.csv")], to: directory.file("s"))
    #expect(report.sensors.map(\.kind) == program.sensors)
    let samples = try replay(directory.file("s")).samples.filter { $0.kind == .accelerometer }
    #expect(samples.count == 100)
    for (index, sample) in samples.enumerated() {
      #expect((sample.vector - force(index)).norm < 1e-5)
      #expect(abs(sample.time.seconds(since: samples[0].time) - Double(index) / 100) < 1e-6)
    }
  }
}
