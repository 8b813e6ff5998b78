// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
// What people add to the types.
import CoreMotion
import Foundation

extension CMAcceleration {
  public var magnitude: Double { sqrt(x * x + y * y + z * z) }
  public static func + (a: CMAcceleration, b: CMAcceleration) -> CMAcceleration {
    CMAcceleration(x: a.x + b.x, y: a.y + b.y, z: a.z + b.z)
  }
}

extension CMAcceleration: Equatable {
  public static func == (a: CMAcceleration, b: CMAcceleration) -> Bool { a.x == b.x && a.y == b.y && a.z == b.z }
}

extension CMQuaternion: Codable {
  enum Keys: CodingKey { case x, y, z, w }
  public init(from decoder: Decoder) throws {
    let values = try decoder.container(keyedBy: Keys.self)
    self.init(
      x: try values.decode(Double.self, forKey: .x), y: try values.decode(Double.self, forKey: .y),
      z: try values.decode(Double.self, forKey: .z), w: try values.decode(Double.self, forKey: .w))
  }
  public func encode(to encoder: Encoder) throws {
    var values = encoder.container(keyedBy: Keys.self)
    try values.encode(x, forKey: .x)
    try values.encode(y, forKey: .y)
    try values.encode(z, forKey: .z)
    try values.encode(w, forKey: .w)
  }
}

extension CMRotationMatrix {
  public var columns: [[Double]] { [[m11, m21, m31], [m12, m22, m32], [m13, m23, m33]] }
  public static var identity: CMRotationMatrix {
    var m = CMRotationMatrix()
    m.m11 = 1
    m.m22 = 1
    m.m33 = 1
    return m
  }
}

extension CMSensorDataList: Sequence {
  public typealias Iterator = NSFastEnumerationIterator
  public func makeIterator() -> NSFastEnumerationIterator {
    return NSFastEnumerationIterator(self)
  }
}

extension CMDeviceMotion {
  public var csv: String {
    String(
      format: "%.6f,%.4f,%.4f,%.4f", timestamp, userAcceleration.x + gravity.x, rotationRate.y, attitude.quaternion.w)
  }
}

extension CMLogItem {
  public var date: Date { Date(timeIntervalSinceNow: timestamp - ProcessInfo.processInfo.systemUptime) }
}

public func describe(_ error: CMError) -> String {
  switch error {
  case CMErrorNULL: return "none"
  case CMErrorDeviceRequiresMovement: return "move"
  case CMErrorTrueNorthNotAvailable: return "true north"
  case CMErrorUnknown: return "unknown"
  case CMErrorMotionActivityNotAvailable, CMErrorMotionActivityNotAuthorized, CMErrorMotionActivityNotEntitled:
    return "activity"
  case CMErrorInvalidParameter, CMErrorInvalidAction: return "invalid"
  case CMErrorNotAvailable, CMErrorNotEntitled, CMErrorNotAuthorized: return "not"
  case CMErrorNilData, CMErrorSize: return "data"
  default: return "code \(error.rawValue)"
  }
}

public func isNotAuthorised(_ error: Error?) -> Bool {
  guard let error = error else { return false }
  return (error as NSError).domain == CMErrorDomain
    && CMError(rawValue: UInt32((error as NSError).code)) == CMErrorNotAuthorized
}

public let frames: [CMAttitudeReferenceFrame] = [
  .xArbitraryZVertical, .xArbitraryCorrectedZVertical, .xMagneticNorthZVertical, .xTrueNorthZVertical,
]

public func bestFrame() -> CMAttitudeReferenceFrame {
  let available = CMMotionManager.availableAttitudeReferenceFrames()
  return frames.last { available.contains($0) } ?? []
}
