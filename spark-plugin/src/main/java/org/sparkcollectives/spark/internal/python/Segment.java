package org.sparkcollectives.spark.internal.python;

import java.nio.ByteBuffer;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.DirectTensor;

/**
 * One piece of memory for tensors of a Python worker. It counts its users, and the last one unmaps
 * it once it is released. Thread-safe.
 */
final class Segment {

  private final int id;
  private final ProcessGroup group;
  private final long bytes;
  private final SharedMemory shared;
  private final ByteBuffer own;

  private int users;
  private boolean released;
  private boolean leftToCollector;

  /**
   * Creates a segment without users.
   *
   * @param group the group whose tensors lie in it
   * @param shared null if only this JVM maps it
   * @param own null if it is shared
   */
  Segment(int id, ProcessGroup group, long bytes, SharedMemory shared, ByteBuffer own) {
    this.id = id;
    this.group = group;
    this.bytes = bytes;
    this.shared = shared;
    this.own = own;
  }

  int id() {
    return id;
  }

  ProcessGroup group() {
    return group;
  }

  /** Returns the memory that the worker maps, or null if only this JVM does. */
  SharedMemory shared() {
    return shared;
  }

  /**
   * Lets other ranks write their results to it, see {@link SharedMemory#asScratch}; before its
   * first use.
   */
  void asScratch() {
    if (shared != null) {
      shared.asScratch();
    }
  }

  /** Returns a tensor in this memory, for use between {@link #acquire} and {@link #end}. */
  Tensor tensor(Request.TensorPlace place) {
    if (shared != null) {
      return shared.tensor(place.dtype(), place.offset(), place.count());
    }
    long size = Math.multiplyExact(place.count(), (long) place.dtype().bytes());
    range(place.offset(), size);
    return DirectTensor.within(place.dtype(), own, (int) place.offset(), (int) place.count());
  }

  /** Returns bytes of memory that only this JVM maps. */
  ByteBuffer range(long offset, long count) {
    if (own == null) {
      throw new IllegalArgumentException("Segment " + id + " is mapped, not sent");
    }
    if (offset < 0 || count < 0 || offset > bytes - count) {
      throw new IllegalArgumentException(
          count
              + " bytes from "
              + offset
              + " on are not within the "
              + bytes
              + " of segment "
              + id);
    }
    return own.slice((int) offset, (int) count);
  }

  /** Adds a user. Returns false if the segment is released already. */
  synchronized boolean acquire() {
    if (released) {
      return false;
    }
    users++;
    return true;
  }

  /**
   * Removes a user.
   *
   * @param well false if the user cannot know that nobody accesses the memory any more: then the
   *     garbage collector unmaps it
   */
  synchronized void end(boolean well) {
    users--;
    leftToCollector |= !well;
    unmapIfUnused();
  }

  /**
   * Ends the segment: it gets no more users, and is unmapped when the last one has ended.
   *
   * @param deterministic false to leave the unmapping to the garbage collector
   */
  synchronized void release(boolean deterministic) {
    released = true;
    leftToCollector |= !deterministic;
    unmapIfUnused();
  }

  private void unmapIfUnused() {
    if (released && users == 0 && !leftToCollector && shared != null) {
      shared.close();
    }
  }
}
