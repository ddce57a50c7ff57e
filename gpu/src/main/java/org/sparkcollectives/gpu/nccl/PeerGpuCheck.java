package org.sparkcollectives.gpu.nccl;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.spi.BackendContext;
import org.sparkcollectives.store.Store;

/**
 * Checks, before NCCL is called, that a group's ranks have different GPUs and the same version of
 * NCCL. The ranks exchange them through the store. NCCL itself would refuse two ranks on one GPU,
 * or two versions of itself, only later and with less detail.
 */
final class PeerGpuCheck {

  private PeerGpuCheck() {}

  /**
   * Publishes this rank's GPU, waits for the others, and compares them.
   *
   * @param hasParent whether this rank can create the communicator from another
   * @return whether all ranks can
   * @throws IllegalStateException if two ranks work on the same GPU, or with different versions of
   *     NCCL, naming both; on all ranks
   * @throws org.sparkcollectives.store.StoreTimeoutException if ranks do not join in time
   */
  static boolean check(
      BackendContext group, CudaDevice device, int ncclVersion, boolean hasParent) {
    Store store = group.store().withPrefix("gpus").withTimeout(group.timeout());
    String own =
        String.join(
            "\n",
            device.uuid(),
            host(),
            Integer.toString(ncclVersion),
            Boolean.toString(hasParent),
            where(group, device));
    store.set(Integer.toString(group.rank()), own.getBytes(StandardCharsets.UTF_8));
    List<String> keys = IntStream.range(0, group.size()).mapToObj(Integer::toString).toList();
    store.waitFor(keys, group.timeout());
    List<String[]> all =
        store.multiGet(keys).stream()
            .map(each -> new String(each, StandardCharsets.UTF_8).split("\n", 5))
            .toList();
    requireDistinct(group, all);
    requireOneVersion(group, all);
    return all.stream().allMatch(each -> each[3].equals("true"));
  }

  /**
   * Returns the identity of this host as NCCL sees it. NCCL takes ranks with another {@code
   * NCCL_HOSTID} for ranks of another host, and newer versions allow several ranks on a GPU if
   * configured so; both are deliberate choices of the user.
   */
  private static String host() {
    String id = System.getenv("NCCL_HOSTID");
    return "1".equals(System.getenv("NCCL_MULTI_RANK_GPU_ENABLE"))
        ? UUID.randomUUID().toString()
        : id == null ? "" : id;
  }

  private static String where(BackendContext group, CudaDevice device) {
    return "executor "
        + group.context().executorId()
        + ", "
        + device.device()
        + " at "
        + device.cuda().devicePciBusId(device.ordinal());
  }

  private static void requireDistinct(BackendContext group, List<String[]> all) {
    Map<String, Integer> ranks = new HashMap<>();
    for (int rank = 0; rank < all.size(); rank++) {
      Integer other = ranks.putIfAbsent(all.get(rank)[0] + " " + all.get(rank)[1], rank);
      if (other != null) {
        throw new IllegalStateException(
            "Ranks "
                + other
                + " ("
                + all.get(other)[4]
                + ") and "
                + rank
                + " ("
                + all.get(rank)[4]
                + ") of group \""
                + group.groupName()
                + "\" work on the same GPU, "
                + all.get(rank)[0]
                + ", and NCCL wants one for each rank. In Spark, ask for"
                + " spark.task.resource.gpu.amount=1; elsewhere set"
                + " spark.collectives.gpu.ordinal or LOCAL_RANK. The backend cuda:netty lets ranks"
                + " share a GPU");
      }
    }
  }

  private static void requireOneVersion(BackendContext group, List<String[]> all) {
    for (int rank = 1; rank < all.size(); rank++) {
      String first = all.get(0)[2];
      String version = all.get(rank)[2];
      if (!version.equals(first)) {
        throw new IllegalStateException(
            "Rank 0 ("
                + all.get(0)[4]
                + ") of group \""
                + group.groupName()
                + "\" has NCCL "
                + NcclLibrary.text(Integer.parseInt(first))
                + " and rank "
                + rank
                + " ("
                + all.get(rank)[4]
                + ") has "
                + NcclLibrary.text(Integer.parseInt(version))
                + "; all must have the same. See spark.collectives.gpu.nccl.library");
      }
    }
  }
}
