package org.sparkcollectives.gpu.nccl;

import java.time.Duration;

/**
 * Choices that no user needs to make: only tests and benchmarks make them.
 *
 * @param blocking whether NCCL's calls may block until NCCL has done its part. Operations then
 *     begin a little sooner, because NCCL needs no thread of its own for each; but a call that
 *     hangs cannot be aborted
 * @param ranksPerRoot how many ranks of a communicator find each other through one of them; 1 or
 *     more
 * @param abortTimeout how long the end of a group waits at the most for each of three: its
 *     operations, if it is closed in good order; NCCL, to abort or release its communicators; and
 *     the GPU, if the group has memory of NCCL. After that a thread of its own goes on with it, and
 *     the task ends
 */
public record NcclTuning(boolean blocking, int ranksPerRoot, Duration abortTimeout) {

  /** What groups have; as many ranks for each root as in c10d. */
  public static final NcclTuning DEFAULT = new NcclTuning(false, 128, Duration.ofSeconds(30));

  /** Returns these choices with calls that may block, or may not. */
  public NcclTuning withBlocking(boolean value) {
    return new NcclTuning(value, ranksPerRoot, abortTimeout);
  }

  /** Returns these choices with another number of ranks for each root. */
  public NcclTuning withRanksPerRoot(int value) {
    return new NcclTuning(blocking, value, abortTimeout);
  }

  /** Returns these choices with another time to abort. */
  public NcclTuning withAbortTimeout(Duration value) {
    return new NcclTuning(blocking, ranksPerRoot, value);
  }
}
