package org.sparkcollectives.config;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of settings that nobody reads, because their name is misspelt. They are not refused: a
 * cluster's settings may be for a newer or an older version than that of a job.
 */
public final class UnknownSettings {

  private static final Logger LOG = LoggerFactory.getLogger(UnknownSettings.class);

  /** What the names of all settings begin with. */
  private static final String PREFIX = "spark.collectives.";

  /** What has been logged in this process. */
  private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

  private UnknownSettings() {}

  /**
   * Logs a warning for each given setting of this library that is not among the known ones; once
   * for each name in the life of the process. Thread-safe.
   *
   * @param given the names of all settings, also those of other libraries
   * @param elsewhere beginnings of names that modules read which are not here. Names that begin so
   *     are passed over, unless a known one does, too
   */
  public static void warn(
      Collection<String> given, Collection<ConfigEntry<?>> known, Set<String> elsewhere) {
    for (String each : of(given, known, elsewhere)) {
      if (WARNED.add(each)) {
        LOG.warn("{}", each);
      }
    }
  }

  /** Returns what {@link #warn} would log if it had logged nothing before. */
  public static List<String> of(
      Collection<String> given, Collection<ConfigEntry<?>> known, Set<String> elsewhere) {
    Set<String> keys = known.stream().map(ConfigEntry::key).collect(Collectors.toSet());
    return given.stream()
        .filter(name -> name.startsWith(PREFIX) && !keys.contains(name))
        .filter(name -> elsewhere.stream().noneMatch(each -> isOfAnother(name, each, keys)))
        .sorted()
        .map(
            name ->
                "The setting "
                    + name
                    + " has no effect: there is none of that name"
                    + NearestName.question(name, keys))
        .toList();
  }

  private static boolean isOfAnother(String name, String beginning, Set<String> keys) {
    return name.startsWith(beginning) && keys.stream().noneMatch(key -> key.startsWith(beginning));
  }
}
