package org.sparkcollectives.spi;

import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.store.Store;

/**
 * Creates the groups of {@link HostedGroups}. The library has one implementation, which is loaded
 * by its name.
 */
public interface HostedGroupProvider {

  /** Returns the group of {@link HostedGroups#create}. Blocks as it does. */
  ProcessGroup create(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose);
}
