import MotionKitLinux
import SensorFusion

/// The live readout for a terminal: attitude with an artificial horizon, vectors, altitude, steps, activity, sensors.
struct LiveScreen {
  /// Colours and characters.
  var style: Style
  /// The program's title and what it shows.
  var title: String
  /// Altitude of the model that counts as zero, metres.
  var altitudeZero = 0.0
  /// Whether the picture stands still.
  var isPaused = false
  /// Whether keys are read.
  var hasKeys = true

  private static let numbersWidth = 36
  private static let smallestHorizon = (columns: 17, rows: 7)
  private static let largestHorizon = (columns: 61, rows: 21)

  /// The screen's lines, at most `rows`, none wider than `columns`; what is cut ends in `…`.
  func lines(_ model: LiveModel, columns: Int, rows: Int) -> [String] {
    let losses = self.losses(model, columns)
    let (vectors, outputs) = (self.vectors(model, columns), self.outputs(model, columns))
    let sensors = self.sensors(model, columns) + events(model, columns)
    let keys = self.keys(columns)
    let measured = self.measured(model, columns)
    // The title, the keys and what lies between. A low terminal has no room for air, a lower one none for what the sensors
    // measured.
    let tails = [
      losses + vectors + measured + [""] + outputs + [""] + sensors,
      losses + vectors + measured + outputs + sensors,
      losses + vectors + outputs + sensors,
    ]
    func room(_ tail: [String]) -> Int { rows - tail.count - 1 - keys.count }
    let tail = tails.first { room($0) >= Self.smallestHorizon.rows } ?? tails[tails.count - 1]
    var lines = [titleLine(model, columns)]
    lines += attitude(model, columns, rows: max(Self.smallestHorizon.rows, min(room(tail), Self.largestHorizon.rows)))
    lines += tail
    // Then the last lines go, never the keys, and what went is counted.
    let limit = max(1, rows - keys.count)
    if lines.count > limit {
      let kept = max(1, limit - 1)
      let hidden = " … \(lines.count - kept) more lines on a taller terminal"
      lines = Array(lines.prefix(kept))
      if limit > kept { lines.append(style.paint(.warning, cut(style.plain(hidden), columns))) }
    }
    return lines + keys
  }

  private func titleLine(_ model: LiveModel, _ columns: Int) -> String {
    let right = (isPaused ? "paused  " : "") + Format.clock(model.elapsed)
    let left = String(title.prefix(max(0, columns - right.count - 2)))
    let gap = String(repeating: " ", count: max(1, columns - left.count - right.count - 1))
    return style.paint(.title, style.plain(left)) + gap + style.paint(.bold, right)
  }

  private func attitude(_ model: LiveModel, _ columns: Int, rows: Int) -> [String] {
    var numbers = numberLines(model)
    let free = columns - Self.numbersWidth - 1
    guard free >= Self.smallestHorizon.columns else { return numbers.map { cut($0, columns) } }
    // An odd size has a middle.
    let size = (columns: (min(free, Self.largestHorizon.columns) - 1) | 1, rows: (rows - 1) | 1)
    let horizon = Horizon(columns: size.columns, rows: size.rows)
    let picture: [String]
    if let motion = model.motion {
      picture = horizon.lines(gravity: motion.gravity, style: style)
    } else {
      picture = []
    }
    while numbers.count < size.rows { numbers.append("") }
    return numbers.enumerated().map { row, text in
      let left = Format.right(pad: Self.numbersWidth, cut(text, Self.numbersWidth))
      return left + (row < picture.count ? picture[row] : "")
    }
  }

  private func numberLines(_ model: LiveModel) -> [String] {
    guard let motion = model.motion else {
      return ["", " attitude", "   " + waitingReason(model)]
    }
    let attitude = motion.attitude
    func angle(_ name: String, _ radians: Double) -> String {
      "   " + Format.right(pad: 9, name) + Format.fixed(degrees(radians), 1, sign: true, width: 8) + "°"
    }
    var lines = [" attitude (frame: \(model.frame.word))"]
    lines.append(angle("pitch", attitude.pitch))
    lines.append(angle("roll", attitude.roll))
    lines.append(angle("yaw", attitude.yaw))
    if motion.heading >= 0 {
      let accuracy = "  ±\(Format.fixed(motion.headingAccuracy, 0))°"
      lines.append(
        "   heading  \(Format.fixed(motion.heading, 1, width: 8))° \(compassPoint(motion.heading))\(accuracy)")
    } else {
      lines.append("   heading         –  (needs a north)")
    }
    lines.append("   tilt     \(Format.left(pad: 8, "±" + Format.fixed(motion.tiltAccuracy, 2)))°")
    lines.append("   " + motion.flags.words.joined(separator: ", "))
    return lines.map(style.plain)
  }

  private func waitingReason(_ model: LiveModel) -> String {
    if model.source.sensor(.accelerometer) == nil { return "no accelerometer" }
    return model.timeSpan == nil ? "waiting for samples" : "finding the attitude"
  }

  private func vectors(_ model: LiveModel, _ columns: Int) -> [String] {
    let head = Format.left(pad: 27, "x") + Format.left(pad: 9, "y") + Format.left(pad: 9, "z")
    var lines = [style.paint(.dim, cut(head + Format.left(pad: 9, "norm"), columns))]
    func row(_ name: String, _ v: Vector3?, _ decimals: Int, _ unit: String) {
      lines.append(self.row(name, v, decimals, unit, columns))
    }
    let motion = model.motion
    let perSecond = 180 / Double.pi
    row("gravity", motion?.gravity, 3, "g")
    row("user acceleration", motion?.userAcceleration, 3, "g")
    row("rotation rate", motion.map { $0.rotationRate * perSecond }, 1, "°/s")
    row("magnetic field", model.source.sensor(.magnetometer) == nil ? nil : motion?.magneticField, 1, "µT")
    if let iron = model.hardIron { row("learnt hard iron", iron.offset, 1, "µT  \(iron.summary)") }
    return lines
  }

  private func row(_ name: String, _ v: Vector3?, _ decimals: Int, _ unit: String, _ columns: Int) -> String {
    var line = " " + Format.right(pad: 17, name)
    if let v {
      for value in [v.x, v.y, v.z] { line += Format.fixed(value, decimals, sign: true, width: 9) }
      line += Format.fixed(v.norm, decimals, width: 9) + "  " + unit
    } else {
      line += Format.left(pad: 9, "–")
    }
    return cut(style.plain(line), columns)
  }

  /// The newest samples as measured, before any calibration, in the kernel's units and signs: flat and still the
  /// accelerometer's z is +9.81 m/s².
  private func measured(_ model: LiveModel, _ columns: Int) -> [String] {
    model.monitors.filter { $0.sensor.kind <= .magnetometer }.map { monitor in
      let kind = monitor.sensor.kind
      let decimals = kind == .magnetometer ? 1 : 3
      return row(kind.name, monitor.newest?.vector, decimals, "\(kind.unit) measured", columns)
    }
  }

  private func outputs(_ model: LiveModel, _ columns: Int) -> [String] {
    var altitude = " altitude "
    if let state = model.altitude {
      altitude += Format.fixed(state.relativeAltitude - altitudeZero, 2, sign: true, width: 8) + " m  "
      altitude += Format.fixed(state.verticalSpeed, 2, sign: true, width: 6) + " m/s  up "
      altitude += Format.fixed(state.ascent, 1) + " m, down " + Format.fixed(state.descent, 1) + " m  "
      altitude += Format.fixed(state.pressure, 3) + " kPa"
    } else {
      altitude += "       –"
    }
    var steps = " steps    " + Format.left(pad: 8, "\(model.stepCount)")
    if let metres = model.distance { steps += "  \(Format.fixed(metres, 1)) m" }
    if model.cadence > 0 { steps += "  \(Format.fixed(model.cadence * 60, 0)) a minute" }
    if let activity = model.activity, activity.activity != .unknown {
      steps += "    \(activity.activity.word) (\(activity.confidence.word) confidence)"
    }
    return [altitude, steps].map { cut(style.plain($0), columns) }
  }

  private func sensors(_ model: LiveModel, _ columns: Int) -> [String] {
    let counts = ["rate/s", "asked", "samples", "gaps", "clipped"]
    let countWidth = 9
    // The device's name gets what the numbers leave.
    let longest = max(6, model.monitors.map(\.sensor.name.count).max() ?? 0)
    let nameWidth = max(8, min(longest, columns - 17 - counts.count * countWidth)) + 1
    func line(_ sensor: String, _ device: String, _ cells: [String]) -> String {
      let name = Format.right(pad: nameWidth, String(device.prefix(nameWidth - 1)))
      let text = " " + Format.right(pad: 15, sensor) + name
      return cut(style.plain(text + cells.map { Format.left(pad: countWidth, $0) }.joined()), columns)
    }
    var lines = [style.paint(.dim, line("sensor", "device", counts))]
    for monitor in model.monitors {
      let sensor = monitor.sensor
      let text = line(
        sensor.kind.name, sensor.name,
        [
          Format.fixed(monitor.rate, 1), sensor.rate > 0 ? Format.short(sensor.rate) : "–", "\(monitor.count)",
          "\(monitor.gaps)", "\(monitor.clipped)",
        ])
      let isTroubled = monitor.gaps > 0 || monitor.clipped > 0 || monitor.count == 0
      lines.append(isTroubled ? style.paint(.warning, text) : text)
    }
    return lines
  }

  private func losses(_ model: LiveModel, _ columns: Int) -> [String] {
    if model.losses.lost.isEmpty { return [] }
    return [style.paint(.bad, cut(style.plain(" lost: \(model.losses.names); trying to take back"), columns))]
  }

  private func events(_ model: LiveModel, _ columns: Int) -> [String] {
    var lines: [String] = []
    for event in model.recentEvents {
      let begin = model.timeSpan?.lowerBound ?? event.time
      let text = " \(Format.clock(event.time.seconds(since: begin)))  \(event.name)  \(event.detail)"
      lines.append(style.paint(event.name == "mark" ? .good : .warning, cut(style.plain(text), columns)))
    }
    return lines
  }

  private func keys(_ columns: Int) -> [String] {
    let text = hasKeys ? " q quit   p pause   z zero altitude   m mark" : " Ctrl-C quits"
    return [style.paint(.dim, cut(text, columns))]
  }

  /// Text that fits, with a sign where it had to be cut.
  private func cut(_ text: String, _ columns: Int) -> String {
    text.count <= columns ? text : text.prefix(max(0, columns - 1)) + style.cutSign
  }
}
