package org.sparkcollectives.internal.transport.heap;

import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The progress of each rank of a {@link HeapRegion}, and the tensors that it publishes.
 *
 * <p>Each rank counts its operations, and writes only its own entries: the number of the last
 * operation for which it <em>publishes</em> tensors, and of the last that it is <em>done</em> with.
 * Numbers only grow, so there is no state to reset. A rank that has left an operation without
 * waiting for the others may publish the next one while a slow rank still looks at the former; no
 * operation ends before all ranks have published theirs, so it cannot be two ahead, and two places
 * for each rank are enough.
 *
 * <p><b>Giving up.</b> A rank whose operation fails hands its tensors back to the user, who may
 * write to them at once. Another rank may still read them: it looks afterwards, before it says that
 * it is done, whether their owner has <em>given up</em>, and since which operation; then it fails,
 * too. So nobody waits for a rank that reads. Memory outside of the heap, which its user may also
 * unmap, and ranks that <em>write</em> to the tensors of others are waited for: a rank is
 * <em>inside</em> while it reads or writes those. The one that gives up first breaks the region,
 * then waits until nobody is inside; the other first says that it is inside, then looks whether the
 * region is broken. Both are volatile accesses, so at least one sees the other.
 */
final class HeapPhases {

  /** The tensors that a rank publishes. */
  record Published(OperationHeader header, List<HostTensor> tensors) {

    Published withoutTensors() {
      return new Published(header, List.of());
    }
  }

  /** Each rank's numbers have a pair of cache lines for themselves. */
  private static final int STRIDE = 16;

  private static final int PUBLISHED = 0;
  private static final int DONE = 1;
  private static final int INSIDE = 2;
  private static final long READS = 1;
  private static final long WRITES = 2;
  private static final int PROGRESS = 8;
  private static final int GAVE_UP = 9;

  private final int size;
  private final AtomicLongArray numbers;
  private final AtomicReferenceArray<Published> published;
  private volatile boolean broken;

  HeapPhases(int size) {
    this.size = size;
    this.numbers = new AtomicLongArray((size + 1) * STRIDE);
    this.published = new AtomicReferenceArray<>(2 * size);
  }

  int size() {
    return size;
  }

  private static int index(int rank, int which) {
    return (rank + 1) * STRIDE + which;
  }

  private static int place(int rank, long operation) {
    return 2 * rank + (int) (operation & 1);
  }

  void publish(int rank, long operation, Published what) {
    published.set(place(rank, operation), what);
    numbers.set(index(rank, PUBLISHED), operation);
  }

  boolean allPublished(long operation) {
    return all(PUBLISHED, operation);
  }

  boolean hasPublished(int rank, long operation) {
    return numbers.get(index(rank, PUBLISHED)) >= operation;
  }

  Published publishedBy(int rank, long operation) {
    return published.get(place(rank, operation));
  }

  /**
   * Releases the tensors of an operation that nobody works on any more. What the operation was
   * stays: a slow rank may have to be told, after this one has given up.
   */
  void forget(int rank, long operation) {
    Published last = publishedBy(rank, operation);
    if (last != null && !last.tensors().isEmpty()) {
      published.set(place(rank, operation), last.withoutTensors());
    }
  }

  void done(int rank, long operation) {
    numbers.set(index(rank, DONE), operation);
  }

  void publishProgress(int rank, long amount) {
    numbers.set(index(rank, PROGRESS), amount);
  }

  long progressOf(int rank) {
    return numbers.get(index(rank, PROGRESS));
  }

  boolean allDone(long operation) {
    return all(DONE, operation);
  }

  private boolean all(int which, long operation) {
    for (int rank = 0; rank < size; rank++) {
      if (numbers.get(index(rank, which)) < operation) {
        return false;
      }
    }
    return true;
  }

  /** Begins to read the tensors of others; false if that is over. */
  boolean enter(int rank) {
    return enter(rank, READS);
  }

  /** Begins to write to the tensors of others; returns false if that is over. */
  boolean enterToWrite(int rank) {
    return enter(rank, WRITES);
  }

  private boolean enter(int rank, long purpose) {
    numbers.set(index(rank, INSIDE), purpose);
    if (broken) {
      exit(rank);
      return false;
    }
    return true;
  }

  void exit(int rank) {
    numbers.set(index(rank, INSIDE), 0);
  }

  boolean isBroken() {
    return broken;
  }

  /** Returns whether a rank may have changed what this one has read for an operation. */
  boolean mayHaveChanged(long operation) {
    // What was read before is read: the look comes after it.
    VarHandle.acquireFence();
    if (!broken) {
      return false;
    }
    for (int rank = 0; rank < size; rank++) {
      long since = numbers.get(index(rank, GAVE_UP));
      if (since != 0 && since <= operation) {
        return true;
      }
    }
    return false;
  }

  /** Publishes that the tensors of a rank may change from an operation on, numbered from 1. */
  void giveUp(int rank, long operation) {
    exit(rank);
    numbers.set(index(rank, GAVE_UP), operation);
    broken = true;
    // What the user writes comes after it.
    VarHandle.fullFence();
  }

  /** Returns whether a rank publishes memory that its user can unmap. */
  boolean publishesMemoryOutsideOfTheHeap(int rank) {
    return publishesMemoryOutsideOfTheHeap(publishedBy(rank, 0))
        || publishesMemoryOutsideOfTheHeap(publishedBy(rank, 1));
  }

  private static boolean publishesMemoryOutsideOfTheHeap(Published what) {
    return what != null && what.tensors().stream().anyMatch(tensor -> tensor.array() == null);
  }

  /** Returns whether a rank reads or writes the tensors of others, or may. */
  boolean someoneIsInside() {
    return anyInsideFor(READS);
  }

  /** Returns whether a rank writes to the tensors of others, or may. */
  boolean someoneWrites() {
    return anyInsideFor(WRITES);
  }

  private boolean anyInsideFor(long purpose) {
    for (int peer = 0; peer < size; peer++) {
      if (numbers.get(index(peer, INSIDE)) >= purpose) {
        return true;
      }
    }
    return false;
  }

  void forgetAll(int rank) {
    forget(rank, 0);
    forget(rank, 1);
  }
}
