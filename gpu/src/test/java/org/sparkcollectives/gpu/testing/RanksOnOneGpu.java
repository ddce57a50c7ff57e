package org.sparkcollectives.gpu.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.ForkedJvm;

/** Ranks that are processes and share one GPU, real or fake. */
public final class RanksOnOneGpu {

  private RanksOnOneGpu() {}

  /**
   * Returns an environment with which NCCL takes each rank for one of another host. So it accepts
   * that they share a GPU, and connects them by sockets.
   */
  public static Map<String, String> onHostsOfTheirOwn(int rank) {
    return Map.of(
        "NCCL_HOSTID", "rank" + rank,
        "NCCL_SOCKET_IFNAME", "lo",
        "NCCL_IB_DISABLE", "1",
        "NCCL_MNNVL_ENABLE", "0");
  }

  /**
   * Runs a program once for each rank. Its arguments are the rank, the size, the port of a store,
   * and those given. Every rank must end with status 0, and the first must print {@code done}.
   */
  public static void run(Class<?> program, int size, String done, String... arguments)
      throws Exception {
    run(program, size, true, done, arguments);
  }

  /** Runs a program as {@link #run} does, but leaves NCCL to see that the ranks share a host. */
  public static void runOnOneHost(Class<?> program, int size, String done, String... arguments)
      throws Exception {
    run(program, size, false, done, arguments);
  }

  private static void run(
      Class<?> program, int size, boolean hosts, String done, String... arguments)
      throws Exception {
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      List<ForkedJvm> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < size; rank++) {
          List<String> all =
              new ArrayList<>(
                  List.of(
                      String.valueOf(rank), String.valueOf(size), String.valueOf(store.port())));
          all.addAll(List.of(arguments));
          ranks.add(
              ForkedJvm.start(
                  hosts ? onHostsOfTheirOwn(rank) : Map.of(),
                  List.of("-Xmx256m"),
                  program,
                  all.toArray(String[]::new)));
        }
        for (ForkedJvm rank : ranks) {
          assertThat(rank.exitStatus()).as(rank::output).isZero();
        }
        assertThat(ranks.get(0).output()).contains(done);
      } finally {
        ranks.forEach(ForkedJvm::close);
      }
    }
  }
}
