import Glibc
import MotionKitLinux
import SensorFusion

/// `motionlog emulate`: a recording or a scene as the live sensors of a board, for any program that uses libiio.
enum EmulateCommand {
  static func run(_ arguments: ParsedArguments, _ context: inout Context) throws -> ExitCode {
    if arguments.operands.count > 1 { throw UsageError.unexpectedOperand(arguments.operands[1], command: "emulate") }
    if let operand = arguments.operands.first, arguments.has(.source) {
      throw UsageError.conflict("emulate takes one source: '\(operand)' or --source")
    }
    guard let uri = try arguments.operands.first.map(sourceURI(of:)) ?? arguments[.source] else {
      throw UsageError.missingOperand("the recording's directory or the scene's name", command: "emulate")
    }
    let (settings, duration) = try settings(arguments, uri)
    let emulator = try Emulator(uri: uri, settings: settings)
    defer { emulator.stop() }
    // The address is the command's result: scripts read it, and know by it that clients may come.
    let address = address(host: settings.host, port: emulator.server.port)
    try context.output.line(address)
    try context.output.flush()
    for device in emulator.server.board.devices where !device.isTrigger {
      let channels = device.channels.map(\.id).filter { $0 != "timestamp" }.joined(separator: " ")
      let rate = device.rate > 0 ? " at \(Format.short(device.rate)) Hz" : ""
      context.console.note("\(device.id) \(device.name): \(channels)\(rate)")
    }
    for note in emulator.description.notes + emulator.server.board.notes { context.console.detail(note) }
    context.console.note("try: iio_info -u \(address)   (Ctrl-C ends)")

    let end = try play(emulator, duration: duration, &context)
    report(emulator.server.statistics, &context)
    return Context.exitCode(of: end, duration: duration)
  }

  /// What an operand stands for: a URI, a directory that is there, otherwise a scene.
  static func sourceURI(of operand: String) throws(UsageError) -> String {
    guard !operand.isEmpty else {
      throw .missingOperand("the recording's directory or the scene's name", command: "emulate")
    }
    for scheme in ["file:", "sim:", "local:", "ip:", "usb:"] where operand.hasPrefix(scheme) { return operand }
    var status = stat()
    let isFile = stat(operand, &status) == 0
    return (isFile || operand.contains("/") ? "file:" : "sim:") + operand
  }

  private static func settings(
    _ arguments: ParsedArguments, _ uri: String
  ) throws(UsageError) -> (emulator: Emulator.Settings, duration: Double?) {
    let common = try RunSettings(arguments, source: uri)
    var settings = Emulator.Settings(port: IIODServer.usualPort)
    if arguments.has(.sensors) || arguments.has(.rate) {
      settings.rates = common.request.rates
      // A rate that was not asked for is the source's own.
      if !arguments.has(.rate) { for kind in settings.rates.keys { settings.rates[kind] = 0 } }
    }
    settings.isRequired = arguments.has(.sensors)
    settings.host = try arguments.path(.host, expected: "an address such as 127.0.0.1") ?? settings.host
    if let text = arguments[.port] {
      guard let port = UInt16(text) else {
        throw .badValue(
          option: Option.port.long, value: text, expected: "a number up to 65535, or 0 for any that is free")
      }
      settings.port = port
    }
    settings.loops = !arguments.has(.once)
    guard case .speed(let speed) = try ReplayCommand.pacing(arguments) else {
      throw .badValue(
        option: Option.speed.long, value: "max", expected: "a factor such as 1, 10 or 0.5: clients need time to read")
    }
    settings.speed = speed
    return (settings, common.duration)
  }

  /// The URI for clients on this machine; an IPv6 address stands in brackets.
  static func address(host: String, port: UInt16) -> String {
    switch host {
    case "0.0.0.0", "localhost": "ip:127.0.0.1:\(port)"
    case "::": "ip:[::1]:\(port)"
    default: "ip:\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
  }

  /// Plays until something ends it; on a terminal a line says how it goes.
  private static func play(
    _ emulator: Emulator, duration: Double?, _ context: inout Context
  ) throws -> RunEnd {
    let start = MotionRun.monotonicSeconds()
    let showsProgress = isatty(STDERR_FILENO) == 1 && !context.console.isQuiet
    var console = context.console
    var shown = start
    var end = RunEnd.endOfSource
    try emulator.run {
      if let signal = Signals.shared.stop {
        end = .signal(signal)
        return false
      }
      let now = MotionRun.monotonicSeconds()
      if let duration, now - start >= duration {
        end = .duration
        return false
      }
      if showsProgress, now - shown >= 1 {
        shown = now
        let statistics = emulator.server.statistics
        let seconds = Format.short((now - start).rounded())
        console.progress("\(seconds) s  \(statistics.clients) clients  \(statistics.samples) samples")
      }
      return true
    }
    context.console = console
    context.console.endProgress()
    return end
  }

  /// What was not served as it was.
  private static func report(_ statistics: IIODEngine.Statistics, _ context: inout Context) {
    context.console.detail("\(statistics.samples) samples, \(statistics.connections) connections")
    if statistics.refused > 0 {
      context.console.note(
        "\(statistics.refused) samples were dropped since clients did not read their buffers in time")
    }
    if statistics.clipped > 0 {
      context.console.warning("\(statistics.clipped) values lay outside the range of their channel and were cut off")
    }
    if statistics.inexact > 0 {
      context.console.detail("\(statistics.inexact) values were rounded to a whole count of their channel")
    }
  }
}
