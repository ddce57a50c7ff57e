package org.sparkcollectives.group;

import java.util.List;
import org.sparkcollectives.BackendOrigin;

/**
 * How a group came from another.
 *
 * @param backends those of the other
 * @param color see {@link BackendOrigin#color}
 * @param excluded see {@link BackendOrigin#excluded}
 */
record GroupOrigin(Backends backends, int color, List<Integer> excluded) {

  /** As the backend of that name sees it; null if the other group has none. */
  BackendOrigin of(String backend) {
    return backends.all().stream()
        .filter(each -> each.name().equals(backend))
        .findFirst()
        .map(each -> new BackendOrigin(each, color, excluded))
        .orElse(null);
  }
}
