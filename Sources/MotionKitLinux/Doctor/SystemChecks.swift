/// What a machine's own files mean for its sensors, and what to do about it.
extension SystemFacts {
  /// The steps that let a user read sensors, from nothing.
  static let ruleSteps = [
    "sudo groupadd --system --force iio",
    "sudo usermod --append --groups iio \"$USER\"   (then log in again)",
    "sudo cp packaging/60-motionkit.rules /etc/udev/rules.d/",
    "sudo udevadm control --reload && sudo udevadm trigger --action=add --subsystem-match=iio",
  ]
  /// The steps where the rule is installed already.
  static let groupSteps = [
    "sudo usermod --append --groups iio \"$USER\"   (then log in again)",
    "sudo udevadm trigger --action=add --subsystem-match=iio",
  ]

  /// Everything that is to be said.
  func findings() -> [Finding] {
    var findings = kernelFindings()
    for device in devices {
      findings += permissionFindings(device)
      findings += bufferFindings(device)
    }
    findings += triggerFindings()
    findings += clockFindings()
    return findings
  }

  private func kernelFindings() -> [Finding] {
    var findings: [Finding] = []
    if hasIIO {
      findings.append(Finding(.good, .kernel, "Linux \(kernel)", "has IIO, with \(counted(devices.count, "device"))"))
    } else {
      let trial = "to try without sensors: motionlog doctor -u sim:still"
      var fixes: [String]
      switch canLoadIIO {
      case true?: fixes = ["sudo modprobe industrialio   (the sensor's own module brings it along)"]
      case false?:
        fixes = ["use a kernel with CONFIG_IIO and the sensor's driver; Debian's and Raspberry Pi's have both"]
      case nil:
        fixes = ["a container or virtual machine sees no sensors unless they are passed in; run it on the board"]
      }
      fixes.append(trial)
      findings.append(Finding(.fault, .kernel, "Linux \(kernel)", "IIO is not there (no /sys/bus/iio)", fixes: fixes))
    }
    for part in parts where !part.module.isEmpty {
      findings.append(
        Finding(
          .warning, .kernel, "\(part.name) (\(part.place))", "has no driver, but this kernel has one: \(part.module)",
          fixes: [
            "sudo modprobe \(part.module)",
            "echo \(part.module) | sudo tee /etc/modules-load.d/motionkit.conf   (to load it at every start)",
          ]))
    }
    guard devices.isEmpty else { return findings }
    for part in parts where part.module.isEmpty {
      findings.append(
        Finding(
          .note, .kernel, "\(part.name) (\(part.place))", "is described by the firmware, but no driver has taken it",
          fixes: ["if it is a sensor: this kernel's driver for it is missing or failed; dmesg says which"]))
    }
    if hasIIO {
      findings.append(
        Finding(
          .fault, .kernel, "", "there is no IIO device",
          fixes: [
            "describe the sensor to the kernel: a device-tree overlay, or for a try, as root, with its own name,",
            "address and bus: echo bmi160 0x69 > /sys/bus/i2c/devices/i2c-1/new_device",
            "to try without sensors: motionlog doctor -u sim:still",
          ]))
    }
    return findings
  }

  private func permissionFindings(_ device: Device) -> [Finding] {
    guard device.hasBuffer || !device.lockedAttributes.isEmpty else { return [] }
    let steps = hasRule ? Self.groupSteps : Self.ruleSteps
    let path = "/dev/\(device.id)"
    if device.hasBuffer {
      guard let node = device.node else {
        return [
          Finding(
            .fault, .permissions, device.title, "\(path) is not there, so that its buffer cannot be read",
            fixes: [
              "in a container: pass \(path) in", "elsewhere: sudo udevadm trigger --action=add --subsystem-match=iio",
            ])
        ]
      }
      guard device.mayOpenNode else {
        return [
          Finding(
            .fault, .permissions, device.title, "this user may not open \(path) (\(node.text))", fixes: steps)
        ]
      }
    }
    guard device.lockedAttributes.isEmpty else {
      return [
        Finding(
          .warning, .permissions, device.title,
          "this user may not set \(device.lockedAttributes.joined(separator: ", ")): they stay as they are",
          fixes: steps)
      ]
    }
    return [Finding(.good, .permissions, device.title, "may be read and set")]
  }

  private func bufferFindings(_ device: Device) -> [Finding] {
    if !device.holders.isEmpty {
      let isServer = device.holders.contains { $0.hasPrefix("iiod ") }
      return [
        Finding(
          .fault, .buffers, device.title, "is held by \(device.holders.joined(separator: ", "))",
          fixes: [
            isServer ? "read through iiod: motionlog doctor -u ip:127.0.0.1" : "",
            "or stop the program, for example: " + Self.stopping(device.holders[0]),
          ])
      ]
    }
    guard device.isOn else { return [] }
    let suspects = programs.isEmpty ? "" : " (running here: \(programs.joined(separator: ", ")))"
    return [
      Finding(
        .fault, .buffers, device.title, "its buffer is on, and who reads it cannot be seen\(suspects)",
        fixes: isAdministrator
          ? [
            "nobody holds its file: a crash may have left the buffer on; switch it off:",
            "echo 0 > /sys/bus/iio/devices/\(device.id)/buffer/enable",
          ] : ["sudo motionlog doctor names the program"])
    ]
  }

  /// The command that stops a holder `name (pid 12)`.
  private static func stopping(_ holder: String) -> String {
    if holder.hasPrefix("iiod ") { return "sudo systemctl stop iiod" }
    if holder.hasPrefix("iio-sensor-prox") { return "sudo systemctl stop iio-sensor-proxy" }
    let pid = holder.split(separator: " ").last?.filter(\.isNumber) ?? ""
    return "kill \(pid)"
  }

  private func triggerFindings() -> [Finding] {
    var findings: [Finding] = []
    let timers = triggers.filter(\.isTimer).map(\.name)
    var wanting: [Device] = []
    for device in devices where device.takesTrigger {
      if triggers.contains(where: { $0.name == device.ownTrigger }) {
        findings.append(Finding(.good, .triggers, device.title, "has its own trigger, \(device.ownTrigger)"))
      } else if !device.trigger.isEmpty {
        findings.append(Finding(.good, .triggers, device.title, "is on trigger \(device.trigger)"))
      } else {
        wanting.append(device)
      }
    }
    let served = timers.count * IIOInventory.consumersPerTrigger
    for (index, device) in wanting.enumerated() {
      if index < served {
        let timer = timers[index / IIOInventory.consumersPerTrigger]
        findings.append(
          Finding(.good, .triggers, device.title, "has no trigger of its own; timer \(timer) can serve it"))
      } else if canMakeTimers, isAdministrator {
        findings.append(
          Finding(.good, .triggers, device.title, "has no trigger of its own; a timer is made for it while it is read"))
      } else {
        findings.append(
          Finding(
            .warning, .triggers, device.title,
            "has no trigger of its own and no timer is left for it: it is polled, with more jitter",
            fixes: timerSteps(index)))
      }
    }
    return findings
  }

  private func timerSteps(_ index: Int) -> [String] {
    let make = "sudo mkdir \(TimerTriggers.directory)/motion\(index)   (one serves two devices)"
    if canMakeTimers { return [make] }
    switch timerModule {
    case .present?, .loadable?:
      return ["sudo modprobe -a configfs iio-trig-hrtimer && sudo mount -t configfs none /sys/kernel/config", make]
    case .missing?: return ["this kernel has no iio-trig-hrtimer (CONFIG_IIO_HRTIMER_TRIGGER): polling it is"]
    case nil: return ["sudo modprobe iio-trig-hrtimer", make]
    }
  }

  private func clockFindings() -> [Finding] {
    devices.compactMap { device in
      guard device.hasBuffer, !device.clock.isEmpty else { return nil }
      let isSteady = ["boottime", "monotonic", "monotonic_raw"].contains(device.clock)
      if isSteady {
        return Finding(.good, .clocks, device.title, "stamps by the clock \(device.clock), which never jumps")
      }
      guard device.lockedAttributes.contains("current_timestamp_clock") else {
        return Finding(
          .good, .clocks, device.title, "stamps by the clock \(device.clock); it is set to boottime while it is read")
      }
      return Finding(
        .note, .clocks, device.title,
        "stamps by the clock \(device.clock), which this user may not change; stamps are converted")
    }
  }
}

/// `1 device`, `2 devices`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
