import Glibc
import MotionKitLinux

/// A bar in place with rate and time left, for work that takes more than two seconds; on a terminal only.
struct ProgressBar {
  private let title: String
  private let begin: Double
  private let isTerminal: Bool
  private var nextLine: Double

  private static let width = 24
  /// Work that takes no longer than this gets no bar, seconds.
  private static let shortest = 2.0
  /// How long the rate is watched before it is believed, seconds.
  private static let patience = 0.5
  private static let interval = 0.2

  /// A bar for work that begins now.
  init(
    _ title: String, isTerminal: Bool = Terminal.isInteractive(STDERR_FILENO),
    now: Double = MotionRun.monotonicSeconds()
  ) {
    self.title = title
    self.isTerminal = isTerminal
    begin = now
    nextLine = now + Self.patience
  }

  /// Shows how far the work is, when it is time.
  mutating func show(_ progress: WorkProgress, _ console: inout Console) {
    guard isTerminal, let line = line(progress, now: MotionRun.monotonicSeconds()) else { return }
    console.progress(line)
  }

  /// The line to show at `now`, seconds; nil when it is not time for one, or the work will soon be done.
  mutating func line(_ progress: WorkProgress, now: Double) -> String? {
    guard now >= nextLine, progress.share > 0 else { return nil }
    nextLine = now + Self.interval
    let elapsed = now - begin
    guard elapsed / progress.share > Self.shortest else { return nil }
    let full = Int(progress.share * Double(Self.width))
    let bar = String(repeating: "#", count: full) + String(repeating: "-", count: Self.width - full)
    let percent = Format.fixed((progress.share * 100).rounded(.down), 0, width: 3)
    let rate = Format.bytes(Int64(Double(progress.done) / elapsed))
    return "\(title)  [\(bar)] \(percent) %  \(rate)/s  \(Self.timeLeft(progress.share, elapsed: elapsed))"
  }

  /// The time that the rest takes at the speed so far.
  static func timeLeft(_ share: Double, elapsed: Double) -> String {
    Format.clock((elapsed * (1 - share) / share).rounded(.up)) + " left"
  }
}
