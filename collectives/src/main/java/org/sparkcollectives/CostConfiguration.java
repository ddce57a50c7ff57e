package org.sparkcollectives;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.config.ConfigEntry;

/**
 * The settings of the cost model, with which the ranks predict how long each algorithm takes. See
 * {@link ProcessGroup#explain}.
 */
public final class CostConfiguration {

  /** The latency of a message. */
  public static final ConfigEntry<Duration> LATENCY =
      ConfigEntry.duration("spark.collectives.cost.latency")
          .doc(
              "How long a small message between two JVMs takes. By the settings"
                  + " `spark.collectives.cost.*` each rank predicts which algorithm is the fastest"
                  + " for an operation; they must be the same for all ranks.")
          .since("0.1.0")
          .check(value -> !value.isNegative(), "0 or more")
          .defaultsTo(Duration.ofNanos(15_000));

  /** The time for which a rank is busy with a message. */
  public static final ConfigEntry<Duration> OVERHEAD =
      ConfigEntry.duration("spark.collectives.cost.overhead")
          .doc("How long a rank is busy with a message, whatever its size.")
          .since("0.1.0")
          .check(value -> !value.isNegative(), "0 or more")
          .defaultsTo(Duration.ofNanos(4_000));

  /** The bandwidth of a rank. */
  public static final ConfigEntry<Long> BANDWIDTH =
      ConfigEntry.bytes("spark.collectives.cost.bandwidth")
          .doc("How many bytes a second a rank sends while it receives as many.")
          .since("0.1.0")
          .check(value -> value > 0, "more than 0")
          .defaultsTo(1L << 30);

  /** The latency of a message in one JVM. */
  public static final ConfigEntry<Duration> HEAP_LATENCY =
      ConfigEntry.duration("spark.collectives.cost.heap.latency")
          .doc(
              "How long ranks of one JVM take to wait for each other, in a group of several JVMs"
                  + " whose operation first runs inside each JVM.")
          .since("0.1.0")
          .check(value -> !value.isNegative(), "0 or more")
          .defaultsTo(Duration.ofNanos(1_000));

  /** The bandwidth of a rank in one JVM. */
  public static final ConfigEntry<Long> HEAP_BANDWIDTH =
      ConfigEntry.bytes("spark.collectives.cost.heap.bandwidth")
          .doc(
              "How many bytes a second a rank moves in the memory of its JVM while all others do,"
                  + " too.")
          .since("0.1.0")
          .check(value -> value > 0, "more than 0")
          .defaultsTo(2L << 30);

  /** The latency of a message on one host. */
  public static final ConfigEntry<Duration> SHM_LATENCY =
      ConfigEntry.duration("spark.collectives.cost.shm.latency")
          .doc("As `spark.collectives.cost.latency`, where all ranks share the memory of a host.")
          .since("0.1.0")
          .check(value -> !value.isNegative(), "0 or more")
          .defaultsTo(Duration.ofNanos(2_000));

  /** The time for which a rank is busy with a message on one host. */
  public static final ConfigEntry<Duration> SHM_OVERHEAD =
      ConfigEntry.duration("spark.collectives.cost.shm.overhead")
          .doc("As `spark.collectives.cost.overhead`, where all ranks share the memory of a host.")
          .since("0.1.0")
          .check(value -> !value.isNegative(), "0 or more")
          .defaultsTo(Duration.ofNanos(1_000));

  /** The bandwidth of a rank on one host. */
  public static final ConfigEntry<Long> SHM_BANDWIDTH =
      ConfigEntry.bytes("spark.collectives.cost.shm.bandwidth")
          .doc("As `spark.collectives.cost.bandwidth`, where all ranks share the memory of a host.")
          .since("0.1.0")
          .check(value -> value > 0, "more than 0")
          .defaultsTo(2L << 30);

  /** The most ranks that are all connected to each other for speed. */
  public static final ConfigEntry<Integer> MESH =
      ConfigEntry.integer("spark.collectives.cost.mesh")
          .doc(
              "The size of the largest group in which an algorithm may be chosen for its speed that"
                  + " connects every rank to every other.")
          .since("0.1.0")
          .check(value -> value >= 0, "0 or more")
          .defaultsTo(8);

  private CostConfiguration() {}

  /** Returns all settings, in the order of the documentation. */
  public static List<ConfigEntry<?>> entries() {
    return List.of(
        LATENCY,
        OVERHEAD,
        BANDWIDTH,
        HEAP_LATENCY,
        HEAP_BANDWIDTH,
        SHM_LATENCY,
        SHM_OVERHEAD,
        SHM_BANDWIDTH,
        MESH);
  }
}
