import Foundation
import Glibc
import SensorFusion

@testable import MotionKitLinux

/// A board made of plain files: a tree for /sys/bus/iio and FIFOs for /dev/iio:deviceN, which real libiio and real iiod
/// take for devices once they are mounted in a namespace of their own. Nothing reacts to writes, as no driver is there.
struct FakeBoard {
  let directory: String

  /// Whether this machine lets us make namespaces (root, or user namespaces allowed).
  static let isPossible = spawnAndWait(["unshare", "-rm", "mount", "--bind", "/tmp", "/mnt"]) == 0
  static let hasServer = isPossible && spawnAndWait(["sh", "-c", "command -v iiod"]) == 0

  /// The board whose files are in `directory`, mounted already.
  init(mounted directory: String) { self.directory = directory }

  /// Sets up: an accelerometer `fake_accel` and a gyroscope `fake_gyro` with buffers that need no trigger, a barometer
  /// `fake_press` that only polls, and an accelerometer `fake_broken` whose scale reads 0.
  init() {
    directory = "/tmp/motionkit-board-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    mkdir(directory, 0o755)
    for path in ["bus", "bus/iio", "bus/iio/devices", "dev"] { mkdir("\(directory)/\(path)", 0o755) }
    for (number, name, type) in [(0, "fake_accel", "accel"), (1, "fake_gyro", "anglvel"), (3, "fake_broken", "accel")] {
      var files = ["in_\(type)_scale": number == 3 ? "0.000000" : "0.001", "sampling_frequency": "50"]
      for (index, axis) in ["x", "y", "z"].enumerated() {
        files["in_\(type)_\(axis)_raw"] = "\(index)"
        files["scan_elements/in_\(type)_\(axis)_en"] = "0"
        files["scan_elements/in_\(type)_\(axis)_index"] = "\(index)"
        files["scan_elements/in_\(type)_\(axis)_type"] = "le:s16/16>>0"
      }
      files["scan_elements/in_timestamp_en"] = "0"
      files["scan_elements/in_timestamp_index"] = "3"
      files["scan_elements/in_timestamp_type"] = "le:s64/64>>0"
      files["buffer/enable"] = "0"
      files["buffer/length"] = "2"
      files["current_timestamp_clock"] = "realtime"
      addDevice(number, name, files, hasBuffer: true)
    }
    addDevice(
      2, "fake_press", ["in_pressure_input": "101.325", "in_temp_input": "21500"], hasBuffer: false)
  }

  /// Adds a magnetometer `fake_chip`, which needs a trigger and has none, and the directory where triggers are made.
  func addChip() {
    var files = ["in_magn_scale": "0.001", "sampling_frequency": "50"]
    for (index, axis) in ["x", "y", "z"].enumerated() {
      files["in_magn_\(axis)_raw"] = "\(index)"
      files["scan_elements/in_magn_\(axis)_en"] = "0"
      files["scan_elements/in_magn_\(axis)_index"] = "\(index)"
      files["scan_elements/in_magn_\(axis)_type"] = "le:s16/16>>0"
    }
    files["buffer/enable"] = "0"
    files["buffer/length"] = "2"
    mkdir(path(4), 0o755)
    mkdir(path(4) + "/trigger", 0o755)
    addDevice(4, "fake_chip", files, hasBuffer: true)
    write(4, "trigger/current_trigger", "")
    mkdir(timerDirectory, 0o755)
  }

  var timerDirectory: String { "\(directory)/timers" }

  /// Makes timer triggers as the kernel does: a directory there, a trigger here.
  var timers: TimerTriggers {
    let devices = "\(directory)/bus/iio/devices"
    return TimerTriggers(
      directory: timerDirectory,
      make: { path in
        guard mkdir(path, 0o755) == 0, mkdir("\(devices)/trigger9", 0o755) == 0 else { return false }
        for (file, text) in [
          ("name", path.split(separator: "/").last.map { String($0) } ?? ""), ("sampling_frequency", "100"),
        ] {
          guard let stream = fopen("\(devices)/trigger9/\(file)", "w") else { return false }
          fputs(text + "\n", stream)
          fclose(stream)
        }
        return true
      },
      remove: { path in
        for file in ["name", "sampling_frequency"] { unlink("\(devices)/trigger9/\(file)") }
        rmdir("\(devices)/trigger9")
        return rmdir(path) == 0
      })
  }

  private func addDevice(_ number: Int, _ name: String, _ files: [String: String], hasBuffer: Bool) {
    let device = path(number)
    for folder in hasBuffer ? ["", "/scan_elements", "/buffer"] : [""] { mkdir(device + folder, 0o755) }
    write(number, "name", name)
    for (file, text) in files { write(number, file, text) }
    if hasBuffer { mkfifo(fifo(number), 0o666) }
  }

  private func path(_ number: Int) -> String { "\(directory)/bus/iio/devices/iio:device\(number)" }

  /// The FIFO behind a device's node.
  func fifo(_ number: Int) -> String { "\(directory)/dev/iio:device\(number)" }

  /// Sets an attribute file, as a driver would, in one step.
  func write(_ number: Int, _ file: String, _ text: String) {
    let target = path(number) + "/" + file
    guard let stream = fopen(target + "~", "w") else { return }
    fputs(text + "\n", stream)
    fclose(stream)
    rename(target + "~", target)
  }

  /// Reads an attribute file.
  func read(_ number: Int, _ file: String) -> String { firstLine(path(number) + "/" + file).filter { $0 != "\0" } }

  /// Takes the device away; `returns` brings it back.
  func remove(_ number: Int) { rename(path(number), "\(directory)/away\(number)") }
  func restore(_ number: Int) { rename("\(directory)/away\(number)", path(number)) }

  /// The command that mounts the board over this machine's and then becomes `command`, in a namespace of its own.
  func command(_ command: [String]) -> [String] {
    let script = """
      set -e; cd "$0"
      mount --bind bus /sys/bus
      for node in null zero full random urandom tty; do : > dev/$node; mount --bind /dev/$node dev/$node; done
      mount --rbind dev /dev
      cd /; exec "$@"
      """
    return ["unshare", "-rm", "sh", "-c", script, directory] + command
  }

  /// Removes all files.
  func tearDown() { _ = spawnAndWait(["rm", "-rf", directory]) }
}

/// Writes samples into a device's FIFO as a kernel driver would.
final class Feeder {
  private let file: Int32
  private(set) var count = 0
  private var next: Int64 = 0

  init(_ board: FakeBoard, _ number: Int) { file = open(board.fifo(number), O_RDWR | O_CLOEXEC) }
  deinit { close(file) }

  /// Feeds what is due by now at 100 Hz, evenly stamped.
  func feedDue() {
    let now = nanoseconds(of: CLOCK_REALTIME)
    if next == 0 { next = now }
    // What could not be fed in time is not made up for: the driver's buffer would not hold it either.
    if now - next > 500_000_000 { next = now }
    while next <= now {
      feed(stamp: next)
      next += 10_000_000
    }
  }

  /// Three 16-bit values and a stamp of CLOCK_REALTIME: x counts up.
  func feed(stamp: Int64 = nanoseconds(of: CLOCK_REALTIME)) {
    var bytes: [UInt8] = []
    for value in [Int16(truncatingIfNeeded: count), 2, -3] {
      withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
    bytes += [0xA5, 0xA5]
    withUnsafeBytes(of: stamp.littleEndian) { bytes += $0 }
    _ = write(file, bytes, bytes.count)
    count += 1
  }
}

/// Starts a program found through PATH; its process id, or -1.
func spawn(_ arguments: [String], environment: [String: String] = [:], output: String = "/dev/null") -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  posix_spawn_file_actions_adddup2(&actions, 1, 2)
  // Of its own, not this process's: other threads read that meanwhile.
  let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  var variables: [UnsafeMutablePointer<CChar>?] = all.map { strdup("\($0)=\($1)") } + [nil]
  var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
  defer { for pointer in pointers + variables { free(pointer) } }
  var pid = pid_t()
  return posix_spawnp(&pid, arguments[0], &actions, nil, &pointers, &variables) == 0 ? pid : -1
}

/// Waits for the end of a process we started; its exit status, 128 + signal, or -1.
func wait(for pid: pid_t) -> Int32 {
  guard pid > 0 else { return -1 }
  var status: Int32 = 0
  while waitpid(pid, &status, 0) < 0 { if errno != EINTR { return -1 } }
  return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
}

func spawnAndWait(_ arguments: [String]) -> Int32 { wait(for: spawn(arguments)) }
