// swift-tools-version: 6.0
// Boards get their Swift from Debian 13 (swiftlang 6.0.3): no newer tools version, no newer language feature.
import PackageDescription

let package = Package(
  name: "MotionKitLinux",
  products: [
    .library(name: "SensorFusion", targets: ["SensorFusion"]),
    .library(name: "MotionKitLinux", targets: ["MotionKitLinux"]),
    .library(name: "CoreMotion", targets: ["CoreMotion"]),
    .executable(name: "motionlog", targets: ["motionlog"]),
  ],
  targets: [
    // System libraries: a module map, a pkg-config name, and a shim where a macro or varargs needs one.
    .systemLibrary(name: "CIIO", pkgConfig: "libiio", providers: [.apt(["libiio-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),

    // Pure values and algorithms: the standard library and libm, nothing else.
    .target(name: "SensorFusion", linkerSettings: [.linkedLibrary("m")]),
    // Sources, recordings, history and the Swift API for applications.
    .target(name: "MotionKitLinux", dependencies: ["SensorFusion", "CIIO", "CSQLite", "CJansson"]),
    // Apple's names over MotionKitLinux. The only module that imports Foundation.
    .target(name: "CoreMotion", dependencies: ["MotionKitLinux"]),
    .executableTarget(name: "motionlog", dependencies: ["MotionKitLinux", "SensorFusion"]),

    .testTarget(name: "SensorFusionTests", dependencies: ["SensorFusion"]),
    .testTarget(name: "MotionKitLinuxTests", dependencies: ["MotionKitLinux", "SensorFusion"]),
    .testTarget(name: "CoreMotionTests", dependencies: ["CoreMotion", "MotionKitLinux"]),
    .testTarget(name: "MotionlogTests", dependencies: ["MotionKitLinux", "SensorFusion"]),
    // Against real kernel drivers in a virtual machine; Tests/Lab/run starts it, elsewhere these are skipped.
    .testTarget(
      name: "LabTests", dependencies: ["MotionKitLinux", "SensorFusion"], path: "Tests/Lab",
      exclude: ["run", "iio-lab", "motion-lab.c", "LAB.md"]),
  ],
  swiftLanguageModes: [.v6]
)
