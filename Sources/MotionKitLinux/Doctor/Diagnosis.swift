import SensorFusion

/// One thing that an examination found, with what to do about it.
public struct Finding: Hashable, Sendable {
  /// How bad it is, the best first.
  public enum Level: String, CaseIterable, Hashable, Sendable, Comparable {
    /// As it should be.
    case good
    /// Worth knowing; nothing to be done.
    case note
    /// It works, but worse than it could.
    case warning
    /// It does not work, or its values are wrong.
    case fault

    /// By how bad they are.
    public static func < (a: Level, b: Level) -> Bool { a.order < b.order }
    private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// What was looked at, in the order in which it is looked at.
  public enum Topic: String, CaseIterable, Hashable, Sendable {
    /// Whether the source answers, and the clock it keeps.
    case connection
    /// The kernel, its modules, and parts that have no driver.
    case kernel
    /// Device files and attributes, and who may use them.
    case permissions
    /// Who else reads.
    case buffers
    /// What makes a device take samples.
    case triggers
    /// What samples are stamped with.
    case clocks
    /// Whether samples come as fast as they should, and all of them.
    case rates
    /// Whether what is measured can be.
    case values
  }

  /// How bad it is.
  public var level: Level
  /// What was looked at.
  public var topic: Topic
  /// The sensor or device concerned, as a person is told which; empty where it is the whole.
  public var subject: String
  /// What was found, in a sentence.
  public var text: String
  /// What to do about it: commands as they are typed or sentences, a line each; empty where nothing is to be done.
  public var fixes: [String]

  /// A finding.
  public init(_ level: Level, _ topic: Topic, _ subject: String = "", _ text: String, fixes: [String] = []) {
    self.level = level
    self.topic = topic
    self.subject = subject
    self.text = text
    self.fixes = fixes.filter { !$0.isEmpty }
  }
}

/// What an examination of a source brought to light; see `examine`.
public struct Diagnosis: Hashable, Sendable {
  /// What to examine and how long.
  public struct Settings: Hashable, Sendable {
    /// Seconds of samples that are taken from every sensor.
    public var seconds: Double
    /// The sensors to measure and the rates to ask them for, samples per second; 0 means the device's own setting.
    public var rates: [SensorKind: Double]
    /// The trigger for devices that have none of their own; empty for the source's choice.
    public var trigger: String

    /// Settings for the usual rates of a phone's sensors.
    public init(
      seconds: Double = 3,
      rates: [SensorKind: Double] = [.accelerometer: 100, .gyroscope: 100, .magnetometer: 50, .barometer: 25],
      trigger: String = ""
    ) {
      self.seconds = seconds
      self.rates = rates
      self.trigger = trigger
    }
  }

  /// The source.
  public var uri: String
  /// The host that the sensors are on, as far as known.
  public var host = ""
  /// What was found, in the order of the topics.
  public var findings: [Finding] = []
  /// What was measured, a sensor each.
  public var measurements: [SensorMeasurement] = []
  /// How many sensors the source has.
  public var sensorCount = 0

  /// The worst of all findings.
  public var level: Finding.Level { findings.map(\.level).max() ?? .good }

  /// Whether something is refused to this user.
  public var lacksPermission: Bool { findings.contains { $0.level == .fault && $0.topic == .permissions } }

  /// Findings of a level.
  public func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

  init(uri: String) { self.uri = uri }

  /// Puts the findings in the order of their topics; what was found twice is said once.
  mutating func sortByTopic() {
    var texts: Set<String> = []
    findings = findings.filter { $0.level == .good || texts.insert($0.subject + $0.text).inserted }
    let order = Dictionary(uniqueKeysWithValues: Finding.Topic.allCases.enumerated().map { ($1, $0) })
    findings = findings.enumerated().sorted { a, b in
      let (left, right) = (order[a.element.topic] ?? 0, order[b.element.topic] ?? 0)
      return left != right ? left < right : a.offset < b.offset
    }.map(\.element)
  }
}
