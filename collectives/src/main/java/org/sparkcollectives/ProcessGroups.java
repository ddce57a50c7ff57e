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
   * Returns at once, without a request to the store.
   *
   * <p>A JVM may hold any number of ranks. The store is used until the group is closed, and stays
   * open then.
   *
   * @param store one that every possible member can reach; the group's keys are not removed
   * @param rank 0 to {@code size - 1}: what {@link ProcessGroup#rank} returns until the first
   *     change; it also orders members that are given as a set
   * @param size what {@link ProcessGroup#size} returns until the first change
   * @param options the same on all ranks; give a {@link GroupOptions#withName name} if you make
   *     several such groups over this store, one that no other group over it has, nor begins its
   *     own with; {@code withRanks} is refused
   */
  public static ReconfigurableGroup reconfigurable(
      Store store, int rank, int size, GroupOptions options) {
    return CollectivesProvider.implementation().reconfigurable(store, rank, size, options);
  }
}
