package org.sparkcollectives.internal.transport.shm;

import java.nio.ByteBuffer;

/** A {@link SleepFlag} for each rank of a group, as one of them sees them. */
final class SleepFlags {

  private final SleepFlag[] flags;
  private final int rank;
  private final Doorbell bell;

  /** Creates a view of the flags in the first {@link #bytes} bytes of {@code memory}. */
  SleepFlags(ByteBuffer memory, int rank, int size, Doorbell bell) {
    this.flags = new SleepFlag[size];
    for (int each = 0; each < size; each++) {
      flags[each] = new SleepFlag(memory, each * SleepFlag.BYTES);
    }
    this.rank = rank;
    this.bell = bell;
  }

  /** Returns what the flags of so many ranks take. */
  static int bytes(int ranks) {
    return ranks * SleepFlag.BYTES;
  }

  /**
   * Wakes all that sleep: this rank has changed what they may wait for. Lets those run that were
   * put on this processor.
   */
  void changed() {
    SleepFlag.publish();
    boolean woken = false;
    for (int each = 0; each < flags.length; each++) {
      if (each != rank) {
        woken |= bell.ring(flags[each].take());
      }
    }
    if (woken) {
      Thread.yield();
    }
  }

  /** Sets this rank's flag, see {@link SleepFlag#set}. */
  boolean set() {
    Doorbell.Key key = bell.key();
    return key != null && flags[rank].set(key);
  }

  /** Clears this rank's flag, see {@link SleepFlag#clear}. */
  void clear() {
    flags[rank].clear();
  }
}
