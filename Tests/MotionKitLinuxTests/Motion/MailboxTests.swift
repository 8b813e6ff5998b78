import Dispatch
import Testing

@testable import MotionKitLinux

/// An executor that runs blocks when the test says so.
private final class ManualExecutor: Sendable {
  let blocks = Locked<[(run: HandlerExecutor.Block, abandoned: HandlerExecutor.Block)]>([])
  var executor: HandlerExecutor {
    HandlerExecutor { run, abandoned in self.blocks.withLock { $0.append((run, abandoned)) } }
  }
  var waiting: Int { blocks.withLock { $0.count } }
  func runOne() { blocks.withLock { $0.removeFirst() }.run() }
  func runAll() { while waiting > 0 { runOne() } }
  func abandonOne() { blocks.withLock { $0.removeFirst() }.abandoned() }
}

@Suite struct MailboxTests {
  @Test func slowHandlerHasOneBlockInFlightAndTheOldestAreDroppedAndCounted() {
    let queue = ManualExecutor()
    let seen = Locked<[Int]>([])
    let mailbox = Mailbox<Int>(capacity: 4, isLossless: false, executor: queue.executor) { result in
      if let value = try? result.get() { seen.withLock { $0.append(value) } }
    }
    for i in 0..<1000 { mailbox.offer(i) }
    #expect(queue.waiting == 1)
    #expect(mailbox.dropped == 996)
    queue.runAll()
    #expect(seen.withLock { $0 } == [996, 997, 998, 999])
    mailbox.offer(1000)
    #expect(queue.waiting == 1)
    queue.runAll()
    #expect(seen.withLock { $0.last } == 1000)
  }

  @Test func nothingIsDeliveredAfterClose() {
    let queue = ManualExecutor()
    let calls = Locked(0)
    let mailbox = Mailbox<Int>(capacity: 8, isLossless: false, executor: queue.executor) { _ in
      calls.withLock { $0 += 1 }
    }
    mailbox.offer(1)
    mailbox.close()
    queue.runAll()
    mailbox.offer(2)
    mailbox.end(.unsupported(what: "", hint: ""))
    #expect(queue.waiting == 0)
    #expect(calls.withLock { $0 } == 0)
  }

  @Test func closeInsideAHandlerStopsTheRest() {
    let queue = ManualExecutor()
    let seen = Locked<[Int]>([])
    let box = Locked<Mailbox<Int>?>(nil)
    let mailbox = Mailbox<Int>(capacity: 8, isLossless: false, executor: queue.executor) { result in
      if let value = try? result.get() { seen.withLock { $0.append(value) } }
      box.withLock { $0 }?.close()
    }
    box.withLock { $0 = mailbox }
    for i in 0..<5 { mailbox.offer(i) }
    queue.runAll()
    #expect(seen.withLock { $0 } == [0])
    box.withLock { $0 = nil }
  }

  @Test func closeLetsGoOfTheHandler() {
    final class Owner: Sendable {}
    weak var weakOwner: Owner?
    let queue = ManualExecutor()
    let mailbox: Mailbox<Int>
    do {
      let owner = Owner()
      weakOwner = owner
      mailbox = Mailbox(capacity: 8, isLossless: false, executor: queue.executor) { _ in _ = owner }
    }
    #expect(weakOwner != nil)
    mailbox.close()
    #expect(weakOwner == nil)
  }

  @Test func cancelledBlockLosesWhatWaitedAndCountsItButTheNextValueComes() {
    let queue = ManualExecutor()
    let seen = Locked<[Int]>([])
    let mailbox = Mailbox<Int>(capacity: 8, isLossless: false, executor: queue.executor) { result in
      if let value = try? result.get() { seen.withLock { $0.append(value) } }
    }
    mailbox.offer(1)
    mailbox.offer(2)
    queue.abandonOne()
    #expect(mailbox.dropped == 2)
    mailbox.offer(3)
    queue.runAll()
    #expect(seen.withLock { $0 } == [3])
  }

  @Test func theErrorComesOnceAfterTheLastValue() {
    let queue = ManualExecutor()
    let collector = Collector<Int>()
    let mailbox = Mailbox<Int>(capacity: 8, isLossless: false, executor: queue.executor) { collector.add($0) }
    mailbox.offer(1)
    mailbox.end(.unsupported(what: "a", hint: ""))
    mailbox.end(.unsupported(what: "b", hint: ""))
    mailbox.offer(2)
    queue.runAll()
    #expect(collector.values == [1])
    #expect(collector.errors == [.unsupported(what: "a", hint: "")])
  }

  @Test func losslessWaitsForRoomAndKeepsOrderOnAConcurrentQueue() {
    let collector = Collector<Int>()
    let running = Locked(0)
    let overlaps = Locked(0)
    let mailbox = Mailbox<Int>(capacity: 3, isLossless: true, executor: .queue(.global())) { result in
      running.withLock { $0 += 1 }
      if running.withLock({ $0 }) > 1 { overlaps.withLock { $0 += 1 } }
      collector.add(result)
      running.withLock { $0 -= 1 }
    }
    for i in 0..<2000 { mailbox.offer(i) }
    mailbox.waitUntilIdle()
    #expect(collector.values == Array(0..<2000))
    #expect(mailbox.dropped == 0)
    #expect(overlaps.withLock { $0 } == 0)
  }

  @Test func losslessSenderIsFreedByClose() {
    let mailbox = Mailbox<Int>(capacity: 1, isLossless: true, executor: HandlerExecutor { _, _ in }) { _ in }
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      mailbox.offer(1)
      mailbox.offer(2)
      done.signal()
    }
    mailbox.close()
    done.wait()
  }

  @Test func aLoopGetsValuesThenTheErrorAndIsIdleWhileItWaits() async throws {
    let mailbox = Mailbox<Int>(capacity: 8, isLossless: false)
    mailbox.offer(1)
    mailbox.offer(2)
    mailbox.end(.unsupported(what: "x", hint: ""))
    #expect(try await mailbox.next()?.get() == 1)
    #expect(try await mailbox.next()?.get() == 2)
    await #expect(throws: MotionKitError.unsupported(what: "x", hint: "")) { try await mailbox.next()?.get() }
    #expect(await mailbox.next() == nil)
  }

  @Test func cancellingTheTaskEndsTheLoop() async {
    let mailbox = Mailbox<Int>(capacity: 8, isLossless: false)
    let task = Task { await mailbox.next() == nil }
    task.cancel()
    #expect(await task.value)
  }
}
