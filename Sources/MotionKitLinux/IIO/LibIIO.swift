import CIIO
import Glibc

/// A libiio context, owned: destroyed with the last reference. Used by one thread at a time.
final class IIOContext {
  private let pointer: OpaquePointer

  /// Opens a context. Over the network this may take as long as libiio's own limit; see `probeNetwork`.
  init(uri: String) throws(MotionKitError) {
    guard let pointer = iio_create_context_from_uri(uri) else {
      throw MotionKitError.iio(.openContext, device: uri, errno: errno)
    }
    self.pointer = pointer
  }

  deinit { iio_context_destroy(pointer) }

  /// What the system says of itself: host, kernel, architecture.
  var summary: String { iio_context_get_description(pointer).map { String(cString: $0) } ?? "" }

  /// All devices, triggers included, in the order of their numbers.
  var devices: [IIODevice] {
    (0..<iio_context_get_devices_count(pointer))
      .compactMap { iio_context_get_device(pointer, $0) }
      .map { IIODevice(pointer: $0, context: self) }
      .sorted { ($0.id.count, $0.id) < ($1.id.count, $1.id) }
  }

  /// How long libiio waits for an answer, milliseconds.
  func setTimeout(milliseconds: UInt32) { _ = iio_context_set_timeout(pointer, milliseconds) }
}

/// One device or trigger of a context.
struct IIODevice {
  fileprivate let pointer: OpaquePointer
  /// Keeps the pointer alive.
  let context: IIOContext

  fileprivate init(pointer: OpaquePointer, context: IIOContext) {
    self.pointer = pointer
    self.context = context
  }

  var id: String { String(cString: iio_device_get_id(pointer)) }
  var name: String { iio_device_get_name(pointer).map { String(cString: $0) } ?? "" }
  var label: String { iio_device_get_label(pointer).map { String(cString: $0) } ?? "" }
  var isTrigger: Bool { iio_device_is_trigger(pointer) }

  /// Input channels, scan elements first in scan order.
  var channels: [IIOChannel] {
    (0..<iio_device_get_channels_count(pointer))
      .compactMap { iio_device_get_channel(pointer, $0) }
      .filter { !iio_channel_is_output($0) }
      .map { IIOChannel(pointer: $0) }
  }

  /// Names of the device's own attributes.
  var attributeNames: [String] {
    (0..<iio_device_get_attrs_count(pointer)).compactMap {
      iio_device_get_attr(pointer, $0).map { String(cString: $0) }
    }
  }

  /// Reads an attribute of the device: its text, or the errno.
  func read(_ attribute: String) -> AttributeResult {
    readText { iio_device_attr_read(pointer, attribute, $0, $1) }
  }

  /// Writes an attribute of the device: 0 or the errno.
  func write(_ attribute: String, _ text: String) -> Int32 {
    errorCode(iio_device_attr_write(pointer, attribute, text))
  }

  /// The trigger in use: nil where none is set or the device cannot have one, and whether it can.
  var trigger: (current: IIODevice?, isSupported: Bool) {
    var found: OpaquePointer?
    let result = iio_device_get_trigger(pointer, &found)
    if result == 0, let found { return (IIODevice(pointer: found, context: context), true) }
    return (nil, result != -ENOENT)
  }

  /// Sets the trigger, nil for none: 0 or the errno.
  func setTrigger(_ trigger: IIODevice?) -> Int32 {
    errorCode(Int(iio_device_set_trigger(pointer, trigger?.pointer)))
  }

  /// How many batches the kernel's buffer shall hold.
  func setKernelBufferCount(_ count: UInt32) { _ = iio_device_set_kernel_buffers_count(pointer, count) }

  /// Switches the buffer on for the channels that are enabled. Throws the errno.
  ///
  /// A channel that is said to have less than a byte is refused (EINVAL): libiio 0.24 divides by its size.
  func createBuffer(sampleCount: Int) throws(IIOFailure) -> IIOBuffer {
    for channel in channels where iio_channel_is_scan_element(channel.pointer) {
      guard let format = iio_channel_get_data_format(channel.pointer)?.pointee else { continue }
      guard !iio_channel_is_enabled(channel.pointer) || format.length / 8 * format.repeat > 0 else {
        throw IIOFailure(code: EINVAL)
      }
    }
    guard let buffer = iio_device_create_buffer(pointer, sampleCount, false) else { throw IIOFailure(code: errno) }
    return IIOBuffer(pointer: buffer, device: self)
  }
}

/// A channel of a device that is kept alive elsewhere.
struct IIOChannel {
  fileprivate let pointer: OpaquePointer

  fileprivate init(pointer: OpaquePointer) { self.pointer = pointer }

  var id: String { String(cString: iio_channel_get_id(pointer)) }
  var isScanElement: Bool { iio_channel_is_scan_element(pointer) }
  var index: Int { iio_channel_get_index(pointer) }

  var format: ScanFormat? {
    guard let format = iio_channel_get_data_format(pointer)?.pointee else { return nil }
    return ScanFormat(
      isBigEndian: format.is_be, isSigned: format.is_signed, bits: Int(format.bits), storageBits: Int(format.length),
      repeatCount: max(1, Int(format.repeat)), shift: Int(format.shift))
  }

  /// Attribute names with the files behind them; attributes shared between channels have the same file.
  var attributes: [(name: String, file: String)] {
    (0..<iio_channel_get_attrs_count(pointer)).compactMap { index in
      guard let name = iio_channel_get_attr(pointer, index) else { return nil }
      let file = iio_channel_attr_get_filename(pointer, name).map { String(cString: $0) }
      return (String(cString: name), file ?? String(cString: name))
    }
  }

  func read(_ attribute: String) -> AttributeResult {
    readText { iio_channel_attr_read(pointer, attribute, $0, $1) }
  }

  func write(_ attribute: String, _ text: String) -> Int32 {
    errorCode(iio_channel_attr_write(pointer, attribute, text))
  }

  func setEnabled(_ isEnabled: Bool) {
    if isEnabled { iio_channel_enable(pointer) } else { iio_channel_disable(pointer) }
  }
}

/// A buffer that is on: off again with the last reference.
final class IIOBuffer {
  private let pointer: OpaquePointer
  /// Keeps the device's context alive.
  private let device: IIODevice

  fileprivate init(pointer: OpaquePointer, device: IIODevice) {
    self.pointer = pointer
    self.device = device
  }

  deinit { iio_buffer_destroy(pointer) }

  /// Waits for a batch. Throws the errno; the buffer is of no use after that.
  func refill() throws(IIOFailure) -> UnsafeRawBufferPointer {
    let count = iio_buffer_refill(pointer)
    guard count >= 0 else { throw IIOFailure(code: Int32(-count)) }
    return UnsafeRawBufferPointer(start: iio_buffer_start(pointer), count: count)
  }

  /// Bytes from one sample to the next by libiio's rule, for the channels that are really in the buffer.
  var step: Int { iio_buffer_step(pointer) }

  /// Where the first value of a channel lies in the buffer, for the channels that are really in it.
  func offset(of channel: IIOChannel) -> Int {
    guard let first = iio_buffer_first(pointer, channel.pointer), let start = iio_buffer_start(pointer) else {
      return 0
    }
    return first - start
  }

  /// Wakes whoever waits in `refill`. The only call that is allowed from another thread.
  var canceller: IIOBufferCanceller { IIOBufferCanceller(pointer: pointer) }
}

/// Ends a waiting `refill` from another thread. Must not be used after the buffer is gone.
struct IIOBufferCanceller: @unchecked Sendable {
  fileprivate let pointer: OpaquePointer
  func cancel() { iio_buffer_cancel(pointer) }
}

/// An errno from libiio, positive.
struct IIOFailure: Error {
  var code: Int32
}

/// An attribute's text without the trailing newline, or the errno.
enum AttributeResult: Hashable, Sendable {
  case text(String)
  case failure(Int32)

  var text: String? {
    if case .text(let text) = self { return text }
    return nil
  }
}

private func errorCode(_ result: Int) -> Int32 { result < 0 ? Int32(-result) : 0 }

/// Reads an attribute; an interrupted call is made again.
private func readText(_ call: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> AttributeResult {
  // An attribute is at most a page; libiio passes larger ones in part.
  var buffer = [CChar](repeating: 0, count: 4096)
  for _ in 0..<3 {
    let count = buffer.withUnsafeMutableBufferPointer { call($0.baseAddress, $0.count) }
    if count == -Int(EINTR) || count == -Int(EAGAIN) { continue }
    guard count >= 0 else { return .failure(Int32(-count)) }
    var text = Substring(
      String(
        decoding: buffer[..<min(count, buffer.count)].prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    while let last = text.last, last.isWhitespace { text = text.dropLast() }
    return .text(String(text))
  }
  return .failure(EAGAIN)
}
