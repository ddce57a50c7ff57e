package org.sparkcollectives.gpu.nccl;

import java.time.Duration;

/**
 * Choices that no user needs to make: only tests and benchmarks make them.
 *
 * @param ranksPerRoot how many ranks of a communicator find each other through one of them; 1 or
 *     more
 * @param abortTimeout how long the end of a group waits at the most for each of three: its
 *     operations, if it is closed in good order; NCCL, to abort or release its communicators; and
 *     the GPU, if the group has memory of NCCL. After that a thread of its own goes on with it, and
 *     the task ends
 */
public record NcclTuning(int ranksPerRoot, Duration abortTimeout) {

  /** The choices of all groups. The number of ranks per root is that of c10d. */
  public static final NcclTuning DEFAULT = new NcclTuning(128, Duration.ofSeconds(30));

  /** Returns these choices with another number of ranks for each root. */
  public NcclTuning withRanksPerRoot(int value) {
    return new NcclTuning(value, abortTimeout);
  }

  /** Returns these choices with another time to abort. */
  public NcclTuning withAbortTimeout(Duration value) {
    return new NcclTuning(ranksPerRoot, value);
  }
}
