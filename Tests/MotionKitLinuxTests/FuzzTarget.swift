import Glibc
import SensorFusion

@testable import MotionKitLinux

/// A parser that libFuzzer feeds (Tests/fuzz), and the quick tests with every input of Tests/Corpus.
///
/// Whatever stands in a file or comes from a network: no trap, no endless loop, and the promises that `expect` states.
/// An input that ever goes wrong is kept in Tests/Corpus.
enum FuzzTarget: String, CaseIterable {
  case csv
  case events
  case json
  case `import`
  case server = "iiod-server"
  case client = "iiod-client"
  case scan

  /// Feeds one input. Throws where a promise is broken.
  func feed(_ bytes: [UInt8]) throws {
    switch self {
    case .csv: try fuzzSampleFile(bytes)
    case .events: try fuzzEventFile(bytes)
    case .json: try fuzzSessionInfo(bytes)
    case .import: try fuzzImport(bytes)
    case .server: try fuzzServer(bytes)
    case .client: try fuzzClient(bytes)
    case .scan: try fuzzScan(bytes)
    }
  }
}

/// Something did not hold.
struct BrokenPromise: Error {
  var what: String
}

private func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw BrokenPromise(what: what()) }
}

// MARK: Recordings

/// What the last byte chooses, so that files are inputs as they are: 0 for one that ends with a line end.
private func choice(_ bytes: [UInt8]) -> UInt8 { (bytes.last ?? 0x0A) ^ 0x0A }

/// The last byte chooses the sensor and whether its usual header stands before the rest.
private func fuzzSampleFile(_ bytes: [UInt8]) throws {
  let choice = choice(bytes)
  let kind = SensorKind.allCases[Int(choice >> 1) % SensorKind.allCases.count]
  let header = choice & 1 == 0 ? Array((SessionFile(kind).header + "\n").utf8) : []
  let text = header + bytes
  let (all, report) = readSamples(kind, text, capacity: 1 << 14)
  let (again, _) = readSamples(kind, text, capacity: 512)
  guard let all, let again else { return }
  // A line that is longer than the small buffer is damaged there and none here.
  if text.split(separator: 0x0A).allSatisfy({ $0.count < 400 }) {
    try expect(all.elementsEqual(again, by: isSame), "a small buffer reads other samples")
  }
  for (a, b) in zip(all, all.dropFirst()) { try expect(a.time <= b.time, "times fall") }
  guard choice & 1 == 0 else { return }
  let dropped = [ReadReport.Finding.damagedLine, .wrongWidth, .blankRow, .badRow, .blankCell, .backward, .ahead]
    .reduce(0) { $0 + report.count($1) }
  let rows = Int64(text.count { $0 == 0x0A }) - 1
  try expect(Int64(all.count) + dropped == rows, "\(all.count) read and \(dropped) dropped of \(rows) rows")
  // What was read is written and read back as the same bits.
  let buffer = RowBuffer()
  for byte in SessionFile(kind).header.utf8 { buffer.append(byte: byte) }
  buffer.newline()
  for sample in all { buffer.append(row: sample) }
  let (written, _) = readSamples(kind, Array(buffer.bytes), capacity: 1 << 14)
  try expect(written?.elementsEqual(all, by: isSame) ?? all.isEmpty, "what is written reads back differently")
}

private func isSame(_ a: SensorSample, _ b: SensorSample) -> Bool {
  func bits(_ value: Float) -> UInt32 { value.isNaN ? Float.nan.bitPattern : value.bitPattern }
  return a.time == b.time && bits(a.x) == bits(b.x) && bits(a.y) == bits(b.y) && bits(a.z) == bits(b.z)
}

private func readSamples(_ kind: SensorKind, _ text: [UInt8], capacity: Int) -> ([SensorSample]?, ReadReport) {
  let lines = LineReader(path: "x.csv", source: MemoryBytes(text), capacity: capacity)
  guard let reader = try? SampleFileReader(kind, lines: lines, skipsBadRows: true) else { return (nil, ReadReport()) }
  var samples: [SensorSample] = []
  do {
    while let sample = try reader.next() { samples.append(sample) }
  } catch { return (nil, reader.report) }
  return (samples, reader.report)
}

private func fuzzEventFile(_ bytes: [UInt8]) throws {
  let lines = LineReader(path: "events.csv", source: MemoryBytes(bytes), capacity: 1 << 14)
  guard let reader = try? EventFileReader(lines: lines) else { return }
  var count = 0
  while (try? reader.next()) != nil { count += 1 }
  try expect(count <= bytes.count, "more events than bytes")
}

private func fuzzSessionInfo(_ bytes: [UInt8]) throws {
  func read(_ text: [UInt8]) throws(MotionKitError) -> SessionInfo {
    var missing: [String] = []
    return try text.withTypedUnsafeBytes { (text) throws(MotionKitError) in
      try SessionInfo(json: text, path: "session.json", missing: &missing)
    }
  }
  guard let info = try? read(bytes) else { return }
  let text = info.jsonText()
  let again = (try? read(Array(text.utf8)))?.jsonText()
  try expect(again == text, "session.json reads back differently")
}

// MARK: Logs of other programs

private let importPath: String = {
  let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  return "\(directory)/motionkit-fuzz-\(getpid()).csv"
}()

/// The last byte chooses the options.
private func fuzzImport(_ bytes: [UInt8]) throws {
  let choice = choice(bytes)
  let file = open(importPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  try expect(file >= 0, "no file can be written")
  let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
  close(file)
  try expect(written == bytes.count, "the file was not written")
  var options = ImportOptions()
  if choice & 1 != 0 { options.rate = 100 }
  if choice & 2 != 0 { options.accelerationUnit = "g" }
  if choice & 4 != 0 { options.rotationUnit = "deg/s" }
  if choice & 8 != 0 { options.missingAxesAreZero = true }
  if choice & 16 != 0 { options.ratesReplaceTimes = true }
  if choice & 32 != 0 { options.accelerationSign = .coreMotion }
  var importer = Importer(options: options)
  try? importer.read([importPath])
  try expect(importer.samples.count <= 5 * bytes.count, "more samples than bytes")
}

// MARK: IIO

private let board: EmulatedBoard = {
  var accelerometer = SensorDescription(kind: .accelerometer, name: "accel_3d", identity: "accel-base", rate: 100)
  accelerometer.resolution = 0.000980665
  var barometer = SensorDescription(kind: .barometer, name: "press", identity: "hub/press", rate: 50)
  barometer.resolution = 0.00001
  let sensors = [accelerometer, barometer]
  return EmulatedBoard(
    describing: SourceDescription(uri: "test:hub", sensors: sensors, isLive: false), hasTemperature: false)
}()

/// Two clients talk in turns, in pieces that end where a byte is 0xFF; samples come and time passes between them.
private func fuzzServer(_ bytes: [UInt8]) throws {
  var engine = IIODEngine(board: board)
  let clients = [engine.connect(), engine.connect()]
  var now: Int64 = 0
  for (index, piece) in bytes.split(separator: 0xFF, omittingEmptySubsequences: false).prefix(64).enumerated() {
    let client = clients[index % 2]
    now += 7_000_000
    if engine.wantsInput(from: client) { engine.receive(Array(piece), from: client, at: now) }
    let value = Float(index) - 7.5
    engine.deliver(
      SensorSample(time: Timestamp(nanoseconds: now), kind: .accelerometer, x: value, y: -value, z: 9.8), at: now)
    engine.advance(to: now)
    for client in clients {
      try expect(engine.pendingOutput(of: client) <= (64 << 10) + (1 << 20), "an answer grows without bounds")
    }
    _ = engine.takeOutput(of: client, at: now)
  }
  // A newcomer is served as if nothing had been.
  let newcomer = engine.connect()
  engine.receive(Array("VERSION\r\n".utf8), from: newcomer, at: now)
  try expect(!engine.takeOutput(of: newcomer, at: now).isEmpty, "a newcomer is not answered")
}

/// A server that says the input to everybody who connects, whatever they ask, and hangs up.
private final class Parrot: Sendable {
  let port: UInt16
  private let words = Locked<[UInt8]>([])

  init?() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isBound, listen(listener, 16) == 0 else { return nil }
    port = UInt16(bigEndian: address.sin_port)
    let words = words
    let started: SystemThread? = try? SystemThread(name: "parrot") {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { continue }
        let text = words.withLock { $0 }
        // A client may have several connections at once.
        let talk: Void? = try? SystemThread.detach(name: "parrot") { Self.talk(client, text) }
        if talk == nil { close(client) }
      }
    }
    if started == nil { return nil }
  }

  private static func talk(_ client: Int32, _ text: [UInt8]) {
    _ = text.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    shutdown(client, Int32(SHUT_WR))
    // Takes what the client has to say, until it goes too.
    var rest = [UInt8](repeating: 0, count: 4096)
    while recv(client, &rest, rest.count, 0) > 0 {}
    close(client)
  }

  func learn(_ text: [UInt8]) { words.withLock { $0 = text } }
}

private let parrot: Parrot? = {
  signal(SIGPIPE, SIG_IGN)
  return Parrot()
}()

/// The answers of a server to libiio and to what is built on it: the description of the board, attributes, samples.
private func fuzzClient(_ bytes: [UInt8]) throws {
  guard let parrot else { throw BrokenPromise(what: "no port for the server") }
  parrot.learn(bytes)
  guard let context = try? IIOContext(uri: "ip:127.0.0.1:\(parrot.port)") else { return }
  context.setTimeout(milliseconds: 100)
  let inventory = context.inventory(isLocal: false)
  for candidate in inventory.candidates { _ = inventory.describe(candidate) }
  for device in context.devices.prefix(2) {
    for channel in device.channels { channel.setEnabled(true) }
    guard let buffer = try? device.createBuffer(sampleCount: 4), let samples = try? buffer.refill() else { continue }
    try expect(samples.count <= 1 << 20, "more samples than were asked for")
  }
}

/// Lines of text for what a driver says of itself, then, behind a NUL, a buffer in the formats that the lines tell.
private func fuzzScan(_ bytes: [UInt8]) throws {
  let text = bytes.prefix { $0 != 0 }
  let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).prefix(8).map {
    String(decoding: $0, as: UTF8.self)
  }
  for line in lines {
    _ = Double(iioText: line)
    _ = AvailableValues(line)?.nearest(atOrAbove: 100)
    _ = MountMatrix(line)?.isOrthonormal
  }
  let formats = lines.compactMap { ScanFormat($0) }
  let layout = ScanLayout(byteCounts: formats.map(\.byteCount))
  try expect(layout.sampleSize >= layout.unpaddedSize, "a sample is smaller than its elements")
  for (offset, format) in zip(layout.offsets, formats) {
    let isInside = offset % format.byteCount == 0 && offset + format.byteCount <= layout.sampleSize
    try expect(isInside, "an element lies outside")
  }
  guard formats.count >= 4, layout.sampleSize <= 1 << 20 else { return }
  let plans = (0..<3).map { index in
    ChannelPlan(
      id: "accel_\(index)", conversion: Conversion(offset: 0, scale: 0.001, unit: 1), hasInput: false, hasRaw: true,
      unit: 1, scanIndex: index, format: formats[index])
  }
  let sensor = SensorModel(
    kind: .accelerometer, channels: plans, matrix: lines.last.flatMap { MountMatrix($0) }, rate: 100)
  let offsets = Dictionary(uniqueKeysWithValues: layout.offsets.prefix(4).enumerated().map { ($0.offset, $0.element) })
  let decoder = SampleDecoder(sensors: [sensor], timestamp: (3, formats[3]), offsets: offsets)
  let buffer = Array(bytes.dropFirst(text.count + 1))
  var samples: [SensorSample] = []
  let count = buffer.withUnsafeBytes { decoder.decode($0, step: layout.sampleSize, into: &samples) }
  let isWhole = count == buffer.count / layout.sampleSize && samples.count == count
  try expect(isWhole, "\(samples.count) samples of \(count)")
}
