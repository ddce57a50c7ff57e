package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * A communicator with its stream, made when the first operation wants it: what is put in begins in
 * that order.
 *
 * <p>While there is no communicator yet, operations queue up, and a thread of its own makes it; so
 * no caller waits for its peers, and two ranks that meet others in different orders do not wait for
 * each other in a circle, as they do where the first message of a pair blocks. Afterwards the
 * caller's thread puts operations into the stream itself: whoever has the turn does so for all.
 *
 * <p>No time limit of its own ends the making for operations, nor a launch: each operation has one,
 * and at the first that is over the group fails, which ends both.
 */
final class CommunicatorLane {

  private final Nccl nccl;
  private final CudaDevice device;
  private final String name;
  private final LazyCommunicator communicator;
  private final DaemonThreads threads;
  private final Queue<List<NcclOperation>> waiting = new ConcurrentLinkedQueue<>();

  private final LaunchedOperations launched = new LaunchedOperations();

  private final Object order = new Object();
  private final Turn turn;

  /** Whether NCCL may still be busy with a derivation that was given up. For who has the turn. */
  private boolean deriving;

  /**
   * Of a communicator that is not made yet.
   *
   * @param name of the communicator, for errors
   * @param cancelled whether the group has failed
   * @param maker makes the communicator; its device is that of the thread
   */
  CommunicatorLane(
      Nccl nccl,
      CudaDevice device,
      String name,
      boolean highPriority,
      DaemonThreads threads,
      Deadline.Cancelled cancelled,
      LazyCommunicator.Maker maker) {
    this.nccl = nccl;
    this.device = device;
    this.name = name;
    this.turn = new Turn(name);
    this.threads = threads;
    this.communicator = new LazyCommunicator(device, name, highPriority, threads, cancelled, maker);
  }

  /** Whose monitor is held while an operation gets its number and its place among those put in. */
  Object order() {
    return order;
  }

  /** The communicator, or null if it is not ready. */
  Communicator communicator() {
    return communicator.get();
  }

  /**
   * Makes the communicator, and waits for it: on a thread of its own, because NCCL may not come
   * back.
   */
  void makeNow(Duration timeout) {
    communicator.makeNow(timeout);
  }

  /** Puts operations in, to be begun together. Does not block. {@link #begin} is to follow. */
  void add(List<NcclOperation> operations) {
    waiting.add(operations);
  }

  /**
   * Begins what was put in, now or as soon as the communicator is ready. Blocks for peers only
   * where a split was given up that NCCL is not through with: until it is, or the group fails,
   * which it does at the first deadline of what was put in.
   */
  void begin() {
    if (communicator.isDecided()) {
      drain();
    } else {
      communicator.startMaking(this::drain);
    }
  }

  private boolean isUnwanted() {
    return communicator.isUnwanted();
  }

  private void drain() {
    // Who comes while another has the turn may leave its operations to it; which therefore looks
    // again after it has given up the turn.
    while (!waiting.isEmpty() && turn.tryTake()) {
      List<NcclOperation> next;
      Throwable cause = null;
      try {
        next = waiting.poll();
        if (next != null) {
          cause = launch(next);
        }
      } finally {
        turn.giveUp();
      }
      if (cause != null) {
        // Which waits for a better cause.
        for (NcclOperation each : next) {
          each.begun().failed(cause);
        }
      }
    }
  }

  /** Why it could not be; null if it has been, or need not be any more. */
  private Throwable launch(List<NcclOperation> operations) {
    if (communicator.failure() != null) {
      return communicator.failure();
    }
    if (isEnded()) {
      return null;
    }
    try {
      long previous = device.enter();
      try {
        put(operations);
      } finally {
        device.leave(previous);
      }
      return null;
    } catch (RuntimeException | Error e) {
      // What comes of the end ends with the group.
      return isEnded() ? null : e;
    }
  }

  private void put(List<NcclOperation> operations) {
    Communicator own = communicator.get();
    long handle = communicator.stream();
    operations.forEach(each -> each.beginIn(handle));
    own.calling(
        () -> {
          awaitDerived(own, Deadline.whileWanted(this::isUnwanted));
          CommunicatorStream target = new CommunicatorStream(nccl, own, handle);
          own.checkBegun("ncclGroupStart", nccl.groupStart());
          int result;
          try {
            operations.forEach(each -> each.call().into(target));
          } finally {
            // Also after an error: the thread must not stay within the group.
            result = nccl.groupEnd();
          }
          own.check("ncclGroupEnd", result, Deadline.whileWanted(this::isUnwanted));
          return own;
        });
    for (NcclOperation each : operations) {
      each.launchedIn(handle);
      launched.add(each);
      each.begun().started();
    }
  }

  /** What is in the stream. */
  LaunchedOperations launched() {
    return launched;
  }

  /** Whether all is done that was put in. */
  boolean isIdle() {
    return waiting.isEmpty() && launched.areOver();
  }

  /** What is made of a communicator that is ready. */
  interface Derivation<T> {
    T from(Communicator communicator, Deadline deadline);
  }

  /**
   * Uses the communicator for another purpose, while no operation is begun in it and no other
   * thread calls NCCL for it. What the derivation waits for must end at its deadline.
   *
   * @throws GroupAbortedException if the communicator is, or is about to be, gone
   */
  <T> T derive(Duration atMost, Derivation<T> derivation) {
    return derive(atMost, derivation, deadline -> {});
  }

  /**
   * As {@link #derive}, when all that was begun is done: NCCL may lock up if operations are under
   * way when others are made out of it (user guide, "ncclCommSplit").
   */
  <T> T deriveWhenIdle(Duration atMost, Derivation<T> derivation) {
    return derive(atMost, derivation, deadline -> launched.await(deadline, name));
  }

  private <T> T derive(Duration atMost, Derivation<T> derivation, Consumer<Deadline> before) {
    Deadline deadline = Deadline.in(atMost, this::isUnwanted);
    turn.take(deadline);
    try {
      before.accept(deadline);
      // An abort may have come before.
      deadline.check("the turn to use " + name);
      long previous = device.enter();
      try {
        Communicator own = communicator.await(deadline);
        return call(own, derivation, deadline);
      } finally {
        device.leave(previous);
      }
    } finally {
      turn.giveUp();
      // What was put in meanwhile was left to the holder of the turn.
      drain();
    }
  }

  private <T> T call(Communicator own, Derivation<T> derivation, Deadline deadline) {
    try {
      return own.calling(
          () -> {
            awaitDerived(own, deadline);
            deriving = true;
            T made = derivation.from(own, deadline);
            deriving = false;
            return made;
          });
    } catch (NcclException e) {
      // An abort that came meanwhile is no error of NCCL's.
      deadline.check("NCCL's answer for " + name);
      throw e;
    }
  }

  /** NCCL refuses every call for a communicator out of which it still makes another. */
  private void awaitDerived(Communicator own, Deadline deadline) {
    if (deriving) {
      own.check("earlier split or shrink", NcclResult.IN_PROGRESS, deadline);
      deriving = false;
    }
  }

  /** Has what NCCL may yet make of this communicator aborted when it is there. Does not block. */
  void abortLate(Communicator late) {
    Communicator own = communicator.get();
    threads.start(
        "nccl-late",
        () -> {
          long previous = device.enter();
          try {
            late.abortLate(own);
          } finally {
            device.leave(previous);
          }
        });
  }

  /** Looks whether NCCL reports an error; null if it does not, or cannot be asked at the moment. */
  RuntimeException error() {
    Communicator own = communicator.get();
    if (own == null || isEnded()) {
      return null;
    }
    int state = own.asyncError();
    return state == NcclResult.SUCCESS || state == NcclResult.IN_PROGRESS
        ? null
        : own.failure("An operation", state);
  }

  /** Whether the communicator is, or is about to be, let go of. */
  boolean isEnded() {
    return communicator.isEnded();
  }

  /** From now on nobody begins to use the communicator, which is then to be let go of. */
  void end() {
    communicator.end();
  }

  /**
   * Ends what is under way. Blocks for as long as NCCL does, and a thread that is within NCCL: it
   * must not be when NCCL lets go of the communicator.
   */
  void abort() {
    communicator.abort();
  }

  /** Lets go of the communicator, on which nothing is under way. May block for its peers. */
  void close(Duration atMost) {
    Communicator own = communicator.get();
    if (!isEnded() && own != null) {
      Deadline deadline = Deadline.in(atMost, () -> false);
      turn.take(deadline);
      long previous = device.enter();
      try {
        own.close(deadline.left());
      } finally {
        device.leave(previous);
        turn.giveUp();
      }
    }
    abort();
  }

  /**
   * Waits until the thread that has the turn, if one has, is through: after the end it is the last,
   * and until then it uses the stream.
   *
   * @return false if it is not in time
   */
  boolean awaitUnused(Duration atMost) {
    return turn.awaitFree(atMost);
  }

  /**
   * Lets go of the stream and of the operations, whose tensors a closed group that is kept must not
   * keep: when the communicator is gone, and nobody uses them any more.
   */
  void letGo() {
    waiting.clear();
    launched.forgetAll();
    communicator.closeStream();
  }

  @Override
  public String toString() {
    return name;
  }
}
