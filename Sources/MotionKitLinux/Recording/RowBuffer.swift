import SensorFusion

/// Bytes of CSV rows on their way to a file or to a comparison. Not `Sendable`: one thread fills and empties it.
final class RowBuffer {
  private var storage: UnsafeMutablePointer<UInt8>
  private let tables = NumberTables.shared
  private var capacity: Int
  /// Bytes held.
  private(set) var count = 0
  /// Of the newest row of device_motion.csv: the field, and what the corrections of the filter change.
  private let field: UnsafeMutablePointer<RepeatedCells>
  private let corrections: UnsafeMutablePointer<RepeatedCells>

  init(capacity: Int = 4096) {
    self.capacity = max(capacity, CellWriter.longestCell)
    storage = .allocate(capacity: self.capacity)
    // By a pointer: an access to a property of an object would be checked for every row.
    field = .allocate(capacity: 1)
    field.initialize(to: RepeatedCells())
    corrections = .allocate(capacity: 1)
    corrections.initialize(to: RepeatedCells())
  }

  deinit {
    storage.deallocate()
    for cells in [field, corrections] {
      cells.pointee.deallocate()
      cells.deallocate()
    }
  }

  /// What is held; valid until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

  func removeAll() { count = 0 }

  /// Forgets the first `n` bytes.
  func removeFirst(_ n: Int) {
    count -= n
    storage.update(from: storage + n, count: count)
  }

  @inline(__always)
  private func makeRoom(_ extra: Int) {
    if capacity - count < extra { grow(extra) }
  }

  @inline(never)
  private func grow(_ extra: Int) {
    let newCapacity = max(capacity * 2, count + extra)
    let new = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
    new.update(from: storage, count: count)
    storage.deallocate()
    storage = new
    capacity = newCapacity
  }

  @inline(__always)
  func append(byte: UInt8) {
    makeRoom(1)
    storage[count] = byte
    count += 1
  }

  func append(bytes: UnsafeRawBufferPointer) {
    makeRoom(bytes.count)
    UnsafeMutableRawBufferPointer(start: storage + count, count: bytes.count).copyMemory(from: bytes)
    count += bytes.count
  }

  /// Lets `body` write at most `cells` cells with the commas between them.
  @inline(__always)
  func write(cells: Int, _ body: (inout CellWriter) -> Void) {
    makeRoom(cells &* CellWriter.longestCell)
    var writer = CellWriter(storage + count, tables)
    body(&writer)
    count = writer.place - storage
  }

  /// The three cells of a field, each behind a comma.
  @inline(__always)
  func putField(_ field: Vector3, into cells: inout CellWriter) {
    self.field.pointee.put((field.x, field.y, field.z, 0, 0), count: 3, into: &cells)
  }

  /// The five cells that change with corrections only, each behind a comma.
  @inline(__always)
  func putCorrections(tiltSigma: Double, bias: Vector3, biasSigma: Double, into cells: inout CellWriter) {
    corrections.pointee.put((tiltSigma, bias.x, bias.y, bias.z, biasSigma), count: 5, into: &cells)
  }

  func comma() { append(byte: UInt8(ascii: ",")) }
  func newline() { append(byte: UInt8(ascii: "\n")) }

  /// Text as one cell, quoted where RFC 4180 asks for it.
  func append(cell text: String) {
    let needsQuotes = text.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
    makeRoom(2 * text.utf8.count + 2)
    if needsQuotes { append(byte: 0x22) }
    for byte in text.utf8 {
      if byte == 0x22 { append(byte: 0x22) }
      append(byte: byte)
    }
    if needsQuotes { append(byte: 0x22) }
  }

  func append(_ value: Float) { write(cells: 1) { $0.put(value) } }
  func append(_ value: Double) { write(cells: 1) { $0.put(value) } }
  func append(_ value: Int64) { write(cells: 1) { $0.put(value) } }
  func append(nanoseconds: Int64) { write(cells: 1) { $0.put(nanoseconds: nanoseconds) } }
}

/// The text of some cells, kept for the next row: from one to the next most of them stay the same.
private struct RepeatedCells {
  private static let most = 5
  /// nil until something has been written.
  private var text: UnsafeMutablePointer<UInt8>?
  private var length = 0
  private var numbers = (0.0, 0.0, 0.0, 0.0, 0.0)

  /// Writes the first `count` (at most five) of these numbers, each behind a comma.
  @inline(__always)
  mutating func put(_ new: (Double, Double, Double, Double, Double), count: Int, into cells: inout CellWriter) {
    // By their bits: -0 is not 0, and NaN is NaN.
    let changed =
      (new.0.bitPattern ^ numbers.0.bitPattern) | (new.1.bitPattern ^ numbers.1.bitPattern)
      | (new.2.bitPattern ^ numbers.2.bitPattern) | (new.3.bitPattern ^ numbers.3.bitPattern)
      | (new.4.bitPattern ^ numbers.4.bitPattern)
    if let text, changed == 0 { return cells.put(text, count: length) }
    rewrite(new, count: count, into: &cells)
  }

  @inline(never)
  private mutating func rewrite(
    _ new: (Double, Double, Double, Double, Double), count: Int, into cells: inout CellWriter
  ) {
    let begin = cells.place
    func put(_ number: Double, _ index: Int) {
      guard index < count else { return }
      cells.comma()
      cells.put(number)
    }
    put(new.0, 0)
    put(new.1, 1)
    put(new.2, 2)
    put(new.3, 3)
    put(new.4, 4)
    let kept = text ?? .allocate(capacity: Self.most * CellWriter.longestCell)
    text = kept
    length = cells.place - begin
    kept.update(from: begin, count: length)
    numbers = new
  }

  func deallocate() { text?.deallocate() }
}
