package org.sparkcollectives;

import org.sparkcollectives.store.Store;

/** Makes groups outside Spark, or over a store of one's own. */
public final class ProcessGroups {

  private ProcessGroups() {}

  /**
   * Joins a group as one of its ranks, in a plain process. Blocks until all ranks have joined, for
   * the smaller one of {@link Store#timeout()} and the group's timeout at the most.
   *
   * <p>A JVM may hold any number of ranks. The store is used until the group is closed, and stays
   * open then.
   *
   * @param store one that all ranks see; without {@link GroupOptions#withName a name}, all ranks
   *     make their groups over it in the same order
   * @param rank which rank this one is, 0 to {@code size - 1}; each is taken once
   * @param size the number of ranks, the same on all
   * @throws CollectiveTimeoutException naming the ranks that did not arrive
   * @throws IllegalArgumentException if the rank is out of range or taken, or sizes differ
   */
  public static ProcessGroup create(Store store, int rank, int size, GroupOptions options) {
    return CollectivesProvider.implementation().create(store, rank, size, options);
  }

  /**
   * Returns a rank of a group whose members are chosen later, and may change, in a plain process.
   * Waits for nobody, and calls nothing of the store.
   *
   * <p>A JVM may hold any number of ranks. The store is used until the group is closed, and stays
   * open then.
   *
   * @param store one that all that may become members see; its keys of the group stay there
   * @param rank 0 to {@code size - 1}: what {@link ProcessGroup#rank} returns until the first
   *     change, and the order of members that are given in none
   * @param size what {@link ProcessGroup#size} returns until the first change
   * @param options alike on all ranks, with a {@link GroupOptions#withName name} if other groups
   *     are made over this store in this way; they name no ranks
   */
  public static ReconfigurableGroup reconfigurable(
      Store store, int rank, int size, GroupOptions options) {
    return CollectivesProvider.implementation().reconfigurable(store, rank, size, options);
  }
}
