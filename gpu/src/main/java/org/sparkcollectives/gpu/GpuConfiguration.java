package org.sparkcollectives.gpu;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.config.ConfigEntry;

/** The settings of groups on GPUs. */
public final class GpuConfiguration {

  /** The GPU that a rank works on. */
  public static final ConfigEntry<Integer> ORDINAL =
      ConfigEntry.integer("spark.collectives.gpu.ordinal")
          .doc(
              "The GPU that a rank works on, counted from 0 among those that its process sees. -1:"
                  + " the first address of the resource `gpu` that Spark has given to the task;"
                  + " outside Spark the environment variable `LOCAL_RANK`, else the only GPU that"
                  + " there is.")
          .since("0.1.0")
          .check(value -> value >= -1, "-1 or more")
          .defaultsTo(-1);

  /** The file of NCCL. */
  public static final ConfigEntry<String> NCCL_LIBRARY =
      ConfigEntry.string("spark.collectives.gpu.nccl.library")
          .doc(
              "The file of NCCL. Empty: the one that the environment variable"
                  + " `SPARK_COLLECTIVES_NCCL_LIBRARY` names, else `libnccl.so.2` where the dynamic"
                  + " linker looks, else that of conda, of the pip package `nvidia-nccl` or of"
                  + " PyTorch.")
          .since("0.1.0")
          .defaultsTo("");

  /** Decides whether the first communicator is created together with the group. */
  public static final ConfigEntry<Boolean> EAGER =
      ConfigEntry.bool("spark.collectives.gpu.nccl.eager")
          .doc(
              "Whether a group makes its NCCL communicator when it is made, rather than at its"
                  + " first operation on a GPU. Groups split from such a group have theirs made out"
                  + " of it (`ncclCommSplit`).")
          .since("0.1.0")
          .defaultsTo(false);

  /** Decides whether NCCL's calls may block. */
  public static final ConfigEntry<Boolean> BLOCKING =
      ConfigEntry.bool("spark.collectives.gpu.nccl.blocking")
          .doc(
              "Whether NCCL's calls may block until NCCL has done its part. `false`: deadlines and"
                  + " aborts hold at any moment. `true`: operations begin a little sooner, because"
                  + " NCCL needs no thread of its own for each; but a call that hangs cannot be"
                  + " aborted, and what it uses stays behind in the executor until it comes back.")
          .since("0.1.0")
          .defaultsTo(false);

  /** The priority of a group's stream. */
  public static final ConfigEntry<Boolean> HIGH_PRIORITY =
      ConfigEntry.bool("spark.collectives.gpu.highPriorityStream")
          .doc(
              "Whether collectives go into a stream of the highest priority, so that they do not"
                  + " wait for kernels of streams of normal priority.")
          .since("0.1.0")
          .defaultsTo(false);

  /** The number of ranks that share one root of the bootstrap. */
  public static final ConfigEntry<Integer> RANKS_PER_ROOT =
      ConfigEntry.integer("spark.collectives.gpu.nccl.ranksPerRoot")
          .doc(
              "How many ranks of a communicator find each other through one of them. With more, the"
                  + " communicator has several such roots.")
          .since("0.1.0")
          .check(value -> value > 0, "more than 0")
          .defaultsTo(128);

  /** The fewest thread blocks of an operation. */
  public static final ConfigEntry<Integer> MIN_CTAS =
      ConfigEntry.integer("spark.collectives.gpu.nccl.minCTAs")
          .doc(
              "How many thread blocks NCCL uses for an operation at the least (`minCTAs`). 0: as"
                  + " NCCL chooses.")
          .since("0.1.0")
          .check(value -> value >= 0, "0 or more")
          .defaultsTo(0);

  /** The most thread blocks of an operation. */
  public static final ConfigEntry<Integer> MAX_CTAS =
      ConfigEntry.integer("spark.collectives.gpu.nccl.maxCTAs")
          .doc(
              "How many thread blocks NCCL uses for an operation at the most (`maxCTAs`): fewer"
                  + " leave more of the GPU to computations. 0: as NCCL chooses.")
          .since("0.1.0")
          .check(value -> value >= 0, "0 or more")
          .defaultsTo(0);

  /** The size of a cluster of thread blocks. */
  public static final ConfigEntry<Integer> CGA_CLUSTER_SIZE =
      ConfigEntry.integer("spark.collectives.gpu.nccl.cgaClusterSize")
          .doc(
              "How many thread blocks of NCCL are a cluster (`cgaClusterSize`), 0 to 8; for GPUs of"
                  + " compute capability 9.0 and later. -1: as NCCL chooses.")
          .since("0.1.0")
          .check(value -> value >= -1 && value <= 8, "-1 to 8")
          .defaultsTo(-1);

  /** The network module by which NCCL reaches other hosts. */
  public static final ConfigEntry<String> NETWORK =
      ConfigEntry.string("spark.collectives.gpu.nccl.netName")
          .doc(
              "The network module of NCCL (`netName`), such as `IB`, `Socket` or the name of a"
                  + " plugin. Empty: as NCCL chooses.")
          .since("0.1.0")
          .defaultsTo("");

  /** Decides whether the GPU's clock measures operations. */
  public static final ConfigEntry<Boolean> TIMING =
      ConfigEntry.bool("spark.collectives.gpu.timing")
          .doc(
              "Whether `Work.durationMillis` of an operation on a GPU is what the GPU has measured,"
                  + " by events that cost a little, rather than what the host has seen.")
          .since("0.1.0")
          .defaultsTo(false);

  /** The time that an abort may take. */
  public static final ConfigEntry<Duration> ABORT_TIMEOUT =
      ConfigEntry.duration("spark.collectives.gpu.nccl.abortTimeout")
          .doc(
              "How long the end of a group waits at the most for each of three: its operations, if"
                  + " it is closed in good order; NCCL, to abort or release its communicators;"
                  + " and the GPU, if the group has memory of NCCL. After that a thread of its own"
                  + " goes on with it, and the task ends.")
          .since("0.1.0")
          .check(value -> !value.isNegative() && !value.isZero(), "more than zero")
          .defaultsTo(Duration.ofSeconds(30));

  private GpuConfiguration() {}

  /** Returns all settings, in the order of the documentation. */
  public static List<ConfigEntry<?>> entries() {
    return List.of(
        ORDINAL,
        NCCL_LIBRARY,
        EAGER,
        BLOCKING,
        HIGH_PRIORITY,
        RANKS_PER_ROOT,
        MIN_CTAS,
        MAX_CTAS,
        CGA_CLUSTER_SIZE,
        NETWORK,
        TIMING,
        ABORT_TIMEOUT);
  }
}
