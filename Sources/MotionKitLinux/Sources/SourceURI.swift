import SensorFusion

/// The name of a source, taken apart.
///
/// | form | source |
/// |---|---|
/// | `local:` | this machine's IIO devices |
/// | `ip:HOST[:PORT]` | an iiod on the network (port 30431 by default) |
/// | `usb:[BUS.DEVICE.INTERFACE]` | a libiio device on USB |
/// | `file:DIR` | a recorded session |
/// | `sim:SCENE[?key=value&…]` | a simulated scene, such as `sim:walk?seed=7` |
public enum SourceURI: Hashable, Sendable {
  /// A libiio context: the URI as libiio takes it.
  case iio(String)
  /// A recording: the session's directory.
  case recording(directory: String)
  /// A simulated scene and its settings.
  case simulation(scene: String, settings: [String: String])

  /// Reads a URI. Throws `MotionKitError.invalidSource` with what is wrong.
  public init(_ text: String) throws(MotionKitError) {
    guard let colon = text.firstIndex(of: ":") else {
      throw .invalidSource(uri: text, reason: "it has no scheme; use local:, ip:HOST, usb:, file:DIR or sim:SCENE")
    }
    let rest = String(text[text.index(after: colon)...])
    switch text[..<colon] {
    case "local", "usb":
      self = .iio(text)
    case "ip":
      guard !rest.isEmpty else { throw .invalidSource(uri: text, reason: "the host is missing: ip:HOST[:PORT]") }
      self = .iio(text)
    case "file":
      guard !rest.isEmpty else { throw .invalidSource(uri: text, reason: "the directory is missing: file:DIR") }
      self = .recording(directory: rest)
    case "sim":
      let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      guard let scene = parts.first, !scene.isEmpty else {
        throw .invalidSource(uri: text, reason: "the scene is missing: sim:SCENE, for example sim:walk")
      }
      var settings: [String: String] = [:]
      for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
        let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty else {
          throw .invalidSource(uri: text, reason: "'\(pair)' is not key=value")
        }
        guard settings.updateValue(String(sides[1]), forKey: String(sides[0])) == nil else {
          throw .invalidSource(uri: text, reason: "\(sides[0]) is given twice")
        }
      }
      self = .simulation(scene: String(scene), settings: settings)
    default:
      throw .invalidSource(
        uri: text, reason: "unknown scheme '\(text[..<colon]):'; use local:, ip:HOST, usb:, file:DIR or sim:SCENE")
    }
  }
}

/// How time passes in a source that is not live.
public enum Pacing: Hashable, Sendable {
  /// Samples come at this many times their own speed.
  case speed(Double)
  /// As fast as they are read.
  case unpaced

  /// The factors that `speed` may have: a thousandth, which nobody waits for, to a million, which is as good as unpaced.
  public static let speeds = 0.001...1_000_000.0
}

/// Opens a source by its URI.
///
/// - Parameters:
///   - uri: See `SourceURI`.
///   - pacing: For recordings and simulations; devices keep their own time.
/// - Returns: The source, opened and described, nothing switched on.
/// - Throws: `MotionKitError` that says what to do next.
public func openSource(_ uri: String, pacing: Pacing = .speed(1)) throws(MotionKitError) -> any SensorSource {
  switch try SourceURI(uri) {
  case .iio(let uri):
    return try IIOSource(uri: uri)
  case .recording(let directory):
    return try RecordingSource(directory: directory, pacing: pacing)
  case .simulation:
    return try SimulationSource(uri: uri, pacing: pacing)
  }
}
