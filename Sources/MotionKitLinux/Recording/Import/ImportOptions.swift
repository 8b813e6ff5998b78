import SensorFusion

/// Which way an accelerometer's axes count.
public enum AccelerationSign: String, Hashable, Sendable, CaseIterable {
  /// Flat and face up reads +9.81 m/s² (Linux IIO, Android).
  case specificForce = "specific-force"
  /// Flat and face up reads -1 g (Core Motion).
  case coreMotion = "core-motion"
}

/// What the user can say about a foreign log where its header does not.
///
/// Units are text as it stands in headers (`g`, `m/s^2`, `deg/s`, `hPa`, `ms`), with an optional factor in front for
/// raw counts (`0.000061 g`, `0.1Pa`).
public struct ImportOptions: Hashable, Sendable {
  /// The unit of the accelerometer's columns.
  public var accelerationUnit: String?
  /// The unit of the gyroscope's columns.
  public var rotationUnit: String?
  /// The unit of the magnetometer's columns.
  public var fieldUnit: String?
  /// The unit of the pressure's column.
  public var pressureUnit: String?
  /// The unit of the time column.
  public var timeUnit: String?
  /// The signs of the accelerometer.
  public var accelerationSign: AccelerationSign?
  /// Samples per second, for logs without times; checked against the times where there are some.
  public var rate: Double?
  /// Whether `rate` replaces the times in the log.
  public var ratesReplaceTimes = false
  /// Columns by their name in the log: role (`time`, `accel.x`, `gyro.z`, `mag.y`, `pressure`, `temperature`) to name.
  public var columns: [String: String] = [:]
  /// Whether axes that the log lacks are taken as 0; otherwise such a sensor is left out.
  public var missingAxesAreZero = false
  /// The user's own labels for session.json.
  public var labels: [String: String] = [:]

  /// Nothing said.
  public init() {}

  /// The first unit said that is none of what it is for, with those that are; nil where all are known.
  public var unknownUnit: (option: String, unit: String, known: [String])? {
    let units: [(option: String, unit: String?, quantity: ImportQuantity)] = [
      ("--accel-unit", accelerationUnit, .acceleration), ("--gyro-unit", rotationUnit, .rotation),
      ("--mag-unit", fieldUnit, .field), ("--pressure-unit", pressureUnit, .pressure),
    ]
    for (option, unit, quantity) in units {
      if let unit, ImportUnit.factor(unit, quantity) == nil {
        return (option, unit, ImportUnit.table(quantity).keys.sorted())
      }
    }
    if let timeUnit, ImportUnit.timeDecimals(timeUnit) == nil {
      return ("--time-unit", timeUnit, ["s", "ms", "us", "ns"])
    }
    return nil
  }
}

/// What an import did, and what it noticed.
public struct ImportReport: Sendable {
  /// One sensor of the log.
  public struct Sensor: Hashable, Sendable {
    /// What it measures.
    public var kind: SensorKind
    /// The file and the columns that it comes from, with the unit as understood.
    public var columns: String
    /// Its timing as written into the session.
    public var timing = StreamStatistics()
    /// Rows in which its cells are blank.
    public var blank: Int64 = 0
    /// Rows in which a cell is NaN or infinite.
    public var nonFinite: Int64 = 0
    /// Rows that had the time of the row before, spread over the time before them.
    public var duplicates: Int64 = 0
  }

  /// A place where the times do not go on as they should.
  public struct Discontinuity: Hashable, Sendable {
    /// The file.
    public var file: String
    /// The line, 1-based.
    public var line: Int
    /// Seconds from the row before.
    public var step: Double
  }

  /// The program that wrote the log, as far as recognised.
  public var format = ""
  /// The sensors, in the order of their kinds.
  public var sensors: [Sensor] = []
  /// Jumps of the times that were closed.
  public var discontinuities: [Discontinuity] = []
  /// What was tolerated in the files.
  public var readReport = ReadReport()
  /// What the user should know, a line each.
  public var warnings: [String] = []
  /// Files and columns that were not used.
  public var ignored: [String] = []
  /// Events found or made.
  public var events: [SourceEvent] = []

  /// The report about a sensor.
  public func sensor(_ kind: SensorKind) -> Sensor? { sensors.first { $0.kind == kind } }
}
