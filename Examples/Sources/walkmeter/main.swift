// Prints each group of steps:  MOTIONKIT_SOURCE=sim:walk?steps=20 MOTIONKIT_SPEED=max swift run walkmeter
import MotionKitLinux

do {
  for try await walk in Pedometer(walker: Walker(height: 1.75)).updates() {
    let metres = walk.distance.map { ", about \(Int($0.rounded())) m" } ?? ""
    print("\(walk.numberOfSteps) steps\(metres)")
  }
} catch {
  print("walkmeter: \(error)")
}
