package org.sparkcollectives.spark;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import org.sparkcollectives.GroupOptions;

/**
 * {@link GroupOptions} on the way from the driver to the tasks.
 *
 * @param name the group's name, or empty
 * @param description what the group is for
 * @param timeout how long an operation may take, or null
 * @param transports the paths that may be used; empty for the configured ones
 */
record StageOptions(String name, String description, Duration timeout, List<String> transports)
    implements Serializable {

  static final StageOptions DEFAULTS = of(GroupOptions.defaults());

  static StageOptions of(GroupOptions options) {
    return new StageOptions(
        options.name(), options.description(), options.timeout(), options.transports());
  }

  GroupOptions groupOptions() {
    GroupOptions options = GroupOptions.defaults().withName(name).withDescription(description);
    if (timeout != null) {
      options = options.withTimeout(timeout);
    }
    return transports.isEmpty()
        ? options
        : options.withTransports(transports.toArray(new String[0]));
  }
}
