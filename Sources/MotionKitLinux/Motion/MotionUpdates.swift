/// Updates as an asynchronous sequence: each iteration starts a service of its own and stops it when it ends, is
/// cancelled or is let go.
///
///     for try await motion in manager.deviceMotionUpdates() {
///       print(motion.attitude.pitch)
///     }
///
/// Ends when the source is at its end; throws `MotionKitError` when it fails or cannot serve.
public struct MotionUpdates<Element: Sendable>: AsyncSequence, Sendable {
  let begin: @Sendable () -> Subscription<Element>

  /// Starts the service.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: begin()) }

  /// One running iteration.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription<Element>

    /// The next value; nil at the end of the source or when the task is cancelled.
    public mutating func next() async throws -> Element? {
      try await subscription.mailbox.next()?.get()
    }

    /// Values dropped because the loop was too slow.
    public var droppedSampleCount: Int64 { subscription.mailbox.dropped }
  }
}

/// Keeps a stream's service running while its iterator lives.
final class Subscription<Element: Sendable>: Sendable {
  let mailbox: Mailbox<Element>
  private let cancel: @Sendable () -> Void

  init(mailbox: Mailbox<Element>, cancel: @escaping @Sendable () -> Void) {
    self.mailbox = mailbox
    self.cancel = cancel
  }

  deinit {
    cancel()
    mailbox.close()
  }
}
