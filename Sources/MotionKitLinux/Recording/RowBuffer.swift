/// Bytes of CSV rows on their way to a file or to a comparison. Not `Sendable`: one thread fills and empties it.
final class RowBuffer {
  private var storage: UnsafeMutablePointer<UInt8>
  private let tables = NumberTables.shared
  private var capacity: Int
  /// Bytes held.
  private(set) var count = 0

  init(capacity: Int = 4096) {
    self.capacity = max(capacity, CellWriter.longestCell)
    storage = .allocate(capacity: self.capacity)
  }

  deinit { storage.deallocate() }

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
