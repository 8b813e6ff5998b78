import Glibc

/// What a machine's own files say about its sensors: a plain value, read once.
struct SystemFacts: Hashable, Sendable {
  /// An IIO device with its files.
  struct Device: Hashable, Sendable {
    /// `iio:deviceN`.
    var id: String
    var name: String
    var label: String
    /// Whether it can deliver samples by itself.
    var hasBuffer: Bool
    /// Whether its buffer needs a trigger.
    var takesTrigger: Bool
    /// The trigger that is set; empty for none.
    var trigger: String
    /// Whether the buffer is on.
    var isOn: Bool
    /// Who has its device file open.
    var holders: [String]
    /// Nil where the device file is not there.
    var node: SystemFiles.Status?
    var mayOpenNode: Bool
    /// Settings that this user may not write.
    var lockedAttributes: [String]
    /// The clock of its stamps; empty where it has none.
    var clock: String

    /// How a person is told which device is meant.
    var title: String { label.isEmpty ? "\(name) (\(id))" : "\(label) (\(name), \(id))" }
    /// The trigger that its driver made for it.
    var ownTrigger: String { "\(name)-dev\(id.drop { !$0.isNumber })" }
  }

  /// A part on a bus that no driver has taken.
  struct Part: Hashable, Sendable {
    /// Where, such as `i2c 1-0068`.
    var place: String
    /// What the firmware calls it.
    var name: String
    /// The module that would take it; empty where the kernel has none.
    var module: String
  }

  /// A trigger.
  struct Trigger: Hashable, Sendable {
    var name: String
    var isTimer: Bool
  }

  var kernel = ""
  /// Whether the kernel has IIO running.
  var hasIIO = false
  /// Whether IIO can be loaded, where it is not running; nil where depmod's lists are not there.
  var canLoadIIO: Bool?
  var devices: [Device] = []
  var triggers: [Trigger] = []
  var parts: [Part] = []
  /// Whether timer triggers can be made right now, by making a directory.
  var canMakeTimers = false
  /// Whether the module for timer triggers is there: loaded or built in, to be loaded, or neither; nil where not known.
  var timerModule: Availability?
  var isAdministrator = false
  /// Whether the rule of packaging/ is installed.
  var hasRule = false
  /// Programs running here that use sensors: `iiod (pid 12)`.
  var programs: [String] = []

  /// Whether something is there.
  enum Availability: Hashable, Sendable {
    case present, loadable, missing
  }

  /// The programs that hold sensors, by their names in /proc.
  static let knownPrograms: Set<String> = ["iiod", "iio-sensor-proxy", "iio-sensor-prox", "inputplumber", "motionlog"]
  /// Where rules lie.
  static let ruleDirectories = ["/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d"]

  init() {}

  /// Reads them.
  init(_ files: SystemFiles, isAdministrator: Bool) {
    self.isAdministrator = isAdministrator
    kernel = files.line("/proc/sys/kernel/osrelease")
    let modules = KernelModules(files)
    hasIIO = files.exists("/sys/bus/iio")
    if !hasIIO, modules.isKnown { canLoadIIO = modules.canBeLoaded("industrialio") }
    for id in files.names("/sys/bus/iio/devices") {
      let path = "/sys/bus/iio/devices/\(id)"
      if id.hasPrefix("iio:device") {
        devices.append(Self.device(id, files, isAdministrator: isAdministrator))
      } else if id.hasPrefix("trigger") {
        triggers.append(
          Trigger(name: files.line(path + "/name"), isTimer: files.exists(path + "/sampling_frequency")))
      }
    }
    parts = Self.parts(files, modules)
    canMakeTimers = files.exists(TimerTriggers.directory)
    if canMakeTimers || modules.isPresent("iio_trig_hrtimer") {
      timerModule = .present
    } else if modules.isKnown {
      timerModule = modules.canBeLoaded("iio_trig_hrtimer") ? .loadable : .missing
    }
    hasRule = Self.ruleDirectories.contains { files.exists("\($0)/60-motionkit.rules") }
    for process in files.names("/proc") where process.allSatisfy(\.isNumber) && process != "\(getpid())" {
      let name = files.line("/proc/\(process)/comm")
      if Self.knownPrograms.contains(name) { programs.append("\(name) (pid \(process))") }
    }
  }

  private static func device(_ id: String, _ files: SystemFiles, isAdministrator: Bool) -> Device {
    let path = "/sys/bus/iio/devices/\(id)"
    let node = "/dev/\(id)"
    let names = files.names(path)
    let name = files.line(path + "/name")
    var locked: [String] = []
    for attribute in names + (names.contains("trigger") ? ["trigger/current_trigger"] : [])
    where attribute.hasSuffix("sampling_frequency") || attribute.hasSuffix("current_timestamp_clock")
      || attribute.hasSuffix("current_trigger")
    {
      // What nobody may write is fixed by the driver.
      guard let status = files.status("\(path)/\(attribute)"), status.mode & 0o222 != 0,
        !files.mayWrite("\(path)/\(attribute)")
      else { continue }
      locked.append(attribute)
    }
    let hasBuffer = names.contains("buffer") || names.contains("buffer0") || names.contains("scan_elements")
    let isOn = files.line(path + "/buffer/enable") == "1" || files.line(path + "/buffer0/enable") == "1"
    let status = files.status(node)
    return Device(
      id: id, name: name.isEmpty ? id : name, label: files.line(path + "/label"), hasBuffer: hasBuffer,
      takesTrigger: hasBuffer && names.contains("trigger"), trigger: files.line(path + "/trigger/current_trigger"),
      isOn: isOn, holders: status == nil ? [] : files.holders(node), node: status, mayOpenNode: files.mayOpen(node),
      lockedAttributes: locked, clock: files.line(path + "/current_timestamp_clock"))
  }

  /// Parts without a driver for which there is one, or that look like sensors: on I2C, SPI, HID and below a sensor hub.
  private static func parts(_ files: SystemFiles, _ modules: KernelModules) -> [Part] {
    var unbound: [(place: String, name: String, modalias: String)] = []
    for bus in ["i2c", "spi", "hid", "platform"] {
      let directory = "/sys/bus/\(bus)/devices"
      for entry in files.names(directory) {
        let path = "\(directory)/\(entry)"
        guard !files.exists(path + "/driver") else { continue }
        let modalias = files.line(path + "/modalias")
        guard !modalias.isEmpty, bus != "platform" || modalias.hasPrefix("platform:HID-SENSOR") else { continue }
        let name = files.line(path + "/name")
        unbound.append(("\(bus) \(entry)", name.isEmpty ? modalias : name, modalias))
      }
    }
    let drivers = modules.sensorDrivers(for: unbound.map(\.modalias))
    return unbound.compactMap { part in
      let module = drivers[part.modalias] ?? ""
      // What has no driver at all may be anything; I2C and SPI parts are named, since sensors mostly are such.
      guard !module.isEmpty || part.place.hasPrefix("i2c ") || part.place.hasPrefix("spi ") else { return nil }
      return Part(place: part.place, name: part.name, module: module)
    }
  }
}
