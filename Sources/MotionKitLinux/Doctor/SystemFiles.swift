import Glibc

/// The files by which a system tells of itself, below a root that tests replace by a directory of their own.
struct SystemFiles: Sendable {
  /// What stands before every path; empty for this machine.
  var root = ""
  /// Whether this process may use a file (`R_OK`, `W_OK`); the whole path is handed in.
  var mayUse: @Sendable (_ path: String, _ mode: Int32) -> Bool = { faccessat(AT_FDCWD, $0, $1, AT_EACCESS) == 0 }

  /// Owner, group and mode of a file.
  struct Status: Hashable, Sendable {
    var owner: UInt32
    var group: UInt32
    /// The nine permission bits.
    var mode: UInt32

    /// As `ls -l` would put it: `0660, owner 0, group 109`, with names where they are known.
    var text: String {
      let octal = String(mode & 0o777, radix: 8)
      let padded = String(repeating: "0", count: max(0, 4 - octal.count)) + octal
      return "mode \(padded), owner \(userName(owner)), group \(groupName(group))"
    }
  }

  func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

  /// The first line; empty where there is none.
  func line(_ path: String) -> String { firstLine(root + path).filter { $0 != "\0" } }

  /// All lines; none where it cannot be read.
  func lines(_ path: String) -> [Substring] {
    let file = open(root + path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  /// The names in a directory, in order; none where there is none.
  func names(_ path: String) -> [String] {
    guard let directory = opendir(root + path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { ($0.count, $0) < ($1.count, $1) }
  }

  func status(_ path: String) -> Status? {
    var status = stat()
    guard stat(root + path, &status) == 0 else { return nil }
    return Status(owner: status.st_uid, group: status.st_gid, mode: UInt32(status.st_mode))
  }

  func mayRead(_ path: String) -> Bool { mayUse(root + path, R_OK) }
  func mayWrite(_ path: String) -> Bool { mayUse(root + path, W_OK) }
  func mayOpen(_ path: String) -> Bool { mayUse(root + path, R_OK | W_OK) }

  /// Who has a file open; only what this user may see.
  func holders(_ path: String) -> [String] { MotionKitLinux.holders(ofFile: root + path) }
}

/// A user's name, or the number.
private func userName(_ id: UInt32) -> String {
  guard let entry = getpwuid(id), let name = entry.pointee.pw_name else { return "\(id)" }
  return String(cString: name)
}

/// A group's name, or the number.
private func groupName(_ id: UInt32) -> String {
  guard let entry = getgrgid(id), let name = entry.pointee.gr_name else { return "\(id)" }
  return String(cString: name)
}

/// What the kernel can load, by the lists that depmod makes.
struct KernelModules {
  private let files: SystemFiles
  private let directory: String
  /// Names with `_`, as /proc/modules has them.
  let loaded: Set<String>
  /// Module names with the file of each, relative to the directory.
  private let paths: [String: String]
  private let builtIn: Set<String>

  init(_ files: SystemFiles) {
    self.files = files
    directory = "/lib/modules/" + files.line("/proc/sys/kernel/osrelease")
    loaded = Set(files.lines("/proc/modules").compactMap { $0.split(separator: " ").first.map { String($0) } })
    var paths: [String: String] = [:]
    for line in files.lines(directory + "/modules.dep") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      paths[Self.name(ofFile: line[..<colon])] = String(line[..<colon])
    }
    self.paths = paths
    builtIn = Set(files.lines(directory + "/modules.builtin").map { Self.name(ofFile: $0) })
  }

  /// `kernel/drivers/iio/accel/bmc150-accel-i2c.ko.xz` is `bmc150_accel_i2c`.
  private static func name(ofFile path: Substring) -> String {
    let file = path.split(separator: "/").last ?? path
    return String((file.split(separator: ".").first ?? file).map { $0 == "-" ? "_" : $0 })
  }

  /// Whether depmod's lists are there at all; without them nothing is said of modules.
  var isKnown: Bool { !paths.isEmpty || !builtIn.isEmpty }

  func isBuiltIn(_ name: String) -> Bool { builtIn.contains(name) || files.exists("/sys/module/\(name)") }
  func isPresent(_ name: String) -> Bool { loaded.contains(name) || isBuiltIn(name) }
  func canBeLoaded(_ name: String) -> Bool { paths[name] != nil }

  /// The motion or sensor-hub drivers for devices without one, by their `modalias`: the first module that fits.
  func sensorDrivers(for modaliases: [String]) -> [String: String] {
    guard !modaliases.isEmpty else { return [:] }
    var found: [String: String] = [:]
    for line in files.lines(directory + "/modules.alias") {
      let words = line.split(separator: " ")
      guard words.count == 3, words[0] == "alias" else { continue }
      let module = words[2].map { $0 == "-" ? "_" : String($0) }.joined()
      guard let path = paths[module], path.contains("/iio/") || path.contains("hid-sensor-hub") else { continue }
      let pattern = String(words[1])
      for modalias in modaliases where found[modalias] == nil && fnmatch(pattern, modalias, 0) == 0 {
        found[modalias] = module
      }
    }
    return found
  }
}
