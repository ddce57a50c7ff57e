package org.sparkcollectives.internal.work;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.FlightRecorder;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.internal.failure.AbortPropagation;
import org.sparkcollectives.internal.failure.BrokenPath;
import org.sparkcollectives.internal.failure.FailureReports;
import org.sparkcollectives.internal.failure.GroupState;
import org.sparkcollectives.internal.failure.MonitoredOperation;
import org.sparkcollectives.internal.failure.RankControl;
import org.sparkcollectives.internal.failure.RankDumps;
import org.sparkcollectives.internal.failure.TimeoutHandling;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.liveness.ProgressInquiry;
import org.sparkcollectives.internal.liveness.RankHeartbeat;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.RankProgress;
import org.sparkcollectives.internal.liveness.StoreSilence;
import org.sparkcollectives.internal.liveness.StoreSteps;
import org.sparkcollectives.internal.liveness.TimeSource;
import org.sparkcollectives.internal.recorder.GroupRecords;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;

/**
 * Monitors one rank's group: what is pending in it, what has become of the peers, and how it ends.
 *
 * <p>What ends a group is reported to {@link FailureReports}, or found by {@link TimeoutHandling}
 * at a deadline. It becomes a record, and goes out through {@link AbortPropagation}, which decides
 * with what the group fails. {@link GroupState} holds the outcome.
 */
public final class GroupMonitor implements RankHeartbeat.Group, AutoCloseable {

  /**
   * The time in which a task may end by itself, so that the job's error is the exception of its
   * code.
   */
  private static final Duration TEAR_DOWN_PATIENCE = Duration.ofSeconds(1);

  private final Membership members;
  private final RankIdentity self;
  private final LogContext logContext;
  private final RankHost host;
  private final GroupMonitor parent;
  private final RankDumps dumps;
  private final RankControl control;
  private final GroupRecords records;
  private final GroupState state;
  private final AbortPropagation propagation;
  private final LeaveTracker leaves;
  private final ProgressInquiry inquiry;
  private final TimeoutHandling timeouts;
  private final FailureReports reports;
  private final RankHeartbeat heartbeat;
  private final Executor executor;
  private final CompletionHooks completionHooks;
  private final EphemeralTimeout ephemeralTimeout = new EphemeralTimeout();
  private final PendingOperations pending = new PendingOperations();
  private final StoreSteps storeSteps;
  private final StoreSilence storeSilence;

  /** The listener, or null once it has been called. */
  private final AtomicReference<Consumer<String>> onKilled = new AtomicReference<>();

  /** Creates the monitor of a rank's first group. */
  public GroupMonitor(
      Membership members, Store store, ErrorHandling mode, RankHeartbeat heartbeat, RankHost host) {
    this(members, store, mode, null, heartbeat, host);
  }

  /** Creates the monitor of a group made from another. */
  public GroupMonitor(Membership members, Store store, ErrorHandling mode, GroupMonitor parent) {
    this(members, store, mode, parent, parent.heartbeat, parent.host);
  }

  private GroupMonitor(
      Membership members,
      Store store,
      ErrorHandling mode,
      GroupMonitor parent,
      RankHeartbeat heartbeat,
      RankHost host) {
    this.members = members;
    this.self = members.identity();
    this.logContext = LogContext.of(self);
    this.host = host;
    this.parent = parent;
    this.heartbeat = heartbeat;
    this.storeSteps = new StoreSteps(host.time());
    this.storeSilence = parent == null ? new StoreSilence(host.time()) : parent.storeSilence;
    this.state = new GroupState(self);
    this.dumps = parent == null ? new RankDumps(members, store, host) : parent.dumps;
    this.control = parent == null ? new RankControl(members, store, dumps, host) : parent.control;
    this.records = dumps.join(members, state);
    this.propagation = new AbortPropagation(store, state, self, mode, host);
    if (mode.tearsDown()) {
      Duration patience = mode == ErrorHandling.SKIP_CLEAN_UP ? Duration.ZERO : TEAR_DOWN_PATIENCE;
      tearDownAfterFailure(state, host.context(), patience);
    }
    this.leaves =
        parent == null
            ? new LeaveTracker(store, members, host)
            : new LeaveTracker(
                store, members, host, parent.leaves, members.ranksIn(parent.members));
    this.inquiry = new ProgressInquiry(store, members, pending::callerStack, host);
    this.timeouts = new TimeoutHandling(members, inquiry, propagation, host);
    this.reports =
        new FailureReports(
            members,
            state,
            propagation,
            new BrokenPath(members, state, inquiry::askWhoResponds, propagation, leaves, host),
            host);
    this.executor = reports.guard(host.background());
    this.completionHooks = new CompletionHooks(executor, self);
  }

  private static void tearDownAfterFailure(
      GroupState state, RankContext context, Duration patience) {
    state.onFailure(() -> context.tearDown(state.exceptionFor("the task"), patience));
  }

  /**
   * Begins to answer other ranks, and to hear of their heartbeats.
   *
   * @param progress how far this rank has come in its collectives
   */
  public void open(Supplier<RankProgress> progress) {
    inquiry.open(progress);
    heartbeat.join(this);
  }

  /**
   * Registers {@code listener}, which must not block, to be called with the reason if this rank is
   * killed: once the group has failed because of that, or before.
   */
  public void onKilled(Consumer<String> listener) {
    onKilled.set(listener);
  }

  @Override
  public Membership members() {
    return members;
  }

  /** Returns how the group stands, and what it failed with, if it did. */
  public GroupState state() {
    return state;
  }

  /** Returns what takes reports of events that end the group, and ends waits once it has ended. */
  public FailureReports reports() {
    return reports;
  }

  /**
   * Returns the executor of what this group runs in the background; what it throws ends the group.
   */
  public Executor executor() {
    return executor;
  }

  /** Returns what log lines of this rank in this group carry. */
  public LogContext logContext() {
    return logContext;
  }

  public TimeSource time() {
    return host.time();
  }

  /** Returns the records of the group's operations, with their sums. */
  public GroupRecords records() {
    return records;
  }

  /** Returns whether hashes of inputs and outputs are recorded. */
  boolean recordsHashes() {
    return dumps.recordsHashes();
  }

  /** Returns the records of the group's operations. */
  public FlightRecorder recorder() {
    return dumps.of(records);
  }

  /**
   * Sums up the operations of this rank.
   *
   * @param paths over which it reaches the others
   */
  public GroupStatistics statistics(GroupStatistics.Paths paths) {
    PendingOperations.Count count = pending.count(host.time().nanos());
    return records.statistics(count.operations(), count.longestNanos() / 1e9, paths);
  }

  /** Returns the hooks that are called for each operation that ends. */
  public CompletionHooks completionHooks() {
    return completionHooks;
  }

  /** Returns the time that operations get beyond their timeout. */
  public EphemeralTimeout ephemeralTimeout() {
    return ephemeralTimeout;
  }

  /**
   * Adds work to what is pending, which a close of the group waits for.
   *
   * @throws IllegalStateException if the group is being closed
   */
  void begin(MonitoredOperation work) {
    pending.add(work);
    // This check comes after the work was added: either it sees the close, or the close sees the
    // work.
    if (state.isClosing()) {
      IllegalStateException refusal = closed();
      work.complete(refusal);
      throw refusal;
    }
  }

  private IllegalStateException closed() {
    return new IllegalStateException(
        "Group \""
            + members.name()
            + "\" is closed on rank "
            + members.rank()
            + "; nothing can be begun in it");
  }

  /**
   * Refuses what a closed group cannot do.
   *
   * @throws IllegalStateException if the group is closed, or is being closed
   */
  public void requireNotClosed() {
    if (state.isClosing()) {
      throw closed();
    }
  }

  void end(MonitoredOperation work) {
    pending.remove(work);
  }

  /** Returns whether an operation is pending. */
  public boolean hasPending() {
    return pending.any();
  }

  /**
   * Runs an operation that uses the store itself. If the store does not respond meanwhile, it
   * counts as waiting, as pending work does.
   */
  public <T> T askingStore(Supplier<T> operation) {
    return storeSteps.run(operation);
  }

  /**
   * Checks what has become overdue, or waits for a rank that has left. Called by the watchdog; does
   * not block.
   */
  public void poll() {
    logContext.run(this::pollAll);
  }

  private void pollAll() {
    if (parent == null) {
      control.poll();
      heartbeat.poll();
    }
    RankContext context = host.context();
    propagation.failIfUnanswered();
    if (state.failed()) {
      failPending();
      if (context.isKilled()) {
        Consumer<String> listener = onKilled.getAndSet(null);
        if (listener != null) {
          listener.accept(context.killReason());
        }
      }
      return;
    }
    if (context.isKilled()) {
      reports.killed(context.killReason());
      return;
    }
    leaves.poll();
    inquiry.poll();
    if (hasPending()) {
      if (leaves.anyAfterFailure()) {
        propagation.read();
      }
      propagation.poll();
      pending.poll(host.time().nanos(), timeouts, leaves, reports);
    }
  }

  /**
   * Ends the work of a failed group that no thread runs: messages, and collectives still in the
   * queue. Does not block.
   */
  public void failPending() {
    pending.fail();
  }

  /** Returns the listener for the end of connections to a peer, whatever they carry. */
  public ConnectionListener connectionTo(int peer) {
    return new ConnectionListener() {
      @Override
      public void finished(long lastCollective) {
        // Whether an operation still needs the peer follows from the numbers.
        leaves.left(peer, lastCollective);
      }

      @Override
      public void refused(CollectiveMismatchException why) {
        reports.refused(why);
      }

      @Override
      public void broken(Throwable cause) {
        reports.pathBroken(peer, cause);
      }
    };
  }

  @Override
  public void unresponsive(int groupRank, String cause) {
    reports.unresponsive(groupRank, cause);
  }

  /**
   * Fails the group on this rank because the store does not respond, if the rank has an operation
   * that has waited for longer than {@code patience}.
   */
  @Override
  public void storeUnresponsive(Duration patience, String cause) {
    long now = host.time().nanos();
    long longest = patience.toNanos();
    if (pending.anyIsOlder(longest, now) || storeSteps.anyIsOlder(longest, now)) {
      reports.storeUnresponsive(cause);
    }
  }

  /** Ends the group, because the watchdog is stuck and no longer guards it. */
  public void watchdogStuck(String what) {
    reports.abort(new IllegalStateException(what));
    executor.execute(this::failPending);
  }

  /** Publishes that this rank leaves, so that the ranks that wait for it fail. */
  public void leave(long lastSequenceNumber, Deadline deadline) {
    if (state.failed()) {
      leaves.leaveAfterFailure(deadline);
    } else {
      leaves.leave(lastSequenceNumber, deadline);
    }
  }

  /** Returns what notes, for all groups of this rank, whether the store answers their closes. */
  public StoreSilence storeSilence() {
    return storeSilence;
  }

  /**
   * Returns whether a close need not give the store {@code patience}: it did not answer another
   * close in that time, or the group has failed and the store has not responded for longer than the
   * heartbeat timeout.
   */
  public boolean isStoreSilent(Duration patience) {
    return storeSilence.isSilent(patience) || (state.failed() && heartbeat.isStoreUnresponsive());
  }

  /**
   * Waits until this rank's report of its failure is published.
   *
   * @return whether it is
   */
  public boolean awaitPublished(Duration atMost) {
    return propagation.awaitPublished(atMost);
  }

  @Override
  public void close() {
    propagation.close();
    leaves.close();
    inquiry.close();
    records.close();
    heartbeat.leave(this);
    if (parent == null) {
      heartbeat.close();
      control.close();
      dumps.close();
    }
    state.close();
  }

  @Override
  public String toString() {
    return self.where();
  }
}
