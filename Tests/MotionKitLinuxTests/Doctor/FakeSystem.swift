import Glibc

@testable import MotionKitLinux

/// The files of a machine that has one accelerometer, `bmi160`, in a directory of its own: everything in order, with
/// timer triggers to be had. Tests then spoil what they are about.
final class FakeSystem {
  let directory: String
  /// The ids of the user who looks: nobody in particular, in no group.
  var user: UInt32 = 1000
  var groups: Set<UInt32> = [1000]

  init() {
    directory = "/tmp/motionkit-system-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    write("/proc/sys/kernel/osrelease", "6.1.0-test")
    write("/proc/modules", "bmi160_i2c 16384 0 - Live 0x0")
    write(
      "/lib/modules/6.1.0-test/modules.dep",
      """
      kernel/drivers/iio/industrialio.ko:
      kernel/drivers/iio/trigger/iio-trig-hrtimer.ko: kernel/drivers/iio/industrialio.ko
      kernel/drivers/iio/accel/bmc150-accel-i2c.ko.xz: kernel/drivers/iio/industrialio.ko
      kernel/drivers/rtc/rtc-ds1307.ko.xz:
      kernel/drivers/hid/hid-sensor-hub.ko:
      """)
    write("/lib/modules/6.1.0-test/modules.builtin", "kernel/fs/configfs/configfs.ko")
    write(
      "/lib/modules/6.1.0-test/modules.alias",
      """
      # Aliases extracted from modules themselves.
      alias i2c:bma255 bmc150_accel_i2c
      alias of:N*T*Cbosch,bma255 bmc150_accel_i2c
      alias i2c:ds1307 rtc_ds1307
      alias hid:b*g0002v*p* hid_sensor_hub
      """)
    makeDirectory("/proc/self")
    addDevice("iio:device0", name: "bmi160")
  }

  deinit { _ = spawnAndWait(["rm", "-rf", directory]) }

  /// Adds a device with a buffer that takes a trigger.
  func addDevice(_ id: String, name: String) {
    let path = "/sys/bus/iio/devices/\(id)"
    write(path + "/name", name)
    write(path + "/sampling_frequency", "100", mode: 0o666)
    write(path + "/current_timestamp_clock", "realtime", mode: 0o666)
    write(path + "/buffer/enable", "0")
    write(path + "/scan_elements/in_accel_x_en", "0")
    write(path + "/trigger/current_trigger", "", mode: 0o666)
    write("/dev/\(id)", "", mode: 0o666)
  }

  /// Writes a file, with the directories above it.
  func write(_ path: String, _ text: String, mode: mode_t = 0o644) {
    makeDirectory(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
    guard let stream = fopen(directory + path, "w") else { return }
    fputs(text + "\n", stream)
    fclose(stream)
    chmod(directory + path, mode)
  }

  func makeDirectory(_ path: String) {
    var built = directory
    mkdir(built, 0o755)
    for part in path.split(separator: "/") {
      built += "/" + part
      mkdir(built, 0o755)
    }
  }

  func remove(_ path: String) { _ = spawnAndWait(["rm", "-rf", directory + path]) }

  /// The files as the user may use them, by owner, group and mode: tests run as anybody.
  var files: SystemFiles {
    let (user, groups) = (user, groups)
    return SystemFiles(root: directory) { path, wanted in
      var status = stat()
      guard stat(path, &status) == 0 else { return false }
      let shift: UInt32 = status.st_uid == user ? 6 : groups.contains(status.st_gid) ? 3 : 0
      return UInt32(wanted) & ~(status.st_mode >> shift) & 7 == 0
    }
  }

  var findings: [Finding] { SystemFacts(files, isAdministrator: user == 0).findings() }

  /// Everything of a topic that is not as it should be.
  func complaints(_ topic: Finding.Topic) -> [Finding] { findings.filter { $0.topic == topic && $0.level != .good } }
}
