package org.sparkcollectives.internal.failure;

import java.time.Duration;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.membership.Membership;

/**
 * What a rank notices that ends its group: makes a {@link Failure} record of each, and what the
 * operations of this rank then throw. Thread-safe; does not block unless it says so.
 */
public final class FailureReports {

  private final Membership members;
  private final RankIdentity self;
  private final RankContext context;
  private final GroupFailure failure;
  private final AbortPropagation propagation;
  private final FailureHandling handling;
  private final BrokenPath brokenPath;

  FailureReports(
      Membership members,
      RankContext context,
      GroupFailure failure,
      AbortPropagation propagation,
      FailureHandling handling,
      BrokenPath brokenPath) {
    this.members = members;
    this.self = members.identity();
    this.context = context;
    this.failure = failure;
    this.propagation = propagation;
    this.handling = handling;
    this.brokenPath = brokenPath;
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

  /** The task was killed. */
  void killed(String reason) {
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

  /** A thread that waits was interrupted. */
  void interrupted() {
    killed(context.isKilled() ? context.killReason() : "its thread was interrupted");
  }

  /** The path to a peer broke. */
  public void pathBroken(int peer, Throwable cause) {
    handling.operationFailed(
        members.identityOf(peer).failure(Failure.Kind.CONNECTION_RESET, "", -1, cause.toString()),
        null);
  }

  /** The process of a member, or this one as others have seen it, has given no sign of life. */
  void silent(int groupRank, String cause) {
    if (!failure.failed()) {
      handling.rankFailed(
          members.identityOf(groupRank).failure(Failure.Kind.SILENT, "", -1, cause), null);
    }
  }

  /** A peer refused a message of a collective, because it is in another. */
  public void refused(CollectiveMismatchException mismatch) {
    handling.operationFailed(
        self.failure(Failure.Kind.EXCEPTION, "", -1, mismatch),
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

  /** A peer has left for which work waits. */
  void peerFinished(PendingWork work, int peer) {
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
