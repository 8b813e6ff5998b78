import SensorFusion
import Testing

@testable import MotionKitLinux

@Suite("scan elements") struct ScanFormatTests {
  private func bytes(_ hex: String) -> [UInt8] {
    hex.split(separator: " ").map { $0 == "PAD" ? 0xA5 : UInt8($0, radix: 16) ?? 0 }
  }

  /// Puts the bytes at an odd address: nothing may rely on alignment.
  private func decode(_ format: ScanFormat, _ hex: String, at offset: Int = 0) -> Int64 {
    ([0xEE] + bytes(hex)).withUnsafeBytes { raw in
      raw.baseAddress.map { format.integer(at: $0 + 1 + offset) } ?? 0
    }
  }

  @Test(
    "case 38: every vector decodes to the listed value",
    arguments: [
      ("le:s12/16>>4", "F0 FF", [-1]), ("le:s12/16>>4", "00 80", [-2048]), ("be:s16/16>>0", "FF 38", [-200]),
      ("be:u24/32>>8", "12 34 56 00", [1_193_046]),
      ("le:s32/32X4>>0", "00 00 00 00 00 00 00 00 00 00 00 00 FF FF FF 7F", [0, 0, 0, 2_147_483_647]),
    ])
  func vectors(text: String, hex: String, values: [Int64]) throws {
    let format = try #require(ScanFormat(text))
    for (index, value) in values.enumerated() {
      #expect(decode(format, hex, at: index * format.storageBits / 8) == value)
    }
  }

  @Test("case 38: three 16-bit values, padding and a time stamp")
  func layoutWithTimestamp() throws {
    let layout = ScanLayout(byteCounts: [2, 2, 2, 8])
    #expect(layout.offsets == [0, 2, 4, 8])
    #expect(layout.sampleSize == 16)
    let hex = "01 00 02 00 03 00 PAD PAD 08 07 06 05 04 03 02 01"
    let small = try #require(ScanFormat("le:s16/16>>0"))
    let stamp = try #require(ScanFormat("le:s64/64>>0"))
    #expect(layout.offsets.prefix(3).map { decode(small, hex, at: $0) } == [1, 2, 3])
    #expect(decode(stamp, hex, at: layout.offsets[3]) == 0x0102_0304_0506_0708)
  }

  @Test("bits above the value are garbage and masked away; the sign comes from the value's own top bit")
  func garbageBits() throws {
    // As a HID hub delivers it: ed05 41fa, of which only ed05 counts.
    #expect(decode(try #require(ScanFormat("le:s16/32>>0")), "ed 05 41 fa") == 0x05ed)
    #expect(decode(try #require(ScanFormat("le:s16/32>>0")), "41 fa 6b ef") == Int64(Int16(bitPattern: 0xfa41)))
    #expect(decode(try #require(ScanFormat("le:u12/16>>4")), "f7 ff") == 4095)
    #expect(decode(try #require(ScanFormat("le:s24/32>>0")), "ff ff ff 12") == -1)
  }

  @Test("64-bit values keep all bits, and large unsigned ones stay positive")
  func wide() throws {
    let unsigned = try #require(ScanFormat("le:u64/64>>0"))
    let value = [UInt8](repeating: 0xff, count: 8).withUnsafeBytes { raw in
      raw.baseAddress.map { unsigned.value(at: $0) } ?? 0
    }
    #expect(value == 0x1p64)
    #expect(decode(try #require(ScanFormat("be:s64/64>>0")), "80 00 00 00 00 00 00 00") == .min)
  }

  @Test("libiio's capital letters are read; what cannot be is refused", arguments: ["be:S16/16>>0", "le:U8/8>>0"])
  func capitals(text: String) {
    #expect(ScanFormat(text) != nil)
  }

  @Test(
    "bad formats are refused",
    arguments: [
      "", "le:", "le:s12", "le:s12/15>>0", "le:x12/16>>0", "xe:s12/16", "le:s17/16>>0", "le:s16/16>>1", "le:s0/8",
      "le:s8/8X0", "le:s16/16>>4294967296", "le:s16/16>>0 trailing",
    ])
  func refused(text: String) {
    #expect(ScanFormat(text) == nil)
  }

  @Test("samples are padded to their largest element, as the kernel does and libiio 0.24 does not")
  func kernelPadding() {
    // lps22hb: s24/32 and s16/16 without a stamp.
    let pressure = ScanLayout(byteCounts: [4, 2])
    #expect((pressure.unpaddedSize, pressure.sampleSize) == (6, 8))
    #expect(pressure.requestCount(atLeast: 1) % 4 == 0)
    // A rotation quaternion of 4 x 32 bits and a stamp.
    let rotation = ScanLayout(byteCounts: [16, 8])
    #expect((rotation.unpaddedSize, rotation.sampleSize) == (24, 32))
    let count = rotation.requestCount(atLeast: 5)
    #expect(count >= 5 && count * rotation.unpaddedSize % rotation.sampleSize == 0)
    #expect(ScanLayout(byteCounts: [2, 2, 2, 8]).requestCount(atLeast: 7) == 7)
  }

  @Test("a whole batch of a six-axis part: offsets, conversions and stamps")
  func decoder() throws {
    let format = try #require(ScanFormat("le:S16/16>>0"))
    let stamp = try #require(ScanFormat("le:S64/64>>0"))
    func channels(_ first: Int, _ scale: Double) -> [ChannelPlan] {
      (0..<3).map {
        ChannelPlan(
          id: "\(first + $0)", conversion: Conversion(offset: 0, scale: scale, unit: 1), hasInput: false, hasRaw: true,
          unit: 1, scanIndex: first + $0, format: format)
      }
    }
    var accelerometer = SensorModel(kind: .accelerometer, channels: channels(7, 0.001197), rate: 0)
    accelerometer.matrix = MountMatrix("0, 1, 0; -1, 0, 0; 0, 0, 1")
    let gyroscope = SensorModel(kind: .gyroscope, channels: channels(4, 0.001065), rate: 0)
    let layout = ScanLayout(byteCounts: [2, 2, 2, 2, 2, 2, 8])
    #expect(layout.sampleSize == 24)
    let offsets = Dictionary(uniqueKeysWithValues: zip(4...10, layout.offsets))
    let decoder = SampleDecoder(sensors: [accelerometer, gyroscope], timestamp: (10, stamp), offsets: offsets)
    var raw: [UInt8] = []
    for index in 0..<5 {
      for value in [1, 2, 3, 100, 200, 8010] as [Int16] {
        withUnsafeBytes(of: (value + Int16(index)).littleEndian) { raw += $0 }
      }
      raw += [0xA5, 0xA5, 0xA5, 0xA5]
      withUnsafeBytes(of: Int64(1_000_000 * index).littleEndian) { raw += $0 }
    }
    var samples: [SensorSample] = []
    let count = raw.withUnsafeBytes { decoder.decode($0, step: layout.sampleSize, into: &samples) }
    #expect(count == 5 && samples.count == 10)
    let third = samples.filter { $0.time.nanoseconds == 2_000_000 }
    #expect(third.count == 2)
    #expect(third.first { $0.kind == .gyroscope }?.x == Float(3 * 0.001065))
    let turned = third.first { $0.kind == .accelerometer }
    #expect(turned?.x == Float(202 * 0.001197))
    #expect(turned?.y == Float(-102 * 0.001197))
    #expect(turned?.z == Float(8012 * 0.001197))
  }
}
