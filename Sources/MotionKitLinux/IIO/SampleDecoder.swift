import SensorFusion

/// Turns the bytes of a batch into samples, with everything looked up beforehand. No allocation per sample.
struct SampleDecoder {
  /// One value: where it is and what it means.
  private struct Element {
    var offset: Int
    var format: ScanFormat
    var conversion: Conversion
  }
  /// Flat, without optionals or references: copying and reading it costs nothing.
  private struct Sensor {
    var kind: SensorKind
    /// How many of x, y, z there are.
    var count: Int
    var x: Element
    var y: Element
    var z: Element
    var hasMatrix: Bool
    var rows: (Vector3, Vector3, Vector3)
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
      let rows = (sensor.matrix ?? .identity).rows
      self.sensors.append(
        Sensor(
          kind: sensor.kind, count: elements.count, x: x, y: elements.count > 1 ? elements[1] : x,
          z: elements.count > 2 ? elements[2] : x, hasMatrix: sensor.matrix.map { $0 != .identity } ?? false,
          rows: (rows[0], rows[1], rows[2])))
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
    let stampOffset = stamp?.offset ?? 0
    let stampFormat = stamp?.format
    sensors.withUnsafeBufferPointer { sensors in
      for index in 0..<count {
        let start = base + index * step
        let time = Timestamp(nanoseconds: stampFormat?.integer(at: start + stampOffset) ?? 0)
        for place in sensors.indices {
          samples.append(Self.sample(sensors[place], start, time))
        }
      }
    }
    return count
  }

  @inline(__always)
  private static func sample(_ sensor: Sensor, _ start: UnsafeRawPointer, _ time: Timestamp) -> SensorSample {
    let x = value(sensor.x, start)
    if sensor.count < 3 {
      let y = sensor.count == 2 ? value(sensor.y, start) : .nan
      return SensorSample(time: time, kind: sensor.kind, x: Float(x), y: Float(y), z: 0)
    }
    var v = Vector3(x, value(sensor.y, start), value(sensor.z, start))
    if sensor.hasMatrix { v = Vector3(sensor.rows.0.dot(v), sensor.rows.1.dot(v), sensor.rows.2.dot(v)) }
    return SensorSample(time: time, kind: sensor.kind, x: Float(v.x), y: Float(v.y), z: Float(v.z))
  }

  @inline(__always)
  private static func value(_ element: Element, _ start: UnsafeRawPointer) -> Double {
    element.conversion.value(element.format.value(at: start + element.offset))
  }
}
