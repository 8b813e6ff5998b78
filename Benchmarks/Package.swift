// swift-tools-version: 6.0
// The programs that Benchmarks/score, speed, simulate and recording run. A package of its own: not part of the product.
import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "MotionKitLinux", path: "..")],
  targets: [
    .executableTarget(
      name: "score-pipeline", dependencies: [.product(name: "SensorFusion", package: "MotionKitLinux")]),
    .executableTarget(
      name: "time-filter", dependencies: [.product(name: "SensorFusion", package: "MotionKitLinux")]),
    .executableTarget(
      name: "time-recording",
      dependencies: [
        .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
    .executableTarget(
      name: "time-history",
      dependencies: [
        .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
    .executableTarget(
      name: "time-steps",
      dependencies: [
        .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
    .executableTarget(
      name: "time-delivery",
      dependencies: [
        .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
    // libiio's own decoding, for time-decode.
    .target(name: "CDecodePeer", linkerSettings: [.linkedLibrary("iio")]),
    // Looks inside MotionKitLinux: built with -enable-testing (Benchmarks/capture does).
    .executableTarget(
      name: "time-decode",
      dependencies: [
        "CDecodePeer", .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
    .executableTarget(
      name: "time-capture",
      dependencies: [
        .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
    .executableTarget(
      name: "simulate-sets",
      dependencies: [
        .product(name: "MotionKitLinux", package: "MotionKitLinux"),
        .product(name: "SensorFusion", package: "MotionKitLinux"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
