package org.sparkcollectives.spi;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.store.Store;

/**
 * The group of a backend, as it is created: c10d's {@code DistributedBackendOptions}.
 *
 * @param group the group, and this rank in it
 * @param options of the group, which leave nothing open
 * @param store a part of the group's store that is this backend's own, closed by the group
 * @param operations takes the backend's own operations into the group's sequence and life
 * @param context what hosts the rank
 * @param host the group's backend for host memory, closed by the group
 */
public record BackendContext(
    Group group,
    GroupOptions options,
    Store store,
    BackendOperations operations,
    RankContext context,
    HostBackend host) {

  /**
   * The members of a group, and where it comes from.
   *
   * @param name the group's unique name
   * @param rank this rank in the group
   * @param globalRanks the rank in the world group of each group rank
   * @param origin the group that this one was made from, or null
   */
  public record Group(String name, int rank, List<Integer> globalRanks, BackendOrigin origin) {

    public Group {
      globalRanks = List.copyOf(globalRanks);
    }
  }

  /** Returns the group's unique name. */
  public String groupName() {
    return group.name();
  }

  /** Returns this rank in the group. */
  public int rank() {
    return group.rank();
  }

  /** Returns the number of ranks. */
  public int size() {
    return group.globalRanks().size();
  }

  /** Returns the rank in the world group of each group rank. */
  public List<Integer> globalRanks() {
    return group.globalRanks();
  }

  /** Returns the group that this one was made from, or null. */
  public BackendOrigin origin() {
    return group.origin();
  }

  /** Returns how long an operation may take unless a call says otherwise. */
  public Duration timeout() {
    return options.timeout().orElseThrow();
  }

  /** Returns where settings are looked up. */
  public Configuration configuration() {
    return context.configuration();
  }
}
