import MotionKitLinux

/// `record --fused`: what chips and hubs compute by themselves, in files beside the session's own.
final class FusedRecording {
  let capture: FusedCapture
  private let files: FusedFiles

  /// Looks for such devices at the source of a recording.
  init(_ settings: RunSettings, to directory: String, _ context: inout Context) throws {
    guard case .iio(let uri) = try SourceURI(settings.source) else {
      throw UsageError.conflict("option --fused is for devices; \(settings.source) has none")
    }
    capture = try FusedCapture(uri: uri, rate: settings.commonRate ?? 0)
    files = FusedFiles(directory: directory)
    for note in capture.notes { context.console.detail(note) }
    if capture.devices.isEmpty {
      context.console.warning("no device here computes anything by itself; --fused adds nothing")
    }
    for device in capture.devices { context.console.note("\(device.kind.words) from \(device.title)") }
  }

  /// Writes what has come; returns what the user should know.
  func keep() throws -> [String] {
    let (samples, dropped, losses) = capture.take()
    if !samples.isEmpty { try files.write(samples) }
    return losses + (dropped > 0 ? ["\(dropped) fused values were not written"] : [])
  }

  /// Ends it; returns what was recorded, a line.
  func finish() throws -> [String] {
    capture.stop()
    let lines = try keep()
    let rows = FusedKind.allCases.compactMap { kind in files.rows[kind].map { "\($0) rows of \(kind.fileName)" } }
    return lines + (rows.isEmpty ? [] : [rows.joined(separator: ", ")])
  }
}
