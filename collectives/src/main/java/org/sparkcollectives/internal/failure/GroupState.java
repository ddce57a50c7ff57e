package org.sparkcollectives.internal.failure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spi.failure.RankIdentity;

/**
 * Holds the state of one rank's group, and what the group's operations throw once it has failed.
 *
 * <pre>
 *   OPEN ──notice──▶ FAILING ──fail──▶ FAILED
 *     │                 │                 │
 *     └───────────── beginClose ──────────┘
 *                       ▼
 *                    CLOSING ──close──▶ CLOSED
 * </pre>
 *
 * <p>A group that is being closed may still fail, because operations are pending in it: {@link
 * #failed} tells, the phase stays {@code CLOSING}. Of several records that this rank notices while
 * the group is failing the one that tells most of the first cause counts; once the group has
 * failed, what it has failed with stays. Thread-safe: each transition is one compare-and-set.
 */
public final class GroupState {

  private static final Logger LOG = LoggerFactory.getLogger(GroupState.class);

  /** The phases of a group's life. */
  public enum Phase {
    /** Operations begin and end. */
    OPEN,
    /** A failure was noticed, and the record with which the group fails is being determined. */
    FAILING,
    /** Every pending and every later operation throws. */
    FAILED,
    /** No operation begins any more; pending operations may end or fail. */
    CLOSING,
    /** Everything that the group held has been released. */
    CLOSED
  }

  /**
   * A failure that this rank has noticed.
   *
   * @param local makes the exception of this rank's operations from an operation's description;
   *     null if the record alone says it
   */
  private record Noticed(Failure record, Function<String, CollectiveException> local) {}

  /** The failure with which the group has failed. */
  private record Ending(Failure record, Function<String, CollectiveException> exceptionFor) {}

  /**
   * The whole state, which is replaced as one.
   *
   * @param settling whether the rank that failed is still being determined
   * @param noticed null while this rank has noticed nothing
   * @param ending null while the group has not failed
   */
  private record Status(Phase phase, boolean settling, Noticed noticed, Ending ending) {

    Status in(Phase next) {
      return new Status(next, settling, noticed, ending);
    }

    /** Returns the phase after a failure; a group that is closing or closed keeps its phase. */
    Phase after(Phase failure) {
      return phase.compareTo(Phase.CLOSING) < 0 ? failure : phase;
    }
  }

  private final RankIdentity self;
  private final AtomicReference<Status> status =
      new AtomicReference<>(new Status(Phase.OPEN, false, null, null));
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  /** Set once by the thread that closes the group. */
  private volatile ClosingTime closingTime;

  /** Creates the state of a group that is open. */
  public GroupState(RankIdentity self) {
    this.self = self;
  }

  /**
   * Replaces the state, and returns the previous one; if {@code change} returns null, the state
   * stays.
   */
  private Status change(UnaryOperator<Status> change) {
    while (true) {
      Status before = status.get();
      Status after = change.apply(before);
      if (after == null) {
        return null;
      }
      if (status.compareAndSet(before, after)) {
        return before;
      }
    }
  }

  /** Returns how far the group has come. */
  public Phase phase() {
    return status.get().phase();
  }

  /** Returns whether a failure was noticed but the group has not failed yet. */
  public boolean isFailing() {
    Status now = status.get();
    return now.ending() == null && (now.settling() || now.noticed() != null);
  }

  /** Returns whether the group has failed, even if it is closing or closed by now. */
  public boolean failed() {
    return status.get().ending() != null;
  }

  /** Returns whether the group is closing or closed, so that no operation may begin any more. */
  public boolean isClosing() {
    return phase().compareTo(Phase.CLOSING) >= 0;
  }

  /**
   * Begins to determine which rank failed, unless that is known already.
   *
   * @return false if the group is failing or has failed already
   */
  boolean beginSettling() {
    return change(
            now ->
                now.settling() || now.noticed() != null || now.ending() != null
                    ? null
                    : new Status(now.after(Phase.FAILING), true, null, null))
        != null;
  }

  /**
   * Records a failure that this rank has noticed, if it is the first or tells more about the first
   * cause than the earlier ones. For example, a rank that refuses a message closes its connection,
   * and the end of the connection may be noticed before the reason is.
   *
   * @param local makes the exception of this rank's operations from an operation's description,
   *     unless a better record turns up; null if the record alone says it
   * @return whether it was recorded
   */
  boolean notice(Failure record, Function<String, CollectiveException> local) {
    return change(
            now -> {
              if (now.noticed() != null && !record.outranks(now.noticed().record())) {
                return null;
              }
              Phase next = now.ending() == null ? now.after(Phase.FAILING) : now.phase();
              return new Status(next, now.settling(), new Noticed(record, local), now.ending());
            })
        != null;
  }

  /**
   * Fails the group with the best record that is known, unless it has failed already.
   *
   * @return whether this call failed it
   */
  public boolean fail(Failure record) {
    // The record may be another rank's that came before the one this rank noticed, or may tell no
    // more than this rank knows.
    Noticed own = status.get().noticed();
    boolean local =
        own != null && own.local() != null && record.kind().compareTo(own.record().kind()) >= 0;
    return fail(record, local ? own.local() : operation -> self.exceptionAfter(operation, record));
  }

  /**
   * Fails the group, unless it has failed already.
   *
   * @param record which rank failed, and why
   * @param exceptionFor makes the exception of an operation from the operation's description
   * @return whether this call failed it
   */
  public boolean fail(Failure record, Function<String, CollectiveException> exceptionFor) {
    Status before =
        change(
            now ->
                now.ending() != null
                    ? null
                    : new Status(
                        now.after(Phase.FAILED),
                        now.settling(),
                        now.noticed(),
                        new Ending(record, exceptionFor)));
    if (before == null) {
      return false;
    }
    listeners.forEach(this::run);
    return true;
  }

  /** Runs a listener. What one throws concerns neither the others nor the caller. */
  private void run(Runnable listener) {
    try {
      listener.run();
    } catch (RuntimeException | Error e) {
      LOG.error("{} has failed, and something that ends with it could not be ended", self, e);
    }
  }

  /**
   * Begins to close the group, so that no operation begins in it any more.
   *
   * @param time that the close may take
   * @return false if it is being closed already
   */
  public boolean beginClose(ClosingTime time) {
    if (change(now -> now.phase().compareTo(Phase.CLOSING) >= 0 ? null : now.in(Phase.CLOSING))
        == null) {
      return false;
    }
    closingTime = time;
    return true;
  }

  /** Returns the time that the close may take, to the thread that closes the group. */
  public ClosingTime closingTime() {
    return closingTime;
  }

  /** Closes the group. */
  public void close() {
    change(now -> now.in(Phase.CLOSED));
  }

  /** Returns the exception of an operation of the failed group. */
  public CollectiveException exceptionFor(String operation) {
    return status.get().ending().exceptionFor().apply(operation);
  }

  /** Returns which rank failed, and why; null while the group has not failed. */
  public Failure failure() {
    Ending ending = status.get().ending();
    return ending == null ? null : ending.record();
  }

  /**
   * Runs {@code listener}, which must not block, once when the group fails, or now if it has. What
   * it throws is logged.
   */
  public void onFailure(Runnable listener) {
    AtomicReference<Runnable> once = new AtomicReference<>(listener);
    Runnable runOnce =
        () -> {
          Runnable first = once.getAndSet(null);
          if (first != null) {
            first.run();
          }
        };
    listeners.add(runOnce);
    if (failed()) {
      run(runOnce);
    }
  }

  /** Throws what the group has failed with, if it has. */
  void check() {
    if (failed()) {
      throw exceptionFor("an operation");
    }
  }
}
