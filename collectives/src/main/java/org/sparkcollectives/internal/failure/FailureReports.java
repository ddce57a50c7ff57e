package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.failure.RankIdentity;

/**
 * Reports events on this rank that end its group: makes a {@link Failure} record of each, and
 * determines what the operations of this rank then throw. Thread-safe; does not block unless it
 * says so.
 */
public final class FailureReports {

  /**
   * The time in which the rank that failed is determined: a question to all ranks, and a moment.
   */
  private static final Duration SETTLE_PATIENCE = Duration.ofSeconds(5);

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Membership members;
  private final RankIdentity self;
  private final RankContext context;
  private final GroupState state;
  private final AbortPropagation propagation;
  private final BrokenPath brokenPath;
  private final TimeSource time;

  FailureReports(
      Membership members,
      GroupState state,
      AbortPropagation propagation,
      BrokenPath brokenPath,
      RankHost host) {
    this.members = members;
    this.self = members.identity();
    this.context = host.context();
    this.time = host.time();
    this.state = state;
    this.propagation = propagation;
    this.brokenPath = brokenPath;
  }

  /**
   * Ends the group because the user asks for it. In a group that is failing, an abort is a
   * consequence, and changes nothing.
   */
  public void abort(Throwable cause) {
    if (state.failed()) {
      return;
    }
    propagation.rankFailed(
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

  /** Reports that the task was killed. */
  void killed(String reason) {
    Failure.Kind kind =
        context.isStoppedWithOthers() ? Failure.Kind.STAGE_STOPPED : Failure.Kind.KILLED;
    propagation.rankFailed(
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

  /** Reports that a waiting thread was interrupted. */
  void interrupted() {
    killed(context.isKilled() ? context.killReason() : "its thread was interrupted");
  }

  /** Reports that the path to a peer broke, which may be a consequence: see {@link BrokenPath}. */
  void pathBroken(int peer, Throwable cause) {
    brokenPath.report(peer, cause);
  }

  /**
   * Reports that the process of a rank sends no heartbeat. The rank may be this one, as others see
   * it.
   */
  void unresponsive(int groupRank, String cause) {
    if (!state.failed()) {
      propagation.rankFailed(
          members.identityOf(groupRank).failure(Failure.Kind.UNRESPONSIVE, "", -1, cause), null);
    }
  }

  /** Reports that a peer refused a message of a collective, because it is in another. */
  void refused(CollectiveMismatchException mismatch) {
    propagation.operationFailed(
        self.failure(Failure.Kind.EXCEPTION, "", -1, mismatch),
        operation -> ownFailure(operation, mismatch));
  }

  /** Reports that a backend failed outside of any operation. */
  public void backendFailed(Throwable thrown) {
    if (!state.failed()) {
      ownFailed("", -1, thrown);
    }
  }

  private void ownFailed(String description, long sequenceNumber, Throwable thrown) {
    Failure record = self.failure(kindOf(thrown), description, sequenceNumber, thrown);
    if (thrown instanceof TransportException) {
      brokenPath.report(record, operation -> ownFailure(operation, thrown));
    } else {
      propagation.operationFailed(record, operation -> ownFailure(operation, thrown));
    }
  }

  /** Returns the kind of a failure. A broken connection may follow from another rank's failure. */
  private static Failure.Kind kindOf(Throwable thrown) {
    return thrown instanceof TransportException
        ? Failure.Kind.CONNECTION_RESET
        : Failure.Kind.EXCEPTION;
  }

  /** Reports that a peer has left for which an operation waits. */
  void peerFinished(MonitoredWork work, int peer) {
    propagation.operationFailed(
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
   * Turns an operation's exception into the group's failure, and waits until the group has failed.
   *
   * @return what the operation's work ends with
   */
  public Throwable operationFailed(MonitoredWork work, Throwable thrown) {
    return LogContext.of(self).during(work.describe()).call(() -> describeFailure(work, thrown));
  }

  private Throwable describeFailure(MonitoredWork work, Throwable thrown) {
    if (!state.failed()) {
      long start = time.nanos();
      partFailed(work, thrown);
      awaitFailed(start);
      // A tenth of a second and a call of the store, unless that does not answer.
      long left = AbortPropagation.PUBLISH_LIMIT.toNanos() - (time.nanos() - start);
      propagation.awaitPublished(Duration.ofNanos(Math.max(left, 0)));
    }
    return state.failed() ? state.exceptionFor(work.describe()) : thrown;
  }

  /** Waits until it is determined what the group fails with. */
  private void awaitFailed(long start) {
    while (state.isFailing()
        && time.nanos() - start < SETTLE_PATIENCE.toNanos()
        && !Thread.currentThread().isInterrupted()) {
      time.sleep(LOOK_NANOS);
    }
  }

  /**
   * Turns the exception of a part of an operation into the group's failure; does not wait until the
   * group has failed.
   */
  public void partFailed(MonitoredWork work, Throwable thrown) {
    if (state.failed()) {
      return;
    }
    if (thrown instanceof TransportException transport && transport.peer() >= 0) {
      pathBroken(transport.peer(), transport);
    } else if (!(thrown instanceof PeerFailedException)) {
      ownFailed(work.describe(), work.sequenceNumber(), thrown);
    }
  }

  /**
   * Returns what a failed message ends with. A message that did not fit concerns its two ranks
   * only.
   */
  public Throwable messageFailed(MonitoredWork work, RuntimeException cause) {
    if (state.failed()) {
      return state.exceptionFor(work.describe());
    }
    return cause instanceof CollectiveMismatchException mismatch
        ? new CollectiveMismatchException(
            work.describe() + " of " + self.where() + " failed: " + cause.getMessage(),
            mismatch.calls())
        : ownFailure(work.describe(), cause);
  }

  private CollectiveException ownFailure(String operation, Throwable thrown) {
    if (thrown instanceof CollectiveMismatchException mismatch) {
      return new CollectiveMismatchException(
          operation + " of " + self.where() + " failed: " + thrown.getMessage(), mismatch.calls());
    }
    return new CollectiveException(
        operation + " of " + self.where() + " failed: " + thrown, thrown);
  }
}
