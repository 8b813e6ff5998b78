/// Every option of every command: one meaning and one spelling each.
enum Option: String, CaseIterable {
  case source
  case sensors
  case rate
  case device
  case trigger
  case frame
  case declination
  case latitude
  case longitude
  case calibration
  case dryRun = "dry-run"
  case duration
  case interval
  case json
  case speed
  case to
  case from
  case until
  case loop
  case verify
  case smooth
  case repair
  case rotate
  case syncInterval = "sync-interval"
  case minFree = "min-free"
  case compress
  case fused
  case raw
  case label
  case origin
  case accelUnit = "accel-unit"
  case gyroUnit = "gyro-unit"
  case magUnit = "mag-unit"
  case pressureUnit = "pressure-unit"
  case timeUnit = "time-unit"
  case accelSign = "accel-sign"
  case assumeRate = "assume-rate"
  case columns
  case missingAxes = "missing-axes"
  case output
  case format
  case method
  case host
  case port
  case once
  case history
  case week
  case quiet
  case verbose
  case noColor = "no-color"
  case help
  case version

  /// The long form with its dashes.
  var long: String { "--" + rawValue }

  /// The one-letter form, where there is one.
  var short: Character? {
    switch self {
    case .source: "u"
    case .duration: "d"
    case .quiet: "q"
    case .verbose: "v"
    case .help: "h"
    case .output: "o"
    default: nil
    }
  }

  /// What stands for the value in help; nil for a flag.
  var placeholder: String? {
    switch self {
    case .source: "URI"
    case .sensors: "LIST"
    case .rate: "HZ"
    case .device: "LIST"
    case .trigger: "NAME"
    case .frame: "FRAME"
    case .declination, .latitude, .longitude: "DEG"
    case .duration, .interval, .from, .until, .syncInterval: "TIME"
    case .rotate: "SIZE|TIME"
    case .minFree: "SIZE"
    case .calibration: "none|learn|FILE"
    case .speed: "N|max"
    case .to: "TARGET"
    case .repair: "DIR"
    case .label: "LIST"
    case .origin: "TEXT"
    case .accelUnit, .gyroUnit, .magUnit, .pressureUnit, .timeUnit: "UNIT"
    case .accelSign: "SIGN"
    case .columns: "LIST"
    case .missingAxes: "zero"
    case .output: "FILE"
    case .format: "csv|json"
    case .method: "METHOD"
    case .host: "ADDRESS"
    case .port: "N"
    case .history: "PATH|none"
    case .json, .dryRun, .verify, .smooth, .loop, .compress, .fused, .raw, .once, .week, .assumeRate, .quiet, .verbose,
      .noColor,
      .help,
      .version:
      nil
    }
  }

  /// Whether values given one after the other are one list.
  var takesList: Bool {
    switch self {
    case .sensors, .rate, .device, .label, .columns: true
    default: false
    }
  }

  /// What help says, one string a line.
  var help: [String] {
    switch self {
    case .source:
      [
        "where samples come from: local:, ip:HOST[:PORT], usb:, file:DIR, sim:SCENE",
        "(default: MOTIONKIT_SOURCE, else local:)",
      ]
    case .sensors: ["accel,gyro,mag,baro,steps (default: all that are there)"]
    case .rate:
      [
        "samples per second, for example 200 or 200,mag=100,baro=25",
        "(default: 100, at most 50 for mag and 25 for baro)",
      ]
    case .device: ["choose among several of a kind by name, label or id: accel=bmi160,mag=hmc5843"]
    case .trigger: ["the IIO trigger for devices that have none of their own"]
    case .frame:
      [
        "arbitrary, corrected, magnetic or true",
        "(default: magnetic with a magnetometer, else arbitrary)",
      ]
    case .declination: ["for --frame true: from true to magnetic north, east positive; or the place"]
    case .latitude: ["that it is computed from: north positive"]
    case .longitude: ["east positive"]
    case .dryRun: ["show the calibration, keep nothing"]
    case .calibration:
      [
        "calibrations: none, those of this file, or learn", "an uncalibrated magnetometer's hard iron in use",
        "(default: the file that calibrate keeps; a recording's own)",
      ]
    case .duration: ["stop after this much time: 10s, 5m, 2h"]
    case .interval: ["time between lines (default: 1s; with --json every output)"]
    case .json: ["one JSON object a line"]
    case .speed: ["how fast a recording or a scene plays: 1 (default), 10, 0.5, … or max"]
    case .to: ["live (default), json, or a new directory to record into"]
    case .from: ["begin so long after the first sample: 90s, 5m"]
    case .until: ["end so long after the first sample"]
    case .loop: ["begin again at the end; the times of the samples go on"]
    case .verify: ["compute everything anew and compare with the recording, bit for bit"]
    case .smooth:
      [
        "the best estimate of the motion, from the whole recording,",
        "into --to (default: a new directory NAME-smooth)",
      ]
    case .repair: ["also make a clean copy in this new directory"]
    case .rotate:
      [
        "record in parts of this size or length: 100MB, 1h",
        "(DIR/part-0001, …: each is a recording; DIR replays as one)",
      ]
    case .syncInterval: ["the most that a loss of power may take: 5s (default: 1s)"]
    case .minFree: ["end before the disk has less than this left: 500MB"]
    case .compress: ["CSV files packed with zstd (.csv.zst); every command reads them as they are"]
    case .fused:
      [
        "also what a chip or hub computes by itself, in files of its own:",
        "fused_attitude.csv, fused_gravity.csv, fused_linear_acceleration.csv",
      ]
    case .raw:
      [
        "only what the sensors gave, at the least cost; the rest can be computed later:",
        "motionlog replay DIR --speed max --to DIR2",
      ]
    case .label: ["words of your own for session.json: place=pocket,walker=anna"]
    case .origin: ["a sentence for session.json that says where the data come from"]
    case .accelUnit: ["unit of the accelerometer: g, m/s^2, or with a scale: '0.000061 g'"]
    case .gyroUnit: ["unit of the gyroscope: rad/s or deg/s"]
    case .magUnit: ["unit of the magnetometer: uT, nT, gauss, …"]
    case .pressureUnit: ["unit of the pressure: kPa, hPa, Pa, …"]
    case .timeUnit: ["unit of the time: s, ms, us or ns"]
    case .accelSign: ["specific-force (flat and face up reads +1 g) or core-motion (-1 g)"]
    case .assumeRate: ["let --rate replace the times in the log"]
    case .columns: ["columns by role: time=t,accel.x=Foo,gyro.y=…,mag.z=…,pressure=Bar"]
    case .missingAxes: ["take axes that the log lacks as 0"]
    case .output: ["the new file to write (default: standard output)"]
    case .format: ["a table (default), or one JSON object a line"]
    case .method: ["between samples: linear (default; attitudes turn the short way), nearest or hold"]
    case .host: ["the address to listen on", "(default: 127.0.0.1, which only this machine reaches; 0.0.0.0 for all)"]
    case .port: ["the port to listen on (default: 30431, iiod's own; 0 for any that is free)"]
    case .once: ["end at the end of the source, instead of beginning again"]
    case .history:
      [
        "the file for steps and climbs (default: for a device the user's, otherwise none;",
        "it is MOTIONKIT_HISTORY, else motionkit/history.sqlite in ~/.local/state)",
      ]
    case .week: ["the last seven days, a bar a day"]
    case .quiet: ["errors only: no notes and no progress; results still go to standard output"]
    case .verbose: ["more detail"]
    case .noColor: ["no colour (NO_COLOR does the same)"]
    case .help: ["this text"]
    case .version: ["name and version"]
    }
  }
}
