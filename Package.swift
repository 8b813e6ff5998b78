// swift-tools-version: 6.0
// Boards get their Swift from Debian 13 (swiftlang 6.0.3): no newer tools version, no newer language feature.
import PackageDescription

let package = Package(
  name: "MotionKitLinux",
  products: [
    .library(name: "SensorFusion", targets: ["SensorFusion"]),
    .library(name: "MotionKitLinux", targets: ["MotionKitLinux"]),
    .library(name: "CoreMotion", targets: ["CoreMotion"]),
    .library(name: "MotionTestSupport", targets: ["MotionTestSupport"]),
    .executable(name: "motionlog", targets: ["motionlog"]),
  ],
  targets: [
    // System libraries: a module map, a pkg-config name, and a shim where a macro or varargs needs one.
    .systemLibrary(name: "CIIO", pkgConfig: "libiio", providers: [.apt(["libiio-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(name: "CMiniZip", pkgConfig: "minizip", providers: [.apt(["libminizip-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

    // Exact, locale-free decimal text for floating point (std::to_chars and fast_float, libfast-float-dev, header only).
    .target(name: "CNumberText"),

    // Pure values and algorithms: the standard library and libm, nothing else.
    .target(name: "SensorFusion", linkerSettings: [.linkedLibrary("m")]),
    // Sources, recordings, history and the Swift API for applications.
    .target(
      name: "MotionKitLinux",
      dependencies: ["SensorFusion", "CIIO", "CSQLite", "CJansson", "CMiniZip", "CZstd", "CNumberText"]),
    // Apple's names over MotionKitLinux. The only module that imports Foundation.
    // Its classes are not Sendable, as Apple's are not. Swift 5 mode (with the same checks) marks the module as one that
    // says nothing about it, so apps in Swift 5 mode get no warnings that they do not get on a phone.
    .target(
      name: "CoreMotion", dependencies: ["MotionKitLinux"],
      swiftSettings: [.swiftLanguageMode(.v5), .enableExperimentalFeature("StrictConcurrency")]),
    // For users' tests: runs their code on recordings and scenes.
    .target(name: "MotionTestSupport", dependencies: ["MotionKitLinux", "SensorFusion"]),
    .executableTarget(name: "motionlog", dependencies: ["MotionKitLinux", "SensorFusion"]),

    // Counts allocations, for tests of code that must make none.
    .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
    .testTarget(
      name: "SensorFusionTests", dependencies: ["SensorFusion", "CAllocationCounter"], exclude: ["Cases"]),
    // A process for tests to kill.
    .executableTarget(
      name: "HistoryWriter", dependencies: ["MotionKitLinux", "SensorFusion"], path: "Tests/Helpers/HistoryWriter"),
    .testTarget(
      name: "MotionKitLinuxTests",
      dependencies: ["MotionKitLinux", "SensorFusion", "CNumberText", "CAllocationCounter", "HistoryWriter"]),
    .testTarget(
      name: "CoreMotionTests", dependencies: ["CoreMotion", "MotionKitLinux", "MotionTestSupport", "PhoneCode"]),
    // Files as people write them for an iPhone, in Swift 5 mode: that they compile is the test.
    .target(
      name: "PhoneCode", dependencies: ["CoreMotion"], path: "Tests/PhoneCode",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "MotionlogTests", dependencies: ["motionlog", "MotionKitLinux", "SensorFusion"], exclude: ["Golden"]),
    // Against real kernel drivers in a virtual machine; Tests/Lab/run starts it, elsewhere these are skipped.
    .testTarget(
      name: "LabTests", dependencies: ["MotionKitLinux", "SensorFusion"], path: "Tests/Lab",
      exclude: ["run", "iio-lab", "motion-lab.c", "LAB.md"]),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)

// Parsers under libFuzzer, which brings its own `main`: built by Tests/fuzz only, from the file that the quick tests have
// their inputs of Tests/Corpus from; a file belongs to one target at a time.
if Context.environment["MOTIONKIT_FUZZ_BUILD"] != nil {
  package.targets.removeAll { $0.type == .test }
  package.targets.append(
    .executableTarget(
      name: "Fuzz", dependencies: ["MotionKitLinux", "SensorFusion"], path: "Tests",
      sources: ["Fuzz", "MotionKitLinuxTests/FuzzTarget.swift"]))
}

// The quick tests spend more than half of their time in the arithmetic of one module, unoptimised: `make test` has it
// optimised, with every check but the debugger's. Packages that depend on this one never see the flag.
if Context.environment["MOTIONKIT_OPTIMIZED_FUSION"] != nil {
  for target in package.targets where target.name == "SensorFusion" {
    target.swiftSettings = [.unsafeFlags(["-O"], .when(configuration: .debug))]
  }
}
