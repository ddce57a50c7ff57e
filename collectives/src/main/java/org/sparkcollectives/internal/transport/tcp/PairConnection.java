package org.sparkcollectives.internal.transport.tcp;

import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.sparkcollectives.internal.transport.StreamEnd;

/**
 * One of the two connections of a pair, with the memory that its bytes go through, from the first
 * attempt to make it until nothing of it is left.
 *
 * <pre>
 *   NEW ----&gt; OPENING ----&gt; OPEN       each of these may be followed by CLOSED, and CLOSED by
 *    |           |                     FREED, which are final: what comes to be after either
 *    |           +-------&gt; FAILED      is closed at once, by whoever brings it
 *    +-------------------&gt; OPEN
 * </pre>
 *
 * <p>The thread of an operation wants the connection, event loops make it, and a third thread may
 * close it at any moment. All transitions are made here, under one lock. Only {@link #end} is read
 * without it, because the thread of an operation does so for each look.
 *
 * @param <E> where the bytes go out or come in
 */
final class PairConnection<E extends StreamEnd> {

  /**
   * The state of the connection; in CLOSED its channel was told to close, in FREED no memory is
   * left.
   */
  enum State {
    NEW,
    OPENING,
    OPEN,
    FAILED,
    CLOSED,
    FREED
  }

  /** Cancels the attempts to make the connection that are under way. */
  private final List<Runnable> attempts = new ArrayList<>();

  private State state = State.NEW;
  private Channel channel;
  private RuntimeException failure;
  private volatile E end;

  /** Returns how far the connection is. */
  synchronized State state() {
    return state;
  }

  /** Returns true to the first who wants to make the connection, unless it is closed. */
  synchronized boolean begin() {
    if (state != State.NEW) {
      return false;
    }
    state = State.OPENING;
    return true;
  }

  /**
   * Registers an attempt to make the connection, which {@link #close} ends while there is none.
   *
   * @param cancel ends it; called at once if the connection is there, or closed
   */
  void attempt(Runnable cancel) {
    synchronized (this) {
      if (state == State.NEW || state == State.OPENING) {
        attempts.add(cancel);
        return;
      }
    }
    cancel.run();
  }

  /**
   * Hands over the connection, or closes it, and what its bytes go through, if it is not wanted.
   */
  void opened(Channel made, E madeEnd) {
    synchronized (this) {
      if (state == State.NEW || state == State.OPENING) {
        state = State.OPEN;
        attempts.clear();
        channel = made;
        end = madeEnd;
        return;
      }
    }
    // In this order, so that the end of this channel is no news.
    madeEnd.close();
    made.close();
  }

  /** Records that the connection cannot be made. */
  synchronized void failed(RuntimeException why) {
    if (state == State.OPENING) {
      state = State.FAILED;
      failure = why;
    }
  }

  /** Throws why the connection could not be made, if that is so. */
  synchronized void check() {
    if (state == State.FAILED) {
      throw failure;
    }
  }

  /** Returns where the bytes go; null while the connection is not there, and once it is freed. */
  E end() {
    return end;
  }

  /**
   * Closes the connection: ends the attempts to make it, and has what still comes of them closed.
   *
   * @param closing closes the channel, if there is one
   */
  void close(Consumer<Channel> closing) {
    List<Runnable> begun;
    synchronized (this) {
      if (state != State.FREED) {
        state = State.CLOSED;
      }
      begun = List.copyOf(attempts);
      attempts.clear();
    }
    begun.forEach(Runnable::run);
    Channel made = channel();
    if (made != null) {
      closing.accept(made);
    }
  }

  /** Frees what the bytes go through, after {@link #close}; when no thread touches it any more. */
  synchronized void free() {
    state = State.FREED;
    if (end != null) {
      end.close();
      end = null;
    }
  }

  /** Returns the channel; null if there never was one. */
  synchronized Channel channel() {
    return channel;
  }

  /** Returns whether there is a channel that is open. */
  boolean isConnected() {
    Channel made = channel();
    return made != null && made.isOpen();
  }
}
