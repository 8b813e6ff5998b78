/// What can go wrong in MotionKitLinux. Every case says what happened, to which device or file, and what to do next.
public enum MotionKitError: Error, Equatable, Sendable {
  /// The source's name cannot be read (`reason` says why).
  case invalidSource(uri: String, reason: String)
  /// There is no such device, host, directory or scene.
  case notFound(what: String, hint: String)
  /// The source has no sensor of the kind that was asked for.
  case noSensors(uri: String, hint: String)
  /// The system refused access; `hint` names the rule or the group to add.
  case notPermitted(what: String, hint: String)
  /// Somebody else uses the device; `hint` names the holder where it is known.
  case busy(what: String, hint: String)
  /// A device or a connection failed while running.
  case device(what: String, errno: Int32, hint: String)
  /// A recording or a scene is at its end: nothing more comes.
  case ended(uri: String, hint: String)
  /// A file is not what it should be, at `line` and `column` (1-based; 0 where it concerns the whole file).
  case invalidFile(path: String, line: Int, column: Int, reason: String)
  /// A file could not be written or read.
  case fileSystem(path: String, errno: Int32, hint: String)
  /// Something was asked for that cannot be done.
  case unsupported(what: String, hint: String)
}
