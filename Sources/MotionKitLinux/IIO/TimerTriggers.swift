import Glibc

/// Timer triggers of our own, made through configfs for devices that have none and find none, and removed again.
///
/// Making one takes root and the kernel module iio-trig-hrtimer; without them nothing happens. The names carry our
/// process id, so that what a crash has left behind is found and removed by the next start.
struct TimerTriggers: Sendable {
  /// Where the kernel makes a timer trigger for every directory that is made.
  static let directory = "/sys/kernel/config/iio/triggers/hrtimer"
  private static let prefix = "motionkit-"

  private let directory: String
  private let make: @Sendable (String) -> Bool
  private let remove: @Sendable (String) -> Bool

  /// The kernel's own; tests hand in a directory and what making one does there.
  init(
    directory: String = TimerTriggers.directory,
    make: @escaping @Sendable (String) -> Bool = { mkdir($0, 0o755) == 0 },
    remove: @escaping @Sendable (String) -> Bool = { rmdir($0) == 0 }
  ) {
    self.directory = directory
    self.make = make
    self.remove = remove
  }

  /// Makes `count` triggers; the names of those that could be made.
  func create(_ count: Int) -> [String] {
    (0..<count).map { "\(Self.prefix)\(getpid())-\($0)" }.filter { make("\(directory)/\($0)") }
  }

  /// Removes triggers by their names.
  func remove(_ names: [String]) {
    for name in names { _ = remove("\(directory)/\(name)") }
  }

  /// Removes what processes of ours that do not run any more have left behind.
  func removeLeftovers() {
    guard let entries = opendir(directory) else { return }
    var names: [String] = []
    while let entry = readdir(entries) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    closedir(entries)
    for name in names where name.hasPrefix(Self.prefix) {
      let parts = name.dropFirst(Self.prefix.count).split(separator: "-")
      guard parts.count == 2, let pid = pid_t(parts[0]), pid > 0, kill(pid, 0) != 0, errno == ESRCH else { continue }
      _ = remove("\(directory)/\(name)")
    }
  }
}
