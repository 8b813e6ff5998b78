// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap
// The matrix as a camera's view matrix: reference to device.
import CoreMotion

public struct CameraPose {
  public var view: [Double]
  public init(_ attitude: CMAttitude) {
    let r = attitude.rotationMatrix
    view = [r.m11, r.m12, r.m13, r.m21, r.m22, r.m23, r.m31, r.m32, r.m33]
  }

  public static func worldVector(_ v: CMAcceleration, _ r: CMRotationMatrix) -> CMAcceleration {
    CMAcceleration(
      x: r.m11 * v.x + r.m21 * v.y + r.m31 * v.z, y: r.m12 * v.x + r.m22 * v.y + r.m32 * v.z,
      z: r.m13 * v.x + r.m23 * v.y + r.m33 * v.z)
  }
}

public func orientation(of gravity: CMAcceleration) -> String {
  let angle = atan2(gravity.y, gravity.x)
  switch angle {
  case -2.25 ... -0.75: return "portrait"
  case -0.75...0.75: return "landscape right"
  case 0.75...2.25: return "upside down"
  default: return "landscape left"
  }
}
