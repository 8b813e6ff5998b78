// Entry of libFuzzer: Tests/fuzz builds this with -sanitize=fuzzer, runs it and says how. Which parser is fed is told
// by MOTIONKIT_FUZZ; what is fed, and what must hold, stands in FuzzTarget.swift of MotionKitLinuxTests.
import Glibc

private let target: FuzzTarget = {
  let name = getenv("MOTIONKIT_FUZZ").map { String(cString: $0) } ?? ""
  guard let target = FuzzTarget(rawValue: name) else {
    let known = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
    print("MOTIONKIT_FUZZ is '\(name)'; known: \(known)")
    exit(2)
  }
  return target
}()

/// One input, called by libFuzzer again and again. Ends the process where a promise is broken, so that libFuzzer keeps
/// the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try target.feed(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch { preconditionFailure("\(error)") }
  return 0
}
