import CZstd

// Compressed files of sessions: zstd (RFC 8878). A file is a row of frames; what has been flushed within a frame can be
// read without the frame's end.

/// Packs the rows of one file.
final class ZstdPacker {
  private let context: OpaquePointer
  private var room: [UInt8]
  /// Bytes of text in the current frame.
  private var frameBytes = 0
  /// Whether a write has failed, so that what comes behind could not be unpacked.
  var isBroken = false

  /// zstd's own default: about as fast as rows are made.
  private static let level: Int32 = 3
  /// Two to the power of this many bytes are searched for repetitions: rows repeat what stands a few kilobytes before
  /// them, and a board has little memory for ten open files.
  private static let windowLog: Int32 = 17
  /// A frame ends at the next sync once it holds so much text: damage in it then costs no more than that.
  private static let frameSize = 256 * 1024

  /// nil without memory.
  init?() {
    guard let context = ZSTD_createCCtx() else { return nil }
    self.context = context
    room = [UInt8](repeating: 0, count: ZSTD_CStreamOutSize())
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, Self.windowLog)
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
  }

  deinit { ZSTD_freeCCtx(context) }

  /// Packs `text` so that a reader gets all of it, and appends it to `packed`; `isLast` also ends the frame.
  func pack(_ text: UnsafeRawBufferPointer, into packed: RowBuffer, isLast: Bool) {
    frameBytes += text.count
    guard frameBytes > 0 else { return }
    let endsFrame = isLast || frameBytes >= Self.frameSize
    var input = ZSTD_inBuffer(src: text.baseAddress, size: text.count, pos: 0)
    var rest = 1
    while rest > 0 {
      rest = room.withUnsafeMutableBytes { room in
        var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
        let rest = ZSTD_compressStream2(context, &output, &input, endsFrame ? ZSTD_e_end : ZSTD_e_flush)
        packed.append(bytes: UnsafeRawBufferPointer(rebasing: room[..<output.pos]))
        return ZSTD_isError(rest) == 0 ? rest : 0
      }
    }
    if endsFrame { frameBytes = 0 }
  }
}

/// The text of a packed file.
final class ZstdBytes: ByteSource {
  private let file: FileBytes
  private let context: OpaquePointer
  private var input: [UInt8]
  private var inputSize = 0
  private var inputPosition = 0
  /// Whether what is unpacked may not have fitted.
  private var mayHaveMore = false
  /// Bytes that the next block needs. No more is given at once: of a call that meets damage, nothing comes out.
  private var wanted: Int
  private(set) var isDamaged = false

  private let path: String
  /// Bytes given out, and those of them whose frame has ended well.
  private var given = 0
  private var vouchedFor = 0

  private let firstWanted: Int

  /// A file that needs a larger window than this, as a power of two, is not one of a recorder: 8 MiB.
  private static let largestWindowLog: Int32 = 23

  init(path: String) throws(FileFault) {
    self.path = path
    file = try FileBytes(path: path)
    guard let context = ZSTD_createDCtx() else { throw FileFault(errno: 12 /* ENOMEM */) }
    self.context = context
    input = [UInt8](repeating: 0, count: ZSTD_DStreamInSize())
    firstWanted = max(1, ZSTD_initDStream(context))
    wanted = firstWanted
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.largestWindowLog)
  }

  deinit { ZSTD_freeDCtx(context) }

  var progress: WorkProgress { file.progress }

  func read(into room: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    while !isDamaged {
      if inputPosition == inputSize, !mayHaveMore {
        inputSize = try input.withTypedUnsafeMutableBytes { (bytes) throws(FileFault) in try file.read(into: bytes) }
        inputPosition = 0
        if inputSize == 0 { return 0 }
      }
      let unpacked = input.withUnsafeBytes { bytes in
        var source = ZSTD_inBuffer(
          src: bytes.baseAddress, size: min(inputSize, inputPosition + wanted), pos: inputPosition)
        var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
        let result = ZSTD_decompressStream(context, &output, &source)
        isDamaged = ZSTD_isError(result) != 0
        inputPosition = source.pos
        given += output.pos
        if result == 0 { vouchedFor = given }
        wanted = isDamaged || result == 0 ? firstWanted : result
        return output.pos
      }
      mayHaveMore = unpacked == room.count
      if unpacked > 0 { return unpacked }
    }
    return 0
  }

  /// Read again for: few files are damaged.
  var firstDoubtfulLine: Int? {
    guard isDamaged, let again = try? ZstdBytes(path: path) else { return nil }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    var rest = vouchedFor
    var lines = 0
    while rest > 0 {
      let count = chunk.withUnsafeMutableBytes { (try? again.read(into: $0)) ?? 0 }
      if count == 0 { return nil }
      lines += chunk.prefix(min(count, rest)).count { $0 == UInt8(ascii: "\n") }
      rest -= min(count, rest)
    }
    return lines + 1
  }
}
