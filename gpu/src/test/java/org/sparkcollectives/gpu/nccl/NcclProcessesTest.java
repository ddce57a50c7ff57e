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

/** Groups over NCCL whose ranks are processes, through the real bindings, on the fake in C. */
final class NcclProcessesTest {

  @Test
  void groupsComeFromTheCommunicatorOfAnother() throws Exception {
    run("split", 3, 3, Map.of());
  }

  @Test
  void whatIsNotANumberIsFoundOnTheGpu() throws Exception {
    run("not a number", 2, 2, Map.of());
  }

  @Test
  void anOperationThatHangsOnTheGpuEndsAtItsDeadline() throws Exception {
    run("overdue", 2, 2, Map.of("FAKE_NCCL_HANG_AFTER", "3"));
  }

  @Test
  void aProcessThatDiesEndsTheOperationsOfTheOthers() throws Exception {
    run("death", 3, 1, Map.of());
  }

  @Test
  void anErrorThatNcclReportsEndsTheGroup() throws Exception {
    run("error", 2, 2, Map.of("FAKE_NCCL_ERROR_AFTER", "3=3"));
  }

  /** The first {@code whole} ranks, but not the second of one, come to their end. */
  private static void run(String what, int size, int whole, Map<String, String> settings)
      throws Exception {
    Map<String, String> environment = new HashMap<>(FakeLibraries.environment());
    environment.put("FAKE_CUDA_DEVICES", String.valueOf(size));
    environment.putAll(settings);
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      List<ForkedJvm> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < size; rank++) {
          ranks.add(
              ForkedJvm.start(
                  environment,
                  List.of("-Xmx256m"),
                  NcclRankProgram.class,
                  String.valueOf(rank),
                  String.valueOf(size),
                  String.valueOf(store.port()),
                  what));
        }
        for (ForkedJvm rank : ranks.subList(0, whole)) {
          assertThat(rank.exitStatus()).as(rank::output).isZero();
          assertThat(rank.output()).contains(NcclRankProgram.DONE);
        }
      } finally {
        ranks.forEach(ForkedJvm::close);
      }
    }
  }
}
