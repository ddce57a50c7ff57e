package org.sparkcollectives.spi;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.store.Store;

/**
 * The group of a backend, as it is created: c10d's {@code DistributedBackendOptions}.
 *
 * @param groupName the group's unique name
 * @param rank this rank in the group
 * @param size the number of ranks
 * @param globalRanks the rank in the world group of each group rank
 * @param store a part of the group's store that is this backend's own, closed by the group
 * @param timeout how long an operation may take unless a call says otherwise
 * @param options of the group, which leave nothing open
 * @param configuration where settings are looked up
 * @param operations takes the backend's own operations into the group's sequence and life
 * @param context what hosts the rank
 * @param host the group's backend for host memory, closed by the group
 * @param origin the group that this one was made from, or null
 */
public record BackendContext(
    String groupName,
    int rank,
    int size,
    List<Integer> globalRanks,
    Store store,
    Duration timeout,
    GroupOptions options,
    Configuration configuration,
    BackendOperations operations,
    RankContext context,
    HostBackend host,
    BackendOrigin origin) {}
