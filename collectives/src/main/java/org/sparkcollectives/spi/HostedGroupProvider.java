package org.sparkcollectives.spi;

import org.sparkcollectives.CollectivesProvider;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.store.Store;

/**
 * Creates the groups of {@link HostedGroups}. The implementation of {@link CollectivesProvider} is
 * one, too.
 */
public interface HostedGroupProvider extends CollectivesProvider {

  /** Returns the group of {@link HostedGroups#create}. Blocks as it does. */
  ProcessGroup create(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose);
}
