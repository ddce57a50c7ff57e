package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.testing.FakeLibraries;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.ForkedJvm;

/** Tests failures of NCCL groups whose ranks are processes, on the fake in C. */
final class NcclProcessFailuresTest {

  private static final int SIZE = 2;
  private static final int LONG = 60_000;
  private static final int SHORT = 3_000;

  @Test
  void operationsFailWhenAPeerDies() throws Exception {
    run("death of a peer", LONG, Map.of());
  }

  @Test
  void operationsFailOnAnAsynchronousError() throws Exception {
    run("error of the library", LONG, Map.of("FAKE_NCCL_ERROR_AFTER", "1=3"));
  }

  @Test
  void anOperationThatHangsTimesOutAndSetsTheStreamFree() throws Exception {
    run("operation that hangs", SHORT, Map.of("FAKE_NCCL_HANG_AFTER", "1"));
  }

  @Test
  void aCommunicatorThatIsNeverWholeTimesOut() throws Exception {
    run("rank that never joins", SHORT, Map.of("FAKE_NCCL_ABSENT", "1"));
  }

  @Test
  void aSplitThatIsNeverWholeLeavesNothingBehind() throws Exception {
    run("split that is never joined", SHORT, Map.of("FAKE_NCCL_ABSENT", "split"));
  }

  @Test
  void anAbortReachesAPeerWhoseGpuHangs() throws Exception {
    run("abort", LONG, Map.of());
  }

  /**
   * Runs each rank on a GPU of its own. Rank 0 finishes, and so does rank 1 unless it dies.
   *
   * @param settings of rank 0 alone
   */
  private static void run(String what, int timeoutMillis, Map<String, String> settings)
      throws Exception {
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      List<ForkedJvm> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < SIZE; rank++) {
          Map<String, String> environment = new HashMap<>(FakeLibraries.environment());
          environment.put("FAKE_CUDA_DEVICES", String.valueOf(SIZE));
          environment.put("CUDA_VISIBLE_DEVICES", String.valueOf(rank));
          if (rank == 0) {
            environment.putAll(settings);
          }
          ranks.add(
              ForkedJvm.start(
                  environment,
                  List.of("-Xmx256m"),
                  NcclFailureProgram.class,
                  String.valueOf(rank),
                  String.valueOf(SIZE),
                  String.valueOf(store.port()),
                  String.valueOf(timeoutMillis),
                  what));
        }
        for (ForkedJvm rank : ranks) {
          assertThat(rank.exitStatus()).as(rank::output).isZero();
        }
        assertThat(ranks.get(0).output()).contains(NcclFailureProgram.DONE);
      } finally {
        ranks.forEach(ForkedJvm::close);
      }
    }
  }
}
