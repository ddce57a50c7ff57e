package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.liveness.TimeSource;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.failure.RankIdentity;

/**
 * Reports events on this rank that end its group: makes a {@link Failure} record of each, and
 * determines what the operations of this rank then throw. Thread-safe; does not block unless it
 * says so.
 */
public final class FailureReports implements Cancellation {

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

  public FailureReports(
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
  public void killed(String reason) {
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

  @Override
  public void check() {
    state.check();
  }

  @Override
  public void interrupted() {
    killed(context.isKilled() ? context.killReason() : "its thread was interrupted");
  }

  /** Reports that the path to a peer broke, which may be a consequence: see {@link BrokenPath}. */
  public void pathBroken(int peer, Throwable cause) {
    if (!state.failed()) {
      report(Blame.ofPath(peer, cause), "", -1);
    }
  }

  /**
   * Reports that the process of a rank sends no heartbeat. The rank may be this one, as others see
   * it.
   */
  public void unresponsive(int groupRank, String cause) {
    if (!state.failed()) {
      propagation.rankFailed(
          members.identityOf(groupRank).failure(Failure.Kind.UNRESPONSIVE, "", -1, cause), null);
    }
  }

  /**
   * Fails the group on this rank because the store does not respond: the other ranks cannot be
   * told.
   */
  public void storeUnresponsive(String cause) {
    state.fail(
        self.failure(Failure.Kind.UNRESPONSIVE, "", -1, cause),
        operation ->
            new GroupAbortedException(
                operation + " of " + self.where() + " failed: " + cause, null));
  }

  /** Reports that a peer refused a message of a collective, because it is in another. */
  public void refused(CollectiveMismatchException mismatch) {
    propagation.operationFailed(
        self.failure(Failure.Kind.EXCEPTION, "", -1, mismatch),
        operation -> ownFailure(operation, mismatch));
  }

  /** Reports that something failed outside of any operation, such as a backend. */
  public void failed(Throwable thrown) {
    if (!state.failed()) {
      report(Blame.of(thrown), "", -1);
    }
  }

  /** Reports what a call threw between its operations, and returns what the call then throws. */
  public CollectiveException callFailed(String call, Throwable thrown) {
    failed(thrown);
    return state.failed() ? state.exceptionFor(call) : ownFailure(call, thrown);
  }

  /**
   * Returns an executor for what no caller hears of: what it throws there ends the group, and never
   * the thread.
   */
  public Executor guard(Executor executor) {
    return body ->
        executor.execute(
            () -> {
              try {
                body.run();
              } catch (RuntimeException | Error e) {
                failed(e);
              }
            });
  }

  private void report(Blame blame, String operation, long sequenceNumber) {
    Throwable cause = blame.cause();
    switch (blame.whose()) {
      case OWN ->
          propagation.operationFailed(
              self.failure(Failure.Kind.EXCEPTION, operation, sequenceNumber, cause),
              each -> ownFailure(each, cause));
      case OTHER_RANK ->
          propagation.rankFailed(
              members
                  .identityOf(blame.rank())
                  .failure(Failure.Kind.EXCEPTION, operation, sequenceNumber, cause),
              null);
      case PATH -> brokenPath.report(blame.rank(), cause);
      case SOME_PATH ->
          brokenPath.report(
              self.failure(Failure.Kind.CONNECTION_RESET, operation, sequenceNumber, cause),
              each -> ownFailure(each, cause));
      case CONSEQUENCE -> {}
    }
  }

  /** Reports that a peer has left for which an operation waits. */
  public void peerFinished(MonitoredOperation work, int peer) {
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
  public Throwable operationFailed(MonitoredOperation work, Throwable thrown) {
    return LogContext.of(self).during(work.describe()).call(() -> describeFailure(work, thrown));
  }

  private Throwable describeFailure(MonitoredOperation work, Throwable thrown) {
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
  public void partFailed(MonitoredOperation work, Throwable thrown) {
    if (!state.failed()) {
      report(Blame.of(thrown), work.describe(), work.sequenceNumber());
    }
  }

  /**
   * Ends a message that has failed; does not block. One that did not fit concerns its two ranks
   * only. Whatever else it fails with ends the group, and the message with it.
   */
  public void messageFailed(MonitoredOperation work, Throwable thrown) {
    if (!state.failed() && thrown instanceof CollectiveMismatchException) {
      work.complete(ownFailure(work.describe(), thrown));
      return;
    }
    partFailed(work, thrown);
    if (state.failed()) {
      work.groupFailed();
    }
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
