import SensorFusion

/// What one sensor did in a session.
public struct SensorSummary: Hashable, Sendable {
  /// What was recorded about it.
  public var sensor: SensorDescription
  /// Its timing.
  public var timing = StreamStatistics()
  /// Samples with an axis at the end of the range; 0 where the range is not known.
  public var clipped: Int64 = 0
  /// The smallest value of each axis, in the unit of the sensor.
  public var minimum = Vector3(.infinity, .infinity, .infinity)
  /// The largest value of each axis.
  public var maximum = Vector3(-.infinity, -.infinity, -.infinity)
}

/// A session at a glance: what `motionlog info` shows.
public struct SessionSummary: Sendable {
  /// What session.json says.
  public var info: SessionInfo
  /// What was tolerated in the files.
  public var report = ReadReport()
  /// The fault that ended reading, if one did; everything else is about what came before it.
  public var fault: MotionKitError?
  /// The sensors, in the order of their kinds.
  public var sensors: [SensorSummary] = []
  /// The first and the last sample's time; nil without samples.
  public var timeSpan: ClosedRange<Timestamp>?
  /// Outputs of the attitude filter.
  public var motionCount: Int64 = 0
  /// Smallest and largest pitch, radians; nil without outputs.
  public var pitch: ClosedRange<Double>?
  /// Smallest and largest roll, radians.
  public var roll: ClosedRange<Double>?
  /// Smallest and largest yaw, radians, counted on over full turns from the first output.
  public var yaw: ClosedRange<Double>?
  /// Steps released.
  public var steps: Int64 = 0
  /// Smallest and largest altitude relative to the first sample, m; nil without a barometer.
  public var altitude: ClosedRange<Double>?
  /// Metres climbed.
  public var ascent = 0.0
  /// Metres descended.
  public var descent = 0.0
  /// Seconds in each activity.
  public var activities: [Activity: Double] = [:]
  /// Events by name.
  public var events: [String: Int64] = [:]
  /// Samples that the pipeline did not use.
  public var counters = PipelineCounters()

  /// Seconds from the first sample to the last.
  public var duration: Double { timeSpan.map { $0.upperBound.seconds(since: $0.lowerBound) } ?? 0 }
  /// Whether the recording has no closing summary: it was cut by a crash or a loss of power.
  public var wasCut: Bool { info.closing == nil }

  /// Whether files that session.json speaks of hold fewer rows than were recorded, or are not there at all.
  public var isIncomplete: Bool { report.count(.fewerRows) + report.count(.missingFile) > 0 }

  /// Reads a session once, through the pipeline with the recorded settings.
  ///
  /// - Parameter directory: The session's directory.
  /// - Throws: As `SessionReader`'s initializer. A fault in the rows does not throw; it is in `fault`.
  public init(directory: String) throws(MotionKitError) {
    let reader = try SessionReader(directory: directory)
    info = reader.info
    sensors = reader.sensors.map {
      SensorSummary(sensor: reader.info.sensor($0) ?? SensorDescription(kind: $0, name: $0.name, identity: "", rate: 0))
    }
    var slots = [Int](repeating: 0, count: SensorKind.allCases.count)
    for (slot, sensor) in sensors.enumerated() { slots[Int(sensor.sensor.kind.rawValue)] = slot }
    var pipeline = MotionPipeline(configuration: info.pipeline)
    var track = Track()
    var toSmooth: [SensorSample] = []
    do throws(MotionKitError) {
      while let sample = try reader.next() {
        track.take(sample.time)
        sensors[slots[Int(sample.kind.rawValue)]].add(sample)
        let outputs = pipeline.process(sample)
        if info.isSmoothed {
          toSmooth.append(sample)
        } else if outputs.contains(.motion) {
          add(pipeline.motion, &track)
        }
        if outputs.contains(.steps) { steps += Int64(pipeline.newSteps.count) }
        if outputs.contains(.altitude) { add(pipeline.altitude) }
        if outputs.contains(.activity) { track.change(to: pipeline.activity, &activities) }
      }
    } catch { fault = error }
    for state in MotionSmoother.motions(of: toSmooth, settings: info.pipeline) { add(state, &track) }
    while let event = reader.takeEvent(before: nil) { events[event.name, default: 0] += 1 }
    if let first = track.first, let last = track.last {
      timeSpan = first...max(first, last)
      track.change(to: ActivityState(time: last, activity: .unknown, confidence: .low), &activities)
    }
    counters = pipeline.counters
    report = reader.report
  }

  /// What has to be remembered from sample to sample.
  private struct Track {
    var first: Timestamp?
    var last: Timestamp?
    var lastYaw: Double?
    var turn = 0.0
    var activity: ActivityState?
    /// Seconds without any sample since the activity changed.
    var silence = 0.0

    /// Seconds without a sample after which nobody knows what was done meanwhile.
    private static let longestSilence = 3.0

    mutating func take(_ time: Timestamp) {
      if first == nil { first = time }
      if let last {
        let step = time.seconds(since: last)
        if step > Self.longestSilence { silence += step }
      }
      last = time
    }

    mutating func change(to new: ActivityState, _ totals: inout [Activity: Double]) {
      if let activity {
        totals[activity.activity, default: 0] += max(0, new.time.seconds(since: activity.time) - silence)
      }
      silence = 0
      activity = new
    }
  }

  private mutating func add(_ motion: MotionState, _ track: inout Track) {
    motionCount += 1
    let attitude = Attitude(quaternion: motion.attitude)
    Self.widen(&pitch, attitude.pitch)
    Self.widen(&roll, attitude.roll)
    let newYaw = attitude.yaw
    if let last = track.lastYaw {
      if newYaw - last > .pi { track.turn -= 2 * .pi }
      if newYaw - last < -.pi { track.turn += 2 * .pi }
    }
    track.lastYaw = newYaw
    Self.widen(&yaw, newYaw + track.turn)
  }

  private mutating func add(_ state: AltitudeState) {
    Self.widen(&altitude, state.relativeAltitude)
    ascent = state.ascent
    descent = state.descent
  }

  private static func widen(_ range: inout ClosedRange<Double>?, _ value: Double) {
    guard value.isFinite else { return }
    range = range.map { min($0.lowerBound, value)...max($0.upperBound, value) } ?? value...value
  }
}

extension SensorSummary {
  /// An axis this near to the end of the range is clipped (the last counts of a scale are not used by all chips).
  private static let clippingShare = 0.999

  fileprivate mutating func add(_ sample: SensorSample) {
    timing.add(sample.time)
    let v = sample.vector
    guard sample.isFinite else { return }
    minimum = Vector3(min(minimum.x, v.x), min(minimum.y, v.y), min(minimum.z, v.z))
    maximum = Vector3(max(maximum.x, v.x), max(maximum.y, v.y), max(maximum.z, v.z))
    guard sensor.range.isFinite, sensor.range > 0, sample.kind <= .magnetometer else { return }
    if max(abs(v.x), abs(v.y), abs(v.z)) >= Self.clippingShare * sensor.range { clipped += 1 }
  }
}
