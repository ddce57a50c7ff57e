package org.sparkcollectives.spark.internal.python;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.net.LibraryThreads;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.spark.internal.elastic.StatePart;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The replica that the Python worker of a task trains.
 *
 * <p>In the beginning of a step the worker may have to save or load its state, but can only answer
 * where it has asked. So that beginning runs on a thread of its own, which hands over what it needs
 * and waits; the worker gets it as the reply to its call, and answers by the next call. A step for
 * which no state moves begins on the worker's own thread. Its calls come one after another.
 */
final class WorkerReplica implements StatePart {

  /** The next action of the worker. */
  enum Next {
    /** Computes the step, which has begun. */
    COMPUTE,
    /** Gives its state. */
    SAVE,
    /** Gives room for a state. */
    MAKE_ROOM,
    /** Takes the state that lies there. */
    LOAD
  }

  /**
   * The end of a part of the beginning.
   *
   * @param sizes for which there must be room, in bytes
   * @param failure null unless the beginning has failed
   */
  record Event(Next next, long[] sizes, RuntimeException failure) {}

  private static final long[] NONE = {};

  /** The answer of a worker that gets no memory from a group which has failed. */
  private static final List<HostTensor> NO_MEMORY = new ArrayList<>();

  private static final long KILL_CHECK_MILLIS = 20;
  private static final ThreadFactory THREADS = LibraryThreads.named("collectives-python-replica");

  private final QuorumReplica replica;
  private final int group;
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final BlockingQueue<List<HostTensor>> answers = new LinkedBlockingQueue<>();
  private boolean registered;
  private boolean waits;
  private long quorum;

  /**
   * Creates the replica of a worker.
   *
   * @param group the number of its group
   */
  WorkerReplica(QuorumReplica replica, int group) {
    this.replica = replica;
    this.group = group;
  }

  QuorumReplica replica() {
    return replica;
  }

  int group() {
    return group;
  }

  /**
   * Begins a step. Blocks until it has begun, or the worker's state is needed.
   *
   * @param state the name of the state of the worker, the same on all replicas
   */
  Event start(String state) {
    if (waits) {
      throw new IllegalStateException("A function of the state has failed in this step");
    }
    if (!registered) {
      replica.state(state, this);
      registered = true;
    }
    if (replica.startsAtOnce()) {
      return begin();
    }
    THREADS.newThread(() -> events.add(begin())).start();
    return next();
  }

  private Event begin() {
    try {
      replica.startQuorum();
      return new Event(Next.COMPUTE, NONE, null);
    } catch (RuntimeException e) {
      return new Event(Next.COMPUTE, NONE, e);
    } catch (Error e) {
      // The worker waits for the event, whatever has happened.
      return new Event(
          Next.COMPUTE,
          NONE,
          new IllegalStateException(
              "Replica " + replica.replicaId() + " could not begin a step: " + e, e));
    }
  }

  /**
   * Goes on with what the worker has given. Blocks as {@link #start} does.
   *
   * @param tensors which nobody else uses until this returns
   */
  Event resume(List<HostTensor> tensors) {
    if (!waits) {
      throw new IllegalStateException("No step waits for the state of this replica");
    }
    answers.add(tensors);
    return next();
  }

  /** Goes on without what the worker was asked for: its group gives it no memory. */
  Event resumeWithoutMemory() {
    return resume(NO_MEMORY);
  }

  private Event next() {
    try {
      Event event = events.poll(KILL_CHECK_MILLIS, TimeUnit.MILLISECONDS);
      while (event == null) {
        if (replica.isKilled()) {
          throw new GroupAbortedException(
              "Replica " + replica.replicaId() + " has ended while it began a step", null);
        }
        event = events.poll(KILL_CHECK_MILLIS, TimeUnit.MILLISECONDS);
      }
      waits = event.next() != Next.COMPUTE;
      return event;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GroupAbortedException("The beginning of a step was interrupted", e);
    }
  }

  /** Returns whether the quorum is another one than when this was called last. */
  boolean hasNewQuorum() {
    long before = quorum;
    quorum = replica.quorumId();
    return before != quorum;
  }

  @Override
  public List<HostTensor> save() {
    return ask(new Event(Next.SAVE, NONE, null));
  }

  @Override
  public List<HostTensor> room(long[] sizes) {
    return ask(new Event(Next.MAKE_ROOM, sizes, null));
  }

  @Override
  public void load() {
    ask(new Event(Next.LOAD, NONE, null));
  }

  @SuppressWarnings("ReferenceEquality") // NO_MEMORY is one object.
  private List<HostTensor> ask(Event event) {
    events.add(event);
    try {
      List<HostTensor> answer = answers.poll(KILL_CHECK_MILLIS, TimeUnit.MILLISECONDS);
      while (answer == null) {
        if (replica.isKilled()) {
          throw new GroupAbortedException(
              "Replica " + replica.replicaId() + " has ended while it saved or loaded its state",
              null);
        }
        answer = answers.poll(KILL_CHECK_MILLIS, TimeUnit.MILLISECONDS);
      }
      if (answer == NO_MEMORY) {
        throw noMemory();
      }
      return answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GroupAbortedException("The exchange of a state was interrupted", e);
    }
  }

  /** Returns why the group gives no memory; the others must not wait for this replica in it. */
  private CollectiveException noMemory() {
    CollectiveException error =
        new CollectiveException("Replica " + replica.replicaId() + " has no memory for a state");
    if (!replica.participants().isFailed()) {
      replica.participants().abort(error);
    }
    try {
      replica.participants().barrier().await();
      return error;
    } catch (CollectiveException e) {
      return e;
    }
  }
}
