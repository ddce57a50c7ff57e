package org.sparkcollectives.life;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.recorder.FlightRecorder;
import org.sparkcollectives.recorder.GroupRecords;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.watchdog.AbortPropagation;
import org.sparkcollectives.watchdog.Departures;
import org.sparkcollectives.watchdog.GroupFailure;
import org.sparkcollectives.watchdog.RankIdentity;
import org.sparkcollectives.watchdog.RankProgress;
import org.sparkcollectives.watchdog.ThreadStack;

/**
 * The life of one rank's group: what is pending, what has become of the peers, and how it ends.
 *
 * <p>Every way in which a group can fail comes together here, becomes a {@link Failure} record, and
 * goes out through {@link AbortPropagation}, which decides what the group ends with.
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
  private final FailureHandling handling;
  private final Departures departures;
  private final OverdueWork overdue;
  private final BrokenPath brokenPath;
  private final RankHeartbeat heartbeat;
  private final CompletionHooks completionHooks;
  private final EphemeralTimeout ephemeralTimeout = new EphemeralTimeout();
  private final Set<PendingWork> pending = ConcurrentHashMap.newKeySet();
  private final StoreSteps storeSteps = new StoreSteps();
  private volatile Thread caller = Thread.currentThread();
  private volatile CollectiveProgress progress = CollectiveProgress.NONE;

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
    this.failure = new GroupFailure(this::interrupted);
    this.dumps = parent == null ? new RankDumps(members, store, context, background) : parent.dumps;
    this.control =
        parent == null ? new RankControl(members, store, dumps, background) : parent.control;
    this.records = dumps.join(members, failure);
    this.propagation = new AbortPropagation(store, failure, self, mode, background);
    this.handling = new FailureHandling(mode, failure, propagation, context);
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
    this.brokenPath =
        new BrokenPath(
            members, failure, overdue::askForLife, handling::operationFailed, background);
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

  void begin(PendingWork work) {
    Thread current = Thread.currentThread();
    // Almost always the same one: to look is cheaper than to write.
    if (caller != current) {
      caller = current;
    }
    pending.add(work);
  }

  void end(PendingWork work) {
    pending.remove(work);
  }

  /** Whether an operation is under way. */
  public boolean hasPending() {
    return !pending.isEmpty();
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
      return;
    }
    if (context.isKilled()) {
      killed(context.killReason());
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
        peerFinished(work, departed);
        return;
      }
    }
  }

  /** Ends the work that no thread runs: messages, and collectives still in the queue. */
  private void failPending() {
    for (PendingWork work : pending) {
      work.groupFailed();
    }
  }

  /** The user ends the group. In one that has failed that is a consequence, and tells nothing. */
  public void abort(Throwable cause) {
    if (failure.failed()) {
      return;
    }
    handling.rankFailed(
        self.failure(Failure.Kind.EXCEPTION, "", -1, cause),
        operation ->
            new GroupAbortedException(
                operation
                    + " of "
                    + self.where()
                    + " failed, because the group was aborted: "
                    + cause,
                cause));
  }

  private void killed(String reason) {
    Failure.Kind kind =
        context.isStoppedWithOthers() ? Failure.Kind.STAGE_STOPPED : Failure.Kind.KILLED;
    handling.rankFailed(
        self.failure(kind, "", -1, "the task was killed: " + reason),
        operation ->
            new GroupAbortedException(
                operation
                    + " of "
                    + self.where()
                    + " failed, because the task was killed: "
                    + reason,
                null));
  }

  private void interrupted() {
    killed(context.isKilled() ? context.killReason() : "its thread was interrupted");
  }

  /** The path to a peer broke. */
  public void pathBroken(int peer, Throwable cause) {
    handling.operationFailed(
        members.identityOf(peer).failure(Failure.Kind.CONNECTION_RESET, "", -1, cause.toString()),
        null);
  }

  /** A peer has closed the group in good order; whether somebody still needs it, numbers tell. */
  public void peerLeft(int peer, long lastCollective) {
    departures.left(peer, lastCollective);
  }

  /** The process of a member, or this one as others have seen it, has given no sign of life. */
  void silent(int groupRank, String cause) {
    if (!failure.failed()) {
      handling.rankFailed(
          members.identityOf(groupRank).failure(Failure.Kind.SILENT, "", -1, cause), null);
    }
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
          operation ->
              new GroupAbortedException(
                  operation + " of " + self.where() + " failed: " + cause, null));
    }
  }

  /** Nobody looks at this group any more. */
  public void watchdogStuck(String what) {
    abort(new IllegalStateException(what));
    background.execute(this::failPending);
  }

  /** A peer refused a message of a collective, because it is in another. */
  public void refused(CollectiveMismatchException mismatch) {
    handling.operationFailed(
        self.failure(Failure.Kind.EXCEPTION, "", -1, mismatch.toString()),
        operation -> ownFailure(operation, mismatch));
  }

  /** A backend failed outside of any operation. */
  public void backendFailed(Throwable thrown) {
    if (!failure.failed()) {
      ownFailed("", -1, thrown);
    }
  }

  private void ownFailed(String description, long sequenceNumber, Throwable thrown) {
    Failure record = self.failure(kindOf(thrown), description, sequenceNumber, thrown);
    if (thrown instanceof TransportException) {
      brokenPath.report(record, operation -> ownFailure(operation, thrown));
    } else {
      handling.operationFailed(record, operation -> ownFailure(operation, thrown));
    }
  }

  /** What broke between ranks may be the consequence of what another rank can tell more of. */
  private static Failure.Kind kindOf(Throwable thrown) {
    return thrown instanceof TransportException
        ? Failure.Kind.CONNECTION_RESET
        : Failure.Kind.EXCEPTION;
  }

  private void peerFinished(PendingWork work, int peer) {
    handling.operationFailed(
        members
            .identityOf(peer)
            .failure(
                Failure.Kind.PEER_FINISHED,
                work.describe(),
                work.sequenceNumber(),
                "rank " + peer + "'s task has finished, or closed the group, without joining"),
        null);
  }

  /**
   * Turns what an operation threw into the group's failure, and waits until that is settled.
   *
   * @return what the operation's work ends with
   */
  public Throwable operationFailed(PendingWork work, Throwable thrown) {
    if (!failure.failed()) {
      partFailed(work, thrown);
      brokenPath.await(Duration.ofSeconds(5));
      // A tenth of a second, and a call of the store.
      propagation.awaitPublished(Duration.ofSeconds(10));
    }
    return failure.failed() ? failure.exceptionFor(work.describe()) : thrown;
  }

  /** Turns what a part of an operation threw into the group's failure; does not wait for that. */
  public void partFailed(PendingWork work, Throwable thrown) {
    if (failure.failed()) {
      return;
    }
    if (thrown instanceof TransportException transport && transport.peer() >= 0) {
      pathBroken(transport.peer(), transport);
    } else if (!(thrown instanceof PeerFailedException)) {
      ownFailed(work.describe(), work.sequenceNumber(), thrown);
    }
  }

  /** What a failed message ends with: that it did not fit concerns its two ranks only. */
  public Throwable messageFailed(PendingWork work, RuntimeException cause) {
    if (failure.failed()) {
      return failure.exceptionFor(work.describe());
    }
    return cause instanceof CollectiveMismatchException
        ? new CollectiveMismatchException(
            work.describe() + " of " + self.where() + " failed: " + cause.getMessage())
        : ownFailure(work.describe(), cause);
  }

  private CollectiveException ownFailure(String operation, Throwable thrown) {
    if (thrown instanceof CollectiveMismatchException) {
      return new CollectiveMismatchException(
          operation + " of " + self.where() + " failed: " + thrown.getMessage());
    }
    return new CollectiveException(
        operation + " of " + self.where() + " failed: " + thrown, thrown);
  }

  /** Says that this rank leaves, so that who waits for it in vain is told. */
  public void leave(long lastSequenceNumber) {
    if (failure.failed()) {
      departures.announceAfterFailure();
    } else {
      departures.announce(lastSequenceNumber);
    }
  }

  /** Waits until what this rank has to say about its failure is said. */
  public void awaitPublished(Duration atMost) {
    propagation.awaitPublished(atMost);
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
