package org.sparkcollectives;

import java.io.Serializable;
import java.util.List;

/**
 * Sums up the operations of one rank in a group, since the group was made. All ranks sample the
 * same arrivals, so that the ranks of a group can be compared.
 *
 * @param group the group's name
 * @param rank the rank in the group
 * @param size the number of ranks
 * @param operations how many operations have succeeded
 * @param failures how many have failed
 * @param bytes the bytes of those that have succeeded, see {@link OperationStatistics#bytes}
 * @param collectiveSeconds how long at least one operation was pending; an operation is pending
 *     from its call to its end
 * @param outsideSeconds how long no operation was pending between the first call and the last one;
 *     then this rank was in its own code, or in operations of other groups
 * @param pending how many operations are pending
 * @param longestPendingSeconds for how long the oldest of them has been pending, 0 if there is none
 * @param paths how this rank reaches the others
 * @param byOperation the operations that have succeeded, by kind, size and algorithm; at most
 *     {@value #MOST_ROWS}
 * @param sampleInterval every how many collectives one is sampled, a power of two; it grows with
 *     the number of operations in a second
 * @param arrivals the newest samples, oldest first; at most {@value #MOST_ARRIVALS}
 * @param progress what this rank has last said with {@link ProcessGroup#progress}
 */
public record GroupStatistics(
    String group,
    int rank,
    int size,
    long operations,
    long failures,
    long bytes,
    double collectiveSeconds,
    double outsideSeconds,
    int pending,
    double longestPendingSeconds,
    Paths paths,
    List<OperationStatistics> byOperation,
    long sampleInterval,
    List<Arrival> arrivals,
    Progress progress)
    implements Serializable {

  /** The largest number of rows in {@link #byOperation}. */
  public static final int MOST_ROWS = 64;

  /** The largest number of samples in {@link #arrivals}. */
  public static final int MOST_ARRIVALS = 64;

  public GroupStatistics {
    byOperation = List.copyOf(byOperation);
    arrivals = List.copyOf(arrivals);
  }

  /**
   * The number of peers by the way to them; all 0 if the group has no operations in host memory.
   *
   * @param heap ranks of the same JVM
   * @param sharedMemory ranks of other JVMs of the host, over shared memory
   * @param tcp all others
   */
  public record Paths(int heap, int sharedMemory, int tcp) implements Serializable {

    /** No peers. */
    public static final Paths NONE = new Paths(0, 0, 0);
  }

  /**
   * How far a program has come, as it says itself.
   *
   * @param done how much is done
   * @param total of how much; 0 if the program has said nothing
   * @param text what else the program says, such as its loss
   */
  public record Progress(long done, long total, String text) implements Serializable {

    /** The longest text; a longer one is cut. */
    public static final int MOST_CHARACTERS = 200;

    /** A program that has said nothing. */
    public static final Progress NONE = new Progress(0, 0, "");

    public Progress {
      text = text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS);
    }

    /** Returns which part is done, from 0 to 1. */
    public double share() {
      return total <= 0 ? 0 : Math.max(0, Math.min(1, (double) done / total));
    }
  }

  /** Returns which part of the time at least one operation was pending, from 0 to 1. */
  public double collectiveShare() {
    double all = collectiveSeconds + outsideSeconds;
    return all <= 0 ? 0 : collectiveSeconds / all;
  }
}
