package org.sparkcollectives.spi;

import org.sparkcollectives.CollectivesProvider;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.store.Store;

/**
 * Does what the static methods of this package say. Apart from {@link CollectivesProvider}, because
 * the API must not name this package; the one implementation of the library is both.
 */
public interface SpiProvider extends CollectivesProvider {

  /** Returns the implementation. */
  static SpiProvider implementation() {
    return (SpiProvider) CollectivesProvider.implementation();
  }

  /** Returns the group of {@link HostedGroups#create}. Blocks as it does. */
  ProcessGroup create(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose);

  /** Returns the group of {@link HostedGroups#reconfigurable}. Does not block. */
  ReconfigurableGroup reconfigurable(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose);

  /** Does what {@link RendezvousHandler#register} says. */
  void register(String scheme, RendezvousHandler handler);
}
