package org.sparkcollectives.internal.transport.shm;

import java.nio.ByteBuffer;

/** A {@link SleepFlag} for each rank of a group, as one of them sees them. */
final class SleepFlags {

  private final SleepFlag[] flags;
  private final int rank;
  private final Doorbell bell;
  private final Runnable afterWaking;

  /**
   * Creates a view of the flags in the first {@link #bytes} bytes of {@code memory}.
   *
   * @param afterWaking what a thread runs after it has woken others
   */
  SleepFlags(ByteBuffer memory, int rank, int size, Doorbell bell, Runnable afterWaking) {
    this.flags = new SleepFlag[size];
    for (int each = 0; each < size; each++) {
      flags[each] = new SleepFlag(memory, each * SleepFlag.BYTES);
    }
    this.rank = rank;
    this.bell = bell;
    this.afterWaking = afterWaking;
  }

  /** Returns what the flags of so many ranks take. */
  static int bytes(int ranks) {
    return ranks * SleepFlag.BYTES;
  }

  /** Wakes all that sleep: this rank has changed what they may wait for. */
  void changed() {
    SleepFlag.publish();
    boolean woken = false;
    for (int each = 0; each < flags.length; each++) {
      if (each != rank) {
        woken |= bell.ring(flags[each].take());
      }
    }
    if (woken) {
      afterWaking.run();
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
