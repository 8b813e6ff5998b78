// swift-tools-version: 6.0
// The programs that Benchmarks/score and Benchmarks/speed run. A package of its own: not part of the product.
import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "MotionKitLinux", path: "..")],
  targets: [
    .executableTarget(
      name: "score-pipeline", dependencies: [.product(name: "SensorFusion", package: "MotionKitLinux")])
  ],
  swiftLanguageModes: [.v6]
)
