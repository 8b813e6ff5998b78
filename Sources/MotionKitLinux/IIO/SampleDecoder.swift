import SensorFusion

/// Turns the bytes of a batch into samples, with everything looked up beforehand. No allocation per sample.
struct SampleDecoder {
  /// One value: where it is and what it means.
  private struct Element {
    var offset: Int
    var format: ScanFormat
    var conversion: Conversion
  }
  private struct Sensor {
    var kind: SensorKind
    var x: Element
    var y: Element?
    var z: Element?
    /// Nil for the identity.
    var matrix: MountMatrix?
  }
  private var sensors: [Sensor] = []
  private var stamp: (offset: Int, format: ScanFormat)?

  /// - Parameters:
  ///   - sensors: What to decode; all their channels are buffered.
  ///   - timestamp: The format of the time stamp; nil where the device has none.
  ///   - offsets: Byte offset in a sample of each scan index in use.
  init(sensors: [SensorModel], timestamp: (index: Int, format: ScanFormat)?, offsets: [Int: Int]) {
    for sensor in sensors {
      let elements = sensor.channels.compactMap { channel -> Element? in
        guard let index = channel.scanIndex, let offset = offsets[index], let format = channel.format,
          let conversion = channel.conversion
        else { return nil }
        return Element(offset: offset, format: format, conversion: conversion)
      }
      guard elements.count == sensor.channels.count, let x = elements.first else { continue }
      let matrix = sensor.matrix == .identity ? nil : sensor.matrix
      self.sensors.append(
        Sensor(
          kind: sensor.kind, x: x, y: elements.count > 1 ? elements[1] : nil, z: elements.count > 2 ? elements[2] : nil,
          matrix: matrix))
    }
    if let timestamp, let offset = offsets[timestamp.index] { stamp = (offset, timestamp.format) }
  }

  /// Whether samples carry their own time.
  var hasStamps: Bool { stamp != nil }

  /// Samples that one sample of the device gives.
  var samplesPerScan: Int { sensors.count }

  /// Appends the samples of a batch, those of one instant together, with the device's own stamps (0 without).
  ///
  /// - Parameters:
  ///   - bytes: Whole samples, `step` bytes from one to the next; a rest is left alone.
  ///   - step: By the kernel's rule.
  ///   - samples: Where to put them.
  /// - Returns: How many device samples there were.
  @discardableResult
  func decode(_ bytes: UnsafeRawBufferPointer, step: Int, into samples: inout [SensorSample]) -> Int {
    guard let base = bytes.baseAddress, step > 0 else { return 0 }
    let count = bytes.count / step
    samples.reserveCapacity(samples.count + count * sensors.count)
    for index in 0..<count {
      let start = base + index * step
      let time = Timestamp(nanoseconds: stamp.map { $0.format.integer(at: start + $0.offset) } ?? 0)
      for sensor in sensors {
        let x = Self.value(sensor.x, start)
        guard let second = sensor.y else {
          samples.append(SensorSample(time: time, kind: sensor.kind, x: Float(x), y: .nan, z: 0))
          continue
        }
        let y = Self.value(second, start)
        guard let third = sensor.z else {
          samples.append(SensorSample(time: time, kind: sensor.kind, x: Float(x), y: Float(y), z: 0))
          continue
        }
        var v = Vector3(x, y, Self.value(third, start))
        if let matrix = sensor.matrix { v = matrix.apply(v) }
        samples.append(SensorSample(time: time, kind: sensor.kind, x: Float(v.x), y: Float(v.y), z: Float(v.z)))
      }
    }
    return count
  }

  @inline(__always)
  private static func value(_ element: Element, _ start: UnsafeRawPointer) -> Double {
    element.conversion.value(element.format.value(at: start + element.offset))
  }
}
