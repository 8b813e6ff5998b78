import Glibc
import Testing

@testable import MotionKitLinux

@Suite("doctor: the machine's own files") struct SystemChecksTests {
  @Test("a machine in order has one thing to say: that the device has no trigger")
  func healthy() throws {
    let system = FakeSystem()
    let complaints = system.findings.filter { $0.level != .good }
    #expect(complaints.map(\.topic) == [.triggers], "\(complaints)")
    #expect(system.findings.contains { $0.text.contains("with 1 device") && $0.subject.contains("6.1.0-test") })
  }

  @Test("no IIO: whether it can be loaded, is missing in this kernel, or cannot be known")
  func noIIO() {
    let system = FakeSystem()
    system.remove("/sys/bus/iio")
    #expect(system.complaints(.kernel).first?.fixes.first?.contains("modprobe industrialio") == true)
    system.write("/lib/modules/6.1.0-test/modules.dep", "kernel/drivers/rtc/rtc-ds1307.ko.xz:")
    #expect(system.complaints(.kernel).first?.fixes.first?.contains("CONFIG_IIO") == true)
    system.remove("/lib/modules")
    #expect(system.complaints(.kernel).first?.fixes.first?.contains("container") == true)
    #expect(system.complaints(.kernel).first?.level == .fault)
  }

  @Test(
    "a part without a driver: the module that would take it, by the kernel's own aliases; other parts are left alone")
  func missingModule() throws {
    let system = FakeSystem()
    for (address, name) in [("1-0018", "bma255"), ("1-0068", "ds1307")] {
      system.write("/sys/bus/i2c/devices/\(address)/name", name)
      system.write("/sys/bus/i2c/devices/\(address)/modalias", "i2c:\(name)")
    }
    system.write("/sys/bus/hid/devices/0003:8086:0001.0001/modalias", "hid:b0003g0002v00008086p00000001")
    let complaints = system.complaints(.kernel)
    #expect(complaints.count == 2, "\(complaints)")
    let part = try #require(complaints.first { $0.subject.contains("bma255") })
    #expect(part.level == .warning)
    #expect(part.subject.contains("i2c 1-0018"))
    #expect(part.fixes.contains("sudo modprobe bmc150_accel_i2c"))
    #expect(complaints.contains { $0.fixes.contains("sudo modprobe hid_sensor_hub") })
    // Once it has a driver, nothing is said of it.
    system.makeDirectory("/sys/bus/i2c/devices/1-0018/driver")
    #expect(!system.complaints(.kernel).contains { $0.subject.contains("bma255") })
  }

  @Test("IIO without a device: how to describe one, and the parts that no driver has taken")
  func noDevice() {
    let system = FakeSystem()
    system.remove("/sys/bus/iio/devices/iio:device0")
    system.makeDirectory("/sys/bus/iio/devices")
    system.write("/sys/bus/spi/devices/spi0.0/name", "icm99999")
    system.write("/sys/bus/spi/devices/spi0.0/modalias", "spi:icm99999")
    let complaints = system.complaints(.kernel)
    #expect(complaints.contains { $0.level == .fault && $0.fixes.contains { $0.contains("new_device") } })
    #expect(complaints.contains { $0.level == .note && $0.subject.contains("icm99999") })
  }

  @Test("a device file of root's: owner and mode are named, and the rule, or with the rule the group")
  func permissions() throws {
    let system = FakeSystem()
    system.write("/dev/iio:device0", "", mode: 0o600)
    let complaint = try #require(system.complaints(.permissions).first)
    #expect(complaint.level == .fault)
    #expect(complaint.text.contains("/dev/iio:device0") && complaint.text.contains("mode 0600"))
    #expect(complaint.fixes.contains { $0.contains("60-motionkit.rules") })
    #expect(complaint.fixes.contains { $0.contains("--action=add") })
    system.write("/etc/udev/rules.d/60-motionkit.rules", "")
    let other = try #require(system.complaints(.permissions).first)
    #expect(!other.fixes.contains { $0.contains("60-motionkit.rules") })
    #expect(other.fixes.contains { $0.contains("usermod") })
    // In the file's group, it is fine.
    system.write("/dev/iio:device0", "", mode: 0o660)
    system.groups = [getgid()]
    system.user = 4242
    #expect(system.complaints(.permissions).isEmpty)
  }

  @Test("a device file that is not there")
  func missingNode() {
    let system = FakeSystem()
    system.remove("/dev/iio:device0")
    #expect(system.complaints(.permissions).first?.text.contains("is not there") == true)
  }

  @Test("settings that this user may not write are named; those that nobody may are not")
  func lockedAttributes() throws {
    let system = FakeSystem()
    let path = "/sys/bus/iio/devices/iio:device0"
    system.user = 4242
    system.groups = [4242]
    system.write(path + "/sampling_frequency", "100", mode: 0o644)
    system.write(path + "/in_accel_sampling_frequency", "100", mode: 0o444)
    system.write(path + "/current_timestamp_clock", "realtime", mode: 0o644)
    let complaint = try #require(system.complaints(.permissions).first)
    #expect(complaint.level == .warning)
    #expect(complaint.text.contains("may not set sampling_frequency, current_timestamp_clock:"), "\(complaint.text)")
    #expect(!complaint.text.contains("in_accel"))
    let clock = try #require(system.complaints(.clocks).first)
    #expect(clock.text.contains("realtime") && clock.level == .note)
    system.write(path + "/current_timestamp_clock", "monotonic", mode: 0o644)
    #expect(system.complaints(.clocks).isEmpty)
  }

  @Test("a buffer that is on: the program that holds the file, or how to find out")
  func holder() throws {
    let system = FakeSystem()
    system.write("/sys/bus/iio/devices/iio:device0/buffer/enable", "1")
    #expect(system.complaints(.buffers).first?.fixes.first?.contains("sudo motionlog doctor") == true)
    system.user = 0
    #expect(system.complaints(.buffers).first?.fixes.last?.hasPrefix("echo 0 >") == true)
    let pid = spawn(["sh", "-c", "exec 3<\"$0\"; exec sleep 60", system.directory + "/dev/iio:device0"])
    defer {
      kill(pid, SIGKILL)
      _ = wait(for: pid)
    }
    var complaint: Finding?
    // The shell needs a moment to become the holder.
    for _ in 0..<10_000 where complaint == nil {
      complaint = system.complaints(.buffers).first { $0.text.contains("sleep") }
      sched_yield()
    }
    #expect(complaint?.text.contains("sleep (pid \(pid))") == true)
    #expect(complaint?.fixes.contains { $0.hasSuffix("kill \(pid)") } == true)
    #expect(complaint?.level == .fault)
  }

  @Test("triggers: the device's own, the one that is set, timers for two devices each, one of ours, or none at all")
  func triggers() {
    let system = FakeSystem()
    system.addDevice("iio:device1", name: "lis3dh")
    system.addDevice("iio:device2", name: "hmc5843")
    #expect(system.complaints(.triggers).count == 3)
    #expect(system.complaints(.triggers)[0].fixes.first?.contains("modprobe -a configfs iio-trig-hrtimer") == true)
    system.write("/sys/bus/iio/devices/trigger0/name", "timer")
    system.write("/sys/bus/iio/devices/trigger0/sampling_frequency", "100")
    #expect(system.complaints(.triggers).map(\.subject) == ["hmc5843 (iio:device2)"])
    system.write("/sys/bus/iio/devices/trigger1/name", "hmc5843-dev2")
    #expect(system.complaints(.triggers).isEmpty)
    system.remove("/sys/bus/iio/devices/trigger1")
    system.write("/sys/bus/iio/devices/iio:device2/trigger/current_trigger", "somebody")
    #expect(system.complaints(.triggers).isEmpty)
    // Without anything, root makes one, if the kernel can.
    system.remove("/sys/bus/iio/devices/trigger0")
    system.makeDirectory(TimerTriggers.directory)
    #expect(
      system.complaints(.triggers).first?.fixes == [
        "sudo mkdir \(TimerTriggers.directory)/motion0   (one serves two devices)"
      ])
    system.user = 0
    #expect(system.complaints(.triggers).isEmpty)
    // And where the kernel cannot, that is said.
    system.remove(TimerTriggers.directory)
    system.write("/lib/modules/6.1.0-test/modules.dep", "kernel/drivers/iio/industrialio.ko:")
    #expect(system.complaints(.triggers).first?.fixes.first?.contains("CONFIG_IIO_HRTIMER_TRIGGER") == true)
  }
}

@Suite("the udev rule of packaging/") struct RuleTests {
  private static let script =
    String(
      #filePath.dropLast("Tests/MotionKitLinuxTests/Doctor/SystemChecksTests.swift".count)) + "packaging/check-rule"
  private static let isPossible =
    FakeBoard.isPossible && spawnAndWait(["sh", "-c", "command -v udevadm"]) == 0

  @Test(
    "udev itself gives the device file and its settings to the group, at the start and when the rule is installed later",
    .enabled(if: RuleTests.isPossible, "no udevadm or no namespaces on this machine"))
  func rule() { #expect(spawnAndWait([Self.script]) == 0, "packaging/check-rule says what is wrong") }
}
