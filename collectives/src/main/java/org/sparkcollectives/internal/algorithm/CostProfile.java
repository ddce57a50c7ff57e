package org.sparkcollectives.internal.algorithm;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.config.NearestName;
import org.sparkcollectives.spi.CollectivesConfiguration;

/**
 * The figures by which ranks predict how long each algorithm takes: the defaults, which were
 * measured, or those of a file of the user. Immutable.
 */
public final class CostProfile {

  /** The latency of a message. */
  static final ConfigEntry<Duration> LATENCY =
      duration("latency", 15_000, "how long a small message between two JVMs takes");

  /** The time for which a rank is busy with a message. */
  static final ConfigEntry<Duration> OVERHEAD =
      duration("overhead", 4_000, "how long a rank is busy with a message, whatever its size");

  /** The bandwidth of a rank. */
  static final ConfigEntry<Long> BANDWIDTH =
      bandwidth(
          "bandwidth", 1L << 30, "how many bytes a second a rank sends while it receives as many");

  /** The latency of a message in one JVM. */
  static final ConfigEntry<Duration> HEAP_LATENCY =
      duration(
          "heap.latency",
          1_000,
          "how long ranks of one JVM take to wait for each other, in a group of several JVMs whose"
              + " operation first runs inside each JVM");

  /** The bandwidth of a rank in one JVM. */
  static final ConfigEntry<Long> HEAP_BANDWIDTH =
      bandwidth(
          "heap.bandwidth",
          2L << 30,
          "how many bytes a second a rank moves in the memory of its JVM while all others do, too");

  /** The latency of a message on one host. */
  static final ConfigEntry<Duration> SHM_LATENCY =
      duration("shm.latency", 2_000, "as `latency`, where all ranks share the memory of a host");

  /** The time for which a rank is busy with a message on one host. */
  static final ConfigEntry<Duration> SHM_OVERHEAD =
      duration("shm.overhead", 1_000, "as `overhead`, where all ranks share the memory of a host");

  /** The bandwidth of a rank on one host. */
  static final ConfigEntry<Long> SHM_BANDWIDTH =
      bandwidth(
          "shm.bandwidth", 2L << 30, "as `bandwidth`, where all ranks share the memory of a host");

  /** The latency of a message between racks. */
  static final ConfigEntry<Duration> RACK_LATENCY =
      duration("rack.latency", 20_000, "as `latency`, between hosts of different racks");

  /** The oversubscription of a rack's uplink. */
  static final ConfigEntry<Integer> RACK_OVERSUBSCRIPTION =
      ConfigEntry.integer("rack.oversubscription")
          .doc(
              "the oversubscription of a rack's uplink: the bandwidth of all its hosts together,"
                  + " divided by that of the uplink; 1 if the uplink is as fast as they are")
          .since("0.1.0")
          .check(value -> value >= 1, "1 or more")
          .defaultsTo(4);

  /** The most ranks that are all connected to each other for speed. */
  static final ConfigEntry<Integer> MESH =
      ConfigEntry.integer("mesh")
          .doc(
              "the size of the largest group in which an algorithm may be chosen for its speed that"
                  + " connects every rank to every other; three times that for sums of float16 and"
                  + " bfloat16. Not for all-to-all")
          .since("0.1.0")
          .check(value -> value >= 0, "0 or more")
          .defaultsTo(8);

  private final Properties given;

  private CostProfile(Properties given) {
    this.given = given;
  }

  private static ConfigEntry<Duration> duration(String key, long nanos, String doc) {
    return ConfigEntry.duration(key)
        .doc(doc)
        .since("0.1.0")
        .check(value -> !value.isNegative(), "0 or more")
        .defaultsTo(Duration.ofNanos(nanos));
  }

  private static ConfigEntry<Long> bandwidth(String key, long bytes, String doc) {
    return ConfigEntry.bytes(key)
        .doc(doc)
        .since("0.1.0")
        .check(value -> value > 0, "more than 0")
        .defaultsTo(bytes);
  }

  /** Returns all figures, in the order of the documentation. */
  static List<ConfigEntry<?>> entries() {
    return List.of(
        LATENCY,
        OVERHEAD,
        BANDWIDTH,
        HEAP_LATENCY,
        HEAP_BANDWIDTH,
        SHM_LATENCY,
        SHM_OVERHEAD,
        SHM_BANDWIDTH,
        RACK_LATENCY,
        RACK_OVERSUBSCRIPTION,
        MESH);
  }

  /**
   * Returns the profile that {@code spark.collectives.cost} names. Reads a file.
   *
   * @param setting {@link CollectivesConfiguration#AUTO}, or the path of a properties file; figures
   *     that it lacks have their defaults
   * @throws IllegalArgumentException if the file cannot be read, has a figure that there is not, or
   *     one that is malformed; names the file
   */
  public static CostProfile of(String setting) {
    Properties given = new Properties();
    if (setting.equals(CollectivesConfiguration.AUTO)) {
      return new CostProfile(given);
    }
    try (Reader file = Files.newBufferedReader(Path.of(setting))) {
      given.load(file);
    } catch (IOException | IllegalArgumentException e) {
      throw refused(setting, "cannot be read: " + e, e);
    }
    List<String> keys = entries().stream().map(ConfigEntry::key).toList();
    for (String key : given.stringPropertyNames()) {
      if (!keys.contains(key)) {
        throw refused(
            setting,
            "has \"" + key + "\"; there are " + keys + NearestName.question(key, keys),
            null);
      }
    }
    for (ConfigEntry<?> each : entries()) {
      if (given.containsKey(each.key())) {
        try {
          each.parse(given.getProperty(each.key()));
        } catch (IllegalArgumentException e) {
          throw refused(setting, "is malformed: " + e.getMessage(), e);
        }
      }
    }
    return new CostProfile(given);
  }

  private static IllegalArgumentException refused(String setting, String why, Exception cause) {
    return new IllegalArgumentException(
        "The cost profile \"" + setting + "\" (" + CollectivesConfiguration.COST.key() + ") " + why,
        cause);
  }

  private <T> T get(ConfigEntry<T> entry) {
    String text = given.getProperty(entry.key());
    return text == null ? entry.defaultValue() : entry.parse(text);
  }

  /** Returns the costs of each kind of path. */
  public PathCosts costs() {
    int mesh = get(MESH);
    return new PathCosts(
        CostModel.of(get(HEAP_LATENCY), Duration.ZERO, get(HEAP_BANDWIDTH), mesh),
        CostModel.of(get(SHM_LATENCY), get(SHM_OVERHEAD), get(SHM_BANDWIDTH), mesh),
        CostModel.of(get(LATENCY), get(OVERHEAD), get(BANDWIDTH), mesh),
        CostModel.of(
            get(RACK_LATENCY),
            get(OVERHEAD),
            Math.max(1, get(BANDWIDTH) / get(RACK_OVERSUBSCRIPTION)),
            mesh));
  }

  /** Returns all figures as text, which is the same on ranks that predict alike. */
  @Override
  public String toString() {
    return entries().stream().map(each -> each.key() + "=" + get(each)).toList().toString();
  }
}
