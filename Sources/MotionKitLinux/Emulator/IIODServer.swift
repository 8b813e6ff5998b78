import Glibc
import SensorFusion

/// Something that goes wrong on purpose, so that a test can see how a client takes it.
public enum IIODFault: Hashable, Sendable {
  /// The device (id, name or label) gives no more samples.
  case mute(String)
  /// It gives samples again.
  case unmute(String)
  /// The device is gone: attributes say ENOENT, waiting reads hang until the timeout. It stays listed, as in iiod.
  case unplug(String)
  /// It is back under the same id, with its buffer off.
  case plug(String)
  /// The server keeps its connections but takes and gives nothing.
  case stall
  /// It goes on after `stall`.
  case resume
  /// All connections are reset.
  case cut
  /// New connections are reset at once; those there are go on.
  case refuse
  /// New connections are served again.
  case accept
}

extension IIODEngine {
  /// Carries out a fault; those that concern sockets are the server's.
  public mutating func inject(_ fault: IIODFault, at now: Int64) {
    switch fault {
    case .mute(let name): if let device = find(name) { devices[device].isMuted = true }
    case .unmute(let name): if let device = find(name) { devices[device].isMuted = false }
    case .unplug(let name): if let device = find(name) { devices[device].isUnplugged = true }
    case .plug(let name): if let device = find(name) { devices[device].isUnplugged = false }
    case .stall: isStalled = true
    case .resume:
      isStalled = false
      settle(at: now)
    case .cut: for id in connections.map(\.id) { disconnect(id, at: now) }
    case .refuse, .accept: break
    }
  }
}

/// A server of the iiod protocol on a TCP port: what `motionlog emulate` runs, and the fake board of the tests.
///
/// One thread serves all clients. Samples come in by `deliver`, from any thread.
///
///     let server = try IIODServer(board: EmulatedBoard(describing: source.description))
///     // iio_info -u ip:127.0.0.1:PORT, with PORT = server.port
///     server.deliver(samples)
///     server.stop()
public final class IIODServer: Sendable {
  /// The port on which iiod listens, and libiio looks for one.
  public static let usualPort: UInt16 = 30431

  /// The address that it listens on.
  public let host: String
  /// The port that it listens on.
  public let port: UInt16
  /// What is served.
  public let board: EmulatedBoard
  private let loop: IIODServerLoop

  /// Listens and begins to serve.
  ///
  /// - Parameters:
  ///   - board: What is served.
  ///   - host: The address or name to listen on; only this machine can reach the default.
  ///   - port: The port; 0 for any that is free.
  ///   - clockOffsets: See `IIODEngine.clockOffsets`.
  /// - Throws: `MotionKitError` that says why the port cannot be had.
  public init(
    board: EmulatedBoard, host: String = "127.0.0.1", port: UInt16 = 0,
    clockOffsets: IIODClockOffsets = IIODClockOffsets()
  ) throws(MotionKitError) {
    let listener = try TCPListener.open(host: host, port: port)
    loop = try IIODServerLoop(engine: IIODEngine(board: board, clockOffsets: clockOffsets), listener: listener)
    self.board = board
    self.host = host
    self.port = TCPListener.port(of: listener)
  }

  deinit { stop() }

  /// What has happened so far.
  public var statistics: IIODEngine.Statistics { loop.state.withLock { $0.engine.statistics } }

  /// Gives samples to the devices that they feed, in order. See `IIODEngine.deliver`.
  public func deliver(_ samples: some Sequence<SensorSample>) {
    loop.deliver { engine, now in
      for sample in samples { engine.deliver(sample, at: now) }
    }
  }

  /// Gives raw values to a device. See `IIODEngine.deliver(raw:to:time:at:)`.
  public func deliver(raw values: [Int64], to device: String, time: Timestamp) {
    loop.deliver { $0.deliver(raw: values, to: device, time: time, at: $1) }
  }

  /// Moves the times of the samples that follow. See `IIODEngine.clockOffsets`.
  public func setClockOffsets(_ offsets: IIODClockOffsets) {
    loop.state.withLock { $0.engine.clockOffsets = offsets }
  }

  /// Makes something go wrong, from any thread.
  public func inject(_ fault: IIODFault) {
    loop.change { state, now in
      if fault == .refuse || fault == .accept { state.isRefusing = fault == .refuse }
      state.engine.inject(fault, at: now)
    }
  }

  /// Lets clients take what their buffers still hold, which they get in blocks that are not full, and then ENODEV.
  ///
  /// - Parameters:
  ///   - seconds: The longest wait for clients that do not read.
  ///   - isWanted: Asked about twenty times a second whether to go on waiting.
  public func finish(within seconds: Double, while isWanted: () -> Bool = { true }) {
    loop.change { state, now in state.engine.finish(at: now) }
    let deadline = nanoseconds(of: CLOCK_MONOTONIC) + Timestamp(seconds: seconds).nanoseconds
    while nanoseconds(of: CLOCK_MONOTONIC) < deadline, isWanted(), !loop.state.withLock({ $0.engine.isDrained }) {
      var pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)
      nanosleep(&pause, nil)
    }
  }

  /// Closes all connections and the port; returns when that is done. Safe to call twice and from any thread.
  public func stop() { loop.stop() }
}
