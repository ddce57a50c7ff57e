package org.sparkcollectives.gpu.nccl;

import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreTimeoutException;

/**
 * Creates communicators from nothing but a store: one rank, or several of a large group, get a
 * unique id from NCCL, and the others read it from the store.
 *
 * @param nccl the library
 * @param store holds the ids; of this group alone
 * @param ranksPerRoot how many ranks find each other through one of them
 */
record NcclBootstrap(Nccl nccl, Store store, int ranksPerRoot) {

  private static final Logger LOG = LoggerFactory.getLogger(NcclBootstrap.class);

  /** The longest single wait in the store, so that the end of the group is noticed meanwhile. */
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  /**
   * Creates a communicator. All its ranks must call this.
   *
   * @param key distinguishes the communicators of the store
   * @param name of the communicator, for errors
   */
  Communicator create(String key, String name, int size, int rank, Deadline deadline) {
    byte[] ids = ids(key, name, size, rank, deadline);
    return Communicator.create(
        nccl,
        name,
        ids.length == Nccl.UNIQUE_ID_BYTES ? "ncclCommInitRankConfig" : "ncclCommInitRankScalable",
        deadline,
        slot -> nccl.commInit(slot, size, rank, ids, NcclSettings.NONBLOCKING.encode()),
        // NCCL writes the handle before this call returns, or not at all.
        never -> {});
  }

  private byte[] ids(String key, String name, int size, int rank, Deadline deadline) {
    int roots = (size + ranksPerRoot - 1) / ranksPerRoot;
    if (rank % ranksPerRoot == 0) {
      byte[] id = new byte[Nccl.UNIQUE_ID_BYTES];
      int result = nccl.uniqueId(id);
      if (result != NcclResult.SUCCESS) {
        throw new NcclException(
            "ncclGetUniqueId for "
                + name
                + " failed: "
                + nccl.errorString(result)
                + ". "
                + nccl.lastError(0)
                + " Is NCCL_SOCKET_IFNAME right?",
            result);
      }
      store.set(key + "/" + rank / ranksPerRoot, id);
    }
    List<String> keys = new ArrayList<>();
    for (int root = 0; root < roots; root++) {
      keys.add(key + "/" + root);
    }
    await(
        keys,
        "the unique id of "
            + name
            + ", which rank 0 of it puts into the store when it calls the same operation,",
        deadline);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    store.multiGet(keys).forEach(all::writeBytes);
    return all.toByteArray();
  }

  private void await(List<String> keys, String what, Deadline deadline) {
    while (true) {
      deadline.check(what);
      Duration left = deadline.left();
      try {
        store.waitFor(keys, left.compareTo(POLL_INTERVAL) < 0 ? left.plusMillis(1) : POLL_INTERVAL);
        return;
      } catch (StoreTimeoutException e) {
        // Tries again, unless the time is over.
        LOG.trace("Still waiting for {}", what, e);
      }
    }
  }
}
