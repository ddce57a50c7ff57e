package org.sparkcollectives;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.store.Store;

/**
 * Makes the backends of one name, one for each group that asks for it. Found by {@link
 * java.util.ServiceLoader}, or told to {@link BackendRegistry#register}.
 */
public interface BackendProvider {

  /** The name under which users ask for it: lower-case letters, digits, dashes. */
  String name();

  /** The kinds of device that it works on. */
  Set<Device.Type> deviceTypes();

  /**
   * Whether the other ranks of a group exist. If those of all its backends do not, a group does not
   * wait for its ranks when it is made.
   */
  default boolean needsPeers() {
    return true;
  }

  /**
   * Makes a group's backend on this rank. All ranks of the group do so; may block until they have,
   * within the group's timeout.
   */
  Backend create(Membership group);

  /**
   * What a backend knows of its group: c10d's {@code DistributedBackendOptions}.
   *
   * @param groupName the group's unique name
   * @param rank this rank in the group
   * @param size the number of ranks
   * @param globalRanks the rank in the world group of each group rank
   * @param store a part of the group's store that is this backend's own, closed by the group
   * @param timeout how long an operation may take unless a call says otherwise
   * @param configuration where settings are looked up
   */
  record Membership(
      String groupName,
      int rank,
      int size,
      List<Integer> globalRanks,
      Store store,
      Duration timeout,
      Configuration configuration) {}
}
