package org.sparkcollectives.internal.transport.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A line of shared memory in which one waiter says that it sleeps, and by which {@link Doorbell} it
 * can be woken:
 *
 * <pre>
 *     0  1 while the waiter sleeps, or is about to; else 0    i64
 *     8  the bell: process i32 | descriptor i32 | pipe i64
 * </pre>
 *
 * <p><b>No wake-up is lost.</b> The waiter sets the flag, then looks at what it waits for once
 * more, and sleeps only if that has not come. Who changes what is waited for changes it first, then
 * looks at the flag. Between its two steps each side has a full fence, without which a processor
 * lets a load overtake the store before it: both could see the old, and the waiter would sleep
 * beside what it waits for. With the fences at least one sees what the other has written: the
 * waiter the change, or the other the flag.
 *
 * <p><b>One bell for each sleep.</b> Who finds the flag set takes it back by a compare-and-set, and
 * only who succeeds rings. So a waiter that does not run, because it is stopped, has no more than
 * one bell pending from each such line, however much is published meanwhile; and while nobody
 * sleeps, nobody writes to the line, which all sides have in their caches: a look costs the fence.
 * The waiter that is woken, or that finds what it waits for by itself, takes the flag back, too. A
 * bell that was on its way then comes when it does not sleep here any more, and costs another sleep
 * one look.
 *
 * <p>The line is part of memory that the ranks of one group share; what a rank that has been
 * stopped amid this leaves behind is a flag that is set, for which others ring once, or one that is
 * not, beside a bell that was not rung. The waiter's sleeps are bounded for the latter.
 */
final class SleepFlag {

  /** The bytes of a flag: so many that neighbours do not share a line of the cache. */
  static final int BYTES = 128;

  private static final int PROCESS = 8;
  private static final int DESCRIPTOR = 12;
  private static final int PIPE = 16;
  private static final long AWAKE = 0;
  private static final long ASLEEP = 1;
  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final ByteBuffer memory;
  private final int at;

  /** Creates a view of the line at {@code at} of {@code memory}, which is in native byte order. */
  SleepFlag(ByteBuffer memory, int at) {
    this.memory = memory;
    this.at = at;
  }

  // The waiter's side.

  /**
   * Publishes that the waiter is about to sleep. The caller then looks again at what it waits for,
   * in any case before it sleeps.
   *
   * @param bell what wakes it, the same each time
   * @return false if that had been said, and nobody has rung since
   */
  boolean set(Doorbell.Key bell) {
    if ((long) LONGS.getAcquire(memory, at) == ASLEEP) {
      return false;
    }
    memory
        .putInt(at + PROCESS, bell.process())
        .putInt(at + DESCRIPTOR, bell.descriptor())
        .putLong(at + PIPE, bell.pipe());
    LONGS.setRelease(memory, at, ASLEEP);
    VarHandle.fullFence();
    return true;
  }

  /** Publishes that the waiter does not sleep any more: nobody need ring. */
  void clear() {
    if ((long) LONGS.getAcquire(memory, at) == ASLEEP) {
      LONGS.setRelease(memory, at, AWAKE);
    }
  }

  // The side of those who change what is waited for.

  /**
   * Makes sure that what this thread has written before is seen by a waiter whose flag it does not
   * find set. Before {@link #take}; once for several flags.
   */
  static void publish() {
    VarHandle.fullFence();
  }

  /** Returns the bell to ring, which is then this thread's to do; null if the waiter is awake. */
  Doorbell.Key take() {
    if ((long) LONGS.getAcquire(memory, at) != ASLEEP
        || !LONGS.compareAndSet(memory, at, ASLEEP, AWAKE)) {
      return null;
    }
    return new Doorbell.Key(
        memory.getInt(at + PROCESS), memory.getInt(at + DESCRIPTOR), memory.getLong(at + PIPE));
  }
}
