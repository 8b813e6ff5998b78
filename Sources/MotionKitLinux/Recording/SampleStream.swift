import SensorFusion

/// The rows of one raw file, for a reader that merges several files. Used by one thread.
///
/// Of a file that is more than a few thousand rows long a thread of its own reads the rest some blocks ahead, so that
/// the files of a session are read at the same time and beside what is done with their samples. What comes out is the same.
final class SampleStream {
  /// Where a block ends, and what is known there.
  private struct Block {
    var count = 0
    var state = State()
    /// Stands behind the block's last sample.
    var fault: MotionKitError?
  }

  /// What is told of a file behind a sample.
  private struct State {
    var report = ReadReport()
    var rows: Int64 = 0
    var isAtEnd = false
    var progress = WorkProgress()
  }

  let kind: SensorKind
  let file: SessionFile
  /// What is known where the rows begin that are given out now, and where they end.
  private var state: State
  private var endState: State

  /// Rows in one block.
  private static let blockSize = 4096
  /// Blocks that wait at most.
  private static let blocksAhead = 4
  /// Blocks that are read without a thread: a short file has no more.
  private static let blocksAlone = 1

  private let reader: SampleFileReader
  private var readAhead: ReadAhead?
  private let own: UnsafeMutablePointer<SensorSample>
  private var alone = 0
  private var fault: MotionKitError?

  /// What was tolerated before the rows that are given out now; all of it at the end.
  var report: ReadReport { state.report }
  /// Good rows up to there.
  var rows: Int64 { state.rows }
  /// Whether there is nothing behind it.
  var isAtEnd: Bool { state.isAtEnd }
  /// How much of the medium has been read.
  var progress: WorkProgress { state.progress }

  init(_ reader: SampleFileReader) {
    self.reader = reader
    kind = reader.kind
    file = reader.file
    own = .allocate(capacity: Self.blockSize)
    state = Self.state(of: reader)
    endState = state
  }

  deinit {
    readAhead?.stop()
    own.deallocate()
  }

  /// The next rows in order of time, valid until the next call; empty at the end. Throws at a cell that is no number.
  func next() throws(MotionKitError) -> UnsafeBufferPointer<SensorSample> {
    state = endState
    if let fault = takeFault() { throw fault }
    let rows: UnsafeBufferPointer<SensorSample>
    if let readAhead {
      let (block, samples) = readAhead.takeBlock()
      endState = block.state
      fault = block.fault
      rows = UnsafeBufferPointer(start: samples, count: block.count)
    } else {
      var count = 0
      do throws(MotionKitError) {
        count = try reader.read(into: own, capacity: Self.blockSize)
      } catch { fault = error }
      endState = Self.state(of: reader)
      rows = UnsafeBufferPointer(start: own, count: count)
      alone += 1
      if alone == Self.blocksAlone, count >= Self.blockSize - 1 { readAhead = ReadAhead(reader) }
    }
    if !rows.isEmpty { return rows }
    state = endState
    if let fault = takeFault() { throw fault }
    return rows
  }

  private func takeFault() -> MotionKitError? {
    defer { fault = nil }
    return fault
  }

  private static func state(of reader: SampleFileReader) -> State {
    State(report: reader.report, rows: reader.rows, isAtEnd: reader.isAtEnd, progress: reader.lines.progress)
  }

  /// A thread that fills blocks in a ring.
  private final class ReadAhead: @unchecked Sendable {
    private struct Ring {
      var blocks = Array(repeating: Block(), count: SampleStream.blocksAhead)
      /// Blocks filled and given out since the beginning.
      var filled = 0
      var taken = 0
      var isStopped = false
    }

    private let ring = Locked(Ring())
    private let samples: UnsafeMutablePointer<SensorSample>
    /// Belongs to the thread.
    private let reader: SampleFileReader
    private var thread: SystemThread?

    /// nil where the system gives no thread.
    init?(_ reader: SampleFileReader) {
      self.reader = reader
      samples = .allocate(capacity: SampleStream.blocksAhead * SampleStream.blockSize)
      // `stop` ends it before this object goes.
      let this = Unmanaged.passUnretained(self)
      thread = try? SystemThread(name: "read ahead") { this.takeUnretainedValue().run() }
      if thread == nil { return nil }
    }

    deinit { samples.deallocate() }

    /// Ends the thread.
    func stop() {
      ring.withLockNotifying { $0.isStopped = true }
      thread?.join()
      thread = nil
    }

    /// Gives the block before this one back and waits for the next; the last one again and again, empty, at the end.
    func takeBlock() -> (Block, UnsafeMutablePointer<SensorSample>) {
      defer { ring.signal() }
      return ring.wait(seconds: nil, until: { $0.filled > $0.taken }) { ring in
        let place = ring.taken % SampleStream.blocksAhead
        let block = ring.blocks[place]
        // The last block stays.
        if block.count > 0 || block.fault != nil { ring.taken += 1 }
        return (block, samples + place * SampleStream.blockSize)
      }
    }

    private func run() {
      while true {
        // The block that the other side reads is not among the free ones.
        let place: Int? = ring.wait(
          seconds: nil, until: { $0.isStopped || $0.filled - $0.taken < SampleStream.blocksAhead - 1 },
          then: { $0.isStopped ? nil : $0.filled % SampleStream.blocksAhead })
        guard let place else { return }
        var block = Block()
        do throws(MotionKitError) {
          block.count = try reader.read(
            into: samples + place * SampleStream.blockSize, capacity: SampleStream.blockSize)
        } catch { block.fault = error }
        block.state = SampleStream.state(of: reader)
        let isLast = block.count == 0 && block.fault == nil
        ring.withLockNotifying { ring in
          ring.blocks[place] = block
          ring.filled += 1
        }
        if isLast { return }
      }
    }
  }
}
