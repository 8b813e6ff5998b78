import SensorFusion

/// What a chip or a sensor hub computes by itself from its sensors.
public enum FusedKind: String, CaseIterable, Hashable, Sendable, Comparable {
  /// The device's attitude: `in_rot_quaternion`, a unit quaternion from the device's axes to the earth's as the driver
  /// defines them (HID hubs: east, north, up).
  case attitude
  /// Gravity in the device's axes, m/s²: `in_gravity_x` and so on, with the sign of the driver.
  case gravity
  /// Acceleration without gravity, m/s²: `in_accel_linear_x` and so on.
  case linearAcceleration = "linear_acceleration"

  /// By name.
  public static func < (a: FusedKind, b: FusedKind) -> Bool { a.rawValue < b.rawValue }

  /// The file that they are recorded in, in the session's directory.
  public var fileName: String { "fused_\(rawValue).csv" }

  /// The file's columns.
  public var columns: [String] {
    switch self {
    case .attitude: ["timestamp_s", "quaternion_w", "quaternion_x", "quaternion_y", "quaternion_z"]
    case .gravity, .linearAcceleration: ["timestamp_s", "x_m_s2", "y_m_s2", "z_m_s2"]
    }
  }

  /// As a person says it.
  public var words: String { self == .linearAcceleration ? "linear acceleration" : rawValue }

  /// How many numbers a value has.
  var count: Int { self == .attitude ? 4 : 3 }
}

/// One value of a chip's own fusion.
public struct FusedSample: Hashable, Sendable {
  /// When it was taken, boot clock.
  public var time: Timestamp
  /// What it is.
  public var kind: FusedKind
  /// For `attitude` w, x, y, z; else x, y, z and 0.
  public var values: SIMD4<Float>

  /// A value.
  public init(time: Timestamp, kind: FusedKind, values: SIMD4<Float>) {
    self.time = time
    self.kind = kind
    self.values = values
  }
}

/// A device that computes something by itself, and how that is read: a plain value.
struct FusedModel: Hashable, Sendable {
  var kind: FusedKind
  var device: DeviceModel
  /// One channel with a repeated element (a quaternion), or one an axis.
  var channels: [ChannelModel]
  var conversions: [Conversion]
  var rateChannel: String?
  var hasRate: Bool
  var available: AvailableValues?

  /// Whether it can be read from a buffer.
  var isBuffered: Bool { channels.allSatisfy { $0.scanIndex != nil && $0.format != nil } }

  /// What the devices of a context compute, and why something is left out. The first device of a kind is taken.
  static func find(in devices: [DeviceModel]) -> (models: [FusedModel], notes: [String]) {
    var models: [FusedModel] = []
    var notes: [String] = []
    for device in devices {
      for kind in FusedKind.allCases where !models.contains(where: { $0.kind == kind }) {
        let channels = names(of: kind).compactMap { device.channel($0) }
        guard channels.count == names(of: kind).count else { continue }
        var conversions: [Conversion] = []
        for channel in channels {
          let scale = device.lookUp("scale", of: channel).flatMap { Double(iioText: $0.text) }
          let offset = device.lookUp("offset", of: channel).flatMap { Double(iioText: $0.text) } ?? 0
          if let scale, scale > 0 { conversions.append(Conversion(offset: offset, scale: scale, unit: 1)) }
        }
        let isRepeated = kind != .attitude || (channels[0].format.map { $0.repeatCount == 4 } ?? true)
        guard conversions.count == channels.count, isRepeated else {
          notes.append("\(device.title): its \(kind.rawValue) has no scale or no four parts; left out")
          continue
        }
        let first = channels[0]
        let hasOwnRate = first.files["sampling_frequency"] != nil
        models.append(
          FusedModel(
            kind: kind, device: device, channels: channels, conversions: conversions,
            rateChannel: hasOwnRate ? first.id : nil,
            hasRate: hasOwnRate || device.attributes.contains("sampling_frequency"),
            available: device.lookUp("sampling_frequency_available", of: first).flatMap { AvailableValues($0.text) }))
      }
    }
    return (models, notes)
  }

  /// libiio's ids of the channels.
  private static func names(of kind: FusedKind) -> [String] {
    switch kind {
    case .attitude: ["rot_quaternion"]
    case .gravity: ["gravity_x", "gravity_y", "gravity_z"]
    case .linearAcceleration: ["accel_linear_x", "accel_linear_y", "accel_linear_z"]
    }
  }

  /// The value of one sample in a buffer; `offsets` are those of `channels`.
  func value(at start: UnsafeRawPointer, offsets: [Int]) -> SIMD4<Float> {
    var raw = SIMD4<Double>(repeating: 0)
    for (index, channel) in channels.enumerated() {
      guard let format = channel.format else { continue }
      for part in 0..<(channels.count == 1 ? kind.count : 1) {
        let place = start + offsets[index] + part * format.storageBits / 8
        raw[index + part] = conversions[index].value(format.value(at: place))
      }
    }
    return arranged(raw)
  }

  /// The value of texts as attributes show them: four numbers in one, or one each.
  func value(of texts: [String]) -> SIMD4<Float>? {
    let parts = texts.flatMap { $0.split(separator: " ") }.map { Double(iioText: String($0)) }
    guard parts.count == kind.count else { return nil }
    var raw = SIMD4<Double>(repeating: 0)
    for (index, part) in parts.enumerated() {
      guard let part else { return nil }
      raw[index] = conversions[channels.count == 1 ? 0 : index].value(part)
    }
    return arranged(raw)
  }

  /// IIO's order of a quaternion is x, y, z, w; ours is w first.
  private func arranged(_ raw: SIMD4<Double>) -> SIMD4<Float> {
    kind == .attitude ? SIMD4<Float>(SIMD4(raw.w, raw.x, raw.y, raw.z)) : SIMD4<Float>(raw)
  }
}
