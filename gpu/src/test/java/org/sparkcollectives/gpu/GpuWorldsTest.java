package org.sparkcollectives.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.gpu.testing.CollectivesProgram;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.ForkedJvm;

/** Tests worlds whose ranks are processes that share one GPU. */
@Tag("gpu")
final class GpuWorldsTest {

  @ParameterizedTest
  @CsvSource({"netty, 1", "netty, 2", "netty, 3", "nccl, 1", "nccl, 2", "nccl, 3"})
  void everyCollectiveOnOneGpu(String backend, int size) throws Exception {
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      List<ForkedJvm> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < size; rank++) {
          ranks.add(start(backend, rank, size, store.port()));
        }
        for (ForkedJvm rank : ranks) {
          assertThat(rank.exitStatus()).as(rank::output).isZero();
          assertThat(rank.output()).contains(CollectivesProgram.DONE);
        }
      } finally {
        ranks.forEach(ForkedJvm::close);
      }
    }
  }

  /**
   * Starts a rank. Its environment makes NCCL take the ranks for those of different hosts, so it
   * accepts that they share a GPU.
   */
  private static ForkedJvm start(String backend, int rank, int size, int port) throws Exception {
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "NCCL_HOSTID", "rank" + rank,
                "NCCL_SOCKET_IFNAME", "lo",
                "NCCL_IB_DISABLE", "1",
                "NCCL_MNNVL_ENABLE", "0"));
    return ForkedJvm.start(
        environment,
        List.of("-Xmx256m"),
        CollectivesProgram.class,
        String.valueOf(rank),
        String.valueOf(size),
        String.valueOf(port),
        backend);
  }
}
