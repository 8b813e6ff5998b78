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
  case duration
  case interval
  case json
  case speed
  case to
  case verify
  case repair
  case label
  case origin
  case host
  case port
  case once
  case accelUnit = "accel-unit"
  case gyroUnit = "gyro-unit"
  case magUnit = "mag-unit"
  case pressureUnit = "pressure-unit"
  case timeUnit = "time-unit"
  case accelSign = "accel-sign"
  case assumeRate = "assume-rate"
  case missingAxes = "missing-axes"
  case columns
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
    case .duration, .interval: "TIME"
    case .speed: "N|max"
    case .to: "TARGET"
    case .repair: "DIR"
    case .label: "LIST"
    case .origin: "TEXT"
    case .host: "ADDRESS"
    case .port: "N"
    case .accelUnit, .gyroUnit, .magUnit, .pressureUnit, .timeUnit: "UNIT"
    case .accelSign: "SIGN"
    case .missingAxes: "zero"
    case .columns: "LIST"
    case .json, .verify, .once, .assumeRate, .quiet, .verbose, .noColor, .help, .version: nil
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
    case .declination: ["angle from true to magnetic north, east positive, for --frame true; or let it be"]
    case .latitude: ["computed from the place: north positive"]
    case .longitude: ["east positive"]
    case .duration: ["stop after this much time: 10s, 5m, 2h"]
    case .interval: ["time between lines (default: 1s; with --json every output)"]
    case .json: ["one JSON object a line"]
    case .speed: ["how fast: 1 (default), 10, 0.5, … or max"]
    case .to: ["live (default), json, or a new directory to record into"]
    case .verify: ["compute everything anew and compare with the recording, bit for bit"]
    case .repair: ["write every good row and everything computed from them into a new recording"]
    case .label: ["words of your own for session.json: place=pocket,walker=anna"]
    case .origin: ["a sentence for session.json that says where the data come from"]
    case .host: ["the address to listen on", "(default: 127.0.0.1, which only this machine reaches; 0.0.0.0 for all)"]
    case .port: ["the port to listen on (default: 30431, iiod's own; 0 for any that is free)"]
    case .once: ["end at the end of the source, instead of beginning again"]
    case .accelUnit: ["the accelerometer's unit, where the header does not say: g, m/s^2, \"0.000061 g\""]
    case .gyroUnit: ["the gyroscope's: deg/s, rad/s"]
    case .magUnit: ["the magnetometer's: uT, gauss"]
    case .pressureUnit: ["the barometer's: hPa, kPa, Pa"]
    case .timeUnit: ["the time's: s, ms, us, ns"]
    case .accelSign:
      [
        "specific-force (flat and face up reads +9.81 m/s²; Linux, Android)",
        "or core-motion (-1 g; iOS)",
      ]
    case .assumeRate: ["space samples by --rate even where the log has times"]
    case .missingAxes: ["take axes that the log lacks as zero"]
    case .columns: ["which column is what: time=t,accel.x=ax,gyro.z=wz,pressure=p"]
    case .quiet: ["errors only"]
    case .verbose: ["more detail"]
    case .noColor: ["no colour (NO_COLOR does the same)"]
    case .help: ["this text"]
    case .version: ["name and version"]
    }
  }
}
