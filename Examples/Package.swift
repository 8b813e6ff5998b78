// swift-tools-version: 6.0
// Small programs that use the package as an application does, and tests that replay sensors through them.
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "MotionKitLinux", path: "..")],
  targets: [
    // Written as for an iPhone: it imports CoreMotion and knows nothing of Linux.
    .target(
      name: "SpiritLevel", dependencies: [.product(name: "CoreMotion", package: "MotionKitLinux")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(name: "level", dependencies: ["SpiritLevel"], swiftSettings: [.swiftLanguageMode(.v5)]),
    // The Swift API of the package itself: no Foundation, values that are Sendable, loops instead of handlers.
    .executableTarget(
      name: "walkmeter",
      dependencies: [
        .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
    .testTarget(
      name: "SpiritLevelTests",
      dependencies: [
        "SpiritLevel", .product(name: "MotionTestSupport", package: "MotionKitLinux"),
        .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
  ]
)
