/// Which attributes a `READ` or `WRITE` is about.
enum AttributeGroup: Hashable, Sendable {
  case device
  case channel(String, isOutput: Bool)
  case buffer
  case debug
}

/// One line of the iiod protocol, as libiio 0.24 speaks it.
enum IIODCommand: Hashable, Sendable {
  case help
  case exit
  case print
  case version
  case timeout(milliseconds: UInt32)
  /// `mask` is nil where the text is no mask at all; its length is checked against the device later.
  case open(device: String, sampleCount: UInt32, mask: [UInt32], isCyclic: Bool)
  case close(device: String)
  /// All attributes of the group where `attribute` is nil.
  case read(device: String, AttributeGroup, attribute: String?)
  case write(device: String, AttributeGroup, attribute: String?, byteCount: Int64)
  case readBuffer(device: String, byteCount: UInt32)
  case writeBuffer(device: String, byteCount: UInt32)
  case getTrigger(device: String)
  case setTrigger(device: String, trigger: String?)
  case setBuffersCount(device: String, count: UInt32)

  /// What a line says.
  enum Line: Hashable, Sendable {
    /// Nothing: it gets no answer.
    case blank
    case command(IIODCommand)
    /// Nothing that is understood: -EINVAL.
    case invalid
  }

  /// Reads a line without its line feed. Any bytes are allowed.
  static func parse(_ bytes: some Collection<UInt8>) -> Line {
    var text = Array(bytes)
    while text.last == UInt8(ascii: "\r") { text.removeLast() }
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let words = text.split(whereSeparator: isSpace).map { String(decoding: $0, as: UTF8.self) }
    guard let first = text.first, let name = words.first else { return .blank }
    guard !isSpace(first) else { return words.isEmpty ? .blank : .invalid }
    // An empty attribute, written as two blanks before the count, stands for all of the group.
    let hasEmptyWord = zip(text, text.dropFirst()).contains { isSpace($0) && isSpace($1) }
    return command(name.uppercased(), Array(words.dropFirst()), hasEmptyWord: hasEmptyWord)
      .map(Line.command) ?? .invalid
  }

  private static func command(_ name: String, _ words: [String], hasEmptyWord: Bool) -> IIODCommand? {
    switch (name, words.count) {
    case ("HELP", 0): return .help
    case ("EXIT", 0): return .exit
    case ("PRINT", 0): return .print
    case ("VERSION", 0): return .version
    case ("TIMEOUT", 1): return .timeout(milliseconds: unsigned(words[0]))
    case ("OPEN", 3), ("OPEN", 4):
      guard words.count == 3 || words[3].uppercased() == "CYCLIC", let mask = mask(words[2]) else { return nil }
      return .open(device: words[0], sampleCount: unsigned(words[1]), mask: mask, isCyclic: words.count == 4)
    case ("CLOSE", 1): return .close(device: words[0])
    case ("READBUF", 2): return .readBuffer(device: words[0], byteCount: unsigned(words[1]))
    case ("WRITEBUF", 2): return .writeBuffer(device: words[0], byteCount: unsigned(words[1]))
    case ("GETTRIG", 1): return .getTrigger(device: words[0])
    case ("SETTRIG", 1): return .setTrigger(device: words[0], trigger: nil)
    case ("SETTRIG", 2): return .setTrigger(device: words[0], trigger: words[1])
    case ("SET", 3):
      guard words[1].uppercased() == "BUFFERS_COUNT" else { return nil }
      return .setBuffersCount(device: words[0], count: unsigned(words[2]))
    case ("READ", 1...):
      guard let (group, rest) = group(words.dropFirst()), rest.count <= 1 else { return nil }
      return .read(device: words[0], group, attribute: rest.first)
    case ("WRITE", 2...):
      guard let (group, rest) = group(words.dropFirst()), let count = rest.last, rest.count <= 2 else { return nil }
      guard rest.count == 2 || hasEmptyWord else { return nil }
      return .write(
        device: words[0], group, attribute: rest.count == 2 ? rest.first : nil, byteCount: number(count))
    default: return nil
    }
  }

  /// The group that the words after the device begin with, and what follows it.
  private static func group(_ words: ArraySlice<String>) -> (AttributeGroup, ArraySlice<String>)? {
    switch words.first?.uppercased() {
    case "BUFFER": return (.buffer, words.dropFirst())
    case "DEBUG": return (.debug, words.dropFirst())
    case "INPUT", "OUTPUT":
      guard words.count >= 2 else { return nil }
      let id = words[words.startIndex + 1]
      return (.channel(id, isOutput: words.first?.uppercased() == "OUTPUT"), words.dropFirst(2))
    default: return (.device, words)
    }
  }

  /// A number as C's `atol` reads it: the digits in front, 0 where there are none, the limit where it is too large.
  private static func number(_ text: String) -> Int64 {
    var digits = text.utf8[...]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
    var value: Int64 = 0
    for byte in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
      let (product, over) = value.multipliedReportingOverflow(by: 10)
      let (sum, more) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
      guard !over, !more else { return isNegative ? .min : .max }
      value = sum
    }
    return isNegative ? -value : value
  }

  /// The same in the 32 bits that iiod keeps counts in.
  private static func unsigned(_ text: String) -> UInt32 { UInt32(truncatingIfNeeded: number(text)) }

  /// A mask: eight hexadecimal digits for each 32 channels, the word of the highest channels first. Gives the lowest
  /// word first.
  private static func mask(_ text: String) -> [UInt32]? {
    let digits = Array(text.utf8)
    guard !digits.isEmpty, digits.count % 8 == 0, digits.count <= 128 else { return nil }
    var words: [UInt32] = []
    for start in stride(from: 0, to: digits.count, by: 8) {
      // The type's own reading would let a sign pass.
      let part = digits[start..<start + 8]
      guard !part.contains(UInt8(ascii: "+")), !part.contains(UInt8(ascii: "-")),
        let word = UInt32(String(decoding: part, as: UTF8.self), radix: 16)
      else { return nil }
      words.append(word)
    }
    return words.reversed()
  }
}
