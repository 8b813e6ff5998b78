import Glibc
import MotionKitLinux
import SensorFusion

/// `motionlog live`: the readout of a source, in place on a terminal, as lines in a pipe, or as JSON.
enum LiveCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    if let operand = arguments.operands.first { throw UsageError.unexpectedOperand(operand, command: "live") }
    var settings = try RunSettings(arguments)
    settings.history = try HistoryChoice(arguments)
    let pacing = try ReplayCommand.pacing(arguments)
    return try show(settings, pacing: pacing, &context)
  }

  /// Starts the source and shows it until something ends the run.
  static func show(_ settings: RunSettings, pacing: Pacing, _ context: inout Context) throws -> ExitCode {
    let started = try context.start(settings, pacing: pacing)
    var run = started.run
    let result = Result { () throws -> (RunEnd, LossWatch) in
      if settings.isJSON { return try json(started, &run, settings, &context) }
      if Terminal.isInteractive(STDOUT_FILENO) { return try screen(started, &run, &context) }
      return try lines(started, &run, settings, &context)
    }
    let isHistoryBroken = started.history?.finish(&context.console) ?? false
    let (end, losses) = try result.get()
    if let words = losses.words { context.console.warning("samples were lost: \(words)") }
    return try context.exitCode(
      of: end, of: run, started, losses: losses, hasLost: losses.words != nil, isHistoryBroken: isHistoryBroken)
  }

  private static func json(
    _ started: StartedSource, _ run: inout MotionRun, _ settings: RunSettings, _ context: inout Context
  ) throws -> (RunEnd, LossWatch) {
    var losses = LossWatch(started.description)
    var writer = LiveJSON(frame: started.frame, interval: settings.interval ?? 0)
    try context.output.line(LiveJSON.header(started.description, frame: started.frame))
    try context.output.flush()
    let end = try run.run { batch in
      try writer.write(batch, to: &context.output)
      try context.output.flush()
      for line in losses.take(batch.input.events) { context.console.note(line) }
      started.history?.check(&context.console)
      return true
    }
    return (end, losses)
  }

  private static func lines(
    _ started: StartedSource, _ run: inout MotionRun, _ settings: RunSettings, _ context: inout Context
  ) throws -> (RunEnd, LossWatch) {
    var model = LiveModel(source: started.description, frame: started.frame)
    let interval = settings.interval ?? 1
    var next = 0.0
    var shown: Double?
    let end = try run.run(slice: interval / 10) { batch in
      for line in model.take(batch) { context.console.note(line) }
      for event in batch.input.events where !model.losses.watches(event) {
        context.console.note("\(event.name): \(event.detail)")
      }
      started.history?.check(&context.console)
      guard model.timeSpan != nil, model.elapsed >= next else { return true }
      next = ((model.elapsed / interval).rounded(.down) + 1) * interval
      try context.output.line(LiveLine.text(model))
      try context.output.flush()
      shown = model.elapsed
      return true
    }
    // How it stood at the end, unless that has just been said.
    if let shown, model.elapsed > shown {
      try context.output.line(LiveLine.text(model))
      try context.output.flush()
    }
    return (end, model.losses)
  }

  /// Pictures a second.
  private static let pictureRate = 12.0

  private static func screen(
    _ started: StartedSource, _ run: inout MotionRun, _ context: inout Context
  ) throws -> (RunEnd, LossWatch) {
    var model = LiveModel(source: started.description, frame: started.frame)
    var screen = LiveScreen(style: context.style, title: " motionlog live · \(started.description.uri)")
    screen.hasKeys = Terminal.takeKeyboard()
    Terminal.enterScreen()
    defer {
      Terminal.restore()
      // The last picture stays readable above the prompt.
      let (columns, rows) = Terminal.size(STDOUT_FILENO)
      let lines = screen.lines(model, columns: columns, rows: rows - 1).dropLast()
      try? context.output.write(lines.joined(separator: "\n") + "\n")
      try? context.output.flush()
    }
    let recording = started.source as? RecordingSource
    var nextPicture = 0.0
    let end = try run.run { batch in
      model.take(batch)
      while screen.hasKeys, let key = Terminal.readKey() {
        switch key {
        case UInt8(ascii: "q"), UInt8(ascii: "Q"), 4: return false  // 4 is Ctrl-D
        case UInt8(ascii: "m"): Signals.shared.addMark()
        case UInt8(ascii: "p"), UInt8(ascii: " "):
          screen.isPaused.toggle()
          // A device goes on, a recording stands still.
          if let recording { screen.isPaused ? recording.pause() : recording.resume() }
        case UInt8(ascii: "z"): screen.altitudeZero = model.altitude?.relativeAltitude ?? 0
        default: break
        }
        nextPicture = 0
      }
      let now = MotionRun.monotonicSeconds()
      let isResized = Signals.shared.takeResize()
      guard isResized || (now >= nextPicture && !screen.isPaused) || nextPicture == 0 else { return true }
      nextPicture = now + 1 / Self.pictureRate
      let (columns, rows) = Terminal.size(STDOUT_FILENO)
      let lines = screen.lines(model, columns: columns, rows: rows)
      // Home; each line cleared before it is written, since clearing behind a full line takes its last character.
      try context.output.write("\u{1B}[H\u{1B}[K" + lines.joined(separator: "\r\n\u{1B}[K"))
      if lines.count < rows { try context.output.write("\r\n\u{1B}[J") }
      try context.output.flush()
      return true
    }
    return (end, model.losses)
  }
}
