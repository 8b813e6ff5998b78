// Prints the tilt of the device:  MOTIONKIT_SOURCE=sim:rotate swift run level
import Foundation
import SpiritLevel

let level = SpiritLevel()
var printed = Date.distantPast
level.onChange = {
  guard Date().timeIntervalSince(printed) > 0.2 else { return }
  printed = Date()
  print(String(format: "%5.1f°", level.tilt))
}
level.start()
// Handlers on the main queue need a main run loop. A recording or a scene has an end, and the level then has a problem.
while level.problem == nil { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.5)) }
print(level.problem ?? "")
