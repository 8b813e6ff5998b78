import Glibc

/// What was being done with libiio when it failed.
enum IIOOperation: String, Sendable {
  case openContext = "open the IIO context"
  case createBuffer = "create the buffer"
  case readAttribute = "read"
  case writeAttribute = "set"
  case refill = "read samples"
  case setTrigger = "set the trigger"
}

extension MotionKitError {
  /// The error for a failed libiio call.
  ///
  /// - Parameters:
  ///   - operation: What was tried.
  ///   - device: To which device, as a person knows it; for a context its URI.
  ///   - detail: The attribute or trigger concerned; may be empty.
  ///   - code: libiio's errno, positive or negative.
  ///   - triggers: Names to choose from.
  ///   - holders: Who has the device open.
  ///   - node: The device file concerned; empty for remote devices.
  ///   - seconds: How long nothing came; 0 where not known.
  /// - Returns: The error with what to do next.
  static func iio(
    _ operation: IIOOperation, device: String, detail: String = "", errno code: Int32,
    triggers: [String] = [], holders: [String] = [], node: String = "", seconds: Double = 0
  ) -> MotionKitError {
    let code = abs(code)
    if operation == .openContext, let error = unopened(uri: device, code) { return error }
    let what =
      "\(device): cannot \(operation.rawValue)\(detail.isEmpty ? "" : " \(detail)") (\(text(code)))"
    switch (operation, code) {
    case (_, EACCES):
      let place = node.isEmpty ? "the device" : node
      return .notPermitted(
        what: what,
        hint: "\(place) needs a group rule: add yourself to the group of packaging/60-motionkit.rules, or run as root")
    case (.setTrigger, EPERM):
      return .notPermitted(what: what, hint: "this device has a fixed trigger; leave it and choose none")
    case (_, EPERM):
      return .notPermitted(what: what, hint: "run as root, or install packaging/60-motionkit.rules")
    case (.createBuffer, EBUSY):
      let who = holders.isEmpty ? "another program (iiod? iio-sensor-proxy?)" : holders.joined(separator: ", ")
      return .busy(what: what, hint: "\(who) holds the buffer; stop it, or read through it with ip:HOST if it is iiod")
    case (.readAttribute, EBUSY):
      return .busy(what: what, hint: "a buffer is running on this device; polling is not possible until it stops")
    case (.writeAttribute, EBUSY), (.setTrigger, EBUSY):
      return .busy(what: what, hint: "a buffer is running on this device; stop the program that reads it first")
    case (.createBuffer, EINVAL):
      let choice =
        triggers.isEmpty
        ? "none exists: create one (see docs/IIO.md)" : "choose one of: \(triggers.joined(separator: ", "))"
      return .device(
        what: what, errno: code,
        hint:
          "no trigger is set or the channels cannot be read together; triggers: \(choice); or poll with --trigger none")
    case (.createBuffer, ENOSYS), (.createBuffer, ENOENT):
      return .unsupported(what: what, hint: "this device has no buffer; its attributes are polled instead")
    case (.refill, ENODEV), (.readAttribute, ENODEV), (.createBuffer, ENODEV):
      return .device(what: what, errno: code, hint: "the sensor disappeared; waiting for it to return")
    case (.refill, ETIMEDOUT):
      let time = seconds > 0 ? "no sample for \(seconds) s" : "no sample in time"
      return .device(what: what, errno: code, hint: "\(time): is the trigger firing? It is tried again")
    case (.refill, EPIPE), (.refill, ECONNRESET), (.refill, EBADF), (_, ECONNREFUSED), (_, EHOSTUNREACH):
      return .device(what: what, errno: code, hint: "the connection broke: does iiod still run? It is tried again")
    case (.readAttribute, ENOSYS), (.refill, ENOSYS):
      return .unsupported(what: what, hint: "this context holds no live device (an XML description only)")
    default:
      return .device(what: what, errno: code, hint: "the kernel log (dmesg) may say more")
    }
  }

  /// The error for a context that cannot be opened, where the kind of the URI says more than the errno; libiio answers
  /// with many numbers for the same thing.
  private static func unopened(uri: String, _ code: Int32) -> MotionKitError? {
    // Permissions, memory and open files are named by their own words.
    if [EACCES, EPERM, ENOMEM, EMFILE, ENFILE].contains(code) { return nil }
    if let (host, port) = networkAddress(ofURI: uri) {
      return .notFound(
        what: "\(uri): \(host) does not answer like an iiod on port \(port)",
        hint: "check that iiod runs there and has sensors, and its port: ip:HOST:PORT (iiod's own is 30431)")
    }
    if uri.hasPrefix("usb:") {
      if code == EINVAL {
        return .invalidSource(uri: uri, reason: "it is usb: alone, or usb:BUS.DEVICE.INTERFACE, such as usb:3.32.5")
      }
      return .notFound(
        what: uri == "usb:" ? "no libiio device on USB" : "no libiio device at '\(uri)'",
        hint: "is it plugged in, and does it speak libiio's protocol? lsusb lists what there is")
    }
    if uri.hasPrefix("local:"), uri != "local:" {
      return .invalidSource(uri: uri, reason: "nothing follows local:, which is this machine; a board is ip:HOST")
    }
    guard code == ENOENT || code == ENODEV else { return nil }
    return .notFound(
      what: "no IIO devices on this system (\(uri))",
      hint: "load the sensor's kernel module or device-tree overlay, or try --source sim:walk")
  }

  /// The errno's text with its number.
  private static func text(_ code: Int32) -> String {
    guard let message = strerror(code) else { return "errno \(code)" }
    return "\(String(cString: message)), errno \(code)"
  }
}

/// Who has a file open, by /proc: `name (pid 123)` each. Only what this user may see.
func holders(ofFile path: String) -> [String] {
  guard !path.isEmpty, let processes = opendir("/proc") else { return [] }
  defer { closedir(processes) }
  var found: [String] = []
  let own = getpid()
  while let entry = readdir(processes) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    guard let pid = Int32(name), pid != own, let files = opendir("/proc/\(pid)/fd") else { continue }
    defer { closedir(files) }
    while let file = readdir(files) {
      let number = withUnsafePointer(to: &file.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard linkTarget("/proc/\(pid)/fd/\(number)") == path else { continue }
      let command = firstLine("/proc/\(pid)/comm")
      found.append("\(command.isEmpty ? "a process" : command) (pid \(pid))")
      break
    }
  }
  return found
}

/// Where a symbolic link points; empty where it is none.
func linkTarget(_ path: String) -> String {
  var buffer = [CChar](repeating: 0, count: 4096)
  let count = readlink(path, &buffer, buffer.count)
  return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
}

/// The first line of a small file; empty where it cannot be read.
func firstLine(_ path: String) -> String {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return "" }
  defer { close(file) }
  var buffer = [UInt8](repeating: 0, count: 4096)
  let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
  guard count > 0 else { return "" }
  return String(decoding: buffer[..<count].prefix { $0 != 10 }, as: UTF8.self)
}
