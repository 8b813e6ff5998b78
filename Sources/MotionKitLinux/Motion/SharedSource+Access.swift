import Glibc

extension SharedSource {
  /// Whether this machine's IIO devices exist and this process may not open them (a missing udev rule or group).
  /// Sources other than `local:` answer false.
  public var isAccessDenied: Bool {
    guard uri == "local:" || uri.hasPrefix("local:") else { return false }
    return Self.isAccessDenied(inDirectory: "/dev")
  }

  static func isAccessDenied(inDirectory directory: String) -> Bool {
    guard let entries = opendir(directory) else { return false }
    defer { closedir(entries) }
    while let entry = readdir(entries) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasPrefix("iio:device") else { continue }
      if access("\(directory)/\(name)", R_OK) != 0, errno == EACCES { return true }
    }
    return false
  }
}
