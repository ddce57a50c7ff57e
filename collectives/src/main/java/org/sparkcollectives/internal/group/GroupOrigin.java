package org.sparkcollectives.internal.group;

import java.util.List;
import org.sparkcollectives.spi.BackendOrigin;

/**
 * The group from which another was made, as backends see it.
 *
 * @param backends those of the other
 * @param color see {@link BackendOrigin#color}
 * @param excluded see {@link BackendOrigin#excluded}
 */
record GroupOrigin(Backends backends, int color, List<Integer> excluded) {

  /** Returns the origin for the backend of that name; null if the other group has none. */
  BackendOrigin of(String backend) {
    return backends.all().stream()
        .filter(each -> each.name().equals(backend))
        .findFirst()
        .map(each -> new BackendOrigin(each, color, excluded))
        .orElse(null);
  }
}
