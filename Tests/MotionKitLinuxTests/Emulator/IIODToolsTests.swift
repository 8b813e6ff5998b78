import Foundation
import MotionKitLinux
import SensorFusion
import Testing

/// Debian's own programs against the emulator.
@Suite(.enabled(if: TestProgram.path("iio_info") != nil, "needs libiio-utils"))
struct IIODToolsTests {
  @Test func infoListsTheBoard() throws {
    let server = try IIODServer(board: EmulatorSupport.board())
    defer { server.stop() }
    server.deliver([EmulatorSupport.accelerometer(1020, -56, 9800, milliseconds: 10)])
    let result = try #require(TestProgram.run("iio_info", ["-u", "ip:127.0.0.1:\(server.port)"]))
    let text = String(decoding: result.output, as: UTF8.self)
    print(text, result.errors)
    #expect(result.status == 0)
  }
}
