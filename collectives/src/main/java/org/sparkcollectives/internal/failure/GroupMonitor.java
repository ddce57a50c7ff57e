package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.recorder.FlightRecorder;
import org.sparkcollectives.recorder.GroupRecords;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.transport.ConnectionListener;

/**
 * Monitors one rank's group: what is pending in it, what has become of the peers, and how it ends.
 *
 * <p>What ends a group is reported to {@link FailureReports}, or found by {@link TimeoutHandling}
 * at a deadline. It becomes a record, and goes out through {@link AbortPropagation}, which decides
 * with what the group fails. {@link GroupState} holds the outcome.
 */
public final class GroupMonitor implements AutoCloseable {

  /** How long a task may take to end by itself: then the job's error is what it has thrown. */
  private static final Duration TEAR_DOWN_PATIENCE = Duration.ofSeconds(1);

  private final Membership members;
  private final RankIdentity self;
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
  private final CompletionHooks completionHooks;
  private final EphemeralTimeout ephemeralTimeout = new EphemeralTimeout();
  private final Set<PendingWork> pending = ConcurrentHashMap.newKeySet();
  private final StoreSteps storeSteps;
  private volatile Thread caller = Thread.currentThread();
  private volatile CollectiveProgress progress = CollectiveProgress.NONE;

  /** Null once it has been called. */
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
    this.host = host;
    this.parent = parent;
    this.storeSteps = new StoreSteps(host.time());
    this.state = new GroupState(self, () -> reports().interrupted());
    this.dumps = parent == null ? new RankDumps(members, store, host) : parent.dumps;
    this.control = parent == null ? new RankControl(members, store, dumps, host) : parent.control;
    this.records = dumps.join(members, state);
    this.propagation = new AbortPropagation(store, state, self, mode, host);
    if (mode.tearsDown()) {
      Duration patience = mode == ErrorHandling.SKIP_CLEAN_UP ? Duration.ZERO : TEAR_DOWN_PATIENCE;
      state.onFailure(() -> host.context().tearDown(state.exceptionFor("the task"), patience));
    }
    this.leaves =
        parent == null
            ? new LeaveTracker(store, members, host)
            : new LeaveTracker(
                store, members, host, parent.leaves, members.ranksIn(parent.members));
    this.inquiry =
        new ProgressInquiry(
            store, members, () -> progress.snapshot(), () -> ThreadStack.of(caller), host);
    this.timeouts = new TimeoutHandling(members, inquiry, propagation, host);
    this.reports =
        new FailureReports(
            members,
            state,
            propagation,
            new BrokenPath(members, state, inquiry::askWhoResponds, propagation, host),
            host);
    this.completionHooks = new CompletionHooks(host.background(), self);
    this.heartbeat = heartbeat;
    heartbeat.join(this);
  }

  /** Tells the numbers of this rank's collectives. */
  public interface CollectiveProgress {

    /** The progress before the first collective. */
    CollectiveProgress NONE = () -> new RankProgress(-1, -1, "");

    RankProgress snapshot();
  }

  /**
   * Has {@code listener}, which must not block, told why, should this rank be killed: once the
   * group has failed because of that, or before.
   */
  public void onKilled(Consumer<String> listener) {
    onKilled.set(listener);
  }

  /** Sets where late ranks are asked from how far this one is. */
  public void reportsProgressOf(CollectiveProgress source) {
    progress = source;
  }

  /** Returns who is in the group. */
  public Membership members() {
    return members;
  }

  /** Returns how the group stands, and what it failed with, if it did. */
  public GroupState state() {
    return state;
  }

  /** Returns what takes reports of what ends the group. */
  public FailureReports reports() {
    return reports;
  }

  TimeSource time() {
    return host.time();
  }

  GroupRecords records() {
    return records;
  }

  /** Returns what has happened in the group. */
  public FlightRecorder recorder() {
    return dumps.of(records);
  }

  /** Returns the hooks that hear of each operation that ends. */
  public CompletionHooks completionHooks() {
    return completionHooks;
  }

  /** Returns the time that operations get beyond their timeout. */
  public EphemeralTimeout ephemeralTimeout() {
    return ephemeralTimeout;
  }

  /**
   * Takes work among what is pending, which whoever closes the group waits for.
   *
   * @throws IllegalStateException if the group is being closed
   */
  void begin(PendingWork work) {
    Thread current = Thread.currentThread();
    // Almost always the same one: to look is cheaper than to write.
    if (caller != current) {
      caller = current;
    }
    pending.add(work);
    // After it was added: either the close is seen here, or the close sees the work.
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
   * Refuses what nobody can do in a group that is closed.
   *
   * @throws IllegalStateException if the group is closed, or is being closed
   */
  public void requireNotClosed() {
    if (state.isClosing()) {
      throw closed();
    }
  }

  void end(PendingWork work) {
    pending.remove(work);
  }

  /** Returns whether an operation is under way. */
  public boolean hasPending() {
    // Its size is only an estimate while others add and remove.
    return pending.iterator().hasNext();
  }

  /**
   * Runs an operation that asks the store itself: if nothing is heard of the store meanwhile, it
   * waits as pending work does.
   */
  public <T> T askingStore(Supplier<T> operation) {
    return storeSteps.run(operation);
  }

  /** Checks what has become overdue or vain. Called by the watchdog; does not block. */
  public void poll() {
    if (parent == null) {
      control.poll();
      heartbeat.poll();
    }
    RankContext context = host.context();
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
      pollPending();
    }
  }

  private void pollPending() {
    long now = host.time().nanos();
    for (PendingWork work : pending) {
      if (work.isOverdue(now)) {
        timeouts.handle(work);
        return;
      }
      int departed = work.waitsInVainFor(leaves);
      if (departed >= 0) {
        reports.peerFinished(work, departed);
        return;
      }
    }
  }

  /**
   * Ends the work of a failed group that no thread runs: messages, and collectives still in the
   * queue. Does not block.
   */
  public void failPending() {
    for (PendingWork work : pending) {
      work.groupFailed();
    }
  }

  /** Returns what hears how connections to a peer end, whatever they carry. */
  public ConnectionListener connectionTo(int peer) {
    return new ConnectionListener() {
      @Override
      public void finished(long lastCollective) {
        // Whether somebody still needs it, numbers tell.
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

  /**
   * Fails the group on this rank because nothing is heard of the store, if the rank has an
   * operation that waits for longer than {@code patience}. Others cannot be told.
   */
  void storeUnresponsive(Duration patience, String cause) {
    long now = host.time().nanos();
    long longest = patience.toNanos();
    if (pending.stream().anyMatch(work -> work.ageNanos(now) > longest)
        || storeSteps.anyIsOlder(longest, now)) {
      state.fail(
          self.failure(Failure.Kind.UNRESPONSIVE, "", -1, cause),
          operation ->
              new GroupAbortedException(
                  operation + " of " + self.where() + " failed: " + cause, null));
    }
  }

  /** Ends the group, because the watchdog is stuck and nobody guards it any more. */
  public void watchdogStuck(String what) {
    reports.abort(new IllegalStateException(what));
    host.background().execute(this::failPending);
  }

  /** Says that this rank leaves, so that who waits for it in vain is told. */
  public void leave(long lastSequenceNumber, Deadline deadline) {
    if (state.failed()) {
      leaves.leaveAfterFailure(deadline);
    } else {
      leaves.leave(lastSequenceNumber, deadline);
    }
  }

  /** Returns whether nothing has been heard of the store for longer than the heartbeat timeout. */
  public boolean isStoreUnresponsive() {
    return heartbeat.isStoreUnresponsive();
  }

  /**
   * Waits until what this rank has to say about its failure is said.
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
