import Glibc

/// A number as attributes take it: without a fraction where it has none.
func plainNumber(_ value: Double) -> String {
  if let whole = Int64(exactly: value) { return "\(whole)" }
  return "\(value)"
}

/// Attributes that were changed, to be put back.
struct AttributeChanges {
  private var list: [(device: String, channel: String?, attribute: String, before: String)] = []
  private var triggers: [(device: String, before: String?)] = []

  /// Remembers the trigger that a device had at first; nil for none.
  mutating func noteTrigger(_ device: IIODevice, before: String?) {
    let id = device.id
    if !triggers.contains(where: { $0.device == id }) { triggers.append((id, before)) }
  }

  /// Writes an attribute and remembers what it was at first. 0 or the errno.
  mutating func write(
    _ device: IIODevice, channel: IIOChannel?, _ attribute: String, _ text: String, before: String
  ) -> Int32 {
    let code = channel?.write(attribute, text) ?? device.write(attribute, text)
    let id = device.id
    let channelID = channel?.id
    if code == 0, !list.contains(where: { $0.device == id && $0.channel == channelID && $0.attribute == attribute }) {
      list.append((id, channelID, attribute, before))
    }
    return code
  }

  /// Whether there is nothing to put back.
  var isEmpty: Bool { list.isEmpty && triggers.isEmpty }

  /// A buffer that was just closed may still be on: iiod answers before it has switched it off. Attempts, and the time
  /// between two, nanoseconds.
  private static let attempts = 40
  private static let pause = 25_000_000

  /// Calls until the device is not busy any more.
  private static func whileBusy(_ write: () -> Int32) {
    for attempt in 1...attempts {
      guard write() == EBUSY, attempt < attempts else { return }
      var time = timespec(tv_sec: 0, tv_nsec: pause)
      nanosleep(&time, nil)
    }
  }

  /// Puts everything back, the last change first.
  mutating func restore(_ context: IIOContext) {
    guard !isEmpty else { return }
    let devices = Dictionary(context.devices.map { ($0.id, $0) }) { first, _ in first }
    for change in list.reversed() {
      guard let device = devices[change.device] else { continue }
      let channel = change.channel.flatMap { id in device.channels.first { $0.id == id } }
      if change.channel != nil, channel == nil { continue }
      Self.whileBusy {
        channel?.write(change.attribute, change.before) ?? device.write(change.attribute, change.before)
      }
    }
    for change in triggers {
      guard let device = devices[change.device] else { continue }
      let before = devices.values.first { $0.isTrigger && $0.name == change.before }
      Self.whileBusy { device.setTrigger(before) }
    }
    list.removeAll()
    triggers.removeAll()
  }
}
