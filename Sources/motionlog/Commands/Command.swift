/// One command: its help and what it runs. The table `all` is all there is to add a command to.
struct Command: Sendable {
  /// The word on the command line.
  var name: String
  /// What stands for the operands in help; empty for none.
  var operands = ""
  /// One line for the list of commands.
  var summary: String
  /// What help says below the usage line, one string a line.
  var text: [String]
  /// The options it takes, beside those that every command takes.
  var options: [Option]
  /// Help for options that mean something special here.
  var optionHelp: [Option: [String]] = [:]
  /// What stands for the value of an option in help, where it takes less here than elsewhere.
  var optionPlaceholder: [Option: String] = [:]
  /// Command lines with what they do. The first runs on a machine without sensors.
  var examples: [(line: String, comment: String)]
  /// What it does.
  var run: @Sendable (ParsedArguments, inout Context) throws -> ExitCode

  /// Options that every command takes.
  static let common: [Option] = [.quiet, .verbose, .noColor, .help]
  /// Options that say what to start.
  private static let starting: [Option] = [
    .source, .sensors, .rate, .device, .trigger, .frame, .declination, .latitude, .longitude, .calibration,
    .duration,
  ]

  /// Help of `--history` where it is read.
  private static let pastHelp: [Option: [String]] = [
    .json: ["the whole as one JSON object"],
    .history: ["the history's file", "(default: MOTIONKIT_HISTORY, else motionkit/history.sqlite in ~/.local/state)"],
  ]
  /// Help of `--json` where one object holds everything.
  private static let wholeJSON: [Option: [String]] = [.json: ["the whole as one JSON object"]]
  private static let pastPlaceholder: [Option: String] = [.history: "PATH"]

  /// Every command, in the order of the help.
  static let all: [Command] = [
    Command(
      name: "devices", summary: "what sensors there are, and why something is missing",
      text: [
        "Lists every sensor of a source with its driver, rates, range, mount matrix, trigger and clock.",
        "Nothing is switched on for it. -v adds further attributes.",
      ],
      options: [.source, .json],
      optionHelp: wholeJSON,
      examples: [
        ("motionlog devices -u sim:walk", "the sensors of a simulated scene"),
        ("motionlog devices", "the sensors of this machine"),
        ("motionlog devices -u ip:board.local --json", "those of a board that runs iiod"),
      ],
      run: DevicesCommand.run),
    Command(
      name: "doctor", summary: "what is wrong with sensors, and how to mend it",
      text: [
        "Looks at kernel modules, device files and permissions, triggers, clocks and who else reads; then takes a few",
        "seconds of samples from every sensor: is the rate reached, and is what it measures at rest possible? Lay the",
        "board down for it. Each finding comes with its remedy. Nothing is changed that is not put back. Exit code 0 if",
        "nothing is at fault, 1 if something is, 3 if there is no sensor, 4 if this user is not permitted.",
      ],
      options: [.source, .sensors, .rate, .trigger, .duration, .json],
      optionHelp: [
        .duration: ["time to measure each sensor for (default: 3s)"],
        .sensors: ["those to measure: accel,gyro,mag,baro (default: all)"],
        .json: ["the whole as one JSON object"],
      ],
      examples: [
        ("motionlog doctor -u sim:still", "what a healthy board looks like"),
        ("motionlog doctor", "this machine's sensors"),
        ("motionlog doctor -u ip:board.local --json", "those of a board that runs iiod, for programs"),
      ],
      run: DoctorCommand.run),
    Command(
      name: "live", summary: "attitude, acceleration, heading, altitude and steps as they happen",
      text: [
        "On a terminal: a readout in place, with an artificial horizon. q quits, p pauses, z sets the altitude",
        "to zero, m marks an event. In a pipe: one line a second. With --json: one object a line. Metres walked are",
        "shown where MOTIONKIT_HEIGHT_M, the walker's height in metres, is set.",
      ],
      options: starting + [.interval, .speed, .json, .history],
      examples: [
        ("motionlog live -u sim:walk", "a simulated walk"),
        ("motionlog live", "this machine's sensors"),
        ("motionlog live -u sim:walk --json | head -n 3", "for programs"),
      ],
      run: LiveCommand.run),
    Command(
      name: "record", operands: "[DIR]", summary: "a session to CSV files until Ctrl-C or --duration",
      text: [
        "Writes raw samples and everything computed from them into the new directory DIR (default: motion- and the",
        "time) and prints its name. m or SIGUSR1 marks an event. Data reach the disk at least once a second.",
        "Ctrl-C, SIGTERM, SIGHUP, SIGQUIT, SIGPWR or SIGXCPU ends it in order; a second one at once.",
      ],
      options: starting + [
        .motionRate, .rotate, .syncInterval, .minFree, .compress, .raw, .fused, .label, .origin, .speed, .history,
      ],
      examples: [
        ("motionlog record walk -u sim:walk -d 30s", "half a minute of a simulated walk"),
        ("motionlog record --rate 200,mag=100,baro=25", "this machine's sensors until Ctrl-C"),
        ("motionlog record trip --rotate 1h --min-free 1GB", "a part an hour, as long as there is room"),
      ],
      run: RecordCommand.run),
    Command(
      name: "replay", operands: "DIR", summary: "a recording through the same pipeline",
      text: [
        "Shows a recording as live shows a device, prints it as JSON, or records it anew. With --verify it computes",
        "everything again and compares with what the live session wrote, bit for bit: exit code 0 if identical.",
        "On a terminal p pauses and q quits.",
      ],
      options: [
        .speed, .from, .until, .loop, .to, .motionRate, .verify, .smooth, .sensors, .frame, .declination, .latitude,
        .longitude,
        .calibration, .duration, .interval,
      ],
      optionHelp: [
        .speed: ["how fast it plays: 1 (default), 10, 0.5, … or max"],
        .sensors: ["accel,gyro,mag,baro,steps (default: all that were recorded)"],
        .frame: ["arbitrary, corrected, magnetic or true (default: the recording's own)"],
        .calibration: [
          "calibrations: none, those of this file, or learn", "an uncalibrated magnetometer's hard iron in use",
          "(default: the recording's own)",
        ],
      ],
      examples: [
        ("motionlog replay recordings/walk --speed 10", "ten times as fast as it was"),
        ("motionlog replay recordings/walk --verify", "the same bits again?"),
        ("motionlog replay recordings/walk --smooth --to walk-smooth", "the best estimate, for analysis"),
        ("motionlog replay recordings/walk --speed max --to json", "all outputs, as fast as possible"),
      ],
      run: ReplayCommand.run),
    Command(
      name: "info", operands: "DIR", summary: "a summary of a recording",
      text: [
        "Sensors with their true rates, jitter, gaps and clipping; attitude span, steps, altitude, activity, events;",
        "and whether the recording was cut.",
      ],
      options: [.json],
      optionHelp: wholeJSON,
      examples: [
        ("motionlog info recordings/walk", "a recording that comes with the project"),
        ("motionlog info recordings/walk --json", "for programs"),
      ],
      run: InfoCommand.run),
    Command(
      name: "check", operands: "DIR", summary: "what is wrong with a recording, and a clean copy of it",
      text: [
        "Reads a recording to its end, compares what was computed with what the samples give, and names everything",
        "that is not as it should be. Nothing is changed; --repair DIR makes a clean copy. Exit code 0 if it is sound,",
        "5 if not; with --repair 0 if the copy was made.",
      ],
      options: [.repair],
      examples: [
        ("motionlog check recordings/walk", "a recording that comes with the project"),
        ("motionlog check field --repair field-clean", "every good row of a damaged one"),
      ],
      run: CheckCommand.run),
    Command(
      name: "import", operands: "FILE...", summary: "another program's log into a recording",
      text: [
        "Reads logs of Sensor Logger, phyphox, AndroSensor, SensorLog, Physics Toolbox, senslogs, x-io and any table",
        "with named columns; a directory stands for its files. Columns are found by name and unit. What neither header",
        "nor option tells is asked, not guessed. --to names the new directory.",
      ],
      options: [
        .to, .accelUnit, .gyroUnit, .magUnit, .pressureUnit, .timeUnit, .accelSign, .rate, .assumeRate, .columns,
        .missingAxes,
      ],
      optionHelp: [
        .to: ["the recording to make: a new directory (required)"],
        .rate: ["samples per second, for logs without times"],
      ],
      optionPlaceholder: [.to: "DIR"],
      examples: [
        ("motionlog import recordings/walk/accelerometer.csv --to walk-copy", "one file of a recording"),
        ("motionlog import imu.csv --accel-unit g --gyro-unit deg/s --to imu", "a table without units"),
        ("motionlog import phone/ --to walk", "a folder of Sensor Logger or phyphox"),
      ],
      run: ImportCommand.run),
    Command(
      name: "export", operands: "DIR", summary: "a recording as one table at a fixed rate",
      text: [
        "Raw values, attitude, gravity, user acceleration, rotation rate, heading and altitude in one wide table, for",
        "spreadsheets and notebooks. Cells are blank outside a sensor's samples and in gaps.",
      ],
      options: [.rate, .method, .format, .output],
      optionHelp: [.rate: ["rows per second (default: 100)"]],
      examples: [
        ("motionlog export recordings/walk --rate 50 -o walk.csv", "50 rows per second"),
        ("motionlog export recordings/walk --format json | head -n 3", "for programs"),
      ],
      run: ExportCommand.run),
    Command(
      name: "calibrate", operands: "gyro|accel|mag|list",
      summary: "a sensor's errors, measured once and taken off from then on",
      text: [
        "gyro: leave the device still for 10 s. mag: turn it about all axes, away from iron, for half a minute.",
        "accel: put it still on a level table with each face up once; or, with --method free, hold it still in a dozen",
        "directions. Shows how much has been covered and what is next, ends when it is enough, and refuses a bad fit,",
        "with the reason. What is kept for a sensor is used by live, record and applications from then on.",
        "gyro refuses a steady turn (a turntable, a robot) where accelerometer or magnetometer show it.",
        "After gyro at three temperatures or more, told by a barometer, its bias follows the temperature. mag turns",
        "the field to the accelerometer's axes too, where that turn is well determined. list shows what is kept, with",
        "quality, residual and age.",
      ],
      options: [.source, .rate, .device, .trigger, .duration, .speed, .method, .to, .dryRun],
      optionHelp: [
        .duration: ["end after this much time at the latest (default: gyro 1m, accel 5m, mag 2m)"],
        .method: ["accelerometer: six (each face up once; default) or free (12 poses of any kind)"],
        .to: [
          "the file to keep it in (default: MOTIONKIT_CALIBRATION,", "else ~/.config/motionkit/calibration.json)",
        ],
      ],
      optionPlaceholder: [.to: "FILE"],
      examples: [
        (
          "motionlog calibrate mag -u 'sim:motion?errors=mems' --speed max",
          "a simulated one, turned"
        ),
        ("motionlog calibrate gyro", "this machine's gyroscope"),
        ("motionlog calibrate list", "how good and how old what is kept is"),
        ("motionlog calibrate accel --method free --dry-run", "only look"),
      ],
      run: CalibrateCommand.run),
    Command(
      name: "emulate", operands: "DIR|SCENE", summary: "a recording or a scene as live sensors for libiio programs",
      text: [
        "Serves the sensors of a recording, or of a simulated scene, by the protocol of iiod: iio_info, iio_readdev",
        "and any other libiio program sees a board with live sensors. Prints its address, then plays until Ctrl-C.",
      ],
      options: [.source, .host, .port, .sensors, .rate, .speed, .once, .duration],
      optionHelp: [.speed: ["how fast it plays: 1 (default), 10, 0.5, …"]],
      optionPlaceholder: [.speed: "N"],
      examples: [
        ("motionlog emulate walk", "a board that is carried about; then, elsewhere:"),
        ("iio_readdev -u ip:127.0.0.1 -b 10 -s 100 accel_3d | xxd", "100 samples of its accelerometer"),
        ("motionlog emulate recordings/walk --host 0.0.0.0", "a recording, for the whole network"),
      ],
      run: EmulateCommand.run),
    Command(
      name: "steps", summary: "steps of today and of the last seven days",
      text: [
        "Steps, distance, floors and time spent walking, today by the hour, from the history that live, record and",
        "applications write while they read a device. Distances are written where MOTIONKIT_HEIGHT_M, the walker's",
        "height in metres, is set for those; setting it later changes nothing. Hours and days are those of the local",
        "clock. Writing deletes what is older than MOTIONKIT_HISTORY_DAYS, 7 if not set.",
      ],
      options: [.week, .history, .json],
      optionHelp: pastHelp, optionPlaceholder: pastPlaceholder,
      examples: [
        ("motionlog steps", "today, by the hour"),
        ("motionlog steps --week", "a bar a day"),
        ("motionlog live -u sim:walk --speed max -d 5m --history trial.sqlite -q", "a history to try with; then:"),
        ("motionlog steps --history trial.sqlite --json", "for programs"),
      ],
      run: StepsCommand.run),
    Command(
      name: "altitude", summary: "climbs of today and of the last seven days",
      text: [
        "Metres climbed and descended by the barometer, today and in seven days, floors on foot, and each climb with",
        "its time, from the history that live, record and applications write while they read a device.",
      ],
      options: [.week, .history, .json],
      optionHelp: pastHelp.merging([.week: ["each climb of the last seven days, instead of today's"]]) { $1 },
      optionPlaceholder: pastPlaceholder,
      examples: [
        ("motionlog altitude", "the climbs of today"),
        ("motionlog altitude --week --json", "seven days, for programs"),
      ],
      run: AltitudeCommand.run),
  ]

  /// The command of a name.
  static func named(_ name: String) throws(UsageError) -> Command {
    guard let command = all.first(where: { $0.name == name }) else {
      throw .unknownCommand(name, suggestion: nearest(to: name, among: all.map(\.name)))
    }
    return command
  }
}
