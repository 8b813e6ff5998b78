import Foundation
import MotionKitLinux

/// Records the accelerometer at 50 Hz, for as long as this process runs, and gives back the last three days.
open class CMSensorRecorder: NSObject {
  private let recorder = SensorRecorder()

  /// A recorder of the process's source.
  public override init() { super.init() }

  /// Whether there is an accelerometer.
  open class func isAccelerometerRecordingAvailable() -> Bool { SensorRecorder().isAvailable }
  /// Whether this process may use the sensors.
  open class func authorizationStatus() -> CMAuthorizationStatus { .current }
  /// Whether this process may use the sensors.
  @available(*, deprecated, message: "use authorizationStatus()")
  open class func isAuthorizedForRecording() -> Bool { authorizationStatus() == .authorized }

  /// Starts a recording of at most 12 hours. Core Motion has no way to report an error here: where nothing can be
  /// recorded, nothing is.
  open func recordAccelerometer(forDuration duration: TimeInterval) { try? recorder.record(duration: duration) }

  /// What was recorded between two dates at most 12 hours apart; nil where nothing was.
  open func accelerometerData(from fromDate: Date, to toDate: Date) -> CMSensorDataList? {
    guard
      let records = try? recorder.records(from: fromDate.utcNanoseconds, to: toDate.utcNanoseconds), !records.isEmpty
    else { return nil }
    return CMSensorDataList(records)
  }
}

/// Recorded readings, oldest first.
///
/// As on a phone it is not itself a `Sequence`; add the usual extension:
///
///     extension CMSensorDataList: Sequence {
///       public func makeIterator() -> NSFastEnumerationIterator { NSFastEnumerationIterator(self) }
///     }
open class CMSensorDataList: NSObject {
  fileprivate enum Readings {
    case records([SensorRecorder.Record])
    case given([CMRecordedAccelerometerData])

    var count: Int {
      switch self {
      case .records(let records): records.count
      case .given(let data): data.count
      }
    }

    subscript(_ i: Int) -> CMRecordedAccelerometerData {
      switch self {
      case .records(let records): CMRecordedAccelerometerData(records[i])
      case .given(let data): data[i]
      }
    }
  }

  fileprivate let readings: Readings

  init(_ records: [SensorRecorder.Record]) {
    readings = .records(records)
    super.init()
  }

  /// A list of the given readings, for tests; not in Apple's framework.
  public init(_ data: [CMRecordedAccelerometerData]) {
    readings = .given(data)
    super.init()
  }

  /// All readings; not in Apple's framework.
  public var data: [CMRecordedAccelerometerData] { (0..<readings.count).map { readings[$0] } }
}

/// Goes through a `CMSensorDataList`, each element a `CMRecordedAccelerometerData`. Stands for the iterator of the same
/// name, which Foundation has on Apple's systems only.
public struct NSFastEnumerationIterator: IteratorProtocol {
  private let readings: CMSensorDataList.Readings
  private var index = 0

  /// Begins with the list's oldest reading.
  public init(_ list: CMSensorDataList) { readings = list.readings }

  /// The next reading.
  public mutating func next() -> Any? {
    guard index < readings.count else { return nil }
    defer { index += 1 }
    return readings[index]
  }
}

/// A recorded reading of the accelerometer.
open class CMRecordedAccelerometerData: CMAccelerometerData {
  private let storedIdentifier: UInt64
  private let storedStart: Date

  /// An empty reading, for subclasses that override the getters.
  public override init() {
    storedIdentifier = 0
    storedStart = Date()
    super.init()
  }

  /// A reading from its parts, for tests: seconds of the boot clock and g; not in Apple's framework.
  public init(timestamp: TimeInterval, acceleration: CMAcceleration, identifier: UInt64 = 0, startDate: Date) {
    storedIdentifier = identifier
    storedStart = startDate
    super.init(timestamp: timestamp, acceleration: acceleration)
  }

  init(_ record: SensorRecorder.Record) {
    storedIdentifier = record.identifier
    storedStart = Date(utcNanoseconds: record.utcNanoseconds)
    super.init(timestamp: record.data.timestamp, acceleration: CMAcceleration(record.data.acceleration))
  }

  /// Reads an archived reading.
  public required init?(coder: NSCoder) {
    storedIdentifier = UInt64(bitPattern: coder.decodeInt64(forKey: "identifier"))
    storedStart = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "startDate"))
    super.init(coder: coder)
  }

  /// Archives the reading.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(Int64(bitPattern: identifier), forKey: "identifier")
    coder.encode(startDate.timeIntervalSinceReferenceDate, forKey: "startDate")
  }

  /// The recording it belongs to: grows from one recording to the next.
  open var identifier: UInt64 { storedIdentifier }
  /// When it was taken.
  open var startDate: Date { storedStart }
}
