package org.sparkcollectives.internal.group;

import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.internal.algorithm.NamedAlgorithms;
import org.sparkcollectives.spi.CollectivesConfiguration;

/** Resolves the options of a group to options that leave nothing open. */
final class ResolvedOptions {

  private ResolvedOptions() {}

  /** Returns options in which whatever was not chosen is as configured. */
  static GroupOptions resolve(GroupOptions options, Configuration configuration) {
    return inherit(
        options,
        GroupOptions.defaults()
            .withTimeout(configuration.get(CollectivesConfiguration.TIMEOUT))
            .withTransports(
                configuration.get(CollectivesConfiguration.TRANSPORTS).toArray(String[]::new))
            .withBackend(configuration.get(CollectivesConfiguration.BACKEND))
            .withAlgorithms(
                configuration.get(CollectivesConfiguration.ALGORITHM).toArray(String[]::new))
            .withDebugLevel(configuration.get(CollectivesConfiguration.DEBUG))
            .withNanCheck(configuration.get(CollectivesConfiguration.NAN_CHECK))
            .withErrorHandling(configuration.get(CollectivesConfiguration.ERROR_HANDLING)));
  }

  /**
   * Returns options in which whatever was not chosen is as in the group that the new one is made
   * from.
   */
  static GroupOptions inherit(GroupOptions options, GroupOptions parent) {
    GroupOptions resolved = options;
    if (resolved.timeout().isEmpty()) {
      resolved = resolved.withTimeout(parent.timeout().orElseThrow());
    }
    if (resolved.transports().isEmpty()) {
      resolved = resolved.withTransports(parent.transports().toArray(String[]::new));
    }
    if (resolved.backend().isEmpty()) {
      resolved = resolved.withBackend(parent.backend().orElseThrow());
    }
    if (resolved.algorithms().isEmpty()) {
      resolved = resolved.withAlgorithms(parent.algorithms().toArray(String[]::new));
    }
    NamedAlgorithms.of(resolved.algorithms()); // Refuses what there is not, before ranks meet.
    if (resolved.debugLevel().isEmpty()) {
      resolved = resolved.withDebugLevel(parent.debugLevel().orElseThrow());
    }
    if (resolved.nanCheck().isEmpty()) {
      resolved = resolved.withNanCheck(parent.nanCheck().orElseThrow());
    }
    if (resolved.errorHandling().isEmpty()) {
      resolved = resolved.withErrorHandling(parent.errorHandling().orElseThrow());
    }
    return resolved;
  }
}
