package org.sparkcollectives.gpu;

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

  /** The priority of a group's stream. */
  public static final ConfigEntry<Boolean> HIGH_PRIORITY =
      ConfigEntry.bool("spark.collectives.gpu.highPriorityStream")
          .doc(
              "Whether collectives go into a stream of the highest priority, so that they do not"
                  + " wait for kernels of streams of normal priority.")
          .since("0.1.0")
          .defaultsTo(false);

  private GpuConfiguration() {}

  /** Returns all settings, in the order of the documentation. */
  public static List<ConfigEntry<?>> entries() {
    return List.of(ORDINAL, NCCL_LIBRARY, EAGER, HIGH_PRIORITY);
  }
}
