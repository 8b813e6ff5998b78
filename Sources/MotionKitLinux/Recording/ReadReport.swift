/// What a reader found in a session's files that is not as it should be, and how it was treated. Nothing is tolerated
/// without being counted here.
public struct ReadReport: Hashable, Sendable {
  /// What was found.
  public enum Finding: String, Hashable, Sendable, CaseIterable {
    /// The last line has no end and was dropped, whether or not it reads as a row.
    case tornLastLine = "last line incomplete, dropped"
    /// A line with NUL bytes or without an end for a megabyte, as a power loss leaves them; dropped.
    case damagedLine = "damaged line, dropped"
    /// A compressed file that cannot be unpacked to its end; what follows is dropped.
    case damagedData = "compressed data damaged, the rest dropped"
    /// A row with fewer or more cells than the header has names; dropped.
    case wrongWidth = "row with a wrong number of cells, dropped"
    /// A row without a time or without any value; dropped.
    case blankRow = "row without values, dropped"
    /// A row with a cell that is no number; dropped by an import, a check and a repair (a replay stops there).
    case badRow = "row with a cell that is no number, dropped"
    /// A row in which a value is missing; dropped.
    case blankCell = "row with a blank cell, dropped"
    /// A value that is NaN or infinite; kept (the pipeline does not use it).
    case nonFinite = "value that is not finite, kept"
    /// A row older than the one before it in the same file; dropped.
    case backward = "row older than the one before it, dropped"
    /// A row whose time is ahead of the two rows behind it, which go on from the row before; dropped.
    case ahead = "row ahead of those after it, dropped"
    /// A row with the time of the one before it; kept.
    case duplicate = "row with the time of the one before it, kept"
    /// A byte order mark.
    case byteOrderMark = "byte order mark, skipped"
    /// Lines that end with CR LF.
    case crlf = "line ends are CR LF"
    /// A column that no one knows.
    case unknownColumn = "unknown column, ignored"
    /// A file whose first line does not hold the names of its columns; left out by a check and a repair (a replay does
    /// not begin).
    case badHeader = "no file of a session, left out"
    /// A part of a recording in parts is not there.
    case missingPart = "is missing, and the samples in it"
    /// A file that session.json speaks of is not there.
    case missingFile = "file is missing"
    /// The file has fewer good rows than session.json's closing summary tells.
    case fewerRows = "fewer good rows than session.json tells"
    /// There is no session.json: the sensors are known by their files alone.
    case missingInfo = "session.json is missing"
    /// session.json cannot be read: the sensors are known by their files alone.
    case badInfo = "session.json cannot be read"
    /// The recording was cut: session.json has no closing summary.
    case missingClosing = "the recording was cut: no closing summary"
    /// A setting that session.json does not tell; its default was taken.
    case missingSetting = "setting is not recorded, default taken"
  }

  /// One kind of finding in one file.
  public struct Entry: Hashable, Sendable {
    /// The file's name.
    public var file: String
    /// What was found.
    public var finding: Finding
    /// How often.
    public var count: Int64
    /// The line of the first one; 0 where it concerns the whole file.
    public var firstLine: Int
    /// More for a person; may be empty.
    public var detail: String
  }

  /// The findings, in the order of their first occurrence.
  public private(set) var entries: [Entry] = []

  /// Nothing found.
  public init() {}

  /// Whether nothing was found.
  public var isEmpty: Bool { entries.isEmpty }

  /// How often something was found, in all files.
  public func count(_ finding: Finding) -> Int64 {
    entries.reduce(0) { $0 + ($1.finding == finding ? $1.count : 0) }
  }

  /// One line for a person for each entry.
  public var notes: [String] { notes(of: [:]) }

  /// What a clean copy does with rows that a reader keeps.
  static let wordsOfCopies: [Finding: String] = [
    .nonFinite: "value that is not finite, row left out",
    .duplicate: "row with the time of the one before it, left out",
  ]

  /// The lines, with other words for some findings.
  func notes(of words: [Finding: String]) -> [String] {
    entries.map { entry in
      let verb = entry.finding == .missingPart ? " " : ": "
      var note = "\(entry.file)\(verb)\(words[entry.finding] ?? entry.finding.rawValue)"
      if entry.count > 1 { note += " (\(entry.count) times)" }
      if entry.firstLine > 0 {
        note += entry.count > 1 ? ", first at line \(entry.firstLine)" : ", line \(entry.firstLine)"
      }
      if !entry.detail.isEmpty { note += ": \(entry.detail)" }
      return note
    }
  }

  mutating func add(_ finding: Finding, file: String, line: Int = 0, count: Int64 = 1, detail: String = "") {
    if let index = entries.firstIndex(where: { $0.file == file && $0.finding == finding }) {
      entries[index].count += count
    } else {
      entries.append(Entry(file: file, finding: finding, count: count, firstLine: line, detail: detail))
    }
  }

  mutating func add(_ other: ReadReport) {
    for entry in other.entries {
      add(entry.finding, file: entry.file, line: entry.firstLine, count: entry.count, detail: entry.detail)
    }
  }
}
