package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.recorder.FlightRecorder;
import org.sparkcollectives.recorder.GroupRecords;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;

/**
 * The life of one rank's group: what is pending, what has become of the peers, and how it ends.
 *
 * <p>What ends a group is told to {@link FailureReports}, and found by {@link OverdueWork} at a
 * deadline. It becomes a record, and goes out through {@link AbortPropagation}, which decides what
 * the group ends with.
 */
public final class GroupLife implements AutoCloseable {

  private final Membership members;
  private final RankIdentity self;
  private final RankContext context;
  private final Executor background;
  private final GroupLife parent;
  private final RankDumps dumps;
  private final RankControl control;
  private final GroupRecords records;
  private final GroupFailure failure;
  private final AbortPropagation propagation;
  private final Departures departures;
  private final OverdueWork overdue;
  private final FailureReports reports;
  private final RankHeartbeat heartbeat;
  private final CompletionHooks completionHooks;
  private final EphemeralTimeout ephemeralTimeout = new EphemeralTimeout();
  private final Set<PendingWork> pending = ConcurrentHashMap.newKeySet();
  private final StoreSteps storeSteps = new StoreSteps();
  private final AtomicBoolean closing = new AtomicBoolean();
  private volatile Thread caller = Thread.currentThread();
  private volatile CollectiveProgress progress = CollectiveProgress.NONE;
  private volatile Consumer<String> onKilled = reason -> {};
  private volatile boolean killed;

  /** Of a rank's first group. */
  public GroupLife(
      Membership members,
      Store store,
      RankContext context,
      Executor background,
      ErrorHandling mode,
      RankHeartbeat heartbeat) {
    this(members, store, context, background, mode, null, heartbeat);
  }

  /** Of a group made from another. */
  public GroupLife(
      Membership members,
      Store store,
      RankContext context,
      Executor background,
      ErrorHandling mode,
      GroupLife parent) {
    this(members, store, context, background, mode, parent, parent.heartbeat);
  }

  private GroupLife(
      Membership members,
      Store store,
      RankContext context,
      Executor background,
      ErrorHandling mode,
      GroupLife parent,
      RankHeartbeat heartbeat) {
    this.members = members;
    this.self = members.identity();
    this.context = context;
    this.background = background;
    this.parent = parent;
    this.failure = new GroupFailure(() -> reports().interrupted());
    this.dumps = parent == null ? new RankDumps(members, store, context, background) : parent.dumps;
    this.control =
        parent == null ? new RankControl(members, store, dumps, background) : parent.control;
    this.records = dumps.join(members, failure);
    this.propagation = new AbortPropagation(store, failure, self, mode, background);
    FailureHandling handling = new FailureHandling(mode, failure, propagation, context);
    this.departures =
        new Departures(
            store,
            members.rank(),
            members.size(),
            background,
            parent == null ? null : parent.departures,
            parent == null ? new int[0] : members.ranksIn(parent.members));
    this.overdue =
        new OverdueWork(
            members,
            store,
            () -> progress.snapshot(),
            () -> ThreadStack.of(caller),
            handling::operationFailed,
            background);
    this.reports =
        new FailureReports(
            members,
            context,
            failure,
            propagation,
            handling,
            new BrokenPath(
                members, failure, overdue::askForLife, handling::operationFailed, background));
    this.completionHooks = new CompletionHooks(background, self);
    this.heartbeat = heartbeat;
    heartbeat.join(this);
  }

  /** Where the numbers of this rank's collectives come from. */
  public interface CollectiveProgress {

    /** Before the first. */
    CollectiveProgress NONE = () -> new RankProgress(-1, -1, "");

    RankProgress snapshot();
  }

  /**
   * Has {@code listener}, which must not block, told why, should this rank be killed: once the
   * group has failed because of that, or before.
   */
  public void onKilled(Consumer<String> listener) {
    onKilled = listener;
  }

  /** Where late ranks are asked from how far this one is. */
  public void reportsProgressOf(CollectiveProgress source) {
    progress = source;
  }

  /** Who is in the group. */
  public Membership members() {
    return members;
  }

  /** What the group ended with, if it did. */
  public GroupFailure failure() {
    return failure;
  }

  /** Whoever notices what ends the group tells this. */
  public FailureReports reports() {
    return reports;
  }

  GroupRecords records() {
    return records;
  }

  /** What has happened in the group. */
  public FlightRecorder recorder() {
    return dumps.of(records);
  }

  /** Who is told of each operation that ends. */
  public CompletionHooks completionHooks() {
    return completionHooks;
  }

  /** The time that operations get beyond their timeout. */
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
    if (closing.get()) {
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
   * Refuses what is begun from now on. What was begun before is pending.
   *
   * @return false if the group is being closed already
   */
  public boolean beginClose() {
    return closing.compareAndSet(false, true);
  }

  /**
   * Refuses what nobody can do in a group that is closed.
   *
   * @throws IllegalStateException if the group is closed, or is being closed
   */
  public void requireNotClosed() {
    if (closing.get()) {
      throw closed();
    }
  }

  void end(PendingWork work) {
    pending.remove(work);
  }

  /** Whether an operation is under way. */
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

  /** Looks at what has become overdue or vain. Called by the watchdog; does not block. */
  public void look() {
    if (parent == null) {
      control.poll();
      heartbeat.look();
    }
    if (failure.failed()) {
      failPending();
      if (!killed && context.isKilled()) {
        killed = true;
        onKilled.accept(context.killReason());
      }
      return;
    }
    if (context.isKilled()) {
      reports.killed(context.killReason());
      return;
    }
    if ((propagation.needsPolling() || departures.anyAfterFailure()) && hasPending()) {
      propagation.poll();
    }
    long now = System.nanoTime();
    for (PendingWork work : pending) {
      if (work.isOverdue(now)) {
        overdue.report(work);
        return;
      }
      int departed = work.waitsInVainFor(departures);
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

  /** A peer has closed the group in good order; whether somebody still needs it, numbers tell. */
  public void peerLeft(int peer, long lastCollective) {
    departures.left(peer, lastCollective);
  }

  /**
   * Nothing is heard of the store: ends the group on this rank, if it has an operation that waits
   * for longer than {@code patience}. Others cannot be told.
   */
  void storeSilent(Duration patience, String cause) {
    long now = System.nanoTime();
    long longest = patience.toNanos();
    if (pending.stream().anyMatch(work -> work.ageNanos(now) > longest)
        || storeSteps.anyIsOlder(longest, now)) {
      failure.fail(
          self.failure(Failure.Kind.SILENT, "", -1, cause),
          operation ->
              new GroupAbortedException(
                  operation + " of " + self.where() + " failed: " + cause, null));
    }
  }

  /** Nobody looks at this group any more. */
  public void watchdogStuck(String what) {
    reports.abort(new IllegalStateException(what));
    background.execute(this::failPending);
  }

  /** Says that this rank leaves, so that who waits for it in vain is told. */
  public void leave(long lastSequenceNumber, Deadline deadline) {
    if (failure.failed()) {
      departures.announceAfterFailure(deadline);
    } else {
      departures.announce(lastSequenceNumber, deadline);
    }
  }

  /** Whether nothing has been heard of the store for longer than signs of life may be missing. */
  public boolean isStoreSilent() {
    return heartbeat.isStoreSilent();
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
    departures.close();
    overdue.close();
    records.close();
    heartbeat.leave(this);
    if (parent == null) {
      heartbeat.close();
      control.close();
      dumps.close();
    }
  }

  @Override
  public String toString() {
    return self.where();
  }
}
