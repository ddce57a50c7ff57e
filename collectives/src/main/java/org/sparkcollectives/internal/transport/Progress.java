package org.sparkcollectives.internal.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The sends that one rank has begun and not ended, and the place where it waits for whatever it
 * waits for.
 *
 * <p>All pairs of a rank in a group share one, of whatever kind they are: thus a wait for one peer
 * moves the bytes to all others, and a ring in which everybody first sends and then receives cannot
 * stand still.
 *
 * <p>Only the thread that runs the group's current operation may use it; {@link #signal()} is for
 * all.
 */
public final class Progress {

  /** A message on its way out. */
  @FunctionalInterface
  public interface Send {

    /**
     * Abandons the send: when this returns, nobody reads the tensor any more. Does nothing by
     * default.
     */
    default void retract() {}

    /**
     * Moves on as far as is possible without waiting. Not called again once it has returned {@link
     * State#DONE}.
     */
    State advance();
  }

  /** The result of a poll of a send. */
  public enum State {
    /** Nothing moved. */
    WAITING,
    /** Something moved, and there is more. */
    MOVED,
    /** All has moved: the tensor is the caller's again. */
    DONE
  }

  private final EventCount events;
  private final Cancellation cancellation;
  private final Cancellation whileIdle;
  private final List<Send> unfinished = new ArrayList<>();
  private Runnable lookAround = () -> {};

  /** Creates it with the place to wait at, and what ends each wait. */
  public Progress(EventCount events, Cancellation cancellation) {
    this.events = events;
    this.cancellation = cancellation;
    this.whileIdle =
        new Cancellation() {
          @Override
          public void check() {
            cancellation.check();
            lookAround.run();
          }

          @Override
          public void interrupted() {
            cancellation.interrupted();
          }
        };
  }

  /**
   * Runs {@code look} now and then while a wait is long. It may throw, which ends the wait, if it
   * finds that what is waited for will not come.
   */
  public void whenIdle(Runnable look) {
    lookAround = look;
  }

  /** Begins a send, which moves as far as it can at once. */
  public void begin(Send send) {
    cancellation.check();
    if (send.advance() != State.DONE) {
      unfinished.add(send);
    }
  }

  /**
   * Moves all sends as far as possible without waiting.
   *
   * @return whether anything moved
   */
  public boolean advance() {
    boolean moved = false;
    // From the end, so that a send that is done can leave without disturbing those still to look
    // at.
    for (int i = unfinished.size() - 1; i >= 0; i--) {
      State state = unfinished.get(i).advance();
      moved |= state != State.WAITING;
      if (state == State.DONE) {
        unfinished.remove(i);
      }
    }
    return moved;
  }

  /** Moves sends until {@code condition} is true; throws what ends the group. */
  public void await(BooleanSupplier condition) {
    cancellation.check();
    while (!condition.getAsBoolean()) {
      cancellation.check();
      if (!advance()) {
        events.await(() -> condition.getAsBoolean() || advance(), whileIdle);
      }
    }
  }

  /** Waits until every send is done; throws what ends the group. */
  public void flush() {
    await(unfinished::isEmpty);
  }

  /**
   * Retracts and forgets all sends. After a failure: what they would have sent has no receiver any
   * more, and their tensors are the caller's again.
   */
  public void abandon() {
    unfinished.forEach(Send::retract);
    unfinished.clear();
  }

  /** Throws what has ended the group, if it has ended. */
  public void check() {
    cancellation.check();
  }

  /**
   * Wakes the waiting thread to look again. Any thread may call.
   *
   * @return whether it had parked
   */
  public boolean signal() {
    return events.signal();
  }

  /** Lets those run that this thread has woken, see {@link EventCount#yieldToWoken}. */
  public void yieldToWoken() {
    events.yieldToWoken();
  }
}
