package org.sparkcollectives.store;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.config.ConfigEntry;

/** The settings of the store. */
public final class StoreConfiguration {

  /** The default bound of a store's blocking calls. */
  public static final ConfigEntry<Duration> TIMEOUT =
      ConfigEntry.duration("spark.collectives.store.timeout")
          .doc(
              "How long a call of the store waits at most for a key, a queue or a barrier; so also"
                  + " how long a rank waits at most for the others when a group is made.")
          .since("0.1.0")
          .defaultsTo(Duration.ofMinutes(5));

  private StoreConfiguration() {}

  /** Returns all settings of this module. */
  public static List<ConfigEntry<?>> entries() {
    return List.of(TIMEOUT);
  }
}
