package org.sparkcollectives.spi;

import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.store.Store;

/**
 * Creates groups of ranks that a host of its own runs, such as a Spark task: {@link
 * ProcessGroups#create} with a {@link RankContext}.
 */
public final class HostedGroups {

  private HostedGroups() {}

  /**
   * Joins a group as one of its ranks.
   *
   * @see #create(Store, int, int, GroupOptions, RankContext, Runnable)
   */
  public static ProcessGroup create(
      Store store, int rank, int size, GroupOptions options, RankContext context) {
    return create(store, rank, size, options, context, () -> {});
  }

  /**
   * Joins a group as one of its ranks. Blocks until all ranks have joined, for the smaller one of
   * {@link Store#timeout()} and the group's timeout at the most; wakes when the rank is killed.
   *
   * <p>A JVM may hold any number of ranks. The store is used until the group is closed, and stays
   * open then.
   *
   * @param store one that all ranks see; without {@link GroupOptions#withName a name}, all ranks
   *     make their groups over it in the same order
   * @param rank which rank this one is, 0 to {@code size - 1}; each is taken once
   * @param size the number of ranks, the same on all
   * @param context the host of this rank
   * @param afterClose run once when the group has been closed; not run if this call throws
   * @throws CollectiveTimeoutException naming the ranks that did not arrive
   * @throws IllegalArgumentException if the rank is out of range or taken, or sizes differ
   */
  public static ProcessGroup create(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose) {
    return SpiProvider.implementation().create(store, rank, size, options, context, afterClose);
  }

  /**
   * Returns a rank of a group whose members are chosen later, and may change: {@link
   * ProcessGroups#reconfigurable} with a host.
   *
   * @param context the host of this rank, in all groups that it becomes a member of
   * @param afterClose run once when the group has been closed; not run if this call throws
   */
  public static ReconfigurableGroup reconfigurable(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose) {
    return SpiProvider.implementation()
        .reconfigurable(store, rank, size, options, context, afterClose);
  }
}
